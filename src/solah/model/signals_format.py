"""Write the signals of a model document as JSON, and read them with every value checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.exceptions import ModelFormatError, ParameterError
from solah.model.signals import (
    LEAST_RATE,
    MOST_CHANNELS,
    MOST_FEATURES,
    MOST_RATE,
    MOST_STEP,
    MOST_WINDOW,
    Channel,
    Feature,
    FeatureKind,
    Signals,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.data.json_reader import Reader
    from solah.model.attributes import Attribute


def signals_record(signals: Signals) -> dict[str, Any]:
    """Return signals as JSON's objects."""
    return {
        "rate": signals.rate,
        "window": signals.window,
        "step": signals.step,
        "max_gap": signals.max_gap,
        "channels": [_channel_record(channel) for channel in signals.channels],
        "features": [_feature_record(feature) for feature in signals.features],
    }


def _channel_record(channel: Channel) -> dict[str, Any]:
    record: dict[str, Any] = {"name": channel.name}
    record |= {"every": channel.every} if channel.every > 1 else {}
    record |= {"unit": channel.unit} if channel.unit else {}
    return record | ({"axes": list(channel.axes)} if channel.axes else {})


def _feature_record(feature: Feature) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": feature.name,
        "kind": feature.kind.value,
        "channels": list(feature.channels),
    }
    if feature.kind is FeatureKind.PERCENTILE:
        record["at"] = feature.at
    if feature.kind is FeatureKind.ENERGY:
        record |= {"low": feature.low, "high": feature.high}
    return record


def read_signals(reader: Reader, attributes: Iterable[Attribute]) -> Signals:
    """Read signals, and check that the attributes are features of them."""
    fields = reader.record(["rate", "window", "step", "max_gap", "channels", "features"])
    window = fields["window"].integer(2, MOST_WINDOW)
    rate = fields["rate"].number(LEAST_RATE, MOST_RATE)
    channels = fields["channels"].items(1, MOST_CHANNELS)
    features = fields["features"].items(1, MOST_FEATURES)
    try:
        signals = Signals(
            rate=rate,
            window=window,
            step=fields["step"].integer(1, MOST_STEP),
            max_gap=fields["max_gap"].integer(0, window),
            channels=tuple(_read_channel(item, window) for item in channels),
            features=tuple(_read_feature(item, rate) for item in features),
        )
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None
    for attribute in attributes:
        if attribute.name not in signals.names or not attribute.is_continuous:
            raise ModelFormatError(
                f"{reader.place} has no feature for the attribute {attribute.name!r}, or it is "
                "no measurement"
            )
    return signals


def _read_channel(reader: Reader, window: int) -> Channel:
    fields = reader.record(["name"], ["every", "unit", "axes"])
    return Channel(
        name=fields["name"].text(),
        every=fields["every"].integer(1, window) if "every" in fields else 1,
        unit=fields["unit"].text() if "unit" in fields else "",
        axes=fields["axes"].texts(2, MOST_CHANNELS) if "axes" in fields else (),
    )


def _read_feature(reader: Reader, rate: float) -> Feature:
    kinds = [kind.value for kind in FeatureKind]
    named = reader.part("kind")
    if named.value not in kinds:
        raise named.fail("one of " + ", ".join(map(repr, kinds)))
    kind = FeatureKind(named.value)
    own = {FeatureKind.PERCENTILE: ["at"], FeatureKind.ENERGY: ["low", "high"]}.get(kind, [])
    fields = reader.record(["name", "kind", "channels", *own])
    low = fields["low"].number(0.0, rate) if "low" in fields else 0.0
    return Feature(
        name=fields["name"].text(),
        kind=kind,
        channels=fields["channels"].texts(1, 2),
        at=fields["at"].number(0.0, 100.0) if "at" in fields else 0.0,
        low=low,
        high=fields["high"].number(low, rate) if "high" in fields else 0.0,
    )
