"""How fast distance correlations are, beside the package dcor, and how far bins are off.

    python benchmarks/dependence.py [--rows 1000000] [--repeats 3]

Every figure is a ratio or an error measured in one run, because machines are noisy and shared.
Data come from seeded generators and are made outside the timed calls; dcor's functions have been
compiled before they are timed. Without dcor (pip install dcor) only our own times are shown.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import warnings
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timing import seconds

from solah.dependence import distance_correlation, distance_correlation_matrix
from solah.kernels.choose import available_threads, kernel

try:
    import dcor
except ImportError:
    dcor = None

if TYPE_CHECKING:
    from collections.abc import Callable

SPAM_ROWS, SPAM_COLUMNS = 4_601, 57
PAIR_ROWS = 100_000
BINNED_COLUMNS = 60
ERROR_ROWS = 50_000
N_THREADS = 2


def related_columns(n_rows: int, n_columns: int) -> np.ndarray:
    """Make normal columns of which each shares something with the one before."""
    X = np.random.default_rng(0).standard_normal((n_rows, n_columns))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X


def compare_all_pairs(repeats: int) -> None:
    X = related_columns(SPAM_ROWS, SPAM_COLUMNS)
    print(f"all pairs of {SPAM_COLUMNS} columns, {SPAM_ROWS:,} rows, exact")
    mine = seconds(
        lambda: distance_correlation_matrix(X, method="exact", n_jobs=N_THREADS), repeats
    )
    _print_time(f"solah, {N_THREADS} threads", mine)
    _warm_up()
    for name, work in _dcor_all_pairs(X).items():
        _print_ratio(name, seconds(work, repeats), mine)


def _dcor_all_pairs(X: np.ndarray) -> dict[str, Callable[[], object]]:
    if dcor is None:
        return {}
    columns = np.ascontiguousarray(X.T)
    pairs = list(combinations(range(len(columns)), 2))
    first, second = (columns[list(side)] for side in zip(*pairs, strict=True))

    def by_pairs(method: str) -> object:
        return [
            dcor.distance_correlation(x, y, method=method)
            for x, y in zip(first, second, strict=True)
        ]

    def by_rows() -> object:
        # Covariances of the pairs and variances of the columns are all that a matrix needs.
        x, y = np.concatenate([first, columns]), np.concatenate([second, columns])
        mode = dcor.CompileMode.COMPILE_PARALLEL
        return dcor.rowwise(dcor.distance_covariance_sqr, x, y, compile_mode=mode)

    return {
        "dcor, AVL": lambda: by_pairs("avl"),
        "dcor, merge sort": lambda: by_pairs("mergesort"),
        "dcor, rowwise, parallel AVL": by_rows,
    }


def compare_one_pair(repeats: int) -> None:
    x, y = related_columns(PAIR_ROWS, 2).T.copy()
    print(f"one pair, {PAIR_ROWS:,} rows, exact, 1 thread")
    mine = seconds(lambda: distance_correlation(x, y, method="exact"), repeats)
    _print_time("solah", mine)
    for method in ("avl", "mergesort") if dcor else ():
        work = _warm_pair(x, y, method)
        _print_ratio(f"dcor, {method}", seconds(work, repeats), mine)


def _warm_pair(x: np.ndarray, y: np.ndarray, method: str) -> Callable[[], object]:
    dcor.distance_correlation(x[:100], y[:100], method=method)
    return lambda: dcor.distance_correlation(x, y, method=method)


def _warm_up() -> None:
    """Let dcor compile what will be timed."""
    for work in _dcor_all_pairs(related_columns(100, 3)).values():
        work()


def show_binned(n_rows: int) -> None:
    """Time and measure the peak in a process of its own, data included."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        took, peak = pool.apply(_binned_run, (n_rows,))
    print(f"all pairs of {BINNED_COLUMNS} columns, {n_rows:,} rows, binned, {N_THREADS} threads")
    print(f"  {took:.1f} s, peak memory {peak / 2**30:.2f} GB with the data")


def _binned_run(n_rows: int) -> tuple[float, float]:
    X = related_columns(n_rows, BINNED_COLUMNS)
    took = seconds(lambda: distance_correlation_matrix(X, method="binned", n_jobs=N_THREADS), 1)
    # Not ru_maxrss: a child begins with the peak of the process that started it.
    status = Path("/proc/self/status").read_text()
    return took, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024.0


def show_error() -> None:
    """Compare bins with the exact form on columns that are hard on bins."""
    names, X = zip(*_hard_columns(np.random.default_rng(0), ERROR_ROWS).items(), strict=True)
    X = np.column_stack(X)
    exact, binned = (
        distance_correlation_matrix(X, method=method, n_jobs=N_THREADS)
        for method in ("exact", "binned")
    )
    error = np.abs(binned - exact)
    worst = np.unravel_index(error.argmax(), error.shape)
    print(f"error of bins against exact, {ERROR_ROWS:,} rows, {len(names)} columns")
    print(
        f"  largest {error.max():.5f} ({' with '.join(names[j] for j in worst)}), "
        f"mean {error.mean():.6f}"
    )


def _hard_columns(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    normal, other, noise = rng.standard_normal((3, n))
    heavy = rng.standard_t(2, n)
    far = np.exp(2 * rng.standard_normal(n))
    return {
        "normal": normal,
        "normal, dependent": normal + other,
        "normal, independent": noise,
        "square of normal": normal**2 + 0.3 * other,
        "sine": np.sin(4 * noise),
        "t, 2 degrees": heavy,
        "t, 2 degrees, dependent": heavy + normal,
        "t, 3 degrees": rng.standard_t(3, n),
        "lognormal": np.exp(normal),
        "lognormal, sigma 2": far,
        "lognormal plus t": far + heavy,
        "half zeros": np.where(other > 0, np.exp(normal), 0.0),
        "Poisson": rng.poisson(np.exp(normal / 2)).astype(float),
        "1,000 whole numbers": rng.integers(0, 1000, n).astype(float),
        "rounded normal": np.round(2 * normal),
        "rare event": (normal > 2.5).astype(float),
    }


def _print_time(name: str, took: float) -> None:
    print(f"  {name:<30} {took:8.3f} s")


def _print_ratio(name: str, peer: float, mine: float) -> None:
    print(f"  {name:<30} {peer:8.3f} s   solah is {peer / mine:5.1f} times faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # dcor's, about the methods it falls back on
    print(f"kernel: {kernel().name}, {available_threads()} processors")
    if dcor is None:
        print("dcor is not installed, so nothing is compared: pip install dcor")
    compare_all_pairs(arguments.repeats)
    compare_one_pair(arguments.repeats)
    show_binned(arguments.rows)
    show_error()


if __name__ == "__main__":
    main()
