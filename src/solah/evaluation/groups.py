"""Error rates of the rows with each value of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest, norm

from solah.data import Column, as_array, as_column, to_numbers, to_text
from solah.data.spelling import is_number, spell
from solah.evaluation.scores import brier_score, calibration_error, log_loss
from solah.exceptions import DataError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

N_RANGES = 4
MAX_VALUES = 10
MAX_GROUPS = 50
MISSING = "missing"


@dataclass(frozen=True)
class Rate:
    """Of how many rows something is true.

    Examples
    --------
    >>> rate = Rate(8, 10)
    >>> rate.share, round(rate.low, 3), round(rate.high, 3)
    (0.8, 0.49, 0.943)
    >>> Rate(0, 0).share is None
    True
    """

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """The share; None of no rows."""
        return self.hits / self.of if self.of else None

    @property
    def low(self) -> float:
        """The lower end of Wilson's interval, which has the true share in 95 of 100 cases."""
        return self._interval()[0]

    @property
    def high(self) -> float:
        """The upper end of Wilson's interval."""
        return self._interval()[1]

    def _interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        ends = binomtest(self.hits, self.of).proportion_ci(method="wilson")
        return float(ends.low), float(ends.high)

    @property
    def rest(self) -> Rate:
        """Of how many it is not true."""
        return Rate(self.of - self.hits, self.of)


@dataclass(frozen=True)
class ClassGroup:
    """The predicted classes of a group of rows.

    Attributes
    ----------
    name : what the rows have in common
    n_rows : how many they are
    decided : for how many each class is predicted
    accuracy : how many are predicted correctly, of those with a class
    recall : the same of each true class
    mean_probabilities : the mean probability of each class, of the same rows
    calibration_error, log_loss, brier : of the same rows; None if there are none
    """

    name: str
    n_rows: int
    decided: tuple[Rate, ...]
    accuracy: Rate
    recall: tuple[Rate, ...]
    mean_probabilities: tuple[float, ...]
    calibration_error: float | None
    log_loss: float | None
    brier: float | None


