"""Whether the metrics that a model reports hold on fresh rows.

    python benchmarks/honesty.py [--sets coin-500 …] [--seeds 5] [--jobs 2] [--quick]

A fitted model reports the loss and the accuracy of its number of rules, the chosen step of
``path_``. Both are compared with those of the same model on fresh rows. Beside them is what
scikit-learn's cross-validation of the same estimator reports, in five folds. Numbers have the root
of the mean squared error (RMSE) instead of the loss, and R² instead of the accuracy.

Most sets are drawn from a known generator, so 50,000 fresh rows are drawn for each. Of the sets
that come with scikit-learn, half of the rows are fresh. Where rows have weights, all figures are
weighted. Where classes are balanced, their weights are those of the training rows. Fresh rows of
a set with groups are of other groups.

The standard error of a difference is that of the mean loss over the rows that the report is
measured on (of large tables a part) and over the fresh ones, or that between seeds if this is
larger. Where a model reports more than two standard errors too well of itself, there is an
exclamation mark.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn import clone, datasets
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_validate
from threadpoolctl import threadpool_limits

from solah import RuleClassifier, RuleRegressor
from solah.learn.recipe import AdditiveRecipe

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_FRESH = 50_000
N_FOLDS = 5
LARGE = 30_000  # rows from which one seed does for five: the error is small
_LEAST = 1e-15


class Rows(NamedTuple):
    """Rows of a set; weights and groups are optional."""

    X: pd.DataFrame
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.X.iloc[rows].reset_index(drop=True),
            *(None if one is None else one[rows] for one in self[1:]),
        )

    @property
    def given(self) -> dict[str, Any]:
        """What ``fit`` gets beside X and y."""
        named = {"sample_weight": self.weight, "groups": self.groups}
        return {name: one for name, one in named.items() if one is not None}


@dataclass(frozen=True)
class Set:
    """A set of the benchmark.

    Attributes
    ----------
    draw : makes rows, given a generator of random numbers and how many
    n_rows : how many to learn from
    settings : those of the estimator
    real : all rows there are, where none can be drawn
    """

    n_rows: int = 0
    draw: Callable[[np.random.Generator, int], Rows] | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    real: Callable[[], Rows] | None = None

    def parts(self, seed: int) -> tuple[Rows, Rows]:
        """Return rows to learn from, and fresh ones."""
        rng = np.random.default_rng(seed)
        if self.real is not None:
            rows = self.real()
            order = rng.permutation(len(rows.y))
            half = len(order) // 2
            return rows.take(order[:half]), rows.take(order[half:])
        assert self.draw is not None
        return self.draw(rng, self.n_rows), self.draw(rng, N_FRESH)


@dataclass(frozen=True)
class Measured:
    """A loss and an accuracy, or an error and R²."""

    loss: float
    accuracy: float


@dataclass(frozen=True)
class Cell:
    """The metrics that a model reports, those on fresh rows, and those of cross-validation.

    Attributes
    ----------
    name : the set
    reported, fresh, validated : by the model, on fresh rows, and by cross-validation
    error, accuracy_error : the standard errors of a difference to ``fresh``
    n_rules, n_columns : how many the model has
    """

    name: str
    reported: Measured
    fresh: Measured
    validated: Measured
    error: float
    accuracy_error: float
    n_rules: int
    n_columns: int


# --- sets ----------------------------------------------------------------------------------------


def _numbers(rng: np.random.Generator, n_rows: int, n_columns: int) -> pd.DataFrame:
    return pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("x")


def _toss(rng: np.random.Generator, score: Any) -> NDArray[np.bool_]:
    return np.asarray(rng.random(len(score)) < 1 / (1 + np.exp(-np.asarray(score))))


def coin(rng: np.random.Generator, n_rows: int) -> Rows:
    X = _numbers(rng, n_rows, 4)
    return Rows(X, _toss(rng, np.zeros(n_rows)))


def main_effects(rng: np.random.Generator, n_rows: int) -> Rows:
    X = _numbers(rng, n_rows, 10)
    return Rows(X, _toss(rng, X["x0"] + np.abs(X["x1"]) - 0.5 * X["x2"]))


def product(rng: np.random.Generator, n_rows: int) -> Rows:
    """Twenty columns of which six matter, two of them by their product too."""
    X = _numbers(rng, n_rows, 20)
    score = 0.7 * X[["x0", "x1", "x2", "x3", "x4", "x5"]].sum(axis=1)
    return Rows(X, _toss(rng, score + X["x0"] * X["x1"]))


def thresholds(rng: np.random.Generator, n_rows: int) -> Rows:
    X = pd.DataFrame(rng.random((n_rows, 6))).add_prefix("x")
    return Rows(X, _toss(rng, 4.0 * (X["x0"] > 0.7) - 3.0 * (X["x1"] < 0.2) - 1.0))


def categories(rng: np.random.Generator, n_rows: int) -> Rows:
    X = _numbers(rng, n_rows, 3)
    kind = rng.integers(0, 6, n_rows)
    X["kind"] = np.array(list("abcdef"), dtype=object)[kind]
    X["level"] = rng.integers(0, 200, n_rows).astype(str).astype(object)
    return Rows(X, _toss(rng, X["x0"] + np.array([-1.5, -1, 0, 0, 1, 1.5])[kind]))


def rare(rng: np.random.Generator, n_rows: int) -> Rows:
    """One row in fifty is positive, and a category of 200 levels means nothing."""
    X = _numbers(rng, n_rows, 5)
    X["level"] = rng.integers(0, 200, n_rows).astype(str).astype(object)
    return Rows(X, _toss(rng, 1.2 * X["x0"] - 0.8 * X["x1"] - 4.8))


def repeated(rng: np.random.Generator, n_rows: int) -> Rows:
    """Answers to six questions: few different rows, each of them many times."""
    X = pd.DataFrame(rng.integers(0, 3, (n_rows, 6)).astype(float)).add_prefix("x")
    return Rows(X, _toss(rng, X["x0"] - X["x1"] + 0.5 * (X["x2"] == 1)))


def three_classes(rng: np.random.Generator, n_rows: int) -> Rows:
    X = _numbers(rng, n_rows, 8)
    scores = np.column_stack([X["x0"], X["x1"], X["x2"] + 0.5 * X["x0"]])
    return Rows(X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1))


def weighted(rng: np.random.Generator, n_rows: int) -> Rows:
    """Weights between about a tenth and ten, which do not depend on the row."""
    return main_effects(rng, n_rows)._replace(weight=rng.lognormal(0.0, 1.2, n_rows))


def weighted_coin(rng: np.random.Generator, n_rows: int) -> Rows:
    return coin(rng, n_rows)._replace(weight=rng.lognormal(0.0, 1.2, n_rows))


def grouped(rng: np.random.Generator, n_rows: int) -> Rows:
    """Twenty rows of a person, whose readings and answers are alike."""
    n_people = -(-n_rows // 20)
    person = np.repeat(np.arange(n_people), 20)[:n_rows]
    X = _numbers(rng, n_rows, 6) * 0.4 + rng.normal(size=(n_people, 6))[person]
    return Rows(X, _toss(rng, X["x0"] + rng.normal(size=n_people)[person]), groups=person)


def number(rng: np.random.Generator, n_rows: int) -> Rows:
    X = _numbers(rng, n_rows, 10)
    noise = rng.normal(size=n_rows)
    return Rows(X, 10 + 3 * X["x0"].to_numpy() + 4 * np.abs(X["x1"].to_numpy()) + 5 * noise)


def number_of_noise(rng: np.random.Generator, n_rows: int) -> Rows:
    return Rows(_numbers(rng, n_rows, 4), rng.normal(50.0, 10.0, n_rows))


def weighted_number(rng: np.random.Generator, n_rows: int) -> Rows:
    return number(rng, n_rows)._replace(weight=rng.lognormal(0.0, 1.2, n_rows))


def _bundled(load: Callable[..., Any], weight: float | None = None) -> Callable[[], Rows]:
    def rows() -> Rows:
        X, y = load(return_X_y=True, as_frame=True)
        weights = None if weight is None else np.full(len(y), weight)
        return Rows(X, y.to_numpy(), weights)

    return rows


BALANCED = (("class_weight", "balanced"),)
CLASSES = {
    "coin-500": Set(500, coin),
    "coin-2000": Set(2_000, coin),
    "coin-80000": Set(80_000, coin),
    "main-500": Set(500, main_effects),
    "main-2000": Set(2_000, main_effects),
    "main-30000": Set(30_000, main_effects),
    "product-2000": Set(2_000, product),
    "product-100000": Set(100_000, product),
    "thresholds-2000": Set(2_000, thresholds),
    "categories-2000": Set(2_000, categories),
    "categories-30000": Set(30_000, categories),
    "rare-2000": Set(2_000, rare),
    "rare-30000": Set(30_000, rare),
    "rare-balanced-30000": Set(30_000, rare, BALANCED),
    "main-balanced-2000": Set(2_000, main_effects, BALANCED),
    "repeated-2000": Set(2_000, repeated),
    "three-classes-2000": Set(2_000, three_classes),
    "weights-2000": Set(2_000, weighted),
    "weights-30000": Set(30_000, weighted),
    "weights-coin-2000": Set(2_000, weighted_coin),
    "groups-2000": Set(2_000, grouped),
    "cancer": Set(real=_bundled(datasets.load_breast_cancer)),
    "cancer-weight-2": Set(real=_bundled(datasets.load_breast_cancer, 2.0)),
    "wine": Set(real=_bundled(datasets.load_wine)),
    "digits": Set(real=_bundled(datasets.load_digits)),
}
NUMBERS = {
    "number-500": Set(500, number),
    "number-2000": Set(2_000, number),
    "number-100000": Set(100_000, number),
    "number-noise-2000": Set(2_000, number_of_noise),
    "number-weights-2000": Set(2_000, weighted_number),
    "diabetes": Set(real=_bundled(datasets.load_diabetes)),
}
SETS = CLASSES | NUMBERS
QUICK = ("coin-500", "weights-2000", "wine", "number-500")


# --- measuring -----------------------------------------------------------------------------------


def measure(name: str, seed: int) -> Cell:
    """Fit a model and compare what it reports with fresh rows and with cross-validation."""
    chosen = SETS[name]
    learned, fresh = chosen.parts(seed)
    is_number = name in NUMBERS
    kind = RuleRegressor if is_number else RuleClassifier
    model = kind(**dict(chosen.settings))
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model.fit(learned.X, learned.y, **learned.given)
        step = next(one for one in model.path_ if one.is_chosen)
        is_balanced = chosen.settings == BALANCED
        weight = class_weights(learned.y, fresh.y) if is_balanced else fresh.weight
        losses, hits = losses_of(model, fresh, is_number=is_number)
        validated = cross_validated(model, learned, is_number=is_number, is_balanced=is_balanced)
    true = summary(losses, hits, fresh.y, weight, is_number=is_number)
    own_weight = class_weights(learned.y, learned.y) if is_balanced else learned.weight
    n_learned = len(learned.y)
    n_eff = [
        effective(own_weight, n_learned) * rows_measured_on(n_learned) / n_learned,
        effective(weight, len(fresh.y)),
    ]
    if is_number:
        reported = Measured(step.loss, step.quality)
        # The error of a root is that of the square over twice the root.
        error = mean_error(losses, weight, n_eff) / (2 * true.loss)
        accuracy_error = mean_error(losses, weight, n_eff) / variance(fresh.y, weight)
    else:
        reported = Measured(step.loss, step.quality)
        error, accuracy_error = (mean_error(one, weight, n_eff) for one in (losses, hits))
    columns = len(model.model_.features)
    return Cell(name, reported, true, validated, error, accuracy_error, model.n_rules_, columns)


def class_weights(learned: NDArray[Any], of: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weights of rows by which the classes of the training rows are balanced."""
    classes, counts = np.unique(learned, return_counts=True)
    weights = len(learned) / (len(classes) * counts)
    return np.asarray(weights[np.searchsorted(classes, of)])


