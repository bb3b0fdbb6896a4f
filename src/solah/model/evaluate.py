"""Runs the program of a model on rows, as a whole or part by part.

The C kernel (``native/run.c``) and the NumPy functions here do the same operations in the same
order, so their results are equal to the bit. NumPy is the oracle in tests, and runs programs where
there is no compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels import native
from solah.kernels.choose import map_slices
from solah.kernels.reference import exp_of_scores, softmax
from solah.model.encode import Encoder
from solah.model.program import AxisKind, Grid, Link, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.program import Program, Stage, Term

_BLOCK_ROWS = 8_192
_MIN_COMPLETENESS = 1e-9


@dataclass(frozen=True, eq=False)
class Sum:
    """What one part of a stage adds to the scores of rows.

    Attributes
    ----------
    weights : (n_rows, n_outputs) what its terms add
    share : (n_rows,) the shares of its terms that are missing, added up
    variance : (n_rows,) the variances of its terms that are missing, added up
    """

    weights: Float
    share: Float
    variance: Float


@dataclass(frozen=True, eq=False)
class StageTrace:
    """Every step of one stage.

    Attributes
    ----------
    parts : the sums of the stage's parts by their numbers: terms, then groups
    scores : (n_rows, n_outputs)
    outputs : (n_rows, n_outputs)
    """

    parts: tuple[Sum, ...]
    scores: Float
    outputs: Float


def run(program: Program, readings: Float, n_threads: int = 1, *, scores: bool = False) -> Float:
    """Run a program on rows.

    Parameters
    ----------
    program : Program
    readings : ndarray of shape (n_rows, n_features)
        Categories are coded as their indices. NaN is a missing reading.
    n_threads : int, default=1
    scores : bool, default=False
        Whether to return the scores of the last stage instead of its outputs.

    Returns
    -------
    outputs : ndarray of shape (n_rows, n_outputs)
    """
    readings = np.asarray(readings, np.float64)
    if not readings.flags.aligned:
        readings = readings.copy()
    outputs = np.empty((len(readings), program.n_outputs))
    run_rows = _run_native if native.is_used() else _run_numpy
    if n_threads == 1:  # a single row is worth less than the slices
        run_rows(program, readings, outputs, scores)
    else:
        map_slices(
            lambda rows: run_rows(program, readings[rows], outputs[rows], scores),
            len(readings),
            n_threads,
        )
    return outputs


def predict(model: Model, table: Table, n_threads: int = 1, *, scores: bool = False) -> Float:
    """Run the program of a model on the rows of a table, block by block.

    Parameters
    ----------
    model : Model
    table : Table
        Has the columns of the features that the program reads.
    n_threads : int, default=1
    scores : bool, default=False
        As for :func:`run`.

    Returns
    -------
    outputs : ndarray of shape (n_rows, n_outputs)
    """
    program = model.program
    encoder = Encoder(table, {j: model.features[j] for j in program.read_features})
    outputs = np.empty((table.n_rows, program.n_outputs))

    def run_rows(rows: slice) -> None:
        for start in range(rows.start, rows.stop, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, rows.stop))
            readings = np.full((block.stop - start, len(program.features)), np.nan)
            encoder.encode(block, readings)
            outputs[block] = run(program, readings, scores=scores)

    if n_threads == 1:
        run_rows(slice(0, table.n_rows))
    else:
        map_slices(run_rows, table.n_rows, n_threads)
    return outputs


def readings_of(model: Model, table: Table) -> Float:
    """Return the readings that the program of a model takes ``(n_rows, n_features)``.

    Features that the program does not read need no column; they are missing.
    """
    program = model.program
    readings = np.full((table.n_rows, len(program.features)), np.nan)
    encoder = Encoder(table, {j: model.features[j] for j in program.read_features})
    encoder.encode(slice(0, table.n_rows), readings)
    return readings


def trace(program: Program, readings: Float) -> list[StageTrace]:
    """Run a program on rows, and keep every step.

    Parameters
    ----------
    program : Program
    readings : ndarray of shape (n_rows, n_features)

    Returns
    -------
    stages : list of StageTrace
        From bottom to top.
    """
    stages: list[StageTrace] = []
    rows = Rows(program, readings)
    for number, stage in enumerate(program.stages):
        parts: dict[int, Sum] = {}
        for part in range(len(stage.part_names)):
            parts[part] = rows.part(number, part, parts)
        scores = stage_scores(stage, parts[part])
        outputs = stage_outputs(stage, scores)
        rows.outputs[:, number] = outputs
        stages.append(StageTrace(tuple(parts.values()), scores, outputs))
    return stages


class Rows:
    """Rows on which the parts of stages are evaluated one by one.

    Parameters
    ----------
    program : Program
    readings : ndarray of shape (n_rows, n_features)
        Columns that no evaluated term reads may hold anything.

    Attributes
    ----------
    outputs : (n_rows, n_stages, n_outputs) the outputs of stages, 0 at first; to be filled in
        before a term is evaluated that reads them
    """

    def __init__(self, program: Program, readings: Float) -> None:
        self._program = program
        self._readings = np.require(readings, np.float64, "A")
        self._is_native = native.is_used()
        self._places: dict[int, tuple[NDArray[np.intp], Float]] = {}
        self.outputs = np.zeros((len(readings), len(program.stages), program.n_outputs))

    def __len__(self) -> int:
        return len(self._readings)

    def part(self, stage: int, part: int, given: Mapping[int, Sum]) -> Sum:
        """Return what a part of a stage adds.

        Parameters
        ----------
        stage : int
            The index of the stage.
        part : int
            The number of the part.
        given : mapping of int to Sum
            What some parts add, by their numbers. The others are evaluated.
        """
        if part in given:
            return given[part]
        terms, groups = self._program.stages[stage].terms, self._program.stages[stage].groups
        if part >= len(terms):
            parts = groups[part - len(terms)].parts
            if not parts:  # a constant
                nothing = np.zeros(len(self))
                return Sum(np.zeros((len(self), self._program.n_outputs)), nothing, nothing)
            return add_up(self.part(stage, one, given) for one in parts)
        weights = np.empty((len(self), self._program.n_outputs))
        if self._is_native:
            number = self._program.first_terms[stage] + part
            native.run_term(self._program.flat, number, self._readings, self.outputs, weights)
        else:
            weights[:] = self._weights(terms[part])
        return Sum(weights, *self.missing(terms[part]))

    def missing(self, term: Term) -> tuple[Float, Float]:
        """Return the share and the variance of a term where it is missing, and 0 elsewhere."""
        lost = np.zeros(len(self), dtype=bool)
        if term.missing is None:
            for axis in (self._program.axes[a] for a in term.axes):
                if axis.is_read:
                    lost |= np.isnan(self._readings[:, axis.source])
        return np.where(lost, term.share, 0.0), np.where(lost, term.variance, 0.0)

    def _weights(self, term: Term) -> Float:
        """Return what a term adds: the steps of ``native/run.c`` in NumPy."""
        if isinstance(term.cells, Walk):
            return self._walk(term, term.cells)
        places = [self._locate(a) for a in term.axes]
        return _line(term.cells, *places[0]) if len(places) == 1 else _grid(term.cells, *places)

    def _locate(self, a: int) -> tuple[NDArray[np.intp], Float]:
        """Return the index of the lower membership of an axis, and the upper membership.

        The index of a missing reading is the size of the axis.
        """
        if a in self._places:
            return self._places[a]
        axis = self._program.axes[a]
        if axis.is_read:
            values = self._readings[:, axis.source]
        else:
            values = self.outputs[:, axis.source, axis.output]
        peaks, last = axis.peaks, axis.size - 1
        lower = np.searchsorted(peaks[1:], values, side="right")
        is_between = (lower < last) & (values > peaks[lower])
        low, high = peaks[lower], peaks[np.minimum(lower + 1, last)]
        rise = (values - low) / np.where(is_between, high - low, 1.0)
        upper = np.where(is_between, rise, 0.0)
        self._places[a] = found = np.where(np.isnan(values), axis.size, lower), upper
        return found

    def memberships(self, a: int) -> Float:
        """Return the memberships of an axis ``(n_rows, size)``, given its index."""
        axis = self._program.axes[a]
        if axis.kind is AxisKind.ALL_BELIEFS:
            return self.outputs[:, axis.source]
        lower, upper = self._locate(a)
        rows, found = np.arange(len(self)), np.zeros((len(self), axis.size + 1))
        found[rows, lower + (upper > 0)] = upper
        found[rows, lower] = 1.0 - upper
        found[lower == axis.size, :-1] = axis.missing
        return found[:, :-1]

    def _walk(self, term: Term, walk: Walk) -> Float:
        """Average the rules that rows reach, depth first."""
        memberships = [self.memberships(a) for a in term.axes]
        total = np.zeros((len(self), term.weights.shape[1]))
        stack = [(0, np.arange(len(self)), np.ones(len(self)))]
        while stack:
            node, here, weight = stack.pop()
            split, child = int(walk.split[node]), int(walk.child[node])
            if split < 0:
                total[here] += weight[:, None] * term.weights[child]
                continue
            children = []
            for k, membership in enumerate(memberships[split][here].T):
                below = weight * membership
                alive = below > 0
                if alive.any():
                    children.append((child + k, here[alive], below[alive]))
            stack.extend(reversed(children))
        return total


def _line(grid: Grid, lower: NDArray[np.intp], upper: Float) -> Float:
    """Average the table of a grid over one axis."""
    after, part = lower + (upper > 0), upper[:, None]
    return np.asarray((1.0 - part) * grid.table[lower] + part * grid.table[after])


def _grid(
    grid: Grid,
    first: tuple[NDArray[np.intp], Float],
    second: tuple[NDArray[np.intp], Float],
) -> Float:
    """Average the table of a grid over two axes, along the second one first."""
    (i, u), (j, v) = first, second
    below, right = i + (u > 0), j + (v > 0)
    u, v, table = u[:, None], v[:, None], grid.table
    low = (1.0 - v) * table[i, j] + v * table[i, right]
    high = (1.0 - v) * table[below, j] + v * table[below, right]
    return np.asarray((1.0 - u) * low + u * high)


def add_up(parts: Iterable[Sum]) -> Sum:
    """Add up the parts of a group, of which there is one at least, in their order."""
    first, *others = parts
    weights, share, variance = 0.0 + first.weights, 0.0 + first.share, 0.0 + first.variance
    for part in others:
        weights += part.weights
        share += part.share
        variance += part.variance
    return Sum(weights, share, variance)


def stage_scores(stage: Stage, total: Sum) -> Float:
    """Return the scores of a stage ``(n_rows, n_outputs)``, given the sum of all its terms."""
    scores = total.weights + stage.baseline
    start = stage.log_prior
    if start is not None and (partly := total.variance > 0).any():
        known = (1.0 - total.share[partly])[:, None]
        scale = damping(total.variance[partly])[:, None]
        lean = (stage.baseline - start) * known
        scores[partly] = start + scale * (lean + total.weights[partly])
    return np.asarray(scores)


def stage_outputs(stage: Stage, scores: Float) -> Float:
    """Link the scores of a stage to its outputs."""
    if stage.link is Link.SOFTMAX:
        return softmax(scores)
    if stage.link is Link.EXP:
        return exp_of_scores(scores)
    # A sum of shares may round to a bit more than 1.
    return np.minimum(scores, 1.0) if stage.link is Link.SHARES else scores


def part_outputs(program: Program, name: str, weights: Float) -> Float:
    """Return what a part would put out if it were alone in its stage.

    Parameters
    ----------
    program : Program
    name : str
        The name of the part.
    weights : ndarray of shape (n_rows, n_outputs)
        What it adds; of a stage, its outputs, which are returned.
    """
    if name in program.stage_numbers:
        return weights
    stage = program.stages[program.part_numbers[name][0]]
    start = stage.baseline if stage.log_prior is None else stage.log_prior
    return stage_outputs(stage, np.asarray(start + weights))


def damping(variance: Float) -> Float:
    """Return the factor (k) of scores beside missing terms of this variance."""
    return np.asarray(1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance))


def missing_share(program: Program, readings: Float) -> Float:
    """Return the share of the last stage's terms that are missing, added up as its groups are."""
    rows, stage = Rows(program, readings), program.stages[-1]
    shares = [rows.missing(term)[0] for term in stage.terms]
    for group in stage.groups:
        total = np.zeros(len(rows))
        for part in group.parts:
            total += shares[part]
        shares.append(total)
    return shares[-1]


def completeness(share: Float) -> Float:
    """Return the part of all weights that is not missing: 0 if all is, however shares round."""
    known = 1.0 - share
    return np.asarray(np.where(known < _MIN_COMPLETENESS, 0.0, known))


def _run_native(program: Program, readings: Float, outputs: Float, scores: bool) -> None:
    native.run(program.flat, readings, outputs, scores=scores)


def _run_numpy(program: Program, readings: Float, outputs: Float, scores: bool) -> None:
    for start in range(0, len(readings), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        last = trace(program, readings[block])[-1]
        outputs[block] = last.scores if scores else last.outputs
