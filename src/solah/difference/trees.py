"""Compares trees: branch by branch where they have the same ones, else in a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import count
from solah.difference.spelling import instead, measure_instead, named
from solah.difference.values import Difference
from solah.explain.importance import attribute_importances
from solah.explain.rules import tree_rules
from solah.explain.weights import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.difference.evidence import Sides
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Tree

_ROUNDING = 1e-12
_LEAST_SHIFT = 0.02
_MOST_SHIFTS = 5


def tree_differences(
    before: Sequence[Tree], after: Sequence[Tree], a: Model, b: Model, sides: Sides
) -> Iterator[Difference]:
    """Compare the trees of two models that have the same names, and tell which came or went."""
    old = {tree.name: tree for tree in before}
    new = {tree.name: tree for tree in after}
    if len(old) == len(new) == 1:  # the goal of a single tree may have been renamed
        old = dict(zip(new, old.values(), strict=True))
    for name, tree in new.items():
        if name not in old:
            text = f"the tree {name} is new: {_size(tree)} about {_asks_for(tree)}"
            yield Difference("tree", name, text)
        elif have_one_shape(old[name], tree):
            yield from _by_branch(old[name], tree, a.goal, b.goal, sides)
        else:
            yield _in_summary(old[name], tree)
    for name, tree in old.items():
        if name not in new:
            text = f"the tree {name} is gone: {_size(tree)} about {_asks_for(tree)}"
            yield Difference("tree", name, text)


def importance_differences(a: Model, b: Model) -> Iterator[Difference]:
    """Tell which attributes matter more or less than before, those first that moved most."""
    before, after = (
        dict(zip((one.name for one in model.attributes), attribute_importances(model), strict=True))
        for model in (a, b)
    )
    shifts = {name: float(after[name] - before[name]) for name in after if name in before}
    largest = sorted(shifts, key=lambda name: -abs(shifts[name]))[:_MOST_SHIFTS]
    for name in largest:
        if abs(shifts[name]) >= _LEAST_SHIFT:
            shares = instead(100 * float(after[name]), 100 * float(before[name]), 0)
            new, _, old = shares.partition(" instead of ")
            text = f"{name} brings {new} % of what was learnt instead of {old} %"
            details = {"before": float(before[name]), "after": float(after[name])}
            yield Difference("attribute", name, text, abs(shifts[name]), details)


def _size(tree: Tree) -> str:
    return count(tree.n_rules, "rule")


def _asks_for(tree: Tree) -> str:
    return named([attribute.name for attribute in tree.inputs])


def have_one_shape(a: Tree, b: Tree) -> bool:
    """Whether two trees have the same branches, with the same words."""
    return (
        [_told(one) for one in a.inputs] == [_told(one) for one in b.inputs]
        and np.array_equal(a.split, b.split)
        and np.array_equal(a.first_child, b.first_child)
    )


def _told(attribute: Attribute) -> tuple[object, ...]:
    """Return what the words of an attribute are, without how often they occur."""
    parts = (attribute.name, attribute.kind, attribute.words, attribute.peaks, attribute.states)
    return (*parts, attribute.tree, attribute.place, attribute.parted_at)


def _by_branch(a: Tree, b: Tree, old: Goal, new: Goal, sides: Sides) -> Iterator[Difference]:
    """Compare branch by branch; branches that were joined or parted are told part by part."""
    before, after = _values(a, b, old, new, sides)
    rules_a, rules_b = tree_rules(a, old), tree_rules(b, new)
    sizes_a, sizes_b = (
        np.bincount(one.heads[one.leaves], minlength=len(one.split)) for one in (a, b)
    )
    told = set()
    for leaf in b.leaves.tolist():
        heads = int(a.heads[leaf]), int(b.heads[leaf])
        moves = np.abs(after[leaf] - before[leaf])
        if heads in told or not moves.max() > _ROUNDING:
            continue
        told.add(heads)
        finer = rules_a[heads[0]] if sizes_a[heads[0]] < sizes_b[heads[1]] else rules_b[heads[1]]
        place = int(np.argmax(moves))
        first, second = float(before[leaf, place]), float(after[leaf, place])
        yield Difference(
            "rule",
            b.name,
            f"{_if(finer.premise)}{_spell(b, new, sides, place, first, second)}",
            float(moves.max()),
            {"tree": b.name, "condition": finer.premise, "before": first, "after": second},
        )


def _if(premise: str) -> str:
    return f"if {premise} then " if premise else "always: "


def _values(a: Tree, b: Tree, old: Goal, new: Goal, sides: Sides) -> tuple[Float, Float]:
    """Return what each node tells, in the terms that are compared."""
    if b.scores is not None:
        return sides.project(a.evidence, b.evidence)
    if new.centres:
        return numbers_of(old, a.belief)[:, None], numbers_of(new, b.belief)[:, None]
    return a.belief[:, list(sides.of_a)], b.belief[:, list(sides.of_b)]


def _spell(tree: Tree, goal: Goal, sides: Sides, place: int, before: float, after: float) -> str:
    if tree.scores is not None:
        return sides.spell(place, before, after)
    if goal.centres:
        return f"{goal.name} about {measure_instead(after, before)}"
    return f"{sides.states[place]} {instead(after, before)}"


def _in_summary(a: Tree, b: Tree) -> Difference:
    """Say how two trees of one name differ that have other branches."""
    before, after = ([one.name for one in tree.inputs] for tree in (a, b))
    parts = []
    if a.n_rules != b.n_rules:
        parts.append(f"{_size(b)} instead of {a.n_rules}")
    if a.shape.depth != b.shape.depth:
        parts.append(f"at most {count(b.shape.depth, 'condition')} instead of {a.shape.depth}")
    asked_a, asked_b = _asked(a), _asked(b)
    for verb, names in (
        ("asks for", [name for name in after if name in asked_b - asked_a]),
        ("asks no longer for", [name for name in before if name in asked_a - asked_b]),
    ):
        if names:
            parts.append(f"{verb} {named(names)}")
    what = "; ".join(parts) or "the same attributes in other branches"
    text = f"the tree {b.name} has other branches: {what}"
    details = {"rules": [a.n_rules, b.n_rules], "inputs": [before, after]}
    return Difference("tree", b.name, text, details=details)


def _asked(tree: Tree) -> set[str]:
    """Return the names of the inputs that some branch asks for."""
    return {tree.inputs[place].name for place in set(tree.split.tolist()) - {-1}}
