"""Read the goal and the attributes of a parsed model document, with every value checked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.data.table import Kind
from solah.exceptions import ModelFormatError, shorten
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model.attributes import (
    Attribute,
    are_cores,
    cored_attribute,
    discrete_attribute,
)
from solah.model.document import Goal, Task
from solah.model.edits import read_mark
from solah.model.limits import (
    EXACT_SUM,
    LEAST_GAP,
    LEAST_INTEGER,
    LEAST_THRESHOLD,
    MOST_INTEGER,
    MOST_NUMBER,
    ROUGH_SUM,
    are_apart,
    what_classes_must_be,
    what_states_must_be,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.data import State
    from solah.data.json_reader import Reader

MAX_WORDS = (MAX_FOCAL_SETS + 1) // 2
_MAX_ATTRIBUTES = 1_000_000


def read_goal(reader: Reader, task: Task, *, has_scores: bool = True) -> Goal:
    """Read what is decided; only models with scores have shares of classes, or add up numbers."""
    if task is Task.CLASSIFICATION:
        fields = reader.record(
            ["name", "states"], ["thresholds", *(["prior"] if has_scores else [])]
        )
        states = _read_states(fields["states"], 1, what_classes_must_be)
        thresholds: tuple[float, ...] = ()
        if "thresholds" in fields:
            thresholds = read_shares(fields["thresholds"], len(states), least=LEAST_THRESHOLD)
        prior = read_shares(fields["prior"], len(states)) if "prior" in fields else ()
        return Goal(fields["name"].text(), states=states, thresholds=thresholds, prior=prior)
    if has_scores and isinstance(reader.value, dict) and len(reader.value) == 1:
        return Goal(reader.record(["name"])["name"].text())
    fields = reader.record(["name", "words", "peaks", "centres"])
    words = fields["words"].texts(1, MAX_WORDS)
    peaks = read_peaks(fields["peaks"], 2 * len(words) - 1)
    centres = fields["centres"].numbers(len(peaks), len(peaks), -MOST_NUMBER, MOST_NUMBER)
    return Goal(fields["name"].text(), words=words, peaks=peaks, centres=centres)


def read_attributes(reader: Reader, *, has_scores: bool) -> dict[str, Attribute]:
    """Read what is measured; only models with scores have words with cores."""
    items = reader.items(1, _MAX_ATTRIBUTES)
    read = [read_attribute(item, has_scores=has_scores) for item in items]
    attributes = {one.name: one for one in read}
    if len(attributes) != len(reader.value):
        raise ModelFormatError(f"{reader.place} has one name twice")
    return attributes


def read_attribute(reader: Reader, *, has_scores: bool = True) -> Attribute:
    """Read one that is measured."""
    newer = ["cores", "moved"] if has_scores else []
    fields = reader.record(
        ["name", "kind", "ignorance"], ["words", "peaks", *newer, "low", "high", "states"]
    )
    kind = Kind(read_choice(fields["kind"], [kind.value for kind in Kind]))
    if kind is Kind.CONTINUOUS:
        return _read_cored(reader) if "cores" in fields else _read_continuous(reader)
    fields = reader.record(["name", "kind", "states", "ignorance"])
    states = _read_states(fields["states"], 0, what_states_must_be)
    if kind is Kind.BINARY and len(states) > 2:
        raise fields["states"].fail("at most two states")
    return discrete_attribute(
        fields["name"].text(), kind, states, read_shares(fields["ignorance"], max(1, len(states)))
    )


def _read_continuous(reader: Reader) -> Attribute:
    fields = reader.record(
        ["name", "kind", "words", "peaks", "low", "high", "ignorance"], ["moved"]
    )
    words = fields["words"].texts(1, MAX_WORDS)
    n_sets = 2 * len(words) - 1
    low = fields["low"].number(-MOST_NUMBER, MOST_NUMBER)
    return Attribute(
        name=fields["name"].text(),
        kind=Kind.CONTINUOUS,
        words=words,
        peaks=read_peaks(fields["peaks"], n_sets),
        ignorance=read_shares(fields["ignorance"], n_sets),
        low=low,
        high=fields["high"].number(low, MOST_NUMBER),
        is_moved="moved" in fields and read_mark(fields["moved"]),
    )


def _read_cored(reader: Reader) -> Attribute:
    fields = reader.record(
        ["name", "kind", "words", "cores", "low", "high", "ignorance"], ["moved"]
    )
    words = fields["words"].texts(1, MAX_WORDS)
    cores = [_read_core(item) for item in fields["cores"].items(len(words), len(words))]
    if not are_cores(cores):
        raise fields["cores"].fail(
            "a list of increasing intervals, the first from null and the last to null, with "
            f"ends at least {LEAST_GAP:g} apart"
        )
    low = fields["low"].number(-MOST_NUMBER, MOST_NUMBER)
    high = fields["high"].number(low, MOST_NUMBER)
    attribute = cored_attribute(fields["name"].text(), words, cores, (), low, high)
    return replace(
        attribute,
        ignorance=read_shares(fields["ignorance"], attribute.n_focal_sets),
        is_moved="moved" in fields and read_mark(fields["moved"]),
    )


def _read_core(reader: Reader) -> tuple[float, float]:
    low, high = reader.items(2, 2)
    return (
        -math.inf if low.value is None else low.number(-MOST_NUMBER, MOST_NUMBER),
        math.inf if high.value is None else high.number(-MOST_NUMBER, MOST_NUMBER),
    )


def _read_states(
    reader: Reader, least: int, what_they_must_be: Callable[[tuple[State, ...]], str | None]
) -> tuple[State, ...]:
    states = tuple(_read_state(item) for item in reader.items(least, MAX_FOCAL_SETS))
    requirement = what_they_must_be(states)
    if requirement is not None:
        raise ModelFormatError(
            f"{reader.place} must be {requirement}. Got {shorten(list(states))}."
        )
    return states


def _read_state(reader: Reader) -> State:
    """Read a state: a text, a finite number, or true or false."""
    if isinstance(reader.value, bool):
        return reader.value
    if isinstance(reader.value, str):
        return reader.text()
    if isinstance(reader.value, int):
        return reader.integer(LEAST_INTEGER, MOST_INTEGER)
    return reader.number(-MOST_NUMBER, MOST_NUMBER)


def read_choice(reader: Reader, choices: list[str]) -> str:
    """Read one of several texts."""
    text = reader.text()
    if text not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return text


def read_shares(reader: Reader, count: int, least: float = 0.0) -> tuple[float, ...]:
    """Read numbers from 0 to 1 that sum to one; those that were rounded are scaled to do so."""
    shares = reader.numbers(count, count, least, 1.0)
    total = math.fsum(shares)
    if abs(total - 1.0) > ROUGH_SUM:
        raise reader.fail("numbers that sum to 1")
    if abs(total - 1.0) <= EXACT_SUM:
        return shares
    return tuple(share / total for share in shares)


def read_peaks(reader: Reader, count: int) -> tuple[float, ...]:
    """Read where focal sets peak."""
    peaks = reader.numbers(count, count, -MOST_NUMBER, MOST_NUMBER)
    if not are_apart(peaks):
        raise reader.fail(f"a list of increasing numbers, at least {LEAST_GAP:g} apart")
    return peaks
