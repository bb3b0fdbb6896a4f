"""The base class of the estimators: what can be done with a fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from solah.estimators.fitting import fit_scan
from solah.estimators.goals import (
    read_class_goal,
    read_known_classes,
    refuse_absent_classes,
    settle_thresholds,
)
from solah.estimators.inputs import known_names, read_features, read_groups, read_problem
from solah.estimators.labeller import tolerant_tags
from solah.estimators.scoring import score_rows
from solah.estimators.settings import NestedSettings
from solah.exceptions import ParameterError
from solah.explain import attribute_importances, rules_of
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.labels.limits import LIMITS, Limits
from solah.learn.passed import PassedRows
from solah.model import Model, save_document
from solah.model.encode import encode, warn_of_unseen
from solah.runtime import Evaluator
from solah.runtime.reading import is_path
from solah.scale import is_dask, is_scan, predict_partitions
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.editing import Editor
    from solah.explain import Explanation, Semantics
    from solah.explain.rule_list import Rules
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import Description, LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.learn.memory import MemoryRows
    from solah.learn.rows import Rows
    from solah.model import Goal
    from solah.scale.profile import Profile


class LinguisticEstimator(NestedSettings):
    """Base of all estimators that learn a model document; not for use by itself."""

    _limits: ClassVar[Limits] = LIMITS
    _sorts_columns = False

    model_: Model
    _label_settings: Callable[[], LabelSettings]  # a method: how attributes are described

    @property
    def n_branches_(self) -> int:
        """The paper's branch number (beta): every edge of a split counted, empty ones too."""
        return self._model().n_branches

    @property
    def n_rules_(self) -> int:
        """The number of branches that carry weight."""
        return self._model().n_rules

    @property
    def feature_importances_(self) -> Float:
        """Each attribute's share of what was learnt.

        Of the information gained by all splits, or of how far weighted evidence moves beliefs.
        """
        model = self._model()
        share_of = dict(
            zip(
                [attribute.name for attribute in model.attributes],
                attribute_importances(model),
                strict=True,
            )
        )
        return np.array([share_of.get(name, 0.0) for name in known_names(self)])

    def rules(self) -> Rules:
        """List the rules that carry weight, tree by tree, the strongest first.

        Returns
        -------
        rules : Rules
            A list that filters, sorts and writes itself, and that a notebook shows as a table.
            ``str(rule)`` is a sentence; its parts are attributes.
        """
        return rules_of(self._model())

    def semantics(self, X: ArrayLike) -> list[Semantics]:
        """Return, for each row, the rules that fired in each tree, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        semantics : list of Semantics
            ``str()`` of one is a text; its parts are objects.
        """
        return self._evaluator().semantics(read_features(self, X, reset=False))

    def explain(
        self,
        X: ArrayLike,
        *,
        changes: bool = False,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
    ) -> list[Explanation]:
        """Explain, for each row, why the model decides as it does.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        changes : bool, default=False
            Whether to look for what would change each decision too.
        ranges : mapping of attribute name to (low, high), default=None
            Where measured readings may go; by default as far as the training rows went.
        fixed : collection of str, default=()
            Attributes that cannot change. Any column of fit may be named, also one that no rule
            asks for.

        Returns
        -------
        explanations : list of Explanation
            ``str()`` of one is a text, a notebook shows it, and its parts are objects.
        """
        evaluator = self._evaluator()
        table = read_features(self, X, reset=False)
        return evaluator.explain(table, changes=changes, ranges=ranges, fixed=fixed)

    def node_beliefs(self, X: ArrayLike) -> dict[str, Float]:
        """Return what each node believes, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        beliefs : dict of node name to ndarray of shape (n_rows, n_classes)
        """
        return self._evaluator().node_beliefs(read_features(self, X, reset=False))

    def evidence(self, X: ArrayLike) -> Float:
        """Return the share of the model's knowledge that each row's known readings can reach.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        shares : ndarray of shape (n_rows,)
            1 when no reading that matters is missing, 0 when all are.
        """
        return self._evaluator().evidence(read_features(self, X, reset=False))

    def edit(self, *, author: str = "", time: datetime | None = None) -> Editor:
        """Begin to edit the model that was learnt, which itself stays as it is.

        Parameters
        ----------
        author : str, default=""
            Who edits; kept with each edit.
        time : datetime, default=None
            The time that is kept with each edit; by default the current one.

        Returns
        -------
        editor : Editor
            Its ``model`` is the edited one.
        """
        from solah.editing import Editor

        return Editor(self._model(), author=author, time=time)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model document, whole or not at all; ``solah.load_model`` reads it.

        Parameters
        ----------
        path : str or path
        """
        save_document(self._model(), path)

    def _describe(self, table: Table, weights: Int64) -> Description:
        return describe_table(table, self._label_settings(), weights, count_threads(self.n_jobs))

    def _model(self) -> Model:
        check_is_fitted(self)
        return self.model_

    def _evaluator(self) -> Evaluator:
        return Evaluator(self._model(), count_threads(self.n_jobs))

    def _html_repr(self) -> str:
        """Show scikit-learn's diagram and, below it, what was learnt."""
        from solah.explain.notebook import model_summary

        diagram = str(super()._html_repr())
        return diagram + model_summary(self.model_) if hasattr(self, "model_") else diagram

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return tolerant_tags(super().__sklearn_tags__())


class LinguisticClassifier(ClassifierMixin, LinguisticEstimator):  # type: ignore[misc]
    """Base of the classifiers; not for use by itself."""

    goal_: Goal
    _rows: Callable[[Table, ClassGoal], MemoryRows]  # a method: describe rows in memory
    _learn_from: Callable[[Rows], None]  # a method: learn from rows, wherever they are

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
        of_rows = read_groups(groups, table.n_rows)
        self._learn_from(replace(self._rows(table, goal), groups=of_rows))

    def _fit_profile(self, profile: Profile) -> None:
        """Learn from rows that are passed over."""
        n_threads = count_threads(self.n_jobs)
        self._learn_from(PassedRows.describe(profile, self._label_settings(), n_threads))

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
        from solah.learn.online import Learner

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
        learner = Learner(model, pace=pace, forgetting=forgetting)
        learner.learn(encode(table, model.attributes), places)
        self._take(learner.model())
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
        goal = self.model_.goal if hasattr(self, "model_") else self.goal_
        return np.asarray(self.classes_[goal.decide(beliefs)])

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
        return self._evaluator().beliefs(read_features(self, X, reset=False))


def _deciding_by(thresholds: tuple[float, ...], decider: Model | Goal) -> Model | Goal:
    """Return a model or a goal that decides by other thresholds."""
    if isinstance(decider, Model):
        return replace(decider, goal=replace(decider.goal, thresholds=thresholds))
    return replace(decider, thresholds=thresholds)
