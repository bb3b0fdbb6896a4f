"""Follows rows through the program of a model: memberships, and the rules they reach."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.model.evaluate import Rows, part_outputs, readings_of, trace
from solah.model.program import Walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target
    from solah.model.program import Program, Term

_BLOCK_NUMBERS = 1 << 21


class TracedRows:
    """Rows that a program has run on, with every step.

    Parameters
    ----------
    program : Program
    readings : ndarray of shape (n_rows, n_features)

    Attributes
    ----------
    steps : list of StageTrace
        The steps of each stage.
    """

    def __init__(self, program: Program, readings: Float) -> None:
        self.program, self.readings = program, readings
        self.steps = trace(program, readings)
        self._rows = Rows(program, readings)
        self._rows.outputs[:] = np.stack([one.outputs for one in self.steps], axis=1)

    def __len__(self) -> int:
        return len(self.readings)

    @cached_property
    def added(self) -> dict[str, Float]:
        """What each part adds, by its name; of a stage, its outputs."""
        added: dict[str, Float] = {}
        for stage, steps in zip(self.program.stages, self.steps, strict=True):
            weights = (part.weights for part in steps.parts)
            added |= zip(stage.part_names, weights, strict=True)
            added[stage.name] = steps.outputs
        return added

    def outputs(self, name: str) -> Float:
        """Return what a part would put out if it were alone in its stage."""
        return part_outputs(self.program, name, self.added[name])

    def memberships(self, term: Term) -> list[Float]:
        """Return the memberships ``(n_rows, size)`` of each axis of a term."""
        return [self._rows.memberships(axis) for axis in term.axes]

    def rule_weights(self, term: Term) -> Float:
        """Return how much of each row takes each rule of a term: ``(n_rows, n_rules)``."""
        memberships, weights = self.memberships(term), np.zeros((len(term.weights), len(self)))
        if isinstance(term.cells, Walk):
            leaves = term.cells.split < 0
            np.add.at(weights, term.cells.child[leaves], reach(term.cells, memberships)[leaves])
        else:
            cells = memberships[0].T
            if len(memberships) == 2:
                cells = (cells[:, None] * memberships[1].T).reshape(-1, len(self))
            np.add.at(weights, term.cells.rules.ravel(), cells)
        return weights.T


def traced_blocks(model: Model, table: Table) -> Iterator[TracedRows]:
    """Run a model on a table, block by block; on no rows, if the table has none."""
    readings, size = readings_of(model, table), rows_at_once(model.program)
    for start in range(0, max(len(readings), 1), size):
        yield TracedRows(model.program, readings[start : start + size])


def rows_at_once(program: Program) -> int:
    """Return how many rows to follow together, so that the steps of the largest term fit."""
    cells = (term.cells for stage in program.stages for term in stage.terms)
    sizes = (len(one.split) if isinstance(one, Walk) else one.rules.size for one in cells)
    largest = max(sizes, default=1)
    return max(16, _BLOCK_NUMBERS // (largest * program.n_outputs))


def reach(walk: Walk, memberships: Sequence[Float]) -> Float:
    """Return how much of each row reaches each node: ``(n_nodes, n_rows)``, 1 at the root."""
    reached = np.ones((len(walk.split), len(memberships[0])))
    for node in np.flatnonzero(walk.split >= 0).tolist():
        parts, first = memberships[walk.split[node]].T, walk.child[node]
        reached[first : first + len(parts)] = reached[node] * parts
    return reached


def averages(walk: Walk, weights: Float, memberships: Sequence[Float]) -> Float:
    """Average the weights of the rules below each node: ``(n_nodes, n_rows, n_outputs)``."""
    rules = weights[np.where(walk.split < 0, walk.child, 0)]
    means = np.repeat(rules[:, None, :], len(memberships[0]), axis=1)
    # Children are behind their parents, so they are known before them.
    for node in np.flatnonzero(walk.split >= 0)[::-1].tolist():
        parts, first = memberships[walk.split[node]], walk.child[node]
        below = means[first : first + parts.shape[1]]
        means[node] = weighted_sum(below.transpose(1, 0, 2), parts)
    return means


def weighted_sum(weights: Float, memberships: Float) -> Float:
    """Sum weights ``(n_rows or 1, size, n_outputs)`` by memberships ``(n_rows, size)``.

    One after the other, so that a row comes out the same with any other rows beside it.
    """
    total = np.zeros((len(memberships), weights.shape[2]))
    for k, membership in enumerate(memberships.T):
        total += weights[:, k] * membership[:, None]
    return total


def numbers_of(target: Target, beliefs: Float) -> Float:
    """Return the numbers ``(...)`` of outputs ``(..., target.size)`` of a regression model."""
    return np.asarray(beliefs[..., 0] if target.is_additive_number else beliefs @ target.centres)
