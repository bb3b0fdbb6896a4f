"""Nodes and a table in, what each node believes of each row out, from bottom to top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings
from solah.kernels.choose import kernel, map_slices
from solah.kernels.reference import softmax
from solah.model.document import Fusion
from solah.model.encode import encode_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Node, Tree

_BLOCK_ROWS = 16_384


def all_beliefs(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate nodes, each fed by those before it; return their beliefs by name."""
    return beliefs_of(nodes, all_signals(nodes, table, n_threads))


def beliefs_of(nodes: Sequence[Node], signals: Mapping[str, Float]) -> dict[str, Float]:
    """Return the beliefs of nodes, given what goes up from each."""
    heard = heard_by_fusions(nodes)
    return {
        node.name: alone(node, signals[node.name]) if node.name in heard else signals[node.name]
        for node in nodes
    }


def root_beliefs(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> Float:
    """Evaluate nodes, each fed by those before it; return the last one's beliefs."""
    return all_signals(nodes, table, n_threads)[nodes[-1].name]


def all_signals(nodes: Sequence[Node], table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate nodes; return what goes up from each: evidence to a fusion, beliefs to a tree."""
    heard = heard_by_fusions(nodes)
    signals: dict[str, Float] = {}
    for node in nodes:
        if isinstance(node, Fusion):
            evidence = weighed(node, signals)
            is_heard = node.name in heard
            signals[node.name] = evidence if is_heard else softmax(evidence + np.array(node.bias))
        elif node.name in heard:
            signals[node.name] = leaf_average(node, node.evidence, table, signals, n_threads)
        else:
            signals[node.name] = tree_beliefs(node, table, signals, n_threads)
    return signals


def heard_by_fusions(nodes: Iterable[Node]) -> frozenset[str]:
    """Name the nodes that speak to a fusion."""
    return frozenset(name for node in nodes if isinstance(node, Fusion) for name in node.origins)


def weighed(fusion: Fusion, evidence: Mapping[str, Float]) -> Float:
    """Add up the evidence of the nodes below a fusion, each with its weight."""
    total = np.zeros_like(evidence[fusion.origins[0]])
    for name, weight in zip(fusion.origins, fusion.weights, strict=True):
        total += weight * evidence[name]
    return total


def alone(node: Node, evidence: Float) -> Float:
    """Return what a node that speaks to a fusion would believe if nobody else spoke."""
    if isinstance(node, Fusion):
        return softmax(evidence + np.array(node.bias))
    return softmax(evidence + np.log(np.maximum(node.belief[0], 1e-300)))


def tree_beliefs(
    tree: Tree, table: Table, outputs: Mapping[str, Float], n_threads: int = 1
) -> Float:
    """Evaluate one tree by Jeffrey's rule, given the beliefs of the trees below it."""
    beliefs = leaf_average(tree, tree.belief, table, outputs, n_threads)
    # A sum of shares may round to a bit more than one.
    return np.minimum(beliefs, 1.0, out=beliefs)


def leaf_average(
    tree: Tree, leaves: Float, table: Table, outputs: Mapping[str, Float], n_threads: int = 1
) -> Float:
    """Average what a tree's leaves say over the branches that rows take.

    Parameters
    ----------
    tree : Tree
    leaves : ndarray of shape (n_nodes, n_goals)
        What each node of the tree says, such as its belief.
    table : Table
        Has the columns of the tree's inputs that are attributes.
    outputs : mapping of node name to beliefs
        The beliefs ``(n_rows, n_goals)`` of the inputs that are nodes.
    n_threads : int, default=1

    Returns
    -------
    averages : ndarray of shape (n_rows, n_goals)
    """
    predict = kernel().predict
    averages = np.empty((table.n_rows, leaves.shape[1]))

    def evaluate(part: slice) -> None:
        for start in range(part.start, part.stop, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, part.stop))
            rows = read_inputs(tree, table, outputs, block)
            predict(rows, tree.sets, tree.shape, leaves, averages[block])

    map_slices(evaluate, table.n_rows, n_threads)
    return averages


def read_inputs(tree: Tree, table: Table, outputs: Mapping[str, Float], block: slice) -> Readings:
    """Gather a tree's inputs for some rows: columns of the table, and beliefs below."""
    rows = table.rows(block.start, block.stop)
    values = np.zeros((rows.n_rows, len(tree.inputs)))
    offsets = np.full(len(tree.inputs), -1, dtype=np.int32)
    given: list[Float] = []
    for j, attribute in enumerate(tree.inputs):
        if attribute.tree is not None:
            values[:, j] = outputs[attribute.tree][block, attribute.place]
        elif attribute.name in outputs:
            offsets[j] = sum(part.shape[1] for part in given)
            given.append(outputs[attribute.name][block])
        else:
            values[:, j] = encode_column(rows, attribute)
    beside = np.ascontiguousarray(np.hstack(given)) if given else np.empty((rows.n_rows, 0))
    return Readings(values, beside, offsets)
