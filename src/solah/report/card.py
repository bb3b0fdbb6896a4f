"""Describes what a model card tells: where a model comes from, its limits, and its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import SolahError
from solah.explain.handwork import moved_attributes, pinned_trees, spell_edits, spell_promises
from solah.explain.rules import rules_of
from solah.export.costs import model_costs
from solah.model.encode import find_unseen
from solah.model.provenance import is_learnt_from, provenance_record
from solah.report.groups import FEW_ROWS

if TYPE_CHECKING:
    from solah.export.exporting import Numbers
    from solah.model.document import Model
    from solah.report.page_summary import DecidedRows

MAX_FEW = 12
N_EXAMPLES = 5
_NUMBERS: tuple[Numbers, ...] = ("q15", "float")


def describe_card(model: Model, rows: DecidedRows | None = None) -> dict[str, Any]:
    """Describe what a model card tells beside what every report does.

    Parameters
    ----------
    model : Model
    rows : DecidedRows, default=None
        Rows to look at: how many readings are beyond what was learnt.

    Returns
    -------
    card : dict
        Plain values only, ready for JSON.
    """
    return {
        "provenance": _provenance(model),
        "is_training_data": rows and is_learnt_from(model, rows.table, rows.truth),
        "ranges": _ranges(model, rows),
        "few": _few(model),
        "promises": spell_promises(model),
        "edits": spell_edits(model),
        "pinned": pinned_trees(model),
        "moved": moved_attributes(model),
        "device": _device(model),
        "examples": _examples(model),
    }


def _provenance(model: Model) -> dict[str, Any] | None:
    if model.provenance is None:
        return None
    record = provenance_record(model.provenance)
    names = [spell(state) for state in model.goal.states]
    keys = ("source", "modified", "rows", "digest", "out_of_fold")
    known = {key: record.get(key) for key in keys}
    classes = dict(zip(names, model.provenance.classes, strict=False))
    return {**known, "classes": classes, "left_out": list(model.provenance.left_out)}


def _ranges(model: Model, rows: DecidedRows | None) -> list[dict[str, Any]]:
    """Tell which readings each attribute had, and how many of the rows have others."""
    found = []
    for place, attribute in enumerate(model.attributes):
        known: dict[str, Any] = {
            "name": attribute.name,
            "kind": attribute.kind.value,
            "low": attribute.low,
            "high": attribute.high,
            "states": [spell(state) for state in attribute.states],
            "beyond": None,
            "missing": None,
        }
        if rows is not None:
            readings, column = rows.readings[:, place], rows.table.column(attribute.name)
            known["missing"] = int(column.missing().sum())
            if attribute.low is not None and attribute.high is not None:
                beyond = (readings < attribute.low) | (readings > attribute.high)
                known["beyond"] = int(np.count_nonzero(beyond))
            elif attribute.is_coded and attribute.states:
                unseen = find_unseen(column, attribute)
                known["beyond"] = 0 if unseen is None else unseen.n_rows
        found.append(known)
    return found


def _few(model: Model) -> dict[str, Any]:
    """Find classes and rules that rest on few rows."""
    counts = model.provenance.classes if model.provenance else ()
    classes = [
        {"class": spell(state), "rows": number}
        for state, number in zip(model.goal.states, counts, strict=False)
        if number < FEW_ROWS
    ]
    rules = sorted(rules_of(model), key=lambda rule: rule.support)
    weak = [rule for rule in rules if rule.support < FEW_ROWS]
    return {
        "limit": FEW_ROWS,
        "classes": classes,
        "n_rules": len(weak),
        "rules": [
            {"condition": rule.premise or "always", "rows": rule.support} for rule in weak[:MAX_FEW]
        ],
    }


def _device(model: Model) -> dict[str, Any]:
    """Estimate what the model costs on a small processor, without a compiler."""
    try:
        costs = {numbers: dict(vars(model_costs(model, numbers))) for numbers in _NUMBERS}
    except SolahError as error:
        return {"costs": None, "reason": str(error)}
    return {"costs": costs, "reason": ""}


def _examples(model: Model) -> list[str]:
    """Write the rules that move most, over all rows that they apply to."""
    rules = rules_of(model).sort(key=lambda rule: -rule.support * rule.effect)
    return [str(rule) for rule in rules[:N_EXAMPLES]]
