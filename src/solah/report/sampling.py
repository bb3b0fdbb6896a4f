"""Chooses some of many rows, always the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread_evenly(n_rows: int, most: int) -> NDArray[np.intp]:
    """Choose rows that stand evenly apart, the first and the last among them."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))
