"""Describes what the page shows of each part of a model: terms, groups, sums and trees."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell, spell_number
from solah.explain.rule_text import signed, spell_class
from solah.explain.rules import part_rules
from solah.explain.traversal import numbers_of
from solah.model.document import Task
from solah.model.evaluate import part_outputs, trace

if TYPE_CHECKING:
    from solah.explain import Rule
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Part, Target


def describe_nodes(model: Model, rules_a_part: int) -> list[dict[str, Any]]:
    """Describe the parts from bottom to top, with their outputs if everything is missing.

    Parameters
    ----------
    model : Model
    rules_a_part : int
        How many rules of each term or tree to list.

    Returns
    -------
    nodes : list of dict
    """
    target, program = model.target, model.program
    places = {part.name: place for place, part in enumerate(model.parts)}
    rules = {part.name: list(part.active().values()) for part in part_rules(model)}
    stages = trace(program, np.full((1, len(program.features)), np.nan))
    described = []
    for place, part in enumerate(model.parts):
        stage, number = program.part_numbers[part.name]
        is_part = part.name not in program.stage_numbers
        adds = stages[stage].parts[number].weights if is_part else stages[stage].outputs
        belief = part_outputs(program, part.name, adds)[0]
        own = rules.get(part.name, [])
        title, hint, about = _names(part, model.parts, len(own))
        is_sum = target.is_additive_number
        described.append(
            {
                "place": place,
                "name": part.name,
                "kind": part.kind,
                "title": title,
                "hint": hint,
                "about": about,
                "inputs": [places[origin] for origin in part.origins if origin in places],
                "n_rules": len(own),
                "rules": [_describe_rule(model, part, rule) for rule in own[:rules_a_part]],
                "belief": [] if is_sum else belief.tolist(),
                "result": signed(adds[0, 0]) if is_sum and is_part else _result(target, belief),
            }
        )
    return described


def _names(part: Part, parts: tuple[Part, ...], n_rules: int) -> tuple[str, str, str]:
    """Return the title of a part, its inputs or size in a few words, and both of these."""
    kinds = {one.name: one.kind for one in parts}
    rules = count(n_rules, "rule")
    if part.kind == "term":
        return " and ".join(part.origins), rules, rules
    if part.kind == "tree":
        inputs = ", ".join(part.origins)
        return part.name, inputs, f"{inputs}, {rules}"
    added = Counter(kinds[name] for name in part.origins if name in kinds)
    sizes = " and ".join(count(added[kind], kind) for kind in ("group", "term") if added[kind])
    hint = f"adds up {sizes or 'nothing'}"
    return part.name, hint, hint


def _result(target: Target, belief: Float) -> str:
    if target.task is Task.REGRESSION:
        return f"about {spell_number(float(numbers_of(target, belief)))}"
    place = int(target.decide(belief[None, :])[0])
    return f"{spell(target.classes[place])} {belief[place]:.2f}"


def _describe_rule(model: Model, part: Part, rule: Rule) -> dict[str, Any]:
    """Describe a rule by its effect and the probabilities that follow from it.

    ``place`` is the class that the rule names, None for a number; ``figure`` is the weight for it
    or, of a branch, its share; ``about`` has the counts and, before them, other classes' weights.
    ``belief`` is the prediction by this rule alone; it is empty for a number that is added up.
    """
    target, weights = model.target, [weight for _, weight in rule.adds]
    belief: list[float] = []
    if not target.is_additive_number:
        adds = np.array([weights or rule.shares])
        belief = part_outputs(model.program, part.name, adds)[0].tolist()
    named = rule.named if rule.adds else rule.decision
    place = target.classes.index(named) if target.classes else None
    about = rule.counts
    if not rule.adds and target.classes:
        figure = f"{max(rule.shares):.0%}"
    elif not rule.adds:
        figure = f"about {spell_number(float(rule.decision))}"
    elif place is None:
        figure = signed(weights[0])
    else:
        less = weights[1 - place] if len(weights) == 2 else 0.0
        figure = signed(weights[place] - less, 2)
        if len(weights) > 2:
            first = f"{spell_class(target.classes[place], target.name)} {figure}, "
            about = f"{rule.result.removeprefix(first)} | {rule.counts}"
    overall = "" if place is None else f" ({rule.overall or 0:.0%} overall)"
    return {
        "conditions": [str(condition) for condition in rule.conditions],
        "place": place,
        "figure": figure,
        "about": about,
        "belief": belief,
        "fact": rule.counts.replace(overall, "", 1) if rule.adds else "",
        "support": rule.support,
    }
