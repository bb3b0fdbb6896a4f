"""The computation of features from sensor samples: channels, a moving window, its features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model import json_fields as json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from solah.model.features import Feature


# Samples beyond count as missing, so that no sum of squares overflows in float32.
MOST_SAMPLE = 1e9
LEAST_RATE, MOST_RATE = 1e-6, 1e6
MOST_WINDOW, MOST_STEP = 16_384, 1_000_000
MOST_CHANNELS, MOST_FEATURES = 255, 10_000


class FeatureKind(StrEnum):
    """The computation of a window feature."""

    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    RANGE = "range"
    RMS = "rms"
    DEVIATION = "deviation"
    CHANGE = "change"
    SLOPE = "slope"
    ZERO_CROSSINGS = "zero crossings"
    MEAN_CROSSINGS = "mean crossings"
    PEAKS = "peaks"
    PERCENTILE = "percentile"
    ENERGY = "energy"
    PITCH = "pitch"
    CORRELATION = "correlation"

    @property
    def is_spectral(self) -> bool:
        """Whether it needs the power of frequencies."""
        return self in (FeatureKind.ENERGY, FeatureKind.PITCH)


_NUMBERS_OF = {FeatureKind.PERCENTILE: ("at",), FeatureKind.ENERGY: ("low", "high")}
_COUNTS = (FeatureKind.ZERO_CROSSINGS, FeatureKind.MEAN_CROSSINGS, FeatureKind.PEAKS)


@dataclass(frozen=True)
class Channel:
    """A series of samples.

    Attributes
    ----------
    name : its name in samples and rules
    every : the number of ticks from a sample to the next
    unit : the unit of its samples, such as ``"g"``; empty if unknown
    axes : the channels whose magnitude it is; none for a measured channel
    """

    name: str = field(metadata=json.text())
    every: int = field(default=1, metadata=json.integer(1, MOST_WINDOW))
    unit: str = field(default="", metadata=json.text())
    axes: tuple[str, ...] = field(default=(), metadata=json.texts(2, MOST_CHANNELS))


@dataclass(frozen=True)
class WindowFeature:
    """A feature computed from a sample window.

    Attributes
    ----------
    name : the name of the feature
    kind : the computation
    channels : one channel, or the two of a correlation
    at : which percentile, from 0 to 100
    low, high : the band of an energy, in Hz; the upper end does not belong to it
    """

    name: str = field(metadata=json.text())
    kind: FeatureKind = field(metadata=json.choice(FeatureKind))
    channels: tuple[str, ...] = field(metadata=json.texts(1, 2))
    at: float = field(default=0.0, metadata=json.number(0.0, 100.0))
    low: float = field(default=0.0, metadata=json.number(0.0, MOST_RATE))
    high: float = field(default=0.0, metadata=json.number(0.0, MOST_RATE))


@dataclass(frozen=True)
class Signals:
    """The computation of features from samples.

    Attributes
    ----------
    rate : ticks per second
    window, step : the length of a window, and the way from one to the next, in ticks
    max_gap : for how many ticks the last sample replaces missing ones
    channels : measured ones in the order of a device's samples, and magnitudes of them
    features : the features of each window

    Raises
    ------
    ParameterError
        If the parts do not fit together.
    """

    rate: float = field(metadata=json.number(LEAST_RATE, MOST_RATE))
    window: int = field(metadata=json.integer(2, MOST_WINDOW))
    step: int = field(metadata=json.integer(1, MOST_STEP))
    max_gap: int = field(metadata=json.integer(0, MOST_WINDOW))
    channels: tuple[Channel, ...] = field(metadata=json.records(Channel, MOST_CHANNELS))
    features: tuple[WindowFeature, ...] = field(metadata=json.records(WindowFeature, MOST_FEATURES))

    def __post_init__(self) -> None:
        for what, names in (("channels", self.channel_names), ("features", self.names)):
            if len(set(names)) != len(names):
                raise ParameterError(f"two {what} have one name")
        if self.max_gap > self.window:
            raise ParameterError(f"'max_gap' must be up to the window. Got {self.max_gap}.")
        for channel in self.channels:
            self._check_channel(channel)
        for feature in self.features:
            self._check_feature(feature)

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names."""
        return tuple(feature.name for feature in self.features)

    @property
    def channel_names(self) -> tuple[str, ...]:
        """The channels' names, magnitudes' among them."""
        return tuple(channel.name for channel in self.channels)

    @property
    def measured(self) -> tuple[Channel, ...]:
        """The channels that samples come from, in their order."""
        return tuple(channel for channel in self.channels if not channel.axes)

    @property
    def window_seconds(self) -> float:
        """The length of a window."""
        return self.window / self.rate

    @cached_property
    def _by_name(self) -> dict[str, Channel]:
        return {channel.name: channel for channel in self.channels}

    def channel(self, name: str) -> Channel:
        """Return a channel by its name."""
        if name not in self._by_name:
            hint = did_you_mean(name, self._by_name)
            raise ParameterError(f"there is no channel {shorten(name)}{hint}")
        return self._by_name[name]

    def length(self, channel: str) -> int:
        """Return the number of samples that a window has of a channel."""
        return self.window // self.channel(channel).every

    def bins(self, feature: WindowFeature) -> range:
        """Return the frequencies that a feature needs, as waves per window.

        The mean and half of the rate, where a wave has two samples, are not frequencies.
        """
        n_samples = self.length(feature.channels[0])
        every = range(1, (n_samples + 1) // 2)
        if feature.kind is FeatureKind.PITCH:
            return every
        inside = [
            wave for wave in every if feature.low <= wave / self.window_seconds < feature.high
        ]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def unit(self, feature: WindowFeature) -> str:
        """Return the unit of a feature; empty for a pure number or if unknown."""
        if feature.kind in (*_COUNTS, FeatureKind.CORRELATION):
            return ""
        if feature.kind is FeatureKind.PITCH:
            return "Hz"
        unit = self.channel(feature.channels[0]).unit
        if not unit:
            return ""
        by_kind = {FeatureKind.SLOPE: f"{unit}/s", FeatureKind.ENERGY: f"{unit}²"}
        return by_kind.get(feature.kind, unit)

    def only(self, names: Collection[str]) -> Signals:
        """Keep only the features with these names, in this order, and the channels they need."""
        by_name = {feature.name: feature for feature in self.features}
        features = tuple(by_name[name] for name in names if name in by_name)
        used = {name for feature in features for name in feature.channels}
        used |= {axis for name in used for axis in self.channel(name).axes}
        channels = tuple(channel for channel in self.channels if channel.name in used)
        return replace(self, channels=channels, features=features)

    def _check_channel(self, channel: Channel) -> None:
        for axis in channel.axes:
            if self.channel(axis).axes or self.channel(axis).every != channel.every:
                raise ParameterError(
                    f"channel {shorten(channel.name)}: the axes of a magnitude are measured "
                    f"channels of its own rate. Got {shorten(axis)}."
                )
        for what in ("window", "step"):
            ticks = getattr(self, what)
            if ticks % channel.every:
                raise ParameterError(
                    f"channel {shorten(channel.name)}: the {what} of {ticks} samples of the "
                    f"fastest channel must be a multiple of {channel.every}, as the channel is "
                    f"{channel.every} times slower"
                )
        if self.window // channel.every < 2:
            raise ParameterError(
                f"channel {shorten(channel.name)}: a window has one sample; take a longer one"
            )

    def _check_feature(self, feature: WindowFeature) -> None:
        where = f"feature {shorten(feature.name)}"
        n_channels = 2 if feature.kind is FeatureKind.CORRELATION else 1
        if len(feature.channels) != n_channels or len(set(feature.channels)) != n_channels:
            raise ParameterError(f"{where} must have {n_channels} of the channels")
        if len({self.channel(name).every for name in feature.channels}) > 1:
            raise ParameterError(f"{where}: its channels must have one rate")
        own = _NUMBERS_OF.get(feature.kind, ())
        if any(getattr(feature, name) for name in ("at", "low", "high") if name not in own):
            raise ParameterError(f"{where} has numbers of another kind")
        if feature.kind.is_spectral and not self.bins(feature):
            raise ParameterError(
                f"{where}: a window of {self.length(feature.channels[0])} samples has no "
                "frequency in this band; take a wider band or a longer window"
            )


def check_signals(signals: Signals, features: Iterable[Feature]) -> None:
    """Raise a ParameterError if signals do not compute the features of a model."""
    for feature in features:
        if feature.name not in signals.names or not feature.is_continuous:
            raise ParameterError(
                f"there is no feature of windows for {feature.name!r}, or it is not continuous"
            )
