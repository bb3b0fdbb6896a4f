"""Makes estimators as the options of the command line say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from solah.cli.model_options import ALL, AUTO, MODELS
from solah.estimators import (
    PAPER,
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    RuleRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.exceptions import DataError, ParameterError, did_you_mean, shorten
from solah.kernels.choose import available_threads
from solah.model import Task
from solah.model.structure import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.cli.model_options import ModelOptions

Estimator = (
    LinguisticTreeClassifier
    | LinguisticTreeRegressor
    | LinguisticHierarchyClassifier
    | RuleClassifier
    | RuleRegressor
    | SelfOrganisedHierarchyClassifier
    | GeneticHierarchyClassifier
)

_TREE, _BY_HAND, _ORGANISED, _SEARCHED = MODELS
_FOR_CLASSES: dict[str, type[Estimator]] = {
    _TREE: LinguisticTreeClassifier,
    _BY_HAND: LinguisticHierarchyClassifier,
    _ORGANISED: RuleClassifier,
    _SEARCHED: GeneticHierarchyClassifier,
}
_FOR_NUMBERS: dict[str, type[Estimator]] = {
    _TREE: LinguisticTreeRegressor,
    _ORGANISED: RuleRegressor,
}

_OF_ADDING = (
    *("words", "interactions", "max_attributes", "attribute_cost", "required", "monotonic"),
    *("interaction_set", "may_lose"),
)
_OF_TREES = (
    *("labels", "placement", "criterion", "purity", "min_support", "max_depth", "leaves"),
    *("shrinkage", "rule_cost"),
)
_OF_STACKING = ("level_gap", "top", "bias_corrected", "screen")
_OF_HIERARCHIES = ("node", "belief_labels", "cross_fit")
_OF_GROUPS = ("clusters", "group")
_STACK_TREES = (*_OF_TREES, *_OF_STACKING, *_OF_HIERARCHIES)
_MODELS_WITH = {
    **dict.fromkeys((*_OF_ADDING, "clusters", "group", "fusion"), (_ORGANISED,)),
    **dict.fromkeys(_OF_STACKING, (_ORGANISED,)),
    **dict.fromkeys(_OF_HIERARCHIES, (_BY_HAND, _ORGANISED, _SEARCHED)),
    **dict.fromkeys((*_OF_TREES, "max_rules", "class_weight", "threshold"), MODELS),
    **dict.fromkeys(("population", "generations", "time_budget", "cascade"), (_SEARCHED,)),
    "hierarchy": (_BY_HAND,),
}
_FOR_CLASSES_ONLY = (
    *("hierarchy", "fusion", "leaves", "shrinkage", "class_weight", "threshold"),
    "may_lose",
    *(*_OF_STACKING, *_OF_HIERARCHIES, "population", "generations", "time_budget", "cascade"),
)
_PARAMETERS = {
    "max_attributes": "max_features",
    "attribute_cost": "feature_costs",
    "required": "required_features",
    "may_lose": "robust_to",
    "monotonic": "monotonic_cst",
    "interaction_set": "interaction_cst",
    "belief_labels": "belief_words",
    "threshold": "thresholds",
    "labels": "n_words",
    "population": "population_size",
    "generations": "n_generations",
}
_SEARCH_SEED = 0
_ADD = "add"


class Aim(Protocol):
    """What is known of a problem when its models are made."""

    @property
    def task(self) -> Task:
        """Classification or regression."""

    @property
    def kinds(self) -> Mapping[str, Any]:
        """What columns are, as far as it is known."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The columns to decide with; None where they are not known yet."""


def make_models(
    problem: Aim, wishes: Sequence[str], options: ModelOptions, jobs: int | None
) -> dict[str, Estimator]:
    """Choose estimators by the user's wishes and the task, and set them as the user says.

    Raises
    ------
    DataError
        If something is asked for that a number has not.
    ParameterError
        If options do not go together, or the hierarchy cannot be read.
    """
    is_number = problem.task is Task.REGRESSION
    given = options.given()
    if is_number:
        _refuse_classes_only(wishes, given)
    elif options.devices is not None:
        given.setdefault("may_lose", "groups")
    if given.get("may_lose") == "nothing":
        del given["may_lose"]
    names = list(wishes) or [_default(options, is_number=is_number)]
    if options.devices is not None:
        _refuse_unplaced(names, problem.names, options)
    _refuse_strangers(names, given)
    stacks = _ORGANISED in names and _stacks_trees(names, options, is_number=is_number)
    common = {"feature_types": dict(problem.kinds), "n_jobs": jobs or available_threads()}
    kinds_of_model = _FOR_NUMBERS if is_number else _FOR_CLASSES
    models: dict[str, Estimator] = {}
    for name in names:
        parameters = _parameters_of(name, given, stacks=stacks)
        is_stacked = name == _ORGANISED and stacks
        kind = SelfOrganisedHierarchyClassifier if is_stacked else kinds_of_model[name]
        settings = PAPER if options.paper and (stacks or name != _ORGANISED) else {}
        models[name] = kind.with_settings(settings, **common, **parameters)
    return models


def spell_models(names: Iterable[str], estimators: Mapping[str, Estimator]) -> str:
    """Name models, and say of each what it is."""
    return ", ".join(f"{name} ({_what(name, estimators[name])})" for name in names)


def adds_up(estimator: Estimator) -> bool:
    """Whether an estimator learns rules whose evidence is added up."""
    return isinstance(estimator, RuleClassifier | RuleRegressor)


