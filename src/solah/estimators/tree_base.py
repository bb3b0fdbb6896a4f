"""The base class of the estimators that are one linguistic decision tree."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import read_features
from solah.estimators.labeller import LABEL_CONSTRAINTS
from solah.estimators.paths import branch_shares
from solah.kernels.arrays import Described
from solah.kernels.choose import count_threads
from solah.labels.describe import LabelSettings, label_table
from solah.learn.growth import LEAVES, LeafSettings, TreeSettings
from solah.learn.memory import MemoryRows
from solah.learn.trees import TreeTask, learn_trees
from solah.model import Model
from solah.model.encode import warn_of_unseen
from solah.model.structure import fresh_name
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from solah.data import Table
    from solah.kernels.arrays import Int64
    from solah.labels.goals import ClassGoal, NumberGoal
    from solah.learn.rows import Rows

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


class LinguisticTree(LinguisticEstimator):
    """Base of the tree estimators; not for use by itself."""

    def _label_settings(self) -> LabelSettings:
        return LabelSettings(self.n_labels, self.placement, self.words, self.kinds)

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

    def _rows(self, table: Table, goal: ClassGoal | NumberGoal) -> MemoryRows:
        """Describe rows in memory."""
        described = self._describe(table, goal.weights)
        return MemoryRows(described, goal, count_threads(self.n_jobs), limits=self._limits)

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
