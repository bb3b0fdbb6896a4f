"""Makes estimators as the options of the command line say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from solah.cli.model_options import AUTO, MODELS
from solah.estimators import (
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.exceptions import DataError, ParameterError
from solah.kernels.choose import available_threads
from solah.model import Task
from solah.model.structure import Hierarchy
from solah.paper import PAPER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.cli.model_options import HierarchyOptions, TreeOptions

Estimator = (
    LinguisticTreeClassifier
    | LinguisticTreeRegressor
    | LinguisticHierarchyClassifier
    | SelfOrganisedHierarchyClassifier
    | GeneticHierarchyClassifier
)

_TREE, _BY_HAND, _ORGANISED, _SEARCHED = MODELS
_HIERARCHIES = {
    _BY_HAND: LinguisticHierarchyClassifier,
    _ORGANISED: SelfOrganisedHierarchyClassifier,
    _SEARCHED: GeneticHierarchyClassifier,
}
_MODELS_WITH = {
    "hierarchy": (_BY_HAND,),
    "clusters": (_ORGANISED,),
    "level_gap": (_ORGANISED,),
    "fusion": (_BY_HAND, _ORGANISED),
    "penalty": (_BY_HAND, _ORGANISED),
    "top": (_ORGANISED,),
    "bias_corrected": (_ORGANISED,),
    "screen": (_ORGANISED,),
    "node": (_BY_HAND, _ORGANISED, _SEARCHED),
    "belief_labels": (_BY_HAND, _ORGANISED, _SEARCHED),
    "cross_fit": (_BY_HAND, _ORGANISED, _SEARCHED),
    "population": (_SEARCHED,),
    "generations": (_SEARCHED,),
    "time_budget": (_ORGANISED, _SEARCHED),
    "cascade": (_SEARCHED,),
}
_PARAMETERS = {
    "clusters": "n_clusters",
    "population": "population_size",
    "generations": "n_generations",
}
_SEARCH_SEED = 0
_CLASSES_ONLY = ("leaves", "shrinkage", "class_weight", "threshold")


class Aim(Protocol):
    """What is known of a problem when its models are made."""

    @property
    def task(self) -> Task:
        """Classification or regression."""

    @property
    def kinds(self) -> Mapping[str, Any]:
        """What columns are, as far as it is known."""


def make_models(
    problem: Aim,
    wishes: Sequence[str],
    wiring: HierarchyOptions,
    trees: TreeOptions,
    jobs: int | None,
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
    if is_number:
        _refuse_classes_only(wishes, wiring, trees)
    names = list(wishes) or [_default(wiring, is_number=is_number)]
    _refuse_strangers(names, wiring)
    _refuse_auto(names, wiring, trees)
    common = {"kinds": dict(problem.kinds), "n_jobs": jobs or available_threads(), **trees.given()}
    settings = PAPER if trees.paper else {}
    return {
        name: _estimator(name, is_number=is_number).with_settings(
            settings, **common, **_wiring_of(name, wiring)
        )
        for name in names
    }


def spell_models(names: Iterable[str], problem: Aim) -> str:
    """Name the models, and say why it is a tree where there is no choice."""
    why = " (hierarchies are for classes)" if problem.task is Task.REGRESSION else ""
    return f"{', '.join(names)}{why}"


def _default(wiring: HierarchyOptions, *, is_number: bool) -> str:
    if is_number:
        return _TREE
    return _BY_HAND if wiring.hierarchy is not None else _ORGANISED


def _estimator(name: str, *, is_number: bool) -> type[Estimator]:
    if name == _TREE:
        return LinguisticTreeRegressor if is_number else LinguisticTreeClassifier
    return _HIERARCHIES[name]


def _refuse_classes_only(
    wishes: Sequence[str], wiring: HierarchyOptions, trees: TreeOptions
) -> None:
    """Refuse what was asked for and is there for classes only, where the target is a number."""
    asked = [f"--model {name}" for name in wishes if name != _TREE]
    asked += map(_flag, wiring.given())
    asked += [_flag(name) for name in _CLASSES_ONLY if getattr(trees, name) is not None]
    if asked:
        raise DataError(f"{asked[0]} is for classes, and the target is taken as a number")


def _refuse_strangers(names: Sequence[str], wiring: HierarchyOptions) -> None:
    """Refuse options that none of the models has, and a hierarchy by hand that is not given."""
    for option in wiring.given():
        models = _MODELS_WITH[option]
        if not set(models) & set(names):
            raise ParameterError(
                f"{_flag(option)} is for --model {' or '.join(models)}, not for {', '.join(names)}"
            )
    if _BY_HAND in names and wiring.hierarchy is None:
        raise ParameterError(
            "which hierarchy? Say it with --hierarchy, as a file or as text; "
            "--model solah finds one by itself"
        )


def _refuse_auto(names: Sequence[str], wiring: HierarchyOptions, trees: TreeOptions) -> None:
    """Refuse "auto" where a model that chooses nothing would take it."""
    others = [name for name in names if name != _ORGANISED]
    for options, of_models in ((wiring, _MODELS_WITH), (trees, {})):
        for option, value in vars(options).items():
            takers = [name for name in others if name in of_models.get(option, others)]
            if isinstance(value, str) and value == AUTO and takers:
                raise ParameterError(
                    f"{_flag(option)} auto is for --model {_ORGANISED}, not for {', '.join(takers)}"
                )


def _wiring_of(name: str, wiring: HierarchyOptions) -> dict[str, Any]:
    """Return the user's options that a model has, under the names of its parameters."""
    given = {
        _PARAMETERS.get(option, option): value
        for option, value in wiring.given().items()
        if name in _MODELS_WITH[option]
    }
    if "hierarchy" in given:
        given["hierarchy"] = _read_hierarchy(given["hierarchy"])
    if name == _SEARCHED:
        given["random_state"] = _SEARCH_SEED
    return given


def _read_hierarchy(file_or_text: str) -> Hierarchy:
    """Read the short text, known by its arrow, or a file."""
    is_text = "<-" in file_or_text or "←" in file_or_text
    return Hierarchy.parse(file_or_text) if is_text else Hierarchy.load(file_or_text)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"
