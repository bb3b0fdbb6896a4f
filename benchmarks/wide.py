"""Wide data, their distance correlations and a model of them: time, memory and growth.

    python benchmarks/wide.py [--columns 2000] [--rows 50000] [--keep 100] [--jobs 2]

Every run is a process of its own, which makes its data (seeded; seven in ten columns continuous,
the others discrete; float32) before the clock starts. Peak memory has the data in it. The package
dcor is timed on a few pairs in this run; without it (pip install dcor) only our own figures are
shown.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timing import seconds

from solah import RuleClassifier
from solah.data import from_array, infer_types
from solah.dependence import (
    TableColumns,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
    relevance_of,
    screen_features,
)
from solah.kernels.choose import available_threads, kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.data import Kind, Table
    from solah.dependence import Screening

GROUP = 10
PEER_COLUMNS = 4
MODEL_ROWS = 200


def wide_data(n_rows: int, n_columns: int) -> np.ndarray:
    """Make columns in groups of ten that share a cause, the last three of each discrete."""
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for j in range(n_columns):
        if j % GROUP == 0:
            cause = rng.standard_normal(n_rows, dtype=np.float32)
        X[:, j] = _shaped(cause + rng.standard_normal(n_rows, dtype=np.float32), j % GROUP)
    return X


def _shaped(values: np.ndarray, place: int) -> np.ndarray:
    if place == GROUP - 1:
        return values > 0.5
    if place == GROUP - 2:
        return np.clip(np.round(values), -2, 2)
    if place == GROUP - 3:
        return np.round(10 * values)
    return np.exp(values) if place % 3 == 2 else values


def target_of(X: np.ndarray) -> np.ndarray:
    """Make classes that depend on the first three groups."""
    return (X[:, : 3 * GROUP : GROUP].sum(axis=1) > 0.5).astype(int)


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds on the wall, of all processors, bytes at the peak; what it found."""

    wall: float
    cpu: float
    peak: float
    found: str = ""

    def __str__(self) -> str:
        return f"{self.wall:7.1f} s, CPU {self.cpu:7.1f} s, peak {self.peak / 1e9:.2f} GB"


# What the processes do


def run_matrix(options: argparse.Namespace) -> Cost:
    X = wide_data(options.rows, options.columns)
    return _timed(lambda: np.save(options.out, _matrix(X, options)))


def run_screening(options: argparse.Namespace) -> Cost:
    X = wide_data(options.rows, options.columns)
    table, kinds = infer_types(from_array(X, [f"x{j}" for j in range(X.shape[1])]))
    found: list[Screening] = []
    cost = _timed(lambda: found.append(_screen(table, kinds, target_of(X), options)))
    return replace(cost, found=str(found[0]))


def run_model(options: argparse.Namespace) -> Cost:
    X = wide_data(MODEL_ROWS, options.columns)
    table, target = from_array(X, [f"x{j}" for j in range(X.shape[1])]), target_of(X)
    model = RuleClassifier(n_jobs=options.jobs)
    cost = _timed(lambda: model.fit(table, target))
    return replace(cost, found=f"{model.n_rules_:,} rules; {model.selection_reason_}")


def _matrix(X: np.ndarray, options: argparse.Namespace) -> np.ndarray:
    return distance_correlation_matrix(X, n_jobs=options.jobs)


def _screen(
    table: Table, kinds: tuple[Kind, ...], target: np.ndarray, options: argparse.Namespace
) -> Screening:
    settings = {"nominal_target": True, "n_jobs": options.jobs}
    relevance = relevance_of(TableColumns.of(table, kinds, target, **settings))
    found = screen_features(relevance.tolist(), table.names, options.keep)
    kept, kinds = table.select(found.kept), [kinds[at] for at in found.places]
    dependence_of(TableColumns.of(kept, kinds, target, **settings))
    return found


