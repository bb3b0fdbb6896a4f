"""Writes the program of a model as plain values, which ``js_runtime/evaluate.js`` runs.

The report page and the JavaScript module both carry that predictor, and these values.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from solah.explain.importance import feature_importances
from solah.export.programs import as_walk
from solah.model.json_fields import record_of
from solah.model.policy import Domain, Policy, cell_cuts

if TYPE_CHECKING:
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.program import Axis, Program, Stage, Term


def describe_program(model: Model) -> dict[str, Any]:
    """Describe all that a decision needs.

    Parameters
    ----------
    model : Model

    Returns
    -------
    described : dict
        ``program``, and ``policy`` if a decision may be withheld, else None. All of it is JSON,
        and no key of it comes from the model.
    """
    return {"program": _program(model.program), "policy": _policy(model)}


def evaluator_text() -> str:
    """Return the predictor's source."""
    place = files("solah.export").joinpath("js_runtime", "evaluate.js")
    return place.read_text(encoding="utf-8")


def _program(program: Program) -> dict[str, Any]:
    return {
        "size": program.n_outputs,
        "axes": [_axis(axis) for axis in program.axes],
        "stages": [_stage(stage) for stage in program.stages],
        "thresholds": _numbers(program.thresholds),
        "centres": _numbers(program.centres),
    }


def _axis(axis: Axis) -> dict[str, Any]:
    described = {
        "kind": axis.kind.name.lower(),
        "source": axis.source,
        "peaks": axis.peaks.tolist(),
        "missing": axis.missing.tolist(),
    }
    return described if axis.is_read else {**described, "output": axis.output}


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "link": stage.link.name.lower(),
        "baseline": stage.baseline.tolist(),
        "logPrior": _numbers(stage.log_prior),
        "terms": [_term(term) for term in stage.terms],
        "groups": [list(group.parts) for group in stage.groups],
    }


def _term(term: Term) -> dict[str, Any]:
    walk = as_walk(term.cells)
    described = {
        "axes": list(term.axes),
        "split": walk.split.tolist(),
        "child": walk.child.tolist(),
        "depth": walk.depth,
        "weights": term.weights.tolist(),
        "share": term.share,
        "variance": term.variance,
    }
    return described if term.missing is None else {**described, "missing": term.missing.tolist()}


def _numbers(numbers: Float | None) -> list[float] | None:
    return None if numbers is None else numbers.tolist()


def _policy(model: Model) -> dict[str, Any] | None:
    """Describe when the decision on a single row is withheld; None if it never is."""
    if model.policy is None and model.domain is None:
        return None
    policy, domain = model.policy or Policy(), model.domain or Domain(())
    importances = feature_importances(model)
    has_shares = any(term.share for term in model.program.stages[-1].terms)
    places = {feature.name: place for place, feature in enumerate(model.features)}
    return {
        "minBelief": list(policy.min_probability),
        "minKnown": policy.min_completeness if importances.any() else 0.0,
        "shares": None if has_shares else importances.tolist(),
        "inRange": policy.stays_in_range,
        "maxUnseen": policy.max_unseen,
        "cells": [
            {"low": cells.low, "high": cells.high, "cuts": cell_cuts(feature, cells)}
            for feature, cells in zip(model.features, domain.cells, strict=False)
        ],
        "pairs": [
            record | {"first": places[record["first"]], "second": places[record["second"]]}
            for record in record_of(domain).get("pairs", [])
        ],
    }
