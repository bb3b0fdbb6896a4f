"""Summarises a model and its scores as a dict of plain values: what every report shows."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import count, spell
from solah.exceptions import SolahError
from solah.explain import feature_importances, rules_of
from solah.explain.html import strongest_rules
from solah.explain.legend import pinned_parts, spell_constraints, spell_policy, spell_recurrences
from solah.explain.rules import part_rules
from solah.export import export_c
from solah.export.footprint import counted_flash
from solah.model.encode import find_unseen
from solah.model.json_fields import record_of
from solah.model.program import Walk
from solah.model.provenance import is_trained_on
from solah.report.groups import FEW_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.evaluation import CrossValidation
    from solah.explain.rule_text import Rule
    from solah.export.c_export import Numbers
    from solah.learn.objective import PathStep
    from solah.model import Feature, Model, Target
    from solah.report.page_summary import DecidedRows


def spread_evenly(n_rows: int, most: int) -> NDArray[np.intp]:
    """Choose evenly spaced rows, the first and the last among them."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))


MAX_RULES = 20
PAGE_WIDTH = 80


def summarise(
    model: Model,
    scores: CrossValidation | None = None,
    *,
    max_rules: int = MAX_RULES,
    path: Sequence[PathStep] = (),
) -> dict[str, Any]:
    """Gather what a person wants to know of a model.

    Parameters
    ----------
    model : Model
        The model.
    scores : CrossValidation, default=None
        How well such models decide on unseen rows.
    max_rules : int, default=20
        How many rules to list, shared by the trees: the strongest of each, and one at least.
    path : sequence of PathStep, default=()
        What each number of rules is worth: the ``path_`` of an estimator.

    Returns
    -------
    summary : dict
        Plain values only, ready for JSON; an open end of a range is None.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_depth=1).fit(iris.table, iris.target)
    >>> summary = summarise(tree.model_)
    >>> summary["target"]["classes"], summary["size"]["rules"]
    (['setosa', 'versicolor', 'virginica'], 5)
    """
    rules = rules_of(model)
    shares = importance_by_name(model)
    return {
        "target": describe_target(model.target),
        "size": {
            "features": len(model.features),
            "rules": len(rules),
            "branches": model.n_branches,
            "depth": rule_depth(model),
        },
        "features": [
            {**describe_feature(feature), "importance": shares[feature.name]}
            for feature in model.features
        ],
        "hierarchy": describe_hierarchy(model),
        "path": describe_path(path),
        "start": rules.baseline or None,
        "rules": [rule.to_dict() for rule in strongest(rules, share_of_rules(model, max_rules))],
        "scores": None if scores is None else describe_scores(scores),
        "when": spell_policy(model),
        "edits": [dict(vars(edit)) for edit in model.edits],
        "generator": model.generator,
    }


def importance_by_name(model: Model) -> dict[str, float]:
    """Return each feature's share of the information gained."""
    names = [feature.name for feature in model.features]
    return dict(zip(names, feature_importances(model).tolist(), strict=True))


def strongest(rules: list[Rule], most: int | None) -> list[Rule]:
    """Keep the first rules of each tree, of rules in the order of trees; None keeps all."""
    return [
        rule for _, of_tree in groupby(rules, lambda rule: rule.part) for rule in [*of_tree][:most]
    ]


def describe_hierarchy(model: Model) -> dict[str, Any]:
    """Describe how the parts of a model are wired, and each of them, from bottom to top."""
    return {
        "structure": model.hierarchy.to_dict(),
        "levels": model.hierarchy.n_levels,
        "parts": describe_parts(model),
        "drawing": draw_trees(model),
    }


def describe_parts(model: Model) -> list[dict[str, Any]]:
    """Describe the inputs of terms, groups, sums and trees; of terms and trees, their rules."""
    counts = {part.name: len(part.active()) for part in part_rules(model)}
    return [
        {
            "name": part.name,
            "kind": part.kind,
            "inputs": list(part.origins),
            "rules": counts.get(part.name),
        }
        for part in model.parts
    ]


