"""The benchmark of streams: what it draws and counts."""

import numpy as np
import pytest
import streams


@pytest.mark.parametrize("name", ["abrupt", "gradual"])
def test_a_stream_is_seeded_and_drifts(name):
    X, y = streams.STREAMS[name](900, 1)
    again = streams.STREAMS[name](900, 1)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert set(y.tolist()) == {0, 1}
    plane = np.linalg.lstsq(X[:300], y[:300] - 0.5, rcond=None)[0]
    fits = ((X @ plane > 0) == y).reshape(3, 300).mean(axis=1)
    assert fits[0] > 0.8 > fits[2]


def test_every_learner_decides_on_every_row_but_the_first():
    X, y = streams.abrupt(700, 0)
    for run in (streams.fitted_once, streams.partial_fit_alone(1 / 32), streams.stream):
        accuracy, speed = streams.timed(run, X, y)
        assert 0.5 < accuracy < 0.95
        assert speed > 0


def test_no_change_takes_the_class_of_the_row_before():
    X, y = np.zeros((6, 1)), np.array([0, 0, 1, 1, 1, 0])
    assert streams.no_change((X[:2], y[:2]), (X[2:], y[2:])) == 2


def test_runs_are_as_long_as_asked():
    _, y = streams.in_runs(0.98, 3)(6_000, 0)
    assert 0.98 < (y[1:] == y[:-1]).mean() < 0.99
    assert set(y.tolist()) == {0, 1, 2}


def test_delay_is_counted_from_the_step():
    class Clock:
        """Tells a drift at one row."""

        def __init__(self, at):
            self.at, self.n = at, 0

        def update(self, _):
            self.n += 1
            return self.n == self.at

        def reset(self):
            self.n = 10_000

    assert streams.delay(Clock(2_025), 0) == 25
    assert streams.delay(Clock(9_000), 0) is None
    assert streams.has_alarm(Clock(3), 0.1, 0)
