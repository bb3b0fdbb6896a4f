"""Means over groups of sets in, what was aimed for and whether it holds out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from comparison.models import FEW_RULES
from comparison.sizes import RULE_UNITS

if TYPE_CHECKING:
    from comparison.models import Model

PAPER_ACCURACY = 0.832
_MEASURES = {"accuracy": "accuracy", "auc": "AUC"}
_AIMS = (
    # what, group, model, measure, aim
    ("eight sets, solah", "eight", "solah", "accuracy", 0.858),
    ("eight sets, solah", "eight", "solah", "auc", 0.896),
    (f"eight sets, max_rules={FEW_RULES}", "eight", "solah-20", "accuracy", 0.845),
    (f"twelve sets, solah (the paper: {PAPER_ACCURACY:.3f})", "twelve", "solah", "accuracy", 0.845),
)
_SENSOR_AIMS = (
    # what, set, least accuracy, most rules
    ("robot", "iot_wall_following_robot", 0.989, 40),
    ("room", "iot_room_occupancy", 0.995, 50),
)
_MOST_RULES = 60


def find_bars(
    groups: dict[str, Any],
    models: tuple[Model, ...],
    timing: list[dict[str, Any]],
    sets: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """List the aims that this run can check.

    Parameters
    ----------
    groups : dict
        The means by group, as the summary has them. Incomplete groups are not checked.
    models : tuple of Model
    timing : list of dict
    sets : dict, default=None
        The means by set, as the summary has them.

    Returns
    -------
    bars : list of dict
        Each with ``what``, ``aim``, ``measured`` (texts) and ``holds``.
    """
    bars = [
        _at_least(f"{what}: {_MEASURES[measure]}", figures[measure], aim)
        for what, group, model, measure, aim in _AIMS
        if (figures := _whole(groups, group, model)) is not None
    ]
    if (figures := _whole(groups, "eight", "solah")) is not None:
        bars.append(
            _at_most("eight sets, solah: median of rules", figures["size"], _MOST_RULES, "{:,.0f}")
        )
    if (figures := _whole(groups, "eight", "solah-20")) is not None:
        what = f"eight sets, max_rules={FEW_RULES}: most rules of a fold"
        bars.append(_at_most(what, figures["largest"], FEW_RULES, "{:,.0f}"))
        bars += _ahead_of_all(groups["eight"], models)
    for what, name, accuracy, most in _SENSOR_AIMS:
        if (figures := (sets or {}).get(name, {"models": {}})["models"].get("solah")) is not None:
            bars.append(_at_least(f"{what}, solah: accuracy", figures["accuracy"], accuracy))
            bars.append(_at_most(f"{what}, solah: rules", figures["size"], most, "{:,.0f}"))
    return bars + [
        _at_most(f"default fit on {one['what']}", one["ratio"], one["aim"], "{:.2f} times boosting")
        for one in timing
    ]


def _whole(groups: dict[str, Any], group: str, model: str) -> dict[str, Any] | None:
    """Return a model's means over a group, unless a set or the model is missing."""
    found = groups.get(group)
    if found is None or found["missing"]:
        return None
    figures = found["models"].get(model)
    return figures if figures and figures["n_sets"] == len(found["sets"]) else None


def _ahead_of_all(group: dict[str, Any], models: tuple[Model, ...]) -> list[dict[str, Any]]:
    """Compare few rules of ours with the other learners of rules and trees meant for reading."""
    rivals = [
        model
        for model in models
        if model.is_readable
        and not model.is_ours
        and model.unit in RULE_UNITS
        and group["models"].get(model.name, {}).get("n_sets") == len(group["sets"])
    ]
    bars = []
    for measure, word in _MEASURES.items() if rivals else ():
        best = max(rivals, key=lambda model: group["models"][model.name][measure])
        theirs = group["models"][best.name][measure]
        ours = group["models"]["solah-20"][measure]
        bars.append(
            {
                "what": f"eight sets, max_rules={FEW_RULES}: {word} ahead of other rules and trees",
                "aim": f"> {theirs:.3f} ({best.title})",
                "measured": f"{ours:.3f}",
                "holds": ours > theirs,
            }
        )
    return bars


def _at_least(what: str, measured: float, aim: float) -> dict[str, Any]:
    return {
        "what": what,
        "aim": f"≥ {aim:.3f}",
        "measured": f"{measured:.4f}",
        "holds": measured >= aim,
    }


def _at_most(what: str, measured: float | None, aim: float, spelling: str) -> dict[str, Any]:
    return {
        "what": what,
        "aim": f"≤ {spelling.format(aim)}",
        "measured": "unknown" if measured is None else spelling.format(measured),
        "holds": measured is not None and measured <= aim,
    }
