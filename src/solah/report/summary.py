"""Summarises a model and its scores as a dict of plain values: what every report shows."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from solah.data.spelling import count
from solah.explain import attribute_importances, rules_of
from solah.explain.handwork import spell_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.evaluation import CrossValidation
    from solah.explain import Rule
    from solah.learn.objective import PathStep
    from solah.model import Attribute, Fusion, Goal, Model, Tree

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
        The model document.
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
    >>> tree = LinguisticTreeClassifier(max_depth=1).fit(iris.table, iris.goal)
    >>> summary = summarise(tree.model_)
    >>> summary["goal"]["classes"], summary["size"]["rules"]
    (['setosa', 'versicolor', 'virginica'], 5)
    """
    rules = rules_of(model)
    shares = importance_by_name(model)
    return {
        "goal": describe_goal(model.goal),
        "size": {
            "attributes": len(model.attributes),
            "rules": len(rules),
            "branches": model.n_branches,
            "depth": max(tree.shape.depth for tree in model.trees),
        },
        "attributes": [
            {**describe_attribute(attribute), "importance": shares[attribute.name]}
            for attribute in model.attributes
        ],
        "hierarchy": describe_hierarchy(model),
        "path": describe_path(path),
        "start": rules.start or None,
        "rules": [rule.to_dict() for rule in strongest(rules, -(-max_rules // len(model.trees)))],
        "scores": None if scores is None else describe_scores(scores),
        "when": spell_policy(model),
        "edits": [dict(vars(edit)) for edit in model.edits],
        "generator": model.generator,
    }


def importance_by_name(model: Model) -> dict[str, float]:
    """Return each attribute's share of the information gained."""
    names = [attribute.name for attribute in model.attributes]
    return dict(zip(names, attribute_importances(model).tolist(), strict=True))


def strongest(rules: list[Rule], most: int | None) -> list[Rule]:
    """Keep the first rules of each tree, of rules that stand tree by tree; None keeps all."""
    return [
        rule for _, of_tree in groupby(rules, lambda rule: rule.tree) for rule in [*of_tree][:most]
    ]


def describe_hierarchy(model: Model) -> dict[str, Any]:
    """Describe how the trees of a model are wired, and each of them, from bottom to top."""
    return {
        "structure": model.hierarchy.to_dict(),
        "levels": model.hierarchy.n_levels,
        "trees": [describe_tree(tree) for tree in model.trees],
        "fusions": [describe_fusion(fusion) for fusion in model.fusions],
        "drawing": draw_trees(model),
    }


def describe_fusion(fusion: Fusion) -> dict[str, Any]:
    """Describe the inputs of a fusion, and its bias."""
    return {"name": fusion.name, "adds": list(fusion.origins), "bias": list(fusion.bias)}


def describe_path(path: Sequence[PathStep]) -> list[dict[str, Any]]:
    """Describe what each number of rules is worth, the fewest first."""
    ordered = sorted(path, key=lambda step: (step.n_rules, step.max_rules))
    return [vars(step) | {"loss": step.loss, "quality": step.quality} for step in ordered]


def describe_tree(tree: Tree) -> dict[str, Any]:
    """Describe what feeds a tree, and its size."""
    return {
        "name": tree.name,
        "inputs": [attribute.name for attribute in tree.inputs],
        "rules": tree.n_rules,
        "branches": tree.n_branches,
    }


def draw_trees(model: Model, width: int = PAGE_WIDTH) -> str:
    """Draw how the trees are wired, with the number of their rules."""
    notes = {tree.name: [count(tree.n_rules, "rule")] for tree in model.trees}
    for fusion in model.fusions:
        notes.setdefault(fusion.name, []).append("adds up")
    spelt = {name: ", ".join(parts) for name, parts in notes.items()}
    return model.hierarchy.draw(spelt, width=width)


def describe_goal(goal: Goal) -> dict[str, Any]:
    """Describe what is decided on: classes, or the words of a number."""
    return {
        "name": goal.name,
        "task": goal.task.value,
        "classes": list(goal.states),
        "thresholds": list(goal.thresholds),
        "words": list(goal.words),
    }


def describe_attribute(attribute: Attribute) -> dict[str, Any]:
    """Describe an attribute's words, with their ranges where there are any."""
    described = {
        "name": attribute.name,
        "kind": attribute.kind.value,
        "low": attribute.low,
        "high": attribute.high,
    }
    if not attribute.is_continuous:
        return {**described, "words": [{"word": word} for word in attribute.words]}
    words = [
        {
            "word": each.word,
            "fully": _closed(each.fully),
            "partly": _closed(each.partly),
            "text": each.text,
        }
        for each in attribute.word_ranges()
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
