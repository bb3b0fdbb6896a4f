"""Finds where the decision changes along each way of a reading.

Between neighbouring words the scores of a model that weighs evidence are straight in a reading, so
where a decision holds at both ends it holds in between, and the first change is found exactly.
Where trees feed trees, ways are cut finer before they are searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.explain.changing.crossing import Brackets, narrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.explain.changing.question import Question


@dataclass(frozen=True)
class Boundary:
    """Where the decision changes along a way.

    Attributes
    ----------
    inside : the last reading before, or the end of the way if nothing changes; a whole number
        where only those can be read, as is the next
    outside : the nearest reading that changes the decision; None if none does
    decision : the place of what is decided there
    """

    inside: float
    outside: float | None = None
    decision: int = -1


def find_boundaries(question: Question) -> list[Boundary]:
    """Find where the decision changes along each way."""
    steps = [
        int(np.argmax(decisions != question.decision))
        if (decisions != question.decision).any()
        else None
        for decisions in question.decisions_at_knots
    ]
    found = [_at_knots(question, i, step) for i, step in enumerate(steps)]
    within = [i for i, step in enumerate(steps) if step is not None and question.goes(i, step)]
    for i, boundary in zip(within, _narrowed(question, within, found), strict=True):
        if boundary.decision != question.decision:  # where scores bend, a whole number may miss
            found[i] = boundary
    return found


def _at_knots(question: Question, i: int, step: int | None) -> Boundary:
    """Return the knots of a way between which the decision changes."""
    way = question.ways[i]
    if step is None:
        return Boundary(float(way.knots[-1]))
    inside = float(way.knots[step - 1]) if step else float(question.row[way.place])
    return Boundary(inside, float(way.knots[step]), int(question.decisions_at_knots[i][step]))


def _narrowed(
    question: Question, within: Sequence[int], found: Sequence[Boundary]
) -> list[Boundary]:
    if not within:
        return []
    places: NDArray[np.intp] = np.array([question.ways[i].place for i in within])
    ends = np.array([(found[i].inside, found[i].outside) for i in within], dtype=np.float64)
    pieces = Brackets.of_readings(question.row, places, ends[:, 0], ends[:, 1])
    narrowed = narrow(question.probe, question.decision, pieces)
    outside = question.outward(places, narrowed.outside)
    directions = np.array([question.ways[i].direction for i in within])
    inside = np.where(question.are_whole[places], outside - directions, narrowed.inside)
    decisions = question.decide(question.with_readings(places, outside))
    columns = (inside, outside, decisions)
    return [Boundary(*of_way) for of_way in zip(*(c.tolist() for c in columns), strict=True)]
