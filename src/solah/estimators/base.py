"""Base classes of all estimators, classifiers and regressors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from solah.data import is_frame
from solah.estimators.inputs import (
    complete_thresholds,
    read_class_target,
    read_features,
    read_groups,
    read_known_classes,
    read_numbers,
    read_problem,
    read_weights,
    sums_by_column,
    tolerant_tags,
    without_identifiers,
)
from solah.estimators.out_of_core import fit_scan, score_scan
from solah.exceptions import DataError, ParameterError, did_you_mean, shorten
from solah.explain import feature_importances
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.labels.drawing import LIMITS, Limits
from solah.labels.targets import integer_weights
from solah.labels.words import NumbersAtHand, check_span
from solah.learn.memory import MemoryRows, is_large
from solah.model import save_document
from solah.model.encode import encode, is_path, warn_of_unseen
from solah.model.evaluate import predict as run_model
from solah.model.predictor import ModelView, Predictor
from solah.scale import is_dask, is_scan, predict_partitions
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.data.digests import UInt64
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.targets import ClassTarget
    from solah.model import Model, Target


class LinguisticEstimator(ModelView, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators; not for use by itself."""

    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {}
    """The parameters that have parameters of their own, and their classes."""
    _limits: ClassVar[Limits] = LIMITS
    _sorts_columns = False
    """Whether the order of the columns must not matter."""

    model_: Model
    _word_settings: Callable[[], LabelSettings]  # a method: how features are described
    _fit: Callable[..., None]  # a method of classifiers and regressors

    @classmethod
    def with_settings(cls, settings: Mapping[str, Any], **parameters: Any) -> Self:
        """Return an estimator with flat settings: ``min_support=0.05`` sets that of its ``tree``.

        Parameters
        ----------
        settings : mapping of parameter name to value
            Such as ``PAPER``. Settings that the estimator does not have are ignored.
        **parameters
            Further parameters, which override the settings.

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            If the estimator does not have one of ``**parameters``.
        """
        homes = {
            name: f"{part}__{name}"
            for part, kind in cls._parts.items()
            for name in kind._get_param_names()
        }
        homes |= {name: name for name in cls._get_param_names()}
        if "tree" in settings and "tree" not in homes:
            settings = {**settings["tree"].get_params(deep=False), **settings}
        for name in parameters:
            if name not in homes:
                near = did_you_mean(name, sorted(homes))
                raise ParameterError(
                    f"{cls.__name__} does not have a parameter {shorten(name)}{near}"
                )
        given = {name: value for name, value in settings.items() if name in homes} | parameters
        return cls().set_params(**{homes[name]: value for name, value in given.items()})

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``tree__max_depth`` is a parameter of the nested ``tree``.

        A nested object is copied before it changes, as other estimators may share it. If there is
        none yet, it is created with its defaults. New ``thresholds`` of a fitted classifier apply
        at once, other parameters from the next fit on.

        Parameters
        ----------
        **params

        Returns
        -------
        self
        """
        for name in {key.partition("__")[0] for key in params if "__" in key} & {*self._parts}:
            part = params.get(name, getattr(self, name))
            is_set = isinstance(part, self._parts[name])
            params[name] = clone(part) if is_set else self._parts[name]()
        if "thresholds" in params and hasattr(self, "classes_"):
            thresholds = complete_thresholds(params["thresholds"], self.classes_.tolist())
            self._set_target(replace(self._target, thresholds=thresholds))
        super().set_params(**params)
        return self

    def _validate_params(self) -> None:
        super()._validate_params()
        for name, kind in self._parts.items():
            part = getattr(self, name)
            if isinstance(part, kind):
                part._validate_params()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : array, sparse array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories, and dates become their hour,
            weekday and month, where these repeat. Or the path of a file; classifiers also take
            folders, several files, frames or a Dask collection (:func:`solah.scan`), which need not
            fit into memory.
        y : array of shape (n_rows,)
            The target; the name of its column if X is a file.
        sample_weight : array of shape (n_rows,), default=None
            The row weights, or the name of their column.
        groups : array of shape (n_rows,), default=None
            The group of each row, such as a person or a recording: settings are then compared on
            held-out groups. Or the name of a column. A single tree has no settings to compare.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _rows(self, table: Table, target: ClassTarget, groups: UInt64 | None = None) -> MemoryRows:
        """Return rows in memory, described with words."""
        settings = self._word_settings()
        if self._sorts_columns:
            if hasattr(self, "feature_names_in_"):
                named = {*(self.feature_types or ()), *(self.required_features or ())}
                table = without_identifiers(table, named)
            table = table.select(sorted(table.names))
            settings = settings.only(table.names)
        n_threads = count_threads(self.n_jobs)
        described = describe_table(table, settings, target.weights, n_threads)
        n_threads = n_threads if is_large(table.n_rows, len(table.columns)) else 1
        return MemoryRows(described, target, n_threads, groups=groups, limits=self._limits)

    @property
    def n_rules_(self) -> int:
        """The number of rules that carry weight."""
        return self._model().n_rules

    @property
    def feature_importances_(self) -> Float:
        """Each feature's share in the information gained by splits, or in the spread of weights."""
        model = self._model()
        names = [feature.name for feature in model.features]
        share_of = dict(zip(names, feature_importances(model), strict=True))
        return sums_by_column(self, share_of)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file atomically; ``solah.load_model`` reads it.

        Parameters
        ----------
        path : str or path
        """
        save_document(self._model(), path)

    def _model(self) -> Model:
        check_is_fitted(self)
        return self.model_

    @property
    def _target(self) -> Target:
        return self.model_.target

    def _set_target(self, target: Target) -> None:
        self.model_ = replace(self.model_, target=target).compiled()

    def _table(self, X: Any) -> Table:
        check_is_fitted(self)
        return read_features(self, X, reset=False)

    def _predictor(self) -> Predictor:
        n_threads = 1 if self.n_jobs is None else count_threads(self.n_jobs)
        return Predictor(self._model(), n_threads)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, below it, the model."""
        from solah.explain.html import model_summary

        diagram = str(super()._html_repr())
        return diagram + model_summary(self.model_) if hasattr(self, "model_") else diagram

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return tolerant_tags(super().__sklearn_tags__())


