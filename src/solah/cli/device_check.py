"""Compare the decisions of an export with those of its model, on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.export.agreement import require_agreement
from solah.model import Task
from solah.model.encode import MISSING, encode_goal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from solah.data import Table
    from solah.export import Agreement, Blob, Export, Program
    from solah.model import Model

    Places = NDArray[np.intp]


def check_device(
    model: Model,
    exported: Export | Blob | Program,
    table: Table | None,
    min_agreement: float,
) -> dict[str, Any]:
    """Compare the device with the model.

    Without a table rows are drawn. An export that decides too few rows as the model is refused.
    """
    found = require_agreement(model, exported, table, min_agreement)
    about: dict[str, Any] = {"rows": found.n_rows, "drawn": table is None}
    if found.n_clipped:
        about |= {"clipped_rows": found.n_clipped, "clipped": dict(found.clipped)}
    return {**about, **_described(model, found, table)}


def _described(model: Model, found: Agreement, table: Table | None) -> dict[str, Any]:
    """Say how far the device decides as the model does."""
    difference = {"largest_difference": found.largest_difference}
    if model.goal.task is Task.REGRESSION:
        return {"near_estimates": found.share, **difference}
    decided: dict[str, Any] = {"accuracy": found.expected, "accuracy_on_device": found.found}
    accuracies = {} if table is None else _accuracies(model, table, **decided)
    shares = {"same_decisions": found.share}
    if found.settled_share is not None:
        shares["same_settled"] = found.settled_share
    return {**shares, **difference, **accuracies}


def _accuracies(model: Model, table: Table, **decided: Places) -> dict[str, float]:
    """Measure decisions, by their names, where the truth is known."""
    if model.goal.name not in table.names:
        return {}
    truth = encode_goal(table.column(model.goal.name), model.goal)
    known = truth != MISSING
    return {name: float((places == truth)[known].mean()) for name, places in decided.items()}


def spell_findings(found: dict[str, Any], who: str = "device") -> dict[str, str]:
    """Write what was found for people; who decided is a device, or a part of a program."""
    on_device = "accuracy on the device" if who == "device" else f"accuracy of the {who}"
    return {
        "rows": f"{found['rows']:,}{', drawn' if found['drawn'] else ''}",
        "rows with clipped readings": _clipped(found),
        "the same decision": _percent(found.get("same_decisions")),
        "the same settled decision": _percent(found.get("same_settled")),
        "nearly the same number": _percent(found.get("near_estimates")),
        "largest difference": f"{found['largest_difference']:.2g}",
        "accuracy of the model": _percent(found.get("accuracy")),
        on_device: _percent(found.get("accuracy_on_device")),
    }


def _clipped(found: dict[str, Any]) -> str:
    """Count the rows that are clipped, and name the attributes."""
    if "clipped" not in found:
        return ""
    of_each = ", ".join(f"{name} {count:,}" for name, count in found["clipped"].items())
    return f"{found['clipped_rows']:,} ({of_each})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
