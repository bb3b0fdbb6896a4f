"""The base class of the classifiers: fit, further learning, prediction and accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import (
    read_class_goal,
    read_features,
    read_groups,
    read_known_classes,
    read_problem,
    refuse_absent_classes,
    settle_thresholds,
)
from solah.estimators.out_of_core import fit_scan, score_rows
from solah.exceptions import ParameterError
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.learn.memory import MemoryRows, is_large
from solah.learn.passed import PassedRows
from solah.model import Model
from solah.model.encode import encode, is_path, warn_of_unseen
from solah.scale import is_dask, is_scan, predict_partitions
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float
    from solah.labels.describe import LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.learn.rows import Rows
    from solah.model import Goal
    from solah.scale.profile import Profile


class LinguisticClassifier(ClassifierMixin, LinguisticEstimator):  # type: ignore[misc]
    """Base of the classifiers; not for use by itself."""

    _word_settings: Callable[[], LabelSettings]  # a method: how features are described
    _learn: Callable[[Rows], None]  # a method: learn from rows, wherever they are

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories. Or rows that need not be in
            memory: files, frames or a cluster.
        y : array of shape (n_rows,)
            The classes; the name of their column where X is not in memory.
        sample_weight : array of shape (n_rows,), default=None
            Or the name of a column where X is not in memory.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> None:
        """Learn from rows; where folds are drawn, the rows of a group stay together."""
        if is_scan(X):
            fit_scan(self, X, y, sample_weight, groups)
            return
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, table.n_rows)
        self._learn(self._rows(table, goal, read_groups(groups, table.n_rows)))

    def _rows(self, table: Table, goal: ClassGoal, groups: UInt64 | None = None) -> MemoryRows:
        """Describe rows in memory with words."""
        n_threads = count_threads(self.n_jobs)
        described = describe_table(table, self._word_settings(), goal.weights, n_threads)
        n_threads = n_threads if is_large(table.n_rows, len(table.columns)) else 1
        return MemoryRows(described, goal, n_threads, groups=groups, limits=self._limits)

    def _fit_profile(self, profile: Profile) -> None:
        """Learn from rows that are passed over."""
        n_threads = count_threads(self.n_jobs)
        self._learn(PassedRows.describe(profile, self._word_settings(), n_threads))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; new ``thresholds`` hold at once, all others from the next fit on.

        Parameters
        ----------
        **params

        Returns
        -------
        self
        """
        if "thresholds" not in params or not self.__sklearn_is_fitted__():
            super().set_params(**params)
            return self
        thresholds = settle_thresholds(params["thresholds"], self.classes_.tolist())
        super().set_params(**params)
        for fitted in ("model_", "goal_"):
            if hasattr(self, fitted):
                setattr(self, fitted, _deciding_by(thresholds, getattr(self, fitted)))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        *,
        pace: float = 1.0,
        forgetting: float = 0.0,
    ) -> Self:
        """Learn from more rows, one after the other; the first call fits.

        The scores of rules move towards the rows, in the integers of a device that learns. Words,
        trees and hierarchy stay as they were fitted.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file, which is read.
        y : array of shape (n_rows,)
            The classes; none may be new. The name of their column where X is a file.
        classes : array, default=None
            All classes, of which the first rows must have some each.
        pace : float, default=1.0
            How fast rules move; rounded to a power of two.
        forgetting : float, default=0.0
            The share of what was learnt that a row takes back, where evidence is weighed.

        Returns
        -------
        self
        """
        from solah.learn.online import Learner, Pace

        if not self.__sklearn_is_fitted__():
            if classes is not None:
                refuse_absent_classes(classes, y)
            self.fit(X, y)
            return self
        model = self._model()
        if is_path(X):
            X, y, *_ = read_problem(X, y, None)
        table = read_features(self, X, reset=False)
        places = read_known_classes(self, y, table.n_rows)
        warn_of_unseen(table, model.attributes)
        # What learnt the model goes on, so that batches teach as their rows in one would.
        learner, learnt = getattr(self, "_learner", (None, None))
        if learner is None or learnt is not model or learner.pace != Pace(pace, forgetting):
            learner = Learner(model, pace=pace, forgetting=forgetting)
        learner.learn(encode(table, model.attributes), places)
        self._take(learner.model())
        self._learner = learner, self.model_
        return self

    def _take(self, model: Model) -> None:
        """Take another model of the same structure."""
        self.model_ = model

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose class is decided for.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or rows that need not be in memory, as for ``fit``.
        y : array of shape (n_rows,)
            The true classes; the name of their column where X is passed over.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        accuracy : float
        """
        if is_scan(X) and (isinstance(y, str) or not is_path(X)):
            if sample_weight is not None:
                raise ParameterError(
                    "rows in files, frames or a cluster are scored without weights; read them first"
                )
            return score_rows(self, X, y).accuracy
        return float(super().score(X, y, sample_weight))

    def predict(self, X: ArrayLike) -> Any:
        """Return the class to decide for: the one believed most, unless there are thresholds.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file (CSV, Parquet, ARFF), which is read; or a Dask collection, on
            which is decided partition by partition, when it is computed.

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        if is_dask(X):
            check_is_fitted(self)
            return predict_partitions(self, X, "predict")
        beliefs = self.predict_proba(X)
        return np.asarray(self.classes_[self._goal.decide(beliefs)])

    def predict_proba(self, X: ArrayLike) -> Any:
        """Return the belief in each class.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or a Dask collection, as for ``predict``.

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        if is_dask(X):
            return predict_partitions(self, X, "predict_proba")
        return self._beliefs(X)

    def _beliefs(self, X: ArrayLike) -> Float:
        return self._predictor().beliefs(read_features(self, X, reset=False))

    @property
    def _goal(self) -> Goal:
        """The target, with the thresholds that hold now; hierarchies may lack a document."""
        goal: Goal = self.model_.goal if hasattr(self, "model_") else self.goal_
        return goal


def _deciding_by(thresholds: tuple[float, ...], decider: Model | Goal) -> Model | Goal:
    """Return a model or a goal that decides by other thresholds."""
    if isinstance(decider, Model):
        return replace(decider, goal=replace(decider.goal, thresholds=thresholds))
    return replace(decider, thresholds=thresholds)
