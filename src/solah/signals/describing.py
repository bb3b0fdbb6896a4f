"""Descriptions of windows and features from text: ``2s``, ``50%``, ``energy 2-5``."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.signals import (
    LEAST_RATE,
    MOST_RATE,
    MOST_WINDOW,
    Channel,
    FeatureKind,
    Signals,
    WindowFeature,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.model.document import Model

DEFAULT_FEATURES = (
    *("mean", "deviation", "min", "max", "change", "slope", "mean crossings", "peaks"),
    *("p25", "p75", "pitch", "correlation"),
)

_SECONDS = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|min)", re.ASCII)
_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0}
_NUMBER = r"(\d+(?:\.\d+)?)"
_PERCENTILE = re.compile(rf"p{_NUMBER}", re.ASCII)
_BAND = re.compile(rf"energy {_NUMBER} ?- ?{_NUMBER}(?: ?Hz)?", re.ASCII | re.IGNORECASE)
_WHOLE = 1e-6

_NAMES = {
    FeatureKind.MEAN: "{channel} mean over {window}",
    FeatureKind.MIN: "{channel} minimum over {window}",
    FeatureKind.MAX: "{channel} maximum over {window}",
    FeatureKind.RANGE: "{channel} range over {window}",
    FeatureKind.RMS: "{channel} RMS over {window}",
    FeatureKind.DEVIATION: "{channel} deviation over {window}",
    FeatureKind.CHANGE: "{channel} change per sample",
    FeatureKind.SLOPE: "{channel} slope over {window}",
    FeatureKind.ZERO_CROSSINGS: "{channel} zero crossings in {window}",
    FeatureKind.MEAN_CROSSINGS: "{channel} mean crossings in {window}",
    FeatureKind.PEAKS: "{channel} peaks in {window}",
    FeatureKind.PERCENTILE: "{channel} {at:g} % quantile over {window}",
    FeatureKind.ENERGY: "{channel} energy from {low:g} to {high:g} Hz",
    FeatureKind.PITCH: "pitch of {channel}",
    FeatureKind.CORRELATION: "correlation of {channel} and {other}",
}


def describe_signals(
    channels: Sequence[str],
    *,
    rate: float | Mapping[str, float],
    window: int | str,
    overlap: float | str = 0.5,
    features: Iterable[str] = DEFAULT_FEATURES,
    magnitudes: Mapping[str, Sequence[str]] | None = None,
    units: Mapping[str, str] | None = None,
    max_gap: int | str | None = None,
) -> Signals:
    """Describe the windows of channels and their features.

    The parameters are those of :class:`solah.signals.WindowFeatures`.

    Returns
    -------
    signals : Signals

    Examples
    --------
    >>> signals = describe_signals(["vibration"], rate=100, window="1s", features=["rms", "pitch"])
    >>> signals.names
    ('vibration RMS over 1 s', 'pitch of vibration')
    """
    rates = _rates(channels, rate)
    fastest = max(rates.values())
    n_window = _ticks("window", window, fastest, MOST_WINDOW)
    units = units or {}
    measured = [
        Channel(name, _every(name, rates[name], fastest), units.get(name, "")) for name in channels
    ]
    blank = Signals(
        rate=fastest,
        window=n_window,
        step=_step(n_window, overlap, lcm(*(channel.every for channel in measured))),
        max_gap=n_window // 10
        if max_gap is None
        else _ticks("max_gap", max_gap, fastest, n_window, least=0),
        channels=(*measured, *_magnitudes(measured, magnitudes or {})),
        features=(),
    )
    return replace(blank, features=tuple(_features(blank, features)))


def with_signals(model: Model, signals: Signals) -> Model:
    """Add the description of features to a model that uses them, as far as its rules need it.

    Parameters
    ----------
    model : Model
        Trained on the features' values, in columns with the features' names that are declared
        continuous (``feature_types=windows.kinds``).
    signals : Signals

    Returns
    -------
    model : Model
        Without features that no rule uses, and with the channels that the others need.
    """
    asked = {one.name for node in model.nodes for one in node.inputs if one.tree is None}
    # A constant uses no feature, and keeps those that it has.
    features = tuple(one for one in model.features if one.name in asked) or model.features
    strange = [one.name for one in features if one.name not in signals.names]
    if strange:
        raise ParameterError(
            f"the model needs {shorten(strange[0])}, which is not a feature of the signals"
            f"{did_you_mean(strange[0], signals.names)}"
        )
    coded = [one for one in features if not one.is_continuous]
    if coded:
        raise ParameterError(
            f"the model has {shorten(coded[0].name)} as {coded[0].kind.value}, since few values "
            "occur; fit with feature_types=windows.kinds"
        )
    names = [one.name for one in features]
    domain = model.domain and model.domain.only(names)
    return replace(model, features=features, signals=signals.only(names), domain=domain)


def spell_seconds(seconds: float) -> str:
    """Write a time as people read it.

    Examples
    --------
    >>> spell_seconds(0.25), spell_seconds(2.0)
    ('250 ms', '2 s')
    """
    return f"{1000 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"


def _rates(channels: Sequence[str], rate: float | Mapping[str, float]) -> dict[str, float]:
    if isinstance(channels, str) or not channels:
        raise ParameterError(f"'channels' must be a list of names; got {shorten(channels)}")
    given = dict(rate) if not isinstance(rate, int | float) else dict.fromkeys(channels, rate)
    for name in channels:
        if name not in given:
            raise ParameterError(f"'rate' has no value for the channel {shorten(name)}")
        if not LEAST_RATE <= given[name] <= MOST_RATE:
            raise ParameterError(
                f"'rate' must be from {LEAST_RATE:g} to {MOST_RATE:g} samples per second; got "
                f"{given[name]!r} for {shorten(name)}"
            )
    return {name: float(given[name]) for name in channels}


def _every(name: str, rate: float, fastest: float) -> int:
    every = fastest / rate
    if abs(every - round(every)) > _WHOLE * every:
        raise ParameterError(
            f"the rate of channel {shorten(name)} ({rate:g}) must divide the fastest "
            f"({fastest:g}) by a whole number"
        )
    return round(every)


def _ticks(what: str, given: int | str, rate: float, most: int, least: int = 2) -> int:
    ticks: float
    if isinstance(given, str) and (time := _SECONDS.fullmatch(given.strip())):
        ticks = float(time[1]) * _UNITS[time[2]] * rate
    elif isinstance(given, str) and given.strip().isdecimal():
        ticks = int(given)
    elif isinstance(given, int):
        ticks = given
    else:
        raise ParameterError(
            f"{what!r} must be a number of samples, or a time such as '2s' or '500ms'; "
            f"got {shorten(given)}"
        )
    if abs(ticks - round(ticks)) > _WHOLE * max(ticks, 1.0) or not least <= round(ticks) <= most:
        raise ParameterError(
            f"{what!r} must be a whole number of samples from {least} to {most:,}; {given!r} at "
            f"{rate:g} per second is {ticks:g}"
        )
    return round(ticks)


def _step(window: int, overlap: float | str, unit: int) -> int:
    """Return the step, rounded so that each channel has a whole number of samples in it."""
    text = str(overlap).strip()
    share = re.fullmatch(rf"{_NUMBER}( ?%)?", text, re.ASCII)
    value = float(share[1]) / (100 if share[2] else 1) if share else -1.0
    if not 0 <= value < 1:
        raise ParameterError(
            "'overlap' must be a share of the window below 1, such as 0.5 or '50%'; "
            f"got {shorten(overlap)}"
        )
    return unit * max(1, round(window * (1 - value) / unit))


def _magnitudes(
    measured: Sequence[Channel], magnitudes: Mapping[str, Sequence[str]]
) -> list[Channel]:
    by_name = {channel.name: channel for channel in measured}
    derived = []
    for name, axes in magnitudes.items():
        for axis in axes:
            if axis not in by_name:
                hint = did_you_mean(axis, by_name)
                raise ParameterError(f"the magnitude {shorten(name)} has no axis {axis!r}{hint}")
        if len(axes) < 2:
            raise ParameterError(f"the magnitude {shorten(name)} needs two axes at least")
        first = by_name[axes[0]]
        derived.append(Channel(name, first.every, first.unit, tuple(axes)))
    return derived


def _features(signals: Signals, wanted: Iterable[str]) -> list[WindowFeature]:
    plain, pairs = [], []
    for text in dict.fromkeys(wanted):
        like = _read_feature(text)
        if like.kind is FeatureKind.CORRELATION:
            pairs += [
                (like, (first.name, second.name))
                for first, second in combinations(signals.measured, 2)
                if first.every == second.every
            ]
        else:
            plain.append(like)
    each = [(like, (channel.name,)) for channel in signals.channels for like in plain]
    return [_named(signals, replace(like, channels=of)) for like, of in [*each, *pairs]]


def _named(signals: Signals, feature: WindowFeature) -> WindowFeature:
    name = _NAMES[feature.kind].format(
        channel=feature.channels[0],
        other=feature.channels[-1],
        window=spell_seconds(signals.window_seconds),
        at=feature.at,
        low=feature.low,
        high=feature.high,
    )
    return replace(feature, name=name)


def _read_feature(text: str) -> WindowFeature:
    text = text.strip()
    if percentile := _PERCENTILE.fullmatch(text):
        at = float(percentile[1])
        if at <= 100:
            return WindowFeature("", FeatureKind.PERCENTILE, (), at=at)
    if band := _BAND.fullmatch(text):
        return WindowFeature("", FeatureKind.ENERGY, (), low=float(band[1]), high=float(band[2]))
    own = {FeatureKind.PERCENTILE: "p90", FeatureKind.ENERGY: "energy 2-5"}
    plain = {own.get(kind, kind.value): kind for kind in FeatureKind}
    if text not in plain or plain[text] in own:
        raise ParameterError(f"unknown feature {shorten(text)}{did_you_mean(text, plain)}")
    return WindowFeature("", plain[text], ())
