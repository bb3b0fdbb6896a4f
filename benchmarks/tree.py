"""How fast a linguistic tree is learned and used, beside scikit-learn's decision tree.

    python benchmarks/tree.py [--rows 1000000] [--repeats 3]

Every figure is a ratio or a growth measured in one run, because machines are noisy and shared.
Data: normal features from a seeded generator; Pima from SOLAH_DATA where that is set.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from timing import print_growth, seconds

from solah import PAPER, LinguisticTreeClassifier, datasets
from solah.exceptions import DatasetError
from solah.kernels.choose import available_threads, kernel

N_FEATURES = 20
DEPTH = 5


def make_data(n_rows: int, n_features: int = N_FEATURES) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n_rows) > 0
    return X, y.astype(int)


def ours(n_jobs: int) -> LinguisticTreeClassifier:
    return LinguisticTreeClassifier(max_depth=DEPTH, min_support=0.0, n_jobs=n_jobs)


def compare_fit(n_rows: int, repeats: int) -> None:
    X, y = make_data(n_rows)
    peer = seconds(lambda: DecisionTreeClassifier(max_depth=DEPTH).fit(X, y), 1)
    print(f"fit, {n_rows:,} x {N_FEATURES}, 2 classes, depth {DEPTH}")
    print(f"  scikit-learn DecisionTreeClassifier  {peer:8.2f} s")
    for n_jobs in sorted({1, available_threads()}):
        mine = seconds(lambda n=n_jobs: ours(n).fit(X, y), repeats)
        name = f"solah, {n_jobs} thread(s)"
        print(f"  {name:<36} {mine:8.2f} s   {peer / mine:5.1f} times faster")


def show_growth(n_rows: int, repeats: int) -> None:
    print("growth of the fit time (1 thread); 2.0 is linear")
    sizes = [(n_rows // 4, N_FEATURES), (n_rows // 2, N_FEATURES), (n_rows, N_FEATURES)]
    print_growth("rows", [size[0] for size in sizes], [_fit_time(*s, repeats) for s in sizes])
    sizes = [(n_rows // 4, N_FEATURES * k) for k in (1, 2, 4)]
    print_growth("features", [size[1] for size in sizes], [_fit_time(*s, repeats) for s in sizes])


def _fit_time(n_rows: int, n_features: int, repeats: int) -> float:
    X, y = make_data(n_rows, n_features)
    return seconds(lambda: ours(1).fit(X, y), repeats)


def show_memory(n_rows: int) -> None:
    """Measure the peak in a process of its own, against one that only makes the data."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        data_only, array = pool.apply(_peak_memory, (n_rows, False))
        fitted, _ = pool.apply(_peak_memory, (n_rows, True))
    print(
        f"peak memory: {(fitted - data_only + array) / array:.2f} times the input array "
        f"({array / 2**20:.0f} MB; the array itself counts as 1)"
    )


def _peak_memory(n_rows: int, fit: bool) -> tuple[float, float]:
    ours(1).fit(*make_data(1000))
    X, y = make_data(n_rows)
    if fit:
        ours(available_threads()).fit(X, y)
    # Not ru_maxrss: a child begins with the peak of the process that started it.
    status = Path("/proc/self/status").read_text()
    kilobytes = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
    return kilobytes * 1024.0, float(X.nbytes)


def show_prediction(n_rows: int, repeats: int) -> None:
    X, y = make_data(n_rows)
    tree = LinguisticTreeClassifier(max_depth=3, min_support=0.01).fit(X, y)
    mine = seconds(lambda: tree.predict_proba(X), repeats)
    peer_tree = DecisionTreeClassifier(max_leaf_nodes=tree.n_rules_).fit(X[:100_000], y[:100_000])
    peer = seconds(lambda: peer_tree.predict_proba(X), repeats)
    print(f"predict_proba, {n_rows:,} rows, {tree.n_rules_} rules, 1 thread")
    print(f"  solah {n_rows / mine / 1e6:.2f} million rows/s")
    leaves = peer_tree.get_n_leaves()
    print(f"  scikit-learn, {leaves} leaves: {n_rows / peer / 1e6:.2f} million rows/s")


def show_pima(repeats: int) -> None:
    try:
        data = datasets.load("pima")
    except DatasetError:
        print("10-fold evaluation on Pima: not measured, SOLAH_DATA is not set")
        return
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    tree = LinguisticTreeClassifier.with_settings(PAPER)
    took = seconds(lambda: cross_val_score(tree, data.X, data.y, cv=folds), repeats)
    branches = tree.fit(data.X, data.y).n_branches_
    print(f"10-fold evaluation of the paper's tree on Pima ({branches:,} branches)")
    print(f"  {took:.2f} s; the paper: 667 s ({667 / took:.0f} times)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(f"kernel: {kernel().name}, {available_threads()} processors")
    compare_fit(arguments.rows, arguments.repeats)
    show_growth(arguments.rows, arguments.repeats)
    show_memory(arguments.rows)
    show_prediction(arguments.rows, arguments.repeats)
    show_pima(arguments.repeats)


if __name__ == "__main__":
    main()