def _timed(work: Callable[[], object]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = seconds(work, 1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Not ru_maxrss: a process begins with the peak of the one that started it.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return Cost(wall, cpu, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024.0)


# What starts them


@dataclass(frozen=True)
class Runs:
    """Starts processes of one size, which write into a folder."""

    options: argparse.Namespace
    folder: Path

    def start(self, what: str, name: str, n_columns: int, *more: str) -> subprocess.Popen:
        """Start a process."""
        size = ["--columns", str(n_columns), "--rows", str(self.options.rows)]
        rest = ["--keep", str(self.options.keep), "--jobs", str(self.options.jobs)]
        out = ["--run", what, "--out", str(self.path(name)), *more]
        command = [sys.executable, __file__, *size, *rest, *out]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def cost(self, what: str, name: str, n_columns: int, *more: str) -> Cost:
        """Start a process and wait for what it cost."""
        process = self.start(what, name, n_columns, *more)
        printed, _ = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"the run {what} ended with {process.returncode}")
        return Cost(**json.loads(printed))

    def path(self, name: str) -> Path:
        """Return where a run leaves its matrix."""
        return self.folder / f"{name}.npy"


def show_matrix(runs: Runs) -> Cost:
    """Print what the matrix costs, and that of half the columns; return it."""
    n_columns = runs.options.columns
    whole = runs.cost("matrix", "whole", n_columns)
    n_pairs = n_columns * (n_columns - 1) // 2
    print(f"all {n_pairs:,} pairs of {n_columns:,} columns, {runs.options.rows:,} rows")
    print(f"  {whole}, {n_pairs / whole.wall:,.0f} pairs/s", flush=True)
    half = runs.cost("matrix", "half", n_columns // 2)
    print(f"  half the columns: {half}")
    print(
        f"  twice the columns: time grows by {whole.wall / half.wall:.2f}, "
        f"CPU by {whole.cpu / half.cpu:.2f}",
        flush=True,
    )
    return whole


def show_peer(options: argparse.Namespace, mine: Cost) -> None:
    """Compare processor time a pair with dcor's: that of the matrix, and like for like."""
    try:
        import dcor  # here, since the processes that are measured must not hold it
    except ImportError:
        print("dcor is not installed, so nothing is compared: pip install dcor")
        return
    columns = wide_data(options.rows, GROUP).astype(float).T[:PEER_COLUMNS].copy()
    pairs = list(combinations(columns, 2))
    of_matrix = mine.cpu / (options.columns * (options.columns - 1) // 2)
    exact = _cpu_a_pair(partial(distance_correlation, method="exact"), pairs)
    print(f"processor time a pair: solah {_ms(of_matrix)} in the matrix, {_ms(exact)} exact")
    for method in ("avl", "mergesort"):
        peer = _cpu_a_pair(partial(dcor.distance_correlation, method=method), pairs)
        print(
            f"  dcor, {method:<10} {_ms(peer)}: {peer / of_matrix:,.0f} times that of the matrix, "
            f"{peer / exact:.1f} times that of exact"
        )
    apart = max(abs(dcor.distance_correlation(*p) - distance_correlation(*p)) for p in pairs)
    print(f"  largest difference of {len(pairs)} pairs {apart:.5f}", flush=True)


def _cpu_a_pair(work: Callable[..., object], pairs: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the least of several times, which other work on the machine hardly touches."""
    work(*(column[:100] for column in pairs[0]))  # lets dcor compile
    times = []
    for x, y in pairs:
        start = time.process_time()
        work(x, y)
        times.append(time.process_time() - start)
    return min(times)


def _ms(took: float) -> str:
    return f"{took * 1e3:.3g} ms"


def show_screening(runs: Runs) -> None:
    """Print what it costs to screen the columns and measure the pairs of those that are kept."""
    print(
        f"the {runs.options.keep} columns that depend most on a target, and their pairs", flush=True
    )
    cost = runs.cost("screening", "screened", runs.options.columns)
    print(f"  {cost}\n  {cost.found}")


def show_model(runs: Runs) -> None:
    """Print what it costs to learn the default model, which tries several settings, of few rows."""
    print(f"the default model of {runs.options.columns:,} columns, {MODEL_ROWS} rows", flush=True)
    cost = runs.cost("model", "model", runs.options.columns)
    print(f"  {cost}\n  {cost.found}")


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--keep", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    for name in ("--run", "--out"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = read_options(arguments)
    if options.run is not None:
        cost = RUNS[options.run](options)
        print(json.dumps(vars(cost)))
        return
    warnings.simplefilter("ignore")  # dcor's, about the methods it falls back on
    print(f"kernel: {kernel().name}, {available_threads()} processors", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, Path(folder))
        mine = show_matrix(runs)
        show_peer(options, mine)
        show_screening(runs)
        show_model(runs)


RUNS = {"matrix": run_matrix, "screening": run_screening, "model": run_model}

if __name__ == "__main__":
    main()
