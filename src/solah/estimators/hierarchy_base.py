"""The base class of the hierarchy estimators: training on a wiring."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from solah.estimators.base import LinguisticClassifier
from solah.estimators.comparing import score
from solah.estimators.inputs import read_features
from solah.estimators.nodes import node_kinds
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.exceptions import ForeignNodeError, ParameterError
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.learn.fitness import Fitness
from solah.learn.levels import NODE_KINDS, train_nodes
from solah.learn.memory import MemoryRows, is_large
from solah.learn.nodes import EstimatorNode, TreeNode
from solah.learn.passed import PassedRows
from solah.model import Fusion, Model, Tree
from solah.model.attributes import BELIEF_WORDS
from solah.model.encode import warn_of_unseen
from solah.scale import is_dask, predict_partitions
from solah.sklearn_private import HasMethods, Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.estimators.comparing import Scoring
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.learn.growth import TreeSettings
    from solah.learn.nodes import NodeModel
    from solah.learn.rows import Rows
    from solah.model.structure import Hierarchy
    from solah.scale.profile import Profile

HIERARCHY_CONSTRAINTS: dict[str, list[Any]] = {
    **LinguisticTreeClassifier._parameter_constraints,
    "node": [StrOptions(set(NODE_KINDS)), dict, HasMethods(["fit", "predict_proba"])],
    "belief_labels": [
        Interval(Integral, min(BELIEF_WORDS), max(BELIEF_WORDS), closed="both"),
        None,
    ],
    "cross_fit": [Interval(Integral, 2, None, closed="left"), None],
}


class HierarchyClassifier(LinguisticClassifier):
    """Base of the hierarchy estimators; not for use by itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = HIERARCHY_CONSTRAINTS

    nodes_: tuple[NodeModel | Fusion, ...]
    hierarchy_: Hierarchy
    _learn_from: Callable[[Rows], None]  # a method: learn from rows, wherever they are

    def _train(self, hierarchy: Hierarchy, data: Rows, growth: TreeSettings) -> None:
        """Train a hierarchy whose trees take the beliefs of others as inputs."""
        goal = data.facts
        if self.max_rules is not None and self.max_rules < len(hierarchy.nodes):
            raise ParameterError(
                f"max_rules={self.max_rules} is less than the {len(hierarchy.nodes)} trees of the "
                "hierarchy, which have a rule each at least; allow more rules, or use fewer trees"
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

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        settings = super()._tree_settings(weights, weight_unit)
        return replace(settings, belief_labels=self.belief_labels)

    def _rows(self, table: Table, goal: ClassGoal) -> MemoryRows:
        """Describe rows in memory with the first words."""
        n_threads = count_threads(self.n_jobs)
        described = describe_table(table, self._first_words(), goal.weights, n_threads)
        is_threaded = is_large(table.n_rows, len(table.columns))
        return MemoryRows(described, goal, n_threads if is_threaded else 1, limits=self._limits)

    def _fit_profile(self, profile: Profile) -> None:
        n_threads = count_threads(self.n_jobs)
        self._learn_from(PassedRows.describe(profile, self._first_words(), n_threads))

    def _first_words(self) -> LabelSettings:
        """Return the words to describe rows with at first."""
        return self._label_settings()

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
        )

    @property
    def n_levels_(self) -> int:
        """The paper's number of levels (iota): levels of trees, and one for the attributes."""
        check_is_fitted(self)
        return self.hierarchy_.n_levels

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
        if not hasattr(self, "model_"):
            return self.node_beliefs(X)[self.hierarchy_.root]
        return self._evaluator().beliefs(read_features(self, X, reset=False))

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
