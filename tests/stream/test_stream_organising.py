"""Settings are compared when they have to be, and taken otherwise."""

import pytest
from stream_rows import turning

from solah import LinguisticTreeClassifier, RuleClassifier
from solah.stream import KeptRow, StreamLearner


def trainer_for(estimator):
    stream = StreamLearner(estimator)
    X, y = turning(2, 2)
    stream.learn(X, y)
    return stream.lifecycle.trainer


def rows(n_rows, seed=0):
    X, y = turning(n_rows, n_rows, seed)
    return [KeptRow(tuple(row), label, 0.0) for row, label in zip(X.tolist(), y, strict=True)]


@pytest.fixture
def compared(monkeypatch):
    """Return how many rows each fit had that compared settings, or took them."""
    found = {"compared": [], "taken": []}
    fit, settled = (getattr(RuleClassifier, n) for n in ("fit", "fit_selected"))

    def count_fit(self, X, y):
        if self._selected is None:
            found["compared"].append(X.n_rows)
        return fit(self, X, y)

    def count_settled(self, X, y, choice):
        found["taken"].append(X.n_rows)
        return settled(self, X, y, choice)

    monkeypatch.setattr(RuleClassifier, "fit", count_fit)
    monkeypatch.setattr(RuleClassifier, "fit_selected", count_settled)
    return found


def test_settings_last_for_similar_numbers_of_rows_and_for_some_time(compared):
    trainer = trainer_for(RuleClassifier(max_rules=9, interactions=0))
    settled = ()
    for n_rows, now in [(60, 100), (100, 200), (200, 400), (60, 500), (60, 700), (200, 800)]:
        settled = trainer.learn([rows(n_rows), rows(250, 1)], settled, now).settled
    # Three attributes: settings last for 600 rows.
    assert compared["compared"] == [60, 200, 60]
    assert compared["taken"] == [250, 100, 250, 250, 60, 250, 250, 200, 250]
    assert [(one.n_rows, one.at) for one in settled] == [(200, 400), (60, 700)]


def test_settings_that_were_just_compared_give_the_same_model():
    hierarchy = RuleClassifier(max_rules=9)
    X, y = turning(200, 200)
    first = hierarchy.fit(X, y)
    again = RuleClassifier(max_rules=9).fit_selected(X, y, first.selection_)
    assert again.model_ == first.model_
    assert again.selection_ == first.selection_
    assert again.fit(X, y).selection_ == first.selection_  # nothing stays settled


def test_an_estimator_that_settles_nothing_is_fitted_each_time():
    trainer = trainer_for(LinguisticTreeClassifier())
    learnt = trainer.learn([rows(60), rows(80, 1)], (), 100)
    assert len(learnt.deciders) == 2
    assert learnt.settled == ()
