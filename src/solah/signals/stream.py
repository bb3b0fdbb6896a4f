"""Decisions on samples that come one after the other, as on a device."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import DataError
from solah.model.policy import NO_ABSTAIN_REASON, AbstainReason
from solah.signals.arithmetic import Float32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from solah.model.signals import Channel, Signals
    from solah.signals.arithmetic import Arithmetic

    WithPolicy = tuple[Any, NDArray[Any], Any, AbstainReason]
    Decide = Callable[[NDArray[np.float64]], tuple[Any, NDArray[Any]] | WithPolicy]


@dataclass(frozen=True, eq=False)
class WindowDecision:
    """A decision at the end of a window.

    Attributes
    ----------
    decision : the class or the number; from the simulator of a device, the index of the class
    probabilities : (n_classes,) the probability of each class
    readings : (n_features,) the values of the features; NaN where missing
    stable : the stable decision after this window, if the model has a policy; else the decision
    abstain_reasons : the reasons to abstain

    With a policy, the decision is None where the model abstains; from a simulator of a device, -1.
    """

    decision: Any
    probabilities: NDArray[Any]
    readings: NDArray[np.float64]
    stable: Any
    abstain_reasons: AbstainReason = NO_ABSTAIN_REASON


class SignalStream:
    """Decides on samples as they come: the reference of what an exported model does.

    Parameters
    ----------
    signals : Signals
    decide : callable
        Turns a row of readings ``(1, n_features)`` into a decision and its probabilities and,
        if there is a policy, the stable decision and the reasons to abstain.

    Examples
    --------
    >>> from solah.signals import describe_signals
    >>> signals = describe_signals(["x"], rate=10, window=4, overlap=0.5, features=["mean"])
    >>> stream = SignalStream(signals, lambda row: (row[0, 0] > 2, row[0]))
    >>> for sample in range(7):
    ...     found = stream.push([sample])
    ...     print(sample, None if found is None else (found.readings, bool(found.decision)))
    0 None
    1 None
    2 None
    3 (array([1.5]), False)
    4 None
    5 (array([3.5]), True)
    6 None
    """

    def __init__(
        self, signals: Signals, decide: Decide, arithmetic: Arithmetic | None = None
    ) -> None:
        self.signals = signals
        self._decide = decide
        self._arithmetic = arithmetic or Float32(signals)
        self._tick = 0
        self._measured = [_Held(channel, signals) for channel in signals.measured]
        used = {name for feature in signals.features for name in feature.channels}
        self._stored: dict[Channel, deque[float]] = {
            channel: deque(maxlen=signals.length(channel.name))
            for channel in signals.channels
            if channel.name in used
        }

    def push(self, sample: Sequence[float]) -> WindowDecision | None:
        """Take a sample of every measured channel; decide if it completes a window.

        Parameters
        ----------
        sample : sequence of float
            In the order of ``signals.measured``; NaN for a missing one. Of a slower channel, only
            every ``every``-th counts.

        Returns
        -------
        decision : WindowDecision or None
        """
        self._store(sample)
        self._tick += 1
        past = self._tick - self.signals.window
        if past < 0 or past % self.signals.step:
            return None
        windows = {
            channel.name: np.array(ring, dtype=np.float32)[:, None]
            for channel, ring in self._stored.items()
        }
        readings = self._arithmetic.features(windows)
        decision, beliefs, *judged = self._decide(readings)
        return WindowDecision(decision, beliefs, readings[0], *(judged or [decision]))

    def _store(self, sample: Sequence[float]) -> None:
        if len(sample) != len(self._measured):
            raise DataError(
                f"a sample must have a value for each of {len(self._measured)} channels; got "
                f"{len(sample)}"
            )
        current = {
            held.channel.name: held.take(self._arithmetic, value)
            for held, value in zip(self._measured, sample, strict=True)
            if self._tick % held.channel.every == 0
        }
        for channel, ring in self._stored.items():
            if self._tick % channel.every == 0:
                axes = [current[axis] for axis in channel.axes or (channel.name,)]
                stored = self._arithmetic.magnitude(channel.name, axes) if channel.axes else axes[0]
                ring.append(stored[0])


class _Held:
    """The last sample of a channel, and for how long it has been the last."""

    def __init__(self, channel: Channel, signals: Signals) -> None:
        self.channel = channel
        self._most = signals.max_gap // channel.every
        self._last, self._gap = np.array([np.nan]), 0

    def take(self, arithmetic: Arithmetic, value: float) -> NDArray[Any]:
        sample = arithmetic.samples(self.channel.name, np.array([value], dtype=np.float64))
        if np.isnan(sample[0]):
            self._gap += 1
            return self._last if self._gap <= self._most else sample
        self._last, self._gap = sample, 0
        return sample
