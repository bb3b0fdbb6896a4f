"""Compares what the rules of two models add, as functions of the readings.

Words that were learnt again never stand exactly where they stood, so that rules cannot be paired.
What the rules about an attribute add, however, is a curve over its readings; those about two
attributes are a surface. Both are linear, or bilinear, between the edges of the words of both
models, so that they differ most at such an edge: the largest difference is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.difference.spelling import instead, measure_instead
from solah.difference.values import Difference
from solah.explain.rules import Condition
from solah.explain.weights import signed
from solah.model.beliefs import deciding_fusions, leaf_average
from solah.model.document import Tree
from solah.model.encode import Coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model

MAX_POINTS = 50_000
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Sides:
    """The classes that two models have in common, for comparing their evidence.

    Attributes
    ----------
    states : the classes; none for a number
    of_a, of_b : their places in each model
    """

    states: tuple[str, ...]
    of_a: tuple[int, ...]
    of_b: tuple[int, ...]

    @classmethod
    def of(cls, a: Goal, b: Goal) -> Sides:
        """Match the classes by their names."""
        first, second = [*map(spell, a.states)], [*map(spell, b.states)]
        both = tuple(name for name in second if name in first)
        if not both:
            return cls((), (0,), (0,))
        return cls(both, tuple(map(first.index, both)), tuple(map(second.index, both)))

    def project(self, evidence_a: Float, evidence_b: Float) -> tuple[Float, Float]:
        """Keep the classes in common; of two, what is added for the second more than the first."""
        return tuple(  # type: ignore[return-value]
            self._told(evidence[..., list(places)])
            for evidence, places in ((evidence_a, self.of_a), (evidence_b, self.of_b))
        )

    def _told(self, evidence: Float) -> Float:
        if not self.states:
            return evidence
        if len(self.states) == 2:
            return evidence[..., 1:] - evidence[..., :1]
        return np.asarray(evidence - evidence.mean(axis=-1, keepdims=True))

    def name(self, place: int) -> str:
        """Return the class that a column of projected evidence is for."""
        return self.states[1] if len(self.states) == 2 else self.states[place]

    def spell(self, place: int, before: float, after: float) -> str:
        """Write what is added instead of what was."""
        if not self.states:
            return measure_instead(after, before, signed=True)
        for_class = f" for {self.name(place)}"
        new, _, old = instead(after, before, signed=True).partition(" instead")
        return f"{new}{for_class} instead{old}"

    def spell_one(self, place: int, amount: float) -> str:
        """Write what is added."""
        if not self.states:
            return signed(amount)
        return f"{signed(amount, 2)} for {self.name(place)}"


def bias_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare what evidence begins with."""
    before, after = (
        {name: one.bias for name, one in deciding_fusions(model.nodes).items() if one.name == name}
        for model in (a, b)
    )
    pairs = [(a.root.name, b.root.name)] if a.root.name != b.root.name else []
    pairs += [(name, name) for name in after if name in before]
    for old, new in pairs:
        if old not in before or new not in after:
            continue
        first, second = sides.project(np.array(before[old]), np.array(after[new]))
        place = int(np.argmax(np.abs(second - first)))
        size = float(abs(second[place] - first[place]))
        if size > 0:
            whose = "" if new == b.root.name else f"{new}, "
            told = sides.spell(place, float(first[place]), float(second[place]))
            details = {"before": list(before[old]), "after": list(after[new])}
            yield Difference("goal", new, f"{whose}to begin with: {told}", size, details)


# --- terms: all trees that ask for the same attributes ----------------------------------------


Terms = dict[tuple[str, ...], list[Tree]]


def terms_of(model: Model) -> Terms:
    """Gather the trees that add evidence and ask for attributes alone, by their attributes."""
    nodes = {node.name for node in model.nodes}
    terms: Terms = {}
    for tree in model.trees:
        if tree.scores is not None and not any(one.origin in nodes for one in tree.inputs):
            terms.setdefault(tuple(sorted(one.name for one in tree.inputs)), []).append(tree)
    return terms


