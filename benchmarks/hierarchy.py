"""How fast a hierarchy organises itself, and what it saves against a single tree.

    python benchmarks/hierarchy.py [--rows 200000] [--repeats 2]

Every figure is a ratio or a growth measured in one run, because machines are noisy and shared.
Data: features in groups of five that share a cause, from a seeded generator; Sonar and
Ionosphere from SOLAH_DATA where that is set.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from timing import print_growth, seconds

from solah import (
    PAPER,
    LinguisticTreeClassifier,
    RuleClassifier,
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.exceptions import DatasetError
from solah.kernels.choose import available_threads, kernel

PAPER_SECONDS = {"sonar": 507, "ionosphere": 143}


def make_data(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw groups of five features that share a cause; four causes decide the class."""
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n_rows, -(-n_features // 5)))
    X = np.repeat(causes, 5, axis=1)[:, :n_features] + rng.standard_normal((n_rows, n_features))
    y = causes[:, :4] @ [1.0, -1.0, 0.5, 0.5] + rng.standard_normal(n_rows) > 0
    return X, y.astype(int)


def solah(n_jobs: int = -1) -> RuleClassifier:
    return RuleClassifier(n_jobs=n_jobs)


def compare_fit(n_rows: int, repeats: int) -> None:
    X, y = make_data(n_rows, 100)
    peer = seconds(lambda: HistGradientBoostingClassifier(max_iter=100).fit(X, y), repeats)
    mine = seconds(lambda: solah().fit(X, y), repeats)
    model = solah().fit(X, y)
    print(f"fit, {n_rows:,} x 100, {available_threads()} threads")
    print(f"  scikit-learn HistGradientBoostingClassifier(max_iter=100)  {peer:7.2f} s")
    print(f"  SOLAH                                                      {mine:7.2f} s")
    print(f"  ratio {peer / mine:.2f} (above 1: solah is faster)")
    print(f"  {len(model.feature_groups_)} groups, {model.n_rules_:,} rules")


def show_growth(n_rows: int, repeats: int) -> None:
    print("growth of the fit time; 2.0 is linear")
    sizes = [(n_rows // 4, 50), (n_rows // 2, 50), (n_rows, 50)]
    times = [_fit_time(*size, repeats) for size in sizes]
    print_growth("rows", [size[0] for size in sizes], times)
    sizes = [(n_rows // 8, width) for width in (50, 100, 200)]
    times = [_fit_time(*size, repeats) for size in sizes]
    print_growth("features", [size[1] for size in sizes], times)
    print("  (pairs of features grow by 4.0 when features double)")


def _fit_time(n_rows: int, n_features: int, repeats: int) -> float:
    X, y = make_data(n_rows, n_features)
    return seconds(lambda: solah().fit(X, y), repeats)


def show_paper_sets() -> None:
    for name, paper in PAPER_SECONDS.items():
        try:
            data = datasets.load(name)
        except DatasetError:
            print(f"10-fold run on {name}: not measured, SOLAH_DATA is not set")
            continue
        n_features = len(data.feature_names)
        print(f"10-fold runs with the paper's settings on {name}, {n_features} features")
        _print_run("SOLAH", SelfOrganisedHierarchyClassifier, data, f"the paper: {paper} s")
        # Without this a single tree takes minutes: every row is a little in every branch.
        least = 0.01 / len(data.y)
        note = "branches below 1/100 row not extended"
        _print_run("SOLAH", SelfOrganisedHierarchyClassifier, data, note, min_support=least)
        _print_run("single tree", LinguisticTreeClassifier, data, note, min_support=least)


def _print_run(label: str, kind, data, note: str, **parameters) -> None:
    model = kind.with_settings(PAPER, n_jobs=-1, **parameters)
    took, accuracy, branches = _ten_folds(model, data.X, data.y)
    print(
        f"  {label:<12}{branches:>9,.0f} branches  accuracy {accuracy:.3f}  {took:6.2f} s  ({note})"
    )


def _ten_folds(model, X, y) -> tuple[float, float, float]:
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    right, branches = 0, []
    start = time.perf_counter()
    for train, test in folds.split(X, y):
        model.fit(X[train], y[train])
        right += int((model.predict(X[test]) == y[test]).sum())
        branches.append(model.n_branches_)
    return time.perf_counter() - start, right / len(y), float(np.mean(branches))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    print(f"kernel: {kernel().name}, {available_threads()} processors")
    show_paper_sets()
    compare_fit(arguments.rows, arguments.repeats)
    show_growth(arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
