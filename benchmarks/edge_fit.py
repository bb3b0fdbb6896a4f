"""What it takes to learn a whole hierarchy on an edge computer: one core and 512 MB.

    python benchmarks/edge_fit.py [--rows 2000] [--megabytes 512] [--repeats 1]

`solah fit` with its default settings learns from a CSV file of 24 sensors; beside it a process of
its own fits scikit-learn's RandomForestClassifier(100) to the same file. Start-up, reading and
writing the model are included. Both are held to one core and to that much address space, which
bounds what is resident. Run it from an environment with solah alone: scikit-learn imports pandas
where that is installed, which takes 150 MB of address space more.

The rows are drawn (seed 0) from the wall-following robot's, of SOLAH_DATA or the UCI repository;
where they are not at hand, from a seeded generator. Accuracy is that on the rows learned from, and
on as many others.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from solah import datasets
from solah.data import from_array
from solah.exceptions import DatasetError, MissingExtraError
from solah.model.predictor import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

TARGET = "class"
N_SENSORS = 24
SENSORS = [f"sensor{place}" for place in range(N_SENSORS)]
# The BLAS and glibc's malloc reserve address space for every thread, of which little is touched.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
}
FOREST = """
import sys
import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier

cells = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, dtype=str)
forest = RandomForestClassifier(100, random_state=0).fit(cells[:, :-1].astype(float), cells[:, -1])
joblib.dump(forest, sys.argv[2])
"""


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    megabytes: float
    cpu_seconds: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.megabytes:8.0f} MB{self.cpu_seconds:9.1f} s{self.seconds:9.1f} s"


@dataclass(frozen=True)
class Rows:
    """Readings and their classes."""

    readings: NDArray[np.float64]
    target: NDArray[np.str_]

    def write(self, path: Path) -> Path:
        """Write them as CSV, the class last."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*SENSORS, TARGET])
            writer.writerows(
                [*row, label]
                for row, label in zip(self.readings.tolist(), self.target, strict=True)
            )
        return path

    def take(self, places: NDArray[np.intp]) -> Rows:
        """Take some of them."""
        return Rows(self.readings[places], self.target[places])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    name, learned, others = make_data(options.rows)
    print(f"{name}, {len(learned.target):,} x {N_SENSORS}, one core, {options.megabytes} MB")
    print(f"  {'':<16}   resident   CPU time       wall            size   trained    others")
    for _ in range(options.repeats):
        compare(learned, others, options.megabytes)


def make_data(n_rows: int) -> tuple[str, Rows, Rows]:
    """Draw rows to learn from and as many others."""
    rng = np.random.default_rng(0)
    try:
        data = datasets.load("iot_wall_following_robot")
    except (DatasetError, MissingExtraError) as error:
        print(f"the robot's rows are not at hand, a generator's take their place: {error}")
        name, rows = "generated", generate(rng, 2 * n_rows)
    else:
        name, rows = data.name, Rows(data.X, data.target)
    order = rng.permutation(len(rows.target))
    return name, rows.take(order[:n_rows]), rows.take(order[n_rows : 2 * n_rows])


def generate(rng: np.random.Generator, n_rows: int) -> Rows:
    """Draw sensors in groups of four that share a cause; two causes decide on four classes."""
    causes = rng.standard_normal((n_rows, N_SENSORS // 4))
    noise = rng.standard_normal((n_rows, N_SENSORS))
    readings = np.round(np.repeat(causes, 4, axis=1) + noise, 3)
    places = 2 * (causes[:, 0] > 0) + (causes[:, 1] > 0)
    return Rows(readings, np.array(["forward", "left", "right", "stop"])[places])


def compare(learned: Rows, others: Rows, megabytes: int) -> None:
    """Fit both under the limits, and print what each took."""
    with tempfile.TemporaryDirectory(prefix="solah-") as name:
        data = learned.write(Path(name) / "data.csv")
        document, pickle = Path(name) / "model.json", Path(name) / "forest.joblib"
        fit = [
            solah_program(),
            "fit",
            str(data),
            "--target",
            TARGET,
            "--quiet",
            "-o",
            str(document),
        ]
        mine = run_limited(fit, megabytes)
        peer = run_limited([sys.executable, "-c", FOREST, str(data), str(pickle)], megabytes)
        model, forest = load_model(document), joblib.load(pickle)
    leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    decided = accuracies(lambda X: model.predict(from_array(X, SENSORS)), learned, others)
    print_line("solah fit", mine, f"{model.model_.n_rules:,} rules", decided)
    voted = accuracies(forest.predict, learned, others)
    print_line("forest of 100", peer, f"{leaves:,} leaves", voted)
    print(
        f"  {'ratio':<16}{mine.megabytes / peer.megabytes:8.2f}   "
        f"{mine.cpu_seconds / peer.cpu_seconds:9.2f}  {mine.seconds / peer.seconds:9.2f}",
        flush=True,
    )


def accuracies(predict: Callable[[NDArray[np.float64]], NDArray[Any]], *sets: Rows) -> list[float]:
    return [float((predict(rows.readings) == rows.target).mean()) for rows in sets]


def print_line(label: str, cost: Cost, size: str, shares: Sequence[float]) -> None:
    told = "".join(f"{accuracy:10.3f}" for accuracy in shares)
    print(f"  {label:<16}{cost}{size:>16}{told}", flush=True)


def solah_program() -> str:
    """Find the command beside this Python, or on the path."""
    beside = Path(sys.executable).with_name("solah")
    found = str(beside) if beside.exists() else shutil.which("solah")
    if found is None:
        sys.exit("the command solah is not installed: pip install .")
    return found


def run_limited(command: Sequence[str], megabytes: int) -> Cost:
    """Run a program on one core with so much address space."""

    def limit() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))

    start = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | ONE_THREAD, preexec_fn=limit)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(
            f"{Path(command[0]).name} ended with {process.returncode} in {megabytes} MB of address "
            "space; run it from an environment with solah alone, or give it more: --megabytes 1024"
        )
    return Cost(usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, seconds)


if __name__ == "__main__":
    main()
