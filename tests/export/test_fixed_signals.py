"""Window features in integers: against formulas in float64, and what samples stand for."""

from dataclasses import replace

import numpy as np
import pytest
from signal_programs import batch, describe_everything, model_of, noise

from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.fixed_signals import Scale, root, scaled, wave_table
from solah.export.units import Counts
from solah.model.signals import FeatureKind
from solah.signals import describe_signals

FEATURES = [
    *("mean", "min", "max", "range", "rms", "deviation", "change", "slope", "zero crossings"),
    *("mean crossings", "peaks", "p0", "p33", "p100", "energy 1-6", "pitch", "correlation"),
]


def peaks(x):
    middle, high = x[1:-1], x.mean(axis=0) + x.std(axis=0)
    return ((middle > x[:-2]) & (middle >= x[2:]) & (middle > high)).sum(axis=0)


def formula(signals, feature, windows):
    """Compute a feature of windows ``(n_samples, n_windows)`` in float64."""
    x, *others = (windows[name] for name in feature.channels)
    n, kind = len(x), feature.kind
    powers = np.abs(np.fft.rfft(x - x.mean(axis=0), axis=0)) ** 2
    plain = {
        FeatureKind.PEAKS: lambda: peaks(x),
        FeatureKind.MEAN: lambda: x.mean(axis=0),
        FeatureKind.MIN: lambda: x.min(axis=0),
        FeatureKind.MAX: lambda: x.max(axis=0),
        FeatureKind.RANGE: lambda: np.ptp(x, axis=0),
        FeatureKind.RMS: lambda: np.sqrt((x**2).mean(axis=0)),
        FeatureKind.DEVIATION: lambda: x.std(axis=0),
        FeatureKind.CHANGE: lambda: np.abs(np.diff(x, axis=0)).mean(axis=0),
        FeatureKind.SLOPE: lambda: np.polyfit(np.arange(n) / signals.rate, x, 1)[0],
        FeatureKind.ZERO_CROSSINGS: lambda: (np.diff(x < 0, axis=0)).sum(axis=0),
        FeatureKind.MEAN_CROSSINGS: lambda: (np.diff(x < x.mean(axis=0), axis=0)).sum(axis=0),
        FeatureKind.PERCENTILE: lambda: np.percentile(x, feature.at, axis=0),
        FeatureKind.ENERGY: lambda: 2 / n**2 * powers[list(signals.bins(feature))].sum(axis=0),
        FeatureKind.PITCH: lambda: (
            (1 + np.argmax(powers[1 : (n + 1) // 2], axis=0)) / signals.window_seconds
        ),
        FeatureKind.CORRELATION: lambda: np.array(
            [np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, others[0].T, strict=True)]
        ),
    }
    return plain[kind]()


@pytest.mark.parametrize("n_samples", [24, 25, 100, 510])
@pytest.mark.parametrize(
    "counts",
    [Counts(16, 1 / 4096, -8.0), Counts(12, 0.0025, -5.0), Counts(10, 0.5, 40.0)],
    ids=["16 bits", "12 bits", "10 bits far from 0"],
)
def test_features_are_what_their_formulas_say(n_samples, counts):
    """Those of sums are within a unit of the reading, energies within 0.2 % of the variance."""
    rng = np.random.default_rng(n_samples)
    signals = describe_signals(["x", "y"], rate=20, window=n_samples, features=FEATURES)
    time = np.arange(20 * n_samples)
    waves = np.sin(time[:, None] * rng.uniform(0.2, 2, 2)) * (1 + np.sin(time / 300))[:, None]
    middle = counts.offset + counts.gain * 2 ** (counts.bits - 1)
    reach = counts.gain * 2 ** (counts.bits - 3)
    samples = middle + reach * (waves + rng.normal(0, 0.3, waves.shape))
    samples = counts.offset + counts.gain * np.round((samples - counts.offset) / counts.gain)
    model = model_of(rng, signals, samples)
    export = export_c(model, name="m", numbers="q15", adc={"x": counts, "y": counts})
    found = batch(export.signals, samples, export.features)
    starts = np.arange(len(found)) * export.signals.step
    windows = {
        name: np.array([column[at : at + n_samples] for at in starts]).T
        for name, column in zip("xy", samples.T, strict=True)
    }
    units = export.simulator.units
    for feature, column, unit in zip(export.signals.features, found.T, units, strict=True):
        expected = formula(export.signals, feature, windows)
        error, allowed = np.abs(column - expected), 1.01 * unit.step
        if feature.kind is FeatureKind.ENERGY:
            allowed = allowed + 2e-3 * windows[feature.channels[0]].var(axis=0)
        if feature.kind is FeatureKind.PERCENTILE:
            allowed = allowed + 2**-15 * np.ptp(windows[feature.channels[0]], axis=0)
        if feature.kind is FeatureKind.PITCH:
            assert (error < 1e-4).mean() > 0.95, feature.name
        else:
            assert (error <= allowed).all(), feature.name


def test_waves_are_symmetric():
    """Samples are folded by these symmetries before they are multiplied with waves."""
    for n in (3, 4, 6, 25, 50, 100, 127, 510, 1000):
        cosine, sine = wave_table(n).reshape(2, n)
        np.testing.assert_array_equal(cosine[1:], cosine[:0:-1])
        np.testing.assert_array_equal(sine[1:], -sine[:0:-1])
        if n % 2 == 0:
            np.testing.assert_array_equal(cosine[: n // 2], -cosine[n // 2 :])
            np.testing.assert_array_equal(sine[: n // 2], -sine[n // 2 :])


def test_roots_have_31_bits_rounded_down():
    rng = np.random.default_rng(0)
    few = np.array([0, 1, 2, 3, 4, 2**61, 2**62 - 1])
    squares = np.concatenate([few, rng.integers(0, 2**62, 5_000) >> rng.integers(0, 62, 5_000)])
    for square, one, bits in zip(
        squares.tolist(), *(a.tolist() for a in root(squares)), strict=True
    ):
        assert one**2 <= square << 2 * bits < (one + 1) ** 2
        assert one >= 2**30 or square == 0


def test_what_does_not_fit_becomes_the_nearest_reading():
    found = np.array([0, 1, -1, 2**50, -(2**50)])
    assert scaled(found, Scale.of(2.0**40), 0, 5).tolist() == [5, *[2**31 - 1, -(2**31) + 6] * 2]
    assert scaled(found, Scale.of(2.0**-70), 0, 5).tolist() == [5, 5, 5, 5, 5]


def test_counts_of_an_adc_and_values_give_the_same_readings():
    """A float32 of a value, and the count that stands for it, are the same sample."""
    rng = np.random.default_rng(1)
    model = model_of(rng, describe_everything(), noise(rng, 3000))
    plain = export_c(model, name="m", numbers="q15")
    gains = {name: plain.features.units[name].gain for name in ("x", "y", "slow")}
    adc = {name: Counts(16, gain, -(2**15) * gain) for name, gain in gains.items()}
    counted = export_c(model, name="m", numbers="q15", adc=adc)
    samples = noise(rng, 500)
    expected, found = (batch(one.signals, samples, one.features) for one in (plain, counted))
    sizes = [name.startswith("size") for name in plain.signals.names]
    np.testing.assert_array_equal(found[:, np.invert(sizes)], expected[:, np.invert(sizes)])
    assert "0 to 65535" not in counted.files["m.h"]
    assert "M_SAMPLE_BITS_X" in plain.files["m.h"]
    assert "M_SAMPLE_BITS_X" not in counted.files["m.h"]


def test_errors_name_the_channel_and_the_option():
    rng = np.random.default_rng(2)
    samples = noise(rng, 1000, 2)
    signals = describe_signals(["x", "y"], rate=20, window=20, features=["deviation"])
    model = model_of(rng, signals, samples)
    with pytest.raises(ParameterError, match="no feature of the channel 'x' shows .* --adc x=BITS"):
        export_c(model, numbers="q15")
    with pytest.raises(ParameterError, match="'z' is not a measured channel"):
        export_c(model, numbers="q15", adc={"z": Counts(12, 1.0)})
    with pytest.raises(ParameterError, match=r"integers \(--arithmetic q15\)"):
        export_c(model, adc={"x": Counts(12, 1.0)})
    derived = describe_signals(
        ["x", "y"], rate=20, window=20, features=["mean"], magnitudes={"size": ["x", "y"]}
    )
    model = model_of(rng, derived, samples)
    counts = {"x": Counts(12, 1.0), "y": Counts(12, 2.0)}
    with pytest.raises(ParameterError, match="'size' needs axes of one gain"):
        export_c(model, numbers="q15", adc=counts)
    far = replace(counts["x"], offset=1e9)
    signals = describe_signals(["x"], rate=20, window=20, features=["rms"])
    model = model_of(rng, signals, samples[:, :1])
    with pytest.raises(ParameterError, match="too far from the counts of its channel"):
        export_c(model, numbers="q15", adc={"x": far})