def are_comparable(first: Sequence[Tree], second: Sequence[Tree]) -> bool:
    """Whether trees can be compared as functions: the same kinds of readings, few enough edges."""
    axes = _axes([*first, *second])
    same_kinds = all(len({one.is_coded for one in inputs}) == 1 for inputs in axes.values())
    n_points = np.prod([float(len(_points(inputs))) for inputs in axes.values()])
    return same_kinds and bool(n_points <= MAX_POINTS)


def term_differences(
    first: Sequence[Tree], second: Sequence[Tree], sides: Sides
) -> Iterator[Difference]:
    """Compare what two sets of trees add that ask for the same attributes; one may be empty."""
    grid = _Grid.over([*first, *second])
    before, after = sides.project(
        grid.evidence(first, len(sides.of_a)), grid.evidence(second, len(sides.of_b))
    )
    moves = np.abs(after - before)
    if not moves.max() > _ROUNDING:
        return
    if not first or not second:
        yield _one_sided(grid, after if second else before, sides, is_new=bool(second))
    elif grid.has_one_vocabulary:
        yield from _by_rule(grid, before, after, sides)
    else:
        yield _by_reading(grid, before, after, sides)


def _one_sided(grid: _Grid, evidence: Float, sides: Sides, *, is_new: bool) -> Difference:
    point, place = np.unravel_index(int(np.argmax(np.abs(evidence))), evidence.shape)
    amount = sides.spell_one(int(place), float(evidence[point, place]))
    verb = "are new: they add up to" if is_new else "are gone: they added up to"
    text = f"rules about {grid.title} {verb} {amount} ({grid.where(int(point))})"
    size = float(np.abs(evidence).max())
    return Difference("rule", grid.title, text, size, {"new": is_new})


def _by_rule(grid: _Grid, before: Float, after: Float, sides: Sides) -> Iterator[Difference]:
    """Compare rule by rule: the words are the same."""
    told = set()
    for point in range(len(before)):
        condition = grid.condition(point)
        move = np.abs(after[point] - before[point])
        if condition in told or not move.max() > _ROUNDING:
            continue
        told.add(condition)
        place = int(np.argmax(move))
        old, new = float(before[point, place]), float(after[point, place])
        text = f"if {condition} then {sides.spell(place, old, new)}"
        details = {"condition": condition, "before": old, "after": new}
        if sides.states:
            details["class"] = sides.name(place)
        yield Difference("rule", grid.title, text, float(move.max()), details)


def _by_reading(grid: _Grid, before: Float, after: Float, sides: Sides) -> Difference:
    """Compare curves: say where they lie farthest apart."""
    moves = np.abs(after - before)
    point, place = map(int, np.unravel_index(int(np.argmax(moves)), moves.shape))
    old, new = float(before[point, place]), float(after[point, place])
    details: dict[str, Any] = {"at": grid.readings(point), "before": old, "after": new}
    if len(grid.axes) == 1:
        details["curve"] = {
            "readings": [reading for (reading,) in grid.points],
            "before": before.tolist(),
            "after": after.tolist(),
        }
    if sides.states:
        details["class"] = sides.name(place)
    text = f"{grid.where(point)}: adds {sides.spell(place, old, new)}"
    return Difference("rule", grid.title, text, float(moves.max()), details)


# --- the grid of readings at which functions are compared --------------------------------------


def _axes(trees: Sequence[Tree]) -> dict[str, list[Attribute]]:
    """Return, by name, how trees describe the attributes that they ask for."""
    axes: dict[str, list[Attribute]] = {}
    for tree in trees:
        for attribute in tree.inputs:
            axes.setdefault(attribute.name, []).append(attribute)
    return axes


