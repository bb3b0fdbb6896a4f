"""Evaluates the nodes of a model on rows, from bottom to top.

What goes up from a node is its evidence, if it feeds a fusion, else its belief. Below a fusion, it
also goes up how much of the evidence is unknown (:class:`Unknown`). With U the trees of a row that
are unknown, v the variance of a tree's evidence, s the share of sqrt(v) in that of all trees, and E
the sum of the evidence, a fusion that no other adds up believes::

    k      = 1 / sqrt(1 + pi/8 * sum of v over U)
    scores = log prior + k * ((bias - log prior) * (1 - sum of s over U) + E)
    belief = softmax(scores)

so that nothing known gives the shares of the classes, and everything known gives bias + E.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.kernels.arrays import Readings
from solah.kernels.choose import kernel, map_slices
from solah.kernels.reference import softmax
from solah.model.document import Fusion, Tree
from solah.model.encode import Coded, code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Node

_BLOCK_ROWS = 16_384
_LEAST_KNOWN = 1e-9


class Unknown(NamedTuple):
    """How much of the evidence of a node's trees is unknown.

    Attributes
    ----------
    share : (n_rows,) the shares of the unknown trees in the spread of all evidence, added up
    variance : (n_rows,) the variances of their evidence, added up
    """

    share: Float
    variance: Float

    @property
    def known(self) -> Float:
        """The share of what is known, which is 0 if nothing is: shares add up to 1 but for bits."""
        known = 1.0 - self.share
        return np.asarray(np.where(known < _LEAST_KNOWN, 0.0, known))


def all_beliefs(model: Model, table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate a model; return the beliefs of its nodes by name."""
    return beliefs_of(model, all_signals(model, table, n_threads))


def beliefs_of(model: Model, signals: Mapping[str, Float]) -> dict[str, Float]:
    """Return the beliefs of a model's nodes, given what goes up from each."""
    evaluate = NodeEvaluator(model)
    return {name: evaluate.belief(name, signals[name]) for name in evaluate.nodes}


def root_beliefs(model: Model, table: Table, n_threads: int = 1) -> Float:
    """Evaluate a model; return the beliefs of the node that decides."""
    return all_signals(model, table, n_threads)[model.root.name]


