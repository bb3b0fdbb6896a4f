"""Levels of a hierarchy: nodes are trained bottom-up, each with the target as its target.

What goes up is a node's whole distribution: the node above takes it as masses on the classes,
or describes it with words of belief. With cross-fitting, the node above learns from what nodes
believe of rows that they have not learned from, as it will be in use.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from solah.data import Column, Table
from solah.exceptions import TooManyCombinationsError
from solah.kernels.reference import masses
from solah.labels.describe import describe_by, with_mean_masses
from solah.learn.all_rows import assemble
from solah.learn.growth import ROOT, LeafSettings, TreeSettings, learn_tree
from solah.learn.learning import settle
from solah.learn.lost import with_raised_variances
from solah.learn.recipe import AdditiveRecipe, InteractionSettings, WordSettings
from solah.learn.sample import Sample
from solah.model import AdditiveNode, Model
from solah.model.encode import encode_column
from solah.model.evaluate import predict
from solah.model.features import (
    BELIEF_WORDS,
    belief_feature,
    belief_words,
    cored_feature,
    flatten,
)
from solah.model.structure import fresh_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.kernels.arrays import Float, Int64
    from solah.labels.targets import TargetFacts
    from solah.learn.memory import MemoryRows
    from solah.learn.selection import Choice
    from solah.model import Feature, Node, TermInput
    from solah.model.structure import Hierarchy, HierarchyNode


NODE_KINDS = ("tree", "cmac", "rules")
MAX_CMAC_CELLS = 400_000
_BELIEF_PEAKS = (0.02, 0.1, 0.5, 0.9, 0.98)
"""Where the five words of belief of rule models apply fully: about equally far in log-odds."""
_LEAST_SHARE = 0.01
"""A word of belief that is the closest one for fewer rows is dropped."""


class NodeModel(Protocol):
    """A model at a node."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features and the beliefs that feed the node."""

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the belief in each class, given the beliefs of the nodes below."""


@runtime_checkable
class DocumentNode(NodeModel, Protocol):
    """What a model file can hold: a tree, or a rule model."""

    def node(self) -> Node:
        """Return the node as a model has it."""


@dataclass(frozen=True, eq=False)
class EstimatorNode:
    """Any other classifier at a node.

    It sees numbers as they are (their training mean where they are missing), a column of 0 and 1
    a state (the states' frequencies where it is missing), and beliefs as probabilities.
    """

    name: str
    inputs: tuple[Feature, ...]
    estimator: Any
    means: Mapping[str, float]
    n_classes: int

    @classmethod
    def train(cls, node: HierarchyNode, rows: MemoryRows, kind: Any) -> EstimatorNode:
        """Train a classifier such as any of scikit-learn."""
        described = {feature.name: feature for feature in rows.features}
        inputs, target = node_inputs(node, described, rows, None), rows.target
        used, means = target.weights > 0, {}
        for feature in inputs:
            if feature.name in rows.table.names and not feature.is_coded:
                readings = encode_column(rows.table, feature)
                known = ~np.isnan(readings) & used
                mean = (
                    np.average(readings[known], weights=target.weights[known]) if known.any() else 0
                )
                means[feature.name] = float(mean)
        features = cls(node.name, inputs, None, means, 0)._features(rows.table, rows.outputs)
        weights = target.weights[used] * target.weight_unit
        estimator = kind.fit(features[used], target.codes[used], weights)
        return cls(node.name, inputs, estimator, means, target.target.size)

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the estimator's probabilities, zero for classes it has not seen."""
        beliefs = np.zeros((table.n_rows, self.n_classes))
        found = self.estimator.predict_proba(self._features(table, outputs))
        beliefs[:, self.estimator.classes_] = found
        return beliefs

    def _features(self, table: Table, outputs: Mapping[str, Float]) -> Float:
        """Lay out the inputs as the matrix that a scikit-learn classifier takes."""
        parts = []
        for feature in self.inputs:
            if feature.name in outputs:
                parts.append(outputs[feature.name])
                continue
            readings = encode_column(table, feature).astype(np.float64)
            if feature.is_coded:
                parts.append(masses(readings, flatten([feature]), 0))
            else:
                known = np.where(np.isnan(readings), self.means[feature.name], readings)
                parts.append(known[:, None])
        return np.hstack(parts)


@dataclass(frozen=True)
class _Belief:
    """A column of what a node below believes: its name, the node, and the class by its index."""

    name: str
    node: str
    place: int

    def column(self, outputs: Mapping[str, Float]) -> Column:
        """Return the column, given what nodes below believe."""
        return Column(self.name, np.ascontiguousarray(outputs[self.node][:, self.place]))


@dataclass(frozen=True, eq=False)
class RuleNode:
    """A rule model at a node.

    Attributes
    ----------
    name : the node's name
    model : the rules, with what nodes below believe as columns
    beliefs_below : these columns
    choice : what was chosen on folds
    """

    name: str
    model: Model
    beliefs_below: tuple[_Belief, ...]
    choice: Choice

    @classmethod
    def train(cls, node: HierarchyNode, rows: MemoryRows, choice: Choice | None) -> RuleNode:
        """Learn rules from rows that know what the nodes below believe: of two classes one.

        A choice that was made before is taken as it is.
        """
        states, described = rows.target.target.classes, {one.name: one for one in rows.features}
        measured = [name for name in node.inputs if name not in rows.below]
        places = [len(states) - 1] if len(states) < 3 else range(len(states))
        below = tuple(
            _Belief(fresh_name(f"{name}({states[place]})", rows.names), name, place)
            for name in node.inputs
            if name in rows.below
            for place in places
        )
        columns = [rows.table.column(name) for name in measured]
        columns += [one.column(rows.outputs) for one in below]
        believed = {
            one.name: _belief_feature(one.column(rows.outputs), rows.target.weights)
            for one in below
        }
        # Pairs of many beliefs would take longest, and each of them already has all its inputs.
        together = (frozenset(measured),) if len(states) > 2 else None
        recipe = AdditiveRecipe(
            words=WordSettings(kept=believed), interactions=InteractionSettings(together=together)
        )
        features = [*(described[name] for name in measured), *believed.values()]
        table = Table(tuple(columns), rows.table.n_rows)
        own = describe_by(table, tuple(features), rows.target.weights, rows.n_threads)
        alone = replace(rows, described=own, outputs={}, folds=None, digests=None)
        most_rows = min(recipe.most_rows(len(features)), rows.limits.many_rows)
        sample = Sample.draw(alone, most_rows)
        found = settle(sample, recipe, choice=choice)
        model = with_raised_variances(assemble(found, alone, {}), sample)
        return cls(node.name, model, below, found.choice)

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features and the beliefs that the rules use."""
        return self.node().inputs

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the probability of each class, given those of the nodes below."""
        names = {feature.name for feature in self.model.features}
        measured = names - {one.name for one in self.beliefs_below}
        columns = [table.column(name) for name in sorted(measured)]
        columns += [one.column(outputs) for one in self.beliefs_below if one.name in names]
        return predict(self.model, Table(tuple(columns), table.n_rows), n_threads)

    def node(self) -> AdditiveNode:
        """Return the rules as a model of the whole hierarchy has them: on beliefs, not columns."""
        (node,) = self.model.sums
        below = {one.name: one for one in self.beliefs_below}

        def over_belief(one: TermInput) -> TermInput:
            if (belief := below.get(one.name)) is None:
                return one
            above = replace(one.feature, tree=belief.node, place=belief.place)
            return replace(one, feature=above)

        terms = (replace(term, inputs=tuple(map(over_belief, term.inputs))) for term in node.terms)
        return replace(node, name=self.name, terms=tuple(terms))


def _belief_feature(column: Column, weights: Int64) -> Feature:
    """Describe what a node below believes with those words of belief that rows need."""
    middles = [(low + high) / 2 for low, high in pairwise(_BELIEF_PEAKS)]
    closest = np.searchsorted(middles, column.values)
    counts = np.bincount(closest, weights, len(_BELIEF_PEAKS))
    kept = np.flatnonzero(counts >= max(_LEAST_SHARE * counts.sum(), 1.0))
    if len(kept) < 2:
        kept = np.sort(np.argsort(-counts, kind="stable")[:2])
    peaks = [_BELIEF_PEAKS[one] for one in kept]
    cores = [(-np.inf, peaks[0]), *((peak, peak) for peak in peaks[1:-1]), (peaks[-1], np.inf)]
    words = tuple(BELIEF_WORDS[len(_BELIEF_PEAKS)][one] for one in kept)
    return cored_feature(column.name, words, cores, (1 / len(kept),) * len(kept), 0.0, 1.0)


def train_nodes(
    hierarchy: Hierarchy, rows: MemoryRows, kinds: Mapping[str, Any], growth: TreeSettings
) -> tuple[NodeModel, ...]:
    """Train the nodes of a hierarchy, level by level.

    Parameters
    ----------
    hierarchy : Hierarchy
    rows : MemoryRows
    kinds : mapping of node name to its kind
        ``"tree"``, ``"cmac"``, ``"rules"``, or what fits a classifier to numbers.
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
            rows = rows.above(models, partial(train, choices=choices_of(models)))
    return tuple(trained[node.name] for node in hierarchy.nodes)


def choices_of(models: Sequence[NodeModel]) -> dict[str, Choice]:
    """Return what was chosen for rule models on all rows: their folds then fit weights only."""
    return {one.name: one.choice for one in models if isinstance(one, RuleNode)}


def hierarchy_model(
    facts: TargetFacts, features: Sequence[Feature], trained: Sequence[DocumentNode]
) -> Model:
    """Make a model of trained nodes, without those that no node above uses."""
    nodes: list[Node] = []
    wanted = {trained[-1].name}
    for one in reversed(trained):
        if one.name in wanted:
            nodes.append(one.node())
            wanted.update(nodes[-1].origins)
    described = {feature.name: feature for feature in features if feature.name in wanted}
    for node in nodes:  # rule models have words of their own
        if isinstance(node, AdditiveNode):
            described |= {one.name: one for one in node.inputs if one.tree is None}
    used = tuple(described.values()) or tuple(features[:1])
    target = facts.target
    if any(isinstance(node, AdditiveNode) for node in nodes):
        target = replace(target, shares=facts.prior)
    return Model(target, used, tuple(reversed(nodes)))


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
    described = {feature.name: feature for feature in rows.features}
    inputs = [node_inputs(node, described, rows, words) for node in linguistic]
    if words is not None:
        inputs = _with_mean_beliefs(inputs, rows)
    trained: dict[str, NodeModel] = {}
    for node, of_node in zip(linguistic, inputs, strict=True):
        is_tree = kinds[node.name] == "tree"
        settings = growth if is_tree else _cell_settings(node.name, of_node)
        trained[node.name] = learn_tree(node.name, of_node, settings, rows)
    others = [node for node in nodes if node.name not in trained]
    trained |= {one.name: one for one in _train_others(others, rows, kinds, choices or {})}
    return [trained[node.name] for node in nodes]


def is_linguistic(kind: Any) -> bool:
    """Whether a node of this kind is a tree of words."""
    return isinstance(kind, str) and kind in ("tree", "cmac")


def node_inputs(
    node: HierarchyNode,
    described: Mapping[str, Feature],
    rows: MemoryRows,
    n_belief_words: int | None,
) -> tuple[Feature, ...]:
    """Describe what feeds a node: features, and the beliefs of nodes below.

    Parameters
    ----------
    node : HierarchyNode
    described : the columns, described, by name
    rows : MemoryRows
    n_belief_words : how many words describe a belief; None takes it as masses
    """
    target, prior = rows.facts.target, rows.facts.prior
    inputs: list[Feature] = []
    for name in node.inputs:
        if name not in rows.below:
            inputs.append(described[name])
        elif n_belief_words is None:
            inputs.append(belief_feature(name, target.classes, prior))
        else:
            for words in belief_words(name, target.classes, n_belief_words):
                inputs.append(replace(words, name=fresh_name(words.name, described)))
    return tuple(inputs)


def _with_mean_beliefs(
    inputs: Sequence[tuple[Feature, ...]], rows: MemoryRows
) -> list[tuple[Feature, ...]]:
    """Let an unknown belief be what the training rows believe on average, in one pass."""
    if not any(one.tree is not None for of_node in inputs for one in of_node):
        return list(inputs)
    counts = rows.count(inputs, [ROOT] * len(inputs))
    return [
        tuple(
            one if one.tree is None else mean
            for one, mean in zip(
                of_node, with_mean_masses(of_node, found[0].sum(axis=1)), strict=True
            )
        )
        for of_node, found in zip(inputs, counts, strict=True)
    ]


def _cell_settings(name: str, inputs: Sequence[Feature]) -> TreeSettings:
    """Return how a node tabulates all combinations of words, and learns each cell's belief.

    The table is a tree that takes its inputs in their order, whatever they gain.
    """
    n_cells = prod(feature.n_focal_sets for feature in inputs)
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
            return RuleNode.train(node, rows, choices.get(node.name))
        return EstimatorNode.train(node, rows, kinds[node.name])

    with ThreadPoolExecutor(min(len(nodes), rows.n_threads)) as pool:
        return list(pool.map(train, nodes))


def share_rules(growth: TreeSettings, hierarchy: Hierarchy) -> TreeSettings:
    """Divide the rules that a model may have among its trees, one each at the least."""
    if growth.max_rules is None:
        return growth
    return replace(growth, max_rules=max(1, growth.max_rules // len(hierarchy.nodes)))
