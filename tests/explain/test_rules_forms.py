"""The list of rules: filters, orders, and what it writes."""

import copy
import csv
import io
import json
import pickle

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)
from solah.data.spreadsheets import unguarded
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.explain.legend import escape, explain_beliefs, explain_number, words_used
from solah.explain.rule_list import Rules

ODD_ATTRIBUTE = 'größe, "cm"\n|*大'
ODD_CLASSES = ['ja, "nein"\nx', "=1+2|<b>"]
WIRING = "taste <- alcohol, ash; wine <- taste, hue"


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[["alcohol", "ash", "hue"]], y


@pytest.fixture(scope="module")
def hierarchy(wine):
    tree = LinguisticTreeClassifier(max_depth=2)
    return LinguisticHierarchyClassifier(WIRING, tree=tree).fit(*wine)


@pytest.fixture
def rules(hierarchy):
    return hierarchy.rules()


@pytest.fixture(scope="module")
def odd():
    frame = pd.DataFrame({ODD_ATTRIBUTE: ["a|b", "<i>"] * 5})
    goal = pd.Series(ODD_CLASSES * 5, name="goal_|_*")
    return LinguisticTreeClassifier().fit(frame, goal)


def test_a_list_of_rules_is_a_list(rules):
    assert isinstance(rules, list)
    assert rules == list(rules)
    assert rules[-1] == list(rules)[-1]
    assert isinstance(rules[2:9:2], Rules)
    assert rules[2:9:2] == list(rules)[2:9:2]
    for twin in (copy.copy(rules), pickle.loads(pickle.dumps(rules))):
        assert twin == rules
        assert twin.to_csv() == rules.to_csv()


def test_its_text_is_a_sentence_a_line(rules):
    assert str(rules[:3]) == "\n".join(str(rule) for rule in rules[:3])
    assert str(rules[:0]) == ""


def test_filters_keep_what_they_name(rules):
    kept = rules.filter(class_=1, attribute="alcohol", tree="taste")
    assert 0 < len(kept) < len(rules)
    assert kept == [
        rule
        for rule in rules
        if rule.decision == 1
        and rule.tree == "taste"
        and "alcohol" in [condition.attribute for condition in rule.conditions]
    ]
    assert rules.filter(class_="1") == rules.filter(class_=1)
    assert {rule.tree for rule in rules.filter(attribute="taste")} == {"wine"}
    assert rules.filter() == rules


def test_filters_refuse_what_is_not_there(rules):
    with pytest.raises(DataError, match="'target' has no class '7'; there are: '0', '1', '2'"):
        rules.filter(class_=7)
    with pytest.raises(ColumnError, match="no column 'huge'; did you mean 'hue'?"):
        rules.filter(attribute="huge")
    with pytest.raises(ParameterError, match="no rules 'tast'; did you mean 'taste'?"):
        rules.filter(tree="tast")
    number = LinguisticTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    with pytest.raises(DataError, match="'y' is a number, so it has no class 'a'"):
        number.filter(class_="a")


@pytest.mark.parametrize("order", ["support", "effect"])
def test_sorting_puts_the_largest_first(rules, order):
    ordered = rules.sort(order)
    values = [getattr(rule, order) for rule in ordered]
    assert values == sorted(values, reverse=True)
    assert sorted(map(str, ordered)) == sorted(map(str, rules))
    assert [getattr(rule, order) for rule in rules.sort(order, reverse=True)] == values[::-1]


def test_choosing_and_sorting_leave_the_list_as_it_is(rules):
    before = list(rules)
    for other in (
        rules.sort("effect"),
        rules.sort(key=str),
        rules.sort("support", reverse=True),
        rules.filter(),
        rules.filter(class_=1),
        rules[:],
        rules[:3],
        rules.copy(),
    ):
        assert isinstance(other, type(rules))
        assert other is not rules
        assert other.model is rules.model
        other.clear()
        assert list(rules) == before


def test_sorting_by_anything_else_is_as_in_any_list(rules):
    assert list(rules.sort(key=str)) == sorted(rules, key=str)
    with pytest.raises(ParameterError, match="by 'effect' or by 'support'. Got 'size' instead."):
        rules.sort("size")