def all_signals(model: Model, table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate a model; return what goes up from each node: evidence to a fusion, else beliefs."""
    return signals_of(model, code(table, measured_by(model.nodes)), n_threads)


def measured_by(nodes: Iterable[Node]) -> list[Attribute]:
    """List the inputs of nodes that are measured, not believed by other nodes; each once."""
    nodes = list(nodes)
    names = {node.name for node in nodes}
    trees = (node for node in nodes if isinstance(node, Tree))
    inputs = (one for tree in trees for one in tree.inputs if one.origin not in names)
    return list({one.name: one for one in inputs}.values())


def signals_of(model: Model, rows: Coded, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate a model on coded rows; return what goes up from each node."""
    evaluate = NodeEvaluator(model)
    signals: dict[str, Float] = {}
    unknown: dict[str, Unknown] = {}
    for node in model.nodes:
        signals[node.name] = evaluate.signal(node, rows, signals, unknown, n_threads)
        if (of_node := evaluate.unknown(node, rows, unknown)) is not None:
            unknown[node.name] = of_node
    return signals


def unknown_of(model: Model, rows: Coded) -> dict[str, Unknown]:
    """Return, for fusions and the nodes below them, how much of their evidence is unknown."""
    evaluate = NodeEvaluator(model)
    unknown: dict[str, Unknown] = {}
    for node in model.nodes:
        if (of_node := evaluate.unknown(node, rows, unknown)) is not None:
            unknown[node.name] = of_node
    return unknown


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


class NodeEvaluator:
    """Evaluates the nodes of a model one by one.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model) -> None:
        self.nodes = {node.name: node for node in model.nodes}
        self.fusion_inputs = fusion_inputs(model.nodes)
        self.shares = evidence_shares(model.nodes)
        self._fusions = deciding_fusions(model.nodes)
        self._is_number = model.goal.is_additive_number
        self._log_prior = model.goal.log_prior

    def signal(
        self,
        node: Node,
        rows: Coded,
        below: Mapping[str, Float],
        unknown: Mapping[str, Unknown],
        n_threads: int = 1,
    ) -> Float:
        """Evaluate one node; return what goes up from it.

        Parameters
        ----------
        node : Node
        rows : Coded
            Has the columns of the node's inputs that are measured.
        below : mapping of node name to ndarray of shape (n_rows, n_goals)
            What goes up from the nodes that feed it.
        unknown : mapping of node name to Unknown
            How much of their evidence is unknown; nothing, of a node that is not in it.
        n_threads : int, default=1
        """
        if isinstance(node, Fusion):
            evidence = added_up(node, below)
            if node.name in self.fusion_inputs:
                return evidence
            return self.fused(node, evidence, self.unknown(node, rows, unknown))
        if node.name in self.fusion_inputs:
            return _evidence_average(node, rows, below, n_threads)
        return _belief_average(node, rows, below, n_threads)

    def unknown(self, node: Node, rows: Coded, below: Mapping[str, Unknown]) -> Unknown | None:
        """Return how much of a node's evidence is unknown, given that of the nodes below.

        None for a tree that no fusion adds up.
        """
        if isinstance(node, Fusion):
            parts = [below[name] for name in node.origins if name in below]
            share, variance = np.zeros((2, rows.n_rows))
            for part in parts:
                share, variance = share + part.share, variance + part.variance
            return Unknown(share, variance)
        if node.name not in self.fusion_inputs:
            return None
        lost = _is_unknown(node, rows)
        share = np.where(lost, self.shares[node.name], 0.0)
        return Unknown(share, np.where(lost, node.variance, 0.0))

    def scores(self, fusion: Fusion, evidence: Float, unknown: Unknown | None) -> Float:
        """Return the scores of the classes ``(n_rows, n_goals)``; of a number, the estimates."""
        bias = np.array(fusion.bias)
        scores: Float = evidence + bias
        if self._is_number or unknown is None or not (partly := unknown.variance > 0).any():
            return scores
        known = (1.0 - unknown.share[partly])[:, None]
        scale = damping(unknown.variance[partly])[:, None]
        start = self._log_prior
        scores[partly] = start + scale * ((bias - start) * known + evidence[partly])
        return scores

    def fused(self, fusion: Fusion, evidence: Float, unknown: Unknown | None) -> Float:
        """Return what a fusion that no other adds up believes; of a number, the estimates."""
        scores = self.scores(fusion, evidence, unknown)
        return scores if self._is_number else softmax(scores)

    def belief(self, name: str, signal: Float) -> Float:
        """Return what a node would believe by itself, given what goes up from it.

        That of an input of a fusion is the shares of the classes, moved by its evidence; of a
        number, the mean of all rows, so moved.
        """
        if name not in self.fusion_inputs:
            return signal
        if self._is_number:
            return np.asarray(signal + np.array(self._fusions[name].bias))
        return softmax(self._log_prior + signal)


def damping(variance: Float) -> Float:
    """Return how much is left of evidence (k) beside unknown evidence of this variance."""
    return np.asarray(1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance))


def added_up(fusion: Fusion, evidence: Mapping[str, Float]) -> Float:
    """Add up the evidence of the nodes below a fusion."""
    total = np.zeros_like(evidence[fusion.origins[0]])
    for name in fusion.origins:
        total += evidence[name]
    return total


def _is_unknown(tree: Tree, rows: Coded) -> NDArray[np.bool_]:
    """Tell of which rows a tree below a fusion does not know all readings."""
    lost = np.zeros(rows.n_rows, dtype=bool)
    if tree.missing is None:
        for attribute in tree.inputs:
            if attribute.tree is None and attribute.name in rows.columns:
                lost |= np.isnan(rows.columns[attribute.name])
    return lost


def _evidence_average(
    tree: Tree, rows: Coded, outputs: Mapping[str, Float], n_threads: int
) -> Float:
    evidence = leaf_average(tree, tree.evidence, rows, outputs, n_threads)
    if tree.missing is not None:
        evidence[np.isnan(rows.columns[tree.inputs[0].name])] = tree.missing.scores
    return evidence


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
