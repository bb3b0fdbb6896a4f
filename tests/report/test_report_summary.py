"""The summary: plain values, complete, and true to the model."""

import json

import numpy as np
import page_models
import pytest
from markupsafe import Markup

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    datasets,
)
from solah.evaluation import Plan, cross_validate
from solah.explain import rules_of
from solah.learn.objective import PathStep
from solah.report import (
    importance_by_name,
    name_measure,
    render_markdown,
    render_page,
    score_rows,
    spell_spread,
    strongest,
    summarise,
    summarise_page,
)


@pytest.fixture(scope="module")
def wine():
    data = datasets.load("wine")
    return data, LinguisticTreeClassifier().fit(data.table, data.target)


def test_it_is_ready_for_json(wine):
    data, tree = wine
    scores = cross_validate({"tree": tree}, data.table, data.target, Plan(3))
    summary = summarise(tree.model_, scores)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_it_has_what_the_model_knows(wine):
    _, tree = wine
    summary = summarise(tree.model_, max_rules=7)
    assert summary["size"]["rules"] == tree.n_rules_
    assert summary["size"]["branches"] == tree.n_branches_
    assert [rule["text"] for rule in summary["rules"]] == [str(r) for r in tree.rules()[:7]]
    shares = [feature["importance"] for feature in summary["features"]]
    assert shares == tree.feature_importances_.tolist()
    assert summary["scores"] is None
    low, *_, high = summary["features"][0]["words"]
    assert (low["fully"][0], high["fully"][1]) == (None, None)
    assert low["text"].startswith("up to ")


def test_it_shows_how_a_hierarchy_is_wired(wine):
    data, _ = wine
    wiring = "z1 <- hue, ash; z2 <- alcohol; top <- z1, z2, proline"
    model = LinguisticHierarchyClassifier(wiring).fit(data.table, data.target).model_
    summary = summarise(model, max_rules=7)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    hierarchy = summary["hierarchy"]
    assert hierarchy["structure"] == model.hierarchy.to_dict()
    assert hierarchy["levels"] == 3
    z1, z2, top = model.trees
    assert hierarchy["parts"][0] == {
        "name": "z1",
        "kind": "tree",
        "inputs": ["hue", "ash"],
        "rules": z1.n_rules,
    }
    assert hierarchy["drawing"].splitlines() == [
        f"top ({top.n_rules} rules) ← proline",
        f"├─ z1 ({z1.n_rules} rules) ← hue, ash",
        f"└─ z2 ({z2.n_rules} rules) ← alcohol",
    ]
    assert [rule["part"] for rule in summary["rules"]] == ["z1"] * 3 + ["z2"] * 3 + ["top"] * 3
    assert len(summarise(model, max_rules=1)["rules"]) == 3
    assert set(importance_by_name(model)) == {"alcohol", "ash", "hue", "proline"}
    assert sum(importance_by_name(model).values()) == pytest.approx(1)


def test_the_strongest_rules_of_each_tree(wine):
    rules = rules_of(wine[1].model_)
    assert strongest(rules, None) == rules
    assert strongest(rules, 2) == rules[:2]
    assert strongest([], 2) == []


def test_estimators_are_laid_side_by_side():
    known = {"mean": 2.0, "deviation": 0.0}
    rows = score_rows({"a": {"seconds": known, "n_rules": known}, "b": {"n_levels": known}})
    assert dict(rows) == {
        "levels": ["-", "2.0 ± 0.0"],
        "rules": ["2.0 ± 0.0", "-"],
        "seconds to learn": ["2.000 ± 0.000", "-"],
    }


def test_states_have_no_ranges():
    X = np.array([["a", 1], ["b", 2], ["c", 1], ["a", 2]], dtype=object)
    tree = LinguisticTreeClassifier().fit(X, [0, 1, 1, 0])
    words = summarise(tree.model_)["features"][0]["words"]
    assert words == [{"word": "a"}, {"word": "b"}, {"word": "c"}]


def test_numbers_have_words_instead_of_classes():
    x = np.linspace(0, 1, 50)[:, None]
    target = summarise(LinguisticTreeRegressor().fit(x, x[:, 0]).model_)["target"]
    assert (target["task"], target["classes"], len(target["words"])) == ("regression", [], 5)


def test_an_unknown_score_is_none():
    x, target, groups = np.arange(8.0)[:, None], np.array(list("aaaabbbb")), np.repeat([0, 1], 4)
    tree = LinguisticTreeClassifier()
    scores = cross_validate({"tree": tree}, x, target, Plan(2), groups=groups)
    summary = summarise(tree.fit(x, target).model_, scores)
    assert summary["scores"]["estimators"]["tree"]["auc"] == {"mean": None, "deviation": None}


def test_spreads_are_spelt():
    assert spell_spread("accuracy", {"mean": 0.98765, "deviation": 0.01234}) == "0.988 ± 0.012"
    assert spell_spread("n_rules", {"mean": 1234.56, "deviation": 7.0}) == "1,234.6 ± 7.0"
    assert spell_spread("auc", {"mean": None, "deviation": None}) == "unknown"
    assert name_measure("auc") == "AUC"


def _step(max_rules, n_rules, n_features, loss, quality, error=0.0, is_chosen=False):
    return PathStep(max_rules, n_rules, n_features, loss, quality, error, is_chosen)


def path_steps():
    return (
        _step(20, 18.5, 6, 0.30, 0.92),
        _step(5, 5.0, 2, 0.45, 0.85, 0.04),
        _step(10, 9.0, 4, 0.31, 0.91, 0.02, is_chosen=True),
    )


@pytest.mark.parametrize("name", ["groups", "a number, added up", "words and pairs"])
def test_additive_models_are_summarised_with_the_path_of_their_rules(name):
    model, table, target = page_models.make(name)
    summary = summarise_page(model, table, target, path=path_steps())
    assert [step["n_rules"] for step in summary["path"]] == [5.0, 9.0, 18.5]
    page, text = render_page(summary), render_markdown(summary)
    assert "Number of rules</h2>" in page
    assert "9 (chosen)" in page
    assert "## Number of rules" in text
    assert "| 9 (chosen) | 4 | 0.31 | 0.910 |" in text
    start = summary["start"]
    assert start.startswith("baseline: ")
    assert f"B{start[1:]}.".replace("-", "\N{MINUS SIGN}") in Markup(page).striptags()
    without = summarise_page(model, table, target)
    assert without["path"] == []
    assert "Number of rules" not in render_page(without) + render_markdown(without)


def test_the_rules_of_additive_models_are_listed_with_what_they_add():
    model, _, _ = page_models.make("groups")
    nodes = summarise_page(model)["nodes"]
    rules = rules_of(model)
    assert sum(node["n_rules"] for node in nodes) == len(rules)
    by_part = {node["name"]: node["rules"] for node in nodes if node["kind"] == "term"}
    for rule in rules:
        line = next(
            one
            for one in by_part[rule.part]
            if one["conditions"] == [str(condition) for condition in rule.conditions]
        )
        assert line["about"] == rule.counts
        assert rule.result.endswith(f" {line['figure']}")
    assert any(rule.premise == "x1 is missing" for rule in rules)
