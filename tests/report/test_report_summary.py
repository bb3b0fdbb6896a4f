"""The summary: plain values, complete, and true to the model."""

import json

import numpy as np
import pytest

from solah import LinguisticTreeClassifier, LinguisticTreeRegressor, datasets
from solah.evaluation import Plan, cross_validate
from solah.report import name_measure, spell_spread, summarise


@pytest.fixture(scope="module")
def wine():
    data = datasets.load("wine")
    return data, LinguisticTreeClassifier().fit(data.table, data.goal)


def test_it_is_ready_for_json(wine):
    data, tree = wine
    scores = cross_validate({"tree": tree}, data.table, data.goal, Plan(3))
    summary = summarise(tree.model_, scores)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_it_says_what_the_model_knows(wine):
    _, tree = wine
    summary = summarise(tree.model_, max_rules=7)
    assert summary["size"]["rules"] == tree.n_rules_
    assert summary["size"]["branches"] == tree.n_branches_
    assert [rule["text"] for rule in summary["rules"]] == [str(r) for r in tree.rules_()[:7]]
    shares = [attribute["importance"] for attribute in summary["attributes"]]
    assert shares == tree.feature_importances_.tolist()
    assert summary["scores"] is None
    low, *_, high = summary["attributes"][0]["words"]
    assert (low["fully"][0], high["fully"][1]) == (None, None)
    assert low["text"].startswith("fully up to ")


def test_states_have_no_ranges():
    X = np.array([["a", 1], ["b", 2], ["c", 1], ["a", 2]], dtype=object)
    tree = LinguisticTreeClassifier().fit(X, [0, 1, 1, 0])
    words = summarise(tree.model_)["attributes"][0]["words"]
    assert words == [{"word": "a"}, {"word": "b"}, {"word": "c"}]


def test_numbers_have_words_instead_of_classes():
    x = np.linspace(0, 1, 50)[:, None]
    goal = summarise(LinguisticTreeRegressor().fit(x, x[:, 0]).model_)["goal"]
    assert (goal["task"], goal["classes"], len(goal["words"])) == ("regression", [], 5)


def test_an_unknown_score_is_none():
    x, goal, groups = np.arange(8.0)[:, None], np.array(list("aaaabbbb")), np.repeat([0, 1], 4)
    tree = LinguisticTreeClassifier()
    scores = cross_validate({"tree": tree}, x, goal, Plan(2), groups=groups)
    summary = summarise(tree.fit(x, goal).model_, scores)
    assert summary["scores"]["estimators"]["tree"]["auc"] == {"mean": None, "deviation": None}


def test_spreads_are_spelt():
    assert spell_spread("accuracy", {"mean": 0.98765, "deviation": 0.01234}) == "0.988 ± 0.012"
    assert spell_spread("n_rules", {"mean": 1234.56, "deviation": 7.0}) == "1,234.6 ± 7.0"
    assert spell_spread("auc", {"mean": None, "deviation": None}) == "unknown"
    assert name_measure("auc") == "AUC"
