"""A model document and its scores in, a dict of plain values out: what every report shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from solah.explain import importances, rules_of

if TYPE_CHECKING:
    from solah.evaluation import CrossValidation
    from solah.explain import Rule
    from solah.model import Attribute, Goal, Model

MAX_RULES = 20


def summarise(
    model: Model, scores: CrossValidation | None = None, *, max_rules: int = MAX_RULES
) -> dict[str, Any]:
    """Gather what a person wants to know of a model.

    Parameters
    ----------
    model : Model
        The model document.
    scores : CrossValidation, default=None
        How well such models decide on unseen rows.
    max_rules : int, default=20
        How many rules to list, the strongest first.

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
        "rules": [describe_rule(rule) for rule in rules[:max_rules]],
        "scores": None if scores is None else describe_scores(scores),
        "generator": model.generator,
    }


def importance_by_name(model: Model) -> dict[str, float]:
    """Return each attribute's share of the information gained, averaged over the trees."""
    shares = dict.fromkeys((attribute.name for attribute in model.attributes), 0.0)
    for tree in model.trees:
        for attribute, share in zip(tree.inputs, importances(tree).tolist(), strict=True):
            shares[attribute.name] += share / len(model.trees)
    return shares


def describe_goal(goal: Goal) -> dict[str, Any]:
    """Describe what is decided on: classes, or the words of a number."""
    return {
        "name": goal.name,
        "task": goal.task.value,
        "classes": list(goal.states),
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
            "text": str(each).removeprefix(f"{each.word}: "),
        }
        for each in attribute.word_ranges()
    ]
    return {**described, "words": words}


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Describe a rule by its parts and as a sentence."""
    return {
        "tree": rule.tree,
        "conditions": [
            {"attribute": condition.attribute, "words": list(condition.words)}
            for condition in rule.conditions
        ],
        "decision": rule.decision,
        "certainty": rule.certainty,
        "belief": list(rule.belief),
        "support": rule.support,
        "text": str(rule),
    }


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
