"""Compute the correlations of all pairs of columns, tile by tile to bound memory.

Only what a tile's columns remember is held beside codes and matrix; it goes when the tile is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from solah.dependence.sums import PairSums
from solah.dependence.threads import map_threads
from solah.dependence.tiles import tile_width, tiles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.dependence.checkpoint import Checkpoint
    from solah.dependence.tiles import Tile
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded

Progress: TypeAlias = "Callable[[int, int], object]"


@dataclass(frozen=True, eq=False)
class MatrixWork:
    """The correlations of all pairs of columns, as work to be done.

    Attributes
    ----------
    columns : the columns
    weights : (n_rows,) the rows' weights; None for ones
    correlate : makes correlations, ``(n_pairs,)``, of sums, ``(n_pairs, 9)``
    n_threads : how many threads compute
    """

    columns: Sequence[Coded]
    weights: Int64 | None
    correlate: Callable[[Float], Float]
    n_threads: int = 1

    def run(
        self, checkpoint: Checkpoint | None = None, on_progress: Progress | None = None
    ) -> Float:
        """Compute the matrix, ones on its diagonal; take what the checkpoint has, keep the rest."""
        tiles = tiles_of(len(self.columns), tile_width(self._n_rows))
        count = _Count(sum(tile.n_pairs for tile in tiles), on_progress)
        matrix = np.eye(len(self.columns))
        for tile in tiles:
            values = None if checkpoint is None else checkpoint.load(tile)
            if values is not None:
                count.add(tile.n_pairs)
            else:
                values = self._compute(tile, count)
                if checkpoint is not None:
                    checkpoint.keep(tile, values)
            tile.place(values, matrix)
        return matrix

    @property
    def _n_rows(self) -> int:
        return len(self.columns[0].codes) if self.columns else 0

    def _compute(self, tile: Tile, count: _Count) -> Float:
        # Copies share the codes; what they remember goes with them.
        copies = {at: replace(self.columns[at]) for at in {*tile.rows, *tile.columns}}
        pair_sums = PairSums(copies, self.weights)

        def correlations_of(strip: tuple[int, range]) -> tuple[int, range, Float]:
            first, others = strip
            sums = pair_sums.of(np.full(len(others), first), np.array(others))
            return first, others, self.correlate(sums)

        values = np.zeros(tile.shape)
        for first, others, found in map_threads(correlations_of, tile.strips(), self.n_threads):
            values[first - tile.rows.start, others.start - tile.columns.start :] = found
            count.add(len(others))
        return values


@dataclass
class _Count:
    """Counts pairs that are done, and tells."""

    n_all: int
    on_progress: Progress | None
    n_done: int = 0

    def add(self, n_pairs: int) -> None:
        self.n_done += n_pairs
        if self.on_progress is not None:
            self.on_progress(self.n_done, self.n_all)
