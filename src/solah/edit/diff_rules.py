"""Compares the rules of two models: terms by words or by values, trees by branches.

The rules on a feature add up to a curve over its values, those on two features to a surface. Both
are linear, or bilinear, between the edges of words. So two of them differ most at such an edge, and
the largest difference is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell, spell_number
from solah.edit.diff_text import Difference, instead, measure_instead, named
from solah.explain.importance import feature_importances
from solah.explain.rule_text import signed
from solah.explain.rules import part_rules
from solah.explain.traversal import numbers_of
from solah.model.document import AdditiveNode, TermInput
from solah.model.evaluate import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target, Term, TreeNode

Key = tuple[str | None, frozenset[str]]
"""The name of a term's node, None for the root; the names of its features."""
Points = Sequence[Sequence[Any]]
"""Values of each input: numbers, categories as text, or None if missing."""
_ROUNDING = 1e-12
_LEAST_SHIFT = 0.02
_MOST_SHIFTS = 5


@dataclass(frozen=True, eq=False)
class Sides:
    """The classes that two models have in common, and their indices in each model.

    Of two classes, weights are compared for the second, less those for the first.
    """

    states: tuple[str, ...]
    of_a: tuple[int, ...]
    of_b: tuple[int, ...]

    @classmethod
    def of(cls, a: Target, b: Target) -> Sides:
        """Match the classes by their names; a number has none."""
        first, second = [*map(spell, a.classes)], [*map(spell, b.classes)]
        both = tuple(name for name in second if name in first)
        if not both:
            return cls((), (0,), (0,))
        return cls(both, tuple(map(first.index, both)), tuple(map(second.index, both)))

    @property
    def names(self) -> tuple[str, ...]:
        """The class of each column of projected weights."""
        return self.states[1:] if len(self.states) == 2 else self.states

    def project(self, weights_a: Float, weights_b: Float) -> tuple[Float, Float]:
        """Take the weights of both models for ``names``, or for the number."""
        before, after = weights_a[..., self.of_a], weights_b[..., self.of_b]
        if len(self.states) == 2:
            return before[..., 1:] - before[..., :1], after[..., 1:] - after[..., :1]
        if not self.states:
            return before, after
        return before - before.mean(-1, keepdims=True), after - after.mean(-1, keepdims=True)

    def spell(self, place: int, after: float, before: float | None = None) -> str:
        """Write a weight with its class, and the weight that it replaces."""
        whom = f"{self.names[place]} " if self.names else ""
        if before is None:
            return whom + signed(after, 2 if self.names else None)
        return whom + (instead if self.names else measure_instead)(after, before, signed=True)


def _node_name(model: Model, node: AdditiveNode) -> str | None:
    """Return the name of a node; the root, which may have been renamed, has None."""
    return None if node is model.root else node.name