def share_of_rules(model: Model, most: int) -> int:
    """Return how many rules of each term or tree to list: at least one, about ``most`` in all."""
    n_parts = sum(part.kind in ("term", "tree") for part in model.parts)
    return -(-most // max(n_parts, 1))


def rule_depth(model: Model) -> int:
    """Return how many conditions a rule has at most."""
    cells = (term.cells for stage in model.program.stages for term in stage.terms)
    depths = (one.depth if isinstance(one, Walk) else one.rules.ndim for one in cells)
    return max(depths, default=0)


def describe_path(path: Sequence[PathStep]) -> list[dict[str, Any]]:
    """Describe what each number of rules is worth, the fewest first."""
    ordered = sorted(path, key=lambda step: (step.n_rules, step.max_rules))
    return [vars(step) for step in ordered]


def draw_trees(model: Model, width: int = PAGE_WIDTH) -> str:
    """Draw how the parts are wired, with the number of their rules."""
    notes = {
        part["name"]: "adds up" if part["rules"] is None else count(part["rules"], "rule")
        for part in describe_parts(model)
    }
    return model.hierarchy.draw(notes, width=width)


def describe_target(target: Target) -> dict[str, Any]:
    """Describe what is decided on: classes, or the words of a number."""
    return {
        "name": target.name,
        "task": target.task.value,
        "classes": list(target.classes),
        "thresholds": list(target.thresholds),
        "words": list(target.words),
        "link": target.link,
    }


def describe_feature(feature: Feature) -> dict[str, Any]:
    """Describe a feature's words, with their ranges where there are any."""
    described = {
        "name": feature.name,
        "kind": feature.kind.value,
        "low": feature.low,
        "high": feature.high,
    }
    if not feature.is_continuous:
        return {**described, "words": [{"word": word} for word in feature.words]}
    words = [
        {
            "word": each.word,
            "fully": _closed(each.fully),
            "partly": _closed(each.partly),
            "text": each.text,
        }
        for each in feature.word_ranges()
    ]
    return {**described, "words": words}


def describe_scores(scores: CrossValidation) -> dict[str, Any]:
    """Describe how estimators did: the spread of each measure, and each fold."""
    return {
        "task": scores.task.value,
        "folds": scores.plan.folds,
        "repeats": scores.plan.repeats,
        "seed": scores.plan.seed,
        "method": scores.method,
        "notes": list(scores.notes),
        "estimators": {
            name: {
                measure: {"mean": _known(spread.mean), "deviation": _known(spread.deviation)}
                for measure, spread in scores.spreads(name).items()
            }
            for name in scores.estimators
        },
        "each_fold": [
            {
                "estimator": fold.estimator,
                "repeat": fold.repeat,
                "fold": fold.fold,
                **{measure: _known(value) for measure, value in fold.measures.items()},
            }
            for fold in scores.folds
        ],
    }


def _closed(ends: tuple[float, float]) -> list[float | None]:
    """Write an open end of a range as None."""
    return [None if math.isinf(end) else float(end) for end in ends]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


MAX_FEW = 12
N_EXAMPLES = 5
_NUMBERS: tuple[Numbers, ...] = ("q15", "float")


def describe_card(model: Model, rows: DecidedRows | None = None) -> dict[str, Any]:
    """Describe the parts of a model card that other reports lack.

    Parameters
    ----------
    model : Model
    rows : DecidedRows, default=None
        Rows to look at: how many readings are beyond what was learned.

    Returns
    -------
    card : dict
        Plain values only, ready for JSON.
    """
    return {
        "provenance": _provenance(model),
        "is_training_data": rows and is_trained_on(model, rows.table, rows.truth),
        "ranges": _ranges(model, rows),
        "few": _few(model),
        "promises": spell_constraints(model),
        "edits": list(map(str, model.edits)),
        "pinned": pinned_parts(model),
        "recurrences": spell_recurrences(model),
        "moved": [one.name for one in model.features if one.is_moved],
        "device": _device(model),
        "examples": list(map(str, strongest_rules(model, N_EXAMPLES))),
    }


def _provenance(model: Model) -> dict[str, Any] | None:
    if model.provenance is None:
        return None
    record = record_of(model.provenance)
    names = [spell(state) for state in model.target.classes]
    keys = ("source", "modified", "rows", "digest", "cross_validated")
    known = {key: record.get(key) for key in keys}
    classes = dict(zip(names, model.provenance.classes, strict=False))
    return {**known, "classes": classes, "dropped": list(model.provenance.dropped)}


def _ranges(model: Model, rows: DecidedRows | None) -> list[dict[str, Any]]:
    """Describe the training values of each feature, and count the rows with others."""
    found = []
    for place, feature in enumerate(model.features):
        known: dict[str, Any] = {
            "name": feature.name,
            "kind": feature.kind.value,
            "low": feature.low,
            "high": feature.high,
            "states": [spell(state) for state in feature.categories],
            "beyond": None,
            "missing": None,
        }
        if rows is not None:
            readings, column = rows.readings[:, place], rows.table.column(feature.name)
            known["missing"] = int(column.missing().sum())
            if feature.low is not None and feature.high is not None:
                beyond = (readings < feature.low) | (readings > feature.high)
                known["beyond"] = int(np.count_nonzero(beyond))
            elif feature.is_coded and feature.categories:
                unseen = find_unseen(column, feature)
                known["beyond"] = 0 if unseen is None else unseen.n_rows
        found.append(known)
    return found


def _few(model: Model) -> dict[str, Any]:
    """Find classes and rules that rest on few rows."""
    counts = model.provenance.classes if model.provenance else ()
    classes = [
        {"class": spell(state), "rows": number}
        for state, number in zip(model.target.classes, counts, strict=False)
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
    """Count the flash of the exported model, without a compiler."""
    flash, reason = {}, ""
    for numbers in _NUMBERS:
        try:
            one = export_c(model, numbers=numbers)
        except SolahError as error:
            reason = str(error)
            continue
        flash[numbers] = counted_flash(one.files, one.name, one.style)
    return {"flash": flash or None, "reason": reason}
