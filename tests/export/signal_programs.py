"""Models of samples and programs around them: what they decide against batches and simulators."""

import numpy as np

from solah.model import AdditiveNode, Model, Target, Term, TermInput
from solah.model.features import cored_feature
from solah.signals import Recording, cut_windows, describe_signals

EVERYTHING = [
    *("mean", "min", "max", "range", "rms", "deviation", "change", "slope", "zero crossings"),
    *("mean crossings", "peaks", "p0", "p33", "p100", "energy 1-6", "pitch", "correlation"),
]
STREAM = """
#include "m.h"
#include "solah_io.h"

static m_signals signals;

int main(void)
{{
    {reading} sample[M_N_SAMPLES];
    {reading} readings[M_N_READINGS];
    {belief} belief[M_N_CLASSES];
    m_start(&signals);
    while (solah_io_read(sample, sizeof sample) == sizeof sample) {{
        if (m_push(&signals, sample)) {{
            int32_t decision;
            m_measure(&signals, readings);
            decision = m_decide(readings, belief);
            solah_io_write(&decision, sizeof decision);
            solah_io_write(belief, sizeof belief);
            solah_io_write(readings, sizeof readings);
        }}
    }}
    return 0;
}}
"""


def describe_everything(window=24, features=EVERYTHING):
    """Describe every kind of feature, over channels of two rates and a magnitude."""
    return describe_signals(
        ["x", "y", "slow"],
        rate={"x": 20, "y": 20, "slow": 5},
        window=window,
        overlap=0.5,
        features=features,
        magnitudes={"size": ["x", "y"]},
        max_gap=4,
    )


def noise(rng, n_samples, n_channels=3, holes=0.02):
    """Return samples as float32, some of them missing, in short gaps and long ones, or absurd."""
    steps = rng.normal(0, 0.3, (n_samples, n_channels)).cumsum(axis=0) % 7 - 3
    samples = (steps + rng.normal(0, 1, steps.shape)).round(2)
    samples[rng.random(samples.shape) < holes] = np.nan
    for start in rng.integers(0, n_samples, n_samples // 500 + 1):
        samples[start : start + 9, rng.integers(n_channels)] = rng.choice([np.nan, np.inf, 1e12])
    still = rng.integers(0, n_samples, n_samples // 1000 + 1)
    for start in still:
        samples[start : start + 60, rng.integers(n_channels)] = 0.1
    return samples.astype(np.float32)


def batch(signals, samples, arithmetic=None):
    """Return the readings of all windows at once."""
    columns = zip((one.name for one in signals.measured), samples.T, strict=True)
    return cut_windows(signals, [Recording("r", dict(columns))], arithmetic).readings


def model_of(rng, signals, samples):
    """Make a model with rules about every feature, whose words stand where readings are."""
    readings = batch(signals, samples)
    features, terms = [], []
    for name, column in zip(signals.names, readings.T, strict=True):
        known = column[np.isfinite(column)]
        low, high = (float(one) for one in np.quantile(known, [0.3, 0.7]))
        high = max(high, low + 0.01)
        words, cores = ("low", "high"), [(-np.inf, low), (high, np.inf)]
        least, most = float(min(known.min(), low)), float(max(known.max(), high))
        feature = cored_feature(name, words, cores, (0.5, 0.5), least, most)
        features.append(feature)
        terms.append(_term(rng, feature))
    root = AdditiveNode("state", (0.2, -0.1, -0.1), tuple(terms))
    target = Target("state", ("a", "b", "c"), shares=(0.5, 0.3, 0.2))
    return Model(target, tuple(features), (root,), signals=signals)


def _term(rng, feature):
    weights = rng.normal(0, 1, (2, 3))
    return Term(
        (TermInput.whole(feature),),
        weights=weights - weights.mean(axis=1, keepdims=True),
        shares=np.array([[0.6, 0.2, 0.2], [0.4, 0.4, 0.2]]),
        counts=np.array([5.0, 5.0]),
        variance=0.5,
    )


def pushed(export, samples):
    """Return the bytes that a device is given: floats, or integers."""
    if export.features is None:
        return samples.astype("<f4").tobytes()
    named = zip((one.name for one in export.signals.measured), samples.T, strict=True)
    columns = [export.features.counts(name, column) for name, column in named]
    return np.column_stack(columns).astype("<i4").tobytes()


def check_stream(export, printed, samples):
    """Assert that what a program wrote are the readings and decisions of all windows, as bits."""
    rows = batch(export.signals, samples, export.features)
    places, beliefs = export.simulator.decide(rows)
    expected = rows.astype("<f4") if export.numbers == "float" else export.simulator.prepare(rows)
    kind = [
        ("decision", "<i4"),
        ("belief", beliefs.dtype.newbyteorder("<"), (beliefs.shape[1],)),
        ("readings", expected.dtype.newbyteorder("<"), (rows.shape[1],)),
    ]
    found = np.frombuffer(printed, kind)
    assert len(found) == len(rows) > 0
    np.testing.assert_array_equal(bits(found["readings"]), bits(expected))
    np.testing.assert_array_equal(found["decision"], places)
    np.testing.assert_array_equal(bits(found["belief"]), bits(beliefs))
    assert len(np.unique(beliefs, axis=0)) > 1


def bits(numbers):
    """Return the bits of numbers; there is but one NaN."""
    one_nan = np.where(np.isnan(numbers), np.array(np.nan, dtype=np.float32), numbers)
    plain = one_nan if numbers.dtype.kind == "f" else numbers
    return np.ascontiguousarray(plain).view(f"u{numbers.itemsize}")