def baseline_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare the baselines."""
    baselines = {_node_name(a, node): node.baseline for node in a.sums}
    for node in b.sums:
        if (old := baselines.get(_node_name(b, node))) is None:
            continue
        before, after = sides.project(np.array(old), np.array(node.baseline))
        place = int(np.argmax(np.abs(after - before)))
        if size := float(abs(after[place] - before[place])):
            whose = "" if node is b.root else f" of {node.name}"
            text = f"baseline{whose}: {sides.spell(place, after[place], before[place])}"
            details = {"before": list(old), "after": list(node.baseline)}
            yield Difference("target", node.name, text, size, details)


@dataclass(frozen=True, eq=False)
class PlacedTerm:
    """A term of a model.

    Attributes
    ----------
    name : its name in the program
    term : the term
    inputs : its inputs, in the order of their names
    model : the model
    stage, number : where it is in the program
    """

    name: str
    term: Term
    inputs: tuple[TermInput, ...]
    model: Model
    stage: int
    number: int

    @property
    def title(self) -> str:
        """The names of its features."""
        return " & ".join(one.name for one in self.inputs)

    @property
    def vocabulary(self) -> list[tuple[object, ...]]:
        """The words of its features, in whichever parts the term uses them."""
        features = [one.feature for one in self.inputs]
        return [(one.is_coded, one.words, one.peaks, one.cores) for one in features]

    def weights_at(self, points: Points) -> Float:
        """Return what the term adds at all combinations of values, ``(n_1[, n_2], n_outputs)``."""
        program, shape = self.model.program, tuple(map(len, points))
        readings = np.full((math.prod(shape), len(program.features)), np.nan)
        rows = Rows(program, readings)
        axes = dict(zip(self.term.features, self._compiled_axes, strict=True))
        for one, values, places in zip(self.inputs, points, np.indices(shape), strict=True):
            known = {name: float(code) for code, name in enumerate(_categories(one))}
            known = known if one.feature.is_coded else {value: value for value in values}
            codes = [np.nan if value is None else known.get(value, np.nan) for value in values]
            axis = program.axes[axes[one.name]]
            column = readings[:, axis.source]
            if not axis.is_read:
                column = rows.outputs[:, axis.source, axis.output]
            column[:] = np.array(codes)[places.ravel()]
        weights = rows.part(self.stage, self.number, {}).weights
        # Averages that are 0 but for rounding are 0.
        least = _ROUNDING * np.abs(self.term.weights).max(initial=0.0)
        return np.where(np.abs(weights) < least, 0.0, weights).reshape(*shape, -1)

    @property
    def _compiled_axes(self) -> tuple[int, ...]:
        return self.model.program.stages[self.stage].terms[self.number].axes


def terms_of(model: Model) -> dict[Key, PlacedTerm]:
    """Return the terms of a model by their node and their features."""
    found: dict[Key, PlacedTerm] = {}
    for stage, node in enumerate(model.nodes):
        if not isinstance(node, AdditiveNode):
            continue
        names = model.program.stages[stage].part_names
        for number, term in enumerate(node.terms):
            inputs = tuple(sorted(term.inputs, key=lambda one: one.name))
            found[_node_name(model, node), frozenset(term.features)] = PlacedTerm(
                names[number], term, inputs, model, stage, number
            )
    return found


def term_differences(
    first: PlacedTerm | None, second: PlacedTerm | None, sides: Sides
) -> Iterator[Difference]:
    """Compare two terms on the same features; one may be None."""
    if first is None or second is None:
        yield from _by_value(first, second, sides)
    elif first.vocabulary == second.vocabulary:
        yield from _by_rule(first, second, sides)
    elif [words[0] for words in first.vocabulary] == [words[0] for words in second.vocabulary]:
        yield from _by_value(first, second, sides)
    else:  # a feature has categories in one model, and is continuous in the other
        yield from _by_value(None, second, sides)
        yield from _by_value(first, None, sides)


def _by_rule(a: PlacedTerm, b: PlacedTerm, sides: Sides) -> Iterator[Difference]:
    """Compare rule by rule, in words that both terms have; their parts may differ."""
    conditions = [[*_common_parts(*both)] for both in zip(a.inputs, b.inputs, strict=True)]
    points = [[value for value, _ in of_side] for of_side in conditions]
    if a.term.missing is not None or b.term.missing is not None:
        points[0].append(None)
        conditions[0].append((None, f"{b.title} is missing"))
    before, after = sides.project(a.weights_at(points), b.weights_at(points))
    for cell in product(*(range(len(of_side)) for of_side in points)):
        moves = np.abs(after[cell] - before[cell])
        if moves.max() > _ROUNDING:
            place = int(np.argmax(moves))
            old, new = float(before[cell][place]), float(after[cell][place])
            texts = [of_side[i][1] for of_side, i in zip(conditions, cell, strict=True)]
            details = {"condition": " and ".join(texts), "before": old, "after": new}
            details |= {"class": sides.names[place]} if sides.names else {}
            text = f"if {details['condition']}: {sides.spell(place, new, old)}"
            yield Difference("rule", a.title, text, float(moves.max()), details)


def _common_parts(a: TermInput, b: TermInput) -> Iterator[tuple[Any, str]]:
    """Yield the words that parts of two inputs have in common: a value, and a condition."""
    names = _categories(b)
    for of_a, of_b in product(a.parts, b.parts):
        if common := tuple(word for word in of_a if word in of_b):
            value: Any = names[common[0]]
            if b.feature.is_continuous:
                value = b.feature.peaks[b.feature.set_words.index(common[0])]
            elif not b.feature.is_coded:
                value = b.feature.peaks[common[0]]
            yield value, f"{b.name} is {TermInput(b.feature, (common,)).phrase(0)}"


def _by_value(
    first: PlacedTerm | None, second: PlacedTerm | None, sides: Sides
) -> Iterator[Difference]:
    """Compare terms as functions: report the values at which they differ most."""
    terms = [one for one in (first, second) if one is not None]
    points = [*map(_edges, *(one.inputs for one in terms))]
    if any(one.term.missing is not None for one in terms):
        points[0].append(None)
    nothing = np.zeros((*map(len, points), max(*sides.of_a, *sides.of_b) + 1))
    before, after = sides.project(
        *(nothing if one is None else one.weights_at(points) for one in (first, second))
    )
    moves = np.abs(after - before)
    if not moves.max() > _ROUNDING:
        return
    *at, place = map(int, np.unravel_index(int(np.argmax(moves)), moves.shape))
    old, new = float(before[*at, place]), float(after[*at, place])
    last = terms[-1]
    values = [of_side[index] for of_side, index in zip(points, at, strict=True)]
    where = " and ".join(map(_where, last.inputs, values, points))
    details: dict[str, Any] = {"before": old, "after": new, "new": first is None}
    details["at"] = {one.name: value for one, value in zip(last.inputs, values, strict=True)}
    details |= {"class": sides.names[place]} if sides.names else {}
    text = f"{where}: {sides.spell(place, new, old)}"
    if first is None:
        text = f"new rules on {last.title}: up to {sides.spell(place, new)} ({where})"
    elif second is None:
        text = f"no rules on {last.title}, before up to {sides.spell(place, old)} ({where})"
    yield Difference("rule", last.title, text, float(moves.max()), details)


def _edges(*inputs: TermInput) -> list[Any]:
    """Return the values at which anything changes: edges of words, or categories."""
    if inputs[0].feature.is_coded:
        return list(dict.fromkeys(name for one in inputs for name in _categories(one)))
    return sorted({peak for one in inputs for peak in one.asked.peaks})


def _categories(one: TermInput) -> list[str]:
    return [spell(name) for name in one.feature.categories or one.feature.words]


def _where(one: TermInput, value: Any, values: Sequence[Any]) -> str:
    """Write a value, with its word."""
    feature = one.asked
    if value is None or not feature.is_continuous:
        return f"{one.name} {'missing' if value is None else spell(value)}"
    edges = [edge for edge in values if edge is not None]
    if len(edges) == 1:
        return f"{one.name} anywhere"
    nearest = int(np.argmin(np.abs(np.array(feature.peaks) - value)))
    number = spell_number(value)
    ends = {edges[0]: f"up to {number}", edges[-1]: f"from {number}"}
    return f"{one.name} {ends.get(value, number)} ({'-or-'.join(feature.focal_sets[nearest])})"


# --- linguistic trees ----------------------------------------------------------------------------


def paired_trees(a: Model, b: Model) -> dict[str, tuple[TreeNode | None, TreeNode | None]]:
    """Pair the trees of two models by their names, and roots, which may have been renamed."""
    old, new = ({tree.name: tree for tree in model.trees} for model in (a, b))
    if b.root.name not in old and a.root.name in old and b.root.name in new:
        old[b.root.name] = old.pop(a.root.name)
    return {name: (old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old])}


def tree_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare the trees of two models, and report those that came or went."""
    is_summary = False
    for name, (old, new) in paired_trees(a, b).items():
        if old is not None and new is not None and ask_alike(old, new):
            premises = [
                [rule.premise for rule in part.rules.values()]
                for model, tree in ((a, old), (b, new))
                for part in part_rules(model)
                if part.name == tree.name
            ]
            shown = _shown(old, a.target, sides.of_a), _shown(new, b.target, sides.of_b)
            yield from _by_branch(old, new, b.target, sides, shown, premises)
        else:
            is_summary = True
            yield _summary(name, old, new)
    if is_summary:
        yield from _importance_differences(a, b)


