"""Distance correlations of arrays, frames and tables: the public functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Table, as_array, from_array, from_frame, infer_types, is_frame
from solah.dependence.table import TableColumns, read_column
from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.data import Declared
    from solah.dependence.table import Method, Progress
    from solah.kernels.arrays import Float


@dataclass(frozen=True, eq=False)
class Dependence:
    """How features depend on each other and on a target.

    Attributes
    ----------
    names : the features
    matrix : (n_features, n_features) distance correlations, symmetric, ones on the diagonal
    relevance : (n_features,) distance correlations with the target
    method : "exact" or "binned", as it was computed
    """

    names: tuple[str, ...]
    matrix: Float
    relevance: Float
    method: str

    def matrix_of(self, names: Sequence[str]) -> Float:
        """Return the matrix of other columns, in their order; NaN for those not measured."""
        place_of = {name: place for place, name in enumerate(self.names)}
        there = [place for place, name in enumerate(names) if name in place_of]
        places = [place_of[names[place]] for place in there]
        matrix = np.full((len(names), len(names)), np.nan)
        matrix[np.ix_(there, there)] = self.matrix[np.ix_(places, places)]
        return matrix


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
        Numbers, booleans or strings (names). Rows in which either is missing (NaN or None) are
        dropped.
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
    read = [read_column("x", x, nominal_x), read_column("y", y, nominal_y)]
    n_rows, n_others = (len(column.values) for column, _ in read)
    if n_rows != n_others:
        raise DataError(f"x and y must have the same length. Got {n_rows} and {n_others} values.")
    columns = TableColumns.read(read, n_rows, sample_weight, method)
    return float(columns.correlate([(0, 1)], bias_corrected=bias_corrected)[0])


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
        Feature types are inferred as in the estimators. Text that does not hold numbers is
        categorical, with 0-1 distances. Ordinal text counts by the index of its category.
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
    table, column_kinds = infer_types(_read_table(X), kinds)
    columns = TableColumns.read(
        list(zip(table.columns, column_kinds, strict=True)),
        table.n_rows,
        sample_weight,
        method,
        n_jobs,
        on_progress=on_progress,
    )
    return columns.correlate_all(bias_corrected=bias_corrected)


def dependence_of(columns: TableColumns, *, bias_corrected: bool = False) -> Dependence:
    """Measure how features depend on each other and on a target, in one go.

    Parameters
    ----------
    columns : Columns
        The features, and the target behind the last.
    bias_corrected : bool, default=False
        As in :func:`distance_correlation`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column, Kind, Table
    >>> table = Table((Column("a", np.arange(4.0)), Column("b", np.array([0.0, 1, 1, 0]))), 4)
    >>> kinds = [Kind.CONTINUOUS, Kind.BINARY]
    >>> columns = TableColumns.of(table, kinds, ["n", "y", "y", "n"], nominal_target=True)
    >>> found = dependence_of(columns)
    >>> found.relevance.round(2), found.method
    (array([0.53, 1.  ]), 'exact')
    """
    matrix = columns.correlate_all(bias_corrected=bias_corrected)
    return Dependence(
        names=columns.names[:-1],
        matrix=matrix[:-1, :-1].copy(),
        relevance=matrix[:-1, -1].copy(),
        method=columns.method,
    )


def relevance_of(columns: TableColumns, *, bias_corrected: bool = False) -> Float:
    """Measure how far features depend on a target, and nothing between themselves.

    These are the ``relevance`` of :func:`dependence_of` for the price of one pair a feature, so
    that few of many features can be chosen
    (:func:`~solah.dependence.screening.screen_features`) before all pairs are measured.

    Parameters
    ----------
    columns, bias_corrected
        As in :func:`dependence_of`.

    Returns
    -------
    array of shape (n_features,)
        Distance correlations with the target.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.data import Column, Kind, Table
    >>> table = Table((Column("a", np.arange(4.0)), Column("b", np.array([0.0, 1, 1, 0]))), 4)
    >>> kinds = [Kind.CONTINUOUS, Kind.BINARY]
    >>> columns = TableColumns.of(table, kinds, ["n", "y", "y", "n"], nominal_target=True)
    >>> relevance_of(columns).round(2)
    array([0.53, 1.  ])
    """
    target = len(columns.names) - 1
    return columns.correlate([(j, target) for j in range(target)], bias_corrected=bias_corrected)


def _read_table(X: ArrayLike | Table | Any) -> Table:
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return from_frame(X)
    array = as_array(X)
    if array.ndim != 2:
        raise DataError(f"X must have two dimensions. Got an array of shape {array.shape}.")
    return from_array(array, [f"x{j}" for j in range(array.shape[1])])
