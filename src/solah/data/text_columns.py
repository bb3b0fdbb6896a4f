"""Build columns of numbers or text from the cells of a text file, piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from solah.data.cells import MISSING_WORDS, TextCells
from solah.data.spelling import is_number, parse_numbers
from solah.data.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

Cells: TypeAlias = "Sequence[str] | BulkCells"


class BulkCells(ABC):
    """Cells that become numbers all at once, faster than one by one."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[str]: ...

    @abstractmethod
    def numbers(self, missing: frozenset[str]) -> NDArray[np.float64] | None:
        """Return the cells as numbers, NaN for these words; None where that is not certain."""


class ColumnBuilder:
    """Builds a column piece by piece, as numbers for as long as its cells are."""

    def __init__(self, name: str, missing: frozenset[str], *, is_text: bool = False) -> None:
        self.name = name
        self.failed_late = False
        self._is_text = is_text
        self._missing = MISSING_WORDS | missing
        self._missing_numbers = any(map(is_number, missing))
        self._text = TextCells(missing)
        self._values: NDArray[Any] = np.empty(0)
        self._size = 0

    def add(self, cells: Cells) -> None:
        """Add the cells of one piece."""
        if not self._is_text:
            numbers = self._numbers(cells)
            if numbers is not None:
                self._append(numbers)
                return
            self._is_text = True
            self.failed_late = self._size > 0
        if not self.failed_late:
            self._append(self._text.of(cells))

    def build(self) -> Column:
        """Return the whole column, and keep nothing."""
        values = self._values[: self._size].copy()
        self._values = np.empty(0)
        return Column(self.name, values)

    def _numbers(self, cells: Cells) -> NDArray[np.float64] | None:
        if isinstance(cells, BulkCells):
            found = cells.numbers(self._missing)
            if found is not None:
                return found
            cells = list(cells)
        # Most pieces have no word for missing in them, so they are first read without looking.
        numbers = None if self._missing_numbers else parse_numbers(cells)
        if numbers is not None:
            return numbers
        return parse_numbers([None if cell in self._missing else cell for cell in cells])

    def _append(self, piece: NDArray[Any]) -> None:
        """Copy a piece behind the others: many small arrays would leave a memory full of holes."""
        end = self._size + len(piece)
        if end > len(self._values):
            larger = np.empty(2 * end, dtype=piece.dtype)  # pages that stay unused cost nothing
            larger[: self._size] = self._values[: self._size]
            self._values = larger
        self._values[self._size : end] = piece
        self._size = end
