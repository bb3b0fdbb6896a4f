"""The base class of the estimators: what can be done with a fitted model."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from solah.estimators.goals import (
    read_known_classes,
    refuse_absent_classes,
    settle_thresholds,
)
from solah.estimators.inputs import known_names, read_features, read_problem
from solah.estimators.labeller import LABEL_CONSTRAINTS, tolerant_tags
from solah.estimators.paths import branch_shares
from solah.estimators.scoring import score_rows
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.explain import attribute_importances, rules_of
from solah.kernels.arrays import Described
from solah.kernels.choose import count_threads
from solah.labels.describe import LabelSettings, describe_table, label_table
from solah.labels.limits import LIMITS, Limits
from solah.learn.growth import LEAVES, LeafSettings, TreeSettings
from solah.learn.memory import MemoryRows
from solah.learn.trees import TreeTask, learn_trees
from solah.model import Model, save_document
from solah.model.encode import encode, warn_of_unseen
from solah.model.structure import fresh_name
from solah.runtime import Evaluator
from solah.runtime.reading import is_path
from solah.scale import is_dask, is_scan, predict_partitions
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from solah.data import Table
    from solah.explain import Explanation, Semantics
    from solah.explain.rule_list import Rules
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import Description
    from solah.labels.goals import ClassGoal
    from solah.learn.rows import Rows
    from solah.model import Goal

TREE_CONSTRAINTS: dict[str, list[Any]] = {
    **LABEL_CONSTRAINTS,
    "criterion": [StrOptions({"information_gain", "gain_ratio"})],
    "purity": [Interval(Real, 0.0, 1.0, closed="right")],
    "min_support": [Interval(Real, 0.0, None, closed="left")],
    "min_gain": [Interval(Real, 0.0, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "null_branch": [StrOptions({"parent", "uniform"})],
    "max_rules": [Interval(Integral, 1, None, closed="left"), None],
    "rule_cost": [Interval(Real, 0.0, None, closed="left")],
    "n_jobs": [Integral, None],
}
LEAF_CONSTRAINTS: dict[str, list[Any]] = {
    "leaves": [StrOptions(set(LEAVES))],
    "shrinkage": [Interval(Real, 0.0, None, closed="left")],
    "prior_weight": [Interval(Real, 0.0, None, closed="neither")],
}


class LinguisticEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators that learn a model document; not for use by itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = TREE_CONSTRAINTS

    _limits: ClassVar[Limits] = LIMITS
    _sorts_columns = False

    model_: Model

    @classmethod
    def with_settings(cls, settings: Mapping[str, Any], **parameters: Any) -> Self:
        """Make an estimator with those of the settings that it knows, such as ``PAPER``.

        Parameters
        ----------
        settings : mapping of parameter name to value
            Parameters of other estimators of solah are left out.
        **parameters
            Further parameters, which win over the settings.

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            If no estimator of solah has a parameter that ``settings`` names, or if this one lacks
            one of ``**parameters``.
        """
        from solah.estimators.tree_fusion import TreeFusion

        own = cls._get_param_names()
        if "fusion" in settings and "fusion" not in own:
            settings = {**settings["fusion"].flat(with_choice=False), **settings}
        known = [*_all_parameters(LinguisticEstimator), *TreeFusion._get_param_names()]
        _refuse_unknown(settings, known, "no estimator of solah has")
        _refuse_unknown(parameters, own, f"{cls.__name__} does not have")
        taken = {name: value for name, value in settings.items() if name in own}
        return cls(**(taken | parameters))

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model document, whole or not at all; ``solah.load_model`` reads it.

        Parameters
        ----------
        path : str or path
        """
        save_document(self._model(), path)

    def _label_settings(self) -> LabelSettings:
        return LabelSettings(self.n_labels, self.placement, self.words, self.kinds)

    def _describe(self, table: Table, weights: Int64) -> Description:
        return describe_table(table, self._label_settings(), weights, count_threads(self.n_jobs))

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        one_row = 1 / weight_unit
        whole = float(weights.sum()) if self.min_support < 1 else one_row
        return TreeSettings(
            criterion=self.criterion,
            purity=self.purity,
            min_support=self.min_support * whole,
            min_gain=self.min_gain,
            max_depth=self.max_depth,
            null_branch=self.null_branch,
            leaves=self._leaf_settings(),
            max_rules=self.max_rules,
            rule_cost=self.rule_cost,
        )

    def _leaf_settings(self) -> LeafSettings:
        return LeafSettings()

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


def _all_parameters(estimator: type[LinguisticEstimator]) -> list[str]:
    """Return the parameters of an estimator and of all that derive from it."""
    names = set(estimator._get_param_names())
    return sorted(names.union(*map(_all_parameters, estimator.__subclasses__())))


def _refuse_unknown(names: Iterable[str], known: Sequence[str], who_lacks: str) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError(f"{who_lacks} a parameter {shorten(name)}{hint}")


class LinguisticClassifier(ClassifierMixin, LinguisticEstimator):  # type: ignore[misc]
    """Base of the classifiers; not for use by itself."""

    goal_: Goal

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

    def _leaf_settings(self) -> LeafSettings:
        return LeafSettings(self.leaves, self.shrinkage, self.prior_weight)

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
            X, y, _ = read_problem(X, y, None)
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


def _deciding_by(thresholds: tuple[float, ...], decider: Model | Goal) -> Model | Goal:
    """Return a model or a goal that decides by other thresholds."""
    if isinstance(decider, Model):
        return replace(decider, goal=replace(decider.goal, thresholds=thresholds))
    return replace(decider, thresholds=thresholds)


class LinguisticTree(LinguisticEstimator):
    """Base of the tree estimators; not for use by itself."""

    def _learn(self, table: Table, goal: ClassGoal) -> None:
        """Describe rows in memory, and learn from them."""
        described = self._describe(table, goal.weights)
        self._learn_from(
            MemoryRows(described, goal, count_threads(self.n_jobs), limits=self._limits)
        )

    def _learn_from(self, rows: Rows) -> None:
        """Grow a tree, and keep it as a model document."""
        facts = rows.facts
        name = fresh_name(facts.goal.name, rows.names)
        settings = self._tree_settings(facts.sums, facts.weight_unit)
        (tree,) = learn_trees([TreeTask(name, rows.attributes, settings)], rows)
        self.model_ = Model(facts.goal, rows.attributes, (tree,))

    def decision_path(self, X: ArrayLike) -> csr_array:
        """Return the branches that rows take, and how much of each row takes them.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        weights : sparse array of shape (n_rows, n_nodes)
            Rows sum to 1; the columns are the nodes of ``model_.trees[0]``.
        """
        (tree,) = self._model().trees
        table = read_features(self, X, reset=False)
        warn_of_unseen(table, tree.inputs)
        return branch_shares(tree, Described.plain(label_table(table, tree.inputs)))
