"""Folds that share samples are reported."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold

from machines import recordings, window_features
from solah.exceptions import LeakageWarning
from solah.signals import warn_of_leakage


@pytest.fixture(scope="module")
def windows():
    return window_features(features=["mean"]).windows(recordings(np.random.default_rng(0)))


def test_folds_that_part_overlapping_windows_are_warned_about(windows):
    folds = list(KFold(5, shuffle=True, random_state=0).split(windows.readings))
    with pytest.warns(LeakageWarning) as caught:
        n_leaks = warn_of_leakage(windows, folds)
    assert n_leaks == slow_count(windows, folds)
    assert caught[0].message.n_leaks == n_leaks
    text = f"{n_leaks:,} of {len(windows.readings):,} test windows share samples"
    assert text in str(caught[0].message)


def slow_count(windows, folds):
    """Count test windows whose samples, by their numbers, are in a training window."""
    first = np.rint(windows.start * windows.signals.rate).astype(int)
    n_leaks = 0
    for train, test in folds:
        for place in test:
            alike = train[windows.recording[train] == windows.recording[place]]
            n_leaks += bool((np.abs(first[alike] - first[place]) < windows.signals.window).any())
    return n_leaks


def test_groups_share_nothing(windows):
    folds = GroupKFold(3).split(windows.readings, windows.labels, windows.groups)
    assert warn_of_leakage(windows, folds) == 0


def test_windows_that_only_touch_share_nothing():
    features = window_features(features=["mean"], overlap=0)
    windows = features.windows(recordings(np.random.default_rng(0), 1))
    assert warn_of_leakage(windows, KFold(3, shuffle=True).split(windows.readings)) == 0