def losses_of(model: Any, rows: Rows, *, is_number: bool) -> tuple[Any, Any]:
    """Return the loss of each row, and whether its decision is right; of numbers, the squares."""
    if is_number:
        squares = (model.predict(rows.X) - rows.y) ** 2
        return squares, squares
    beliefs = model.predict_proba(rows.X)
    places = np.searchsorted(model.classes_, rows.y)
    losses = -np.log(np.maximum(beliefs[np.arange(len(places)), places], _LEAST))
    return losses, (model.predict(rows.X) == rows.y).astype(float)


def summary(
    losses: Any, hits: Any, y: NDArray[Any], weight: NDArray[np.float64] | None, *, is_number: bool
) -> Measured:
    loss = float(np.average(losses, weights=weight))
    if is_number:
        return Measured(loss**0.5, 1 - loss / variance(y, weight))
    return Measured(loss, float(np.average(hits, weights=weight)))


def variance(y: NDArray[Any], weight: NDArray[np.float64] | None) -> float:
    return float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))


def effective(weight: NDArray[np.float64] | None, n_rows: int) -> float:
    """Return the effective number of rows."""
    return n_rows if weight is None else float(weight.sum() ** 2 / (weight**2).sum())


def rows_measured_on(n_rows: int) -> int:
    """Return how many training rows a report comes from: all, or some that no choice has seen."""
    recipe = AdditiveRecipe()
    n_tested = min(min(n_rows, recipe.max_rows) // 4, n_rows - recipe.compared_rows)
    return n_tested if n_tested >= recipe.least_tested else min(n_rows, recipe.compared_rows)


def mean_error(values: Any, weight: NDArray[np.float64] | None, n_effective: list[float]) -> float:
    """Return the standard error of the difference of two means, of rows like these."""
    return float(np.sqrt(variance(values, weight) * sum(1 / n for n in n_effective)))


def cross_validated(model: Any, learned: Rows, *, is_number: bool, is_balanced: bool) -> Measured:
    """Return the metrics of scikit-learn's cross-validation of the same estimator and weights."""
    weight = class_weights(learned.y, learned.y) if is_balanced else learned.weight
    given = {"sample_weight": weight, "groups": learned.groups}
    given = {name: one for name, one in given.items() if one is not None}
    names = ("neg_mean_squared_error", "r2") if is_number else ("neg_log_loss", "accuracy")
    if learned.groups is not None:
        folds: Any = GroupKFold(N_FOLDS)
    else:
        folds = (KFold if is_number else StratifiedKFold)(N_FOLDS, shuffle=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=not is_balanced, groups=True)
        scorers = {name: get_scorer(name).set_score_request(sample_weight=True) for name in names}
        found = cross_validate(asked, learned.X, learned.y, cv=folds, scoring=scorers, params=given)
    loss, accuracy = (float(found[f"test_{name}"].mean()) for name in names)
    return Measured((-loss) ** (0.5 if is_number else 1.0), accuracy)


# --- printing ------------------------------------------------------------------------------------


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=tuple(SETS), choices=SETS)
    parser.add_argument("--seeds", type=int, default=5, help="of large sets, a fifth of them")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a few small sets, two seeds")
    options = parser.parse_args(words)
    names = QUICK if options.quick else options.sets
    n_seeds = 2 if options.quick else options.seeds
    print(HEAD)
    measured: dict[str, list[Cell]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        running = {
            name: [pool.submit(measure, name, seed) for seed in seeds_of(SETS[name], n_seeds)]
            for name in names
        }
        for name, cells in running.items():
            measured[name] = [one.result() for one in cells]
            print(line(name, measured[name]), flush=True)
    for what, some in (("classes", CLASSES), ("numbers", NUMBERS)):
        of_kind = [cells for name, cells in measured.items() if name in some]
        if of_kind:
            print(f"mean of {len(of_kind)} sets, {what}: {overall(of_kind)}")


def seeds_of(chosen: Set, n_seeds: int) -> range:
    return range(max(n_seeds // 5, 1) if chosen.n_rows >= LARGE else n_seeds)


HEAD = (
    f"{'':<21}{'loss or RMSE':^43}{'accuracy or R²':^43}\n"
    f"{'set':<21}{'own':>8}{'fresh':>8}{'own-fresh':>18}{'cv-fresh':>9}"
    f"{'own':>8}{'fresh':>8}{'own-fresh':>18}{'cv-fresh':>9}{'rules':>7}{'columns':>8}"
)


@dataclass(frozen=True)
class Gap:
    """What is reported and found on fresh rows, means over seeds, and the error of the difference.

    Attributes
    ----------
    reported, fresh, validated : by the model, on fresh rows, and by cross-validation
    error : the standard error of ``size``
    """

    reported: float
    fresh: float
    validated: float
    error: float

    @classmethod
    def of(cls, cells: list[Cell], what: str, error: str) -> Gap:
        """Put the seeds of a set together."""
        own, fresh, validated = (
            np.array([getattr(getattr(cell, part), what) for cell in cells])
            for part in ("reported", "fresh", "validated")
        )
        errors = np.array([getattr(cell, error) for cell in cells])
        expected = np.sqrt((errors**2).sum()) / len(cells)
        between = np.std(own - fresh, ddof=1) / np.sqrt(len(cells)) if len(cells) > 2 else 0.0
        means = (float(one.mean()) for one in (own, fresh, validated))
        return cls(*means, max(float(expected), float(between)))

    @property
    def size(self) -> float:
        """How much more is reported than found on fresh rows."""
        return self.reported - self.fresh

    @property
    def validated_size(self) -> float:
        """How much more cross-validation reports."""
        return self.validated - self.fresh


def gaps(cells: list[Cell]) -> tuple[Gap, Gap]:
    """Return the gaps of the loss and of the accuracy of one set."""
    return Gap.of(cells, "loss", "error"), Gap.of(cells, "accuracy", "accuracy_error")


def line(name: str, cells: list[Cell]) -> str:
    figures = ""
    for gap, good in zip(gaps(cells), (-1, 1), strict=True):
        mark = "!" if good * gap.size > 2 * gap.error else " "
        figures += (
            f"{gap.reported:>8.3f}{gap.fresh:>8.3f}{gap.size:>+9.4f}{mark}±{gap.error:.4f}"
            f" {gap.validated_size:>+9.4f}"
        )
    sizes = (np.mean([getattr(cell, what) for cell in cells]) for what in ("n_rules", "n_columns"))
    return f"{name:<21}{figures}{''.join(f'{one:>8.0f}' for one in sizes)}"


def overall(by_set: list[list[Cell]]) -> str:
    """Return the mean error of reports over sets, in their units and in standard errors."""
    parts = []
    for what, of_sets in zip(
        ("loss", "accuracy"), zip(*map(gaps, by_set), strict=True), strict=True
    ):
        error = np.sqrt(sum(gap.error**2 for gap in of_sets)) / len(of_sets)
        size, validated = (
            np.mean([getattr(gap, one) for gap in of_sets]) for one in ("size", "validated_size")
        )
        standard = np.mean([gap.size / gap.error for gap in of_sets])
        parts.append(
            f"{what} {size:+.4f} ± {error:.4f} (cv {validated:+.4f}; "
            f"{standard:+.2f} ± {1 / np.sqrt(len(of_sets)):.2f} standard errors)"
        )
    return ", ".join(parts)


if __name__ == "__main__":
    main()