class LinguisticClassifier(ClassifierMixin, LinguisticEstimator):  # type: ignore[misc]
    """Base of the classifiers; not for use by itself."""

    _learn: Callable[[Any], None]  # a method: learn from described rows

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> None:
        if not is_frame(X) and is_scan(X):
            fit_scan(self, X, y, sample_weight, groups)
            return
        table = read_features(self, X, reset=True)
        target = read_class_target(self, y, sample_weight, table.n_rows)
        self._learn(self._rows(table, target, read_groups(groups, table.n_rows)))

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

        Each row moves the weights of rules, in the same integers as on a learning device. Words,
        trees and hierarchy stay as they were fitted.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file.
        y : array of shape (n_rows,)
            The classes, without new ones. The name of their column if X is a file.
        classes : array, default=None
            All classes. The rows of the first call must contain each.
        pace : float, default=1.0
            The learning rate, relative to the default; rounded to a power of two.
        forgetting : float, default=0.0
            The share of the learned change that each row undoes, in additive models.

        Returns
        -------
        self
        """
        from solah.export.online import Learner, Pace

        if not hasattr(self, "model_"):
            named = [] if classes is None else np.asarray(classes).tolist()
            first = read_problem(X, y, None)[1].values if named and is_path(X) else np.asarray(y)
            if absent := sorted(set(named) - set(first.tolist())):
                raise DataError(
                    f"'classes' has {shorten(absent[0])}, but no row of the first call has it; "
                    f"words and trees are learned from that call, so pass rows of all classes"
                )
            return self.fit(X, y)
        model = self.model_
        if is_path(X):
            X, y, *_ = read_problem(X, y, None)
        table = read_features(self, X, reset=False)
        codes = read_known_classes(self, y, table.n_rows)
        warn_of_unseen(table, model.features)
        # The last learner goes on, so that batches teach as their rows in one call would.
        learner, learned = getattr(self, "_learner", (None, None))
        if learner is None or learned is not model or learner.pace != Pace(pace, forgetting):
            learner = Learner(model, pace=pace, forgetting=forgetting)
        learner.learn(encode(table, model.features), codes)
        self.model_ = learner.model()
        self._learner = learner, self.model_
        return self

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or rows that need not fit into memory, as for ``fit``.
        y : array of shape (n_rows,)
            The true classes; the name of their column if X is not in memory.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        accuracy : float
        """
        if is_scan(X) and (isinstance(y, str) or not is_path(X)):
            if sample_weight is not None:
                raise ParameterError(
                    "'sample_weight' requires rows in memory; read the rows first, or score them "
                    "without weights"
                )
            return score_scan(self, X, y)
        return float(super().score(X, y, sample_weight))

    def predict(self, X: ArrayLike) -> Any:
        """Return each row's class: the most probable one, or the one that ``thresholds`` select.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or the path of a file; or a Dask collection, whose partitions are predicted when it is
            computed.

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        if is_dask(X):
            check_is_fitted(self)
            return predict_partitions(self, X, "predict")
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[self._target.decide(probabilities)])

    def predict_proba(self, X: ArrayLike) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            Or as for ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        if is_dask(X):
            return predict_partitions(self, X, "predict_proba")
        model, table = self.model_, read_features(self, X, reset=False)
        warn_of_unseen(table, model.features)
        return run_model(model, table, 1 if self.n_jobs is None else count_threads(self.n_jobs))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The target of a regressor: its name, values and integer row weights of ``weight_unit``.

    ``groups`` are digests of the groups of rows, or None.
    """

    name: str
    values: Float
    weights: Int64
    weight_unit: float
    groups: UInt64 | None = None

    @property
    def counted(self) -> NumbersAtHand:
        """The values and weights of rows with weight above 0."""
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
            raise DataError("regressors require rows in memory; read the rows first")
        table = read_features(self, X, reset=True)
        name, numbers = read_numbers(self, y, table.n_rows)
        weights, unit = integer_weights(read_weights(sample_weight, table.n_rows))
        target = NumberColumn(name, numbers, weights, unit, read_groups(groups, table.n_rows))
        check_span(f"the target {name!r}", target.counted)
        self._learn_numbers(table, target)

    def predict(self, X: ArrayLike) -> Float:
        """Return the predicted numbers.

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
