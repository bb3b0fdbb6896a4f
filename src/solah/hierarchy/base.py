"""What the hierarchy estimators share: training on a wiring, and the uses of what was trained."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from solah.exceptions import ForeignNodeError
from solah.hierarchy.fitness import Fitness
from solah.hierarchy.nodes import TreeNode
from solah.hierarchy.training import NODE_KINDS, TrainingSet, node_kinds, train_nodes
from solah.kernels.choose import count_threads
from solah.labels.inputs import read_features
from solah.model import Model
from solah.model.attributes import BELIEF_WORDS
from solah.tree.base import LinguisticClassifier
from solah.tree.classifier import LinguisticTreeClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from solah.hierarchy.fitness import Scoring
    from solah.hierarchy.nodes import NodeModel
    from solah.kernels.arrays import Float, Int64
    from solah.model.structure import Hierarchy
    from solah.tree.growth import TreeSettings

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

    nodes_: tuple[NodeModel, ...]
    hierarchy_: Hierarchy

    def _train(self, hierarchy: Hierarchy, data: TrainingSet) -> None:
        goal = data.goal
        kinds = node_kinds(self.node, hierarchy)
        growth = self._tree_settings(goal.weights, goal.weight_unit)
        nodes = train_nodes(hierarchy, data, kinds, growth, count_threads(self.n_jobs))
        self.__dict__.pop("model_", None)
        if all(isinstance(node, TreeNode) for node in nodes):
            used = set(hierarchy.attributes)
            attributes = tuple(a for a in data.attributes if a.name in used)
            trees = tuple(node.tree for node in nodes if isinstance(node, TreeNode))
            self.model_ = Model(goal.goal, attributes, trees)
        self.nodes_, self.hierarchy_, self.classes_ = nodes, hierarchy, goal.classes

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        settings = super()._tree_settings(weights, weight_unit)
        return replace(settings, belief_labels=self.belief_labels)

    def _fitness(self, data: TrainingSet, scoring: Scoring, n_folds: int) -> Fitness | None:
        """Prepare to compare hierarchies on unseen rows; None where there are too few rows."""
        return Fitness.prepare(
            data.described,
            data.goal,
            self._describe,
            self._tree_settings,
            node=self.node,
            scoring=scoring,
            n_folds=n_folds,
            cross_fit=self.cross_fit,
        )

    @property
    def n_levels_(self) -> int:
        """The paper's number of levels (iota): levels of trees, and one for the attributes."""
        check_is_fitted(self)
        return self.hierarchy_.n_levels

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return the belief in each class.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        return self.node_beliefs(X)[self.hierarchy_.root]

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
        table = read_features(self, X, reset=False)
        outputs: dict[str, Float] = {}
        for node in self.nodes_:
            outputs[node.name] = node.beliefs(table, outputs, count_threads(self.n_jobs))
        return outputs

    def _model(self) -> Model:
        check_is_fitted(self)
        if not hasattr(self, "model_"):
            strangers = [node.name for node in self.nodes_ if not isinstance(node, TreeNode)]
            raise ForeignNodeError(
                "a model document holds linguistic nodes only, and there are other models at: "
                f"{', '.join(strangers)}; train with node='tree' or node='cmac'"
            )
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "nodes_")
