"""Describes the strongest rules of a tree as the page lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.explain.effects import effects_of
from solah.explain.rules import tree_rules
from solah.model.document import Task

if TYPE_CHECKING:
    from solah.explain import Rule
    from solah.explain.effects import Effect
    from solah.model.document import Goal, Tree
    from solah.report.fusion_inputs import FusionInputs


def strongest_rules(tree: Tree, goal: Goal, most: int) -> list[tuple[int, Rule]]:
    """List rules that carry weight, the strongest first, each behind the leaf that it begins at."""
    rules = sorted(tree_rules(tree, goal).items(), key=lambda item: -item[1].support)
    return [(leaf, rule) for leaf, rule in rules if rule.support > 0][:most]


def describe_lines(tree: Tree, goal: Goal, inputs: FusionInputs, most: int) -> list[dict[str, Any]]:
    """Describe rules by their result and the belief that follows from it.

    Parameters
    ----------
    tree : Tree
    goal : Goal
    inputs : FusionInputs
        How the tree's evidence moves beliefs.
    most : int
        How many rules to list.

    Returns
    -------
    lines : list of dict
        ``place`` is the class that gains most, None if none does; ``figure`` is the belief in it,
        the evidence for it where the tree is weighed, or a number.
    """
    weight = inputs.weights.get(tree.name)
    goes_up = tree.belief if weight is None else tree.evidence
    effects = effects_of(tree, goal, weight)
    return [
        {
            "conditions": [str(condition) for condition in rule.conditions],
            **(_conclusion(rule, goal) if weight is None else _evidence(effects[leaf], goal)),
            "belief": inputs.resulting_belief(tree.name, goes_up[leaf]).tolist(),
            "support": rule.support,
        }
        for leaf, rule in strongest_rules(tree, goal, most)
    ]


def _conclusion(rule: Rule, goal: Goal) -> dict[str, Any]:
    if goal.task is Task.REGRESSION:
        return {"place": None, "figure": f"about {rule.decision:.4g}"}
    return {"place": goal.states.index(rule.decision), "figure": f"{rule.certainty:.2f}"}


def _evidence(effect: Effect, goal: Goal) -> dict[str, Any]:
    place = None if effect.state is None else goal.states.index(effect.state)
    return {"place": place, "figure": f"{effect.size:+.2f}"}
