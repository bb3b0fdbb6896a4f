"""A stream that is saved and resumed goes on as if nothing had happened."""

import json

import numpy as np
import pandas as pd
import pytest
from stream_rows import turning

from solah import LinguisticTreeClassifier, RuleClassifier
from solah.exceptions import DataError, ModelFormatError
from solah.model.format import model_hash
from solah.stream import StreamLearner

QUICK = {"window": 300, "min_rows": 60, "check_every": 250}


def begun(X, y, **parameters):
    stream = StreamLearner(LinguisticTreeClassifier(), **{**QUICK, **parameters})
    return stream, stream.learn(X, y)


@pytest.mark.parametrize("detector", ["adwin", "page-hinkley"])
@pytest.mark.parametrize("stop", [30, 333, 520])
def test_it_goes_on_where_it_was(tmp_path, stop, detector):
    X, y = turning(800, 400)
    y[::11] = None
    whole, expected = begun(X, y, detector=detector)
    part, found = begun(X[:stop], y[:stop], detector=detector)
    part.position = 77
    part.save(tmp_path / "state")
    again = StreamLearner.resume(tmp_path / "state", LinguisticTreeClassifier())
    assert again.position == 77
    assert again.metrics == part.metrics
    found += again.learn(X[stop:], y[stop:])
    assert found == expected
    assert model_hash(again.model) == model_hash(whole.model)


@pytest.mark.parametrize("stop", [100, 330, 490])
def test_what_was_settled_is_kept(tmp_path, stop):
    X, y = turning(700, 350)
    hierarchy = RuleClassifier(max_rules=9, interactions=0)
    whole, part = (StreamLearner(hierarchy, **QUICK) for _ in range(2))
    expected, found = whole.learn(X, y), part.learn(X[:stop], y[:stop])
    part.save(tmp_path)
    again = StreamLearner.resume(tmp_path, hierarchy)
    assert again.lifecycle.settled
    assert again.lifecycle.settled == part.lifecycle.settled
    assert found + again.learn(X[stop:], y[stop:]) == expected
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
    stream.save(tmp_path)
    again = StreamLearner.resume(tmp_path, LinguisticTreeClassifier())
    assert again.predict(frame).tolist() == stream.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"hot": "cold"}))


def test_a_stream_without_rows_is_resumed_too(tmp_path):
    StreamLearner(LinguisticTreeClassifier(), **QUICK).save(tmp_path)
    again = StreamLearner.resume(tmp_path, LinguisticTreeClassifier())
    X, y = turning(100, 100)
    assert len(again.learn(X, y)) == 1


def test_old_files_go_away(tmp_path):
    X, y = turning(100, 100)
    stream, _ = begun(X, y)
    stream.save(tmp_path)
    stream.save(tmp_path)
    kinds = sorted(path.name.partition("-")[0] for path in tmp_path.iterdir())
    assert kinds == ["model", "rows", "state.json"]


def test_files_of_others_stay(tmp_path):
    X, y = turning(100, 100)
    stream, _ = begun(X, y)
    others = [tmp_path / name for name in ("model-a.json", "rows-1.npz", "model-final.json")]
    for path in others:
        path.write_text("mine", encoding="utf-8")
    stream.save(tmp_path)
    stream.save(tmp_path)
    assert all(path.read_text(encoding="utf-8") == "mine" for path in others)


def test_a_save_that_fails_leaves_the_last_one(tmp_path, monkeypatch):
    X, y = turning(200, 200)
    stream, _ = begun(X[:100], y[:100])
    stream.save(tmp_path)
    stream.learn(X[100:], y[100:])

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("solah.stream.state.write_whole", fail)
    with pytest.raises(OSError, match="no space"):
        stream.save(tmp_path)
    assert StreamLearner.resume(tmp_path, LinguisticTreeClassifier()).metrics.rows == 100


@pytest.fixture
def saved(tmp_path):
    X, y = turning(100, 100)
    begun(X, y)[0].save(tmp_path)
    return tmp_path


def edit(folder, **changes):
    path = folder / "state.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        (content["course"] if key in content["course"] else content)[key] = value
    path.write_text(json.dumps(content), encoding="utf-8")


def test_what_is_not_there_or_damaged_is_said(saved, tmp_path):
    resume = StreamLearner.resume
    with pytest.raises(DataError, match="no stream was saved"):
        resume(tmp_path / "elsewhere")
    edit(saved, mark="../../etc/passwd")
    with pytest.raises(DataError, match="damaged"):
        resume(saved)
    edit(saved, version=99)
    with pytest.raises(DataError, match="version 99, and this solah reads 2"):
        resume(saved)
    edit(saved, format="something")
    with pytest.raises(DataError, match="not the state of a stream"):
        resume(saved)
    (saved / "state.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"state\.json is not whole JSON"):
        resume(saved)
    (saved / "state.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(DataError, match=r"state\.json is nested too deeply"):
        resume(saved)


def test_rows_that_are_damaged_are_said(saved):
    (rows,) = saved.glob("rows-*.npz")
    rows.write_bytes(rows.read_bytes()[:100])
    with pytest.raises(DataError, match="damaged"):
        StreamLearner.resume(saved)


def test_pickled_rows_are_not_run(saved):
    (rows,) = saved.glob("rows-*.npz")
    with np.load(rows) as arrays:
        content = dict(arrays)
    content["losses"] = np.array([print], dtype=object)
    np.savez(rows, **content)
    with pytest.raises(DataError, match="damaged.*allow_pickle"):
        StreamLearner.resume(saved)


def test_a_model_that_is_damaged_is_said(saved):
    (model,) = saved.glob("model-*.json")
    model.write_text("{}", encoding="utf-8")
    with pytest.raises((DataError, ModelFormatError)):
        StreamLearner.resume(saved)
