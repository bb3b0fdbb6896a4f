"""Compares the rules of two models: terms by words or as functions, trees by branches.

The rules on a feature add up to a curve over its values, those on two features to a surface. Both
are linear, or bilinear, between the edges of words. So two of them differ most at such an edge, and
the largest difference is exact.
"""

from __future__ import annotations

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
from solah.model.features import shares_of_peaks
from solah.model.program import Grid

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
        """Write what is added, and what it replaces."""
        whom = f" for {self.names[place]}" if self.names else ""
        if before is None:
            return signed(after, 2 if self.names else None) + whom
        write = instead if self.names else measure_instead
        new, _, old = write(after, before, signed=True).partition(" instead")
        return f"{new}{whom} instead{old}"


def _node_name(model: Model, node: AdditiveNode) -> str | None:
    """Return the name of a node; the root, which may have been renamed, has None."""
    return None if node is model.root else node.name


def baseline_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare the scores before any term."""
    baselines = {_node_name(a, node): node.baseline for node in a.sums}
    for node in b.sums:
        if (old := baselines.get(_node_name(b, node))) is None:
            continue
        before, after = sides.project(np.array(old), np.array(node.baseline))
        place = int(np.argmax(np.abs(after - before)))
        if size := float(abs(after[place] - before[place])):
            whose = "" if node is b.root else f"{node.name}, "
            text = f"{whose}to begin with: {sides.spell(place, after[place], before[place])}"
            details = {"before": list(old), "after": list(node.baseline)}
            yield Difference("target", node.name, text, size, details)


@dataclass(frozen=True, eq=False)
class SortedTerm:
    """A term with its name in the program, and its inputs in the order of their names.

    Attributes
    ----------
    weights : (n_1[, n_2], n_outputs) the weights of each rule
    table : (n_1 + 1[, n_2 + 1], n_outputs) those at the peaks of its inputs; the last lines are for
        missing values. Averages that are 0 but for rounding are 0
    """

    name: str
    term: Term
    inputs: tuple[TermInput, ...]
    weights: Float
    table: Float

    @property
    def title(self) -> str:
        """The names of its features."""
        return " & ".join(one.name for one in self.inputs)

    @property
    def vocabulary(self) -> list[tuple[object, ...]]:
        """The words of its features, in whichever parts the term uses them."""
        features = [one.feature for one in self.inputs]
        return [(one.is_coded, one.words, one.peaks, one.cores) for one in features]


def terms_of(model: Model) -> dict[Key, SortedTerm]:
    """Return the terms of a model by their node and their features."""
    found: dict[Key, SortedTerm] = {}
    for node, stage in zip(model.nodes, model.program.stages, strict=True):
        if not isinstance(node, AdditiveNode):
            continue
        for term, compiled in zip(node.terms, stage.terms, strict=True):
            assert isinstance(compiled.cells, Grid)
            order = sorted(range(len(term.inputs)), key=lambda side: term.features[side])
            axes = (*order, len(order))
            table = compiled.cells.table.transpose(axes)
            found[_node_name(model, node), frozenset(term.features)] = SortedTerm(
                compiled.name,
                term,
                tuple(term.inputs[side] for side in order),
                term.weights.transpose(axes),
                np.where(np.abs(table) < _ROUNDING * np.abs(table).max(), 0.0, table),
            )
    return found


def term_differences(
    first: SortedTerm | None, second: SortedTerm | None, sides: Sides
) -> Iterator[Difference]:
    """Compare two terms on the same features; one may be None."""
    if first is None or second is None:
        yield from _by_value(first, second, sides)
    elif first.vocabulary == second.vocabulary:
        yield from _by_rule(first, second, sides)
    elif [words[0] for words in first.vocabulary] == [words[0] for words in second.vocabulary]:
        yield from _by_value(first, second, sides)
    else:  # a feature has categories in one model, and is measured in the other
        yield from _by_value(None, second, sides)
        yield from _by_value(first, None, sides)


def _by_rule(a: SortedTerm, b: SortedTerm, sides: Sides) -> Iterator[Difference]:
    """Compare rule by rule, in words that both terms have; their parts may differ."""
    rules: list[tuple[str, Float, Float]] = []
    for cell in product(*map(_common_parts, a.inputs, b.inputs)):
        rule_a, rule_b, conditions = zip(*cell, strict=True)
        rules.append((" and ".join(conditions), a.weights[rule_a], b.weights[rule_b]))
    if a.term.missing is not None or b.term.missing is not None:
        rules.append((f"{a.title} is missing", a.table[-1], b.table[-1]))
    for condition, *weights in rules:
        before, after = sides.project(*weights)
        moves = np.abs(after - before)
        if moves.max() > _ROUNDING:
            place = int(np.argmax(moves))
            old, new = float(before[place]), float(after[place])
            details = {"condition": condition, "before": old, "after": new}
            details |= {"class": sides.names[place]} if sides.names else {}
            text = f"if {condition} then {sides.spell(place, new, old)}"
            yield Difference("rule", a.title, text, float(moves.max()), details)


def _common_parts(a: TermInput, b: TermInput) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of two inputs that have words in common, and these words as a condition."""
    for (i, of_a), (j, of_b) in product(enumerate(a.parts), enumerate(b.parts)):
        if common := tuple(word for word in of_a if word in of_b):
            yield i, j, f"{b.name} is {TermInput(b.feature, (common,)).phrase(0)}"


