"""Describes the features of a table with words, and labels its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import infer_types, states_of
from solah.data.table import Kind
from solah.exceptions import DataError, shorten
from solah.kernels.arrays import Described, TreeShape
from solah.kernels.choose import kernel, map_slices
from solah.labels.words import (
    NumbersAtHand,
    check_span,
    default_names,
    place_peaks,
    plan_words,
    uniform_peaks,
)
from solah.model.encode import encode
from solah.model.features import Feature, discrete_feature, flatten
from solah.model.limits import what_states_must_be

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from solah.data import State
    from solah.data.table import Column, Table
    from solah.kernels.arrays import Int64, Labels
    from solah.labels.words import Numbers, Placement, WordPlan, WordsByHand

_BLOCK_ROWS = 16_384


@dataclass(frozen=True)
class LabelSettings:
    """How to describe a table with words; with ``n_words`` None, only with user-defined ones."""

    n_words: int | Mapping[str, int] | None
    placement: Placement
    words: Mapping[str, WordsByHand] | None
    kinds: Mapping[str, str | Sequence[str]] | None

    def only(self, names: Collection[str]) -> LabelSettings:
        """Return the settings of some columns."""
        counts = self.n_words
        return LabelSettings(
            _some(counts, names) if isinstance(counts, Mapping) else counts,
            self.placement,
            _some(self.words, names),
            _some(self.kinds, names),
        )


@dataclass(frozen=True, eq=False)
class Description:
    """A table described with words.

    Attributes
    ----------
    table : the columns with the values that their kinds ask for
    features : each column described
    labels : (n_rows, n_columns) each row described; None where the words are not chosen yet
    """

    table: Table
    features: tuple[Feature, ...]
    labels: Labels | None

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each feature, by its name."""
        return {feature.name: place for place, feature in enumerate(self.features)}

    def take(self, rows: NDArray[np.intp]) -> Description:
        """Return some of the rows."""
        labels = None if self.labels is None else self.labels[rows]
        return replace(self, table=self.table.take(rows), labels=labels)

    def only(self, names: Sequence[str]) -> Description:
        """Return some of the columns."""
        places = [self.places[name] for name in names]
        labels = None if self.labels is None else np.ascontiguousarray(self.labels[:, places])
        features = tuple(self.features[place] for place in places)
        return Description(self.table.select(names), features, labels)


def describe_table(
    table: Table, settings: LabelSettings, weights: Int64, n_threads: int = 1
) -> Description:
    """Describe each column and each row with words."""
    table, kinds = infer_types(table, settings.kinds)
    plans = plan_words(table.names, settings.n_words, settings.words)
    used = None if len(weights) and weights.min() == weights.max() > 0 else weights
    features = tuple(
        describe_numbers(
            column.name, _known_numbers(column, used), plans[column.name], settings.placement
        )
        if kind is Kind.CONTINUOUS
        else describe_states(column.name, kind, states_of(column, kind), plans[column.name])
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    if settings.n_words is None:
        return Description(table, features, None)
    return describe_by(table, features, weights, n_threads)


def describe_by(
    table: Table, features: tuple[Feature, ...], weights: Int64, n_threads: int = 1
) -> Description:
    """Describe each row with the words of features; a missing value takes the mean masses."""
    labels = label_table(table, features, n_threads)
    features = _with_masses_of_missing(features, labels, weights, n_threads)
    return Description(table, features, labels)


def _some(settings: Mapping[str, Any] | None, names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in (settings or {}).items() if name in names}


def label_table(table: Table, features: Sequence[Feature], n_threads: int = 1) -> Labels:
    """Label all rows, block by block: no second copy of the table is made."""
    sets = flatten(features)
    labels = np.empty((table.n_rows, len(features)), dtype=np.uint32)
    label = kernel().label

    def label_rows(part: slice) -> None:
        for start in range(part.start, part.stop, _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, part.stop)
            label(encode(table.rows(start, stop), features), sets, labels[start:stop])

    map_slices(label_rows, table.n_rows, n_threads)
    return labels


def _known_numbers(column: Column, weights: Int64 | None) -> NumbersAtHand:
    known = ~column.missing()
    if weights is not None:
        known &= weights > 0
    if known.all():
        return NumbersAtHand(column.values, weights)
    return NumbersAtHand(column.values[known], None if weights is None else weights[known])


def describe_states(name: str, kind: Kind, states: tuple[State, ...], plan: WordPlan) -> Feature:
    """Describe a column of states, each of which is a word."""
    if plan.names is not None:
        raise DataError(
            f"column {name!r} is {kind.value}, so its words are its states; declare it "
            f"continuous with feature_types={{{name!r}: 'continuous'}} to give it words of your own"
        )
    needed = what_states_must_be(states)
    if needed is not None:
        raise DataError(f"the states of column {name!r} must be {needed}. Got {shorten(states)}.")
    return discrete_feature(name, kind, states, _even(max(1, len(states))))


def describe_numbers(name: str, numbers: Numbers, plan: WordPlan, placement: Placement) -> Feature:
    """Describe a column of numbers with words."""
    low, high = check_span(f"column {name!r}", numbers)
    peaks = plan.peaks if plan.n_words > 1 else (low,)
    if peaks is None:
        peaks = place_peaks(numbers, plan.n_words, placement)
        if plan.names is not None and len(peaks) < 2 * plan.n_words - 1:
            # Where quantiles leave no room for all of the user's words, these are spread evenly.
            peaks = uniform_peaks(low, high, plan.n_words)
            if len(peaks) < 2 * plan.n_words - 1:
                raise DataError(
                    f"column {name!r} is constant: {plan.n_words} words cannot be placed on it; "
                    "give their peaks too"
                )
    n_words = (len(peaks) + 1) // 2
    return Feature(
        name=name,
        kind=Kind.CONTINUOUS,
        words=plan.names or default_names(n_words),
        peaks=peaks,
        mean_masses=_even(len(peaks)),
        low=low,
        high=high,
    )


def _with_masses_of_missing(
    features: tuple[Feature, ...], labels: Labels, weights: Int64, n_threads: int
) -> tuple[Feature, ...]:
    """Give each feature the mean masses of its known training values."""
    sets = flatten(features)
    root, slot = TreeShape.stump(), np.zeros(1, dtype=np.int32)

    def count(rows: slice) -> Int64:
        counts = np.zeros((1, int(sets.bins[-1]), 1), dtype=np.int64)
        no_target = np.zeros(rows.stop - rows.start, dtype=np.uint32)
        inputs = Described.plain(labels[rows])
        kernel().accumulate(inputs, no_target, weights[rows], sets, root, slot, counts)
        return counts[0, :, 0]

    counts = map_slices(count, len(labels), n_threads)
    return with_mean_masses(features, np.sum(counts, axis=0, dtype=np.int64))


def with_mean_masses(features: Sequence[Feature], counts: Int64) -> tuple[Feature, ...]:
    """Give missing values the mean masses of the others, from counts by bin."""
    bins = flatten(features).bins
    described = []
    for a, feature in enumerate(features):
        known = counts[bins[a] : bins[a + 1] - 1].astype(np.float64)
        total = known.sum()
        masses = tuple((known / total).tolist()) if total > 0 else _even(len(known))
        described.append(replace(feature, mean_masses=masses))
    return tuple(described)


def _even(n: int) -> tuple[float, ...]:
    return (1.0 / n,) * n
