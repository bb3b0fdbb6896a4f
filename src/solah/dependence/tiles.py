"""Split the pairs of columns into square tiles on and above the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.kernels.arrays import Float

# Wide enough that keeping a tile takes no time beside computing it.
_LARGEST_WIDTH = 128
_SMALLEST_WIDTH = 16
# What may be remembered of all the columns of a tile, and of one row of one column: its code and
# its place in the order, and the level's value and sum of distances.
_BYTES_A_TILE = 2**28
_BYTES_A_CELL = 4 + 4 + 8 + 8


@dataclass(frozen=True)
class Tile:
    """A square of the matrix of all pairs of columns, of which only the upper half is looked at.

    Attributes
    ----------
    rows, columns : the numbers of the columns that are paired
    """

    rows: range
    columns: range

    @property
    def name(self) -> str:
        """The name that the tile is kept under."""
        return f"tile-{self.rows.start:06}-{self.columns.start:06}"

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self.rows), len(self.columns)

    @property
    def n_pairs(self) -> int:
        """How many pairs lie above the diagonal."""
        return sum(len(others) for _, others in self.strips())

    def strips(self) -> Iterator[tuple[int, range]]:
        """Yield a column, and the later ones that it is paired with, by rows."""
        for first in self.rows:
            others = range(max(first + 1, self.columns.start), self.columns.stop)
            if others:
                yield first, others

    def place(self, values: Float, matrix: Float) -> None:
        """Put the tile's values, zero below the diagonal, into both halves of a matrix."""
        rows, columns = _slice(self.rows), _slice(self.columns)
        matrix[rows, columns] += values
        matrix[columns, rows] += values.T


def tiles_of(n_columns: int, width: int) -> list[Tile]:
    """Cut the pairs of columns into tiles, row by row.

    Examples
    --------
    >>> [tile.shape for tile in tiles_of(5, 2)], sum(tile.n_pairs for tile in tiles_of(5, 2))
    ([(2, 2), (2, 2), (2, 1), (2, 2), (2, 1)], 10)
    """
    blocks = [range(at, min(at + width, n_columns)) for at in range(0, n_columns, width)]
    tiles = (Tile(rows, columns) for at, rows in enumerate(blocks) for columns in blocks[at:])
    return [tile for tile in tiles if tile.n_pairs]


def tile_width(n_rows: int) -> int:
    """Return how many columns a tile is wide, so that what it remembers stays small."""
    fitting = _BYTES_A_TILE // (2 * _BYTES_A_CELL * max(n_rows, 1))
    return min(max(fitting, _SMALLEST_WIDTH), _LARGEST_WIDTH)


def _slice(numbers: range) -> slice:
    return slice(numbers.start, numbers.stop)