def ask_alike(a: TreeNode, b: TreeNode) -> bool:
    """Whether two trees split on the same words in the same order."""
    words = [
        [(one.name, one.kind, one.words, one.peaks, one.tree, one.place) for one in tree.inputs]
        for tree in (a, b)
    ]
    return words[0] == words[1] and np.array_equal(a.walk.split, b.walk.split)


def _by_branch(
    a: TreeNode,
    b: TreeNode,
    target: Target,
    sides: Sides,
    shown: tuple[Float, Float],
    premises: Sequence[Sequence[str]],
) -> Iterator[Difference]:
    """Compare branch by branch; branches that were joined or split are compared in parts."""
    before, after = shown
    leaves = b.walk.split < 0
    rules = [tree.walk.child[leaves].tolist() for tree in (a, b)]
    sizes = [np.bincount(of_leaf) for of_leaf in rules]
    for i, j in dict.fromkeys(zip(*rules, strict=True)):
        moves = np.abs(after[j] - before[i])
        if not moves.max() > _ROUNDING:
            continue
        premise = premises[0][i] if sizes[0][i] < sizes[1][j] else premises[1][j]
        place = int(np.argmax(moves))
        first, second = float(before[i, place]), float(after[j, place])
        if target.centres:
            belief = f"{target.name} about {measure_instead(second, first)}"
        else:
            belief = f"{sides.states[place]} {instead(second, first)}"
        text = f"if {premise} then {belief}" if premise else f"always: {belief}"
        details = {"tree": b.name, "condition": premise, "before": first, "after": second}
        yield Difference("rule", b.name, text, float(moves.max()), details)