def _by_value(
    first: SortedTerm | None, second: SortedTerm | None, sides: Sides
) -> Iterator[Difference]:
    """Compare functions: report the values at which they differ most."""
    terms = [one for one in (first, second) if one is not None]
    points = [*map(_edges, *(one.inputs for one in terms))]
    if any(one.term.missing is not None for one in terms):
        points[0].append(None)
    before, after = sides.project(
        _weights_at(first, points, max(sides.of_a)), _weights_at(second, points, max(sides.of_b))
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
    text = f"{where}: adds {sides.spell(place, new, old)}"
    if first is None:
        text = (
            f"rules about {last.title} are new: they add up to {sides.spell(place, new)} ({where})"
        )
    elif second is None:
        amount = sides.spell(place, old)
        text = f"rules about {last.title} are gone: they added up to {amount} ({where})"
    yield Difference("rule", last.title, text, float(moves.max()), details)


def _edges(*inputs: TermInput) -> list[Any]:
    """Return the values at which anything changes: edges of words, or categories."""
    if inputs[0].feature.is_coded:
        return list(dict.fromkeys(name for one in inputs for name in _categories(one)))
    return sorted({peak for one in inputs for peak in one.asked.peaks})


def _categories(one: TermInput) -> list[str]:
    return [spell(name) for name in one.feature.categories or one.feature.words]


def _weights_at(one: SortedTerm | None, points: Points, last_output: int) -> Float:
    """Return the weights at all combinations of values, ``(n_1[, n_2], n_outputs)``."""
    if one is None:
        return np.zeros((*map(len, points), last_output + 1))
    table = one.table
    for side, (of, values) in enumerate(zip(one.inputs, points, strict=True)):
        if of.feature.is_coded:
            codes = {name: code for code, name in enumerate(_categories(of))}
            masses = np.eye(len(codes) + 1)[[codes.get(value, len(codes)) for value in values]]
        else:
            known = [value for value in values if value is not None]  # a missing one is the last
            masses = np.zeros((len(values), len(of.asked.peaks) + 1))
            masses[: len(known), :-1] = shares_of_peaks(known, of.asked.peaks)
            masses[len(known) :, -1] = 1.0
        table = np.moveaxis(np.tensordot(masses, table, (1, side)), 0, side)
    return np.asarray(table)


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
    ends = {edges[0]: f"up to {number}", edges[-1]: f"from {number} on"}
    words = "-or-".join(feature.focal_sets[nearest])
    return f"{one.name} {ends.get(value, f'at {number}')} ({words})"


# --- linguistic trees ----------------------------------------------------------------------------


def paired_trees(a: Model, b: Model) -> dict[str, tuple[TreeNode | None, TreeNode | None]]:
    """Pair the trees of two models by their names, and roots, which may have been renamed."""
    old, new = ({tree.name: tree for tree in model.trees} for model in (a, b))
    if b.root.name not in old and a.root.name in old and b.root.name in new:
        old[b.root.name] = old.pop(a.root.name)
    return {name: (old.get(name), new.get(name)) for name in dict.fromkeys([*new, *old])}


def tree_differences(a: Model, b: Model, sides: Sides) -> Iterator[Difference]:
    """Compare the trees of two models, and report those that came or went."""
    premises = [
        {part.name: {i: rule.premise for i, rule in part.rules.items()} for part in part_rules(one)}
        for one in (a, b)
    ]
    is_summary = False
    for name, (old, new) in paired_trees(a, b).items():
        if old is not None and new is not None and ask_alike(old, new):
            both = premises[0][old.name], premises[1][new.name]
            yield from _by_branch(old, new, a.target, b.target, sides, both)
        else:
            is_summary = True
            yield Difference("tree", name, *_summary(old, new))
    if is_summary:
        yield from _importance_differences(a, b)


def ask_alike(a: TreeNode, b: TreeNode) -> bool:
    """Whether two trees ask the same words in the same order."""
    words = [
        [(one.name, one.kind, one.words, one.peaks, one.tree, one.place) for one in tree.inputs]
        for tree in (a, b)
    ]
    return words[0] == words[1] and np.array_equal(a.walk.split, b.walk.split)


def _by_branch(
    a: TreeNode,
    b: TreeNode,
    old: Target,
    new: Target,
    sides: Sides,
    premises: tuple[dict[int, str], dict[int, str]],
) -> Iterator[Difference]:
    """Compare branch by branch; branches that were joined or parted are told part by part."""
    before, after = _shown(a, old, sides.of_a), _shown(b, new, sides.of_b)
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
        spelt = f"{new.name} about {measure_instead(second, first)}"
        if not new.centres:
            spelt = f"{sides.states[place]} {instead(second, first)}"
        text = f"if {premise} then {spelt}" if premise else f"always: {spelt}"
        details = {"tree": b.name, "condition": premise, "before": first, "after": second}
        yield Difference("rule", b.name, text, float(moves.max()), details)


def _shown(tree: TreeNode, target: Target, of: tuple[int, ...]) -> Float:
    """Return the belief of each branch in the classes in common, or the number it comes to."""
    beliefs = np.array([branch.belief for branch in tree.branches])
    return numbers_of(target, beliefs)[:, None] if target.centres else beliefs[:, of]


def _summary(a: TreeNode | None, b: TreeNode | None) -> tuple[str, float, dict[str, object]]:
    """Return how two trees differ that ask otherwise; one may be None."""
    if a is None or b is None:
        tree, verb = (b, "new") if a is None else (a, "gone")
        assert tree is not None
        names = named([one.name for one in tree.inputs])
        return f"the tree {tree.name} is {verb}: {count(tree.n_rules, 'rule')} about {names}", 0, {}
    parts = []
    if a.n_rules != b.n_rules:
        parts.append(f"{count(b.n_rules, 'rule')} instead of {a.n_rules}")
    if a.walk.depth != b.walk.depth:
        parts.append(f"at most {count(b.walk.depth, 'condition')} instead of {a.walk.depth}")
    before, after = _asked(a), _asked(b)
    for verb, names_asked in (
        ("asks for", [name for name in after if name not in before]),
        ("asks no longer for", [name for name in before if name not in after]),
    ):
        if names_asked:
            parts.append(f"{verb} {named(names_asked)}")
    what = "; ".join(parts) or "the same features in other branches"
    inputs = [[one.name for one in tree.inputs] for tree in (a, b)]
    details = {"rules": [a.n_rules, b.n_rules], "inputs": inputs}
    return f"the tree {b.name} has other branches: {what}", 0, details


def _asked(tree: TreeNode) -> list[str]:
    """Return the names of the inputs that some branch asks for."""
    asked = set(tree.walk.split.tolist())
    return [one.name for place, one in enumerate(tree.inputs) if place in asked]


def _importance_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Report the features that matter more or less than before, the largest change first."""
    before, after = (
        dict(zip((one.name for one in model.features), feature_importances(model), strict=True))
        for model in (a, b)
    )
    shifts = {name: float(after[name] - before[name]) for name in after if name in before}
    for name in sorted(shifts, key=lambda name: -abs(shifts[name]))[:_MOST_SHIFTS]:
        if abs(shifts[name]) >= _LEAST_SHIFT:
            shares = instead(100 * float(after[name]), 100 * float(before[name]), 0)
            text = f"{name} brings {shares.replace(' instead', ' % of what was learned instead')} %"
            details = {"before": float(before[name]), "after": float(after[name])}
            yield Difference("feature", name, text, abs(shifts[name]), details)
