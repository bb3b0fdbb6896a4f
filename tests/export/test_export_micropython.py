"""The module for MicroPython decides as the integer twin, and reads what people write."""

import importlib
import re

import numpy as np
import pandas as pd
import pytest
from export_shapes import ALL_SHAPES
from sklearn.datasets import load_diabetes, load_wine

from random_models import random_model, random_rows
from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.data import from_frame
from solah.export import export_micropython
from solah.model.encode import encode


def module_of(export):
    """Run the module, with nothing at hand but Python itself."""
    text = export.files[f"{export.name}.py"]
    module = {"__name__": export.name}
    exec(compile(text, "model.py", "exec"), module)
    assert not re.search(r"^\s*(import|from)\b", text, re.MULTILINE)
    return module


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_it_decides_as_its_twin(shape, n_classes):
    rng = np.random.default_rng(n_classes)
    model = random_model(rng, shape, n_classes)
    export = export_micropython(model)
    decide = module_of(export)["decide_prepared"]
    rows = random_rows(rng, model, 300, missing=0.15)
    places, beliefs = export.twin.decide(rows)
    for x, place, belief in zip(export.twin.prepare(rows).tolist(), places, beliefs, strict=True):
        found, believed = decide(x)
        assert found == place
        assert list(believed) == belief.tolist()


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_it_names_the_reasons_that_its_twin_names(shape):
    rng = np.random.default_rng(3)
    model = random_model(rng, shape, 3)
    export = export_micropython(model)
    why = module_of(export)["why_prepared"]
    rows = random_rows(rng, model, 300, missing=0.15)
    found = [why(row, 3) for row in export.twin.prepare(rows).tolist()]
    assert found == export.twin.why(rows, 3)


def test_reasons_are_read_as_sentences(tmp_path, monkeypatch):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = SelfOrganisedHierarchyClassifier(max_rules=20).fit(X, y).model_
    for name, text in export_micropython(model, name="wine_model").files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("wine_model")
    names = [attribute.name for attribute in model.attributes]
    reasons = module.why(X[names].iloc[0].to_dict(), 2)
    assert [text.split()[0] for text, _ in reasons] == ["if", "if"]
    assert reasons[0][1] > reasons[1][1] > 0


def test_readings_go_in_by_name():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = SelfOrganisedHierarchyClassifier(max_rules=20).fit(X, y)
    module = module_of(export_micropython(model.model_, name="wine"))
    names = [attribute.name for attribute in model.model_.attributes]
    for row, expected in zip(X[names].head(60).to_dict("records"), model.predict(X), strict=False):
        decision, beliefs = module["decide"](row)
        assert decision == str(expected)
        assert sum(beliefs) == 32768
    known = {names[0]: 13.0, names[1]: None, names[2]: float("nan")}
    assert module["decide"](known)[0] in module["CLASSES"]
    with pytest.raises(KeyError, match="cellar"):
        module["decide"]({"cellar": 1})


def test_a_number_is_estimated():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = LinguisticTreeRegressor(max_depth=3).fit(X, y)
    export = export_micropython(tree.model_)
    module = module_of(export)
    rows = encode(from_frame(X), tree.model_.attributes)
    prepared = export.twin.prepare(rows)[:100].tolist()
    found = [module["estimate_prepared"](row) for row in prepared]
    assert found == export.twin.estimate(rows)[:100].tolist()


def test_names_are_harmless():
    name = 'a"""\n\\ 色 */'
    data = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0] * 5})
    goal = pd.Series(['n"o', "y\n"] * 10, name="goal\nimport os")
    model = LinguisticTreeClassifier().fit(data, goal).model_
    module = module_of(export_micropython(model))
    assert module["decide"]({name: 2.0})[0] in ('n"o', "y\n")
