"""Describes a model for the page: its program, and the attributes and nodes that people see."""

from __future__ import annotations

from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.explain.counterfactuals.rounding import has_whole_numbers
from solah.explain.rules import MISSING
from solah.export.js_tables import describe_program
from solah.model.document import Task, Tree
from solah.report.rule_lines import strongest_rules

if TYPE_CHECKING:
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Node


def describe_live(model: Model, max_rules: int) -> dict[str, Any]:
    """Describe a model as the page's scripts read it.

    Parameters
    ----------
    model : Model
    max_rules : int
        How many rules of each tree are listed on the page: the number of each is given.
    """
    described = describe_program(model)
    for stage in described["program"]["stages"]:
        for term in stage["terms"]:
            del term["share"]  # which follows from the variances, also of edited rules
    _refer_to_words(model, described["program"]["axes"])
    return {
        **described,
        "goal": _goal(model.goal),
        "attributes": [_attribute(attribute) for attribute in model.attributes],
        "nodes": [_node(model, node, max_rules) for node in model.nodes],
    }


def rule_numbers(tree: Tree) -> dict[int, int]:
    """Return the numbers of a tree's rules in the program, by their first leaves."""
    heads = np.unique(tree.heads[tree.leaves]).tolist()
    return {head: number for number, head in enumerate(heads)}


def _goal(goal: Goal) -> dict[str, Any]:
    return {
        "labels": [spell(state) for state in goal.states] or _focal_sets(goal.words),
        "isNumber": goal.task is Task.REGRESSION,
        "isSum": goal.is_additive_number,
    }


def _focal_sets(words: tuple[str, ...]) -> list[str]:
    """Name the focal sets of a number's words, from low to high."""
    pairs = (f"{low}-or-{high}" for low, high in pairwise(words))
    return [name for both in zip_longest(words, pairs) for name in both if name is not None]


def _attribute(attribute: Attribute) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": attribute.name,
        "continuous": attribute.is_continuous,
        "coded": attribute.is_coded,
        "ordered": attribute.is_ordered,
        "words": list(attribute.words),
        "sets": list(attribute.set_words),
        "peaks": list(attribute.peaks),
        "ignorance": list(attribute.ignorance),
        "low": attribute.low,
        "high": attribute.high,
        "moved": attribute.is_moved,
    }
    if has_whole_numbers(attribute):
        described["whole"] = True
    return described


def _refer_to_words(model: Model, axes: list[dict[str, Any]]) -> None:
    """Let axes follow the words of the attributes that they read.

    ``partedAt`` is where an attribute is parted of which an axis reads only the part.
    """
    trees = {tree.name: tree.inputs for tree in model.trees}
    terms = [term for stage in model.program.stages for term in stage.terms]
    inputs = {a: one for term in terms for a, one in zip(term.axes, trees[term.name], strict=True)}
    for a, axis in enumerate(axes):
        if model.program.axes[a].is_read:
            del axis["peaks"], axis["missing"]
        if inputs[a].parted_at:
            axis["partedAt"] = list(inputs[a].parted_at)


def _node(model: Model, node: Node, max_rules: int) -> dict[str, Any]:
    """Say where a node is in the program, and of a term, which of its rules are listed.

    ``part`` is None for a whole stage. The rule for a missing reading is ``MISSING``.
    """
    stage, part = model.program.part_numbers[node.name]
    is_stage = node.name in model.program.stage_numbers
    place = {"stage": stage, "part": None if is_stage else part}
    if not isinstance(node, Tree):
        return place
    numbers = rule_numbers(node) | {MISSING: MISSING}
    listed = [numbers[head] for head, _ in strongest_rules(node, model.goal, max_rules)]
    return {**place, "rules": listed}
