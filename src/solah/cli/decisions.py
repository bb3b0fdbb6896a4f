"""Write decisions as CSV or JSON lines, one piece of the table at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.cli.problems import split_names
from solah.data import to_text
from solah.data.spreadsheets import guarded, table_writer
from solah.explain.novelty import name_doubts
from solah.model import Task
from solah.model.decide import PolicyDecider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.predictor import Predictor

PREDICTION = "prediction"
EVIDENCE = "evidence"
SETTLED = "settled"
DOUBTS = "doubts"


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions on some rows.

    Attributes
    ----------
    kept : columns copied from the data, as text, by the name they have in the output
    prediction : a decision a row
    classes : the classes; none for numbers
    beliefs : (n_rows, n_classes) the belief in each class
    evidence : the share of the model's knowledge behind each decision, if it is wanted
    settled : the decision that stands after each row, where the model has a policy
    doubts : why each decision is held back, or might be

    Where the model has a policy, a decision that is not known is None.
    """

    kept: dict[str, list[str | None]]
    prediction: list[Any]
    classes: tuple[Any, ...]
    beliefs: Float
    evidence: list[float] | None = None
    settled: list[Any] | None = None
    doubts: list[list[str]] | None = None


Writer = Callable[[Decisions], None]


class Decider:
    """Decides on pieces of a table with a model.

    Parameters
    ----------
    predictor : what decides
    keep : the columns to copy; names may be joined by commas
    note : called with what the user should know
    with_evidence : whether to say how much evidence is behind a decision
    recordings : the column that tells which recording a row belongs to; None if all are one
    """

    def __init__(
        self,
        predictor: Predictor,
        keep: Iterable[str],
        note: Callable[[str], None],
        *,
        with_evidence: bool = False,
        recordings: str | None = None,
    ) -> None:
        self._predictor = predictor
        self._with_evidence = with_evidence
        self._goal = predictor.model_.goal
        self._recordings = recordings
        model = predictor.model_
        is_judged = model.policy is not None or (model.domain is not None and model.goal.states)
        self._judge = PolicyDecider(model, predictor.n_threads) if is_judged else None
        self._keep = list(keep)
        self._note = note
        self._output_names: dict[str, str] | None = None

    def decide(self, table: Table) -> Decisions:
        """Decide on the rows of a table."""
        if self._output_names is None:
            self._output_names = self._choose_names(split_names(self._keep, table.names))
        kept = {
            output: to_text(table.column(name)).values.tolist()
            for name, output in self._output_names.items()
        }
        evidence = self._predictor.evidence(table).tolist() if self._with_evidence else None
        if self._goal.task is Task.REGRESSION:
            numbers = self._predictor.predict(table)
            return Decisions(kept, numbers.tolist(), (), np.empty((len(numbers), 0)), evidence)
        if self._judge is not None:
            return self._judged(self._judge, table, kept, evidence)
        beliefs = self._predictor.beliefs(table)
        states = self._goal.states
        chosen = [states[place] for place in self._goal.decide(beliefs).tolist()]
        return Decisions(kept, chosen, states, beliefs, evidence)

    def _judged(
        self,
        judge: PolicyDecider,
        table: Table,
        kept: dict[str, list[str | None]],
        evidence: list[float] | None,
    ) -> Decisions:
        """Decide as the policy of the model says, in the order of the rows."""
        groups = self._recordings and table.column(self._recordings).values.tolist()
        judged = judge.take(table, groups)
        return Decisions(
            kept,
            judged.decisions,
            judged.states,
            judged.beliefs,
            evidence,
            judged.settled if self._predictor.model_.policy is not None else None,
            [*map(name_doubts, judged.doubts.tolist())],
        )

    def _choose_names(self, keep: Iterable[str]) -> dict[str, str]:
        """Say what the kept columns are called in the output, where some names are taken."""
        taken = {PREDICTION, EVIDENCE, SETTLED, DOUBTS, *map(belief_name, self._goal.states)}
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
    """Write decisions as CSV: kept columns, the prediction, and one probability per class.

    Texts that a spreadsheet would take for formulas get an apostrophe before them.
    """
    rows = table_writer(file)
    is_first = True

    def write(decisions: Decisions) -> None:
        nonlocal is_first
        texts = dict(decisions.kept) | {PREDICTION: decisions.prediction}
        if decisions.settled is not None:
            texts[SETTLED] = decisions.settled
        if decisions.doubts is not None:
            texts[DOUBTS] = [", ".join(one) for one in decisions.doubts]
        columns = {guarded(name): [*map(guarded, cells)] for name, cells in texts.items()}
        columns |= zip(
            map(belief_name, decisions.classes), decisions.beliefs.T.tolist(), strict=True
        )
        if decisions.evidence is not None:
            columns[EVIDENCE] = decisions.evidence
        if is_first:
            rows.writerow(columns)
            is_first = False
        rows.writerows(zip(*columns.values(), strict=True))

    return write


def json_writer(file: IO[str]) -> Writer:
    """Write decisions as JSON lines, one a row."""

    def write(decisions: Decisions) -> None:
        names = [str(state) for state in decisions.classes]
        kept = zip(*decisions.kept.values(), strict=True) if decisions.kept else None
        rows = zip(decisions.prediction, decisions.beliefs.tolist(), strict=True)
        for i, (decision, beliefs) in enumerate(rows):
            line: dict[str, Any] = {PREDICTION: decision}
            if decisions.settled is not None:
                line[SETTLED] = decisions.settled[i]
            if decisions.doubts is not None:
                line[DOUBTS] = decisions.doubts[i]
            if names:
                line["probabilities"] = dict(zip(names, beliefs, strict=True))
            if decisions.evidence is not None:
                line[EVIDENCE] = decisions.evidence[i]
            if kept is not None:
                line["kept"] = dict(zip(decisions.kept, next(kept), strict=True))
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
