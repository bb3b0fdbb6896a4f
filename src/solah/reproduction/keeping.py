"""A results folder in, the cells that are done out; a finished cell is kept at once and whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import solah
from solah.atomic import write_whole
from solah.reproduction.material import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from solah.reproduction.cells import Cell, Figures


@dataclass(frozen=True)
class Shelf:
    """A folder with a file for each cell that is done.

    A file also holds the cell's settings, the version of solah and a fingerprint of the data: a
    cell is computed again when they are no longer the same, and when its file cannot be read.
    """

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Shelf:
        """Make the folder, so that it does not fail when the first cell is done."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder)

    def put(self, cell: Cell, figures: Figures) -> None:
        """Keep the figures of a cell."""
        content = {**_stamp(cell), "figures": figures}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self._file(cell), f"{text}\n")

    def find(self, cell: Cell) -> Figures | None:
        """Return the figures of a cell, or None if it has to be computed."""
        try:
            content = json.loads(self._file(cell).read_text(encoding="utf-8"))
            figures = content.pop("figures")
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            return None
        is_current = isinstance(figures, dict) and content == _stamp(cell)
        return figures if is_current else None

    def _file(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.json"


def _stamp(cell: Cell) -> dict[str, Any]:
    """Return what makes figures belong to a cell, as it comes back from a file."""
    content = {
        "solah": solah.__version__,
        "data": fingerprint(cell.data),
        "cell": cell.settings,
    }
    stamp: dict[str, Any] = json.loads(json.dumps(content))
    return stamp
