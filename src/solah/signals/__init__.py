"""From raw samples to readings: windows, and features of them.

    describing.py    what people write           -> Signals, the description in a model file
    recordings.py    frames, files and folders   -> recordings
    windows.py       recordings                  -> windows on a regular grid
    arithmetic.py    windows                     -> features, in float32 as on a device
    stream.py        one sample after the other  -> a decision per window
    transformer.py   all this for scikit-learn

Only the transformer needs scikit-learn, and it is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.model.signals import Channel, FeatureKind, Signals, WindowFeature
from solah.signals.describing import DEFAULT_FEATURES, describe_signals, with_signals
from solah.signals.recordings import SampleColumns, from_long_frame, read_recordings
from solah.signals.stream import SignalStream, WindowDecision
from solah.signals.windows import Recording, Windows, cut_windows, warn_of_leakage

if TYPE_CHECKING:
    from solah.signals.transformer import WindowFeatures

__all__ = [
    "DEFAULT_FEATURES",
    "Channel",
    "FeatureKind",
    "Recording",
    "SampleColumns",
    "SignalStream",
    "Signals",
    "WindowDecision",
    "WindowFeature",
    "WindowFeatures",
    "Windows",
    "cut_windows",
    "describe_signals",
    "from_long_frame",
    "read_recordings",
    "warn_of_leakage",
    "with_signals",
]


def __getattr__(name: str) -> Any:
    if name == "WindowFeatures":
        from solah.signals.transformer import WindowFeatures

        return WindowFeatures
    raise AttributeError(f"module 'solah.signals' has no attribute {name!r}")
