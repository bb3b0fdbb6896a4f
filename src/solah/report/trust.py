"""Measures what a model's policy makes of its decisions, ready for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.evaluation.abstaining import risk_coverage
from solah.evaluation.settling import score_events
from solah.explain.novelty import name_doubts
from solah.model.policy import Doubt
from solah.report.sampling import spread_evenly
from solah.runtime.judging import Judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data import Table
    from solah.evaluation import EventScores, RiskCoverage
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.runtime.judging import Judgement

MAX_STEPS = 200
RECORDING = "recording"


def measure_trust(
    model: Model, table: Table, truth: NDArray[np.intp], beliefs: Float
) -> dict[str, Any]:
    """Measure decisions that may be held back, and settled in the order of the rows.

    Parameters
    ----------
    model : Model
    table : Table
        The rows, in the order of time; windows tell their recording in a column of this name.
    truth : ndarray of shape (n_rows,)
        The places of the true classes; -1 where they are not known.
    beliefs : ndarray of shape (n_rows, n_classes)
        Those of each row by itself.

    Returns
    -------
    measured : dict
        Plain values: risk against coverage, what is held back and why, and what settling does to
        false alarms and delay.
    """
    is_known = truth >= 0
    goal, places = model.goal, model.goal.decide(beliefs)
    curve = risk_coverage(truth[is_known], beliefs[is_known], places[is_known], goal.thresholds)
    groups = _recordings(model, table)
    judged = Judge(model).take(table, groups) if model.policy or model.domain else None
    return {
        "curve": _describe_curve(curve),
        "chosen": _chosen(model, curve),
        "held": judged and _held(judged, truth),
        "events": judged and _events(model, judged, truth, places, groups),
        "by_recording": groups is not None,
    }


def _recordings(model: Model, table: Table) -> list[Any] | None:
    if model.signals is None or RECORDING not in table.names:
        return None
    return list(table.column(RECORDING).values.tolist())


def _describe_curve(curve: RiskCoverage) -> dict[str, Any]:
    points = np.column_stack([curve.coverage, curve.risk])
    kept = points[spread_evenly(len(points), MAX_STEPS)]
    return {"points": kept.round(5).tolist(), "area": curve.area, "risk": float(curve.risk[-1])}


def _chosen(model: Model, curve: RiskCoverage) -> dict[str, Any] | None:
    """Tell coverage and risk at the limit of belief; None if classes have different ones."""
    policy = model.policy
    if policy is None or not any(policy.min_belief):
        return None
    shares = np.array(model.goal.thresholds or (1 / model.goal.size,) * model.goal.size)
    limits = np.array(policy.min_belief) / (shares * model.goal.size)
    if not np.allclose(limits, limits[0]):
        return None
    coverage, risk = curve.at(float(limits[0]))
    return {"belief": list(policy.min_belief), "coverage": coverage, "risk": risk}


def _held(judged: Judgement, truth: NDArray[np.intp]) -> dict[str, Any]:
    """Tell how many decisions are held back, and how many are in doubt for each reason."""
    is_decided = judged.places >= 0
    counted = is_decided & (truth >= 0)
    wrong = float((judged.places != truth)[counted].mean()) if counted.any() else None
    doubts = {name_doubts(one)[0]: int((judged.doubts & one > 0).sum()) for one in Doubt}
    return {"decided": float(is_decided.mean()), "risk": wrong, "doubts": doubts}


def _events(
    model: Model,
    judged: Judgement,
    truth: NDArray[np.intp],
    places: NDArray[np.intp],
    groups: list[Any] | None,
) -> dict[str, Any] | None:
    """Compare each row decided by itself with what is settled; None without a memory."""
    if model.policy is None or not model.policy.remembers:
        return None
    names = [spell(state) for state in model.goal.states]
    raw, settled = (
        score_events(truth, one, names, groups) for one in (places, judged.settled_places)
    )
    return {"raw": _describe_events(raw), "settled": _describe_events(settled)}


def _describe_events(scores: EventScores) -> dict[str, Any]:
    return {**vars(scores), "classes": [dict(vars(one)) for one in scores.classes]}
