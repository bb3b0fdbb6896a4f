"""Build a valid model from trees whose branches were joined.

Joined branches have the mean scores of their leaves, and the variance of a tree shrinks as that of
its leaves does. A tree that is a single leaf goes into the bias of its fusion, with what it says of
missing readings; nodes and attributes that nothing asks any more are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import fusion_inputs, to_begin_with
from solah.model.document import Fusion, Tree
from solah.model.joining import weighted_variance, with_leaves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Node
    from solah.model.joining import JoinedTree


def reassemble(model: Model, joined: Sequence[JoinedTree]) -> Model:
    """Put a model together again from what is left of its trees.

    Parameters
    ----------
    model : Model
    joined : sequence of JoinedTree
        One a tree, in the order of ``model.trees``.

    Returns
    -------
    model : Model
    """
    return _Assembly(model, joined).model()


def joined_means(tree: Tree, joined: JoinedTree, scores: Float) -> Float:
    """Average the scores of the leaves that are one branch now, by their support.

    Parameters
    ----------
    tree : Tree
    joined : JoinedTree
    scores : ndarray of shape (n_nodes, n_goals)
        The scores of each node; where none of its leaves has support, they stay.

    Returns
    -------
    means : ndarray of shape (n_nodes_left, n_goals)
    """
    leaves = tree.leaves[tree.support[tree.leaves] > 0]
    homes, support = joined.homes[leaves], tree.support[leaves, None]
    means = scores[joined.kept].copy()
    # Differences are averaged, so that leaves which are alike stay so to the last bit.
    filled, firsts = np.unique(homes, return_index=True)
    means[filled] = scores[leaves[firsts]]
    weight, moved = np.zeros((len(means), 1)), np.zeros_like(means)
    np.add.at(weight, homes, support)
    np.add.at(moved, homes, (scores[leaves] - means[homes]) * support)
    means[filled] += moved[filled] / weight[filled]
    return means


def joined_variance(tree: Tree, joined: JoinedTree, scores: Float) -> float:
    """Return the variance of evidence that is left: as much less as the scores of leaves vary less.

    Parameters
    ----------
    tree : Tree
    joined : JoinedTree
    scores : ndarray of shape (n_nodes_left, n_goals)
    """
    leaves = tree.leaves
    weights = tree.support[leaves]
    assert tree.scores is not None
    before = weighted_variance(tree.scores[leaves], weights)
    after = weighted_variance(scores[joined.homes[leaves]], weights)
    return tree.variance * min(after / before, 1.0) if before > 0 else tree.variance


def with_missing(tree: Tree, scores: Float) -> Float:
    """Average the scores of a tree that became a leaf with those of missing readings."""
    if tree.missing is None:
        return scores
    known, missing = float(tree.support[tree.leaves].sum()), tree.missing.support
    if not known + missing > 0:
        return scores
    total = known * scores + missing * np.array(tree.missing.scores)
    return np.asarray(total / (known + missing))


@dataclass(frozen=True, eq=False)
class _Part:
    """A node as it is from now on.

    Attributes
    ----------
    node : the node
    constant : the evidence that it gave on every row, which goes up to where belief is made
    is_constant : whether it gives its fusion no other evidence
    """

    node: Node
    constant: Float
    is_constant: bool = False


class _Assembly:
    def __init__(self, model: Model, joined: Sequence[JoinedTree]) -> None:
        self._model = model
        self._weighed_nodes = fusion_inputs(model.nodes)
        self._joined = {tree.name: one for tree, one in zip(model.trees, joined, strict=True)}
        self._before = {node.name: node for node in model.nodes}
        self._parts: dict[str, _Part] = {}

    def model(self) -> Model:
        for node in self._model.nodes:
            part = self._fusion(node) if isinstance(node, Fusion) else self._tree(node)
            self._parts[node.name] = part
        nodes = _asked_for([part.node for part in self._parts.values()])
        asked = {name for node in nodes for name in node.origins}
        attributes = tuple(one for one in self._model.attributes if one.name in asked)
        names = [one.name for one in attributes]
        return replace(
            self._model,
            attributes=attributes,
            nodes=nodes,
            signals=self._model.signals and self._model.signals.only(names),
            domain=self._model.domain and self._model.domain.only(names),
        )

    def _tree(self, tree: Tree) -> _Part:
        joined, nothing = self._joined[tree.name], np.zeros(tree.belief.shape[1])
        belief = joined_means(tree, joined, tree.belief)
        if tree.scores is None:
            return _Part(self._with_asked(with_leaves(tree, joined, belief)), nothing)
        scores = joined_means(tree, joined, tree.scores)
        if joined.split[0] >= 0 or (tree.missing is not None and tree.split[0] < 0):
            left = self._with_asked(with_leaves(tree, joined, belief, scores))
            return _Part(replace(left, variance=joined_variance(tree, joined, scores)), nothing)
        left = self._with_asked(with_leaves(tree, joined, belief, np.zeros_like(scores)))
        constant = with_missing(tree, scores[0])
        return _Part(replace(left, variance=0.0, missing=None), constant, is_constant=True)

    def _with_asked(self, tree: Tree) -> Tree:
        """Leave out the inputs that no node asks; one must stay."""
        asked = np.unique(tree.split[tree.split >= 0])
        if not len(asked):
            return replace(tree, inputs=(self._first_attribute(tree),))
        split = np.where(tree.split < 0, -1, np.searchsorted(asked, tree.split))
        inputs = tuple(self._renewed(tree.inputs[place]) for place in asked.tolist())
        return replace(tree, inputs=inputs, split=split.astype(np.int32))

    def _first_attribute(self, tree: Tree) -> Attribute:
        """Find what is measured first below a tree."""
        node: Node = tree
        while isinstance(node, Fusion) or node.inputs[0].origin in self._before:
            node = self._before[node.origins[0]]
        return node.inputs[0]

    def _renewed(self, attribute: Attribute) -> Attribute:
        """Let an unknown belief be what the node below begins with from now on."""
        if attribute.tree is not None or attribute.name not in self._parts:
            return attribute
        return replace(attribute, ignorance=to_begin_with(self._parts[attribute.name].node))

    def _fusion(self, fusion: Fusion) -> _Part:
        """Leave out constant inputs; their evidence goes up."""
        constant = np.sum([self._parts[name].constant for name in fusion.origins], axis=0)
        varying = tuple(name for name in fusion.origins if not self._parts[name].is_constant)
        names = varying or (self._first_tree(fusion),)
        if fusion.name in self._weighed_nodes:
            return _Part(Fusion(fusion.name, names), constant, not varying)
        bias = tuple((np.array(fusion.bias) + constant).tolist())
        return _Part(Fusion(fusion.name, names, bias), np.zeros(len(bias)))

    def _first_tree(self, fusion: Fusion) -> str:
        """Name a constant tree for a fusion that has no other input, since it must have one."""
        node: Node = fusion
        while isinstance(node, Fusion):
            node = self._before[node.origins[0]]
        return node.name


def _asked_for(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Keep the last node and those that feed it, through others or not."""
    asked = {nodes[-1].name}
    kept: list[Node] = []
    for node in reversed(nodes):
        if node.name in asked:
            kept.append(node)
            asked.update(node.origins)
    return tuple(reversed(kept))
