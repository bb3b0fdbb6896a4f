"""Turn the signals of a model into the tables of the runtime in C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.model.signals import FeatureKind
from solah.signals.arithmetic import (
    energy_factor,
    percentile_place,
    pitch_unit,
    slope_factor,
    wave_coefficient,
)

if TYPE_CHECKING:
    from solah.model.document import Model
    from solah.model.signals import Channel, Signals, WindowFeature

_MOST_PLACES = 2**16 - 1


@dataclass(frozen=True)
class MeasuredRow:
    """A measured channel: the ticks between samples, and the missing ones that are bridged."""

    name: str
    unit: str
    every: int
    max_gap: int


@dataclass(frozen=True)
class StoredRow:
    """A channel whose last samples are kept: where, how many, and what it is made of.

    Attributes
    ----------
    name : the channel's name
    first, length : where its samples begin in the ring buffers, and how many there are
    axes : the measured channels, by place: itself, or those whose magnitude it is
    first_axis : where they begin in the list of all axes
    """

    name: str
    first: int
    length: int
    axes: tuple[int, ...]
    first_axis: int


@dataclass(frozen=True)
class FeatureRow:
    """A feature: which, of what, and its constants.

    Attributes
    ----------
    name : the reading's name
    kind : of :class:`FeatureKind`
    reading : the place of the reading
    channel, other : stored channels, by place; the second is that of a correlation
    first, count : waves in the table of coefficients; of a percentile, the sample below it
    factor : what the result is multiplied with; of a percentile, the way to the sample above
    """

    name: str
    kind: FeatureKind
    reading: int
    channel: int
    other: int
    first: int
    count: int
    factor: np.float32

    @property
    def constant(self) -> str:
        """The kind as the runtime calls it."""
        return f"SOLAH_{self.kind.name}"

    @property
    def kind_number(self) -> int:
        """The kind as its number in the runtime."""
        return list(FeatureKind).index(self.kind)


@dataclass(frozen=True)
class SignalTables:
    """What a device needs to make readings of samples.

    Attributes
    ----------
    signals : the description
    measured, stored, features : rows of tables; features channel by channel, percentiles last
    waves : the coefficients of Goertzel's filters
    """

    signals: Signals
    measured: tuple[MeasuredRow, ...]
    stored: tuple[StoredRow, ...]
    features: tuple[FeatureRow, ...]
    waves: tuple[np.float32, ...]

    @property
    def ring_size(self) -> int:
        """How many samples are kept in all."""
        return sum(row.length for row in self.stored)

    @property
    def longest(self) -> int:
        """The most samples that a window has of a channel."""
        return max(row.length for row in self.stored)

    @property
    def axes(self) -> tuple[int, ...]:
        """The measured channels that each stored one is made of, one after the other."""
        return tuple(axis for row in self.stored for axis in row.axes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of features that there are, as the runtime calls them."""
        return tuple(sorted({row.constant for row in self.features}))

    @property
    def limits(self) -> dict[str, int]:
        """What a runtime must have room for that learns all this when it opens a blob."""
        n_channels = max(len(self.measured), len(self.stored))
        return {"SAMPLES": self.ring_size, "WINDOW": self.longest, "CHANNELS": n_channels}

    @property
    def n_bytes(self) -> int:
        """The bytes of the memory, as a device of 32 bits has them."""
        floats = self.ring_size + len(self.measured)
        shorts = 2 * len(self.measured) + len(self.stored)
        return 4 * floats + 2 * (shorts + shorts % 2) + 4


def signal_tables(model: Model) -> SignalTables | None:
    """Lower the signals of a model; None if it has none."""
    if model.signals is None:
        return None
    signals = model.signals.only([one.name for one in model.features])
    asked = {name for feature in signals.features for name in feature.channels}
    stored = _stored(signals, [one for one in signals.channels if one.name in asked])
    tables = SignalTables(
        signals=signals,
        measured=tuple(
            MeasuredRow(one.name, one.unit, one.every, signals.max_gap // one.every)
            for one in signals.measured
        ),
        stored=stored,
        features=(),
        waves=(),
    )
    if tables.ring_size > _MOST_PLACES:
        raise ParameterError(
            f"the windows of an exported model have {_MOST_PLACES:,} samples at the most, over all "
            f"channels; this one's have {tables.ring_size:,}"
        )
    return _with_features(tables)


def _stored(signals: Signals, channels: list[Channel]) -> tuple[StoredRow, ...]:
    places = {channel.name: place for place, channel in enumerate(signals.measured)}
    rows: list[StoredRow] = []
    first = first_axis = 0
    for channel in channels:
        axes = tuple(places[name] for name in channel.axes or (channel.name,))
        rows.append(StoredRow(channel.name, first, signals.length(channel.name), axes, first_axis))
        first, first_axis = first + rows[-1].length, first_axis + len(axes)
    return tuple(rows)


def _with_features(tables: SignalTables) -> SignalTables:
    places = {row.name: place for place, row in enumerate(tables.stored)}
    signals = tables.signals
    spectral = [feature for feature in signals.features if feature.kind.is_spectral]
    most_waves: dict[int, int] = {}  # by the number of samples in a window
    for feature in spectral:
        n_samples, top = signals.length(feature.channels[0]), signals.bins(feature)[-1]
        most_waves[n_samples] = max(most_waves.get(n_samples, 0), top)
    starts: dict[int, int] = {}
    coefficients: list[np.float32] = []
    for n_samples, top in most_waves.items():
        starts[n_samples] = len(coefficients)
        coefficients += [wave_coefficient(wave, n_samples) for wave in range(1, top + 1)]
    rows = [
        _feature(signals, place, feature, places, starts)
        for place, feature in enumerate(signals.features)
    ]
    rows.sort(key=lambda row: (row.channel, row.kind is FeatureKind.PERCENTILE))
    return replace(tables, features=tuple(rows), waves=tuple(coefficients))


def _feature(
    signals: Signals,
    reading: int,
    feature: WindowFeature,
    places: dict[str, int],
    starts: dict[int, int],
) -> FeatureRow:
    n_samples = signals.length(feature.channels[0])
    first = count = 0
    factor = np.float32(0)
    if feature.kind.is_spectral:
        bins = signals.bins(feature)
        first, count = starts[n_samples] + bins[0] - 1, len(bins)
        is_pitch = feature.kind is FeatureKind.PITCH
        factor = pitch_unit(signals) if is_pitch else energy_factor(signals, feature)
    elif feature.kind is FeatureKind.PERCENTILE:
        first, factor = percentile_place(feature.at, n_samples)
    elif feature.kind is FeatureKind.SLOPE:
        factor = slope_factor(signals, feature)
    channel, *others = (places[name] for name in feature.channels)
    other = others[0] if others else 0
    return FeatureRow(feature.name, feature.kind, reading, channel, other, first, count, factor)
