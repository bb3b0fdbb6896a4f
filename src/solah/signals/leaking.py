"""Find folds that share samples: windows that overlap, one learnt from and the other tested on."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import LeakageWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solah.signals.windows import Windows


def warn_of_leakage(windows: Windows, folds: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> int:
    """Warn of test windows that have samples of windows that are learnt from.

    A score on such folds tells how well a model remembers. Keep the windows of a recording, or
    of a subject, together: ``GroupKFold().split(windows.readings, windows.labels,
    windows.groups)``.

    Parameters
    ----------
    windows : Windows
    folds : iterable of (train, test)
        The places of windows, as the splitters of scikit-learn yield them.

    Returns
    -------
    n_leaks : int
        How many test windows, over all folds, share samples with one that is learnt from.
    """
    ends = windows.end - 0.5 / windows.signals.rate  # two that only touch share no sample
    n_leaks = n_tested = 0
    for train, test in folds:
        n_tested += len(test)
        for recording in set(windows.recording[test].tolist()):
            learnt = train[windows.recording[train] == recording]
            tested = test[windows.recording[test] == recording]
            starts = np.sort(windows.start[learnt])
            before = np.searchsorted(starts, ends[tested])
            first = np.searchsorted(starts, windows.start[tested] - _length(windows), "right")
            n_leaks += int((before > first).sum())
    if n_leaks:
        warnings.warn(LeakageWarning(n_leaks, n_tested), stacklevel=2)
    return n_leaks


def _length(windows: Windows) -> float:
    return windows.signals.window_seconds - 0.5 / windows.signals.rate
