"""Describes the strongest rules of a tree as the page lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell_number
from solah.explain.rules import told_rules
from solah.explain.weights import gain_of, signed
from solah.model.document import Task
from solah.model.evaluate import part_outputs

if TYPE_CHECKING:
    from solah.explain import Rule
    from solah.model.document import Goal, Model, Tree


def strongest_rules(tree: Tree, goal: Goal, most: int) -> list[tuple[int, Rule]]:
    """List rules that tell something, the strongest first, each behind its first leaf."""
    return list(told_rules(tree, goal).items())[:most]


def describe_lines(model: Model, tree: Tree, most: int) -> list[dict[str, Any]]:
    """Describe rules by their result and the belief that follows from it.

    Parameters
    ----------
    model : Model
    tree : Tree
        One of the model's.
    most : int
        How many rules to list.

    Returns
    -------
    lines : list of dict
        ``place`` is the class that gains most, None if none does; ``figure`` is the belief in it,
        the evidence for it where a fusion adds it up, or a number; ``about`` is what is true of
        the rule's rows, beside more where it adds to several classes, and ``fact`` only that.
        ``belief`` is empty for a number that is added up.
    """
    goal = model.goal
    return [
        {
            "conditions": [str(condition) for condition in rule.conditions],
            **(_evidence(rule, goal) if rule.adds else _conclusion(rule, goal)),
            "belief": _belief(model, tree, rule),
            "fact": rule.fact if rule.adds else "",
            "support": rule.support,
        }
        for _, rule in strongest_rules(tree, goal, most)
    ]


def _belief(model: Model, tree: Tree, rule: Rule) -> list[float]:
    """Return what the model would believe if it had this rule alone."""
    if model.goal.is_additive_number:
        return []
    adds = np.array([[score for _, score in rule.adds] or rule.belief])
    belief: list[float] = part_outputs(model.program, tree.name, adds)[0].tolist()
    return belief


def _conclusion(rule: Rule, goal: Goal) -> dict[str, Any]:
    about = f"support {rule.spelled_support}"
    if goal.task is Task.REGRESSION:
        return {
            "place": None,
            "figure": f"about {spell_number(float(rule.decision))}",
            "about": about,
        }
    place = goal.states.index(rule.decision)
    return {"place": place, "figure": f"{rule.certainty:.2f}", "about": about}


def _evidence(rule: Rule, goal: Goal) -> dict[str, Any]:
    """Describe what a rule adds; of several classes, for the others as well."""
    gain = gain_of([score for _, score in rule.adds], goal.states)
    if not goal.states:
        return {"place": None, "figure": signed(gain.size), "about": rule.fact}
    about = rule.fact if len(goal.states) < 3 else f"{rule.fact}; adds {rule.addition}"
    if gain.state is None:
        return {"place": None, "figure": "adds nothing", "about": rule.fact}
    place = goal.states.index(gain.state)
    return {"place": place, "figure": signed(gain.size, 2), "about": about}
