"""Trees and a table in, what each tree believes of each row out, from bottom to top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings
from solah.kernels.choose import kernel, map_slices
from solah.model.encode import encode_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Tree

_BLOCK_ROWS = 16_384


def all_beliefs(trees: Iterable[Tree], table: Table, n_threads: int = 1) -> dict[str, Float]:
    """Evaluate trees, each fed by those before it; return their beliefs by name."""
    outputs: dict[str, Float] = {}
    for tree in trees:
        outputs[tree.name] = tree_beliefs(tree, table, outputs, n_threads)
    return outputs


def tree_beliefs(
    tree: Tree, table: Table, outputs: Mapping[str, Float], n_threads: int = 1
) -> Float:
    """Evaluate one tree by Jeffrey's rule, given the beliefs of the trees below it.

    Parameters
    ----------
    tree : Tree
    table : Table
        Has the columns of the tree's inputs that are attributes.
    outputs : mapping of tree name to beliefs
        The beliefs ``(n_rows, n_goals)`` of the inputs that are trees.
    n_threads : int, default=1

    Returns
    -------
    beliefs : ndarray of shape (n_rows, n_goals)
    """
    predict = kernel().predict
    beliefs = np.empty((table.n_rows, tree.belief.shape[1]))

    def evaluate(part: slice) -> None:
        for start in range(part.start, part.stop, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, part.stop))
            rows = read_inputs(tree, table, outputs, block)
            predict(rows, tree.sets, tree.shape, tree.belief, beliefs[block])

    map_slices(evaluate, table.n_rows, n_threads)
    # A sum of shares may round to a bit more than one.
    return np.minimum(beliefs, 1.0, out=beliefs)


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
