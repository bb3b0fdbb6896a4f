"""Write the domain and the policy of a model document as JSON, and read them, all checked."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from solah.exceptions import ModelFormatError, ParameterError
from solah.model.domain import MOST_PAIRS, check_domain, check_policy
from solah.model.limits import MOST_NUMBER
from solah.model.policy import (
    MOST_CUTS,
    MOST_DWELL,
    MOST_SMOOTHING,
    MOST_VOTES,
    Cells,
    Domain,
    Policy,
    SeenTogether,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data.json_reader import Reader
    from solah.model.attributes import Attribute
    from solah.model.document import Goal


def domain_record(domain: Domain) -> dict[str, Any]:
    """Return a domain as JSON's objects."""
    record: dict[str, Any] = {"cells": [_cells_record(cells) for cells in domain.cells]}
    return record | ({"pairs": [_pair_record(one) for one in domain.pairs]} if domain.pairs else {})


def _cells_record(cells: Cells) -> dict[str, Any]:
    record: dict[str, Any] = {"name": cells.name}
    if cells.low is not None:
        record |= {"low": cells.low, "high": cells.high}
    return record | ({"cuts": list(cells.cuts)} if cells.cuts else {})


def _pair_record(pair: SeenTogether) -> dict[str, Any]:
    seen = ["".join("1" if flag else "0" for flag in row) for row in pair.seen]
    return {"first": pair.first, "second": pair.second, "seen": seen}


def policy_record(policy: Policy) -> dict[str, Any]:
    """Return a policy as JSON's objects: what is not as it is by default."""
    values = {one.name: getattr(policy, one.name) for one in fields(Policy)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != getattr(Policy, name)
    }


def read_domain(reader: Reader, attributes: Sequence[Attribute]) -> Domain:
    """Read a domain, and check that it is one of a model with these attributes."""
    parts = reader.record(["cells"], ["pairs"])
    cells = parts["cells"].items(len(attributes), len(attributes))
    pairs = parts["pairs"].items(1, MOST_PAIRS) if "pairs" in parts else []
    most = max(MOST_CUTS + 1, *(one.n_focal_sets for one in attributes))
    domain = Domain(tuple(map(_read_cells, cells)), tuple(_read_pair(one, most) for one in pairs))
    try:
        check_domain(domain, attributes)
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None
    return domain


def _read_cells(reader: Reader) -> Cells:
    parts = reader.record(["name"], ["low", "high", "cuts"])
    low, high = (
        parts[end].number(-MOST_NUMBER, MOST_NUMBER) if end in parts else None
        for end in ("low", "high")
    )
    cuts: tuple[float, ...] = ()
    if "cuts" in parts:
        cuts = parts["cuts"].numbers(1, MOST_CUTS, -MOST_NUMBER, MOST_NUMBER)
    return Cells(parts["name"].text(), low, high, cuts)


def _read_pair(reader: Reader, most: int) -> SeenTogether:
    parts = reader.record(["first", "second", "seen"])
    rows = tuple(_read_flags(row, most) for row in parts["seen"].items(1, most))
    return SeenTogether(parts["first"].text(), parts["second"].text(), rows)


def _read_flags(reader: Reader, most: int) -> tuple[bool, ...]:
    text = reader.text(most=most)
    if set(text) - {"0", "1"}:
        raise reader.fail("a text of 0 and 1")
    return tuple(flag == "1" for flag in text)


def read_policy(reader: Reader, domain: Domain | None, goal: Goal) -> Policy:
    """Read a policy, and check that it is one of a model with this goal and domain."""
    parts = reader.record([], [one.name for one in fields(Policy)])
    shares = ("min_known", "margin")
    most = {
        "max_unseen": (0, MOST_PAIRS),
        "smoothing": (1, MOST_SMOOTHING),
        "votes": (1, MOST_VOTES),
        "window": (1, MOST_VOTES),
        "dwell": (1, MOST_DWELL),
    }
    values: dict[str, Any] = {}
    for name, part in parts.items():
        if name == "min_belief":
            values[name] = part.numbers(1, max(len(goal.states), 1), 0.0, 1.0)
        elif name == "stays_in_range":
            values[name] = _read_truth(part)
        else:
            values[name] = part.number(0.0, 1.0) if name in shares else part.integer(*most[name])
    try:
        policy = Policy(**values)
        check_policy(policy, domain, goal)
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None
    return policy


def _read_truth(reader: Reader) -> bool:
    if not isinstance(reader.value, bool):
        raise reader.fail("true or false")
    return reader.value
