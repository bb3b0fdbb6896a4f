"""The stream learner: what it detects, learns, keeps and refuses."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_rows import turning

from solah import (
    GeneticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    load_model,
)
from solah.exceptions import DataError, ParameterError
from solah.model import save_document
from solah.model.format import model_hash
from solah.stream import Cause, EventKind, StreamLearner

QUICK = {"window": 400, "min_rows": 60, "check_every": 150, "per_class": 20}


def learner(**parameters):
    return StreamLearner(LinguisticTreeClassifier(), **{**QUICK, **parameters})


def fed(stream, X, y, size):
    events = []
    for start in range(0, len(y), size):
        events += stream.learn(X[start : start + size], y[start : start + size])
    return events


@pytest.fixture(scope="module")
def turned():
    """Return a stream that turned, and its events."""
    stream = StreamLearner(LinguisticTreeClassifier(), window=1000)
    X, y = turning(3_000, 1_500)
    return stream, fed(stream, X, y, 100)


def test_a_turn_is_detected_and_answered(turned):
    stream, events = turned
    drift = next(event for event in events if event.kind is EventKind.DRIFT)
    assert (drift.cause, 1_500 < drift.row < 1_650) == (Cause.ERROR, True)
    swap = next(e for e in events if e.kind is EventKind.SWAPPED and e.cause is Cause.ERROR)
    assert drift.row <= swap.row < 1_750
    assert swap.new_loss < swap.old_loss
    assert stream.metrics.drifts == {"error": 1, "dependence": 0, "new class": 0}
    assert stream.metrics.accuracy > 0.9


def test_a_stationary_stream_raises_no_alarm():
    X, y = turning(2_500, 2_500, seed=3)
    stream = learner(window=1000, check_every=500)
    events = fed(stream, X, y, 250)
    assert not [event for event in events if event.kind is EventKind.DRIFT]
    assert stream.metrics.accuracy > 0.9


@settings(max_examples=12)
@given(st.data())
def test_batches_change_nothing(data):
    seed = data.draw(st.integers(0, 2))
    X, y = turning(260, 130, seed)
    y[::9] = None  # rows without a class
    y[200::3] = "perhaps"  # a new class
    small = {"window": 80, "min_rows": 30, "check_every": 50, "new_class_rows": 5}
    sizes = data.draw(st.lists(st.integers(1, 120), min_size=1, max_size=8))
    whole, parts = learner(**small), learner(**small)
    expected = whole.learn(X, y)
    found, start = [], 0
    for size in [*sizes, len(y)]:
        if start < len(y):
            found += parts.learn(X[start : start + size], y[start : start + size])
        start += size
    assert found == expected
    assert model_hash(parts.model) == model_hash(whole.model)
    one, other = parts.metrics.as_dict(), whole.metrics.as_dict()
    differs = {"seconds", "rows_per_second"}
    assert {k: v for k, v in one.items() if k not in differs} == (
        {k: v for k, v in other.items() if k not in differs}
    )


def test_a_rule_model_is_the_same_for_all_batches_and_keeps_to_its_budget():
    X, y = turning(900, 450)
    found = []
    for size in (900, 37, 1):
        stream = StreamLearner(RuleClassifier(max_rules=9, interactions=0), **QUICK)
        events = fed(stream, X, y, size)
        assert all(event.n_rules is None or event.n_rules <= 9 for event in events)
        assert stream.model.n_rules <= 9
        found.append((events, model_hash(stream.model)))
    assert found[0] == found[1] == found[2]
    assert stream.metrics.swapped > 2


def test_frames_and_arrays_are_one(tmp_path):
    X, y = turning(300, 300)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    stream, arrays = learner(), learner()
    stream.learn(frame, pd.Series(y, name="verdict"))
    arrays.learn(X, y)
    assert stream.model.target.name == "verdict"
    assert [feature.name for feature in stream.model.features] == ["a", "b", "c"]
    assert arrays.predict(X).tolist() == stream.predict(frame).tolist()
    save_document(stream.model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.predict(frame).tolist() == stream.predict(frame).tolist()


def test_there_is_no_model_at_first():
    X, y = turning(59, 59)
    stream = learner()
    assert stream.model is None
    assert stream.metrics.accuracy is None
    assert stream.metrics.rows_per_second is None
    assert stream.learn(X, y) == []
    with pytest.raises(DataError, match="no model yet: 59 labelled rows have come.* needs 60 rows"):
        stream.predict(X)
    assert stream.learn(X[:1], y[:1])[0].cause is Cause.START
    assert stream.classes_.tolist() == ["no", "yes"]
    assert stream.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_a_single_class_is_an_event_and_not_the_end():
    X, y = turning(300, 300)
    y[:90] = "yes"
    y[90:] = np.where(np.arange(210) % 2, "yes", "no")
    heard = []
    events = learner(on_event=heard.append).learn(X, y)
    assert heard == events
    assert (events[0].kind, events[0].row) == (EventKind.FAILED, 60)
    assert "only one class ('yes')" in events[0].message
    assert (events[1].kind, events[1].row) == (EventKind.SWAPPED, 120)


def test_only_errors_of_the_data_are_events(monkeypatch):
    X, y = turning(100, 100)
    for error in (ValueError, TypeError, ParameterError, DataError):

        def fit(*_, error=error, **__):
            raise error("column 'x0' is odd")

        monkeypatch.setattr(LinguisticTreeClassifier, "fit", fit)
        if error is DataError:
            (event,) = learner().learn(X, y)
            assert event.kind is EventKind.FAILED
            assert "could be trained: column 'x0' is odd" in event.message
        else:
            with pytest.raises(error, match="odd"):
                learner().learn(X, y)


def test_a_new_class_is_learned():
    X, y = turning(400, 400)
    X[300:] += 6
    y[300:] = "far"
    stream = learner(new_class_rows=15)
    events = stream.learn(X, y)
    drift = next(event for event in events if event.cause is Cause.NEW_CLASS)
    assert (drift.kind, drift.row) == (EventKind.DRIFT, 315)
    assert "new class 'far', with 15 rows so far" in drift.message
    assert (stream.predict(X[300:]) == "far").all()


def test_a_class_that_went_away_is_not_forgotten():
    X, y = turning(900, 900)
    X[:60] += 6
    y[:60:2] = "far"
    stream = learner(window=100, refit_every=100, per_class=10)
    stream.learn(X, y)
    assert stream.metrics.swapped > 1
    assert "far" in stream.classes_


def test_dependences_are_checked():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3))
    X[450:, 2] = X[450:, 1]
    events = learner(check_every=200).learn(X, np.where(X[:, 0] > 0, "a", "b"))
    drift = next(event for event in events if event.cause is Cause.DEPENDENCE)
    assert "the dependence of x1 and x2 changed from" in drift.message
    assert drift.row in {660, 680, 860}


def test_a_schedule_needs_no_drift():
    X, y = turning(400, 400)
    events = learner(refit_every=50, check_every=None).learn(X, y)
    scheduled = {event.row: event for event in events if event.cause is Cause.SCHEDULE}
    assert set(scheduled) >= {110, 160, 210}
    # Of its held-out rows, some came before the first model: they are not compared.
    early = learner(refit_every=20, min_rows=80, check_every=None).learn(X[:100], y[:100])[-1]
    assert (early.row, early.old_loss > 0, early.new_loss > 0) == (100, True, True)


def test_figures_add_up(turned):
    stream, events = turned
    metrics = stream.metrics
    kinds = [event.kind for event in events]
    assert metrics.rows == metrics.labelled == 3_000
    assert metrics.predicted == 2_800  # all since the first model
    assert metrics.swapped == kinds.count(EventKind.SWAPPED)
    assert metrics.rejected == kinds.count(EventKind.REJECTED)
    assert metrics.refits == metrics.swapped + metrics.rejected + metrics.failed
    last = [event for event in events if event.kind is EventKind.SWAPPED][-1]
    assert metrics.rows_since_swap == 3_000 - last.row
    assert metrics.n_rules == last.n_rules
    assert metrics.kept_rows <= 1_000 + 2 * 50


def test_the_default_estimator_is_a_rule_model_and_a_search_gets_a_seed():
    X, y = turning(120, 120)
    stream = StreamLearner(window=120, min_rows=100)
    stream.learn(X, y)
    assert isinstance(stream.estimator, RuleClassifier)
    assert stream.metrics.swapped == 1
    assert StreamLearner(GeneticHierarchyClassifier(), random_state=5).estimator.random_state == 5


def test_bad_input_is_refused():
    X, y = turning(100, 100)
    for parameters, message in (
        ({"estimator": LinguisticTreeRegressor()}, "classifier of solah.*got LinguisticTreeRegr"),
        ({"window": 3}, "'window' must be 40 or more; got 3"),
        ({"window": 100, "min_rows": 101}, "'min_rows' must be at most 'window'"),
        ({"window": "many"}, "'window' must be an integer; got 'many'"),
        ({"pace": 0}, "'pace'"),
        ({"per_class": -1}, "'per_class' must be 0 or more"),
    ):
        with pytest.raises(ParameterError, match=message):
            StreamLearner(**parameters)
    stream = learner()
    stream.learn(X, y)
    with pytest.raises(ValueError, match="2 features"):
        stream.learn(X[:, :2], y)
    assert stream.metrics.rows == 100
