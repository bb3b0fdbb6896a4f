"""A stream that is saved and resumed equals an uninterrupted one; hostile files are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from stream_rows import turning

from solah import LinguisticTreeClassifier, RuleClassifier
from solah.exceptions import DataError, SolahError
from solah.model.format import model_hash
from solah.stream import StreamLearner

QUICK = {"window": 300, "min_rows": 60, "check_every": 250}


def begun(X, y, **parameters):
    stream = StreamLearner(LinguisticTreeClassifier(), **{**QUICK, **parameters})
    return stream, stream.learn(X, y)


@pytest.mark.parametrize("stop", [30, 333, 520])
@pytest.mark.parametrize(
    "estimator", [LinguisticTreeClassifier(), RuleClassifier(max_rules=9, interactions=0)]
)
def test_it_continues_where_it_was(tmp_path, stop, estimator):
    X, y = turning(800, 400)
    y[::11] = None
    whole, part = (StreamLearner(estimator, **QUICK) for _ in range(2))
    expected, found = whole.learn(X, y), part.learn(X[:stop], y[:stop])
    part.position = 77
    part.save(tmp_path / "state.json")
    again = StreamLearner.resume(tmp_path / "state.json", estimator)
    assert again.position == 77
    assert again.metrics == part.metrics
    found += again.learn(X[stop:], y[stop:])
    assert found == expected
    assert model_hash(again.model) == model_hash(whole.model)


def test_names_categories_and_orders_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.choice(["S", "M", "L"], size=200)
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(size, categories=["S", "M", "L"], ordered=True),
            "colour": rng.choice(["red", None], size=200),
            "hot": rng.random(200) < 0.5,
        }
    )
    stream, _ = begun(frame, pd.Series(np.where(size == "L", 1, 0), name="big"))
    stream.save(tmp_path / "state.json")
    again = StreamLearner.resume(tmp_path / "state.json", LinguisticTreeClassifier())
    assert again.predict(frame).tolist() == stream.predict(frame).tolist()
    assert again.learn(frame, size == "L") == stream.learn(frame, size == "L")
    assert model_hash(again.model) == model_hash(stream.model)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"hot": "cold"}))


def test_a_save_that_fails_leaves_the_last_one(tmp_path, monkeypatch):
    X, y = turning(200, 200)
    path = tmp_path / "state.json"
    stream, _ = begun(X[:100], y[:100])
    stream.save(path)
    stream.learn(X[100:], y[100:])
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", fail)
        with pytest.raises(OSError, match="no space"):
            stream.save(path)
    assert [one.name for one in tmp_path.iterdir()] == ["state.json"]
    assert StreamLearner.resume(path, LinguisticTreeClassifier()).metrics.rows == 100


def fail(*_):
    raise OSError("no space left on device")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "state.json"
    begun(*turning(100, 100))[0].save(path)
    return path


def test_other_files_are_refused(saved, tmp_path):
    with pytest.raises(DataError, match="no stream was saved as"):
        StreamLearner.resume(tmp_path / "elsewhere")
    state = json.loads(saved.read_text(encoding="utf-8"))
    for text, message in (
        (json.dumps(state | {"version": 99}), "version 99; this solah reads version 3"),
        (json.dumps(state | {"format": "else"}), "not the state of a stream"),
        ("{", r"state\.json is not valid JSON"),
        ("[" * 100_000, r"state\.json is nested too deeply"),
        ("\x80\x04K\x01.", r"state\.json is not"),  # a pickle
    ):
        saved.write_text(text, encoding="latin-1")
        with pytest.raises(DataError, match=message):
            StreamLearner.resume(saved)


def places(value, path=()):
    """Yield the path of every part of a document, lists only by their first items."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, part in items:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))


def test_damage_anywhere_is_refused_or_harmless(saved):
    """Every part of a state is replaced in turn: no error may be other than solah's own."""
    text = saved.read_text(encoding="utf-8")
    refused = 0
    for path in places(json.loads(text)):
        for damage in ({}, [[[]]], "x", -5, None):
            state = json.loads(text)
            *above, last = path
            part = state
            for key in above:
                part = part[key]
            part[last] = damage
            saved.write_text(json.dumps(state), encoding="utf-8")
            try:
                StreamLearner.resume(saved, LinguisticTreeClassifier())
            except SolahError:
                refused += 1
    assert refused > 500
