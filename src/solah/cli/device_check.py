"""An export and rows in, how the device decides beside the model out, for people and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.cli.sources import read_source
from solah.model import Task
from solah.model.beliefs import root_beliefs
from solah.model.encode import MISSING, encode, encode_goal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data import ReadOptions, Table
    from solah.export import Blob, Export
    from solah.kernels.arrays import Float
    from solah.model import Model

    Places = NDArray[np.intp]


def check_device(
    full: Model, model: Model, exported: Export | Blob, data: str, options: ReadOptions
) -> dict[str, Any]:
    """Compare the device with the model, and the model with what it was before it was shrunk."""
    table = read_source(data, options).table
    given_up = {} if full is model else _given_up(full, model, table)
    return {"rows": table.n_rows, **given_up, **_compare(model, exported, table)}


def _given_up(full: Model, model: Model, table: Table) -> dict[str, Any]:
    """Say how far a shrunk model decides as it did before."""
    before, after = (root_beliefs(one.nodes, table) for one in (full, model))
    if model.goal.task is Task.REGRESSION:
        return {"mean_change": float(abs((after - before) @ model.goal.centres).mean())}
    decided = model.goal.decide(before)
    kept = float((decided == model.goal.decide(after)).mean())
    return {"kept_decisions": kept, **_accuracies(model, table, accuracy_before=decided)}


def _compare(model: Model, exported: Export | Blob, table: Table) -> dict[str, Any]:
    """Let the device's twin decide on rows, beside the model itself."""
    rows = encode(table, model.attributes)
    beliefs = root_beliefs(model.nodes, table)
    if model.goal.task is Task.REGRESSION:
        return _compare_numbers(model, exported, rows, beliefs)
    places, device = exported.twin.decide(rows)
    scale = 1.0 if exported.numbers == "float" else 1 / 32768
    decided = model.goal.decide(beliefs)
    return {
        "same_decisions": float((places == decided).mean()),
        "largest_difference": float(abs(device * scale - beliefs).max()),
        **_accuracies(model, table, accuracy=decided, accuracy_on_device=places),
    }


def _compare_numbers(
    model: Model, exported: Export | Blob, rows: Float, beliefs: Float
) -> dict[str, Any]:
    estimates = exported.twin.estimate(rows) * exported.unit
    expected = beliefs @ np.array(model.goal.centres)
    return {"largest_difference": float(abs(estimates - expected).max())}


def _accuracies(model: Model, table: Table, **decided: Places) -> dict[str, float]:
    """Measure decisions, by their names, where the truth is at hand."""
    if model.goal.name not in table.names:
        return {}
    truth = encode_goal(table.column(model.goal.name), model.goal)
    known = truth != MISSING
    return {name: float((places == truth)[known].mean()) for name, places in decided.items()}


def spell_findings(found: dict[str, Any]) -> dict[str, str]:
    """Write what was found for people."""
    change = found.get("mean_change")
    return {
        "rows": f"{found['rows']:,}",
        "decided as before": _percent(found.get("kept_decisions")),
        "mean change": "" if change is None else f"{change:.2g}",
        "the same decision": _percent(found.get("same_decisions")),
        "largest difference": f"{found['largest_difference']:.2g}",
        "accuracy before": _percent(found.get("accuracy_before")),
        "accuracy of the model": _percent(found.get("accuracy")),
        "accuracy on the device": _percent(found.get("accuracy_on_device")),
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
