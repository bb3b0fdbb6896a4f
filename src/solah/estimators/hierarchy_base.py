"""The base class of the hierarchy estimators: training on a wiring."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from solah.estimators.base import LinguisticClassifier
from solah.estimators.comparing import score
from solah.estimators.inputs import read_features
from solah.estimators.nodes import node_kinds
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.exceptions import ForeignNodeError, ParameterError
from solah.kernels.choose import count_threads
from solah.learn.fitness import Fitness
from solah.learn.levels import NODE_KINDS, train_nodes
from solah.learn.memory import MemoryRows, is_large
from solah.learn.nodes import EstimatorNode, TreeNode
from solah.model import Fusion, Model, Tree
from solah.model.attributes import BELIEF_WORDS
from solah.model.encode import warn_of_unseen
from solah.sklearn_private import HasMethods, Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from solah.data import Table
    from solah.estimators.comparing import Scoring
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.learn.growth import TreeSettings
    from solah.learn.nodes import NodeModel
    from solah.learn.rows import Rows
    from solah.model.structure import Hierarchy

OF_THE_MODEL = ("kinds", "class_weight", "thresholds", "n_jobs")
"""What the whole model has, and a tree in it does not settle."""
HIERARCHY_CONSTRAINTS: dict[str, list[Any]] = {
    "tree": [LinguisticTreeClassifier, None],
    "node": [StrOptions(set(NODE_KINDS)), dict, HasMethods(["fit", "predict_proba"])],
    "belief_labels": [
        Interval(Integral, min(BELIEF_WORDS), max(BELIEF_WORDS), closed="both"),
        None,
    ],
    "cross_fit": [Interval(Integral, 2, None, closed="left"), None],
    **{name: LinguisticTreeClassifier._parameter_constraints[name] for name in OF_THE_MODEL},
}


class HierarchyClassifier(LinguisticClassifier):
    """Base of the hierarchy estimators; not for use by itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = HIERARCHY_CONSTRAINTS
    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {"tree": LinguisticTreeClassifier}

    nodes_: tuple[NodeModel | Fusion, ...]
    hierarchy_: Hierarchy

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
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
        groups : array of shape (n_rows,), default=None
            What rows belong to, such as a person or a recording: what is compared on rows not
            learnt from is then compared on groups not learnt from. Or the name of a column.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _validate_params(self) -> None:
        super()._validate_params()
        for name in OF_THE_MODEL:
            if self.tree is not None and getattr(self.tree, name) is not None:
                raise ParameterError(
                    f"{name!r} is one for the whole model, not for a tree in it; give it to "
                    f"{type(self).__name__}, and leave it out in 'tree'"
                )

    @property
    def _grown(self) -> LinguisticTreeClassifier:
        """How trees are grown."""
        return LinguisticTreeClassifier() if self.tree is None else self.tree

    def _train(self, hierarchy: Hierarchy, data: Rows) -> None:
        """Train a hierarchy whose trees take the beliefs of others as inputs."""
        goal = data.facts
        growth = self._tree_settings(goal.sums, goal.weight_unit)
        if growth.max_rules is not None and growth.max_rules < len(hierarchy.nodes):
            raise ParameterError(
                f"max_rules={growth.max_rules} is less than the {len(hierarchy.nodes)} trees of "
                "the hierarchy, which have a rule each at least; allow more rules, or use fewer "
                "trees"
            )
        kinds = node_kinds(self.node, hierarchy)
        rows = data if self.cross_fit is None else data.with_folds(self.cross_fit)
        nodes = train_nodes(hierarchy, rows, kinds, growth)
        self.__dict__.pop("model_", None)
        if all(isinstance(node, TreeNode) for node in nodes):
            used = set(hierarchy.attributes)
            attributes = tuple(a for a in data.attributes if a.name in used)
            trees = tuple(node.tree for node in nodes if isinstance(node, TreeNode))
            self.model_ = Model(goal.goal, attributes, trees)
        self.nodes_, self.hierarchy_, self.classes_ = nodes, hierarchy, goal.classes
        self.goal_ = goal.goal

    def _take(self, model: Model) -> None:
        super()._take(model)
        self.nodes_ = tuple(
            TreeNode(node) if isinstance(node, Tree) else node for node in model.nodes
        )

    def _label_settings(self) -> LabelSettings:
        return replace(self._grown._label_settings(), kinds=self.kinds)

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        settings = self._grown._tree_settings(weights, weight_unit)
        return replace(settings, belief_labels=self.belief_labels)

    def _rows(self, table: Table, goal: ClassGoal) -> MemoryRows:
        """Describe rows in memory."""
        described = self._describe(table, goal.weights)
        n_threads = count_threads(self.n_jobs) if is_large(table.n_rows, len(table.columns)) else 1
        return MemoryRows(described, goal, n_threads, limits=self._limits)

    def _fitness(self, data: Rows, scoring: Scoring, n_folds: int) -> Fitness | None:
        """Prepare to compare hierarchies on unseen rows; None where there are too few rows.

        Of very many rows, a sample is compared on.
        """
        if data.is_many:
            data = data.draw(data.limits.rows_to_select_by(len(data.names), data.facts.goal.size))
        assert isinstance(data, MemoryRows)
        return Fitness.prepare(
            data.described,
            data.goal,
            self._describe,
            self._tree_settings,
            kinds=partial(node_kinds, self.node),
            score_beliefs=partial(score, scoring),
            n_folds=n_folds,
            cross_fit=self.cross_fit,
            groups=data.groups,
        )

    @property
    def n_levels_(self) -> int:
        """The paper's number of levels (iota): levels of trees, and one for the attributes."""
        check_is_fitted(self)
        return self.hierarchy_.n_levels

    def _beliefs(self, X: ArrayLike) -> Float:
        if not hasattr(self, "model_"):
            return self.node_beliefs(X)[self.hierarchy_.root]
        return super()._beliefs(X)

    def node_beliefs(self, X: ArrayLike) -> dict[str, Float]:
        """Return what each node believes, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        beliefs : dict of node name to ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if hasattr(self, "model_"):
            return super().node_beliefs(X)
        table = read_features(self, X, reset=False)
        n_threads = count_threads(self.n_jobs)
        outputs: dict[str, Float] = {}
        for node in self.nodes_:
            assert not isinstance(node, Fusion)
            warn_of_unseen(table, [one for one in node.inputs if one.origin not in outputs])
            outputs[node.name] = node.beliefs(table, outputs, n_threads)
        return outputs

    def _model(self) -> Model:
        check_is_fitted(self)
        if not hasattr(self, "model_"):
            strangers = [node.name for node in self.nodes_ if isinstance(node, EstimatorNode)]
            raise ForeignNodeError(
                "a model document holds linguistic nodes only, and there are other models at: "
                f"{', '.join(strangers)}; train with node='tree' or node='cmac'"
            )
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "nodes_")
