"""The target and the features in model files: written, and read with every value checked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from solah.data.table import Kind
from solah.exceptions import ModelFormatError, shorten
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model.document import Target, Task
from solah.model.features import (
    Feature,
    are_cores,
    cored_feature,
    discrete_feature,
)
from solah.model.json_fields import read_choice, read_mark
from solah.model.limits import (
    EXACT_SUM,
    LEAST_GAP,
    LEAST_INTEGER,
    LEAST_THRESHOLD,
    MOST_FEATURES,
    MOST_INTEGER,
    MOST_NUMBER,
    ROUGH_SUM,
    are_apart,
    what_classes_must_be,
    what_states_must_be,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from solah.data import State
    from solah.data.json_reader import Reader

MAX_WORDS = (MAX_FOCAL_SETS + 1) // 2


def read_target(reader: Reader, task: Task) -> Target:
    """Read the target."""
    if task is Task.CLASSIFICATION:
        fields = reader.record(["name", "classes"], ["thresholds", "shares"])
        classes = _read_states(fields["classes"], 1, what_classes_must_be)
        thresholds: tuple[float, ...] = ()
        if "thresholds" in fields:
            thresholds = read_shares(fields["thresholds"], len(classes), least=LEAST_THRESHOLD)
        shares = read_shares(fields["shares"], len(classes)) if "shares" in fields else ()
        return Target(fields["name"].text(), classes, thresholds=thresholds, shares=shares)
    if isinstance(reader.value, dict) and "words" not in reader.value:
        fields = reader.record(["name"], ["link"])
        if "link" in fields and fields["link"].value != "log":
            raise fields["link"].fail("'log', or absent")
        return Target(fields["name"].text(), link="log" if "link" in fields else "identity")
    fields = reader.record(["name", "words", "peaks", "centres"])
    words = fields["words"].texts(1, MAX_WORDS)
    peaks = read_peaks(fields["peaks"], 2 * len(words) - 1)
    centres = fields["centres"].numbers(len(peaks), len(peaks), -MOST_NUMBER, MOST_NUMBER)
    return Target(fields["name"].text(), words=words, peaks=peaks, centres=centres)


def read_features(reader: Reader) -> dict[str, Feature]:
    """Read the features."""
    features = {one.name: one for one in map(read_feature, reader.items(1, MOST_FEATURES))}
    if len(features) != len(reader.value):
        raise ModelFormatError(f"{reader.place} has one name twice")
    return features


def read_feature(reader: Reader) -> Feature:
    """Read a feature."""
    kind = read_choice(reader.part("type"), Kind)
    if kind is not Kind.CONTINUOUS:
        fields = reader.record(["name", "type", "categories", "missing"])
        states = _read_states(fields["categories"], 0, what_states_must_be)
        if kind is Kind.BINARY and len(states) > 2:
            raise fields["categories"].fail("at most two categories")
        mean_masses = read_shares(fields["missing"], max(1, len(states)))
        return discrete_feature(fields["name"].text(), kind, states, mean_masses)
    where = "ranges" if "ranges" in reader.value else "peaks"
    fields = reader.record(["name", "type", "words", where, "low", "high", "missing"], ["moved"])
    low = fields["low"].number(-MOST_NUMBER, MOST_NUMBER)
    high = fields["high"].number(low, MOST_NUMBER)
    is_moved = "moved" in fields and read_mark(fields["moved"])
    return replace(read_words(fields, low, high), is_moved=is_moved)


def read_words(fields: Mapping[str, Reader], low: float, high: float) -> Feature:
    """Read the words of a continuous feature: those with ranges, or those that overlap."""
    name, words = fields["name"].text(), fields["words"].texts(1, MAX_WORDS)
    if "ranges" not in fields:
        peaks = read_peaks(fields["peaks"], 2 * len(words) - 1)
        mean_masses = read_shares(fields["missing"], len(peaks))
        return Feature(name, Kind.CONTINUOUS, words, peaks, mean_masses, low=low, high=high)
    cores = []
    for item in fields["ranges"].items(len(words), len(words)):
        start, end = item.items(2, 2)
        cores.append(
            (
                -math.inf if start.value is None else start.number(-MOST_NUMBER, MOST_NUMBER),
                math.inf if end.value is None else end.number(-MOST_NUMBER, MOST_NUMBER),
            )
        )
    if not are_cores(cores):
        raise fields["ranges"].fail(
            "a list of increasing intervals, the first from null and the last to null, with "
            f"ends at least {LEAST_GAP:g} apart"
        )
    feature = cored_feature(name, words, cores, (), low, high)
    mean_masses = read_shares(fields["missing"], feature.n_focal_sets)
    return replace(feature, mean_masses=mean_masses)


def _read_states(
    reader: Reader, least: int, what_they_must_be: Callable[[tuple[State, ...]], str | None]
) -> tuple[State, ...]:
    states = tuple(read_state(item) for item in reader.items(least, MAX_FOCAL_SETS))
    requirement = what_they_must_be(states)
    if requirement is not None:
        raise ModelFormatError(
            f"{reader.place} must be {requirement}. Got {shorten(list(states))}."
        )
    return states


def read_state(reader: Reader) -> State:
    """Read a state: a text, a finite number, or true or false."""
    if isinstance(reader.value, bool):
        return reader.value
    if isinstance(reader.value, str):
        return reader.text()
    if isinstance(reader.value, int):
        return reader.integer(LEAST_INTEGER, MOST_INTEGER)
    return reader.number(-MOST_NUMBER, MOST_NUMBER)


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


def feature_record(feature: Feature) -> dict[str, Any]:
    """Return a feature as JSON's objects."""
    record: dict[str, Any] = {"name": feature.name, "type": feature.kind.value}
    if feature.is_continuous:
        record |= words_record(feature) | {"low": feature.low, "high": feature.high}
    else:
        record |= {"categories": list(feature.categories)}
    return record | {"missing": list(feature.mean_masses)} | marks(moved=feature.is_moved)


def words_record(feature: Feature) -> dict[str, Any]:
    """Return the words of a continuous feature as JSON's objects."""
    if not feature.cores:
        return {"words": list(feature.words), "peaks": list(feature.peaks)}
    ranges = [[end if math.isfinite(end) else None for end in core] for core in feature.cores]
    return {"words": list(feature.words), "ranges": ranges}


def marks(**are_set: bool) -> dict[str, bool]:
    """Return the marks that are set, which are true or absent."""
    return {key: True for key, is_set in are_set.items() if is_set}
