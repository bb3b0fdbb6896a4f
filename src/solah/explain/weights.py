"""Writes readings, and what rules, terms and groups add to scores of classes, or to a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.data.spelling import spell, spell_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model


class Gain(NamedTuple):
    """How much something adds, and for which class.

    Attributes
    ----------
    size : of two classes, how much more it adds for one than for the other (log-odds); of several,
        what it adds for the one that gains most; of a number, what it adds
    state : the class that gains most; None if none does, and for a number
    """

    size: float
    state: State | None = None

    def __str__(self) -> str:
        if self.state is None:
            return signed(self.size) if self.size else "nothing"
        return f"{signed(self.size, 2)} for {spell(self.state)}"


def gain_of(scores: Sequence[float], states: Sequence[State]) -> Gain:
    """Return who gains most by evidence, and how much.

    Examples
    --------
    >>> print(gain_of([-0.2, 0.2], ["good", "bad"]))
    +0.40 for bad
    >>> print(gain_of([1.4, -0.1, -1.3], [0, 1, 2]))
    +1.40 for 0
    >>> print(gain_of([-2.5], []), gain_of([0.0, 0.0], ["good", "bad"]), sep="; ")
    -2.5; nothing
    """
    if not states:
        return Gain(scores[0])
    most = max(scores)
    size = most - min(scores) if len(scores) == 2 else most
    # Evidence is 0 on average, so that a largest gain below 0 is a matter of rounding.
    return Gain(size, states[scores.index(most)]) if size > 0 else Gain(0.0)


def spell_scores(scores: Sequence[float], states: Sequence[State]) -> str:
    """Write evidence for all classes; of two, the difference says it all.

    Examples
    --------
    >>> spell_scores([1.416, -0.106, -1.31], [0, 1, 2])
    '+1.42 for 0, -0.11 for 1, -1.31 for 2'
    >>> spell_scores([0.176, -0.176], ["bad", "good"]), spell_scores([12.34], [])
    ('+0.35 for bad', '+12.34')
    """
    if len(states) < 3:
        return str(gain_of(scores, states))
    parts = zip(scores, states, strict=True)
    return ", ".join(f"{signed(score, 2)} for {spell(state)}" for score, state in parts)


def signed(number: float, decimals: int | None = None) -> str:
    """Write a number with its sign, a rounded zero as a positive one.

    Examples
    --------
    >>> signed(-0.004, 2), signed(1234.56)
    ('+0.00', '+1235')
    """
    if decimals is None:
        return spell_number(number, sign="+")
    return f"{round(number, decimals) + 0.0:+.{decimals}f}"


def spell_reading(reading: State | None) -> str:
    """Write a reading with six digits at most, a state as it is, and nothing as unknown."""
    if reading is None:
        return "unknown"
    return spell_number(reading, 6) if isinstance(reading, float) else spell(reading)


def spell_start(model: Model) -> str:
    """Write what evidence begins with, before any rule adds to it; nothing if none is added."""
    goal, lines = model.goal, []
    for node in model.sums:
        whose = "" if node is model.root else f"{node.name}, "
        baseline = list(node.baseline)
        amount = (
            spell_scores(baseline, goal.states)
            if goal.states
            else f"{goal.name} {spell_number(baseline[0])}"
        )
        lines.append(f"{whose}to begin with: {amount}")
    return "\n".join(lines)


def numbers_of(goal: Goal, beliefs: Float) -> Float:
    """Return the numbers that beliefs about a number come to; those added up are such numbers.

    Parameters
    ----------
    goal : Goal
    beliefs : ndarray of shape (..., goal.size)

    Returns
    -------
    numbers : ndarray of shape (...)
    """
    return np.asarray(beliefs[..., 0] if goal.is_additive_number else beliefs @ goal.centres)
