"""Expressions of SQL that a model is made of, in what all databases share.

There is no maximum of several columns and no square root in all of them, and none takes
expressions that are nested a thousand deep.
"""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.export.programs import state_bounds
from solah.export.quoting import sql_name, sql_string
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import State
    from solah.model.features import Feature
    from solah.model.program import Axis, Walk

Step = list[tuple[str, str]]
"""Columns that one common table expression adds: their names and what they are."""

ZERO = "0e0"
_MOST_TERMS = 40


def literal(number: float) -> str:
    """Write a number such that every database reads the same double.

    Without an exponent some would read a decimal, whose products overflow.

    Examples
    --------
    >>> literal(600.0), literal(-0.1), literal(1e-30)
    ('600e0', '-0.1e0', '1e-30')
    """
    text = repr(float(number))
    return text if "e" in text else f"{text.removesuffix('.0')}e0"


def state_literal(state: State) -> str:
    """Write a state: a text, a boolean or a number."""
    if isinstance(state, str):
        return sql_string(state)
    if isinstance(state, bool):
        return "TRUE" if state else "FALSE"
    return str(state) if isinstance(state, int) else literal(state)


def read_column(feature: Feature) -> str:
    """Read a column: a number, of infinity the largest, or the index of a category; else NULL."""
    column = f"t.{sql_name(feature.name)}"
    if not feature.is_coded:
        least, most = literal(-sys.float_info.max), literal(sys.float_info.max)
        number = f"CAST({column} AS DOUBLE PRECISION)"
        # A text is above all numbers to SQLite, and NaN to others; its negative is below none.
        return (
            f"CASE WHEN {column} BETWEEN {least} AND {most} THEN {number} "
            f"WHEN {column} < {least} THEN {least} WHEN {ZERO} - {number} < {least} THEN {most} END"
        )
    cases = [f"WHEN {_is_state(column, *one)}" for one in _known_by(feature.categories)]
    whens = " ".join(f"{case} THEN {place}" for place, case in enumerate(cases))
    return f"CASE {whens} END" if whens else "CAST(NULL AS INTEGER)"


def _known_by(states: Sequence[State]) -> list[tuple[str, str]]:
    """Return from what to what a reading counts as each state; a single value is both."""
    if all(isinstance(state, int | float) and not isinstance(state, bool) for state in states):
        numbers = [state for state in states if not isinstance(state, str)]
        return [(literal(low), literal(high)) for low, high in state_bounds(numbers)]
    return [(state_literal(state), state_literal(state)) for state in states]


def _is_state(column: str, low: str, high: str) -> str:
    return f"{column} = {low}" if low == high else f"{column} BETWEEN {low} AND {high}"


def added(terms: Sequence[str]) -> str:
    """Add up terms, in brackets that are not nested deeply."""
    if len(terms) == 1:
        return terms[0]
    while len(terms) > _MOST_TERMS:
        groups = range(0, len(terms), _MOST_TERMS)
        terms = [f"({' + '.join(terms[i : i + _MOST_TERMS])})" for i in groups]
    return f"({' + '.join(terms)})" if terms else ZERO