@dataclass(frozen=True)
class NumberGroup:
    """The predicted numbers of a group of rows.

    Attributes
    ----------
    name : what the rows have in common
    n_rows : how many of them have a class
    mae : the mean absolute error; None without rows
    mean_error : how much too large predictions are, on average
    low, high : its 95% interval, by its standard error
    """

    name: str
    n_rows: int
    mae: float | None
    mean_error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Groups:
    """The metrics by the values of a column.

    Attributes
    ----------
    column : the column's name
    classes : the classes; none for a number
    groups : its groups
    whole : all rows together
    positive : of two classes, the one whose false positives are counted; else empty
    """

    column: str
    classes: tuple[str, ...]
    groups: tuple[ClassGroup | NumberGroup, ...]
    whole: ClassGroup | NumberGroup
    positive: str = ""

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict of plain values for each group, and one for all rows."""
        return [self._row(one) for one in (*self.groups, self.whole)]

    def _row(self, group: ClassGroup | NumberGroup) -> dict[str, Any]:
        if isinstance(group, NumberGroup):
            facts = {key: value for key, value in vars(group).items() if key != "name"}
            return {"group": group.name, **facts}
        row: dict[str, Any] = {"group": group.name, "n_rows": group.n_rows}
        row |= {"accuracy": group.accuracy.share, "log_loss": group.log_loss}
        each = list(zip(self.classes, group.decided, group.recall, strict=True))
        row |= {f"predicted {name}": rate.share for name, rate, _ in each}
        row |= {f"recall {name}": rate.share for name, _, rate in each}
        if self.positive:
            place = self.classes.index(self.positive)
            row["false positive"] = group.recall[1 - place].rest.share
            row["false negative"] = group.recall[place].rest.share
        return row


def rows_by_value(column: Column) -> dict[str, NDArray[np.intp]]:
    """Group rows by the values of a column; numbers with many values by ranges of equal shares.

    Parameters
    ----------
    column : Column

    Returns
    -------
    groups : dict of the group's name to the indices of its rows
        In the order of the numbers or texts; rows without a value come last.

    Raises
    ------
    DataError
        If a column of texts has too many values to be groups.

    Examples
    --------
    >>> from solah.data import Column
    >>> ages = Column("age", np.array([31, 18, 64, 45, 22, 70, 39, 55, 28, 81, 47, np.nan]))
    >>> {name: len(rows) for name, rows in rows_by_value(ages).items()}
    {'up to 28': 3, 'over 28 to 45': 3, 'over 45 to 64': 3, 'over 64': 2, 'missing': 1}
    """
    missing = column.missing()
    texts = to_text(column).values
    values = list(dict.fromkeys(texts[~missing].tolist()))
    if all(map(is_number, values)):
        numbers = to_numbers(column).values
        if len(values) > MAX_VALUES:
            groups = _ranges(numbers)
        else:
            groups = {spell(x): np.flatnonzero(numbers == x) for x in np.unique(numbers[~missing])}
    elif len(values) > MAX_GROUPS:
        raise DataError(
            f"column {column.name!r} has {len(values):,} different values, which is too many to "
            f"be groups (at most {MAX_GROUPS})"
        )
    else:
        groups = {value: np.flatnonzero(texts == value) for value in sorted(values)}
    if missing.any():
        groups[MISSING if MISSING not in groups else f"{MISSING} value"] = np.flatnonzero(missing)
    return groups


def _ranges(numbers: Float) -> dict[str, NDArray[np.intp]]:
    """Group numbers at their quantiles, which are some of them."""
    known = numbers[~np.isnan(numbers)]
    parts = np.arange(1, N_RANGES) / N_RANGES
    cuts = np.unique(np.quantile(known, parts, method="inverted_cdf"))
    cuts = cuts[cuts < known.max()]
    places = np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers, side="left"))
    spelt = [f"{cut:.15g}" for cut in cuts]
    if not spelt:
        return {"all values": np.flatnonzero(places == 0)}
    between = [f"over {low} to {high}" for low, high in pairwise(spelt)]
    names = [f"up to {spelt[0]}", *between, f"over {spelt[-1]}"]
    return {name: np.flatnonzero(places == k) for k, name in enumerate(names)}


def measure_groups(
    by: Any,
    y_true: Any,
    predicted: Any,
    probabilities: Float | None = None,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
) -> Groups:
    """Measure predictions by the values of a column, such as sex or site.

    Parameters
    ----------
    by : column, series or array of shape (n_rows,)
        The model need not have it. Of a number with many values, ranges are groups.
    y_true, predicted : array of shape (n_rows,)
        The true and the predicted classes, or numbers. A true class that is not among ``classes``,
        and a true number that is NaN, is missing.
    probabilities : ndarray of shape (n_rows, n_classes), default=None
        Those of the classes; None for numbers.
    classes : sequence, default=None
        The classes, in the order of the columns of ``probabilities``; None for numbers.
    positive : object, default=None
        Of two classes, the one whose false positives are counted; by default the second.

    Returns
    -------
    groups : Groups
        ``groups.rows()`` is a list of dicts, which pandas makes a frame of.

    Raises
    ------
    ParameterError
        If ``positive`` is not a class, or there are more than two.

    Examples
    --------
    >>> groups = measure_groups(
    ...     by=["f", "f", "m", "m"],
    ...     y_true=["sick", "well", "sick", "well"],
    ...     predicted=["sick", "sick", "well", "well"],
    ...     probabilities=np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]),
    ...     classes=["sick", "well"],
    ...     positive="sick",
    ... )
    >>> for row in groups.rows():
    ...     print(row["group"], row["predicted sick"], row["false positive"], row["recall sick"])
    f 1.0 1.0 1.0
    m 0.0 0.0 0.0
    all 0.5 0.5 0.5
    """
    name = str(getattr(by, "name", None) or "by")
    column = by if isinstance(by, Column) else as_column(name, as_array(by))
    true, guessed = as_array(y_true), as_array(predicted)
    if classes is None:
        return _number_groups(column, to_numbers(as_column("y", true)).values, guessed)
    assert probabilities is not None, "classes have probabilities"
    names = [spell(one) for one in classes]
    if positive is not None:
        positive = spell(positive)
        if positive not in names:
            raise ParameterError(f"there is no class {positive!r}{did_you_mean(positive, names)}")
        if len(names) != 2:
            raise ParameterError(
                f"a positive class is for two classes; there are {len(names)}, each with its rates"
            )
    elif len(names) == 2:
        positive = names[1]
    place_of = {one: place for place, one in enumerate(as_array(list(classes)).tolist())}
    truth, decided = (
        np.array([place_of.get(one, -1) for one in given.tolist()], dtype=np.intp)
        for given in (true, guessed)
    )
    places = np.arange(len(names))

    def measure(name: str, rows: NDArray[np.intp]) -> ClassGroup:
        known = rows[truth[rows] >= 0]
        here, there, shares = truth[known], decided[known], probabilities[known]
        right, has_some = there == here, len(known) > 0
        return ClassGroup(
            name=name,
            n_rows=len(rows),
            decided=tuple(Rate(int((decided[rows] == c).sum()), len(rows)) for c in places),
            accuracy=Rate(int(right.sum()), len(known)),
            recall=tuple(Rate(int(right[here == c].sum()), int((here == c).sum())) for c in places),
            mean_probabilities=tuple(shares.mean(axis=0).tolist()) if has_some else (),
            calibration_error=calibration_error(here, shares, there) if has_some else None,
            log_loss=log_loss(here, shares, places) if has_some else None,
            brier=brier_score(here, shares, places) if has_some else None,
        )

    return _measured(column, measure, tuple(names), positive or "")


def _number_groups(column: Column, y_true: Float, estimates: Float) -> Groups:
    """Measure the predicted numbers of the groups of a column; NaN is a missing target."""

    def measure(name: str, rows: NDArray[np.intp]) -> NumberGroup:
        errors = (estimates - y_true)[rows]
        errors = errors[~np.isnan(errors)]
        if not len(errors):
            return NumberGroup(name, 0, None, None, None, None)
        mean, mae = float(errors.mean()), float(np.abs(errors).mean())
        if len(errors) == 1:
            return NumberGroup(name, 1, mae, mean, None, None)
        half = float(norm.ppf(0.975) * errors.std(ddof=1)) / math.sqrt(len(errors))
        return NumberGroup(name, len(errors), mae, mean, mean - half, mean + half)

    return _measured(column, measure)


def _measured(
    column: Column,
    measure: Callable[[str, NDArray[np.intp]], ClassGroup | NumberGroup],
    classes: tuple[str, ...] = (),
    positive: str = "",
) -> Groups:
    groups = tuple(measure(name, rows) for name, rows in rows_by_value(column).items())
    whole = measure("all", np.arange(len(column.values)))
    return Groups(column.name, classes, groups, whole, positive)
