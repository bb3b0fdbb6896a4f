"""Measures decisions on rows, the policy, and how features depend on each other, for JSON."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import (
    auc,
    confusion_matrix,
    precision_recall_fscore_support,
    roc_curve,
)

from solah.data import Column, Kind, Table
from solah.data.spelling import spell, spell_whole
from solah.dependence import distance_correlation_matrix
from solah.evaluation import (
    bin_probabilities,
    calibration_error,
    risk_coverage,
    score_events,
    score_numbers,
    score_probabilities,
)
from solah.model.decide import PolicyDecider
from solah.model.policy import AbstainReason, name_reasons
from solah.report.summary import spread_evenly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.evaluation import RiskCoverage
    from solah.kernels.arrays import Float
    from solah.model.decide import Decisions
    from solah.model.document import Model

    Places = NDArray[np.intp]

MAX_CURVES = 10
MAX_POINTS = 400
MAX_STEPS = 200
RECORDING = "recording"


def measure_classes(
    truth: Places, beliefs: Float, decided: Places, names: list[str]
) -> dict[str, Any]:
    """Measure decisions on classes; what cannot be computed on these rows is None.

    Parameters
    ----------
    truth, decided : ndarray of shape (n_rows,)
        The places of the true classes and of those decided for.
    beliefs : ndarray of shape (n_rows, n_classes)
    names : list of str
        The classes.

    Examples
    --------
    >>> import numpy as np
    >>> beliefs = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> measured = measure_classes(np.array([0, 1, 1]), beliefs, np.array([0, 0, 1]), ["a", "b"])
    >>> measured["confusion"], measured["scores"]["balanced_accuracy"]
    ([[1, 0], [1, 1]], 0.75)
    """
    places = np.arange(len(names))
    scores = score_probabilities(truth, beliefs, places, decisions=decided)
    precision, recall, _, support = precision_recall_fscore_support(
        truth, decided, labels=places, zero_division=np.nan
    )
    by_class = zip(names, precision.tolist(), recall.tolist(), support.tolist(), strict=True)
    is_true = (truth[:, None] == places).ravel()
    bins = bin_probabilities(beliefs.ravel(), is_true)
    by_bin = zip(
        bins.predicted.tolist(), bins.came_true.tolist(), bins.counts.tolist(), strict=True
    )
    # A class against the rest needs rows of both; of two classes, one curve is the other's mirror.
    partly = np.flatnonzero((support > 0) & (support < len(truth))).tolist()
    places_drawn = partly[-1:] if len(names) == 2 else partly
    chosen = sorted(places_drawn, key=lambda place: -support[place])[:MAX_CURVES]
    curves = []
    for place in sorted(chosen):
        false_alarms, found, _ = roc_curve(truth == place, beliefs[:, place])
        area, points = float(auc(false_alarms, found)), _thinned(false_alarms, found)
        curves.append({"class": names[place], "place": place, "auc": area, "points": points})
    return {
        "scores": {
            "accuracy": scores.accuracy,
            "balanced_accuracy": float(np.nanmean(recall)),
            "auc": _known(scores.auc),
            "log_loss": scores.log_loss,
            "brier": scores.brier,
            "calibration_error": calibration_error(truth, beliefs, decided),
        },
        "confusion": confusion_matrix(truth, decided, labels=places).tolist(),
        "classes": [
            {"class": name, "precision": _known(p), "recall": _known(r), "support": n}
            for name, p, r, n in by_class
        ],
        "curves": curves,
        "calibration": [
            {"belief": _known(believed), "share": _known(came_true), "pairs": pairs}
            for believed, came_true, pairs in by_bin
        ],
    }


def measure_numbers(truth: Float, estimates: Float) -> dict[str, Any]:
    """Measure estimates of a number; of many rows every so manieth is kept as a point."""
    scores = score_numbers(truth, estimates)
    kept = spread_evenly(len(truth), MAX_POINTS)
    both = np.concatenate([truth, estimates])
    return {
        "scores": {"r2": _known(scores.r2), "mae": scores.mae},
        "points": np.column_stack([truth[kept], estimates[kept]]).tolist(),
        "low": float(both.min()),
        "high": float(both.max()),
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _thinned(first: Float, second: Float) -> list[list[float]]:
    """Keep enough points of a curve to draw it."""
    points = np.column_stack([first, second])
    kept: list[list[float]] = points[spread_evenly(len(points), MAX_STEPS)].round(5).tolist()
    return kept


# --- the policy ----------------------------------------------------------------------------------


def measure_trust(model: Model, table: Table, truth: Places, beliefs: Float) -> dict[str, Any]:
    """Measure decisions by the policy, which may abstain and debounce in the order of the rows.

    Parameters
    ----------
    model : Model
    table : Table
        The rows, in the order of time; windows have their recording in a column of this name.
    truth : ndarray of shape (n_rows,)
        The indices of the true classes; -1 where they are missing.
    beliefs : ndarray of shape (n_rows, n_classes)
        Those of each row by itself.

    Returns
    -------
    measured : dict
        Risk against coverage, the withheld decisions and their reasons, and the effect of
        debouncing on false alarms and delay.
    """
    target, is_known = model.target, truth >= 0
    places = target.decide(beliefs)
    curve = risk_coverage(truth[is_known], beliefs[is_known], places[is_known], target.thresholds)
    groups: list[Any] | None = None
    if model.signals is not None and RECORDING in table.names:
        groups = table.column(RECORDING).values.tolist()
    judged = PolicyDecider(model).take(table, groups) if model.policy or model.domain else None
    events = None
    if judged is not None and model.policy is not None and model.policy.remembers:
        names = [spell(state) for state in target.classes]
        by = {"raw": places, "settled": judged.stable_places}
        scores = {name: score_events(truth, one, names, groups) for name, one in by.items()}
        events = {
            name: {**vars(one), "classes": [dict(vars(of_class)) for of_class in one.classes]}
            for name, one in scores.items()
        }
    return {
        "curve": {
            "points": _thinned(curve.coverage, curve.risk),
            "area": curve.area,
            "risk": float(curve.risk[-1]),
        },
        "chosen": _chosen(model, curve),
        "held": judged and _held(judged, truth),
        "events": events,
        "by_recording": groups is not None,
    }


def _chosen(model: Model, curve: RiskCoverage) -> dict[str, Any] | None:
    """Return coverage and risk at the minimum probability; None if classes have several."""
    policy = model.policy
    if policy is None or not any(policy.min_probability):
        return None
    shares = np.array(model.target.thresholds or (1 / model.target.size,) * model.target.size)
    limits = np.array(policy.min_probability) / (shares * model.target.size)
    if not np.allclose(limits, limits[0]):
        return None
    coverage, risk = curve.at(float(limits[0]))
    return {"belief": list(policy.min_probability), "coverage": coverage, "risk": risk}


def _held(judged: Decisions, truth: Places) -> dict[str, Any]:
    """Count the withheld decisions, and the rows with each reason."""
    is_decided = judged.places >= 0
    counted = is_decided & (truth >= 0)
    wrong = float((judged.places != truth)[counted].mean()) if counted.any() else None
    abstain_reasons = {
        name_reasons(one)[0]: int((judged.abstain_reasons & one > 0).sum()) for one in AbstainReason
    }
    return {"decided": float(is_decided.mean()), "risk": wrong, "abstain_reasons": abstain_reasons}


# --- dependence ----------------------------------------------------------------------------------

MAX_FEATURES = 100
MAX_ROWS = 2_000
_N_PAIRS = 8


def describe_dependence(model: Model, readings: Float) -> dict[str, Any]:
    """Measure the distance correlations of features, ordered by the parts that read them.

    Without ``names`` there is nothing to compare; the ``note`` has the reason.
    """
    features = len(model.features)
    if features < 2:
        return {"names": [], "note": "There is only one feature, so nothing to compare it with."}
    if features > MAX_FEATURES:
        note = f"Not drawn: a figure of {features} features would not be legible."
        return {"names": [], "note": note}
    order, groups = _by_part(model)
    rows = spread_evenly(len(readings), MAX_ROWS)
    finite = np.where(np.isinf(readings), np.nan, readings)[rows]
    columns = {f"x{j}": Column(f"x{j}", finite[:, j]) for j in range(features)}
    kinds = {
        name: Kind.CATEGORICAL if feature.is_coded else Kind.CONTINUOUS
        for name, feature in zip(columns, model.features, strict=True)
    }
    known = np.flatnonzero(~np.isnan(finite).all(axis=0)).tolist()
    whole = np.eye(features)  # those without readings depend on nothing
    if len(known) > 1:
        table = Table(tuple(columns[f"x{j}"] for j in known), len(rows))
        known_kinds = {f"x{j}": kinds[f"x{j}"] for j in known}
        whole[np.ix_(known, known)] = distance_correlation_matrix(table, kinds=known_kinds)
    matrix = whole[np.ix_(order, order)]
    names = [model.features[place].name for place in order]
    pairs = sorted(combinations(range(features), 2), key=lambda pair: -matrix[pair])[:_N_PAIRS]
    sampled = f"{spell_whole(len(rows))} of {spell_whole(len(readings))} rows, evenly spread."
    return {
        "names": names,
        "groups": groups,
        "matrix": matrix.round(3).tolist(),
        "pairs": [
            {"names": [names[a], names[b]], "dependence": float(matrix[a, b])} for a, b in pairs
        ],
        "note": f"Measured on {sampled}" if len(rows) < len(readings) else "",
    }


def _by_part(model: Model) -> tuple[list[int], list[dict[str, Any]]]:
    """Order features by tree, term or group, each once; those that none reads come last."""
    places = {feature.name: place for place, feature in enumerate(model.features)}
    groups = [part for part in model.parts if part.kind == "group"]
    group_of = {name: part.name for part in groups for name in part.origins}
    members: dict[str, list[int]] = {}
    for part in model.parts:
        own = [places.pop(name) for name in part.origins if name in places]
        members.setdefault(group_of.get(part.name, part.name), []).extend(own)
    order: list[int] = []
    framed = []
    for name, own in members.items():
        if len(own) > 1:
            framed.append({"part": name, "start": len(order), "stop": len(order) + len(own)})
        order += own
    return order + list(places.values()), framed
