"""Recordings of machines that vibrate: one with a fault is strong and low."""

import numpy as np

from solah import RuleClassifier
from solah.signals import Recording, WindowFeatures, with_signals

CHANNELS = ["x", "y", "z"]
RATE = 50


def machine(rng, is_faulty, n_samples=600):
    """Return samples of three axes, ``(n_samples, 3)``."""
    time = np.arange(n_samples) / RATE
    pitch, strength = (3.0, 2.0) if is_faulty else (11.0, 0.7)
    wave = strength * np.sin(2 * np.pi * (pitch + rng.normal(0, 0.3)) * time)
    axes = wave[:, None] * [1.0, 0.5, -0.3] + [0.0, 0.2, 1.0]
    return axes + rng.normal(0, 0.4, axes.shape)


def recordings(rng, n_each=6, **options):
    """Return recordings of machines in order and of faulty ones, three for each site."""
    found = []
    for place in range(2 * n_each):
        samples = machine(rng, place % 2 == 1, **options)
        label = "fault" if place % 2 else "ok"
        labels = np.full(len(samples), label, dtype=object)
        columns = dict(zip(CHANNELS, samples.T, strict=True))
        found.append(Recording(f"r{place}", columns, labels=labels, group=f"site {place // 3}"))
    return found


def window_features(**changes):
    parameters = {
        "window": "1s",
        "features": ["mean", "rms", "deviation", "p90", "peaks", "pitch", "correlation"],
        "magnitudes": {"vibration": CHANNELS},
        **changes,
    }
    return WindowFeatures(CHANNELS, RATE, **parameters).fit()


def machine_model(rng, features=None, **options):
    """Learn a model of machines, which carries its signals."""
    features = features or window_features()
    windows = features.windows(recordings(rng))
    estimator = RuleClassifier(feature_types=windows.kinds, **options)
    estimator.fit(windows.table, windows.labels)
    return with_signals(estimator.model_, features.signals_)
