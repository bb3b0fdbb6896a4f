"""Levels of a hierarchy: nodes are trained bottom-up, each with the goal as its target.

What goes up is a node's whole distribution: the node above takes it as masses on the goal's states,
or describes it with words of belief. With cross-fitting, the node above learns from what nodes
believe of rows that they have not learnt from, as it will be in use.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import TooManyCombinationsError
from solah.kernels.arrays import TreeShape
from solah.labels.describe import with_mean_masses
from solah.learn.growth import LeafSettings, Question, TreeSettings
from solah.learn.nodes import EstimatorNode, estimator_features, reading_means
from solah.learn.rule_nodes import RuleNode, train_rule_node
from solah.learn.trees import TreeTask, learn_trees
from solah.model import AdditiveNode, Model
from solah.model.attributes import belief_attribute, belief_words
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.labels.goals import GoalFacts
    from solah.learn.memory import MemoryRows
    from solah.learn.nodes import DocumentNode, NodeModel
    from solah.learn.selection import Choice
    from solah.model import Attribute, Node
    from solah.model.structure import Hierarchy, HierarchyNode

NODE_KINDS = ("tree", "cmac", "rules")
MAX_CMAC_CELLS = 400_000


def train_nodes(
    hierarchy: Hierarchy, rows: MemoryRows, kinds: Mapping[str, Any], growth: TreeSettings
) -> tuple[NodeModel, ...]:
    """Train the nodes of a hierarchy, level by level.

    Parameters
    ----------
    hierarchy : Hierarchy
    rows : MemoryRows
    kinds : mapping of node name to its kind
        ``"tree"``, ``"cmac"``, or a ``NodeLearner``.
    growth : TreeSettings
        How the trees grow.

    Returns
    -------
    nodes : tuple of NodeModel
        In the order of ``hierarchy.nodes``.
    """
    growth = share_rules(growth, hierarchy)
    trained: dict[str, NodeModel] = {}
    for level in hierarchy.levels:
        nodes = [hierarchy.node(name) for name in level]
        train = partial(train_level, nodes, kinds=kinds, growth=growth)
        models = train(rows)
        trained |= {model.name: model for model in models}
        if hierarchy.root not in trained:
            # What is chosen for a node on all rows holds for its folds: they fit weights only.
            choices = {one.name: one.choice for one in models if isinstance(one, RuleNode)}
            rows = rows.above(models, partial(train, choices=choices))
    return tuple(trained[node.name] for node in hierarchy.nodes)


def hierarchy_model(
    facts: GoalFacts, attributes: Sequence[Attribute], trained: Sequence[DocumentNode]
) -> Model:
    """Make a model of trained nodes, without those that no node above uses."""
    nodes: list[Node] = []
    wanted = {trained[-1].name}
    for one in reversed(trained):
        if one.name in wanted:
            nodes.append(one.node())
            wanted.update(nodes[-1].origins)
    described = {attribute.name: attribute for attribute in attributes if attribute.name in wanted}
    for node in nodes:  # rule models have words of their own
        if isinstance(node, AdditiveNode):
            described |= {one.name: one for one in node.inputs if one.tree is None}
    used = tuple(described.values()) or tuple(attributes[:1])
    goal = facts.goal
    if any(isinstance(node, AdditiveNode) for node in nodes):
        goal = replace(goal, prior=facts.prior)
    return Model(goal, used, tuple(reversed(nodes)))


def train_level(
    nodes: Sequence[HierarchyNode],
    rows: MemoryRows,
    *,
    kinds: Mapping[str, Any],
    growth: TreeSettings,
    choices: Mapping[str, Choice] | None = None,
) -> list[NodeModel]:
    """Train nodes side by side, on rows that know what the nodes below believe.

    Rule models with a choice do not compare anything again.
    """
    linguistic = [node for node in nodes if is_linguistic(kinds[node.name])]
    words = growth.n_belief_words
    described = {attribute.name: attribute for attribute in rows.attributes}
    inputs = [node_inputs(node, described, rows, words) for node in linguistic]
    if words is not None:
        inputs = _with_mean_beliefs(inputs, rows)
    tasks = [
        TreeTask(node.name, of_node, _settings(node.name, kinds[node.name], of_node, growth))
        for node, of_node in zip(linguistic, inputs, strict=True)
    ]
    trained: dict[str, NodeModel] = {tree.name: tree for tree in learn_trees(tasks, rows)}
    others = [node for node in nodes if node.name not in trained]
    trained |= {one.name: one for one in _train_others(others, rows, kinds, choices or {})}
    return [trained[node.name] for node in nodes]


def is_linguistic(kind: Any) -> bool:
    """Whether a node of this kind is a tree of words."""
    return isinstance(kind, str) and kind in ("tree", "cmac")


def node_inputs(
    node: HierarchyNode,
    described: Mapping[str, Attribute],
    rows: MemoryRows,
    n_belief_words: int | None,
) -> tuple[Attribute, ...]:
    """Describe what feeds a node: attributes, and the beliefs of nodes below.

    Parameters
    ----------
    node : HierarchyNode
    described : the columns, described, by name
    rows : MemoryRows
    n_belief_words : how many words describe a belief; None takes it as masses
    """
    goal, prior = rows.facts.goal, rows.facts.prior
    inputs: list[Attribute] = []
    for name in node.inputs:
        if name not in rows.below:
            inputs.append(described[name])
        elif n_belief_words is None:
            inputs.append(belief_attribute(name, goal.states, prior))
        else:
            for words in belief_words(name, goal.states, n_belief_words):
                inputs.append(replace(words, name=fresh_name(words.name, described)))
    return tuple(inputs)


def _with_mean_beliefs(
    inputs: Sequence[tuple[Attribute, ...]], rows: MemoryRows
) -> list[tuple[Attribute, ...]]:
    """Let an unknown belief be what the training rows believe on average, in one pass."""
    if not any(one.tree is not None for of_node in inputs for one in of_node):
        return list(inputs)
    root = Question(TreeShape.stump(), np.zeros(1, dtype=np.int32))
    counts = rows.count(inputs, [root] * len(inputs))
    return [
        tuple(
            one if one.tree is None else mean
            for one, mean in zip(
                of_node, with_mean_masses(of_node, found[0].sum(axis=1)), strict=True
            )
        )
        for of_node, found in zip(inputs, counts, strict=True)
    ]


def _settings(
    name: str, kind: str, inputs: Sequence[Attribute], growth: TreeSettings
) -> TreeSettings:
    return growth if kind == "tree" else _cell_settings(name, inputs)


def _cell_settings(name: str, inputs: Sequence[Attribute]) -> TreeSettings:
    """Return how a node tabulates all combinations of words, and learns each cell's belief.

    The table is a tree that takes its inputs in their order, whatever they gain.
    """
    n_cells = prod(attribute.n_focal_sets for attribute in inputs)
    if n_cells > MAX_CMAC_CELLS:
        raise TooManyCombinationsError(
            f"node {name!r} has {len(inputs)} inputs whose words make {n_cells:,} "
            f"combinations, and a CMAC tabulates at most {MAX_CMAC_CELLS:,}; make the clusters "
            "smaller, use fewer words, or use node='tree' there"
        )
    return TreeSettings(
        criterion="in_order",
        purity=np.inf,
        min_gain=None,
        leaves=LeafSettings("refitted"),
    )


def _train_others(
    nodes: Sequence[HierarchyNode],
    rows: MemoryRows,
    kinds: Mapping[str, Any],
    choices: Mapping[str, Choice],
) -> list[NodeModel]:
    """Train the nodes that are rule models or other classifiers."""
    if not nodes:
        return []

    def train(node: HierarchyNode) -> NodeModel:
        if kinds[node.name] == "rules":
            return train_rule_node(node, rows, choices.get(node.name))
        return _train_estimator(node, rows, kinds)

    with ThreadPoolExecutor(min(len(nodes), rows.n_threads)) as pool:
        return list(pool.map(train, nodes))


def _train_estimator(
    node: HierarchyNode, rows: MemoryRows, kinds: Mapping[str, Any]
) -> EstimatorNode:
    described = {attribute.name: attribute for attribute in rows.attributes}
    inputs, goal = node_inputs(node, described, rows, None), rows.goal
    means = reading_means(inputs, rows.table, goal.weights)
    features = estimator_features(inputs, rows.table, rows.outputs, means)
    used = goal.weights > 0
    weights = goal.weights[used] * goal.weight_unit
    estimator = kinds[node.name].fit(features[used], goal.codes[used], weights)
    return EstimatorNode(node.name, inputs, estimator, means, goal.goal.size)


def share_rules(growth: TreeSettings, hierarchy: Hierarchy) -> TreeSettings:
    """Divide the rules that a model may have among its trees, one each at the least."""
    if growth.max_rules is None:
        return growth
    return replace(growth, max_rules=max(1, growth.max_rules // len(hierarchy.nodes)))
