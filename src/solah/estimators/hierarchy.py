"""The estimator of a user-defined hierarchy, and the base of all hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from math import isnan
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from solah.estimators.base import LinguisticClassifier
from solah.estimators.inputs import read_features
from solah.estimators.rules import ONE_BLAS_THREAD
from solah.estimators.trees import BranchMixin, LinguisticTreeClassifier
from solah.evaluation.scores import log_loss, rank_auc
from solah.exceptions import ColumnError, ForeignNodeError, ParameterError, did_you_mean
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.learn.fitness import Fitness
from solah.learn.levels import NODE_KINDS, DocumentNode, hierarchy_model, train_nodes
from solah.model.encode import warn_of_unseen
from solah.model.features import BELIEF_WORDS
from solah.model.structure import Hierarchy, HierarchyNode, fresh_name
from solah.sklearn_private import HasMethods, Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from solah.data import Table
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import Description, LabelSettings
    from solah.learn.growth import TreeSettings
    from solah.learn.memory import MemoryRows
    from solah.model import Model, Target

Scoring = Literal["auc", "accuracy", "log_loss"]
SCORINGS: tuple[Scoring, ...] = get_args(Scoring)

_FOLDS_BETWEEN = 5
OF_THE_MODEL = ("feature_types", "class_weight", "thresholds", "n_jobs")
"""The parameters of the whole model, which a tree in it must not have."""
HIERARCHY_CONSTRAINTS: dict[str, list[Any]] = {
    "tree": [LinguisticTreeClassifier, None],
    "node": [StrOptions(set(NODE_KINDS)), dict, HasMethods(["fit", "predict_proba"]), None],
    "belief_words": [
        Interval(Integral, min(BELIEF_WORDS), max(BELIEF_WORDS), closed="both"),
        None,
    ],
    "cross_fit": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    **{name: LinguisticTreeClassifier._parameter_constraints[name] for name in OF_THE_MODEL},
}


def score(scoring: Scoring, codes: NDArray[Any], beliefs: Float, weights: Float) -> float:
    """Return a metric of predicted class beliefs; larger is better."""
    classes = np.arange(beliefs.shape[1])
    if scoring == "log_loss":
        return -log_loss(codes, beliefs, classes, weights)
    if scoring == "accuracy":
        return float(np.average(classes[np.argmax(beliefs, axis=1)] == codes, weights=weights))
    area = rank_auc(codes, beliefs, classes, weights)
    return 0.5 if isnan(area) else area  # one class alone has none


@dataclass(eq=False, repr=False)
class HierarchyEstimator(BranchMixin):
    """Base of the hierarchies; not for use by itself."""

    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {"tree": LinguisticTreeClassifier}

    _: KW_ONLY
    tree: LinguisticTreeClassifier | None = None
    node: Any = "tree"
    belief_words: int | None = None
    cross_fit: int | Literal["auto"] | None = "auto"
    feature_types: Mapping[str, str | Sequence[str]] | None = None
    class_weight: str | Mapping[Any, float] | None = None
    thresholds: Mapping[Any, float] | ArrayLike | None = None
    n_jobs: int | None = None

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        for name in OF_THE_MODEL:
            if self.tree is not None and getattr(self.tree, name) is not None:
                raise ParameterError(
                    f"{name!r} is for the whole model, not for a tree in it; pass it to "
                    f"{type(self).__name__}, not to 'tree'"
                )

    @property
    def _grown(self) -> LinguisticTreeClassifier:
        return LinguisticTreeClassifier() if self.tree is None else self.tree

    def _word_settings(self) -> LabelSettings:
        return replace(self._grown._word_settings(), kinds=self.feature_types)

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        settings = self._grown._tree_settings(weights, weight_unit)
        return replace(settings, n_belief_words=self.belief_words)

    @property
    def _kind(self) -> Any:
        """The model at the nodes: rule models, or trees if ``tree`` is set."""
        if self.node is not None:
            return self.node
        return "rules" if self.tree is None else "tree"

    @property
    def _n_folds_between(self) -> int | None:
        """The number of folds for beliefs of lower nodes; rule models require held-out beliefs."""
        if self.cross_fit != "auto":
            return self.cross_fit
        kinds = self._kind.values() if isinstance(self._kind, dict) else [self._kind]
        return _FOLDS_BETWEEN if any(isinstance(k, str) and k == "rules" for k in kinds) else None

    def _train(self, hierarchy: Hierarchy, rows: MemoryRows) -> None:
        """Train a hierarchy whose nodes take the outputs of other nodes as inputs."""
        facts, features = rows.facts, rows.features
        growth = self._tree_settings(facts.sums, facts.weight_unit)
        if growth.max_rules is not None and growth.max_rules < len(hierarchy.nodes):
            raise ParameterError(
                f"max_rules={growth.max_rules} is less than the {len(hierarchy.nodes)} trees of "
                "the hierarchy, which have at least one rule each; allow more rules, or use fewer "
                "trees"
            )
        kinds = node_kinds(self._kind, hierarchy)
        if self._n_folds_between is not None:
            rows = rows.with_folds(self._n_folds_between)
        vars(self).pop("model_", None)
        with ONE_BLAS_THREAD:
            self.nodes_ = train_nodes(hierarchy, rows, kinds, growth)
        linguistic = [node for node in self.nodes_ if isinstance(node, DocumentNode)]
        if len(linguistic) == len(self.nodes_):
            self.model_ = hierarchy_model(facts, features, linguistic).compiled()
        self._trained_target = facts.target
        self.hierarchy_, self.classes_ = hierarchy, facts.classes

    def _fitness(self, data: MemoryRows, scoring: Scoring, n_folds: int) -> Fitness | None:
        """Return the fitness of hierarchies on held-out rows; None if there are too few rows.

        With very many rows, it is measured on a sample.
        """
        if data.is_many:
            data = data.draw(data.limits.rows_to_select_by(len(data.names), data.facts.target.size))

        def describe(table: Table, weights: Int64) -> Description:  # each fold has its own words
            return describe_table(table, self._word_settings(), weights, count_threads(self.n_jobs))

        return Fitness.prepare(
            data,
            describe,
            self._tree_settings,
            kinds=partial(node_kinds, self._kind),
            score_beliefs=partial(score, scoring),
            n_folds=n_folds,
            cross_fit=self._n_folds_between,
        )

    def node_outputs(self, X: ArrayLike) -> dict[str, Float]:
        """Return the outputs of each node, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        outputs : dict of node name to ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if hasattr(self, "model_"):
            return super().node_outputs(X)  # type: ignore[misc,no-any-return]
        table = read_features(self, X, reset=False)
        outputs: dict[str, Float] = {}
        for node in self.nodes_:
            warn_of_unseen(table, [one for one in node.inputs if one.origin not in outputs])
            outputs[node.name] = node.beliefs(table, outputs, count_threads(self.n_jobs))
        return outputs

    def predict_proba(self, X: ArrayLike) -> Any:
        """Return the probability of each class, in the order of ``classes_``."""
        if hasattr(self, "nodes_") and not hasattr(self, "model_"):
            return self.node_outputs(X)[self.hierarchy_.root]
        return super().predict_proba(X)  # type: ignore[misc]

    @property
    def _target(self) -> Target:
        return self.model_.target if hasattr(self, "model_") else self._trained_target

    def _set_target(self, target: Target) -> None:
        if hasattr(self, "model_"):
            super()._set_target(target)  # type: ignore[misc]
        self._trained_target = target

    def _model(self) -> Model:
        check_is_fitted(self)
        if not hasattr(self, "model_"):
            others = [node.name for node in self.nodes_ if not isinstance(node, DocumentNode)]
            raise ForeignNodeError(
                f"a model file holds trees and rule models only, but these nodes have other "
                f"models: {', '.join(others)}; train with node='tree', 'rules' or 'cmac'"
            )
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "nodes_")

    @property
    def n_levels_(self) -> int:
        """The paper's number of levels (iota): levels of trees, and one for the features."""
        return self.hierarchy_.n_levels


