"""What monotonic constraints cost: time, accuracy and log-loss, beside gradient boosting.

    SOLAH_DATA=… python benchmarks/monotone.py [--folds 10]

Sets of two classes: Pima (``diabetes_pima``), and breast cancer as scikit-learn has it. Constrained
are all columns whose rank correlation with the second class is above 0.1 in the training rows, in
its direction; in the last lines against it, so that the constraints hurt. Both models get the
same constraints on the same folds. The time is that of the process, for all folds; the ratio is
that of the constrained fits to the free ones, and both take turns.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from solah import RuleClassifier, datasets

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST_CORRELATION = 0.1


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args(words)
    head = ("accuracy", "log-loss", "seconds", "ratio")
    print(f"{'set':<16}{'model':<10}{'constraints':<14}" + "".join(f"{one:>10}" for one in head))
    for name, X, y in sets():
        for sign, kind in ((1, "along"), (-1, "against")):
            found = measure(X, y, sign, options.folds)
            for model in ("solah", "boosting"):
                free = found[model, False]
                for is_bound in (False, True):
                    if not is_bound and sign < 0:
                        continue  # as above
                    accuracy, loss, seconds = found[model, is_bound]
                    ratio = f"{seconds / free[2]:>10.2f}" if is_bound else ""
                    shown = kind if is_bound else "none"
                    print(
                        f"{name:<16}{model:<10}{shown:<14}{accuracy:>10.4f}{loss:>10.4f}"
                        f"{seconds:>10.2f}{ratio}"
                    )


def sets() -> Iterator[tuple[str, Any, Any]]:
    pima = datasets.load("diabetes_pima")
    columns = [np.asarray(column.values, dtype=np.float64) for column in pima.table.columns]
    yield "diabetes_pima", np.column_stack(columns), np.unique(pima.target, return_inverse=True)[1]
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast_cancer", X, y


def measure(X: Any, y: Any, sign: int, n_folds: int) -> dict[tuple[str, bool], list[float]]:
    """Return accuracy, log-loss and seconds of each model, free and constrained."""
    beliefs = {(one, b): np.zeros(len(y)) for one in ("solah", "boosting") for b in (False, True)}
    seconds = dict.fromkeys(beliefs, 0.0)
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        correlations = np.array([spearmanr(column, y[train]).statistic for column in X[train].T])
        directions = sign * np.sign(correlations) * (np.abs(correlations) > _LEAST_CORRELATION)
        for (model, is_bound), believed in beliefs.items():
            wanted = directions.astype(int).tolist() if is_bound else None
            estimator: Any = (
                RuleClassifier(monotonic_cst=wanted, n_jobs=1)
                if model == "solah"
                else HistGradientBoostingClassifier(monotonic_cst=wanted, random_state=0)
            )
            start = process_time()
            estimator.fit(X[train], y[train])
            seconds[model, is_bound] += process_time() - start
            believed[test] = estimator.predict_proba(X[test])[:, 1]
    return {
        key: [accuracy_score(y, believed > 0.5), log_loss(y, believed), seconds[key]]
        for key, believed in beliefs.items()
    }


if __name__ == "__main__":
    main()
