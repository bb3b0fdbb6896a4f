"""Describes the shape of each term: its contribution to the score at each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError
from solah.explain.importance import node_shares
from solah.explain.rule_text import named_class, printed_weights
from solah.explain.rules import part_rules

if TYPE_CHECKING:
    from solah.data import State
    from solah.explain.rules import PartRules
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Term, TermInput


@dataclass(frozen=True, eq=False)
class Side:
    """A feature of a term, with the values between which the contribution is a straight line.

    Attributes
    ----------
    name : the feature's name
    knots : (n,) values in ascending order; of categories, their indices
    lines : (n,) the line of the term's grid at each knot
    labels : the categories; none for a continuous feature
    edges : (n_lines + 1,) the ends of the ranges of its words, for a continuous feature
    """

    name: str
    knots: Float
    lines: tuple[int, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()

    @classmethod
    def of(cls, side: TermInput) -> Side:
        """Describe a feature as a term uses it."""
        feature = side.feature
        if not feature.is_continuous:
            labels = feature.shown_words
            return cls(side.name, np.arange(float(len(labels))), side.part_of_set, labels)
        peaks, lines = list(side.asked.peaks), list(side.part_of_set)
        low = feature.peaks[0] if feature.low is None else feature.low
        high = feature.peaks[-1] if feature.high is None else feature.high
        if low < peaks[0]:
            peaks, lines = [low, *peaks], [lines[0], *lines]
        if high > peaks[-1]:
            peaks, lines = [*peaks, high], [*lines, lines[-1]]
        edges = (peaks[0], *side.asked.crossovers, peaks[-1])
        return cls(side.name, np.array(peaks), tuple(lines), edges=edges)


@dataclass(frozen=True, eq=False)
class Shape:
    """The contribution of a term to the score, as its rules print it.

    Attributes
    ----------
    name : the term's name
    share : its share of the model's importance
    sides : one feature or two
    classes : the classes that ``values`` are for: one of two, each of several, or the target
    values : (n_knots[, n_knots], n_classes) the contributions
    errors : the same of their standard errors; None if they are unknown
    rows : (n_lines[, n_lines]) the training rows of each rule
    missing : (n_classes,) the contribution of a missing value, if it has a rule
    """

    name: str
    share: float
    sides: tuple[Side, ...]
    classes: tuple[State, ...]
    values: Float
    errors: Float | None
    rows: Float
    missing: Float | None = None

    @property
    def title(self) -> str:
        """The names of the features."""
        return " and ".join(side.name for side in self.sides)


def shapes_of(model: Model) -> list[Shape]:
    """Describe the terms of an additive model, the most important first."""
    if not model.is_additive or len(model.nodes) > 1:
        raise DataError("only a sum of rules has shapes; linguistic trees have branches")
    shares = node_shares(model)
    parts = {part.name: part for part in part_rules(model)}
    compiled = model.program.stages[-1].terms
    shapes = [
        _shape(model, term, parts[one.name], shares[one.name])
        for term, one in zip(model.terms, compiled, strict=True)
    ]
    return sorted(shapes, key=lambda shape: -shape.share)


def _shape(model: Model, term: Term, part: PartRules, share: float) -> Shape:
    target = model.target
    named, states = named_class(target), target.classes or (target.name,)
    classes = tuple(one for one in states if named in (None, one))

    def printed(weights: Float) -> Float:
        flat = weights.reshape(-1, len(states)).tolist()
        found = [dict(printed_weights(one, states, named)) for one in flat]
        values = np.array([[one[state] for state in classes] for one in found])
        return values.reshape(*weights.shape[:-1], len(classes))

    sides = tuple(map(Side.of, term.inputs))
    at = np.ix_(*(side.lines for side in sides))
    errors = None
    if all(rule.errors for rule in part.rules.values()):
        cells = [rule.errors for number, rule in part.rules.items() if number >= 0]
        errors = np.array(cells).reshape(*term.shape, -1)[at]
    missing = None if term.missing is None else printed(np.array([term.missing.scores]))[0]
    values = printed(term.weights)[at]
    return Shape(part.name, share, sides, classes, values, errors, term.counts, missing)