@dataclass(eq=False, repr=False)
class LinguisticHierarchyClassifier(HierarchyEstimator, LinguisticClassifier):
    """A user-defined hierarchy of linguistic trees.

    Each tree uses a few features and the beliefs of the trees below it. The beliefs of the top
    tree are the prediction.

    Parameters
    ----------
    hierarchy : Hierarchy, str or mapping, default=None
        The wiring, as a :class:`~solah.Hierarchy`, as text (``"z1 <- a, b; y <- z1, c"``) or as a
        mapping of node name to input names. None is a single tree on all features.
    tree : LinguisticTreeClassifier, default=None
        How trees are grown, and how features are described with words. Give the parameters of the
        whole model (``feature_types``, ``class_weight``, ``thresholds``, ``n_jobs``) below instead.
    node : {"tree", "rules", "cmac"}, classifier, or dict of node name to one of these, \
            default="tree"
        The model at each node: a linguistic tree; a rule model, as :class:`~solah.RuleClassifier`
        fits it; a linguistic CMAC (a table of all word combinations, at most 400,000); or any
        scikit-learn classifier with ``predict_proba``. A hierarchy with such a classifier predicts,
        but has no rules and cannot be saved.
    belief_words : int, default=None
        How many words, from unlikely to likely, describe beliefs in trees (2 to 5). None takes a
        tree's whole distribution as masses, as the paper does: this shrinks predictions towards the
        class shares with every level. Rule models always have five.
    cross_fit : int, "auto" or None, default="auto"
        The number of folds to train nodes on held-out beliefs of the nodes below: each fold gets
        the beliefs of models that were trained on the other folds. None uses beliefs on training
        rows, which are overconfident. "auto" is 5 if there are rule models, and None otherwise.
    feature_types, class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`, for the whole model.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The wiring.
    nodes_ : tuple
        The trained nodes, from bottom to top.
    model_ : Model
        The model.
    n_levels_ : int
        The paper's number of levels (iota): levels of trees, and one for the features.
    classes_, n_branches_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticTreeClassifier`, summed over the trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import LinguisticHierarchyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinguisticHierarchyClassifier("sepal <- x0, x1; y <- sepal, x2, x3").fit(X, y)
    >>> print(model.hierarchy_)
    sepal <- x0, x1; y <- sepal, x2, x3
    >>> model.set_params(tree__max_depth=1).fit(X, y).n_rules_
    10
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "hierarchy": [Hierarchy, str, Mapping, None],
    }

    hierarchy: Hierarchy | str | Mapping[str, Sequence[str]] | None = None

    def _learn(self, rows: MemoryRows) -> None:
        self._train(read_hierarchy(self.hierarchy, rows.names, rows.facts.target.name), rows)


def read_hierarchy(
    given: Hierarchy | str | Mapping[str, Sequence[str]] | None,
    names: tuple[str, ...],
    target: str,
) -> Hierarchy:
    """Return the hierarchy, and check that its columns exist."""
    if given is None:
        return Hierarchy((HierarchyNode(fresh_name(target, names), names),))
    hierarchy = given
    if isinstance(given, str):
        hierarchy = Hierarchy.parse(given)
    elif isinstance(given, Mapping):
        hierarchy = Hierarchy.from_dict(given)
    assert isinstance(hierarchy, Hierarchy)
    hierarchy.each_once()
    for name in hierarchy.features:
        if name not in names:
            raise ColumnError.unknown(name, names)
    for node in hierarchy.nodes:
        if node.name in names:
            raise ParameterError(
                f"the hierarchy's node {node.name!r} has the name of a column; rename the node"
            )
    return hierarchy


@dataclass(frozen=True, eq=False)
class ClassifierNode:
    """A scikit-learn classifier at the nodes of a hierarchy."""

    estimator: Any

    def fit(self, features: Float, codes: NDArray[Any], weights: Float) -> Any:
        """Return a fitted clone."""
        is_weighted = has_fit_parameter(self.estimator, "sample_weight")
        given = {"sample_weight": weights} if is_weighted else {}
        return clone(self.estimator).fit(features, codes, **given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassifierNode) and self.estimator is other.estimator

    def __hash__(self) -> int:
        return id(self.estimator)

    def __str__(self) -> str:
        return type(self.estimator).__name__


def node_kinds(node: Any, hierarchy: Hierarchy) -> dict[str, Any]:
    """Return the kind of every node: one for all, or a mapping of node name to kind."""
    names = [one.name for one in hierarchy.nodes]
    if not isinstance(node, dict):
        return dict.fromkeys(names, _node_kind(node))
    for name in node:
        if name not in names:
            raise ParameterError(
                f"'node' names {name!r}, but there is no such node{did_you_mean(name, names)}"
            )
    return {name: _node_kind(node.get(name, "tree")) for name in names}


def _node_kind(kind: Any) -> Any:
    if isinstance(kind, str) and kind in NODE_KINDS:
        return kind
    methods = ("fit", "predict_proba", "get_params")
    if not isinstance(kind, type) and all(hasattr(kind, name) for name in methods):
        return ClassifierNode(kind)
    raise ParameterError(
        "'node' must be 'tree', 'rules', 'cmac' or a scikit-learn classifier with predict_proba. "
        f"Got {kind!r}."
    )
