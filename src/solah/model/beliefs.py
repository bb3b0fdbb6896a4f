"""Evaluates the nodes of a model on rows, from bottom to top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings
from solah.kernels.choose import kernel, map_slices
from solah.kernels.reference import softmax
from solah.model.document import Fusion, Tree
from solah.model.encode import Coded, code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Node

_BLOCK_ROWS = 16_384


def all_beliefs(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate nodes, each fed by those before it; return their beliefs by name."""
    return beliefs_of(nodes, all_signals(nodes, table, n_threads))


def beliefs_of(nodes: Sequence[Node], signals: Mapping[str, Float]) -> dict[str, Float]:
    """Return the beliefs of nodes, given what goes up from each."""
    weighed_nodes = fusion_inputs(nodes)
    return {
        node.name: alone(node, signals[node.name])
        if node.name in weighed_nodes
        else signals[node.name]
        for node in nodes
    }


def root_beliefs(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> Float:
    """Evaluate nodes, each fed by those before it; return the last one's beliefs."""
    return all_signals(nodes, table, n_threads)[nodes[-1].name]


def all_signals(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate nodes; return what goes up from each: evidence to a fusion, beliefs to a tree."""
    return signals_of(nodes, code(table, measured_by(nodes)), n_threads)


def measured_by(nodes: Iterable[Node]) -> list[Attribute]:
    """List the inputs of nodes that are measured, rather than believed by other nodes."""
    nodes = list(nodes)
    names = {node.name for node in nodes}
    trees = (node for node in nodes if isinstance(node, Tree))
    return [one for tree in trees for one in tree.inputs if one.origin not in names]


def signals_of(nodes: Sequence[Node], rows: Coded, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate nodes on coded rows; return what goes up from each."""
    weighed_nodes = fusion_inputs(nodes)
    signals: dict[str, Float] = {}
    for node in nodes:
        signals[node.name] = signal_of(node, rows, signals, node.name in weighed_nodes, n_threads)
    return signals


def signal_of(
    node: Node, rows: Coded, below: Mapping[str, Float], is_weighed: bool, n_threads: int = 1
) -> Float:
    """Evaluate one node, given what goes up from those below; return what goes up from it."""
    if isinstance(node, Fusion):
        evidence = weighed(node, below)
        return evidence if is_weighed else softmax(evidence + np.array(node.bias))
    if is_weighed:
        return leaf_average(node, node.evidence, rows, below, n_threads)
    return _belief_average(node, rows, below, n_threads)


def fusion_inputs(nodes: Iterable[Node]) -> frozenset[str]:
    """Return the names of the nodes whose evidence a fusion adds up."""
    return frozenset(name for node in nodes if isinstance(node, Fusion) for name in node.origins)


def weighed(fusion: Fusion, evidence: Mapping[str, Float]) -> Float:
    """Add up the evidence of the nodes below a fusion, each with its weight."""
    total = np.zeros_like(evidence[fusion.origins[0]])
    for name, weight in zip(fusion.origins, fusion.weights, strict=True):
        total += weight * evidence[name]
    return total


def alone(node: Node, evidence: Float) -> Float:
    """Return what an input of a fusion would believe by itself, from its evidence."""
    if isinstance(node, Fusion):
        return softmax(evidence + np.array(node.bias))
    return softmax(evidence + np.log(np.maximum(node.belief[0], 1e-300)))


def tree_beliefs(
    tree: Tree, table: Table, outputs: Mapping[str, Float], n_threads: int = 1
) -> Float:
    """Evaluate one tree by Jeffrey's rule, given the beliefs of the trees below it."""
    measured = [one for one in tree.inputs if one.origin not in outputs]
    return _belief_average(tree, code(table, measured), outputs, n_threads)


def _belief_average(tree: Tree, rows: Coded, outputs: Mapping[str, Float], n_threads: int) -> Float:
    beliefs = leaf_average(tree, tree.belief, rows, outputs, n_threads)
    # A sum of shares may round to a bit more than one.
    return np.minimum(beliefs, 1.0, out=beliefs)


def leaf_average(
    tree: Tree, leaves: Float, rows: Coded, outputs: Mapping[str, Float], n_threads: int = 1
) -> Float:
    """Average the scores of a tree's leaves over the branches that rows take.

    Parameters
    ----------
    tree : Tree
    leaves : ndarray of shape (n_nodes, n_goals)
        The scores of each node of the tree: beliefs or evidence.
    rows : Coded
        Has the columns of the tree's inputs that are attributes.
    outputs : mapping of node name to beliefs
        The beliefs ``(n_rows, n_goals)`` of the inputs that are nodes.
    n_threads : int, default=1

    Returns
    -------
    averages : ndarray of shape (n_rows, n_goals)
    """
    predict = kernel().predict
    averages = np.empty((rows.n_rows, leaves.shape[1]))

    def evaluate(part: slice) -> None:
        for start in range(part.start, part.stop, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, part.stop))
            inputs = read_inputs(tree, rows, outputs, block)
            predict(inputs, tree.sets, tree.shape, leaves, averages[block])

    map_slices(evaluate, rows.n_rows, n_threads)
    return averages


def read_inputs(tree: Tree, rows: Coded, outputs: Mapping[str, Float], block: slice) -> Readings:
    """Gather a tree's inputs for some rows: measured ones, and beliefs below."""
    n_rows = block.stop - block.start
    values = np.zeros((n_rows, len(tree.inputs)))
    offsets = np.full(len(tree.inputs), -1, dtype=np.int32)
    given: list[Float] = []
    for j, attribute in enumerate(tree.inputs):
        if attribute.tree is not None:
            values[:, j] = outputs[attribute.tree][block, attribute.place]
        elif attribute.name in outputs:
            offsets[j] = sum(part.shape[1] for part in given)
            given.append(outputs[attribute.name][block])
        else:
            values[:, j] = rows.columns[attribute.name][block]
    beside = np.ascontiguousarray(np.hstack(given)) if given else np.empty((n_rows, 0))
    return Readings(values, beside, offsets)
