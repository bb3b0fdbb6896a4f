"""How well groups of rows are decided on: error rates by the values of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.data import to_numbers, to_text
from solah.data.spelling import is_number, spell
from solah.evaluation.calibration import calibration_error
from solah.evaluation.scores import brier_score, log_loss
from solah.exceptions import DataError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from solah.data import Column
    from solah.kernels.arrays import Float

N_RANGES = 4
MAX_VALUES = 10
MAX_GROUPS = 50
MISSING = "missing"
_Z = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


@dataclass(frozen=True)
class Rate:
    """How many of some rows something is true of.

    ``low`` and ``high`` are Wilson's interval, which holds the true share in 95 of 100 cases.

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
        """The lower end of the interval."""
        return self._end(-1)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self._end(1)

    def _end(self, side: int) -> float:
        if not self.of:
            return 0.0 if side < 0 else 1.0
        n, share = self.of, self.hits / self.of
        half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        end = (share + _Z**2 / (2 * n) + side * half) / (1 + _Z**2 / n)
        # Rounding must not put the share outside.
        return max(min(end, share), 0.0) if side < 0 else min(max(end, share), 1.0)

    @property
    def rest(self) -> Rate:
        """Of how many it is not true."""
        return Rate(self.of - self.hits, self.of)


@dataclass(frozen=True)
class ClassGroup:
    """How a group of rows is decided on.

    Attributes
    ----------
    name : what the rows have in common
    n_rows : how many they are
    decided : how many are decided for each class
    accuracy : how many of those of which the truth is known are decided rightly
    recall : how many of each true class are
    believed : the mean belief in each class, of the same rows
    calibration_error, log_loss, brier : of the same rows; None if there are none
    """

    name: str
    n_rows: int
    decided: tuple[Rate, ...]
    accuracy: Rate
    recall: tuple[Rate, ...]
    believed: tuple[float, ...]
    calibration_error: float | None
    log_loss: float | None
    brier: float | None


@dataclass(frozen=True)
class NumberGroup:
    """How a number is estimated for a group of rows.

    Attributes
    ----------
    name : what the rows have in common
    n_rows : how many of them have a known truth
    mae : the mean absolute error; None without rows
    mean_error : how much more is estimated than is true, on average
    low, high : the interval that holds it in 95 of 100 cases (by its standard error)
    """

    name: str
    n_rows: int
    mae: float | None
    mean_error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Groups:
    """What was measured by the values of a column.

    Attributes
    ----------
    column : the column's name
    classes : the classes; none for a number
    groups : its groups
    whole : all rows together
    positive : of two classes, the one whose false positives are counted; else nothing
    """

    column: str
    classes: tuple[str, ...]
    groups: tuple[ClassGroup | NumberGroup, ...]
    whole: ClassGroup | NumberGroup
    positive: str = ""


def rows_by_value(column: Column) -> dict[str, NDArray[np.intp]]:
    """Part rows by the values of a column: numbers with many values by ranges of equal shares.

    Parameters
    ----------
    column : Column

    Returns
    -------
    groups : dict of the group's name to the places of its rows
        In the order of the numbers or texts; rows without a value stand last.

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
    """Part numbers at their quantiles, which are some of them."""
    known = np.sort(numbers[~np.isnan(numbers)])
    cuts = [known[-(-len(known) * part // N_RANGES) - 1] for part in range(1, N_RANGES)]
    edges = np.unique([cut for cut in cuts if cut < known[-1]])
    spelt = [f"{edge:.15g}" for edge in edges]
    lows, highs = ["", *(f"over {one}" for one in spelt)], [*(f"to {one}" for one in spelt), ""]
    names = [" ".join(filter(None, both)) for both in zip(lows, highs, strict=True)]
    names[0] = f"up {names[0]}"
    places = np.searchsorted(edges, numbers, side="left")
    is_known = ~np.isnan(numbers)
    return {name: np.flatnonzero(is_known & (places == k)) for k, name in enumerate(names)}


def measure_class_groups(
    column: Column,
    truth: NDArray[np.intp],
    decided: NDArray[np.intp],
    beliefs: Float,
    classes: Sequence[str],
    positive: str | None = None,
) -> Groups:
    """Measure how the groups of a column are decided on.

    Parameters
    ----------
    column : Column
        One that the model need not know.
    truth, decided : ndarray of shape (n_rows,)
        The places of the true classes, below 0 where they are not known, and of those decided for.
    beliefs : ndarray of shape (n_rows, n_classes)
    classes : sequence of str
    positive : str, default=None
        Of two classes, the one whose false positives are counted; by default the second.

    Raises
    ------
    ParameterError
        If ``positive`` is not a class, or there are more than two.
    """
    chosen = _positive(classes, positive)

    def measure(name: str, rows: NDArray[np.intp]) -> ClassGroup:
        return _class_group(name, truth[rows], decided[rows], beliefs[rows], len(classes))

    return replace(_measured(column, tuple(classes), measure), positive=chosen)


def _positive(classes: Sequence[str], wanted: str | None) -> str:
    if wanted is None:
        return classes[1] if len(classes) == 2 else ""
    if wanted not in classes:
        raise ParameterError(f"there is no class {wanted!r}{did_you_mean(wanted, classes)}")
    if len(classes) != 2:
        raise ParameterError(
            f"a positive class is for two classes; there are {len(classes)}, each with its rates"
        )
    return wanted


def measure_number_groups(column: Column, truth: Float, estimates: Float) -> Groups:
    """Measure how a number is estimated for the groups of a column; NaN is an unknown truth."""

    def measure(name: str, rows: NDArray[np.intp]) -> NumberGroup:
        errors = (estimates - truth)[rows]
        return _number_group(name, errors[~np.isnan(errors)])

    return _measured(column, (), measure)


def _measured(
    column: Column,
    classes: tuple[str, ...],
    measure: Callable[[str, NDArray[np.intp]], ClassGroup | NumberGroup],
) -> Groups:
    groups = tuple(measure(name, rows) for name, rows in rows_by_value(column).items())
    return Groups(column.name, classes, groups, measure("all", np.arange(len(column.values))))


def _class_group(
    name: str, truth: NDArray[np.intp], decided: NDArray[np.intp], beliefs: Float, n_classes: int
) -> ClassGroup:
    n_rows, known = len(truth), truth >= 0
    shares = tuple(Rate(int((decided == c).sum()), n_rows) for c in range(n_classes))
    truth, decided, beliefs = truth[known], decided[known], beliefs[known]
    right, places = decided == truth, np.arange(n_classes)
    some = len(truth) > 0
    return ClassGroup(
        name=name,
        n_rows=n_rows,
        decided=shares,
        accuracy=Rate(int(right.sum()), len(truth)),
        recall=tuple(
            Rate(int(right[truth == c].sum()), int((truth == c).sum())) for c in range(n_classes)
        ),
        believed=tuple(beliefs.mean(axis=0).tolist()) if some else (),
        calibration_error=calibration_error(truth, beliefs, decided) if some else None,
        log_loss=log_loss(truth, beliefs, places) if some else None,
        brier=brier_score(truth, beliefs, places) if some else None,
    )


def _number_group(name: str, errors: Float) -> NumberGroup:
    n_rows = len(errors)
    if n_rows == 0:
        return NumberGroup(name, 0, None, None, None, None)
    mean = float(errors.mean())
    half = _Z * float(errors.std(ddof=1)) / math.sqrt(n_rows) if n_rows > 1 else None
    ends = (None, None) if half is None else (mean - half, mean + half)
    return NumberGroup(name, n_rows, float(np.abs(errors).mean()), mean, *ends)