def test_csv_has_a_line_a_rule_and_a_belief_a_class(rules):
    first, *rows = csv.reader(io.StringIO(rules.to_csv()))
    assert first == [
        *("tree", "rule", "conditions", "decision", "certainty", "support", "effect"),
        *("P(0)", "P(1)", "P(2)"),
    ]
    for rule, row in zip(rules, rows, strict=True):
        assert row[:4] == [rule.tree, rule.sentence, rule.premise, str(rule.decision)]
        assert [float(cell) for cell in row[4:7]] == [rule.certainty, rule.support, rule.effect]
        assert tuple(float(cell) for cell in row[7:]) == rule.belief


def test_csv_of_numbers_has_no_beliefs_in_classes():
    rules = LinguisticTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    first, *rows = csv.reader(io.StringIO(rules.to_csv()))
    assert first[-1] == "effect"
    assert [float(row[3]) for row in rows] == [rule.decision for rule in rules]


def test_odd_names_survive_csv_and_json(odd):
    rules = odd.rules()
    first, *rows = csv.reader(io.StringIO(rules.to_csv()))
    assert {unguarded(row[3]) for row in rows} == set(ODD_CLASSES)
    assert first[7:] == [f"P({name})" for name in odd.classes_]
    described = json.loads(json.dumps(rules.to_dicts()))
    assert [one["text"] for one in described] == [str(rule) for rule in rules]
    assert {one["conditions"][0]["attribute"] for one in described} == {ODD_ATTRIBUTE}
    assert {one["effect_class"] for one in described} == set(ODD_CLASSES)


def test_markdown_is_a_table_of_rules_and_one_of_words(rules):
    lines = rules[:2].to_markdown().splitlines()
    assert lines[0] == "# How “target” is decided"
    assert lines[2].startswith(f"{explain_number(rules[:2])}. In brackets stands the belief")
    assert lines[4:6] == ["| tree | rule | support | effect |", "|---|---|---|---|"]
    first = rules[0]
    assert lines[6] == f"| taste | {first.sentence} | {first.support:.1f} | {first.impact} |"
    words = lines[lines.index("| attribute | word | range |") + 2 :]
    assert words == [f"| {' | '.join(row)} |" for row in words_used(rules[:2])]
    assert words[0].startswith("| alcohol | low | fully up to ")


def test_markdown_of_one_tree_does_not_name_it_and_states_need_no_words(odd):
    page = odd.rules().to_markdown()
    assert "| rule | support | effect |" in page
    assert "The words" not in page
    assert odd.rules()[:0].to_markdown().endswith("|---|---|---|\n")


def test_every_row_of_a_markdown_table_has_its_cells_whatever_the_names(odd):
    table = [line for line in odd.rules().to_markdown().splitlines() if line.startswith("|")]
    assert len(table) == 2 + odd.n_rules_
    assert {line.replace("\\|", "").count("|") for line in table} == {4}
    assert not any("<" in line.replace("\\<", "") for line in table)


@given(st.text())
def test_escaped_text_stays_on_its_line_and_in_its_cell(text):
    escaped = escape(text)
    assert len(escaped.splitlines()) < 2 or set(text) & set("\x85")
    assert "|" not in escaped.replace("\\\\", "").replace("\\|", "")


def test_how_many_there_are_and_what_conditions_on_trees_mean(hierarchy, rules):
    n_rules = hierarchy.n_rules_
    assert explain_number(rules) == f"{n_rules} rules in 2 trees"
    assert explain_number(rules[:1]) == f"{n_rules} rules in 2 trees, 1 shown"
    assert (
        explain_beliefs(rules) == "A condition on taste is on what the tree of that name believes."
    )
    assert explain_beliefs(rules.filter(tree="taste")) == ""


def test_words_of_belief_are_explained_too(wine):
    tree = LinguisticTreeClassifier(max_depth=1)
    model = LinguisticHierarchyClassifier(WIRING, tree=tree, belief_words=3).fit(*wine)
    rules = model.rules().filter(tree="wine")
    assert explain_beliefs(rules).startswith("A condition on taste is")
    told = {attribute for attribute, _, _ in words_used(rules)}
    assert told == {condition.attribute for rule in rules for condition in rule.conditions}
    assert any(attribute.startswith("taste(") for attribute in told)
    assert ("unlikely", "fully up to 0.25, partly up to 0.5") in [
        row[1:] for row in words_used(rules)
    ]


def test_a_sum_has_no_rules_of_its_own():
    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = RuleClassifier(max_rules=12).fit(X, y).rules()
    with pytest.raises(ParameterError, match="no rules 'target'; there are: 'rules on "):
        rules.filter(tree="target")
    assert isinstance(rules.copy(), Rules)
    assert rules.copy() == rules
