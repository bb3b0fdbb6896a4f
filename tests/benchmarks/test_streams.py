"""The benchmark of streams: what it draws and counts."""

import streams


def test_every_learner_decides_on_every_row_but_the_first():
    X, y = streams.abrupt(700, 0)
    for run in (streams.fitted_once, streams.partial_fit_alone(1 / 32), streams.stream):
        accuracy, speed = streams.timed(run, X, y)
        assert 0.5 < accuracy < 0.95
        assert speed > 0


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
