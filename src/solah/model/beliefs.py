"""What goes up from the nodes of a model, by their names: a view of its program.

A node whose scores another one adds up passes on the sum of its weights; any other passes on its
output. :mod:`solah.model.evaluate` evaluates both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings
from solah.kernels.choose import kernel, map_slices
from solah.kernels.reference import softmax
from solah.model.document import Fusion, Tree
from solah.model.encode import Coded, code
from solah.model.evaluate import trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Node
    from solah.model.program import Program

_BLOCK_ROWS = 16_384


def measured_by(nodes: Iterable[Node]) -> list[Attribute]:
    """List the inputs of nodes that are measured, not believed by other nodes; each once."""
    nodes = list(nodes)
    names = {node.name for node in nodes}
    trees = (node for node in nodes if isinstance(node, Tree))
    inputs = (one for tree in trees for one in tree.inputs if one.origin not in names)
    return list({one.name: one for one in inputs}.values())


def signals_of(model: Model, rows: Coded) -> dict[str, Float]:
    """Evaluate a model on coded rows; return what goes up from each node."""
    program = model.program
    signals: dict[str, Float] = {}
    for stage, steps in zip(program.stages, trace(program, _matrix(program, rows)), strict=True):
        for name, part in zip(stage.part_names, steps.parts, strict=True):
            signals[name] = part.weights
        signals[stage.name] = steps.outputs
    return {node.name: signals[node.name] for node in model.nodes}


def _matrix(program: Program, rows: Coded) -> Float:
    """Put coded columns into a matrix of all features; those that are not there are missing."""
    readings = np.full((rows.n_rows, len(program.features)), np.nan)
    for j, name in enumerate(program.features):
        if name in rows.columns:
            readings[:, j] = rows.columns[name]
    return readings


def fusion_inputs(nodes: Iterable[Node]) -> frozenset[str]:
    """Return the names of the nodes whose evidence a fusion adds up."""
    return frozenset(name for node in nodes if isinstance(node, Fusion) for name in node.origins)


def deciding_fusions(nodes: Sequence[Node]) -> dict[str, Fusion]:
    """Return, for fusions and the nodes below them, the fusion that makes beliefs of evidence."""
    fusions: dict[str, Fusion] = {}
    for node in reversed(nodes):
        if isinstance(node, Fusion):
            fusions[node.name] = top = fusions.get(node.name, node)
            fusions |= dict.fromkeys(node.origins, top)
    return fusions


def evidence_shares(nodes: Sequence[Node]) -> dict[str, float]:
    """Return the share of each tree below a fusion in the spread of all evidence; they sum to 1.

    All are 0 where no tree has a variance.
    """
    fusions = deciding_fusions(nodes)
    trees = [node for node in nodes if isinstance(node, Tree) and node.name in fusions]
    spreads: dict[str, list[float]] = {}
    for tree in trees:
        spreads.setdefault(fusions[tree.name].name, []).append(math.sqrt(tree.variance))
    totals = {name: math.fsum(of_fusion) for name, of_fusion in spreads.items()}
    return {
        tree.name: math.sqrt(tree.variance) / totals[fusions[tree.name].name]
        if tree.variance
        else 0.0
        for tree in trees
    }


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


def to_begin_with(node: Node) -> tuple[float, ...]:
    """Return what a node believes of a row of which nothing is known; a group, nothing."""
    if isinstance(node, Tree):
        return tuple(node.belief[0].tolist())
    return tuple(softmax(np.array([node.bias]))[0].tolist()) if node.bias else ()
