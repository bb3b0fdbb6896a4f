"""A wiring and described rows in, trained nodes out: bottom-up, level by level.

Every node has the goal as its target. What goes up is the whole distribution: the node above takes
it as masses on the goal's states. With cross-fitting, the node above learns from what nodes believe
of rows that they have not learnt from, as it will be in use.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from solah.exceptions import ParameterError, did_you_mean
from solah.hierarchy.folds import content_folds
from solah.hierarchy.nodes import EstimatorNode, TreeNode, estimator_features, reading_means
from solah.kernels.arrays import MASS_BITS, MASS_ONE, SPREAD, Described
from solah.labels.rows import LabelledRows
from solah.model.attributes import belief_attribute, flatten
from solah.tree.growth import TreeSettings
from solah.tree.learn import learn_tree
from solah.tree.leaves import LeafSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data import Table
    from solah.hierarchy.nodes import NodeModel
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.describe import Description
    from solah.model import Attribute, Tree
    from solah.model.structure import Hierarchy, HierarchyNode
    from solah.tree.goals import ClassGoal

NODE_KINDS = ("tree", "cmac")
MAX_CMAC_CELLS = 400_000


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What all nodes learn from: rows described with words, with their classes and weights.

    Where there are folds, what goes up of a row comes from a node that has not learnt its fold.
    """

    described: Description
    goal: ClassGoal
    folds: Int64 | None = None

    @classmethod
    def prepare(
        cls, described: Description, goal: ClassGoal, cross_fit: int | None = None
    ) -> TrainingSet:
        """Put rows together; with ``cross_fit``, in so many folds."""
        if cross_fit is None:
            return cls(described, goal)
        return cls(described, goal, content_folds(described.labels, goal.codes, cross_fit))

    @property
    def table(self) -> Table:
        """The rows as numbers and states."""
        return self.described.table

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The described columns."""
        return self.described.attributes


def train_nodes(
    hierarchy: Hierarchy,
    data: TrainingSet,
    kinds: Mapping[str, Any],
    growth: TreeSettings,
    n_threads: int,
) -> tuple[NodeModel, ...]:
    """Train the nodes of a hierarchy; the nodes of a level in parallel.

    Parameters
    ----------
    hierarchy : Hierarchy
    data : TrainingSet
    kinds : mapping of node name to its kind
        ``"tree"``, ``"cmac"``, or a scikit-learn classifier.
    growth : TreeSettings
        How the trees grow.
    n_threads : int

    Returns
    -------
    nodes : tuple of NodeModel
        In the order of ``hierarchy.nodes``.
    """
    outputs: dict[str, Float] = {}
    trained: dict[str, NodeModel] = {}
    for level in hierarchy.levels:
        n_workers = min(n_threads, len(level))

        def train(name: str, n_threads: int = n_threads // n_workers) -> tuple[NodeModel, Float]:
            node = hierarchy.node(name)
            model = train_node(node, data, outputs, kinds[name], growth, n_threads)
            if name == hierarchy.root:
                return model, np.empty((0, 0))
            return model, what_goes_up(model, node, data, outputs, kinds[name], growth, n_threads)

        with ThreadPoolExecutor(n_workers) as pool:
            results = list(pool.map(train, level))
        for name, (model, beliefs) in zip(level, results, strict=True):
            trained[name], outputs[name] = model, beliefs
    return tuple(trained[node.name] for node in hierarchy.nodes)


def train_node(
    node: HierarchyNode,
    data: TrainingSet,
    outputs: Mapping[str, Float],
    kind: Any,
    growth: TreeSettings,
    n_threads: int = 1,
) -> NodeModel:
    """Train one node, given what the nodes below it believe of each row."""
    rows = _NodeRows.gather(node, data, outputs)
    if kind == "tree":
        return TreeNode(_grow_tree(rows, growth, n_threads))
    if kind == "cmac":
        return TreeNode(_train_cmac(rows, n_threads))
    return _train_estimator(rows, kind)


def what_goes_up(
    model: NodeModel,
    node: HierarchyNode,
    data: TrainingSet,
    outputs: Mapping[str, Float],
    kind: Any,
    growth: TreeSettings,
    n_threads: int = 1,
) -> Float:
    """Return what a trained node believes of each row, for the node above to learn from.

    Where there are folds, the rows of a fold are judged by a node trained on the others; rows
    without weight are judged by the node itself, as in use.
    """
    beliefs = model.beliefs(data.table, outputs, n_threads)
    if data.folds is None:
        return beliefs
    goal = data.goal
    for fold in np.unique(data.folds):
        rows = np.flatnonzero((data.folds == fold) & (goal.weights > 0))
        weights = goal.weights.copy()
        weights[rows] = 0
        if len(rows) and weights.any():
            others = replace(data, goal=replace(goal, weights=weights))
            stranger = train_node(node, others, outputs, kind, growth, n_threads)
            below = {name: outputs[name][rows] for name in node.inputs if name in outputs}
            beliefs[rows] = stranger.beliefs(data.table.take(rows), below, n_threads)
    return beliefs


def node_kinds(node: Any, hierarchy: Hierarchy) -> dict[str, Any]:
    """Settle the kind of every node: one for all, or a mapping of node name to kind."""
    names = [one.name for one in hierarchy.nodes]
    if not isinstance(node, dict):
        return dict.fromkeys(names, _checked_kind(node))
    for name in node:
        if name not in names:
            raise ParameterError(
                f"'node' names {name!r}, which is no node{did_you_mean(name, names)}"
            )
    return {name: _checked_kind(node.get(name, "tree")) for name in names}


def _checked_kind(kind: Any) -> Any:
    methods = ("fit", "predict_proba", "get_params")
    is_estimator = not isinstance(kind, type) and all(hasattr(kind, name) for name in methods)
    if kind in NODE_KINDS if isinstance(kind, str) else is_estimator:
        return kind
    raise ParameterError(
        "'node' must be 'tree', 'cmac', or a scikit-learn classifier with predict_proba. "
        f"Got {kind!r}."
    )


@dataclass(frozen=True, eq=False)
class _NodeRows:
    """The rows as one node sees them."""

    name: str
    attributes: tuple[Attribute, ...]
    inputs: Described
    data: TrainingSet
    outputs: Mapping[str, Float]

    @classmethod
    def gather(
        cls, node: HierarchyNode, data: TrainingSet, outputs: Mapping[str, Float]
    ) -> _NodeRows:
        places = {attribute.name: j for j, attribute in enumerate(data.attributes)}
        labels = np.empty((data.table.n_rows, len(node.inputs)), dtype=np.uint32)
        offsets = np.full(len(node.inputs), -1, dtype=np.int32)
        attributes: list[Attribute] = []
        spread = [np.empty((len(labels), 0), dtype=np.uint32)]
        for j, name in enumerate(node.inputs):
            if name not in outputs:
                labels[:, j] = data.described.labels[:, places[name]]
                attributes.append(data.attributes[places[name]])
                continue
            beliefs = outputs[name]
            attributes.append(belief_attribute(name, data.goal.goal.states, data.goal.prior))
            if beliefs.shape[1] == 2:
                # Two states are neighbours: the label of a reading holds their masses.
                labels[:, j] = np.rint(beliefs[:, 1] * MASS_ONE)
            else:
                labels[:, j] = SPREAD << MASS_BITS
                offsets[j] = sum(part.shape[1] for part in spread)
                spread.append(_summed_up(beliefs))
        beside = np.ascontiguousarray(np.hstack(spread))
        inputs = Described(labels, beside, offsets)
        return cls(node.name, tuple(attributes), inputs, data, outputs)


def _summed_up(beliefs: Float) -> Labels:
    sums = np.zeros((len(beliefs), beliefs.shape[1] + 1))
    np.cumsum(beliefs, axis=1, out=sums[:, 1:])
    sums[:, -1] = 1.0
    return np.asarray(np.rint(np.minimum(sums, 1.0) * MASS_ONE), dtype=np.uint32)


def _grow_tree(rows: _NodeRows, growth: TreeSettings, n_threads: int) -> Tree:
    goal, sets = rows.data.goal, flatten(rows.attributes)
    labelled = LabelledRows(rows.inputs, goal.labels, goal.weights, sets, goal.goal.size, n_threads)
    return learn_tree(rows.name, rows.attributes, labelled, goal.weight_unit, growth)


def _train_cmac(rows: _NodeRows, n_threads: int) -> Tree:
    """Tabulate all combinations of words, and learn each cell's belief by iteration.

    The table is a tree that takes its inputs in their order, whatever they gain.
    """
    n_cells = prod(attribute.n_focal_sets for attribute in rows.attributes)
    if n_cells > MAX_CMAC_CELLS:
        raise ParameterError(
            f"node {rows.name!r} has {len(rows.attributes)} inputs whose words make {n_cells:,} "
            f"combinations, and a CMAC tabulates at most {MAX_CMAC_CELLS:,}; make the clusters "
            "smaller, use fewer words, or use node='tree' there"
        )
    every_cell = TreeSettings(
        criterion="in_order",
        purity=np.inf,
        min_gain=None,
        leaves=LeafSettings("refitted"),
    )
    return _grow_tree(rows, every_cell, n_threads)


def _train_estimator(rows: _NodeRows, kind: Any) -> EstimatorNode:
    data = rows.data
    means = reading_means(rows.attributes, data.table, data.goal.weights)
    features = estimator_features(rows.attributes, data.table, rows.outputs, means)
    used = data.goal.weights > 0
    weights = {}
    if has_fit_parameter(kind, "sample_weight"):
        weights["sample_weight"] = data.goal.weights[used] * data.goal.weight_unit
    estimator = clone(kind).fit(features[used], data.goal.codes[used], **weights)
    return EstimatorNode(rows.name, rows.attributes, estimator, means, data.goal.goal.size)
