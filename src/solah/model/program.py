"""The program of a model: axes, terms, stages. Every machine that predicts runs it.

A program turns rows of readings into outputs, stage by stage. An *axis* turns one input into
memberships. A *term* adds weights that depend on the memberships of its axes. A *stage* adds up its
terms, group by group, and links the sum to an output. With U the terms of a row that are missing
(a reading is missing, and the term has no rule for that), s their ``share``, v their ``variance``
and E the sum of the weights, the scores of a stage are::

    scores = baseline + E                                                 if v is 0 over U, else
    scores = log_prior + k * ((baseline - log_prior) * (1 - sum of s) + E)
    k      = 1 / sqrt(1 + pi/8 * sum of v)

If everything is missing, the output is the overall shares. If nothing is, the formula changes
nothing.

Sums have an order, so that all machines agree to the bit. A group adds its parts from first to
last, starting at 0. :func:`solah.model.compile.compile_model` makes a program of a model, and
:mod:`solah.model.evaluate` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.arrays import FlatProgram

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solah.kernels.arrays import Float, Int32


class AxisKind(IntEnum):
    """The input of an axis. The numbers are those of ``native/run.c``."""

    READING = 0  # a number: memberships change linearly between peaks
    CATEGORY = 1  # the index of a category; an unseen category is a missing reading
    ONE_BELIEF = 2  # one output of a stage below, read as a number
    ALL_BELIEFS = 3  # all outputs of a stage below, which are the memberships


class Link(IntEnum):
    """The step from scores to outputs. The numbers are those of ``native/run.c``."""

    SOFTMAX = 0  # probabilities of classes
    SHARES = 1  # shares that are averages of rules, and so add up to 1; at most 1 each
    NUMBER = 2  # the scores themselves
    EXP = 3  # e^score, the score bounded by 80 up and down


@dataclass(frozen=True, eq=False)
class Axis:
    """The memberships of one input.

    A value has full membership at a peak. Between two peaks its membership of the upper one rises
    linearly from 0 to 1, and that of the lower one is the rest. Beyond the first and the last peak
    it keeps theirs.

    Attributes
    ----------
    kind : what the input is
    source : the index of the feature, or of the stage for a belief
    peaks : (size,) increasing
    missing : (size,) the memberships of a missing reading; they sum to 1
    output : the output of the stage that ``ONE_BELIEF`` reads
    """

    kind: AxisKind
    source: int
    peaks: Float
    missing: Float
    output: int = 0

    @property
    def size(self) -> int:
        """How many memberships the axis has."""
        return len(self.peaks)

    @property
    def is_read(self) -> bool:
        """Whether the input is a feature, which may be missing."""
        return self.kind <= AxisKind.CATEGORY


@dataclass(frozen=True, eq=False)
class Grid:
    """Rules over all cells of one or two axes.

    A row gets the average of the table over its memberships. A missing reading is one more line
    behind the last of its axis.

    Attributes
    ----------
    rules : (n_1,) or (n_1, n_2) the rule of each cell
    table : (n_1 + 1, n_outputs) or (n_1 + 1, n_2 + 1, n_outputs) the weights of each cell; the
        last line of each axis has those of a missing reading
    """

    rules: Int32
    table: Float


@dataclass(frozen=True, eq=False)
class Walk:
    """Rules that share conditions, as a table of nodes with the root first.

    A row takes the branches of all its memberships, in the order of the nodes. It gets the average
    of the rules that it reaches.

    Attributes
    ----------
    split : (n_nodes,) which axis of the term a node splits on, by its index; -1 for a leaf
    child : (n_nodes,) the child of the axis' first membership, which the others follow; of a leaf,
        its rule
    depth : the number of splits on the longest branch
    """

    split: Int32
    child: Int32
    depth: int

    @classmethod
    def of(cls, rules: Sequence[Sequence[tuple[int, Sequence[int]]]], sizes: Sequence[int]) -> Walk:
        """Put rules together to the tree that asks in the order of their conditions.

        Parameters
        ----------
        rules : the conditions of each: an axis by its index, and some of its memberships
        sizes : the number of memberships of each axis

        Raises
        ------
        ValueError
            If the rules are not the branches of one tree. Its arguments are the index of a rule,
            and the reason.
        """
        split: list[int] = []
        child: list[int] = []
        below = [list(range(len(rules)))]
        depths = [0]
        for members, depth in zip(below, depths, strict=True):  # which grow on the way
            first = members[0]
            if len(rules[first]) == depth:
                if len(members) > 1:
                    raise ValueError(members[1], "another rule has the same conditions")
                split.append(-1)
                child.append(first)
                continue
            axis = rules[first][depth][0]
            split.append(axis)
            child.append(len(below))
            children: list[list[int]] = [[] for _ in range(sizes[axis])]
            for member in members:
                if len(rules[member]) == depth or rules[member][depth][0] != axis:
                    raise ValueError(member, "rules with the same first conditions ask differently")
                for index in rules[member][depth][1]:
                    children[index].append(member)
            if not all(children):
                raise ValueError(first, f"no rule covers set {children.index([])} of its condition")
            below += children
            depths += [depth + 1] * len(children)
        codes = np.array([split, child], dtype=np.int32)
        return cls(codes[0], codes[1], max(depths))


@dataclass(frozen=True, eq=False)
class Term:
    """Rules over some axes.

    Attributes
    ----------
    name : the name of the term in the model
    axes : the indices of its axes in the program
    cells : which rules apply: a grid of one or two axes, or a walk
    weights : (n_rules, n_outputs) what each rule adds; under ``Link.SHARES``, its shares
    missing : (n_outputs,) what a missing reading adds, for a term of one axis; None without such a
        rule
    share : the term's part of the spread of all weights in its stage; these sum to 1, or are all 0
    variance : the variance of what the term adds
    """

    name: str
    axes: tuple[int, ...]
    cells: Grid | Walk
    weights: Float
    missing: Float | None = None
    share: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True)
class Group:
    """Parts of a stage that are added up first.

    Attributes
    ----------
    name : the name of the group in the model
    parts : what it adds, in order: a number below ``len(stage.terms)`` is a term, and one from
        there on is a group before this one, ``stage.groups[part - len(stage.terms)]``
    """

    name: str
    parts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Stage:
    """A sum of terms, and its link to an output.

    Attributes
    ----------
    name : the name of the node in the model whose output this is
    link : the step from scores to outputs
    baseline : (n_outputs,) the scores before any term
    log_prior : (n_outputs,) the logarithms of the overall shares, 0 on average; None unless the
        link is a softmax
    terms : the terms, in the order of the model
    groups : the groups, each behind those that it adds; the last one adds up the stage
    """

    name: str
    link: Link
    baseline: Float
    log_prior: Float | None
    terms: tuple[Term, ...]
    groups: tuple[Group, ...]

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The indices of the axes that the terms use, each once."""
        return tuple(sorted({axis for term in self.terms for axis in term.axes}))

    @cached_property
    def part_names(self) -> tuple[str, ...]:
        """The names of all parts, by their numbers: terms, then groups."""
        return *(term.name for term in self.terms), *(group.name for group in self.groups)