def _what(name: str, estimator: Estimator) -> str:
    if name == _ORGANISED:
        return "rules that add up" if adds_up(estimator) else "trees that are stacked"
    return {
        _TREE: "one tree",
        _BY_HAND: "trees that are wired by hand",
        _SEARCHED: "trees whose wiring is searched for",
    }[name]


def _default(options: ModelOptions, *, is_number: bool) -> str:
    if options.hierarchy is not None:
        return _BY_HAND
    if is_number and (options.paper or _first(_OF_TREES, options.given())):
        return _TREE
    return _ORGANISED


def _first(options: Iterable[str], given: Iterable[str]) -> str | None:
    """Return the first of some options that is given."""
    return next((option for option in options if option in given), None)


def _refuse_classes_only(wishes: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse what was asked for and is there for classes only, where the target is a number."""
    asked = [f"--model {name}" for name in wishes if name not in _FOR_NUMBERS]
    asked += [_flag(option) for option in given if option in _FOR_CLASSES_ONLY]
    if asked:
        raise DataError(f"{asked[0]} is for classes, and the target is taken as a number")


def _refuse_unplaced(
    models: Sequence[str], columns: Sequence[str] | None, options: ModelOptions
) -> None:
    """Refuse a placement that does not have all columns to decide with, or has others."""
    if others := [name for name in models if name != _ORGANISED]:
        raise ParameterError(
            f"--placement {options.placement} is for --model {_ORGANISED}, not for {others[0]}"
        )
    if columns is None or options.devices is None:
        return
    placed = [name for names in options.devices.values() for name in names]
    if nowhere := [name for name in columns if name not in placed]:
        raise ParameterError(
            f"{options.placement} does not say where {shorten(nowhere[0])} is measured; give it a "
            "node, or leave the column out with --drop"
        )
    if strange := [name for name in placed if name not in columns]:
        raise ParameterError(
            f"{options.placement} places {shorten(strange[0])}, which is no column to decide with"
            f"{did_you_mean(strange[0], columns)}"
        )


def _refuse_strangers(names: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse options that none of the models has, and a hierarchy by hand that is not given."""
    for option in given:
        models = _MODELS_WITH[option]
        if not set(models) & set(names):
            raise ParameterError(
                f"{_flag(option)} is for --model {' or '.join(models)}, not for {', '.join(names)}"
            )
    if _BY_HAND in names and "hierarchy" not in given:
        raise ParameterError(
            "which hierarchy? Say it with --hierarchy, as a file or as text; "
            "--model solah finds one by itself"
        )
    others = [name for name in names if name != _ORGANISED]
    if given.get("max_rules") == AUTO and others:
        raise ParameterError(
            f"--max-rules auto is for --model {_ORGANISED}, not for {', '.join(others)}"
        )


def _stacks_trees(names: Sequence[str], options: ModelOptions, *, is_number: bool) -> bool:
    """Whether the model that organises itself stacks trees; refuse what does not go together."""
    given = options.given()
    of_trees = "paper" if options.paper else _first(_STACK_TREES, given)
    others = [name for name in names if name != _ORGANISED]
    if of_trees and is_number:
        if others:  # it is for them
            return False
        raise ParameterError(f"{_flag(of_trees)} is for trees; numbers have one with --model tree")
    if given.get("fusion") == _ADD:
        if of_trees and not others:
            raise ParameterError(
                f"{_flag(of_trees)} is for trees, and --fusion add has none; leave one of them out"
            )
        return False
    if of_trees is None and "fusion" not in given:
        return False
    why = "--fusion tree" if of_trees is None else _flag(of_trees)
    if of_adding := _first(_OF_ADDING, given):
        raise ParameterError(
            f"{_flag(of_adding)} is for rules that add up, and {why} makes --model solah stack "
            "trees; leave one of them out"
        )
    if given.get("max_rules") == AUTO:
        raise ParameterError(
            f"--max-rules auto is for rules that add up, and {why} makes --model solah stack "
            "trees; give a number"
        )
    return True


def _parameters_of(name: str, given: Mapping[str, Any], *, stacks: bool) -> dict[str, Any]:
    """Return the user's options that a model has, under the names of its parameters."""
    without = () if name != _ORGANISED or stacks else _STACK_TREES
    found = {
        _PARAMETERS.get(option, option): value
        for option, value in given.items()
        if name in _MODELS_WITH[option] and option not in (*without, *_OF_GROUPS, "fusion")
    }
    if name == _ORGANISED:
        found |= _grouping(given, stacks=stacks)
    if found.get("max_rules") == ALL:
        found["max_rules"] = None
    if "hierarchy" in found:
        found["hierarchy"] = _read_hierarchy(found["hierarchy"])
    if name == _SEARCHED:
        found["random_state"] = _SEARCH_SEED
    return found


def _grouping(given: Mapping[str, Any], *, stacks: bool) -> dict[str, Any]:
    """Return which features belong together: as given by name, or how to find it."""
    if "group" in given:
        groups = given["group"]
        return {"clusters": list(groups.values())} if stacks else {"feature_groups": groups}
    if "clusters" not in given:
        return {}
    k = given["clusters"]
    return {"n_clusters": k} if stacks else {"feature_groups": None if k == "each" else k}


def _read_hierarchy(file_or_text: str) -> Hierarchy:
    """Read the short text, known by its arrow, or a file."""
    is_text = "<-" in file_or_text or "←" in file_or_text
    return Hierarchy.parse(file_or_text) if is_text else Hierarchy.load(file_or_text)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"
