"""More rows than memory, more machines than one: exactness, speed, memory, growth and peers.

    python benchmarks/scale.py exact [--rows 200000]
    python benchmarks/scale.py growth [--rows 2500000 5000000 10000000 20000000] [--memory 2GB]
    python benchmarks/scale.py peers [--rows 5000000] [--features 50] [--memory 500MB] [--jobs 1]
    python benchmarks/scale.py real

Sensor data come from the seeded generator in ``sensors.py`` (50 features, float32, Parquet with
row groups of 250,000) and stay in --folder. Every run is a process of its own; its wall and CPU
time, and its peak memory, are those that the system reports. Peers (LightGBM, scikit-learn's
HistGradientBoosting) read the same files with PyArrow and learn from them in memory. A plain read
iterates over all columns with PyArrow, in one thread, and converts them to float64.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.sensor_sets import load
from sensors import write_parquet

from solah import RuleClassifier, scan
from solah.kernels.choose import available_threads
from solah.model.format import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from solah.progress import Advance

TARGET = "fault"
ROWS_AT_ONCE = 65_536
REAL = ("iot_occupancy", "iot_skab_water_pump", "iot_gas_sensor_drift_part", "iot_hapt_windows")


@dataclass(frozen=True)
class Run:
    """What a process took, and what it printed."""

    wall: float
    cpu: float
    peak: float
    said: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.wall:8.1f} s wall  {self.cpu:8.1f} s CPU  {self.peak:6.2f} GB"


def main() -> None:
    """Run a part of the benchmark, or one of its processes."""
    options = _options()
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "exact": exact,
        "growth": growth,
        "peers": peers,
        "real": real,
        "child": child,
    }
    parts[options.part](options)


def exact(options: argparse.Namespace) -> None:
    """Compare model files, byte by byte."""
    n_rows = options.rows[0] if options.rows else 200_000
    files = sensor_files(options, n_rows)
    frame = _read_whole(files)
    X, y = frame.drop(columns=TARGET), frame[TARGET]
    print(f"{n_rows:,} rows x {X.shape[1]}: documents equal to the one from memory")
    expected = to_json(_estimator().fit(X, y).model_)

    def report(what: str, found: str) -> None:
        print(f"  {what:<34}{'equal' if found == expected else 'DIFFERENT'}", flush=True)

    for n_chunks in (1, 7, 64):
        places = np.array_split(np.arange(n_rows), n_chunks)
        report(f"{n_chunks} chunks", _fit([frame.iloc[place] for place in places]))
    order = np.random.default_rng(1).permutation(n_rows)
    shuffled = np.array_split(order, 13)
    report("13 chunks of shuffled rows", _fit([frame.iloc[place] for place in shuffled]))
    report("Parquet files, 1 GB", _in_a_process(files, memory="1GB"))
    report("Dask DataFrame", _fit(_dask_frame(files)))


def growth(options: argparse.Namespace) -> None:
    """Show how time and memory grow with the rows."""
    sizes = options.rows or [2_500_000, 5_000_000, 10_000_000, 20_000_000]
    times = []
    print(f"{options.features} features, {options.jobs} threads, limit {options.memory}")
    for n_rows in sizes:
        files = sensor_files(options, n_rows)
        run = _child("solah", files, jobs=options.jobs, memory=options.memory)
        passes = run.said["passes"]
        in_passes = sum(seconds for _, seconds, _ in passes)
        rows_seen = n_rows * len(passes)
        cells = rows_seen * (options.features + 1)
        times.append(run.wall)
        print(f"  {n_rows:>11,} rows {run}")
        print(
            f"              {len(passes)} passes, {in_passes:.0f} s of {run.said['seconds']:.0f}; "
            f"{n_rows / run.said['seconds'] / options.jobs:,.0f} rows/s/core in all, "
            f"{rows_seen / in_passes / options.jobs:,.0f} a pass; "
            f"{8 * cells / in_passes / 1e9:.2f} GB/s of float64"
        )
    bandwidth = column_sum_bandwidth(options.jobs)
    share = 8 * cells / in_passes / 1e9 / bandwidth
    print(f"  plain column sums of float64 in memory, {options.jobs} threads: {bandwidth:.1f} GB/s")
    print(f"  share of that in the passes of the last run: {share:.1%}")
    steps = zip(sizes, sizes[1:], times, times[1:], strict=False)
    for less, more, before, after in steps:
        print(f"  rows x {more / less:.1f}: time x {after / before:.2f}")


def peers(options: argparse.Namespace) -> None:
    """Compare with what learns from rows in memory."""
    n_rows = options.rows[0] if options.rows else 5_000_000
    files = sensor_files(options, n_rows)
    test = sensor_files(options, 100_000, seed=1)
    shape = f"{n_rows:,} rows x {options.features}, {options.jobs} threads"
    print(f"{shape}, limit {options.memory}; accuracy on 100,000 others")
    runs = {}
    for name in ("solah", "lightgbm", "histgradient"):
        memory = options.memory if name == "solah" else None
        runs[name] = _child(name, files, jobs=options.jobs, test=str(test), memory=memory)
        print(f"  {name:<14}{runs[name]}   accuracy {runs[name].said['accuracy']:.4f}", flush=True)
    plain = _child("plain", files).said["cpu"]
    print(f"  a plain read: {plain:.1f} s CPU")
    for name, _, cpu in runs["solah"].said["passes"]:
        print(f"  pass: {name:<24}{cpu:6.1f} s CPU, {cpu / plain:.1f} plain reads")
    best = {
        what: min(getattr(runs[name], what) for name in ("lightgbm", "histgradient"))
        for what in ("wall", "cpu", "peak")
    }
    for what, least in best.items():
        ratio = getattr(runs["solah"], what) / least
        print(f"  solah over the better of them, {what}: {ratio:.2f}")


def real(options: argparse.Namespace) -> None:
    """Compare documents on real sensor data, and time both ways."""
    for name in REAL:
        dataset = load(name)
        table, target = dataset.table, dataset.target
        estimator = _estimator()
        start = time.perf_counter()
        expected = to_json(estimator.fit(table, target).model_)
        in_memory = time.perf_counter() - start
        start = time.perf_counter()
        found = _fit(_tables(dataset, 7), dataset.target_name)
        passed = time.perf_counter() - start
        same = "equal" if found == expected else "DIFFERENT"
        print(
            f"  {name:<12}{table.n_rows:>8,} rows x {len(table.columns):<4} in memory "
            f"{in_memory:6.1f} s, 7 chunks {passed:6.1f} s, documents {same}",
            flush=True,
        )


def child(options: argparse.Namespace) -> None:
    """Train in one of the processes, and report the time and memory."""
    work = {"solah": _learn, "lightgbm": _boost, "histgradient": _boost, "plain": _read_plainly}
    said = work[options.model](options)
    # Not ru_maxrss, which begins with what the process had that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").split()
    said["peak"] = int(status[status.index("VmHWM:") + 1]) * 1024 / 1e9
    print(json.dumps(said))


def _read_plainly(options: argparse.Namespace) -> dict[str, Any]:
    import pyarrow.parquet as pq

    start = time.process_time()
    for path in sorted(Path(options.files).glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(32_768, use_threads=False):
            for column in batch.columns[: options.features]:
                column.to_numpy(zero_copy_only=False).astype(np.float64)
    return {"cpu": time.process_time() - start}


def _learn(options: argparse.Namespace) -> dict[str, Any]:
    progress = _Passes()
    start = time.perf_counter()
    estimator = _estimator(options.jobs)
    estimator.fit(scan(options.files, memory=options.memory, progress=progress), TARGET)
    said: dict[str, Any] = {"seconds": time.perf_counter() - start, "passes": progress.passes}
    if options.output:
        estimator.save(options.output)
    return said | _accuracy(options, estimator.predict)


def _boost(options: argparse.Namespace) -> dict[str, Any]:
    start = time.perf_counter()
    X, y = _as_arrays(Path(options.files))
    os.environ["OMP_NUM_THREADS"] = str(options.jobs)
    model: Any
    if options.model == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=100, n_jobs=options.jobs, verbose=-1)
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(max_iter=100, early_stopping=False)
    model.fit(X, y)
    said = {"seconds": time.perf_counter() - start}
    return said | _accuracy(options, lambda frame: model.predict(frame.to_numpy(np.float32)))


def _accuracy(options: argparse.Namespace, predict: Callable[[Any], Any]) -> dict[str, float]:
    if options.test is None:
        return {}
    frame = _read_whole(Path(options.test))
    right = predict(frame.drop(columns=TARGET)) == frame[TARGET].to_numpy()
    return {"accuracy": float(np.mean(right))}


class _Passes:
    """The name of each pass, its wall time and its processor time."""

    def __init__(self) -> None:
        self.passes: list[tuple[str, float, float]] = []

    @contextmanager
    def __call__(self, total: int | None, unit: str) -> Iterator[Advance]:
        """Measure a pass, whose name is its first news."""
        names: list[str] = []
        wall, cpu = time.perf_counter(), time.process_time()
        yield lambda steps, news="": names.append(news) if news else None
        taken = time.perf_counter() - wall, time.process_time() - cpu
        self.passes.append((names[0], *taken))


def sensor_files(options: argparse.Namespace, n_rows: int, seed: int = 0) -> Path:
    """Return the folder of N rows; write it if it does not exist."""
    place = options.folder / f"{n_rows}-{options.features}-{seed}"
    if not (place / "done").exists():
        n_files = max(1, n_rows // 1_000_000)
        place.mkdir(parents=True, exist_ok=True)
        write_parquet(
            place, n_rows, options.features, n_files=n_files, seed=seed, jobs=options.jobs
        )
        (place / "done").touch()
    return place


def column_sum_bandwidth(n_threads: int) -> float:
    """Return the GB of float64 columns that a plain sum on threads reads per second."""
    columns = [np.ones(2**24) for _ in range(2 * n_threads)]

    def add(mine: Sequence[Any]) -> None:
        for _ in range(4):
            for column in mine:
                column.sum()

    start = time.perf_counter()
    shares = [columns[j::n_threads] for j in range(n_threads)]
    threads = [threading.Thread(target=add, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 4 * sum(column.nbytes for column in columns) / (time.perf_counter() - start) / 1e9


def _estimator(n_jobs: int | None = None) -> RuleClassifier:
    return RuleClassifier(n_jobs=n_jobs or available_threads())


def _fit(rows: Any, target: str = TARGET) -> str:
    document: str = to_json(_estimator().fit(rows, target).model_)
    return document


def _read_whole(files: Path) -> Any:
    import pandas as pd

    return pd.concat([pd.read_parquet(file) for file in sorted(files.glob("*.parquet"))])


def _as_arrays(files: Path) -> tuple[Any, Any]:
    """Read files into one float32 array, file by file, as a careful user would."""
    import pyarrow.parquet as pq

    paths = sorted(files.glob("*.parquet"))
    n_rows = sum(pq.read_metadata(path).num_rows for path in paths)
    n_features = pq.read_schema(paths[0]).names.index(TARGET)
    X, y, row = np.empty((n_rows, n_features), dtype=np.float32), [], 0
    for path in paths:
        table = pq.read_table(path)
        for j, name in enumerate(name for name in table.column_names if name != TARGET):
            X[row : row + table.num_rows, j] = table[name].to_numpy()
        y.append(table[TARGET].to_numpy())
        row += table.num_rows
    return X, np.concatenate(y)


def _tables(dataset: Any, n_chunks: int) -> list[Any]:
    from solah.data import Column, Table

    target = Column(dataset.target_name, dataset.target.astype(object), nominal=True)
    whole = Table((*dataset.table.columns, target), dataset.table.n_rows)
    places = np.array_split(np.arange(whole.n_rows), n_chunks)
    return [whole.rows(int(place[0]), int(place[-1]) + 1) for place in places]


def _dask_frame(files: Path) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(str(files / "*.parquet"))


def _in_a_process(files: Path, **arguments: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "model.json")
        _child("solah", files, output=str(output), **arguments)
        return output.read_text(encoding="utf-8")


def _command(model: str, files: Path, **arguments: Any) -> list[str]:
    words = [sys.executable, __file__, "child", "--model", model, "--files", str(files)]
    given = {name: value for name, value in arguments.items() if value is not None}
    return [*words, *(word for name, value in given.items() for word in (f"--{name}", str(value)))]


def _child(model: str, files: Path, **arguments: Any) -> Run:
    """Run a process, and ask the system what it took."""
    start = time.perf_counter()
    command = _command(model, files, **arguments)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{model} failed")
    found = json.loads(said)
    return Run(wall, used.ru_utime + used.ru_stime, found.pop("peak"), found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("part", choices=["exact", "growth", "peers", "real", "child"])
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "solah-sensors"))
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--memory", default=None)
    parser.add_argument("--jobs", type=int, default=available_threads())
    for name in ("model", "files", "output", "test"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