def _points(inputs: Sequence[Attribute]) -> list[Any]:
    """Return the readings at which anything changes: edges of words, or states."""
    if inputs[0].is_coded:
        return list(dict.fromkeys(spell(state) for one in inputs for state in one.states))
    return sorted({peak for one in inputs for peak in one.peaks})


@dataclass(frozen=True, eq=False)
class _Grid:
    """Readings of some attributes, in all combinations; one that has a rule for it may be missing.

    Attributes
    ----------
    axes : how each attribute is described, by name
    points : the readings, one tuple per combination: numbers, states as text, or None
    """

    axes: Mapping[str, Sequence[Attribute]]
    points: tuple[tuple[Any, ...], ...]

    @classmethod
    def over(cls, trees: Sequence[Tree]) -> _Grid:
        axes = _axes(trees)
        points = list(product(*map(_points, axes.values())))
        if any(tree.missing is not None for tree in trees):
            points.append((None,))
        return cls(axes, tuple(points))

    @property
    def title(self) -> str:
        return " & ".join(self.axes)

    @property
    def has_one_vocabulary(self) -> bool:
        """Whether all trees describe the attributes with the same words."""
        described = (
            {(one.words, one.peaks, one.cores) for one in inputs} for inputs in self.axes.values()
        )
        return all(len(each) == 1 for each in described)

    def evidence(self, trees: Sequence[Tree], n_goals: int) -> Float:
        """Add up what trees tell at each point, ``(n_points, n_goals)``."""
        total = np.zeros((len(self.points), trees[0].evidence.shape[1] if trees else n_goals))
        for tree in trees:
            rows = Coded({one.name: self._column(one) for one in tree.inputs}, len(self.points))
            told = leaf_average(tree, tree.evidence, rows, {})
            if tree.missing is not None:
                told[np.isnan(rows.columns[tree.inputs[0].name])] = tree.missing.scores
            total += told
        total[np.abs(total) < _ROUNDING * np.abs(total).max(initial=0.0)] = 0.0
        return total

    def _column(self, attribute: Attribute) -> Float:
        place = list(self.axes).index(attribute.name)
        codes = {spell(state): float(code) for code, state in enumerate(attribute.states)}
        return np.array(
            [
                np.nan
                if point[place] is None
                else codes.get(point[place], np.nan)
                if attribute.is_coded
                else point[place]
                for point in self.points
            ]
        )

    def readings(self, point: int) -> dict[str, Any]:
        """Return the readings at a point, by attribute."""
        return dict(zip(self.axes, self.points[point], strict=True))

    def condition(self, point: int) -> str:
        """Write the words that describe the readings at a point."""
        return " and ".join(
            str(Condition(name, (), "missing"))
            if reading is None
            else str(Condition(name, self._word(self.axes[name][-1], reading)))
            for name, reading in self.readings(point).items()
        )

    def where(self, point: int) -> str:
        """Write the readings at a point, with the word of the newer model."""
        return " and ".join(
            self._where(name, reading) for name, reading in self.readings(point).items()
        )

    def _where(self, name: str, reading: Any) -> str:
        if reading is None:
            return f"{name} missing"
        inputs = self.axes[name]
        if not inputs[0].is_continuous:
            return f"{name} {spell(reading)}"
        edges = _points(inputs)
        if len(edges) == 1:
            return f"{name} anywhere"
        spelt = spell_number(reading)
        at = {edges[0]: f"up to {spelt}", edges[-1]: f"from {spelt} on"}.get(reading, f"at {spelt}")
        return f"{name} {at} ({'-or-'.join(self._word(inputs[-1], reading))})"

    def _word(self, attribute: Attribute, reading: Any) -> tuple[str, ...]:
        """Return the words that describe a reading most."""
        if attribute.is_coded:
            return (str(reading),)
        nearest = int(np.argmin(np.abs(np.array(attribute.peaks) - reading)))
        return attribute.focal_sets[nearest]
