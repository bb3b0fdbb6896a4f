"""What the estimators of numbers share: how they predict, and how they are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from solah.estimators.inputs import read_features, read_numbers, read_problem
from solah.runtime.reading import is_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from solah.kernels.arrays import Float
    from solah.runtime import Evaluator


class NumberMixin(RegressorMixin):  # type: ignore[misc]
    """Predicts numbers with a model document."""

    _evaluator: Callable[[], Evaluator]  # a method of the estimators

    def predict(self, X: ArrayLike) -> Float:
        """Return the expected numbers.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file, which is read.

        Returns
        -------
        numbers : ndarray of shape (n_rows,)
        """
        return self._evaluator().predict(read_features(self, X, reset=False))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return R², the share of the numbers' variance that the estimates explain.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file, which is read.
        y : array of shape (n_rows,)
            The true numbers; the name of their column where X is a file.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        r2 : float
        """
        if is_path(X) and isinstance(y, str):
            X, goal, sample_weight = read_problem(X, y, sample_weight)
            y = read_numbers(self, goal, len(goal.values))[1]
        return float(super().score(X, y, sample_weight))
