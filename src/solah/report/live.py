"""Describes a model for the page's scripts: its program, its words, and the document to edit."""

from __future__ import annotations

import json
from base64 import b64encode
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.explain.paths import has_whole_numbers
from solah.explain.rules import part_rules
from solah.export.js_tables import describe_program
from solah.model.document import AdditiveNode, Task
from solah.model.format import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.document import Model


def describe_live(model: Model, max_rules: int) -> dict[str, Any]:
    """Describe a model as the page's scripts read it.

    Parameters
    ----------
    model : Model
    max_rules : int
        How many rules of each term or tree are listed on the page: the number of each is given.

    Returns
    -------
    described : dict
        ``nodes`` has the position of each part in the program: ``part`` is None for a whole stage,
        and ``rules`` has the numbers of the rules that are listed.
    """
    described = describe_program(model)
    for stage in described["program"]["stages"]:
        for term in stage["terms"]:
            del term["share"]  # which follows from the variances, also of edited rules
    _refer_to_words(model, described["program"]["axes"])
    program = model.program
    rules = {part.name: list(part.active())[:max_rules] for part in part_rules(model)}
    nodes = []
    for part in model.parts:
        stage, number = program.part_numbers[part.name]
        place = {"stage": stage, "part": None if part.name in program.stage_numbers else number}
        nodes.append(place | ({"rules": rules[part.name]} if part.name in rules else {}))
    target = model.target
    # The focal sets of a number's words, from low to high.
    pairs = (f"{low}-or-{high}" for low, high in pairwise(target.words))
    sets = [name for both in zip_longest(target.words, pairs) for name in both if name is not None]
    return {
        **described,
        "target": {
            "labels": [spell(state) for state in target.classes] or sets,
            "isNumber": target.task is Task.REGRESSION,
            "isSum": target.is_additive_number,
        },
        "features": [
            {
                "name": feature.name,
                "continuous": feature.is_continuous,
                "coded": feature.is_coded,
                "ordered": feature.is_ordered,
                "words": list(feature.words),
                "sets": list(feature.set_words),
                "peaks": list(feature.peaks),
                "mean_masses": list(feature.mean_masses),
                "low": feature.low,
                "high": feature.high,
                "moved": feature.is_moved,
                **({"whole": True} if has_whole_numbers(feature) else {}),
            }
            for feature in model.features
        ],
        "nodes": nodes,
    }


def _refer_to_words(model: Model, axes: list[dict[str, Any]]) -> None:
    """Let axes follow the words of the features that they read, but for axes of one set.

    ``partedAt`` is where a feature is parted of which an axis reads only the part, else None.
    """
    for described, axis in zip(axes, model.program.axes, strict=True):
        if axis.is_read and axis.size > 1:
            del described["peaks"], described["missing"]
            described["partedAt"] = None
    for node, stage in zip(model.nodes, model.program.stages, strict=True):
        if isinstance(node, AdditiveNode):
            for term, compiled in zip(node.terms, stage.terms, strict=True):
                for a, one in zip(compiled.axes, term.inputs, strict=True):
                    if one.asked.parted_at:
                        axes[a]["partedAt"] = list(one.asked.parted_at)


# --- editing -------------------------------------------------------------------------------------


def describe_editing(model: Model) -> dict[str, Any]:
    """Describe the document for an editor that changes parts of it.

    Parameters
    ----------
    model : Model

    Returns
    -------
    editing : dict
        ``why_not`` has the reason if the model cannot be edited rule by rule, else it is empty.
        Then ``document`` has the parts of the model file as JSON text, of its lists each item, and
        ``node`` those of its only node. Parts without edits are downloaded unchanged, to the last
        digit.
    """
    if len(model.nodes) > 1 or not model.is_additive:
        reason = (
            "This model cannot be edited here: its rules are branches of trees, which share their "
            "conditions, so that none can be changed by itself. The rules of additive models, the "
            "default of solah fit, can be edited."
        )
        return {"why_not": reason, "document": {}, "node": {}}
    document = json.loads(to_json(model))
    (node,) = document.pop("nodes")
    return {
        "why_not": "",
        "document": _texts(document, ("features", "edits")),
        "node": _texts(node, ("terms",)),
    }


def _texts(record: dict[str, Any], lists: Sequence[str]) -> dict[str, Any]:
    """Write each value as JSON text; of some lists, each item."""

    def dump(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    return {
        key: list(map(dump, value)) if key in lists else dump(value)
        for key, value in record.items()
    }


def pack(numbers: Sequence[float | None]) -> dict[str, str]:
    """Write at most 65,536 numbers, exactly and in few characters.

    Returns
    -------
    packed : dict
        ``values`` has the distinct ones as float64, NaN for None, and ``codes`` the place of each
        among them as uint16; both little-endian, in base 64.
    """
    values, codes = np.unique(np.array(numbers, dtype=np.float64), return_inverse=True)
    parts = {"values": values.astype("<f8"), "codes": codes.astype("<u2")}
    return {key: b64encode(part.tobytes()).decode() for key, part in parts.items()}
