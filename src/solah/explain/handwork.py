"""Writes what people asked of a model, and what they did to it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import spell

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


def spell_edits(model: Model) -> list[str]:
    """Write what people changed since a model was learnt: one sentence each, the first first."""
    return [str(one) for one in model.edits]


def pinned_trees(model: Model) -> list[str]:
    """Name the trees with rules that learning again is to keep, with how many there are."""
    marked = ((tree.name, len(tree.pinned)) for tree in model.trees)
    return [f"{name} ({number})" for name, number in marked if number]


def moved_attributes(model: Model) -> list[str]:
    """Name the attributes whose words were moved after rows were counted."""
    return [one.name for one in model.attributes if one.is_moved]
