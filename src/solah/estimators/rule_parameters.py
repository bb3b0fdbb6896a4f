"""Reads the parameters of the rule estimators as a recipe; refuses what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ColumnError, ParameterError, shorten
from solah.learn.organisation import clusters_by_hand
from solah.learn.recipe import (
    WORD_KINDS,
    AdditiveRecipe,
    BudgetSettings,
    GroupSettings,
    InteractionSettings,
    WordSettings,
)
from solah.model import Monotonic
from solah.model.monotone import may_be_monotonic
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.learn.recipe import WordKind
    from solah.model import Attribute

    Directions = Mapping[str, int] | Sequence[int] | np.ndarray[Any, Any]
    MonotonicConstraints = Directions | Mapping[Any, Directions]
    InteractionConstraints = str | Sequence[Sequence[Any] | Set[Any]]

RULE_CONSTRAINTS: dict[str, list[Any]] = {
    "words": [StrOptions(set(WORD_KINDS)), Mapping],
    "interactions": [
        StrOptions({"auto"}),
        Interval(Integral, 0, None, closed="left"),
        Sequence,
    ],
    "max_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "feature_costs": [Mapping, None],
    "required_features": [Sequence, Set, None],
    "monotonic_cst": ["array-like", Mapping, None],
    "interaction_cst": [StrOptions({"pairwise", "no_interactions"}), Sequence, Set, None],
    "feature_groups": [
        StrOptions({"auto"}),
        Interval(Integral, 1, None, closed="left"),
        Mapping,
        list,
        tuple,
        None,
    ],
    "feature_types": [Mapping, None],
    "verbose": ["boolean"],
    "n_jobs": [Integral, None],
}
_FORM = (
    "'monotonic_cst' must have -1, 0 or 1 for each column: an array, or a mapping from names of "
    "columns; for several classes, a mapping from classes to such constraints."
)


def recipe_of(
    estimator: Any,
    names: Sequence[str],
    attributes: Sequence[Attribute] = (),
    classes: Sequence[Any] | None = None,
) -> AdditiveRecipe:
    """Build the recipe of an estimator's parameters, and check the columns that they name.

    Parameters
    ----------
    estimator : one of those of the additive model
    names : the columns, in the order in which they came
    attributes : how those that are learnt from are described
    classes : the classes; None for a number
    """
    words = estimator.words
    by_hand = words if isinstance(words, Mapping) else {}
    check_columns("words", by_hand, names)
    check_columns("feature_types", estimator.feature_types or {}, names)
    kind: WordKind = "auto" if isinstance(words, Mapping) else words
    max_rules = estimator.max_rules
    budget = BudgetSettings(
        max_rules=None if max_rules == "auto" else max_rules,
        max_features=estimator.max_features,
        costs=_costs(estimator.feature_costs, names),
        required=_required(estimator.required_features, names),
    )
    _check_budget(budget)
    if max_rules is None:  # every rule stays
        budget = replace(budget, max_rules=1 << 30)
    monotonic = _monotonic(estimator.monotonic_cst, names, classes)
    _check_order(monotonic, attributes)
    return AdditiveRecipe(
        words=WordSettings(
            kind=kind, by_hand=frozenset(by_hand), kept=estimator._by_hand.attributes
        ),
        interactions=_interactions(estimator, names),
        budget=budget,
        groups=_groups(estimator, names),
        monotonic=monotonic,
        rules=estimator._by_hand.resolved(names, classes),
        max_rows=estimator._limits.many_rows,
    )


def _required(given: Any, names: Sequence[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise ParameterError(
            f"'required_features' must be a list of columns. Got {given!r} instead."
        )
    check_columns("required_features", given or (), names)
    return frozenset(given or ())


def _costs(given: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    costs = dict(given or {})
    check_columns("feature_costs", costs, names)
    for name, cost in costs.items():
        if not isinstance(cost, Real) or not 0 < float(cost) < float("inf"):
            raise ParameterError(
                f"the cost of feature {name!r} must be a number above 0. Got {cost!r}."
            )
    return {name: float(cost) for name, cost in costs.items()}


def _check_budget(budget: BudgetSettings) -> None:
    """Refuse fewer attributes or rules than those that must stay have."""
    n_required = len(budget.required)
    if budget.max_features is not None and budget.max_features < n_required:
        raise ParameterError(
            f"'required_features' names {n_required} columns, and 'max_features' allows "
            f"{budget.max_features}"
        )
    if budget.max_rules is not None and budget.max_rules < 2 * n_required:
        raise ParameterError(
            f"'required_features' names {n_required} columns, which have two rules each at least, "
            f"and 'max_rules' allows {budget.max_rules}"
        )


def _groups(estimator: Any, names: Sequence[str]) -> GroupSettings:
    """Read the feature groups, or how to find them."""
    max_rows = min(GroupSettings().max_rows, estimator._limits.many_rows)
    given = estimator.feature_groups
    if given is None:
        return GroupSettings(None, max_rows=max_rows)
    if isinstance(given, str):
        return GroupSettings(max_rows=max_rows)
    if isinstance(given, Integral):
        return GroupSettings(int(given), max_rows=max_rows)
    named: list[str | None] = list(given) if isinstance(given, Mapping) else [None] * len(given)
    members = given.values() if isinstance(given, Mapping) else given
    clusters = [
        tuple(names[place] for place in one)
        for one in clusters_by_hand(list(members), tuple(names))
    ]
    return GroupSettings(None, tuple(zip(named, clusters, strict=True)), max_rows)


def _interactions(estimator: Any, names: Sequence[str]) -> InteractionSettings:
    """Read how many pairs there may be or which, and which columns may be one."""
    given = estimator.interactions
    together = _allowed_together(estimator.interaction_cst, names)
    if together == () and given in ("auto", 0):
        return _pair_settings(0)
    if isinstance(given, str):
        return InteractionSettings(together=together)
    if isinstance(given, Integral):
        if together == ():
            raise ParameterError(f"'interaction_cst' allows no interactions, and there are {given}")
        return replace(_pair_settings(int(given)), together=together)
    pairs = []
    for pair in given:
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            raise ParameterError(
                f"'interactions' must be a list of pairs of different columns. Got {pair!r}."
            )
        check_columns("interactions", pair, names)
        pairs.append((str(pair[0]), str(pair[1])))
        if not InteractionSettings(together=together).may_be(*pairs[-1]):
            raise ParameterError(
                f"'interactions' has the pair {pair[0]!r} and {pair[1]!r}, which 'interaction_cst' "
                "keeps apart"
            )
    return replace(_pair_settings(len(pairs)), pairs=tuple(pairs))


def _pair_settings(n_pairs: int) -> InteractionSettings:
    """Return settings for ``n_pairs`` interactions."""
    return InteractionSettings(
        least=n_pairs, tried=(2 * n_pairs, 4 * n_pairs) if n_pairs else (), max_pairs=n_pairs
    )


def _allowed_together(given: Any, names: Sequence[str]) -> tuple[frozenset[str], ...] | None:
    """Read which columns may interact, as scikit-learn has it; None for any two.

    Columns that no set names are a set of their own.
    """
    if given is None or (isinstance(given, str) and given == "pairwise"):
        return None
    if isinstance(given, str):
        return ()
    sets = []
    for one in given:
        if isinstance(one, str) or not isinstance(one, Sequence | Set | np.ndarray):
            raise ParameterError(
                "'interaction_cst' must be 'pairwise', 'no_interactions' or a sequence of lists, "
                f"tuples or sets of columns. Got {shorten(one)} in it."
            )
        sets.append(frozenset(_column(column, names) for column in one))
    rest = frozenset(names).difference(*sets)
    return (*sets, rest) if rest else tuple(sets)


def _column(given: Any, names: Sequence[str]) -> str:
    if isinstance(given, Integral) and not isinstance(given, bool):
        if not 0 <= int(given) < len(names):
            raise ParameterError(
                f"'interaction_cst' has the column {given}, and X has columns 0 to {len(names) - 1}"
            )
        return names[int(given)]
    check_columns("interaction_cst", [given], names)
    return str(given)


def _monotonic(
    given: Any, names: Sequence[str], classes: Sequence[Any] | None
) -> tuple[Monotonic, ...]:
    """Read along which columns the goal goes one way only.

    Parameters
    ----------
    given : as ``monotonic_cst`` has it
    names : the columns, in the order in which they came
    classes : the classes; None for a number
    """
    if given is None:
        return ()
    is_by_class = isinstance(given, Mapping) and any(
        not isinstance(one, Integral) for one in given.values()
    )
    if classes is None or not is_by_class:
        if classes is not None and len(classes) != 2:
            raise ParameterError(
                f"'monotonic_cst' must say for which class, as there are {len(classes)}: a mapping "
                f"from classes to constraints, such as {{{_plain(classes[-1])!r}: …}}."
            )
        found = _directions(given, names)
        return tuple(Monotonic(name, one, int(classes is not None)) for name, one in found.items())
    known = [_plain(one) for one in classes]
    promises: list[Monotonic] = []
    for one, constraints in given.items():
        state = place_of_class("monotonic_cst", one, known)
        found = _directions(constraints, names)
        promises += [Monotonic(name, direction, state) for name, direction in found.items()]
    _refuse_contradictions(promises, known)
    if len(known) == 2:  # what holds of the first class holds of the second, the other way round
        turned = (
            one if one.state else Monotonic(one.attribute, -one.direction, 1) for one in promises
        )
        promises = list(dict.fromkeys(turned))
    return tuple(promises)


def _directions(given: Any, names: Sequence[str]) -> dict[str, int]:
    """Return the directions that are not 0, by column."""
    if isinstance(given, Mapping):
        check_columns("monotonic_cst", given, names)
        found = dict(given)
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
        if np.ndim(given) != 1 or len(given) != len(names):
            raise ParameterError(
                f"'monotonic_cst' has the shape {np.shape(given)}, and X has {len(names)} columns"
            )
        found = dict(zip(names, given, strict=True))
    else:
        raise ParameterError(f"{_FORM} Got {shorten(given)} instead.")
    for name, one in found.items():
        if isinstance(one, bool) or not isinstance(one, Integral) or one not in (-1, 0, 1):
            raise ParameterError(f"{_FORM} Got {shorten(_plain(one))} for column {name!r}.")
    return {name: int(one) for name, one in found.items() if one}


def _refuse_contradictions(promises: Sequence[Monotonic], classes: Sequence[Any]) -> None:
    """Refuse that all classes rise, or all fall: as shares of one belief, they cannot."""
    for name in dict.fromkeys(one.attribute for one in promises):
        for direction, verb in ((1, "rise"), (-1, "fall")):
            states = {
                one.state for one in promises if (one.attribute, one.direction) == (name, direction)
            }
            if len(states) == len(classes):
                raise ParameterError(
                    f"'monotonic_cst' lets every class {verb} with {name!r}, and beliefs sum to 1: "
                    "leave one of them free"
                )


def _check_order(promises: Sequence[Monotonic], attributes: Sequence[Attribute]) -> None:
    """Refuse directions along attributes whose readings have no order."""
    of_names = {attribute.name: attribute for attribute in attributes}
    for one in promises:
        attribute = of_names.get(one.attribute)
        if attribute is not None and not may_be_monotonic(attribute):
            raise ParameterError(
                f"'monotonic_cst' needs an order, and the states of {one.attribute!r} have none; "
                f"give them one by feature_types={{{one.attribute!r}: [lowest, …, highest]}}"
            )


def check_columns(parameter: str, given: Iterable[Any], names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    for name in given:
        if name not in names:
            raise ColumnError.unknown(name, names, where=f"{parameter!r} names a column, and X")


def place_of_class(parameter: str, given: Any, classes: Sequence[Any]) -> int:
    """Return the place of a class; text may name one that is no text."""
    given, known = _plain(given), [_plain(one) for one in classes]
    for names in (known, list(map(str, known))):
        if given in names:
            return names.index(given)
    shown = ", ".join(map(repr, known[:10]))
    raise ParameterError(
        f"{parameter!r} names the class {shorten(given)}, and the classes are {shown}"
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
