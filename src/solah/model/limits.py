"""The bounds of the numbers in a model file.

Within them no computation overflows, neither in float64 nor in the float32 of an exported model:
differences and sums of values, slopes between peaks, sums of weights, squares of row weights.
Training refuses data that would lead beyond them, and reading refuses the file
(``docs/model-format.md`` lists them).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solah.data import State

# Values, peaks, ranges, categories that are numbers, and numeric targets, up or down.
MOST_NUMBER = 1e36
# Between neighbouring peaks.
LEAST_GAP = 1e-30
# Weights and baselines, up or down, and what the largest weights of all terms come to together;
# for a number that terms add up to it is MOST_NUMBER. The square is that of the variance of a term.
MOST_SCORE = 1e6
# Weights of rows that are not 0.
LEAST_SUPPORT, MOST_SUPPORT = 1e-120, 1e120
LEAST_THRESHOLD = 1e-12
MOST_FEATURES = 1_000_000
# Shares sum to 1; those that are off by more than the first are scaled, by more than the second
# refused.
EXACT_SUM, ROUGH_SUM = 1e-12, 1e-6

LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**64 - 1


def are_apart(peaks: Iterable[float]) -> bool:
    """Whether peaks increase, each by so much that slopes between them stay finite."""
    return all(high - low >= LEAST_GAP for low, high in pairwise(peaks))


def what_states_must_be(states: Sequence[State]) -> str | None:
    """Return what the states of a feature must be and are not; None if they are sound.

    1 and 1.0, or 0 and false, are the same when a reading is looked up.
    """
    if len({_nature(state) for state in states}) > 1:
        return "all texts, all numbers or all booleans"
    if not all(map(_is_moderate, states)):
        return f"integers of 64 bits, or numbers from {-MOST_NUMBER:g} to {MOST_NUMBER:g}"
    return "without repetition" if len(set(states)) < len(states) else None


def what_classes_must_be(states: Sequence[State]) -> str | None:
    """Return what classes must be and are not; None if they are sound.

    They also must stay what they are in the one array that ``predict`` returns: there, NumPy may
    make floats of large integers, and ends texts where they have a NUL at the end.
    """
    needed = what_states_must_be(states)
    if needed is not None:
        return needed
    array = np.array(states)
    are_whole = all(isinstance(state, int) for state in states)
    if array.tolist() != list(states) or (are_whole and array.dtype.kind == "f"):
        return "such that one array of NumPy can hold them as they are"
    return None


def _nature(state: State) -> str:
    if isinstance(state, bool):
        return "truth"
    return "text" if isinstance(state, str) else "number"


def _is_moderate(state: State) -> bool:
    if isinstance(state, float):
        return abs(state) <= MOST_NUMBER
    return isinstance(state, str) or LEAST_INTEGER <= state <= MOST_INTEGER
