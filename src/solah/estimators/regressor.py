"""The base class of the regressors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import (
    read_features,
    read_groups,
    read_numbers,
    read_problem,
    read_weights,
)
from solah.exceptions import DataError
from solah.labels.targets import integer_weights
from solah.labels.words import NumbersAtHand, check_span
from solah.model.encode import is_path
from solah.scale import is_scan
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The target of a regressor: its name, values and integer row weights of ``weight_unit``.

    ``groups`` are digests of what rows belong to, or None.
    """

    name: str
    values: Float
    weights: Int64
    weight_unit: float
    groups: UInt64 | None = None

    @property
    def counted(self) -> NumbersAtHand:
        """The numbers of rows that have any weight."""
        counted = self.weights > 0
        return NumbersAtHand(self.values[counted], self.weights[counted])


class LinguisticRegressor(RegressorMixin, LinguisticEstimator):  # type: ignore[misc]
    """Base of the regressors; not for use by itself."""

    _learn_numbers: Callable[[Table, NumberColumn], None]  # a method: learn from rows in memory

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> None:
        if is_path(X):
            X, y, sample_weight, groups = read_problem(X, y, sample_weight, groups)
        elif is_scan(X):
            raise DataError("numbers are learned from rows in memory; read the rows first")
        table = read_features(self, X, reset=True)
        name, numbers = read_numbers(self, y, table.n_rows)
        weights, unit = integer_weights(read_weights(sample_weight, table.n_rows))
        target = NumberColumn(name, numbers, weights, unit, read_groups(groups, table.n_rows))
        check_span(f"the target {name!r}", target.counted)
        self._learn_numbers(table, target)

    def predict(self, X: ArrayLike) -> Float:
        """Return the expected numbers.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file.

        Returns
        -------
        numbers : ndarray of shape (n_rows,)
        """
        return self._predictor().predict(read_features(self, X, reset=False))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return R², the share of the variance that is explained.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file.
        y : array of shape (n_rows,)
            The true numbers; the name of their column if X is a file.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        r2 : float
        """
        if is_path(X) and isinstance(y, str):
            X, target, sample_weight, _ = read_problem(X, y, sample_weight)
            y = read_numbers(self, target, len(target.values))[1]
        return float(super().score(X, y, sample_weight))
