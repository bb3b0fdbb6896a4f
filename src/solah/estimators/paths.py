"""Computes the share of each row in each branch of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from solah.kernels.arrays import WEIGHT_ONE
from solah.kernels.choose import kernel

if TYPE_CHECKING:
    from solah.kernels.arrays import Described
    from solah.model import Tree


def branch_shares(tree: Tree, rows: Described) -> csr_array:
    """Return a sparse array ``(n_rows, n_nodes)`` of the shares that end in each leaf."""
    whole = np.full(len(rows), WEIGHT_ONE, dtype=np.int64)
    routes = kernel().route(rows, whole, tree.sets, tree.shape)
    shape = (len(rows), len(tree.split))
    return csr_array((routes.weights / WEIGHT_ONE, routes.leaves, routes.starts), shape=shape)