@dataclass(frozen=True, eq=False)
class Program:
    """All that a prediction needs.

    Attributes
    ----------
    features : the names of the columns of a row of readings
    axes : each once
    stages : from bottom to top; the output of the last one is the prediction
    thresholds : (n_outputs,) the probability at which each class is as good a decision as any
        other; None for equal ones
    centres : (n_outputs,) the number that each output represents, if a number is predicted as
        the mean of these; else None
    """

    features: tuple[str, ...]
    axes: tuple[Axis, ...]
    stages: tuple[Stage, ...]
    thresholds: Float | None = None
    centres: Float | None = None

    @cached_property
    def n_outputs(self) -> int:
        """How many numbers each stage puts out: one per class, or one."""
        return len(self.stages[-1].baseline)

    @cached_property
    def read_features(self) -> tuple[int, ...]:
        """The indices of the features that axes read."""
        return tuple(sorted({axis.source for axis in self.axes if axis.is_read}))

    @cached_property
    def has_variances(self) -> bool:
        """Whether the prediction is a sum in which missing terms make the others count less."""
        last = self.stages[-1]
        return last.link is not Link.SHARES and any(term.variance for term in last.terms)

    @cached_property
    def stage_numbers(self) -> dict[str, int]:
        """The index of each stage by its name."""
        return {stage.name: number for number, stage in enumerate(self.stages)}

    @cached_property
    def part_numbers(self) -> dict[str, tuple[int, int]]:
        """Where each part is by its name: the index of its stage, and its number among the parts.

        A stage has the same name as its last group, which adds it up.
        """
        return {
            name: (place, number)
            for place, stage in enumerate(self.stages)
            for number, name in enumerate(stage.part_names)
        }

    @cached_property
    def first_terms(self) -> tuple[int, ...]:
        """The index of each stage's first term among the terms of all stages."""
        return tuple(accumulate((len(stage.terms) for stage in self.stages), initial=0))

    @cached_property
    def flat(self) -> FlatProgram:
        """The program as two arrays, for the C kernel."""
        return _Packing(self).flat()


