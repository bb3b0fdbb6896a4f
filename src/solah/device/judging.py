"""Judge rows in the order of time, as a device with a policy does.

The twin of ``export/c_runtime/solah_judge.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.model.policy import UNKNOWN_PLACE, Doubt, Policy, Settling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.device.policy_tables import CellRow, PolicyTables
    from solah.device.twin import Evidence, Twin

    Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What a device says of rows, one after the other.

    Attributes
    ----------
    decisions : (n_rows,) the place of the class that each row is decided for; -1 for "don't know"
    settled : (n_rows,) that of the decision which stands after it
    doubts : (n_rows,) the flags of :class:`~solah.model.policy.Doubt`, also those for which
        nothing is held back
    n_unseen : (n_rows,) how many pairs of cells never occurred together
    beliefs : (n_rows, n_classes) in the device's numbers, of evidence that is smoothed
    """

    decisions: NDArray[np.intp]
    settled: NDArray[np.intp]
    doubts: NDArray[np.uint8]
    n_unseen: NDArray[np.uint8]
    beliefs: Numbers


class Judge:
    """Judges rows as they come, and remembers what it needs of those before.

    Parameters
    ----------
    twin : computes as the device does
    tables : its policy and domain
    """

    def __init__(self, twin: Twin, tables: PolicyTables) -> None:
        self._twin, self._tables = twin, tables
        self._mean: Any = None
        settles = Policy(votes=tables.votes, window=tables.window, dwell=tables.dwell)
        self._settling = Settling(settles)

    def take(self, rows: NDArray[np.floating]) -> Verdicts:
        """Judge the next rows ``(n_rows, n_attributes)``."""
        evidence = self._twin.evidence(rows)
        scores = evidence.scores
        if self._tables.smoothing_bits:
            scores, self._mean = self._twin.smooth(scores, self._mean, self._tables.smoothing_bits)
        beliefs, preferences = self._twin.conclude(scores)
        doubts, n_unseen = self._of_readings(evidence)
        decisions, settled = np.empty((2, len(rows)), dtype=np.intp)
        for i, best in enumerate(preferences.argmax(axis=1).tolist()):
            place = self._kept(best, beliefs[i])
            if len(self._tables.min_belief) and beliefs[i, place] < self._tables.min_belief[place]:
                doubts[i] |= Doubt.LOW_BELIEF
            is_held_back = doubts[i] & self._tables.holds_back
            decisions[i] = UNKNOWN_PLACE if is_held_back else place
            settled[i] = self._settling.take(int(decisions[i]))
        stored = beliefs.astype(self._twin.belief_type)
        return Verdicts(decisions, settled, doubts.astype(np.uint8), n_unseen, stored)

    def _of_readings(self, evidence: Evidence) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the doubts that readings raise, and how many pairs of cells are unseen."""
        x, tables = evidence.readings, self._tables
        doubts = np.zeros(len(x), dtype=np.intp)
        known = self._twin.whole - self._lost(evidence)
        doubts[known < tables.min_known] |= Doubt.FEW_READINGS
        for place, row in enumerate(tables.cells):
            if row.has_range:
                column = x[:, place]
                is_beyond = (column < row.low) | (column > row.high)
                doubts[is_beyond & self._twin.are_known(column)] |= Doubt.OUT_OF_RANGE
        n_unseen = self._unseen(x)
        doubts[n_unseen > tables.most_unseen] |= Doubt.UNSEEN
        return doubts, n_unseen

    def _lost(self, evidence: Evidence) -> Numbers:
        """Return what is unknown of all evidence."""
        lost = evidence.lost
        for row in self._tables.shares:
            is_known = self._is_known(evidence.readings[:, row.attribute], row.n_states)
            lost = lost + np.where(is_known, 0 * row.share, row.share)
        return lost

    def _is_known(self, column: Numbers, n_states: int) -> Numbers:
        if n_states:
            return self._twin.states(column, n_states) >= 0
        return self._twin.are_known(column)

    def _unseen(self, x: Numbers) -> NDArray[np.uint8]:
        n_unseen = np.zeros(len(x), dtype=np.uint8)
        places = [self._cells(row, x[:, place]) for place, row in enumerate(self._tables.cells)]
        bits = np.unpackbits(np.frombuffer(self._tables.seen, np.uint8), bitorder="little")
        for pair in self._tables.pairs:
            first, second = places[pair.first], places[pair.second]
            bit = 8 * pair.byte + first * self._tables.cells[pair.second].size + second
            are_known = (first >= 0) & (second >= 0)
            n_unseen += are_known & (bits[np.where(are_known, bit, 0)] == 0)
        return n_unseen

    def _cells(self, row: CellRow, column: Numbers) -> NDArray[np.intp]:
        """Return the cells of readings; -1 where they are unknown."""
        if row.n_states:
            return self._twin.states(column, row.n_states).astype(np.intp)
        cuts = self._tables.cuts[row.first_cut : row.first_cut + row.n_cuts]
        cells = np.searchsorted(cuts, column, side="right")
        return np.where(self._twin.are_known(column), cells, -1)

    def _kept(self, best: int, beliefs: Numbers) -> int:
        """Return the class that is settled, where the best one does not exceed it by the margin."""
        settled = self._settling.settled
        if self._tables.margin > 0 and settled not in (UNKNOWN_PLACE, best):
            is_ahead = beliefs[best] - beliefs[settled] >= self._tables.margin
            return best if is_ahead else settled
        return best
