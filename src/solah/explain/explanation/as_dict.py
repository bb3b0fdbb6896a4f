"""Writes an explanation as a dict of plain values or as a line of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from solah.explain.novelty import name_doubts
from solah.explain.semantics import FusionStep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.explain.changing import Change, Changes, Leeway
    from solah.explain.explanation.values import Explanation
    from solah.explain.semantics import Step, TreeStep

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# Rules that less of a row took are left out; one is always listed.
_WORTH_LISTING = 0.1


def as_dict(explanation: Explanation, top: int | None) -> dict[str, Any]:
    """Describe an explanation by plain values, with the steps of so many trees at the most."""
    return {
        "goal": explanation.goal.name,
        "states": list(explanation.goal.states or explanation.goal.words),
        "thresholds": list(explanation.goal.thresholds),
        "decision": explanation.decision,
        "certainty": explanation.certainty,
        "belief": list(explanation.belief),
        "start": list(explanation.start),
        "before": explanation.before,
        "after": explanation.after,
        "known": explanation.known,
        "held_back": explanation.doubts.is_held_back,
        "doubts": name_doubts(explanation.doubts.doubts),
        "reasons_to_doubt": list(explanation.doubts.reasons),
        "damping": explanation.damping,
        "readings": explanation.reading_dicts(),
        "steps": _steps(explanation.telling_steps(top)),
        "changes": None if explanation.changes is None else _changes(explanation.changes),
    }


def as_json(explanation: Explanation, top: int | None) -> str:
    """Write an explanation as one line of JSON."""
    return _ENCODER.encode(as_dict(explanation, top))


def _steps(steps: Iterable[Step]) -> list[dict[str, Any]]:
    return [
        _fusion_step(step) if isinstance(step, FusionStep) else _tree_step(step) for step in steps
    ]


def _tree_step(step: TreeStep) -> dict[str, Any]:
    worth = [one for one in step.fired if one.weight >= _WORTH_LISTING]
    listed = worth or step.fired[:1]
    return {
        "tree": step.tree,
        "inputs": step.inputs,
        "belief": step.belief,
        "rules": [{"rule": one.rule.sentence, "weight": one.weight} for one in listed],
    }


def _fusion_step(step: FusionStep) -> dict[str, Any]:
    return {
        "tree": step.tree,
        "n_inputs": len(step.inputs),
        "belief": step.belief,
        "bias": step.bias,
        "trees": [
            {
                "tree": one.tree,
                "evidence": one.evidence,
                "class": one.decision,
            }
            for one in step.trees
        ],
    }


def _changes(changes: Changes) -> dict[str, Any]:
    return {
        "one": [_change(change) for change in changes.one],
        "two": None if changes.two is None else _change(changes.two),
        "leeways": [_leeway(leeway) for leeway in changes.leeways],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "decision": change.decision,
        "size": change.size,
        "moves": [dict(vars(move)) for move in change.moves],
        "text": str(change),
    }


def _leeway(leeway: Leeway) -> dict[str, Any]:
    return {**vars(leeway), "states": list(leeway.states)}
