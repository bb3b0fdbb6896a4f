"""Decide as the device does, and give its reasons: what both simulators share.

The simulator of ``export/c_runtime/solah_decide.h``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from solah.exceptions import ParameterError
from solah.export.layout import NO_RULE
from solah.export.policy_tables import Judge
from solah.model.program import AxisKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.export.policy_tables import PolicyTables, Verdicts
    from solah.export.tables import (
        CurveRow,
        GridRow,
        SideRow,
        StageTables,
        StateRow,
        Tables,
        WalkTables,
    )
    from solah.model.program import Axis

    Numbers = NDArray[Any]


class Reason(NamedTuple):
    """A rule that supported a decision.

    Attributes
    ----------
    rule : its number among the export's rules
    amount : the amount by which it raises the lead over the next best class, in the device's
        numbers; for a number, its change of the estimate, or its share in that of a single tree
    """

    rule: int
    amount: Any


class Evidence(NamedTuple):
    """The scores of rows on a device, before it decides.

    Attributes
    ----------
    readings : (n_rows, n_features) in the device's numbers
    scores : (n_rows, n_values) the sums of the last stage
    lost : (n_rows,) the share of importance that is missing
    """

    readings: Numbers
    scores: Numbers
    lost: Numbers


class RuleScores(NamedTuple):
    """The scores of one rule for each row; ``rules`` is -1 where it does not apply."""

    rules: Numbers
    scores: Numbers
    shares: Numbers


class Simulator(ABC):
    """Simulator of a device.

    Parameters
    ----------
    tables : the tables in the device's flash
    policy : when the device abstains; None if it always decides

    Attributes
    ----------
    policy : as given
    unit : the size of one unit of scores or of an estimated number
    belief_unit : the size of one unit of probability
    belief_type : the type in which the device keeps probabilities
    whole : the number for a probability, a share or a branch weight of 1
    is_number : whether a number is estimated, rather than a class decided on
    features : the features of a row, in their order
    """

    unit = 1.0
    belief_unit = 1.0

    belief_type: type[np.generic]
    whole: Any
    _one: Any  # a probability of 1

    def __init__(self, tables: Tables, policy: PolicyTables | None = None) -> None:
        self.policy = policy
        self._n_values = tables.layout.n_values
        self.is_number, self.features = tables.layout.is_number, tables.layout.features
        self._tables = tables

    def decide(self, rows: NDArray[np.floating]) -> tuple[NDArray[np.intp], Numbers]:
        """Decide on rows of readings ``(n_rows, n_features)``.

        Returns
        -------
        places : ndarray of shape (n_rows,)
            The classes' places.
        beliefs : ndarray of shape (n_rows, n_classes)
            Float32, or integers in the unit 2^-15.
        """
        total, beliefs = self._believe(self._read(rows))
        places = np.argmax(self._scores(total, beliefs[-1]), axis=1)
        return places, beliefs[-1].astype(self.belief_type)

    def judge(self, rows: NDArray[np.floating]) -> Verdicts:
        """Decide on rows in the order of time, by the policy.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)

        Returns
        -------
        verdicts : Verdicts
        """
        return self.start_judging().take(rows)

    def start_judging(self) -> Judge:
        """Return an object that decides on rows in order."""
        if self.policy is None:
            raise ParameterError("the model has neither a policy nor a domain; use decide")
        return Judge(self, self.policy)

    def evidence(self, rows: NDArray[np.floating]) -> Evidence:
        """Return the scores of rows, before any decision."""
        x = self._read(rows)
        *before, last = self._tables.stages
        beliefs: list[Numbers] = []
        for stage in before:
            beliefs.append(self._to_belief(stage, self._add_up(stage, x, beliefs)))
        return Evidence(x, self._add_up(last, x, beliefs), self._lost(last, x)[0])

    def conclude(self, scores: Numbers) -> tuple[Numbers, Numbers]:
        """Return probabilities, and the preferences among classes, from scores."""
        beliefs = self._to_belief(self._tables.stages[-1], scores)
        return beliefs, self._scores(scores, beliefs)

    def estimate(self, rows: NDArray[np.floating]) -> Numbers:
        """Estimate a number for each row of readings, in the device's unit."""
        return self._add_up(self._tables.stages[0], self._read(rows), [])[:, 0]

    def why(self, rows: NDArray[np.floating], n_most: int = 3) -> list[list[Reason]]:
        """Name, for each row, the rules that add most to the decision, the largest first.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
        n_most : int, default=3
            How many to name at most.
        """
        x = self._read(rows)
        total, beliefs = self._believe(x)
        best, following = self._first_two(total, beliefs[-1])
        found: list[list[Reason]] = [[] for _ in rows]
        for rule in self._rule_scores(self._tables.stages[-1], x, beliefs):
            leads = self._leads(rule, best, following)
            for i in np.flatnonzero((leads > 0) & (rule.rules >= 0)).tolist():
                _note(found[i], Reason(int(rule.rules[i]), leads[i]), n_most)
        return [[Reason(rule, amount.item()) for rule, amount in reasons] for reasons in found]

    def states(self, x: Numbers, n_states: int) -> Numbers:
        """Return the indices of categories; -1 for unseen ones."""
        places = self._state(x, n_states)
        return np.where(places < n_states, places, -1)

    def _believe(self, x: Numbers) -> tuple[Numbers, list[Numbers]]:
        """Compute all probabilities, from bottom to top, and the scores of the last stage."""
        beliefs: list[Numbers] = []
        for stage in self._tables.stages:
            total = self._add_up(stage, x, beliefs)
            beliefs.append(self._to_belief(stage, total))
        return total, beliefs

    def _complete(self, total: Numbers) -> Numbers:
        """Give the first class the rest of a tree's probability."""
        left = np.full(len(total), self.whole)
        beliefs = []
        for of_class in total.T:
            beliefs.append(np.clip(self._as_belief(of_class), 0 * left, left))
            left = left - beliefs[-1]
        return np.column_stack([left, *beliefs])

    def _to_belief(self, stage: StageTables, total: Numbers) -> Numbers:
        is_evidence = stage.is_weighed and not self.is_number
        return self._share(stage, total) if is_evidence else self._complete(total)

    def _add_up(self, stage: StageTables, x: Numbers, beliefs: list[Numbers]) -> Numbers:
        total: Numbers = np.tile(stage.start, (len(x), 1))
        for curve in self._tables.curves[stage.parts.curves]:
            total += self._of_curve(curve, x[:, curve.feature])
        for states in self._tables.states[stage.parts.states]:
            total += self._of_states(states, x[:, states.feature])
        for grid in self._tables.grids[stage.parts.grids]:
            lines, weights, _ = self._mix(grid, x)
            total += self._rounded((weights[..., None] * self._lines(grid)[lines]).sum(axis=1))
        for walk in self._tables.walks[stage.parts.walks]:
            of_tree: Numbers = np.zeros_like(total)
            for _, _, products in self._branches(walk, x, beliefs):
                of_tree += products
            total += self._rounded(of_tree)
        return self._without(stage, total, self._lost(stage, x))

    def _lost(self, stage: StageTables, x: Numbers) -> tuple[Numbers, Numbers]:
        """Add up the shares of the parts of a stage that are unknown, and their squares."""
        shares: Numbers = np.zeros(len(x), dtype=self.whole.dtype)
        squares = shares.copy()
        if stage.lost is None:
            return shares, squares
        for share, is_known in zip(stage.lost.shares, self._known_parts(stage, x), strict=True):
            shares += np.where(is_known, 0 * share, share)
            squares += np.where(is_known, 0 * share, share * share)
        return shares, squares

    def _known_parts(self, stage: StageTables, x: Numbers) -> Iterator[Numbers]:
        for curve in self._tables.curves[stage.parts.curves]:
            yield self.are_known(x[:, curve.feature])
        for states in self._tables.states[stage.parts.states]:
            yield self._state(x[:, states.feature], states.n_states) < states.n_states
        for grid in self._tables.grids[stage.parts.grids]:
            yield self._mix(grid, x)[2]
        for walk in self._tables.walks[stage.parts.walks]:
            yield np.all([self._is_read(one, x) for one in walk.inputs], axis=0)

    def _without(
        self, stage: StageTables, total: Numbers, lost: tuple[Numbers, Numbers]
    ) -> Numbers:
        """Return the scores of a stage without its missing parts."""
        shares, squares = lost
        if stage.lost is None or not shares.any():
            return total
        prior, lean = np.split(stage.lost.prior, 2)
        left = (total - prior) - self._scaled(lean, shares[:, None])
        damped = prior + self._scaled(left, self._damping(stage.lost, squares)[:, None])
        return np.where(shares[:, None] > 0, damped, total)

    def _rule_scores(
        self, stage: StageTables, x: Numbers, beliefs: list[Numbers]
    ) -> Iterator[RuleScores]:
        """Yield the scores of each curve, each table of states and each rule of a tree."""
        whole = np.full(len(x), self._one)
        for curve in self._tables.curves[stage.parts.curves]:
            readings = x[:, curve.feature]
            rules = np.array(curve.rules)[self._nearest(curve, readings)]
            known = np.where(self.are_known(readings), rules, -1)
            yield RuleScores(known, self._of_curve(curve, readings), whole)
        for states in self._tables.states[stage.parts.states]:
            readings = x[:, states.feature]
            rules = np.array([*states.rules, -1])[self._state(readings, states.n_states)]
            yield RuleScores(rules, self._of_states(states, readings), whole)
        for grid in self._tables.grids[stage.parts.grids]:
            lines, weights, _ = self._mix(grid, x)
            for line, weight in zip(lines.T, weights.T, strict=True):
                is_rule = (weight > 0) & (line < len(grid.rules))
                yield RuleScores(
                    np.where(is_rule, grid.rules[0] + line, -1),
                    self._part(weight[:, None], self._lines(grid)[line]),
                    self._part(weight, self._one),
                )
        for walk in self._tables.walks[stage.parts.walks]:
            yield from self._of_rules(walk, x, beliefs)

    def _mix(self, grid: GridRow, x: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Mix the cells between which two readings lie, as ``solah_mix_cells`` does.

        Returns
        -------
        lines : (n_rows, 4) the lines of values
        weights : (n_rows, 4) their weights; that of a line that comes again is 0 there
        known : (n_rows,) whether both readings are known
        """
        first, second = (self._between(side, x[:, side.feature]) for side in grid.sides)
        n_columns = grid.sides[1].n_lines + 1
        rows = np.minimum(first[0][:, None] + [0, 0, 1, 1], grid.sides[0].n_lines)
        columns = np.minimum(second[0][:, None] + [0, 1, 0, 1], n_columns - 1)
        lines = self._tables.cells[grid.cell + rows * n_columns + columns]
        weights = self._times(first[1][:, [0, 0, 1, 1]], second[1][:, [0, 1, 0, 1]])
        for later in range(1, 4):
            for earlier in range(later):
                same = lines[:, earlier] == lines[:, later]
                weights[same, earlier] += weights[same, later]
                weights[same, later] = 0
        known = (first[0] < grid.sides[0].n_lines) & (second[0] < n_columns - 1)
        return lines, weights, known

    def _between(self, side: SideRow, x: Numbers) -> tuple[Numbers, Numbers]:
        """Find the line of a grid that readings begin at, and the weights of it and the next."""
        weights: Numbers = np.zeros((len(x), 2), dtype=self.whole.dtype)
        weights[:, 0] = self.whole
        if side.is_state:
            return self._state(x, side.n_lines), weights
        known = self.are_known(x)
        knots = self._tables.knots[side.knot : side.knot + side.n_lines]
        inside = np.where(known, self._relative(side.feature, x), knots[0])
        inside = np.minimum(np.maximum(inside, knots[0]), knots[-1])
        line = np.searchsorted(knots, inside, side="right") - 1
        rows = np.flatnonzero(known & (inside > knots[line]))
        pieces = line[rows]
        weights[rows, 1] = self._upper(side, pieces, inside[rows] - knots[pieces])
        weights[:, 0] -= weights[:, 1]
        return np.where(known, line, side.n_lines), weights

    def _lines(self, grid: GridRow) -> Numbers:
        n_lines = 1 + int(self._tables.cells[self._cells_of(grid)].max())
        lines = self._tables.values[grid.value : grid.value + n_lines * self._n_values]
        return lines.reshape(n_lines, self._n_values)

    @staticmethod
    def _cells_of(grid: GridRow) -> slice:
        first, second = (side.n_lines + 1 for side in grid.sides)
        return slice(grid.cell, grid.cell + first * second)

    def _of_rules(
        self, walk: WalkTables, x: Numbers, beliefs: list[Numbers]
    ) -> Iterator[RuleScores]:
        """Yield the scores of each rule of a tree, all its branches together.

        A rule does not apply where a value of its conditions is missing.
        """
        places = _named_inputs(walk)
        is_read = [self._is_read(one, x) for one in walk.inputs]
        weights: dict[int, tuple[int, Numbers]] = {}
        for node, weight, _ in self._branches(walk, x, beliefs):
            leaf, before = weights.get(walk.rules[node], (node, 0))
            weights[walk.rules[node]] = leaf, before + weight
        weights.pop(NO_RULE, None)
        for rule, (leaf, weight) in weights.items():
            is_reason = np.ones(len(x), dtype=np.bool_)
            for a in places[leaf]:
                is_reason &= is_read[a]
            values = self._leaf(walk, int(walk.first_child[leaf]))
            yield RuleScores(
                np.where(is_reason, rule, -1),
                self._part(weight[:, None], values),
                self._part(weight, self._one),
            )

    def _is_read(self, axis: Axis, x: Numbers) -> Numbers:
        """Find the rows in which an axis is not missing; outputs of nodes never are."""
        if not axis.is_read:
            return np.ones(len(x), dtype=np.bool_)
        readings = x[:, axis.source]
        if axis.kind is AxisKind.CATEGORY:
            return np.asarray(self._state(readings, axis.size) < axis.size)
        return np.asarray(self.are_known(readings))

    def _find(self, curve: CurveRow, x: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the piece that each reading lies on, and its ways from both knots."""
        knots = self._tables.knots[curve.knot : curve.knot + curve.n_knots]
        known = np.where(self.are_known(x), self._relative(curve.feature, x), knots[0])
        inside = np.minimum(np.maximum(known, knots[0]), knots[-1])
        piece = np.minimum(np.searchsorted(knots, inside, side="right") - 1, len(knots) - 2)
        return piece, inside - knots[piece], knots[piece + 1] - inside

    def _nearest(self, curve: CurveRow, x: Numbers) -> Numbers:
        """Return the places of the knots nearest to readings."""
        piece, way, left = self._find(curve, x)
        return piece + ~(way < left)

    def _of_states(self, states: StateRow, x: Numbers) -> Numbers:
        n_lines = states.n_states + 1
        lines = self._tables.values[states.value : states.value + n_lines * self._n_values]
        return lines.reshape(n_lines, self._n_values)[self._state(x, states.n_states)]

    def _branches(
        self, walk: WalkTables, x: Numbers, beliefs: list[Numbers]
    ) -> Iterator[tuple[int, Numbers, Numbers]]:
        """Yield the leaves of a tree, depth first, with the weights of rows.

        With them come their products with the scores of leaves, which are rounded when all are
        added up.
        """
        masses = [self._masses(walk, a, x, beliefs) for a in range(len(walk.inputs))]
        stack = [(0, np.full(len(x), self.whole))]
        while stack:
            node, weight = stack.pop()
            split, first = int(walk.split[node]), int(walk.first_child[node])
            if split < 0:
                yield node, weight, weight[:, None] * self._leaf(walk, first)
                continue
            below = [(first + k, self._times(weight, m)) for k, m in enumerate(masses[split].T)]
            stack += reversed([(child, part) for child, part in below if (part > 0).any()])

    def _leaf(self, walk: WalkTables, number: int) -> Numbers:
        """Return the scores of a leaf."""
        return np.asarray(walk.values[number])

    def _scores(self, total: Numbers, belief: Numbers) -> Numbers:
        """Return the score of each class in the end."""
        is_weighed = self._tables.stages[-1].is_weighed
        scores = np.insert(total, 0, 0, axis=1) if is_weighed else belief
        preference = self._tables.preference
        if preference is not None:
            scores = scores + preference if is_weighed else scores * preference
        return np.asarray(scores)

    def _first_two(self, total: Numbers, belief: Numbers) -> tuple[Numbers, Numbers]:
        if self.is_number:
            nothing = np.zeros(len(total), dtype=np.intp)
            return nothing, nothing
        order = np.argsort(-self._scores(total, belief), axis=1, kind="stable")
        return order[:, 0], order[:, 1]

    def _leads(self, rule: RuleScores, best: Numbers, following: Numbers) -> Numbers:
        is_weighed = self._tables.stages[-1].is_weighed
        if self.is_number:
            return np.abs(rule.scores[:, 0]) if is_weighed else rule.shares
        first = 0 * rule.shares
        if not is_weighed:
            first = rule.shares
            for of_class in rule.scores.T:
                first = first - of_class
        scores, rows = np.column_stack([first, rule.scores]), np.arange(len(best))
        return np.asarray(scores[rows, best] - scores[rows, following])

    @abstractmethod
    def smooth(self, scores: Numbers, mean: Any, bits: int) -> tuple[Numbers, Any]:
        """Average scores exponentially, row after row.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_values)
        mean : what the last call returned; None to begin with the first row
        bits : each row counts 2^-bits

        Returns
        -------
        smoothed : ndarray of shape (n_rows, n_values)
        mean : what the next call needs
        """

    @abstractmethod
    def _read(self, rows: NDArray[np.floating]) -> Numbers:
        """Turn rows of readings into the numbers that the runtime computes with."""

    @abstractmethod
    def are_known(self, x: Numbers) -> Numbers:
        """Find the readings that are known."""

    @abstractmethod
    def _state(self, x: Numbers, n_states: int) -> Numbers:
        """Return the indices of categories; ``n_states`` for unseen ones."""

    @abstractmethod
    def _relative(self, feature: int, x: Numbers) -> Numbers:
        """Return readings as knots have them."""

    @abstractmethod
    def _of_curve(self, curve: CurveRow, x: Numbers) -> Numbers:
        """Return the scores of readings on a curve."""

    @abstractmethod
    def _masses(self, walk: Any, a: int, x: Numbers, beliefs: list[Numbers]) -> Numbers:
        """Return the masses of what a tree asks on its focal sets."""

    @abstractmethod
    def _upper(self, side: SideRow, pieces: Numbers, way: Numbers) -> Numbers:
        """Return how far readings are on their way from a peak to the next one."""

    @abstractmethod
    def _times(self, weight: Numbers, mass: Numbers) -> Numbers:
        """Return the weight of a branch that goes on."""

    @abstractmethod
    def _rounded(self, total: Numbers) -> Numbers:
        """Return the scores of a tree, of the products of all its branches."""

    @abstractmethod
    def _part(self, weight: Numbers, values: Numbers) -> Numbers:
        """Return the scores of a branch of this weight."""

    @abstractmethod
    def _scaled(self, numbers: Numbers, shares: Numbers) -> Numbers:
        """Return shares of numbers."""

    @abstractmethod
    def _damping(self, lost: Any, squares: Numbers) -> Numbers:
        """Return the factor of scores beside missing parts."""

    @abstractmethod
    def _share(self, stage: Any, total: Numbers) -> Numbers:
        """Turn scores against the first class into probabilities."""

    @abstractmethod
    def _as_belief(self, scores: Numbers) -> Numbers:
        """Turn the scores of a tree into probabilities, which may not sum to 1 yet."""


def _named_inputs(walk: WalkTables) -> dict[int, tuple[int, ...]]:
    """Find the inputs that the rule of each leaf names.

    A rule names what is asked on the way; where it has all leaves of a node, the last is not named.
    """
    named: dict[int, tuple[int, ...]] = {}
    stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while stack:
        node, inputs = stack.pop()
        a = int(walk.split[node])
        if a < 0:
            named[node] = inputs
            continue
        first = int(walk.first_child[node])
        children = np.arange(first, first + walk.inputs[a].size)
        is_one_rule = (walk.split[children] < 0).all() and np.ptp(walk.rules[children]) == 0
        below = inputs if is_one_rule else (*inputs, a)
        stack += [(child, below) for child in children.tolist()]
    return named


def _note(reasons: list[Reason], reason: Reason, n_most: int) -> None:
    """Put a reason in its place, as ``solah_note`` does."""
    reasons.append(reason)
    reasons.sort(key=lambda one: (-one.amount, one.rule))
    del reasons[max(n_most, 0) :]
