"""Why a decision was made: objects, text, JSON and HTML."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError

from random_models import ADDITIVE_SHAPES, SHAPES, as_table, random_model, random_rows
from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    load_model,
)
from solah.data import Column, Table, from_frame
from solah.exceptions import ColumnError, ParameterError, UnseenCategoryWarning
from solah.explain import Explainer
from solah.explain.html import as_page
from solah.model import AdditiveNode
from solah.model.predictor import Predictor


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y.map({0: "Ada", 1: "Bea", 2: "Cleo"}).rename("grower")


@pytest.fixture(scope="module")
def weighed(wine):
    return RuleClassifier(max_rules=20).fit(*wine)


@pytest.fixture(scope="module")
def one(weighed, wine):
    return weighed.explain(wine[0].head(1), changes=True)[0]


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_any_model_is_explained_in_every_form(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 3)
    rows = random_rows(rng, model, 3, missing=0.3)
    for explanation, row in zip(
        Explainer(model, changes=True).of_table(as_table(model, rows)), rows, strict=True
    ):
        added = sum(part.effect for part in explanation.contributions)
        assert explanation.before + added == pytest.approx(explanation.after, abs=1e-9)
        missing = [a.name for a, value in zip(model.features, row, strict=True) if np.isnan(value)]
        assert list(explanation.missing) == missing
        for one in explanation.contributions:
            assert one.words is None or sum(one.words.values()) == pytest.approx(1.0)
        for step in explanation.semantics.steps:
            if step.fired:
                assert sum(fired.membership for fired in step.fired) == pytest.approx(1.0)
        effects = [one.membership * one.rule.effect for one in explanation.rules]
        assert effects == sorted(effects, reverse=True)
        plain = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert json.loads(explanation.to_json()) == plain
        assert str(explanation).startswith(explanation.conclusion)
        assert "Contributions, in percentage points" in explanation._repr_html_()


def test_a_constant_is_explained_too():
    model = random_model(np.random.default_rng(0), "groups", 2)
    model = replace(model, nodes=(AdditiveNode("y", (-0.4, 0.4)),))
    rows = random_rows(np.random.default_rng(0), model, 2)
    for found in Explainer(model, changes=True).of_table(as_table(model, rows)):
        assert found.probabilities == found.start
        assert found.contributions == ()
        assert "No change to one or two values flips it." in str(found)
        assert found.to_json()


def test_the_decision_and_its_certainty_are_those_of_the_model(weighed, wine):
    X, _ = wine
    explanations = weighed.explain(X)
    assert [e.decision for e in explanations] == weighed.predict(X).tolist()
    probability = weighed.predict_proba(X).max(axis=1)
    assert [e.probability for e in explanations] == pytest.approx(probability)
    assert [e.completeness for e in explanations] == pytest.approx(weighed.completeness(X))


def test_rows_are_explained_alike_alone_and_together(weighed, wine, monkeypatch):
    X, _ = wine
    together = weighed.explain(X.head(7))
    monkeypatch.setattr("solah.explain.explanation._MOST_ROWS_AT_ONCE", 3)
    assert [e.to_dict() for e in weighed.explain(X.head(7))] == [e.to_dict() for e in together]
    assert weighed.explain(X.iloc[[4]])[0].to_dict() == together[4].to_dict()


def test_the_text_has_all_parts(one):
    lines = str(one).splitlines()
    assert lines[0] == f"Ada, {one.probability:.0%} ({one.before:.0%} before any value is known)"
    headings = ["Contributions, in percentage points", "Rules that apply"]
    headings += ["Smallest changes that flip the prediction"]
    assert [line for line in lines if line in headings] == headings
    first = one.contributions[0]
    assert lines[2].split()[0] == f"{100 * first.effect:+.1f}"
    assert lines[2].endswith(f"  {first}")
    assert f"  {one.rules[0].membership:4.0%}  {one.rules[0].rule.short}" in lines
    assert f"  {one.changes.two}" == lines[-1]


def test_values_are_described_in_words(one):
    alcohol = next(part for part in one.contributions if part.feature == "alcohol")
    assert alcohol.value == 14.23
    assert str(alcohol).startswith("alcohol 14.23 (")
    assert set(alcohol.words) <= {"low", "low-or-medium", "medium", "medium-or-high", "high"}


def test_unseen_categories_are_shown_and_count_as_missing():
    data = pd.DataFrame({"colour": list("rgrgrgrg"), "size": [1.0, 2, 1, 2, 1, 2, 1, 2]})
    tree = LinguisticTreeClassifier().fit(data, [0, 1] * 4)
    with pytest.warns(UnseenCategoryWarning, match="'violet' in 1 row"):
        found = tree.explain(pd.DataFrame({"colour": ["violet"], "size": [1.0]}))[0]
    colour = next(one for one in found.contributions if one.feature == "colour")
    assert (colour.value, colour.words, str(colour)) == ("violet", None, "colour violet (unseen)")
    assert found.missing == ("colour",)
    assert "Missing: colour." in str(found)


def test_a_number_is_explained_in_its_unit():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = LinguisticTreeRegressor(max_depth=3).fit(X, y)
    found = tree.explain(X.head(3))
    assert [e.decision for e in found] == pytest.approx(tree.predict(X.head(3)))
    assert found[0].before + sum(c.effect for c in found[0].contributions) == pytest.approx(
        found[0].decision
    )
    assert str(found[0]).startswith("target ")
    assert found[0].changes is None


def test_a_loaded_model_explains_as_the_estimator_does(weighed, wine, one, tmp_path):
    weighed.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json").explain(wine[0].head(1), changes=True)[0]
    assert loaded.to_dict() == one.to_dict()


def test_a_class_that_wins_by_its_threshold_is_explained(wine):
    X, y = wine
    model = RuleClassifier(max_rules=20, thresholds={"Ada": 0.05, "Bea": 0.9}).fit(X, y)
    believed = model.classes_[model.predict_proba(X).argmax(axis=1)]
    row = int(np.flatnonzero(believed != model.predict(X))[0])
    found = model.explain(X.iloc[[row]])[0]
    text = str(found)
    assert f"{believed[row]} has a larger probability" in text
    assert text.startswith(f"{found.decision}, {found.probability:.0%} (")
    assert "has a larger probability" in found._repr_html_()
    assert found.to_dict()["thresholds"] == pytest.approx([0.05, 0.9, 0.05], abs=1e-9)


def test_infinite_readings_are_told_as_text(weighed, wine):
    row = wine[0].head(1).copy()
    row.loc[0, "alcohol"] = np.inf
    found = weighed.explain(row, changes=True)[0]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["features"][0]["value"] == "inf"
    assert "alcohol" not in {safe_range.feature for safe_range in found.changes.safe_ranges}


def test_what_is_not_fitted_says_so(wine):
    with pytest.raises(NotFittedError):
        RuleClassifier().explain(wine[0].head(1))


def test_ranges_are_checked_without_changes_too(weighed, wine):
    for ranges in ({"alcohol": 5}, {"alcohol": ("a", "b")}, {"alcohol": (1, 2, 3)}):
        with pytest.raises(ParameterError, match="'alcohol' must be two numbers"):
            weighed.explain(wine[0].head(1), ranges=ranges)
    with pytest.raises(ParameterError, match="must be a list of names"):
        weighed.explain(wine[0].head(1), fixed="alcohol")


def test_html_is_harmless():
    name = "<script>alert(1)</script>"
    data = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0] * 5, '"><img src=x>': [0.0, 1, 0, 1] * 5})
    target = pd.Series(["<b>no</b>", "</div>yes"] * 10, name="<i>target</i>")
    model = LinguisticTreeClassifier().fit(data, target)
    explanations = model.explain(data.head(2), changes=True)
    for html in (explanations[0]._repr_html_(), as_page(explanations, "<u>title</u>")):
        for bad in ("<script>alert", "<img", "<b>no", "</div>yes", "<i>target", "<u>title"):
            assert bad not in html


def test_few_or_all_are_shown(one):
    from solah.explain.explanation_text import lines_of

    def shown(top):
        return [line.text for line in lines_of(one, top)]

    assert sum("█" in line or "░" in line for line in shown(2)) <= 2
    assert any("others" in line for line in shown(2))
    assert not any("others with less effect" in line for line in shown(None))


def test_an_empty_table_has_no_explanations(weighed, wine):
    table = Table(tuple(Column(name, np.empty(0)) for name in wine[0].columns), 0)
    assert list(Explainer(weighed.model_).of_table(table)) == []


FORMS = [lambda X: X, from_frame, lambda X: pl.DataFrame(X.to_dict("list"))]


@pytest.mark.parametrize("form", FORMS, ids=["pandas", "table", "polars"])
def test_a_column_that_no_rule_asks_for_can_be_fixed(wine, form):
    X, y = wine
    model = RuleClassifier(max_rules=4).fit(X, y)
    dropped = next(name for name in X if name not in [one.name for one in model.model_.features])
    rows = form(X.head(1))
    kept = model.model_.features[0].name
    for decider in (model, Predictor(model.model_)):
        (plain,) = decider.explain(rows, changes=True, fixed=[kept])
        (found,) = decider.explain(rows, changes=True, fixed=[kept, dropped])
        assert found.to_dict() == plain.to_dict()
        with pytest.raises(ColumnError, match=f"no column '{dropped}x'; did you mean '{dropped}'"):
            decider.explain(rows, fixed=[f"{dropped}x"])