def largest(values: Sequence[str], answers: Sequence[str]) -> str:
    """Give the answer of the largest value, of equal ones the first.

    Examples
    --------
    >>> largest(["a", "b", "c"], ["1", "2", "3"])
    'CASE WHEN a >= b AND a >= c THEN 1 WHEN b >= c THEN 2 ELSE 3 END'
    """
    if len(values) == 1:
        return answers[0]
    cases = [
        f"WHEN {' AND '.join(f'{value} >= {other}' for other in values[i + 1 :])} THEN {answers[i]}"
        for i, value in enumerate(values[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {answers[-1]} END"


def piecewise(
    reading: str, peaks: Sequence[float], weights: Sequence[float], missing: float
) -> str:
    """Write a broken line through weights at peaks, level beyond them.

    Examples
    --------
    >>> piecewise("r0", (1.0, 3.0), (-2.0, 5.0), 0.5)
    'CASE WHEN r0 IS NULL THEN 0.5e0 WHEN r0 <= 1e0 THEN -2e0 \
WHEN r0 < 3e0 THEN -2e0 + (r0 - 1e0) / 2e0 * 7e0 ELSE 5e0 END'
    """
    cases = [
        f"WHEN {reading} IS NULL THEN {literal(missing)}",
        f"WHEN {reading} <= {literal(peaks[0])} THEN {literal(weights[0])}",
    ]
    for (low, high), (start, end) in zip(pairwise(peaks), pairwise(weights), strict=True):
        way = f" + ({reading} - {literal(low)}) / {literal(high - low)} * {literal(end - start)}"
        cases.append(
            f"WHEN {reading} < {literal(high)} THEN {literal(start)}{way if end != start else ''}"
        )
    return f"CASE {' '.join(cases)} ELSE {literal(weights[-1])} END"


def of_categories(index: str, weights: Sequence[float], missing: float) -> str:
    """Look up a weight by the index of a category, which is NULL if it is missing."""
    cases = [f"WHEN {i} THEN {literal(weight)}" for i, weight in enumerate(weights)]
    return f"CASE {index} {' '.join(cases)} ELSE {literal(missing)} END"


def memberships(axis: Axis, column: str) -> list[str]:
    """Write the memberships of an axis that reads a column."""
    units, missing = np.eye(axis.size).tolist(), axis.missing.tolist()
    return [curve(axis, column, [*unit, lost]) for unit, lost in zip(units, missing, strict=True)]


def curve(axis: Axis, column: str, weights: Sequence[float]) -> str:
    """Write weights as a function of an axis' column; the last one is of a missing reading."""
    *known, missing = weights
    if axis.kind is AxisKind.CATEGORY:
        return of_categories(column, known, missing)
    return piecewise(column, axis.peaks.tolist(), known, missing)


def walk_average(
    walk: Walk, names: Sequence[Sequence[str]], weights: Sequence[float], node: int = 0
) -> str:
    """Average the weights of the rules below a node, by the memberships on the way to them.

    ``names`` has the columns of the memberships of each axis.
    """
    split, child = int(walk.split[node]), int(walk.child[node])
    if split < 0:
        return literal(weights[child])
    below = [walk_average(walk, names, weights, child + k) for k in range(len(names[split]))]
    pairs = zip(names[split], below, strict=True)
    return added([f"{name} * {value}" for name, value in pairs if value != ZERO])


def at_most_one(value: str) -> str:
    """Write a share: a sum of shares may round to a bit more than 1."""
    return f"CASE WHEN {value} < 1 THEN {value} ELSE 1e0 END"


def root_steps(square: str, root: str, most: float) -> list[Step]:
    """Compute the square root of a column of numbers from 1 on, by Newton's steps.

    Parameters
    ----------
    square : the column
    root : what the last column is called
    most : the largest number that the column may have, which takes most steps
    """
    steps: list[Step] = []
    before = f"(1e0 + {square}) / 2e0"
    guess = (1.0 + most) / 2.0
    while (better := (guess + most / guess) / 2.0) < guess:
        guess = better
        steps.append([(f"{root}_{len(steps)}", before)])
        last = steps[-1][0][0]
        before = f"({last} + {square} / {last}) / 2e0"
    return [*steps, [(root, before)]]


def truncated_exp(exponent: str, least: float) -> str:
    """Write e to the power of a number; of less than the least, which databases cannot all take."""
    end = literal(least)
    return f"exp(CASE WHEN {exponent} > {end} THEN {exponent} ELSE {end} END)"


def bounded_exp(score: str) -> str:
    """Write e to the power of a score, which counts as at most 80 up and down."""
    least, most = literal(-80.0), literal(80.0)
    cases = f"WHEN {score} > {most} THEN {most} WHEN {score} < {least} THEN {least}"
    return f"exp(CASE {cases} ELSE {score} END)"


DAMPING = math.pi / 8.0
"""How much of a variance counts where scores are weakened (`solah.model.evaluate.damping`)."""