def _shown(tree: TreeNode, target: Target, of: tuple[int, ...]) -> Float:
    """Return the shares of the common classes in each branch, or its number."""
    beliefs = np.array([branch.belief for branch in tree.branches])
    return numbers_of(target, beliefs)[:, None] if target.centres else beliefs[:, of]


def _summary(name: str, a: TreeNode | None, b: TreeNode | None) -> Difference:
    """Report two trees with other splits; one may be None."""
    if a is None or b is None:
        tree, verb = (b, "new") if a is None else (a, "gone")
        assert tree is not None
        names = named([one.name for one in tree.inputs])
        rules = f"{count(tree.n_rules, 'rule')} on {names}"
        return Difference("tree", name, f"the tree {tree.name} is {verb}: {rules}")
    parts = []
    if a.n_rules != b.n_rules:
        parts.append(f"{count(b.n_rules, 'rule')} instead of {a.n_rules}")
    if a.walk.depth != b.walk.depth:
        parts.append(f"at most {count(b.walk.depth, 'condition')} instead of {a.walk.depth}")
    before, after = (
        [tree.inputs[place].name for place in np.unique(tree.walk.split).tolist() if place >= 0]
        for tree in (a, b)
    )
    if came := [one for one in after if one not in before]:
        parts.append(f"also uses {named(came)}")
    if went := [one for one in before if one not in after]:
        parts.append(f"no longer uses {named(went)}")
    what = "; ".join(parts) or "the same features in other branches"
    details = {"rules": [a.n_rules, b.n_rules], "inputs": [before, after]}
    return Difference("tree", name, f"the tree {b.name} has other branches: {what}", 0, details)


def _importance_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Report the features whose importance changed, the largest change first."""
    before, after = (
        dict(zip((one.name for one in model.features), feature_importances(model), strict=True))
        for model in (a, b)
    )
    shifts = {name: float(after[name] - before[name]) for name in after if name in before}
    for name in sorted(shifts, key=lambda name: -abs(shifts[name]))[:_MOST_SHIFTS]:
        if abs(shifts[name]) >= _LEAST_SHIFT:
            details = {"before": float(before[name]), "after": float(after[name])}
            text = f"importance of {name}: {after[name]:.0%} instead of {before[name]:.0%}"
            yield Difference("feature", name, text, abs(shifts[name]), details)
