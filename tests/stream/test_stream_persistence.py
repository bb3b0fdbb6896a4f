"""The class before: used where it pays, never before it has arrived, saved and refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_rows import in_runs, turning

from solah import LinguisticTreeClassifier
from solah.exceptions import DataError, ParameterError
from solah.model.document import Goal
from solah.stream import Cause, EventKind, StreamLearner
from solah.stream.deciding import Verdicts
from solah.stream.persistence import Persistence

QUICK = {"window": 300, "min_rows": 60, "check_every": None}
DRY_WET = Goal("state", states=("dry", "wet"))
NO_IDEA = np.full((1, 2), 0.5)


def followed(X, y, **parameters):
    stream = StreamLearner(LinguisticTreeClassifier(), **{**QUICK, **parameters})
    return stream, stream.learn(X, y)


def noise(n_rows, seed=1):
    return np.random.default_rng(seed).normal(size=(n_rows, 2))


@pytest.fixture(scope="module")
def runs():
    """Return a stream whose readings tell nothing and whose classes stay, and its events."""
    y = in_runs(900, 0.97)
    return *followed(noise(900), y), y


def test_it_decides_where_readings_tell_nothing(runs):
    stream, events, y = runs
    no_change = (y[1:] == y[:-1]).mean()
    assert stream.metrics.accuracy_overall > no_change - 0.01
    without, _ = followed(noise(900), y, label_delay=None)
    assert without.as_before is None
    assert without.metrics.as_before == 0
    assert without.metrics.accuracy_overall < no_change - 0.2
    # The model itself is the same: it neither sees the class before nor is judged by it.
    kinds = {EventKind.SWAPPED, EventKind.REFUSED, EventKind.DRIFT}
    _, plain = followed(noise(900), y, label_delay=None)
    assert [event for event in events if event.kind in kinds] == plain


def test_it_is_said(runs):
    stream, events, _ = runs
    (begun,) = [event for event in events if event.kind is EventKind.AS_BEFORE]
    assert begun.cause is Cause.RECENT_LOSS
    assert "the class before decides" in begun.message
    term = stream.as_before
    assert (term.is_used, term.classes, term.before) == (True, ("c", "b", "a"), "c")
    assert stream.metrics.decided == 899
    assert stream.metrics.as_before == 900 - begun.row
    rules = term.rules()
    assert len(rules) == 3
    assert rules[0].startswith("if the class before was 'c' then 'c' 0.9")
    np.testing.assert_allclose(np.sum(term.shares, axis=1), 1)


def test_decisions_follow_the_last_class(runs):
    stream, _, y = runs
    assert stream.predict(noise(5, seed=9)).tolist() == [y[-1]] * 5
    beliefs = stream.predict_proba(noise(5, seed=9))
    assert beliefs.sum(axis=1) == pytest.approx(1)
    assert beliefs[:, stream.classes_.tolist().index(y[-1])].min() > 0.9


def test_it_is_left_out_where_the_model_knows_better():
    X, y = turning(900, 900)
    stream, _ = followed(X, y)
    plain, _ = followed(X, y, label_delay=None)
    assert not stream.as_before.is_used
    assert stream.as_before.rules() == []
    assert str(stream.as_before) == "the rules decide without the class before"
    assert stream.predict_proba(X).tolist() == plain.predict_proba(X).tolist()


def thought(labels, belief, goal=DRY_WET):
    """Return what a model thought that believes so much in the true classes."""
    places = np.array([goal.states.index(label) for label in labels])
    beliefs = np.full((len(labels), 2), 1 - belief)
    beliefs[np.arange(len(labels)), places] = belief
    return Verdicts.of(beliefs, places, goal)


def test_it_stops_when_classes_no_longer_stay():
    persistence = Persistence(0)
    runs, changing = (["dry"] * 30 + ["wet"] * 30) * 2, ["dry", "wet", "wet", "dry"] * 300
    begun = persistence.serve(runs, thought(runs, 0.55), DRY_WET)
    assert begun.switches[-1][1].is_used
    ended = persistence.serve(changing, thought(changing, 0.95), DRY_WET)
    ((row, term),) = ended.switches
    assert not term.is_used
    assert ended.is_as_before == [True] * row + [False] * (len(changing) - row)


@given(st.integers(0, 4), st.lists(st.sampled_from(["dry", "wet", None]), max_size=30), st.data())
def test_a_class_that_has_not_arrived_changes_nothing(delay, labels, data):
    known = ["dry", "wet"] * 3 + ["dry"] * 8 + ["wet"] * 8 + labels
    others = data.draw(st.lists(st.sampled_from(["dry", "wet", None]), min_size=delay))[:delay]
    found = []
    for last in (["dry"] * len(others), others):
        persistence = Persistence(delay)
        for label in [*known, *last]:
            persistence.serve([label], None, None)
        found.append((persistence.believe(NO_IDEA, DRY_WET).tolist(), persistence.describe()))
    assert found[0] == found[1]


def test_the_last_class_that_arrived_counts_behind_rows_without_one():
    persistence = Persistence(0)
    persistence.serve(["dry"] * 20 + ["wet"] * 20 + [None] * 5, None, None)
    assert persistence.is_used
    assert persistence.describe().before == "wet"
    assert persistence.believe(NO_IDEA, DRY_WET)[0, 1] > 0.9


def test_nothing_is_told_before_the_first_class_arrives():
    stream, _ = followed(noise(2), ["a", "b"], label_delay=5)
    assert stream.as_before.before is None
    assert not stream.as_before.is_used
    assert stream.metrics.decided == 0


def test_classes_beyond_those_of_a_model_are_not_kept():
    persistence = Persistence(0)
    persistence.serve([f"class {n}" for n in range(300)], None, None)
    assert len(persistence.describe().classes) == 254


def test_thresholds_of_the_goal_are_kept():
    careful = Goal("state", states=("dry", "wet"), thresholds=(0.9995, 0.0005))
    rows, found = ["wet"] * 5 + ["dry"] * 60, []
    for goal in (DRY_WET, careful):
        persistence = Persistence(0)
        decided = persistence.serve(rows, thought(rows, 0.5, goal), goal)
        assert persistence.is_used
        found.append(decided.is_right[-1])
    assert found == [True, False]


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("stop", [40, 450])
def test_it_goes_on_where_it_was(tmp_path, delay, stop):
    X, y = noise(700), in_runs(700, 0.95)
    y[::13] = None
    _, expected = followed(X, y, label_delay=delay)
    part, found = followed(X[:stop], y[:stop], label_delay=delay)
    part.save(tmp_path)
    again = StreamLearner.resume(tmp_path, LinguisticTreeClassifier())
    assert again.as_before == part.as_before
    assert found + again.learn(X[stop:], y[stop:]) == expected


HOSTILE = {
    "way": 4,
    "before": 9,
    "counts": [1.0],
    "followers": [[-1.0, 0, 0], [0, 0, 0], [0, 0, 0]],
    "behind": [0.0, float("nan"), 0.0, 0.0],
    "classes": ["a", "a", "b"],
    "awaited": [[0, 7, [0.0] * 4]],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_state_that_cannot_be_is_refused(tmp_path, runs, name):
    stream, _, _ = runs
    stream.save(tmp_path)
    path = tmp_path / "state.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["course"]["persistence"][name] = HOSTILE[name]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError, match="is damaged"):
        StreamLearner.resume(tmp_path, LinguisticTreeClassifier())


def test_an_older_state_is_refused(tmp_path, runs):
    runs[0].save(tmp_path)
    path = tmp_path / "state.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "version": 1}), encoding="utf-8")
    with pytest.raises(DataError, match="version 1, and this solah reads 2; go on with the solah"):
        StreamLearner.resume(tmp_path, LinguisticTreeClassifier())


def test_a_delay_below_none_is_refused():
    with pytest.raises(ParameterError, match="'label_delay' must be 0 or more. Got -1"):
        StreamLearner(label_delay=-1)
