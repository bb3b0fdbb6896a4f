"""Reads what an expert asks of an additive model before it is learnt; refuses contradictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ColumnError, ParameterError, shorten
from solah.model import Monotonic
from solah.model.monotone import may_be_monotonic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.learn.recipe import BudgetSettings
    from solah.model import Attribute

    Directions = Mapping[str, int] | Sequence[int] | np.ndarray[Any, Any]
    MonotonicConstraints = Directions | Mapping[Any, Directions]
    InteractionConstraints = str | Sequence[Sequence[Any] | Set[Any]]

_FORM = (
    "'monotonic_cst' must have -1, 0 or 1 for each column: an array, or a mapping from names of "
    "columns; for several classes, a mapping from classes to such constraints."
)


def check_columns(parameter: str, given: Iterable[Any], names: Sequence[str]) -> None:
    """Refuse names that no column has."""
    for name in given:
        if name not in names:
            raise ColumnError.unknown(name, names, where=f"{parameter!r} names a column, and X")


def read_monotonic(
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


def check_order(promises: Sequence[Monotonic], attributes: Sequence[Attribute]) -> None:
    """Refuse directions along attributes whose readings have no order."""
    of_names = {attribute.name: attribute for attribute in attributes}
    for one in promises:
        attribute = of_names.get(one.attribute)
        if attribute is not None and not may_be_monotonic(attribute):
            raise ParameterError(
                f"'monotonic_cst' needs an order, and the states of {one.attribute!r} have none; "
                f"give them one by kinds={{{one.attribute!r}: [lowest, …, highest]}}"
            )


def read_interaction_cst(given: Any, names: Sequence[str]) -> tuple[frozenset[str], ...] | None:
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


def check_budget(budget: BudgetSettings) -> None:
    """Refuse fewer attributes or rules than those that must stay have."""
    n_required = len(budget.required)
    if budget.max_attributes is not None and budget.max_attributes < n_required:
        raise ParameterError(
            f"'required' names {n_required} columns, and 'max_attributes' allows "
            f"{budget.max_attributes}"
        )
    if budget.max_rules is not None and budget.max_rules < 2 * n_required:
        raise ParameterError(
            f"'required' names {n_required} columns, which have two rules each at least, and "
            f"'max_rules' allows {budget.max_rules}"
        )
