"""Rows that need not be in memory in, hierarchies out, pass by pass.

What is asked of rows here is what ``TrainingSet`` answers for rows in memory, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.hierarchy.dependence.counting import distant_dependence, distant_relevance
from solah.hierarchy.levels import Level, node_settings
from solah.hierarchy.listening import RowsAfar
from solah.hierarchy.nodes import TreeNode
from solah.hierarchy.training import TrainingSet, share_rules
from solah.hierarchy.weighing import bottom_nodes, grown_settings, weigh_many
from solah.kernels.choose import count_threads
from solah.labels.describe import Description, label_table
from solah.labels.rows import integer_weights
from solah.model.attributes import flatten
from solah.tree.distant import DistantSet
from solah.tree.goals import ClassGoal
from solah.tree.side_by_side import TreeTask, learn_trees

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.hierarchy.dependence import Dependence
    from solah.hierarchy.nodes import NodeModel
    from solah.hierarchy.weighing import WeighSettings
    from solah.kernels.arrays import Float
    from solah.labels.describe import LabelSettings
    from solah.model import Model, Tree
    from solah.model.structure import Hierarchy
    from solah.tree.goals import ClassFacts
    from solah.tree.growth import TreeSettings


class DistantTrainingSet(DistantSet):
    """Rows wherever they are, described with words, as hierarchies learn from them."""

    is_many = True

    @property
    def facts(self) -> ClassFacts:
        """What all rows weigh together."""
        return self.rows.goal

    def described_as(self, settings: LabelSettings, n_threads: int = 1) -> DistantTrainingSet:
        """Describe the same rows otherwise."""
        return DistantTrainingSet.describe(self.rows, settings)

    def dependence(self, *, bias_corrected: bool = False, n_jobs: int | None = None) -> Dependence:
        """Measure how attributes depend on each other and on the goal."""
        return distant_dependence(
            self.rows, bias_corrected=bias_corrected, n_threads=count_threads(n_jobs)
        )

    def relevance(self, *, bias_corrected: bool = False, n_jobs: int | None = None) -> Float:
        """Measure how far attributes depend on the goal."""
        return distant_relevance(self.rows, bias_corrected=bias_corrected)

    def only(self, names: Sequence[str]) -> DistantTrainingSet:
        """Return the same rows with some of their columns."""
        bins = flatten(self.attributes).bins
        places = [self.names.index(name) for name in names]
        root = np.concatenate([self.root[bins[j] : bins[j + 1]] for j in places])
        attributes = tuple(self.attributes[j] for j in places)
        return DistantTrainingSet(self.rows.only(names), attributes, root)

    def draw(self, n_rows: int | None = None) -> TrainingSet:
        """Return the sample, or so many rows of it."""
        sample, goal, table = self.rows.sample.rows, self.goal, self.rows.sample_table()
        integers, unit = integer_weights(sample.weights.astype(np.float64) * goal.weight_unit)
        drawn = TrainingSet(
            Description(table, self.attributes, label_table(table, self.attributes)),
            ClassGoal(goal.goal, goal.classes, sample.codes, integers, unit, goal.plain_weights),
            digests=self.rows.sample.digests,
        )
        return drawn if n_rows is None or n_rows >= table.n_rows else drawn.draw(n_rows)

    def train_weighed(
        self,
        hierarchy: Hierarchy,
        kinds: Mapping[str, str],
        growth: TreeSettings,
        settings: WeighSettings,
        n_threads: int = 1,
    ) -> Model:
        """Train the trees of a hierarchy whose junctions weigh evidence."""
        growth = grown_settings(growth)
        described = {one.name: one for one in self.attributes}
        tasks = []
        for node in bottom_nodes(hierarchy):
            inputs = tuple(described[name] for name in node.inputs)
            settled = node_settings(node.name, kinds[node.name], inputs, growth)
            tasks.append(TreeTask(node.name, inputs, settled))
        trees = learn_trees(tasks, self.goal, self.count, self.credit)
        rows, prior = RowsAfar(self), self.goal.prior
        return weigh_many(hierarchy, trees, self.draw(), rows, prior, settings, n_threads)

    def train_nodes(
        self,
        hierarchy: Hierarchy,
        kinds: Mapping[str, Any],
        growth: TreeSettings,
        cross_fit: int | None = None,
        n_threads: int = 1,
    ) -> tuple[NodeModel, ...]:
        """Train a hierarchy whose trees hear what others believe, level by level."""
        if cross_fit is not None:
            raise ParameterError(
                "'cross_fit' is for rows in memory; leave it out, or read the rows into memory"
            )
        growth = share_rules(growth, hierarchy)
        trained: dict[str, Tree] = {}
        for level in hierarchy.levels:
            nodes = [hierarchy.node(name) for name in level]
            below = tuple(trained.values())
            trained |= {
                tree.name: tree for tree in Level(self, nodes, below, kinds, growth).learn()
            }
        return tuple(TreeNode(trained[node.name]) for node in hierarchy.nodes)


LearningSet = TrainingSet | DistantTrainingSet
"""Described rows to learn from, wherever they are."""
