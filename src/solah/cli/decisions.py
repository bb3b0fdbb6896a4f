"""Pieces of a table in, decisions as CSV or JSON lines out."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.cli.problems import split_names
from solah.data import to_text
from solah.model import Task
from solah.runtime import load_model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import IO

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.runtime import Evaluator

PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions on some rows.

    Attributes
    ----------
    kept : columns copied from the data, as text, by the name they have in the output
    prediction : a decision a row
    classes : the classes; none for numbers
    beliefs : (n_rows, n_classes) the belief in each class
    """

    kept: dict[str, list[str | None]]
    prediction: list[Any]
    classes: tuple[Any, ...]
    beliefs: Float


Writer = Callable[[Decisions], None]


class Decider:
    """Decides on pieces of a table with a model.

    Parameters
    ----------
    evaluator : what decides
    keep : the columns to copy; names may be joined by commas
    note : called with what the user should know
    """

    def __init__(
        self, evaluator: Evaluator, keep: Iterable[str], note: Callable[[str], None]
    ) -> None:
        self._evaluator = evaluator
        self._goal = evaluator.model.goal
        self._keep = list(keep)
        self._note = note
        self._output_names: dict[str, str] | None = None

    @classmethod
    def load(
        cls, path: Path, n_threads: int, keep: Iterable[str], note: Callable[[str], None]
    ) -> Decider:
        """Load a model document to decide with."""
        evaluator = load_model(path)
        evaluator.n_threads = n_threads
        return cls(evaluator, keep, note)

    def decide(self, table: Table) -> Decisions:
        """Decide on the rows of a table."""
        if self._output_names is None:
            self._output_names = self._choose_names(split_names(self._keep, table.names))
        kept = {
            output: to_text(table.column(name)).values.tolist()
            for name, output in self._output_names.items()
        }
        if self._goal.task is Task.REGRESSION:
            numbers = self._evaluator.predict(table)
            return Decisions(kept, numbers.tolist(), (), np.empty((len(numbers), 0)))
        beliefs = self._evaluator.beliefs(table)
        states = self._goal.states
        chosen = [states[place] for place in beliefs.argmax(axis=1).tolist()]
        return Decisions(kept, chosen, states, beliefs)

    def _choose_names(self, keep: Iterable[str]) -> dict[str, str]:
        """Say what the kept columns are called in the output, where some names are taken."""
        taken = {PREDICTION, *map(belief_name, self._goal.states)}
        chosen: dict[str, str] = {}
        for name in dict.fromkeys(keep):
            output = name
            while output in taken:
                output += " (data)"
            if output != name:
                self._note(f"the kept column {name!r} is called {output!r} in the output")
            taken.add(output)
            chosen[name] = output
        return chosen


def belief_name(state: Any) -> str:
    """Name the column with the belief in a class."""
    return f"P({state})"


def csv_writer(file: IO[str]) -> Writer:
    """Write decisions as CSV: kept columns, the prediction, a probability a class."""
    rows = csv.writer(file, lineterminator="\n")
    is_first = True

    def write(decisions: Decisions) -> None:
        nonlocal is_first
        if is_first:
            rows.writerow([*decisions.kept, PREDICTION, *map(belief_name, decisions.classes)])
            is_first = False
        kept = decisions.kept.values()
        rows.writerows(zip(*kept, decisions.prediction, *decisions.beliefs.T.tolist(), strict=True))

    return write


def json_writer(file: IO[str]) -> Writer:
    """Write decisions as JSON lines, one a row."""

    def write(decisions: Decisions) -> None:
        names = [str(state) for state in decisions.classes]
        kept = zip(*decisions.kept.values(), strict=True) if decisions.kept else None
        for decision, beliefs in zip(decisions.prediction, decisions.beliefs.tolist(), strict=True):
            line: dict[str, Any] = {PREDICTION: decision}
            if names:
                line["probabilities"] = dict(zip(names, beliefs, strict=True))
            if kept is not None:
                line["kept"] = dict(zip(decisions.kept, next(kept), strict=True))
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
