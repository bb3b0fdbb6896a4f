"""New models that are learnt while the old one decides."""

import threading
import time

import pytest
from stream_rows import turning

from solah import LinguisticTreeClassifier
from solah.exceptions import DataError, ParameterError
from solah.model.format import model_hash
from solah.stream import EventKind, StreamLearner
from solah.stream.organising import Trainer

QUICK = {"window": 300, "min_rows": 60, "check_every": 150}
PATIENCE = 60  # seconds; only a failure takes that long


def followed(X, y, size=1_000, **parameters):
    stream = StreamLearner(LinguisticTreeClassifier(), **{**QUICK, **parameters})
    events = []
    for start in range(0, len(y), size):
        events += stream.learn(X[start : start + size], y[start : start + size])
    return stream, events


@pytest.fixture
def gate(monkeypatch):
    """Let fits in the background wait until the gate is opened."""
    opened, learn = threading.Event(), Trainer.learn

    def wait_and_learn(self, *task):
        if threading.current_thread() is not threading.main_thread():
            assert opened.wait(PATIENCE)
        return learn(self, *task)

    monkeypatch.setattr(Trainer, "learn", wait_and_learn)
    yield opened
    opened.set()


def test_a_new_model_takes_over_at_the_row_that_was_said():
    X, y = turning(700, 350)
    _, waited_for = followed(X, y)
    _, events = followed(X, y, swap_after=25)
    ends = [event.row for event in events if event.kind in {EventKind.SWAPPED, EventKind.REFUSED}]
    assert ends[0] == 60  # there is nothing to decide by before the first model
    assert ends[1] == 120 + 25
    assert ends != [event.row for event in waited_for]


@pytest.mark.parametrize("size", [1, 40])
def test_neither_time_nor_batches_change_anything(monkeypatch, size):
    X, y = turning(400, 200)
    stream, expected = followed(X, y, swap_after=25)
    learn = Trainer.learn

    def slow(self, *task):
        time.sleep(0.05)
        return learn(self, *task)

    monkeypatch.setattr(Trainer, "learn", slow)
    again, found = followed(X, y, size, swap_after=25)
    assert found == expected
    assert model_hash(again.model) == model_hash(stream.model)


@pytest.mark.parametrize(("swap_after", "n_rows"), [(100, 219), (None, 400)])
def test_rows_are_decided_while_a_new_model_is_learnt(gate, swap_after, n_rows):
    X, y = turning(1_000, 1_000)
    stream, _ = followed(X[:120], y[:120], swap_after=swap_after)
    decided, model = stream.metrics.decided, stream.lifecycle.decider
    assert not stream.lifecycle.fit.learnt.done()
    stream.learn(X[120:n_rows], y[120:n_rows])
    assert not stream.lifecycle.fit.learnt.done()
    assert stream.metrics.decided == decided + n_rows - 120
    assert stream.lifecycle.decider is model
    gate.set()
    stream.learn(X[n_rows:], y[n_rows:])
    assert stream.metrics.reorganisations > 1


def test_the_old_model_decides_while_a_new_one_is_learnt(gate):
    X, y = turning(1_000, 1_000)
    stream, events = followed(X[:400], y[:400], swap_after=None)
    assert [event.row for event in events if event.kind is not EventKind.AS_BEFORE] == [60]
    assert stream.metrics.rows == 400
    assert stream.predict(X[:10]).shape == (10,)
    gate.set()
    stream.lifecycle.fit.learnt.result(PATIENCE)
    answers = [e for e in stream.learn(X[400:401], y[400:401]) if e.kind is not EventKind.AS_BEFORE]
    assert answers[0].kind in {EventKind.SWAPPED, EventKind.REFUSED}
    assert answers[0].row == 401


def test_a_fit_under_way_begins_again_after_a_restart(gate, tmp_path):
    X, y = turning(400, 400)
    stream, _ = followed(X[:130], y[:130], swap_after=50)
    assert stream.lifecycle.fit is not None
    stream.save(tmp_path)
    gate.set()
    again = StreamLearner.resume(tmp_path, LinguisticTreeClassifier())
    events = again.learn(X[130:], y[130:])
    assert events[0].row == 131 + 50


def test_what_the_rows_are_at_fault_for_is_an_event(monkeypatch):
    X, y = turning(300, 300)
    fit = LinguisticTreeClassifier.fit

    def fail(self, *rows, **more):
        if threading.current_thread() is threading.main_thread():
            return fit(self, *rows, **more)
        raise problem

    monkeypatch.setattr(LinguisticTreeClassifier, "fit", fail)
    problem = DataError("column 'x0' has an infinite value")
    _, events = followed(X[:160], y[:160], swap_after=30)
    assert (events[-1].kind, events[-1].row) == (EventKind.FAILED, 150)
    problem = ValueError("operands could not be broadcast together")
    with pytest.raises(ValueError, match="broadcast"):
        followed(X[:160], y[:160], swap_after=30)


def test_a_swap_before_now_is_refused():
    with pytest.raises(ParameterError, match="'swap_after' must be 0 or more. Got -5"):
        StreamLearner(swap_after=-5)
