"""Writes what people asked of a model, and what they did to it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import count, spell
from solah.explain.rules import part_rules

if TYPE_CHECKING:
    from solah.model.document import Model


def spell_promises(model: Model) -> list[str]:
    """Write what a model keeps to, whatever the other readings are: one sentence each."""
    states = model.goal.states
    return [
        f"a higher {one.attribute} never {'lowers' if one.direction > 0 else 'raises'} "
        f"{f'the belief in {spell(states[one.state])}' if states else model.goal.name}"
        for one in model.monotonic
    ]


def spell_policy(model: Model) -> list[str]:
    """Write when a model holds a decision back, and when it changes one: one sentence each."""
    policy = model.policy
    if policy is None:
        return []
    least = sorted(set(policy.min_belief))
    if len(least) > 1:
        pairs = zip(map(spell, model.goal.states), policy.min_belief, strict=True)
        beliefs = [
            f"{name} is decided for at a belief of at least {one:.4g}" for name, one in pairs
        ]
    else:
        beliefs = [f"a decision needs a belief of at least {one:.4g}" for one in least if one]
    told = {
        f"at least {policy.min_known:.4g} of the evidence must be known": policy.min_known > 0,
        "known readings must lie within the range of the training rows": policy.stays_in_range,
        f"{_most_pairs(policy.max_unseen)} of readings must have occurred together in training": (
            policy.max_unseen is not None
        ),
        f"evidence is averaged over {policy.smoothing} decisions": policy.smoothing > 1,
        f"another class must lead the settled one by a belief of {policy.margin:.4g}": (
            policy.margin > 0
        ),
        f"{policy.votes} of the last {policy.window} decisions must agree": policy.window > 1,
        f"a settled decision stays for at least {policy.dwell}": policy.dwell > 1,
    }
    return [*beliefs, *(text for text, holds in told.items() if holds)]


def _most_pairs(n_new: int | None) -> str:
    return f"all but {count(n_new, 'pair')}" if n_new else "each pair"


def spell_edits(model: Model) -> list[str]:
    """Write what people changed since a model was learnt: one sentence each, the first first."""
    return [str(one) for one in model.edits]


def pinned_parts(model: Model) -> list[str]:
    """Name the terms and trees with pinned rules, with how many there are."""
    found = []
    for part in part_rules(model):
        if number := sum(rule.is_pinned for rule in part.rules.values()):
            found.append(f"{part.name} ({number})")
    return found


def moved_attributes(model: Model) -> list[str]:
    """Name the attributes whose words were moved after rows were counted."""
    return [one.name for one in model.attributes if one.is_moved]
