"""The figures of all cells in, the one dict that everything is shown from out."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from comparison.bars import find_bars
from comparison.pareto import Point, pareto_front
from comparison.sets import TITLES
from comparison.sizes import RULE_UNITS
from reproduction.statistics import compare

if TYPE_CHECKING:
    from comparison.cells import Figures
    from comparison.running import Comparison, Results

SCORES = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "calibration")
MEASURES = (*SCORES, "size", "length", "seconds")

Means = dict[str, float | None]


def summarise(
    work: Comparison, results: Results, timing: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Lay out all that was measured as plain values.

    Parameters
    ----------
    work : Comparison
    results : Results
    timing : list of dict, default=None
        As :func:`comparison.speed.measure_speed` returns it.

    Returns
    -------
    summary : dict of plain values
    """
    request = work.request
    sets = {name: _describe_set(name, work, results) for name in request.sets}
    known = {name: facts for name, facts in sets.items() if facts is not None}
    units = {model.name: model.unit for model in request.models}
    groups = {
        name: _describe_group(name, members, known, units)
        for name, members in request.groups.items()
    }
    return {
        "solah": version("solah"),
        "settings": {"folds": request.folds, "seeds": list(request.seeds), "rows": request.rows},
        "machine": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "scikit-learn": version("scikit-learn"),
            "processors": os.cpu_count(),
        },
        "models": {
            model.name: {
                "title": model.title,
                "unit": model.unit,
                "about": model.about,
                "made_with": model.made_with,
                "is_readable": model.is_readable,
                "is_ours": model.is_ours,
            }
            for model in request.models
        },
        "missing": list(work.missing),
        "notes": [*work.obstacles, *work.too_large, *_failure_notes(results)],
        "sets": known,
        "groups": groups,
        "timing": timing or [],
        "bars": find_bars(groups, request.models, timing or [], known),
    }


def _failure_notes(results: Results) -> list[str]:
    return sorted(f"{cell.name} failed: {reason}" for cell, reason in results.failures.items())


def _describe_set(name: str, work: Comparison, results: Results) -> dict[str, Any] | None:
    """Take the means of each model that was measured with all seeds."""
    by_model: dict[str, list[Figures]] = {}
    for cell in work.cells:  # not in the order in which they were done, which is chance
        if cell.set_name == name and cell in results.figures:
            by_model.setdefault(cell.model, []).append(results.figures[cell])
    whole = {m: found for m, found in by_model.items() if len(found) == len(work.request.seeds)}
    if not whole:
        return None
    facts = next(iter(whole.values()))[0]
    order = [model.name for model in work.request.models if model.name in whole]
    return {
        **{key: facts[key] for key in ("rows", "features", "classes", "method", "notes")},
        "folds": len(facts["each"]),
        "models": {model: _means(whole[model]) for model in order},
    }


def _means(cells: list[Figures]) -> Means:
    """Take means over all folds of all seeds; and the largest size."""
    folds = [fold for figures in cells for fold in figures["each"]]
    sizes = [fold["size"] for fold in folds if fold["size"] is not None]
    means = {name: _mean([fold[name] for fold in folds]) for name in MEASURES}
    return {**means, "largest": max(sizes, default=None)}


def _describe_group(
    name: str, members: tuple[str, ...], sets: dict[str, Any], units: dict[str, str]
) -> dict[str, Any]:
    present = [member for member in members if member in sets]
    models = {}
    for model in units:
        figures = [
            sets[member]["models"][model] for member in present if model in sets[member]["models"]
        ]
        if figures:
            models[model] = _over_sets(figures)
    compared = [model for model in models if models[model]["n_sets"] == len(present)]
    return {
        "title": TITLES[name],
        "sets": present,
        "missing": [member for member in members if member not in sets],
        "models": models,
        "ranks": {
            measure: _ranks(measure, present, compared, sets) for measure in ("accuracy", "auc")
        },
        "pareto": _front(models, compared, units),
    }


def _over_sets(figures: list[Means]) -> dict[str, Any]:
    """Take the mean over sets, of sizes the median."""
    means = {name: _mean([one[name] for one in figures]) for name in MEASURES}
    sizes = [one["size"] for one in figures if one["size"] is not None]
    largest = [one["largest"] for one in figures if one["largest"] is not None]
    return {
        **means,
        "size": float(np.median(sizes)) if sizes else None,
        "largest": max(largest, default=None),
        "n_sets": len(figures),
    }


def _ranks(measure: str, present: list[str], models: list[str], sets: Any) -> dict[str, Any]:
    """Rank the models that were measured on all sets."""
    scores = [[sets[name]["models"][model][measure] for model in models] for name in present]
    if not models or any(score is None for row in scores for score in row):
        return {"mean": {}, "p_value": None, "critical_difference": None}
    standing = compare(np.array(scores))
    return {
        "mean": dict(zip(models, standing.ranks, strict=True)),
        "p_value": standing.p_value,
        "critical_difference": standing.critical_difference,
    }


def _front(models: dict[str, Any], compared: list[str], units: dict[str, str]) -> list[str]:
    points = [
        Point(model, models[model]["size"], models[model]["accuracy"])
        for model in compared
        if units[model] in RULE_UNITS and models[model]["size"] is not None
    ]
    return [point.name for point in pareto_front(points)]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
