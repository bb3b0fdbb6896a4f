"""Arrays, frames and tables in, distance correlations out: what people and hierarchies call."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from solah.data import Column, Kind, Table, as_array, as_column, from_array, from_frame, is_frame
from solah.data import settle as settle_kinds
from solah.exceptions import DataError, ParameterError
from solah.hierarchy.dependence.columns import code_column
from solah.hierarchy.dependence.pairs import map_threads, sums_of_pairs
from solah.hierarchy.dependence.statistics import correlations
from solah.kernels.choose import count_threads
from solah.labels.rows import integer_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.data import Declared
    from solah.hierarchy.dependence.columns import Coded
    from solah.hierarchy.dependence.pairs import Progress
    from solah.kernels.arrays import Float, Int64

Method: TypeAlias = Literal["auto", "exact", "binned"]

MAX_EXACT_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Dependence:
    """How attributes depend on each other and on a goal.

    Attributes
    ----------
    names : the attributes
    matrix : (n_attributes, n_attributes) distance correlations, symmetric, ones on the diagonal
    relevance : (n_attributes,) distance correlations with the goal
    method : "exact" or "binned", as it was computed
    """

    names: tuple[str, ...]
    matrix: Float
    relevance: Float
    method: str


@dataclass(frozen=True, eq=False)
class _Settings:
    """What all measures share, checked; weights are integers of size ``unit``."""

    weights: Int64 | None
    unit: float
    binned: bool
    bias_corrected: bool
    n_threads: int = 1

    def code(self, columns: Sequence[tuple[Column, Kind]]) -> list[Coded]:
        """Code columns, several at a time."""

        def work(item: tuple[Column, Kind]) -> Coded:
            return code_column(*item, self.weights, binned=self.binned)

        return list(map_threads(work, columns, self.n_threads))

    def correlate(
        self,
        coded: Sequence[Coded],
        pairs: Sequence[tuple[int, int]],
        on_progress: Progress | None = None,
    ) -> Float:
        """Compute the distance correlations of pairs."""
        sums = sums_of_pairs(coded, pairs, self.weights, self.n_threads, on_progress)
        return correlations(sums, unit=self.unit, bias_corrected=self.bias_corrected)


def distance_correlation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    nominal_x: bool = False,
    nominal_y: bool = False,
    bias_corrected: bool = False,
    sample_weight: ArrayLike | None = None,
    method: Method = "auto",
) -> float:
    """Measure how far two columns depend on each other, in any way, linear or not.

    Distance correlation is 0 only for independent columns and 1 for those that are the same up to
    a shift, a scale and a reflection. Numbers have the distance of their values; names have the
    distance 0 when they are equal and 1 when not. For two columns of two values each it is the
    absolute value of their correlation (phi). A constant column has 0.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        Numbers, truth values or strings (names). Rows in which one of both is missing (NaN or
        None) are left out.
    nominal_x, nominal_y : bool, default=False
        Whether numbers are mere names, such as codes of classes.
    bias_corrected : bool, default=False
        The plain statistic (V-statistic) of a few rows is well above 0 even for independent
        columns. The corrected one (U-statistic; Székely and Rizzo, 2014) is 0 for them on average,
        so it may fall below: what is returned is the root of the square's size, with the square's
        sign. It is 0 for fewer than four rows.
    sample_weight : array-like of shape (n_rows,), default=None
        How often each row counts: a row of weight two counts like two rows.
    method : {"auto", "exact", "binned"}, default="auto"
        "exact" takes time n log n. "binned" first puts a column of numbers into at most 160 bins,
        which errs by less than 0.002 in our benchmark, then takes time n. "auto" is "exact" up to
        20,000 rows.

    Returns
    -------
    float
        Between 0 and 1, or with ``bias_corrected`` between -1 and 1; a multiple of 2^-40, so that
        it does not depend on the order of the rows.

    Raises
    ------
    DataError
        If the columns are not of one dimension and one length, are empty, or have infinite values,
        or if the weights cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 201)
    >>> bool(abs(np.corrcoef(x, x**2)[0, 1]) < 1e-12)
    True
    >>> round(distance_correlation(x, x**2), 3)
    0.491
    >>> distance_correlation(["a", "a", "b", "b"], [1, 1, 5, 5])
    1.0
    """
    columns = [_read_column("x", x, nominal_x), _read_column("y", y, nominal_y)]
    n_rows, n_others = (len(column.values) for column, _ in columns)
    if n_rows != n_others:
        raise DataError(f"x and y must have the same length. Got {n_rows} and {n_others} values.")
    settings = _settings(n_rows, sample_weight, method, bias_corrected)
    return float(settings.correlate(settings.code(columns), [(0, 1)])[0])


def distance_correlation_matrix(
    X: ArrayLike | Table | Any,
    *,
    kinds: Declared | None = None,
    bias_corrected: bool = False,
    sample_weight: ArrayLike | None = None,
    method: Method = "auto",
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Float:
    """Compute the distance correlations of all pairs of columns.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), data frame or Table
        What each column is, is settled as for the estimators: text that spells no numbers is
        categorical, so it has 0-1 distances; ordinal text counts by the place of its state.
    kinds : mapping, default=None
        From a column's name (``x0``, ``x1``, … in an array) to its kind, or to its states in
        order, where that is not right.
    bias_corrected, sample_weight, method
        As in :func:`distance_correlation`.
    n_jobs : int, default=None
        How many threads compute; None is one, -1 all processors.
    on_progress : callable, default=None
        Called with the number of pairs that are done, and of all pairs.

    Returns
    -------
    array of shape (n_columns, n_columns)
        Symmetric, with ones on the diagonal; a constant column has 0 with all others.

    Raises
    ------
    DataError
        If the data or the weights cannot be used as they are.

    Examples
    --------
    >>> X = [[1.0, 2.0, "red"], [2.0, 4.0, "blue"], [3.0, 6.0, "red"], [4.0, 8.0, "blue"]]
    >>> distance_correlation_matrix(X).round(2)
    array([[1.  , 1.  , 0.53],
           [1.  , 1.  , 0.53],
           [0.53, 0.53, 1.  ]])
    """
    table, settled = settle_kinds(_read_table(X), kinds)
    settings = _settings(table.n_rows, sample_weight, method, bias_corrected, n_jobs)
    coded = settings.code(list(zip(table.columns, settled, strict=True)))
    pairs = list(combinations(range(len(coded)), 2))
    return _symmetric(len(coded), settings.correlate(coded, pairs, on_progress))


def dependence_of(
    table: Table,
    kinds: Sequence[Kind],
    goal: ArrayLike,
    *,
    nominal_goal: bool,
    bias_corrected: bool = False,
    sample_weight: ArrayLike | None = None,
    method: Method = "auto",
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Dependence:
    """Measure how attributes depend on each other and on a goal, in one go.

    Parameters
    ----------
    table : Table
        Settled attributes.
    kinds : sequence of Kind
        What each attribute is: categorical ones have 0-1 distances, all others those of numbers.
    goal : array-like of shape (n_rows,)
        Classes or their codes (``nominal_goal``), or numbers.
    nominal_goal : bool
        Whether the goal's values are names.
    bias_corrected, sample_weight, method, n_jobs, on_progress
        As in :func:`distance_correlation_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column, Kind, Table
    >>> table = Table((Column("a", np.arange(4.0)), Column("b", np.array([0.0, 1, 1, 0]))), 4)
    >>> kinds = [Kind.CONTINUOUS, Kind.BINARY]
    >>> found = dependence_of(table, kinds, ["n", "y", "y", "n"], nominal_goal=True)
    >>> found.relevance.round(2), found.method
    (array([0.53, 1.  ]), 'exact')
    """
    goal_column = _read_column("y", goal, nominal_goal)
    if len(goal_column[0].values) != table.n_rows:
        raise DataError(
            f"y has {len(goal_column[0].values)} values where the table has {table.n_rows} rows"
        )
    settings = _settings(table.n_rows, sample_weight, method, bias_corrected, n_jobs)
    coded = settings.code([*zip(table.columns, kinds, strict=True), goal_column])
    n_attributes = len(table.columns)
    between = list(combinations(range(n_attributes), 2))
    to_goal = [(a, n_attributes) for a in range(n_attributes)]
    found = settings.correlate(coded, between + to_goal, on_progress)
    return Dependence(
        names=table.names,
        matrix=_symmetric(n_attributes, found[: len(between)]),
        relevance=found[len(between) :],
        method="binned" if settings.binned else "exact",
    )


def _read_column(name: str, values: ArrayLike, nominal: bool) -> tuple[Column, Kind]:
    array = as_array(values)
    if array.ndim != 1:
        raise DataError(f"{name} must have one dimension. Got an array of shape {array.shape}.")
    column = as_column(name, array)
    return column, Kind.CATEGORICAL if nominal or column.is_text else Kind.CONTINUOUS


def _read_table(X: ArrayLike | Table | Any) -> Table:
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return from_frame(X)
    array = as_array(X)
    if array.ndim != 2:
        raise DataError(f"X must have two dimensions. Got an array of shape {array.shape}.")
    return from_array(array, [f"x{j}" for j in range(array.shape[1])])


def _settings(
    n_rows: int,
    sample_weight: ArrayLike | None,
    method: Method,
    bias_corrected: bool,
    n_jobs: int | None = None,
) -> _Settings:
    if method not in ("auto", "exact", "binned"):
        raise ParameterError(f"'method' must be 'auto', 'exact' or 'binned'. Got {method!r}.")
    if n_rows == 0:
        raise DataError("there are no rows to measure a dependence on")
    binned = method == "binned" or (method == "auto" and n_rows > MAX_EXACT_ROWS)
    if not binned and n_rows >= 2**31:
        raise DataError(f"{n_rows} rows are too many for method='exact'; take 'binned'")
    weights, unit = _read_weights(sample_weight, n_rows)
    return _Settings(weights, unit, binned, bias_corrected, count_threads(n_jobs))


def _read_weights(sample_weight: ArrayLike | None, n_rows: int) -> tuple[Int64 | None, float]:
    if sample_weight is None:
        return None, 1.0
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise DataError(f"sample_weight must be numbers. Got values of type {weights.dtype}.")
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight must have one value for each of the {n_rows} rows. "
            f"Got an array of shape {weights.shape}."
        )
    return integer_weights(weights.astype(np.float64))


def _symmetric(n: int, above_diagonal: Float) -> Float:
    matrix = np.eye(n)
    rows, columns = np.triu_indices(n, 1)
    matrix[rows, columns] = matrix[columns, rows] = above_diagonal
    return matrix
