"""Describes what the picture and the control of an attribute need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute

N_BINS = 24
_ROOM = 1e-6


def picture_of(
    attribute: Attribute,
    readings: Float | None = None,
    classes: Sequence[NDArray[np.bool_]] = (),
) -> dict[str, Any]:
    """Describe the range that is shown, where readings lie in it, and a reading to start from.

    Parameters
    ----------
    attribute : Attribute
    readings : ndarray of shape (n_rows,), default=None
        As the kernels read them; NaN is unknown.
    classes : sequence of ndarray of shape (n_rows,), default=()
        Which rows have each class; readings are then counted class by class.

    Returns
    -------
    picture : dict
    """
    low, high = _shown(attribute)
    counts = None if readings is None else _counts(attribute, readings, classes, low, high)
    return {
        "coded": attribute.is_coded,
        "shown": [low, high],
        "peaks": list(attribute.peaks),
        "usual": _usual(attribute),
        "histogram": counts,
        "shares": [] if attribute.is_continuous else _shares(attribute, counts),
    }


def _shown(attribute: Attribute) -> tuple[float, float]:
    """Return the range of readings and peaks together, which is never empty."""
    ends = [end for end in (attribute.low, attribute.high, *attribute.peaks) if end is not None]
    low, high = min(ends), max(ends)
    if low < high:
        return low, high
    room = max(0.5, abs(low) * _ROOM)  # which is more than the distance to the next float
    return low - room, high + room


def _usual(attribute: Attribute) -> float:
    """Return a reading to start from: in the middle of the words, or the state seen most."""
    peaks = attribute.peaks
    if attribute.is_continuous:
        return peaks[len(peaks) // 2]
    return peaks[int(np.argmax(attribute.ignorance))]


def _shares(attribute: Attribute, counts: Mapping[str, Any] | None) -> list[float]:
    """Return how often each state occurs: in the readings or, without any, in training."""
    totals = np.sum(counts["counts"], axis=0) if counts else np.array(attribute.ignorance)
    shares: list[float] = (totals / max(totals.sum(), 1e-300)).tolist()
    return shares


def _counts(
    attribute: Attribute,
    readings: Float,
    classes: Sequence[NDArray[np.bool_]],
    low: float,
    high: float,
) -> dict[str, Any]:
    known = ~np.isnan(readings)
    bins, places = _places(attribute, readings[known], low, high)
    groups = classes or [np.ones(len(readings), bool)]
    return {
        "counts": [np.bincount(places[group[known]], minlength=bins).tolist() for group in groups],
        "unknown": int((~known).sum()),
    }


def _places(
    attribute: Attribute, readings: Float, low: float, high: float
) -> tuple[int, NDArray[np.intp]]:
    """Find the bin of each reading: one of many, or that of the nearest state."""
    if not attribute.is_continuous:
        apart = np.abs(readings[:, None] - np.array(attribute.peaks))
        return len(attribute.peaks), np.argmin(apart, axis=1)
    shares = (np.clip(readings, low, high) - low) / (high - low)
    return N_BINS, np.minimum(shares * N_BINS, N_BINS - 1).astype(np.intp)