class _Packing:
    """Lays a program out as records with offsets (see ``native/run.c``)."""

    _LINE, _GRID, _WALK = range(3)

    def __init__(self, program: Program) -> None:
        self._program = program
        self._code: list[int] = []
        self._numbers: list[float] = []

    def flat(self) -> FlatProgram:
        program, n_header = self._program, 8
        self._code = [0] * n_header
        axes = [
            (axis.kind, axis.source, axis.output, axis.size, *self._put_axis(axis))
            for axis in program.axes
        ]
        terms: list[tuple[int, ...]] = []
        stages: list[tuple[int, ...]] = []
        for stage in program.stages:
            first_term = len(terms)
            terms += [self._term(term) for term in stage.terms]
            groups = [(self._put(group.parts), len(group.parts)) for group in stage.groups]
            stages.append(
                (
                    stage.link,
                    self._put_numbers(stage.baseline),
                    -1 if stage.log_prior is None else self._put_numbers(stage.log_prior),
                    self._put(stage.axes),
                    len(stage.axes),
                    first_term,
                    len(stage.terms),
                    self._put(number for group in groups for number in group),
                    len(groups),
                )
            )
        walks = [term.cells for stage in program.stages for term in stage.terms]
        self._code[:n_header] = [
            program.n_outputs,
            len(program.stages),
            len(program.axes),
            max(len(stage.groups) for stage in program.stages),
            max((walk.depth for walk in walks if isinstance(walk, Walk)), default=0),
            self._put(number for axis in axes for number in axis),
            self._put(number for term in terms for number in term),
            self._put(number for stage in stages for number in stage),
        ]
        code = np.array(self._code, dtype=np.int32)
        return FlatProgram(code, np.array(self._numbers))

    def _put_axis(self, axis: Axis) -> tuple[int, int]:
        return self._put_numbers(axis.peaks), self._put_numbers(axis.missing)

    def _term(self, term: Term) -> tuple[int, ...]:
        lost = self._put_numbers(np.array([term.share, term.variance]))
        axes = self._put(term.axes)
        has_rule = int(term.missing is not None)
        if isinstance(term.cells, Walk):
            nodes = self._put(term.cells.split), self._put(term.cells.child)
            table = self._put_numbers(term.weights)
            return self._WALK, len(term.axes), axes, table, *nodes, lost, has_rule
        kind = self._LINE if term.cells.rules.ndim == 1 else self._GRID
        return kind, len(term.axes), axes, self._put_numbers(term.cells.table), 0, 0, lost, has_rule

    def _put(self, numbers: Iterable[int] | Int32) -> int:
        start = len(self._code)
        self._code.extend(int(number) for number in numbers)
        return start

    def _put_numbers(self, numbers: Float) -> int:
        start = len(self._numbers)
        self._numbers.extend(numbers.ravel().tolist())
        return start
