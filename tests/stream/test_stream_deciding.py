"""A stream decides, learns and is resumed with models of every shape, also those of scores."""

import numpy as np
import pandas as pd
import pytest

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_rows
from solah import LinguisticTreeClassifier
from solah.data import Table, as_column
from solah.model.evaluate import run
from solah.model.format import model_hash
from solah.stream import StreamLearner
from solah.stream.deciding import Decider

EVERY_SHAPE = [*SHAPES, *ADDITIVE_SHAPES]


def columns_of(model, rows):
    """Return the readings of rows by name, states as texts."""
    columns = {}
    for one, values in zip(model.attributes, rows.T, strict=True):
        is_text = one.is_coded and isinstance(one.states[0], str)
        columns[one.name] = (
            np.array([one.states[int(value)] for value in values], dtype=object)
            if is_text
            else values
        )
    return columns


def drawn(shape, n_rows=60):
    rng = np.random.default_rng(0)
    model = random_model(rng, shape, 3)
    rows = random_rows(rng, model, n_rows, missing=0.0)
    labels = [str(label) for label in rng.choice(model.goal.states, n_rows)]
    columns = columns_of(model, rows)
    table = Table(tuple(as_column(*one) for one in columns.items()), n_rows)
    return model, rows, table, labels


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_before_it_learns_it_decides_as_the_model(shape):
    model, rows, table, _ = drawn(shape)
    decider = Decider(model, pace=1.0, forgetting=0.0)
    verdicts = decider.serve(table, [None] * len(rows))
    beliefs = run(model.program, rows)
    np.testing.assert_allclose(verdicts.beliefs, beliefs, atol=5e-3)


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_what_was_learnt_is_brought_back(shape):
    model, _, table, labels = drawn(shape)
    decider = Decider(model, pace=1.0, forgetting=0.0)
    start = decider.remember()
    first = decider.serve(table, labels)
    learnt, saved = decider.model(), decider.save()
    second = decider.serve(table, labels)
    assert second.losses.mean() < first.losses.mean()
    decider.go_back(start)
    assert decider.serve(table, labels).losses.tolist() == first.losses.tolist()
    again = Decider(model, pace=1.0, forgetting=0.0)
    again.restore(saved)
    assert model_hash(again.model()) == model_hash(learnt) != model_hash(model)
    assert [term.variance for term in learnt.terms] == [term.variance for term in model.terms]


class Given(LinguisticTreeClassifier):
    """Learns nothing, and has a model of some shape."""

    def __init__(self, shape="tree"):
        super().__init__()
        self.shape = shape

    def fit(self, X, y):
        self.model_ = drawn(self.shape)[0]
        return self


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_a_stream_of_any_model_is_resumed(tmp_path, shape):
    model, rows, _, labels = drawn(shape, 300)
    frame = pd.DataFrame(columns_of(model, rows))
    settings = {"window": 100, "min_rows": 50, "check_every": None}
    whole, part = (StreamLearner(Given(shape), **settings) for _ in range(2))
    expected = whole.learn(frame, labels)
    found = part.learn(frame[:170], labels[:170])
    part.save(tmp_path)
    again = StreamLearner.resume(tmp_path, Given(shape))
    found += again.learn(frame[170:], labels[170:])
    assert found == expected
    assert model_hash(again.model) == model_hash(whole.model)
    assert again.predict(frame).tolist() == whole.predict(frame).tolist()
