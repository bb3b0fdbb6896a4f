"""Finished computations, kept as files in a results folder; the missing ones computed in parallel.

The accuracy benchmark uses it too, for cells of its own.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from joblib import Parallel, delayed

import solah
from reproduction.data import fingerprint
from solah.atomic import write_whole
from solah.datasets.loading import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from solah.progress import Advance

Figures = dict[str, Any]


class Cacheable(Protocol):
    """What a computation must have to be cached."""

    @property
    def name(self) -> str:
        """The name of its file."""

    @property
    def data(self) -> str:
        """The data it reads, by a name that :func:`reproduction.data.entry_of` takes."""

    @property
    def settings(self) -> dict[str, Any]:
        """Everything else its figures depend on, as plain values."""


C = TypeVar("C", bound=Cacheable)


@dataclass(frozen=True)
class ResultCache:
    """A folder with one file for each finished cell.

    A file also holds the cell's settings, the version of solah and a fingerprint of the data. A
    cell is computed again when any of them has changed, or when its file cannot be read.
    """

    folder: Path

    def store(self, cell: Cacheable, figures: Figures) -> None:
        """Write the figures of a cell."""
        content = {**_key(cell), "figures": figures}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self._file(cell), f"{text}\n")

    def find(self, cell: Cacheable) -> Figures | None:
        """Return the figures of a cell, or None if it has to be computed."""
        try:
            content = json.loads(self._file(cell).read_text(encoding="utf-8"))
            figures = content.pop("figures")
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            return None
        is_current = isinstance(figures, dict) and content == _key(cell)
        return figures if is_current else None

    def run(
        self,
        cells: Iterable[C],
        compute: Callable[[C], Figures],
        n_jobs: int | None,
        advance: Advance,
    ) -> dict[C, Figures]:
        """Return the figures of all cells, computing those that are not stored yet.

        Parameters
        ----------
        cells : iterable
        compute : callable
            Called with a cell, in another process. Figures with a ``"failure"`` (the reason) are
            returned but not stored.
        n_jobs : int or None
            How many processes; None leaves it to joblib.
        advance : callable
            Called with the number of cells that were found, then after each that was computed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        stored = {cell: self.find(cell) for cell in cells}
        results = {cell: figures for cell, figures in stored.items() if figures is not None}
        advance(len(results))
        work = (
            delayed(_compute)(cell, compute, self, os.environ.get(VARIABLE))
            for cell in stored
            if cell not in results
        )
        for cell, figures in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
            results[cell] = figures
            advance(1, cell.name)
        return results

    def _file(self, cell: Cacheable) -> Path:
        return self.folder / f"{cell.name}.json"


def _compute(
    cell: C, compute: Callable[[C], Figures], cache: ResultCache, data_folder: str | None
) -> tuple[C, Figures]:
    """Compute a cell and store it at once, so that an interrupt loses nothing that is finished."""
    if data_folder is not None:  # a process that joblib reuses may have been started with another
        os.environ[VARIABLE] = data_folder
    figures = compute(cell)
    if "failure" not in figures:
        cache.store(cell, figures)
    return cell, figures


def _key(cell: Cacheable) -> dict[str, Any]:
    """Return what stored figures must match, as it comes back from a file."""
    content = {
        "solah": solah.__version__,
        "data": fingerprint(cell.data),
        "cell": cell.settings,
    }
    key: dict[str, Any] = json.loads(json.dumps(content))
    return key
