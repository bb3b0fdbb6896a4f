"""What the benchmarks of signals add to models: settled decisions, and energy."""

import argparse

import numpy as np
import pytest
from signals_edge import Board

from machines import recordings, window_features
from signals import settle
from solah.model.policy import Policy


@pytest.fixture(scope="module")
def windows():
    return window_features().windows(recordings(np.random.default_rng(0), 1))


def test_settling_forgives_one_wrong_window_and_comes_later(windows):
    decided = windows.labels.astype(str)
    assert settle(windows, decided, Policy()) == (1.0, 0.0)
    first = np.flatnonzero(windows.recording == "r0")
    decided[first[5]] = "fault"
    accuracy, later = settle(windows, decided, Policy())
    assert (accuracy, later) == (1 - 1 / len(decided), 0.0)
    # Windows of 1 s overlap by half: the second of three comes half a second later.
    assert settle(windows, decided, Policy(votes=2, window=3)) == (1.0, 0.5)


def test_each_recording_begins_with_nothing_settled(windows):
    decided = windows.labels.astype(str)
    assert settle(windows, decided, Policy(votes=5, window=5)) == (1.0, 2.0)


def test_energy_goes_by_the_charge_of_a_cycle():
    board = Board.parse("mine,100,50,2")
    # A million instructions are 1.3 million cycles: of 50 pC each, at 2 V.
    assert board.microwatts(1e6) == pytest.approx(1.3e6 * 50e-12 * 2 * 1e6)
    assert board.share(1e6) == pytest.approx(0.013)
    with pytest.raises(argparse.ArgumentTypeError):
        Board.parse("mine,100")
