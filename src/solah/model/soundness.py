"""Checks the names and inputs of trees, and sorts trees so that inputs come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, shorten
from solah.model.shorttext import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.structure import HierarchyNode


def checked_name(name: object) -> str:
    """Return a name as plain text, or raise an error that explains why it is none."""
    if not isinstance(name, str) or not name:
        shown = shorten(name) if isinstance(name, int | float | str) else type_of(name)
        raise ParameterError(f"a name must be text, in quotes where needed. Got {shown} instead.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ParameterError(
            f"the name {shorten(name)} has half a character (a lone surrogate)"
        ) from None
    return str(name)


def checked_inputs(name: str, inputs: object) -> tuple[str, ...]:
    """Return a tree's inputs as a tuple, or raise an error that explains why not."""
    # Text and mappings can be iterated as well, and would be taken for lists of something else;
    # a set has no order, and order decides ties.
    if isinstance(inputs, str | Mapping | Set) or not isinstance(inputs, Iterable):
        raise ParameterError(
            f"the inputs of {shorten(name)} must be a list of names. Got {type_of(inputs)} instead."
        )
    names = tuple(map(checked_name, inputs))
    if not names:
        raise ParameterError(f"{shorten(name)} has no inputs")
    twice = first_repeated(names)
    if twice is not None:
        raise ParameterError(f"{shorten(name)} names its input {shorten(twice)} twice")
    return names


def type_of(value: object) -> str:
    """Show what a value is without showing it, since it may be large."""
    return f"a value of type {type(value).__name__}"


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that stands there twice."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def parents_of(nodes: Sequence[HierarchyNode]) -> dict[str, str | None]:
    """Find what each tree feeds, and check that none feeds two."""
    twice = first_repeated(node.name for node in nodes)
    if twice is not None:
        raise ParameterError(f"two trees are called {shorten(twice)}")
    names = {node.name for node in nodes}
    fed = _fed_by([(node, [name for name in node.inputs if name in names]) for node in nodes])
    return {node.name: fed.get(node.name) for node in nodes}


def check_inputs_once(nodes: Sequence[HierarchyNode]) -> None:
    """Refuse an attribute or a tree that feeds two trees."""
    _fed_by([(node, node.inputs) for node in nodes])


def _fed_by(inputs: Sequence[tuple[HierarchyNode, Iterable[str]]]) -> dict[str, str]:
    fed: dict[str, str] = {}
    for node, names in inputs:
        for name in names:
            if name in fed:
                raise ParameterError(
                    f"{shorten(name)} feeds both {shorten(fed[name])} and {shorten(node.name)}; "
                    "an attribute or a tree feeds one tree only"
                )
            fed[name] = node.name
    return fed


def check_acyclic(parents: Mapping[str, str | None]) -> None:
    """Climb from each tree: who comes back to the way climbed is in a cycle."""
    ends_well: set[str] = set()
    for start in parents:
        way: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in ends_well:
            if name in way:
                climbed = list(way)
                cycle = [*climbed[climbed.index(name) :], name]
                shown = " <- ".join(map(spelled, reversed(cycle)))
                raise ParameterError(f"the trees feed each other in a cycle: {shown}")
            way[name] = None
            name = parents[name]
        ends_well.update(way)


def check_one_root(parents: Mapping[str, str | None]) -> None:
    """Refuse trees of which more than one feeds no other."""
    roots = [name for name, parent in parents.items() if parent is None]
    if len(roots) > 1:
        shown = ", ".join(map(shorten, roots[:8])) + (", …" if len(roots) > 8 else "")
        raise ParameterError(
            f"a hierarchy has one root, but {len(roots)} trees feed no other: {shown}"
        )


def bottom_up(nodes: Sequence[HierarchyNode]) -> tuple[HierarchyNode, ...]:
    """Put children before parents and move nothing else.

    A stack instead of recursion, since a cascade is as deep as it has attributes.
    """
    place = {node.name: number for number, node in enumerate(nodes)}
    done: dict[int, HierarchyNode] = {}
    stack = list(reversed(range(len(nodes))))
    while stack:
        number = stack[-1]
        inputs = nodes[number].inputs
        below = sorted(place[name] for name in inputs if name in place)
        waiting = [child for child in below if child not in done]
        if waiting:
            stack.extend(reversed(waiting))
        else:
            stack.pop()
            done.setdefault(number, nodes[number])
    return tuple(done.values())
