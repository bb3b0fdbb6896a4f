"""Features of windows: against formulas in float64, and the same bits in any company."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solah.signals import FeatureKind, describe_signals
from solah.signals.arithmetic import as_samples, compute_features

FEATURES = [
    *("mean", "min", "max", "range", "rms", "deviation", "change", "slope", "zero crossings"),
    *("mean crossings", "peaks", "p0", "p10", "p50", "p100", "energy 3-8", "pitch", "correlation"),
]


def described(n_samples=40, rate=20.0, features=FEATURES):
    return describe_signals(["a", "b"], rate=rate, window=n_samples, features=features)


def compute(signals, a, b):
    windows = {"a": as_samples(a)[:, None], "b": as_samples(b)[:, None]}
    return dict(zip(signals.names, compute_features(signals, windows)[0].tolist(), strict=True))


def crossings(x):
    return float(np.count_nonzero(np.diff(x < 0)))


def peaks(x):
    high = x.mean() + x.std()
    return float(
        sum(x[i] > x[i - 1] and x[i] >= x[i + 1] and x[i] > high for i in range(1, len(x) - 1))
    )


def spectrum(x):
    return np.abs(np.fft.rfft(x - x.mean())) ** 2


def expected(a, b, rate=20.0):
    n = len(a)
    waves = np.arange(n // 2 + 1) * rate / n
    power = spectrum(a) * 2 / n**2
    return {
        "a mean over 2 s": a.mean(),
        "a minimum over 2 s": a.min(),
        "a maximum over 2 s": a.max(),
        "a range over 2 s": np.ptp(a),
        "a RMS over 2 s": np.sqrt((a**2).mean()),
        "a deviation over 2 s": a.std(),
        "a change per sample": np.abs(np.diff(a)).mean(),
        "a slope over 2 s": np.polyfit(np.arange(n) / rate, a, 1)[0],
        "a zero crossings in 2 s": crossings(a),
        "a mean crossings in 2 s": crossings(a - a.mean()),
        "a peaks in 2 s": peaks(a),
        "a 0 % quantile over 2 s": a.min(),
        "a 10 % quantile over 2 s": np.percentile(a, 10),
        "a 50 % quantile over 2 s": np.median(a),
        "a 100 % quantile over 2 s": a.max(),
        "a energy from 3 to 8 Hz": power[(waves >= 3) & (waves < 8)].sum(),
        "pitch of a": waves[1 + np.argmax(power[1:-1])],
        "correlation of a and b": np.corrcoef(a, b)[0, 1],
    }


@pytest.mark.parametrize("seed", range(20))
def test_features_are_what_their_formulas_say(seed):
    rng = np.random.default_rng(seed)
    scale, offset = 10.0 ** rng.integers(-2, 3), rng.normal()
    a, b = (rng.normal(size=(2, 40)) + offset) * scale
    a, b = a.astype(np.float32).astype(float), b.astype(np.float32).astype(float)
    found = compute(described(), a, b)
    for name, value in expected(a, b).items():
        assert found[name] == pytest.approx(value, rel=2e-4, abs=2e-5 * scale), name


def test_the_energies_of_all_bands_are_the_variance():
    rng = np.random.default_rng(1)
    signals = described(51, 51.0, ["deviation", "energy 0-10", "energy 10-30"])
    found = compute(signals, *rng.normal(size=(2, 51)))
    energies = [value for name, value in found.items() if name.startswith("a energy")]
    assert sum(energies) == pytest.approx(found["a deviation over 1 s"] ** 2, rel=1e-4)


@pytest.mark.parametrize("frequency", [1, 3, 7, 20, 24])
def test_the_pitch_of_a_wave_is_its_frequency(frequency):
    wave = 5 + np.cos(2 * np.pi * frequency * np.arange(100) / 50)
    found = compute(described(100, 50.0, ["pitch", "energy 0-25"]), wave, wave)
    assert found["pitch of a"] == frequency
    assert found["a energy from 0 to 25 Hz"] == pytest.approx(0.5, rel=1e-3)


def test_what_does_not_move_has_neither_pitch_nor_correlation():
    still, moving = np.full(40, 0.1), np.arange(40.0)
    found = compute(described(), still, moving)
    assert np.isnan([found["pitch of a"], found["correlation of a and b"]]).all()
    assert np.isfinite([v for name, v in found.items() if "of a" not in name]).all()
    assert found["pitch of b"] == 0.5


def test_a_missing_sample_makes_the_features_of_its_channel_unknown():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 40))
    whole = compute(described(), a, b)
    a[7] = np.nan
    found = compute(described(), a, b)
    for name, value in found.items():
        is_of_a = name.startswith("a ") or "of a" in name
        assert np.isnan(value) if is_of_a else value == whole[name], name


samples = st.floats(-1e9, 1e9, width=32)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(samples, min_size=12, max_size=12), min_size=4, max_size=4))
def test_a_window_has_the_same_bits_alone_and_among_others(rows):
    signals = described(12, 20.0)
    windows = as_samples(np.array(rows)).T
    together = compute_features(signals, {"a": windows[:, :2], "b": windows[:, 2:]})
    for i in range(2):
        alone = compute_features(signals, {"a": windows[:, [i]], "b": windows[:, [2 + i]]})
        assert alone[0].tobytes() == together[i].tobytes()
    assert together.dtype == np.float32
    undefined = [k for k, one in enumerate(signals.features) if one.kind not in _MAY_BE_UNDEFINED]
    assert np.isfinite(together[:, undefined]).all()


_MAY_BE_UNDEFINED = (FeatureKind.PITCH, FeatureKind.CORRELATION)


def test_samples_that_no_sum_of_squares_could_hold_are_missing():
    found = as_samples(np.array([1e9, 1.1e9, -np.inf, np.inf, np.nan, 1e300, -0.0, 2.5]))
    assert np.isnan(found).tolist() == [False, True, True, True, True, True, False, False]
    assert not np.signbit(found[6])
