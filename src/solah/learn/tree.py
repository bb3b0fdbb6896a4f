"""A linguistic decision tree as learning grows it: a table of nodes, with the root first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import Readings, TreeShape
from solah.kernels.choose import kernel, map_slices
from solah.model.attributes import flatten
from solah.model.document import Branch, TreeNode
from solah.model.encode import code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float, FocalSets
    from solah.model.attributes import Attribute
    from solah.model.encode import Coded

_BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Tree:
    """A linguistic decision tree over some features.

    Attributes
    ----------
    name : the name of the node that it is for
    inputs : the features, in the order of ``split``'s numbers
    split : (n_nodes,) the input that a node splits on; -1 for a leaf
    first_child : (n_nodes,) the child of the input's first focal set; the others follow it
    support : (n_nodes,) the training weight that reached the node
    belief : (n_nodes, n_classes) the distribution of the target
    """

    name: str
    inputs: tuple[Attribute, ...]
    split: NDArray[np.int32]
    first_child: NDArray[np.int32]
    support: Float
    belief: Float

    @cached_property
    def sets(self) -> FocalSets:
        """The inputs' focal sets, for the kernels."""
        return flatten(self.inputs)

    @cached_property
    def shape(self) -> TreeShape:
        """The node table, for the kernels."""
        return TreeShape.of(self.split, self.first_child, self.sets)

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that end a branch."""
        return np.flatnonzero(self.split < 0)

    @cached_property
    def heads(self) -> NDArray[np.intp]:
        """(n_nodes,) the first leaf of the branch that a leaf is joined to; else the node itself.

        Leaves below one node are joined where their beliefs are the same: neighbours, if the focal
        sets have an order, and any others, if they have none.
        """
        heads = np.arange(len(self.split))
        for node in np.flatnonzero(self.split >= 0).tolist():
            is_ordered = self.inputs[self.split[node]].is_ordered
            first_with: dict[bytes, int] = {}
            for child in self.children(node):
                belief = self.belief[child].tobytes()
                if self.split[child] >= 0:
                    first_with = {} if is_ordered else first_with
                    continue
                if is_ordered and belief not in first_with:
                    first_with = {}
                heads[child] = first_with.setdefault(belief, child)
        return heads

    def children(self, node: int) -> range:
        """Return the children of an inner node, in the order of their focal sets."""
        first = int(self.first_child[node])
        return range(first, first + self.inputs[self.split[node]].n_focal_sets)

    def node(self) -> TreeNode:
        """Return the tree as a model has it: by its branches."""
        start = tuple(self.belief[0].tolist())
        return TreeNode(self.name, self.inputs, tuple(self._branches()), start)

    def _branches(self) -> Iterator[Branch]:
        support = np.bincount(self.heads, self.support, len(self.support)).tolist()
        stack: list[tuple[int, tuple[tuple[int, tuple[int, ...]], ...]]] = [(0, ())]
        while stack:
            node, conditions = stack.pop()
            split = int(self.split[node])
            if split < 0:
                yield Branch(conditions, tuple(self.belief[node].tolist()), support[node])
                continue
            sets: dict[int, list[int]] = {}
            for index, child in enumerate(self.children(node)):
                sets.setdefault(int(self.heads[child]), []).append(index)
            below = [(head, (*conditions, (split, tuple(of)))) for head, of in sets.items()]
            stack.extend(reversed(below))

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int = 1) -> Float:
        """Return the belief in each class, by Jeffrey's rule, given those of the nodes below."""
        measured = [one for one in self.inputs if one.origin not in outputs]
        rows, averages = code(table, measured), np.empty((table.n_rows, self.belief.shape[1]))

        def evaluate(part: slice) -> None:
            for start in range(part.start, part.stop, _BLOCK_ROWS):
                block = slice(start, min(start + _BLOCK_ROWS, part.stop))
                inputs = self._read(rows, outputs, block)
                kernel().predict(inputs, self.sets, self.shape, self.belief, averages[block])

        map_slices(evaluate, table.n_rows, n_threads)
        # A sum of shares may round to a bit more than one.
        return np.minimum(averages, 1.0, out=averages)

    def _read(self, rows: Coded, outputs: Mapping[str, Float], block: slice) -> Readings:
        """Gather the inputs of some rows: values, and beliefs below."""
        n_rows = block.stop - block.start
        values = np.zeros((n_rows, len(self.inputs)))
        offsets = np.full(len(self.inputs), -1, dtype=np.int32)
        given: list[Float] = []
        for j, attribute in enumerate(self.inputs):
            if attribute.tree is not None:
                values[:, j] = outputs[attribute.tree][block, attribute.place]
            elif attribute.name in outputs:
                offsets[j] = sum(part.shape[1] for part in given)
                given.append(outputs[attribute.name][block])
            else:
                values[:, j] = rows.columns[attribute.name][block]
        beside = np.ascontiguousarray(np.hstack(given)) if given else np.empty((n_rows, 0))
        return Readings(values, beside, offsets)
