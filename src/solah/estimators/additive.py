"""What the two estimators of the additive model share: parameters, recipe, groups."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from numbers import Integral, Real
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from threadpoolctl import ThreadpoolController

from solah.estimators.constraints import (
    check_budget,
    check_columns,
    check_order,
    read_interaction_cst,
    read_monotonic,
)
from solah.exceptions import IdentifierWarning, ParameterError
from solah.labels.describe import LabelSettings
from solah.learn.organising import clusters_by_hand
from solah.learn.recipe import (
    WORD_KINDS,
    AdditiveRecipe,
    BudgetSettings,
    GroupSettings,
    InteractionSettings,
    WordSettings,
)
from solah.progress import show_progress
from solah.sklearn_private import Interval, RealNotInt, StrOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.data import Table
    from solah.learn.recipe import WordKind
    from solah.model import Attribute, Model

ADDITIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "words": [StrOptions(set(WORD_KINDS)), Mapping],
    "interactions": [
        StrOptions({"auto"}),
        Interval(Integral, 0, None, closed="left"),
        Sequence,
    ],
    "max_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
    "max_attributes": [Interval(Integral, 1, None, closed="left"), None],
    "attribute_costs": [Mapping, None],
    "required": [Sequence, Set, None],
    "monotonic_cst": ["array-like", Mapping, None],
    "interaction_cst": [StrOptions({"pairwise", "no_interactions"}), Sequence, Set, None],
    "n_clusters": [
        Interval(Integral, 1, None, closed="left"),
        StrOptions({"auto", "each"}),
        list,
        tuple,
        range,
    ],
    "groups": [Mapping, Sequence, None],
    "kinds": [Mapping, None],
    "screen": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, -1.0, 1.0, closed="both"),
        None,
    ],
    "verbose": ["boolean"],
    "n_jobs": [Integral, None],
}
_LEAST_ROWS_OF_IDENTIFIER = 20


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
    check_columns("kinds", estimator.kinds or {}, names)
    kind: WordKind = "auto" if isinstance(words, Mapping) else words
    max_rules = estimator.max_rules
    budget = BudgetSettings(
        max_rules=None if max_rules == "auto" else max_rules,
        max_attributes=estimator.max_attributes,
        costs=_costs(estimator.attribute_costs, names),
        required=_required(estimator.required, names),
    )
    check_budget(budget)
    if max_rules is None:  # every rule stays
        budget = replace(budget, max_rules=1 << 30)
    monotonic = read_monotonic(estimator.monotonic_cst, names, classes)
    check_order(monotonic, attributes)
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


def label_settings(estimator: Any) -> LabelSettings:
    """Return how columns are described before words are learnt."""
    words = estimator.words if isinstance(estimator.words, Mapping) else None
    return LabelSettings(3, "quantile", words, estimator.kinds)


def _groups(estimator: Any, names: Sequence[str]) -> GroupSettings:
    """Read the groups that somebody gave, or how they are to be found."""
    max_rows = min(GroupSettings().max_rows, estimator._limits.many_rows)
    given = estimator.groups
    if given is None:
        n_clusters = estimator.n_clusters
        if n_clusters == "each":
            return GroupSettings(None, max_rows=max_rows)
        if isinstance(n_clusters, list | tuple | range):
            raise ParameterError(
                "several 'n_clusters' are compared where trees are stacked (fusion='tree'); give "
                f"one number for the groups of rules. Got {n_clusters!r}."
            )
        return GroupSettings(2 if n_clusters == "auto" else int(n_clusters), max_rows=max_rows)
    named: list[str | None] = list(given) if isinstance(given, Mapping) else [None] * len(given)
    members = given.values() if isinstance(given, Mapping) else given
    clusters = [
        tuple(names[place] for place in one)
        for one in clusters_by_hand(list(members), tuple(names))
    ]
    return GroupSettings(None, tuple(zip(named, clusters, strict=True)), max_rows)


def with_attributes_as(model: Model, names: Sequence[str]) -> Model:
    """List the attributes of a model in the order in which columns came."""
    order = {name: place for place, name in enumerate(names)}
    attributes = sorted(model.attributes, key=lambda one: order[one.name])
    return replace(model, attributes=tuple(attributes))


def named_columns(estimator: Any) -> set[str]:
    """Return the columns that are learnt from, even if they number the rows."""
    return {*(estimator.kinds or {}), *(estimator.required or ())}


def _level_of_caller() -> int:
    """Return how far above its caller the code stands that asked solah to learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("solah", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


def without_identifiers(table: Table, named: Collection[str]) -> Table:
    """Leave out columns that number the rows, with a warning, unless somebody names them."""
    found = [
        column.name
        for column in table.columns
        if column.name not in named and _numbers_rows(column.values)
    ]
    kept = [name for name in table.names if name not in found]
    if not found or not kept:
        return table
    for name in found:
        warnings.warn(IdentifierWarning(name), stacklevel=_level_of_caller())
    return table.select(kept)


def _numbers_rows(values: Any) -> bool:
    """Whether values are whole numbers that grow by one from row to row."""
    if values.dtype.kind not in "iuf" or len(values) < _LEAST_ROWS_OF_IDENTIFIER:
        return False
    steps = np.diff(values)
    return bool((steps == 1).all() and float(values[0]).is_integer())


class _OneBlasThread:
    """One BLAS thread from the first of several concurrent fits to the end of the last.

    The number of threads changes the order of sums, and so their last bits. BLAS has one setting
    for the whole process, so that fits in several threads share it.
    """

    def __init__(self) -> None:
        self._lock, self._n_fits = Lock(), 0

    @cached_property
    def _libraries(self) -> ThreadpoolController:
        return ThreadpoolController()  # takes milliseconds

    def __enter__(self) -> None:
        with self._lock:
            if self._n_fits == 0:
                self._take_control()
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._n_fits += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_fits -= 1
            if self._n_fits == 0:
                self._take_control()
                self._limit.restore_original_limits()
                self._take_control()

    def _take_control(self) -> None:
        """Let this thread set limits: from threadpoolctl 3.7 on, one thread at a time may."""
        for library in self._libraries.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


_one_blas_thread = _OneBlasThread()


@contextmanager
def progress(is_shown: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that reports each step, while sums do not depend on threads."""
    with _one_blas_thread:
        if not is_shown:
            yield lambda _: None
            return
        with show_progress(Console(stderr=True), None, "steps") as advance:
            yield lambda text: advance(1, text)


def _required(given: Any, names: Sequence[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise ParameterError(f"'required' must be a list of columns. Got {given!r} instead.")
    check_columns("required", given or (), names)
    return frozenset(given or ())


def _costs(given: Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    costs = dict(given or {})
    check_columns("attribute_costs", costs, names)
    for name, cost in costs.items():
        if not isinstance(cost, Real) or not 0 < float(cost) < float("inf"):
            raise ParameterError(
                f"the cost of attribute {name!r} must be a number above 0. Got {cost!r}."
            )
    return {name: float(cost) for name, cost in costs.items()}


def _interactions(estimator: Any, names: Sequence[str]) -> InteractionSettings:
    """Read how many pairs there may be or which, and which columns may be one."""
    given = estimator.interactions
    together = read_interaction_cst(estimator.interaction_cst, names)
    if together == () and given in ("auto", 0):
        return _so_many(0)
    if isinstance(given, str):
        return InteractionSettings(together=together)
    if isinstance(given, Integral):
        if together == ():
            raise ParameterError(f"'interaction_cst' allows no interactions, and there are {given}")
        return replace(_so_many(int(given)), together=together)
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
    return replace(_so_many(len(pairs)), pairs=tuple(pairs))


def _so_many(n_pairs: int) -> InteractionSettings:
    """Let so many pairs have rules; how many each is settled out of fold."""
    return InteractionSettings(
        least=n_pairs, tried=(2 * n_pairs, 4 * n_pairs) if n_pairs else (), max_pairs=n_pairs
    )
