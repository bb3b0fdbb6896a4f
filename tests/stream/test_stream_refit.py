"""Models that learn row by row in every shape, and settings that are reused."""

import numpy as np
import pandas as pd
import pytest
from stream_rows import turning

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_rows
from solah import LinguisticTreeClassifier, RuleClassifier
from solah.data import Column, Table, as_column
from solah.model.evaluate import run
from solah.model.format import model_hash
from solah.stream import StreamLearner
from solah.stream.refit import OnlineModel, Trainer
from solah.stream.reservoir import KeptRow

EVERY_SHAPE = [*SHAPES, *ADDITIVE_SHAPES]


def drawn(shape, n_rows=60):
    """Return a random model, coded rows, the same rows by column, and random classes."""
    rng = np.random.default_rng(0)
    model = random_model(rng, shape, 3)
    rows = random_rows(rng, model, n_rows, missing=0.0)
    labels = [str(label) for label in rng.choice(model.target.classes, n_rows)]
    columns = {}
    for one, values in zip(model.features, rows.T, strict=True):
        is_text = one.is_coded and isinstance(one.categories[0], str)
        texts = [one.categories[int(value)] for value in values] if is_text else values
        columns[one.name] = np.array(texts, dtype=object if is_text else float)
    return model, rows, columns, labels


class Given(LinguisticTreeClassifier):
    """Learns nothing, and has a model of some shape."""

    def __init__(self, shape="tree"):
        super().__init__()
        self.shape = shape

    def fit(self, X, y):
        self.model_ = drawn(self.shape)[0]
        return self


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_models_of_every_shape_predict_learn_and_go_back(shape):
    model, rows, columns, labels = drawn(shape)
    table = Table(tuple(as_column(*one) for one in columns.items()), len(rows))
    online = OnlineModel(model, pace=1.0, forgetting=0.0)
    start = online.weights()
    assert np.isnan(online.test_then_learn(table, [None] * len(rows)).losses).all()
    assert (online.weights() == start).all()
    first = online.test_then_learn(table, labels)
    places = [model.target.classes.index(labels[0])]
    before = run(model.program, rows[:1])[0, places[0]]
    assert np.exp(-first.losses[0]) == pytest.approx(before, abs=5e-3)
    assert online.test_then_learn(table, labels).losses.mean() < first.losses.mean()
    online.go_back(start)
    assert online.test_then_learn(table, labels).losses.tolist() == first.losses.tolist()


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_a_stream_of_any_model_is_resumed(tmp_path, shape):
    _, _, columns, labels = drawn(shape, 300)
    frame = pd.DataFrame(columns)
    settings = {"window": 100, "min_rows": 50, "check_every": None}
    whole, part = (StreamLearner(Given(shape), **settings) for _ in range(2))
    expected = whole.learn(frame, labels)
    found = part.learn(frame[:170], labels[:170])
    part.save(tmp_path / "state.json")
    again = StreamLearner.resume(tmp_path / "state.json", Given(shape))
    found += again.learn(frame[170:], labels[170:])
    assert found == expected
    assert model_hash(again.model) == model_hash(whole.model)
    assert again.predict(frame).tolist() == whole.predict(frame).tolist()


def rows_of(n_rows, seed=0):
    X, y = turning(n_rows, n_rows, seed)
    return [KeptRow(tuple(row), label, 0.0) for row, label in zip(X.tolist(), y, strict=True)]


def test_settings_are_reused_for_similar_numbers_of_rows_and_for_some_time(monkeypatch):
    selected, reused = [], []
    fit, fit_selected = RuleClassifier.fit, RuleClassifier.fit_selected

    def count_fit(self, X, y):
        if self._selected is None:
            selected.append(X.n_rows)
        return fit(self, X, y)

    def count_reused(self, X, y, choice):
        reused.append(X.n_rows)
        return fit_selected(self, X, y, choice)

    monkeypatch.setattr(RuleClassifier, "fit", count_fit)
    monkeypatch.setattr(RuleClassifier, "fit_selected", count_reused)
    like = tuple(Column(f"x{j}", np.empty(0)) for j in range(3))
    estimator = RuleClassifier(max_rules=9, interactions=0)
    trainer = Trainer(estimator, like, "class", pace=1 / 32, forgetting=0.0)
    for n_rows, now in [(60, 100), (100, 200), (200, 400), (60, 500), (60, 700), (200, 800)]:
        trainer.train([rows_of(n_rows), rows_of(250, 1)], now)
    # Three features: settings last for 600 rows.
    assert selected == [60, 200, 60]
    assert reused == [250, 100, 250, 250, 60, 250, 250, 200, 250]
    assert [(one.n_rows, one.at) for one in trainer.selections] == [(200, 400), (60, 700)]


def test_settings_that_were_just_selected_give_the_same_model():
    X, y = turning(200, 200)
    first = RuleClassifier(max_rules=9).fit(X, y)
    again = RuleClassifier(max_rules=9).fit_selected(X, y, first.selection_)
    assert again.model_ == first.model_
    assert again.selection_ == first.selection_
    assert again.fit(X, y).selection_ == first.selection_  # nothing stays selected
