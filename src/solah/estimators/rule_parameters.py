"""Conversion of the parameters and user-defined rules of the rule estimators to a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.edit import parse_rule
from solah.estimators.inputs import find_class, no_such_class
from solah.exceptions import ColumnError, ParameterError, shorten
from solah.learn.organisation import clusters_by_hand
from solah.learn.recipe import (
    WORD_KINDS,
    AdditiveRecipe,
    BudgetSettings,
    FixedRule,
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
    from solah.model import Feature, Model

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
    "max_flash": [Interval(Integral, 1, None, closed="left"), str, None],
    "platform": [str],
    "verbose": ["boolean"],
    "n_jobs": [Integral, None],
}


def recipe_of(
    estimator: Any,
    names: Sequence[str],
    features: Sequence[Feature] = (),
    classes: Sequence[Any] | None = None,
) -> AdditiveRecipe:
    """Build the recipe of an estimator's parameters, and check the columns that they name.

    Parameters
    ----------
    estimator : a RuleClassifier or RuleRegressor
    names : the columns, in the order in which they came
    features : how the features are described
    classes : the classes; None for a number
    """
    words = estimator.words
    by_hand = words if isinstance(words, Mapping) else {}
    _check_columns("words", by_hand, names)
    _check_columns("feature_types", estimator.feature_types or {}, names)
    kind: WordKind = "auto" if isinstance(words, Mapping) else words
    return AdditiveRecipe(
        words=WordSettings(kind=kind, by_hand=frozenset(by_hand), kept=estimator._by_hand.features),
        interactions=_interactions(estimator, names),
        budget=_budget(estimator, names),
        groups=_groups(estimator, names),
        monotonic=_monotonic(estimator.monotonic_cst, names, features, classes),
        rules=estimator._by_hand.resolved(names, classes),
        max_rows=estimator._limits.many_rows,
    )


def _check_columns(parameter: str, given: Iterable[Any], names: Sequence[str]) -> None:
    """Raise an error for names that are not columns."""
    for name in given:
        if name not in names:
            raise ColumnError.unknown(name, names, where=f"{parameter!r} names a column, and X")


def _budget(estimator: Any, names: Sequence[str]) -> BudgetSettings:
    """Return the budget; raise an error if it is too small for the required features."""
    required = estimator.required_features or ()
    if isinstance(required, str):
        raise ParameterError(
            f"'required_features' must be a list of columns. Got {required!r} instead."
        )
    _check_columns("required_features", required, names)
    costs = estimator.feature_costs or {}
    _check_columns("feature_costs", costs, names)
    for name, cost in costs.items():
        if not isinstance(cost, Real) or not 0 < float(cost) < float("inf"):
            raise ParameterError(
                f"the cost of feature {name!r} must be a number above 0. Got {cost!r}."
            )
    max_features, max_rules = estimator.max_features, estimator.max_rules
    n_required = len(set(required))
    if max_features is not None and max_features < n_required:
        raise ParameterError(
            f"'required_features' names {n_required} columns, but 'max_features' allows "
            f"{max_features}"
        )
    if isinstance(max_rules, Integral) and max_rules < 2 * n_required:
        raise ParameterError(
            f"'required_features' names {n_required} columns, which have at least two rules "
            f"each, but 'max_rules' allows {max_rules}"
        )
    if max_rules is None:  # every rule stays
        max_rules = 1 << 30
    return BudgetSettings(
        max_rules=None if max_rules == "auto" else max_rules,
        max_features=max_features,
        costs={name: float(cost) for name, cost in costs.items()},
        required=frozenset(required),
    )


def _groups(estimator: Any, names: Sequence[str]) -> GroupSettings:
    """Return the feature groups, or the settings to find them."""
    max_rows = min(GroupSettings().max_rows, estimator._limits.many_rows)
    given = estimator.feature_groups
    if given == "auto":
        return GroupSettings(max_rows=max_rows)
    if given is None or isinstance(given, Integral):
        return GroupSettings(None if given is None else int(given), max_rows=max_rows)
    named: list[str | None] = list(given) if isinstance(given, Mapping) else [None] * len(given)
    members = given.values() if isinstance(given, Mapping) else given
    clusters = [
        tuple(names[place] for place in one)
        for one in clusters_by_hand(list(members), tuple(names))
    ]
    return GroupSettings(None, tuple(zip(named, clusters, strict=True)), max_rows)


# --- interactions ------------------------------------------------------------------------------


def _interactions(estimator: Any, names: Sequence[str]) -> InteractionSettings:
    """Return the settings of interactions: their number or the pairs, and the columns allowed."""
    given = estimator.interactions
    together = _allowed_together(estimator.interaction_cst, names)
    if together == () and given in ("auto", 0):
        return _pair_settings(0)
    if isinstance(given, str):
        return InteractionSettings(together=together)
    if isinstance(given, Integral):
        if together == ():
            raise ParameterError(
                f"'interaction_cst' allows no interactions, but 'interactions' is {given}"
            )
        return replace(_pair_settings(int(given)), together=together)
    pairs = []
    for pair in given:
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            raise ParameterError(
                f"'interactions' must be a list of pairs of different columns. Got {pair!r}."
            )
        _check_columns("interactions", pair, names)
        pairs.append((str(pair[0]), str(pair[1])))
        if not InteractionSettings(together=together).may_be(*pairs[-1]):
            raise ParameterError(
                f"'interactions' has the pair {pair[0]!r} and {pair[1]!r}, which "
                f"'interaction_cst' does not allow"
            )
    return replace(_pair_settings(len(pairs)), pairs=tuple(pairs))


def _pair_settings(n_pairs: int) -> InteractionSettings:
    return InteractionSettings(least=n_pairs, tried=())


def _allowed_together(given: Any, names: Sequence[str]) -> tuple[frozenset[str], ...] | None:
    """Return the sets of columns that may interact, as in scikit-learn; None for any two.

    Columns that no set names are a set of their own.
    """
    if given is None or isinstance(given, str):
        return () if given == "no_interactions" else None
    sets = []
    for columns in given:
        if isinstance(columns, str) or not isinstance(columns, Sequence | Set | np.ndarray):
            raise ParameterError(
                "'interaction_cst' must be 'pairwise', 'no_interactions' or a sequence of lists, "
                f"tuples or sets of columns. Got {shorten(columns)} in it."
            )
        members = set()
        for column in columns:
            if isinstance(column, Integral) and not isinstance(column, bool):
                if not 0 <= int(column) < len(names):
                    raise ParameterError(
                        f"'interaction_cst' has the column {column}, and X has columns 0 to "
                        f"{len(names) - 1}"
                    )
                members.add(names[int(column)])
            else:
                _check_columns("interaction_cst", [column], names)
                members.add(str(column))
        sets.append(frozenset(members))
    rest = frozenset(names).difference(*sets)
    return (*sets, rest) if rest else tuple(sets)


# --- monotonic features ------------------------------------------------------------------------


def _monotonic(
    given: Any,
    names: Sequence[str],
    features: Sequence[Feature],
    classes: Sequence[Any] | None,
) -> tuple[Monotonic, ...]:
    """Return the monotonic constraints by class and feature.

    ``given`` is as ``monotonic_cst`` has it; there are no classes for a number.
    """
    if given is None:
        return ()
    is_by_class = isinstance(given, Mapping) and any(
        not isinstance(one, Integral) for one in given.values()
    )
    if classes is None or not is_by_class:
        if classes is not None and len(classes) != 2:
            raise ParameterError(
                f"'monotonic_cst' must name classes, as there are {len(classes)}: a mapping "
                f"from classes to constraints, such as {{{classes[-1]!r}: …}}."
            )
        by_place = {int(classes is not None): _directions(given, names)}
    else:
        by_place = {}
        for name, constraints in given.items():
            place = find_class(name, classes)
            if place is None:
                raise no_such_class("monotonic_cst", name, classes)
            by_place[place] = _directions(constraints, names)
        _refuse_all_the_same_way(by_place, len(classes))
    promises = [
        Monotonic(name, direction, place)
        for place, directions in by_place.items()
        for name, direction in directions.items()
    ]
    if classes is not None and len(classes) == 2:
        # What holds of the first class holds of the second, the other way round.
        turned = (
            one if one.state else Monotonic(one.feature, -one.direction, 1) for one in promises
        )
        promises = list(dict.fromkeys(turned))
    described = {feature.name: feature for feature in features}
    for one in promises:
        feature = described.get(one.feature)
        if feature is not None and not may_be_monotonic(feature):
            raise ParameterError(
                f"'monotonic_cst' requires an order, and the categories of {one.feature!r} have "
                f"none; define it with feature_types={{{one.feature!r}: [lowest, …, highest]}}"
            )
    return tuple(promises)


def _directions(given: Any, names: Sequence[str]) -> dict[str, int]:
    """Return the directions that are not 0, by column."""
    form = (
        "'monotonic_cst' must have -1, 0 or 1 for each column: an array, or a mapping from names "
        "of columns; for several classes, a mapping from classes to such constraints."
    )
    if isinstance(given, Mapping):
        _check_columns("monotonic_cst", given, names)
        found = dict(given)
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
        if np.ndim(given) != 1 or len(given) != len(names):
            raise ParameterError(
                f"'monotonic_cst' has the shape {np.shape(given)}, and X has {len(names)} columns"
            )
        values = given.tolist() if isinstance(given, np.ndarray) else given
        found = dict(zip(names, values, strict=True))
    else:
        raise ParameterError(f"{form} Got {shorten(given)} instead.")
    for name, one in found.items():
        if isinstance(one, bool) or not isinstance(one, Integral) or one not in (-1, 0, 1):
            raise ParameterError(f"{form} Got {shorten(one)} for column {name!r}.")
    return {name: int(one) for name, one in found.items() if one}


def _refuse_all_the_same_way(by_class: Mapping[int, Mapping[str, int]], n_classes: int) -> None:
    """Raise an error if all classes must rise, or fall: probabilities sum to 1, so they cannot."""
    for direction, verb in ((1, "rise"), (-1, "fall")):
        counts = Counter(
            name for one in by_class.values() for name in one if one[name] == direction
        )
        for name, count in counts.items():
            if count == n_classes:
                raise ParameterError(
                    f"'monotonic_cst' lets every class {verb} with {name!r}, but probabilities "
                    f"sum to 1; set at least one class to 0"
                )


# --- user-defined rules ------------------------------------------------------------------------


@dataclass(frozen=True)
class ByHand:
    """Rules that are not learned: user-defined ones, and pinned ones of an edited model.

    Attributes
    ----------
    rules : the rules
    features : features whose words are kept with them, by name
    """

    rules: tuple[Any, ...] = ()
    features: Mapping[str, Feature] = field(default_factory=dict)

    @classmethod
    def pinned_in(cls, model: Model) -> Self:
        """Return all rules of the terms of a model that have a pinned rule."""
        rules: list[FixedRule] = []
        features: dict[str, Feature] = {}
        states = model.target.classes
        for term in model.terms:
            if not term.pinned:
                continue
            if len(term.inputs) > 1:
                raise ParameterError(
                    f"refit keeps only pinned rules with one condition; unpin those on "
                    f"{' and '.join(map(repr, term.features))}"
                )
            (one,) = term.inputs
            named: Sequence[Any] = one.feature.categories or one.feature.words
            for line, words in enumerate(one.parts):
                numbers = term.weights[line].tolist()
                scores = dict(zip(states, numbers, strict=True)) if states else numbers[0]
                is_pinned = (line,) in term.pinned
                rules += [FixedRule(one.name, named[word], scores, is_pinned) for word in words]
            if not one.feature.is_coded:
                features[one.name] = one.feature
        return cls(tuple(rules), features)

    def resolved(
        self, names: Sequence[str], classes: Sequence[Any] | None
    ) -> tuple[FixedRule, ...]:
        """Return the checked rules, each with a weight per class, or one for a number."""
        rules = tuple(_as_rule(one, classes) for one in self.rules)
        _check_columns("rules", [rule.feature for rule in rules], names)
        asked = [(rule.feature, rule.word) for rule in rules]
        for name, word in asked:
            if asked.count((name, word)) > 1:
                raise ParameterError(
                    f"two user-defined rules have the condition {name!r} is {shorten(word)}; "
                    "keep one"
                )
        return tuple(replace(rule, scores=_scores(rule.scores, classes)) for rule in rules)


def _as_rule(given: Any, classes: Sequence[Any] | None) -> FixedRule:
    """Return a rule, parsed if it is a sentence."""
    if isinstance(given, FixedRule):
        return given
    if not isinstance(given, str):
        raise ParameterError(
            "'rules' must be a list of sentences, such as 'if smoke is high then alarm +3', or of "
            f"solah.FixedRule. Got {shorten(given)} in it."
        )
    stated = parse_rule(given)
    condition = stated.conditions[0]
    is_one_word = condition.form == "one of" and len(condition.names) == 1
    if len(stated.conditions) > 1 or not is_one_word or len(condition.names[0].words) > 1:
        raise ParameterError(
            f"a user-defined rule must have one condition with one word, such as 'if smoke is "
            f"high'. Got {shorten(given)}."
        )
    scores = stated.scores_for(classes or ())
    (word,) = condition.names[0].words
    named = scores[0] if classes is None else dict(zip(classes, scores, strict=True))
    return FixedRule(condition.feature, word, named)


def _scores(given: Any, classes: Sequence[Any] | None) -> tuple[float, ...]:
    """Return one number for each output; those of classes are 0 on average."""
    if classes is None:
        if not isinstance(given, Real):
            raise ParameterError(
                f"the weight of a user-defined rule must be a number. Got {shorten(given)}."
            )
        return (float(given),)
    if not isinstance(given, Mapping) or not all(isinstance(v, Real) for v in given.values()):
        raise ParameterError(
            f"the weights of a user-defined rule must be a mapping from classes "
            f"to numbers. Got {shorten(given)}."
        )
    scores = np.zeros(len(classes))
    for name, score in given.items():
        place = find_class(name, classes)
        if place is None:
            raise no_such_class("rules", name, classes)
        scores[place] = score
    return tuple((scores - scores.mean()).tolist())
