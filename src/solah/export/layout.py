"""Lays a program out as what devices compute: curves, tables of categories, grids and walks.

Weights are relative to those of the first class, so that a rule has one number less. A term with
one measured feature becomes a broken line over its readings, without the knots at which it does not
bend. A term with two measured features or categories becomes a grid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.kernels.sums import mixture
from solah.model.program import AxisKind, Grid, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float, Int32
    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.model.program import Axis, Program, Stage, Term


NO_RULE = 2**16 - 1
"""The number of a leaf that is never named as a reason."""
_MOST_LINES = 255
# Weights are 0 on average, up to what sums of doubles leave.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Curve:
    """The weights of one measured feature: linear between knots, constant beyond the last ones.

    Attributes
    ----------
    feature : the index of the feature
    knots : (n_knots,) readings, increasing, at least two
    values : (n_knots, n_values) the weights at each
    unknown : (n_values,) the weights of a missing reading
    rules : (n_knots,) the numbers of the rules
    share : the share of the weights that is missing with the reading
    """

    feature: int
    knots: Float
    values: Float
    unknown: Float
    rules: Int32
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class StateTable:
    """The weights of one categorical feature: a line per category, and one for a missing reading.

    Features are as for :class:`Curve`.
    """

    feature: int
    values: Float
    unknown: Float
    rules: Int32
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class GridTerm:
    """The weights of two features together: linear between the peaks of both.

    Attributes
    ----------
    axes : the axes of both features
    lines : (n_1 + 1, n_2 + 1) the line of each cell; the last of each axis is for a missing reading
    values : (n_lines, n_values) the weights of each rule, then those of missing readings
    rules : (n_rules,) the numbers of the rules, which are consecutive
    share : the share of the weights that is missing with any of both readings
    """

    axes: tuple[Axis, Axis]
    lines: Int32
    values: Float
    rules: Int32
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class WalkTerm:
    """Rules over several axes that share conditions, as a table of nodes with the root first.

    Attributes
    ----------
    name : the name of the term
    axes : the axes that it splits on
    split : (n_nodes,) the axis of a node, by its index in ``axes``; -1 for a leaf
    child : (n_nodes,) the first child of a node; of a leaf, its line
    values : (n_lines, n_values) the weights of each rule, and behind them those of a missing
        reading, where the term has a rule for it
    rules : (n_nodes,) the numbers of the rules of leaves
    share : the share of the weights that is missing with any reading
    """

    name: str
    axes: tuple[Axis, ...]
    split: Int32
    child: Int32
    values: Float
    rules: Int32
    share: float = 0.0

    @property
    def depth(self) -> int:
        """The number of splits on the longest branch."""
        depths = np.zeros(len(self.split), dtype=np.int64)
        for node in np.flatnonzero(self.split >= 0).tolist():
            depths[_children(self, node)] = depths[node] + 1
        return int(depths.max())


@dataclass(frozen=True, eq=False)
class Lost:
    """The scores of a stage beside missing terms.

    With S the sum of the shares of these terms, Q that of their squares, and E the sum of all
    weights, the scores are ``prior + k * (lean * (1 - S) + E)``, where ``k = 1 / sqrt(1 + factor *
    Q)``: the variance of a term is its squared share times a number that all terms have in common.

    Attributes
    ----------
    prior : (n_values,) the logarithms of the overall shares of classes
    lean : (n_values,) the baseline less the prior
    factor : pi / 8 times the variance of a term that would have all shares
    """

    prior: Float
    lean: Float
    factor: float


@dataclass(frozen=True, eq=False)
class StageLayout:
    """All that leads to one output.

    Attributes
    ----------
    name : the name of the stage
    is_weighed : whether weights, or numbers, are added up; else one term gives the shares
    start : (n_values,) the scores before any term
    curves, tables, grids, walks : the terms
    lost : the scores beside missing terms; None if these change nothing else
    """

    name: str
    is_weighed: bool
    start: Float
    curves: tuple[Curve, ...]
    tables: tuple[StateTable, ...]
    grids: tuple[GridTerm, ...]
    walks: tuple[WalkTerm, ...]
    lost: Lost | None = None

    @property
    def terms(self) -> tuple[Curve | StateTable | GridTerm | WalkTerm, ...]:
        """All terms, in the order in which they are added up."""
        return (*self.curves, *self.tables, *self.grids, *self.walks)

    @property
    def shares(self) -> Float:
        """The shares of all terms, in their order."""
        return np.array([term.share for term in self.terms])


@dataclass(frozen=True, eq=False)
class Layout:
    """All that a device has to compute.

    Attributes
    ----------
    program : the program
    features : the features of a row, with their words
    stages : from bottom to top; the output of the last one is the prediction
    rules : those of the last stage, by their numbers: the name of the term, and the index of its
        rule there; in other stages each walk has its own numbers
    """

    program: Program
    features: tuple[Feature, ...]
    stages: tuple[StageLayout, ...]
    rules: tuple[tuple[str, int], ...]

    @property
    def adds_numbers(self) -> bool:
        """Whether the prediction is a number that terms add up to."""
        return self.program.stages[-1].link in (Link.NUMBER, Link.EXP)

    @property
    def takes_exp(self) -> bool:
        """Whether the prediction is e to the power of what terms add up to."""
        return self.program.stages[-1].link is Link.EXP

    @property
    def is_number(self) -> bool:
        """Whether the prediction is a number."""
        return self.adds_numbers or self.program.centres is not None

    @property
    def n_classes(self) -> int:
        """How many classes there are; 1 for a number."""
        return 1 if self.is_number else self.program.n_outputs

    @property
    def n_values(self) -> int:
        """How many numbers a rule has: one per class but the first, or the number itself."""
        return 1 if self.is_number else self.program.n_outputs - 1


def lay_out(model: Model, *, only_walks: bool = False) -> Layout:
    """Lay out the program of a model.

    Parameters
    ----------
    model : Model
    only_walks : bool, default=False
        Whether all terms become walks, as learning requires.

    Raises
    ------
    ParameterError
        If the model knows one class only.
    """
    if len(model.target.classes) == 1:
        raise ParameterError(
            f"the model knows one class only, {model.target.classes[0]!r}: there is nothing to "
            "decide or to learn; train on rows of two classes at least"
        )
    return _Builder(model, only_walks).layout()


class _Builder:
    def __init__(self, model: Model, only_walks: bool) -> None:
        self._program, self._features = model.program, model.features
        self._only_walks = only_walks
        self._rules: list[tuple[str, int]] = []

    def layout(self) -> Layout:
        stages = tuple(self._stage(stage) for stage in self._program.stages)
        return Layout(self._program, self._features, stages, tuple(self._rules))

    def _stage(self, stage: Stage) -> StageLayout:
        start = self._against_first(stage, stage.baseline)
        parts: dict[type, list[Any]] = {Curve: [], StateTable: [], GridTerm: [], WalkTerm: []}
        if stage.link is Link.SHARES and self._program.centres is not None:
            # From the middle on, so that the weights of rules are small and their unit is fine.
            numbers = mixture(self._program.centres, stage.terms[0].weights.T)
            start = np.array([(numbers.min() + numbers.max()) / 2])
        for term in stage.terms:
            values = self._values(stage, term, start)
            part = self._term(stage, term, values)
            if isinstance(part, np.ndarray):
                start = start + part
            else:
                parts[type(part)].append(part)
        is_weighed = stage.link is not Link.SHARES
        curves, tables, grids, walks = map(tuple, parts.values())
        laid_out = StageLayout(stage.name, is_weighed, start, curves, tables, grids, walks)
        return replace(laid_out, lost=self._lost(stage, laid_out.shares))

    def _lost(self, stage: Stage, shares: Float) -> Lost | None:
        if stage.link is not Link.SOFTMAX or not shares.any():
            return None
        assert stage.log_prior is not None
        prior = self._against_first(stage, stage.log_prior)
        spread = sum(np.sqrt(term.variance) for term in stage.terms)
        lean = self._against_first(stage, stage.baseline) - prior
        return Lost(prior, lean, float(np.pi / 8 * spread**2))

    def _values(self, stage: Stage, term: Term, start: Float) -> Float:
        """Return the weights of the rules of a term, as a device has them."""
        if stage.link is not Link.SHARES:
            return self._against_first(stage, term.weights)
        if self._program.centres is None:
            return term.weights[:, 1:]
        return np.asarray(mixture(self._program.centres, term.weights.T)[:, None] - start)

    def _against_first(self, stage: Stage, weights: Float) -> Float:
        """Return the weights of all classes but the first, less those of the first."""
        if stage.link is Link.SOFTMAX:
            return np.asarray(weights[..., 1:] - weights[..., :1])
        return weights[..., 1:] if stage.link is Link.SHARES else weights

    def _term(
        self, stage: Stage, term: Term, values: Float
    ) -> Curve | StateTable | GridTerm | WalkTerm | Float:
        """Return a term, or its weights if they are always the same."""
        share = 0.0 if stage.link is not Link.SOFTMAX or term.missing is not None else term.share
        axes = [self._program.axes[axis] for axis in term.axes]
        if not self._only_walks:
            if share == 0 and term.missing is None and (values == values[0]).all():
                return np.asarray(values[0])
            if len(axes) == 1 and axes[0].is_read:
                return self._line(stage, term, axes[0], values, share)
            grid = self._grid(stage, term, values, share)
            if grid is not None:
                return grid
        return self._walk(stage, term, values, share)

    def _line(
        self, stage: Stage, term: Term, axis: Axis, values: Float, share: float
    ) -> Curve | StateTable:
        """Return a term over one feature."""
        cells = _cells(term, axis)
        numbers = np.array(self._number(stage, [(term.name, rule) for rule in range(len(values))]))
        lines, rules = values[cells], numbers[cells]
        if term.missing is not None:
            unknown = self._against_first(stage, term.missing)
        else:
            unknown = mixture(axis.missing, lines)
            unknown[np.abs(unknown) <= _ROUNDING * np.abs(lines).max()] = 0.0
        if axis.kind is AxisKind.CATEGORY:
            return StateTable(axis.source, lines, unknown, rules, share)
        bends, knots = _bending(lines), axis.peaks
        if len(bends) == 1:  # constant, and it only matters whether the reading is missing
            bends, knots = [0, 0], np.array([knots[0], knots[0] + 1.0])
        else:
            knots = knots[bends]
        return Curve(axis.source, knots, lines[bends], unknown, rules[bends], share)

    def _grid(self, stage: Stage, term: Term, values: Float, share: float) -> GridTerm | None:
        """Return a term over two features; None if it has one, or too many lines."""
        first, *others = (self._program.axes[axis] for axis in term.axes)
        if not isinstance(term.cells, Grid) or len(others) != 1 or stage.link is Link.SHARES:
            return None
        (second,) = others
        if not (first.is_read and second.is_read) or max(first.size, second.size) >= _MOST_LINES:
            return None
        rules, table = term.cells.rules, self._against_first(stage, term.cells.table)
        lines = np.full(table.shape[:2], -1, dtype=np.int32)
        lines[:-1, :-1] = rules
        # A rule about one feature alone applies whether the other one is missing or not.
        lines[:-1, -1] = np.where(_is_level(rules), rules[:, 0], -1)
        lines[-1, :-1] = np.where(_is_level(rules.T), rules[0], -1)
        missing = lines < 0
        unknown, places = np.unique(table[missing], axis=0, return_inverse=True)
        if len(values) + len(unknown) > _MOST_LINES:
            return None
        lines[missing] = len(values) + places.ravel()
        numbers = self._number(stage, [(term.name, rule) for rule in range(len(values))])
        return GridTerm(
            (first, second), lines, np.vstack([values, unknown]), np.array(numbers), share
        )

    def _walk(self, stage: Stage, term: Term, values: Float, share: float) -> WalkTerm:
        axes = tuple(self._program.axes[axis] for axis in term.axes)
        split, child = _nodes(term)
        walk = WalkTerm(term.name, axes, split, child, values, np.zeros_like(child), share)
        if term.missing is not None:
            walk = self._with_missing(stage, term.missing, walk)
        heads = _heads_of_reasons(walk)
        named = _in_reading_order(walk, heads)
        if term.missing is not None:
            named = [head for head in named if walk.child[head] < len(values)]
        numbers = np.full(len(heads), NO_RULE, dtype=np.int32)
        numbers[named] = self._number(stage, [(term.name, int(walk.child[n])) for n in named])
        return replace(walk, rules=np.where(walk.split < 0, numbers[heads], 0))

    def _with_missing(self, stage: Stage, missing: Float, walk: WalkTerm) -> WalkTerm:
        """Add a word, which no reading reaches, with all the membership of a missing reading."""
        (axis,) = walk.axes
        beyond = float(axis.size) if axis.kind is AxisKind.CATEGORY else np.inf
        memberships = np.append(np.zeros(axis.size), 1.0)
        lines = np.repeat(walk.child, axis.size) if walk.split[0] < 0 else walk.child[1:]
        own = replace(axis, peaks=np.append(axis.peaks, beyond), missing=memberships)
        return replace(
            walk,
            axes=(own,),
            split=np.array([0, *[-1] * own.size], dtype=np.int32),
            child=np.array([1, *lines, len(walk.values)], dtype=np.int32),
            values=np.vstack([walk.values, self._against_first(stage, missing)]),
        )

    def _number(self, stage: Stage, rules: list[tuple[str, int]]) -> list[int]:
        """Give rules numbers: those of the last stage in one list, those of others by term."""
        if stage is not self._program.stages[-1]:
            return list(range(len(rules)))
        first = len(self._rules)
        self._rules += rules
        return list(range(first, first + len(rules)))


def _cells(term: Term, axis: Axis) -> Int32:
    """Return the rule of each membership of a term over one axis."""
    if isinstance(term.cells, Grid):
        return term.cells.rules
    split, child = term.cells.split, term.cells.child
    return np.repeat(child[:1], axis.size) if split[0] < 0 else child[1:]


def _nodes(term: Term) -> tuple[Int32, Int32]:
    """Return the nodes of a term as a walk: the axis that each splits on, and its first child."""
    if not isinstance(term.cells, Grid):
        return term.cells.split, term.cells.child
    rules = term.cells.rules
    if (rules == rules.flat[0]).all():
        return np.array([-1], dtype=np.int32), rules.ravel()[:1]
    first, second = 0, 1
    if rules.ndim == 1:
        rules = rules[:, None]
    elif _is_level(rules).sum() < _is_level(rules.T).sum():
        first, second, rules = 1, 0, rules.T
    split, child = [first, *[-1] * len(rules)], [1, *rules[:, 0].tolist()]
    for node in 1 + np.flatnonzero(~_is_level(rules)):
        split[node], child[node] = second, len(split)
        split += [-1] * rules.shape[1]
        child += rules[node - 1].tolist()
    return np.array(split, dtype=np.int32), np.array(child, dtype=np.int32)


def _is_level(rules: Int32) -> NDArray[np.bool_]:
    """Find the lines of a grid that have one rule."""
    return np.asarray((rules == rules[:, :1]).all(axis=1))


def _children(walk: WalkTerm, node: int) -> slice:
    first = int(walk.child[node])
    return slice(first, first + walk.axes[walk.split[node]].size)


def _heads_of_reasons(walk: WalkTerm) -> NDArray[np.intp]:
    """Return the first of the leaves that are one reason: those of one rule below one node.

    Leaves of different nodes are one reason only if a reading never has memberships of both: those
    below different categories of a feature.
    """
    like = np.arange(len(walk.split))  # an earlier node with the same branches
    heads = np.arange(len(walk.split))
    for node in np.flatnonzero(walk.split >= 0).tolist():
        below = _children(walk, node)
        if like[node] != node:
            simulators = _children(walk, int(like[node]))
            like[below], heads[below] = like[simulators], heads[simulators]
            continue
        first_with: dict[object, int] = {}
        is_coded = walk.axes[walk.split[node]].kind is AxisKind.CATEGORY
        for child in range(below.start, below.stop):
            if walk.split[child] < 0:
                heads[child] = first_with.setdefault(int(walk.child[child]), child)
            elif is_coded:
                like[child] = first_with.setdefault(_branches(walk, child), child)
    return heads


def _branches(walk: WalkTerm, node: int) -> object:
    """Return what is equal for nodes with the same branches."""
    if walk.split[node] < 0:
        return int(walk.child[node])
    below = _children(walk, node)
    nodes = range(below.start, below.stop)
    return (int(walk.split[node]), *(_branches(walk, child) for child in nodes))


def _in_reading_order(walk: WalkTerm, heads: NDArray[np.intp]) -> list[int]:
    """Return the first leaves of all reasons: depth first, those of one rule together."""
    order = list(_depth_first(walk))
    places = {node: place for place, node in enumerate(order)}
    first_of_rule: dict[int, int] = {}
    for node in order:
        if walk.split[node] < 0:
            first_of_rule.setdefault(int(walk.child[node]), places[node])
    named = set(heads[walk.split < 0].tolist())
    return sorted(named, key=lambda leaf: (first_of_rule[int(walk.child[leaf])], leaf))


def _depth_first(walk: WalkTerm) -> Iterator[int]:
    stack = [0]
    while stack:
        node = stack.pop()
        yield node
        if walk.split[node] >= 0:
            below = _children(walk, node)
            stack.extend(reversed(range(below.start, below.stop)))


def _bending(values: Float) -> list[int]:
    """Return the knots at which a broken line bends; the first one alone if it never does."""
    level = [bool((a == b).all()) for a, b in pairwise(values)]
    before, after = [True, *level], [*level, True]
    kept = [k for k in range(len(values)) if not (before[k] and after[k])]
    return kept or [0]
