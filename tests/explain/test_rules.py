"""Rules as sentences, tables and lists, and their effects."""

import copy
import csv
import io
import json
import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from sklearn.datasets import load_iris, load_wine

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)
from solah.data import Kind
from solah.data.spreadsheets import unguarded
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.explain import Rule, Rules, feature_importances, rules_of
from solah.explain.html import render
from solah.explain.legend import escape, explain_number, explain_rules, words_used
from solah.explain.rule_text import Condition
from solah.model import (
    AdditiveNode,
    Branch,
    Feature,
    FeatureGroup,
    Model,
    Target,
    Term,
    TermInput,
    TreeNode,
)

# --- what rules state ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree():
    X, y = load_iris(return_X_y=True)
    return LinguisticTreeClassifier(max_depth=2).fit(X, y)


def test_a_branch_reads_as_a_sentence():
    conditions = (Condition("flavanoids", ("high",)), Condition("hue", ("medium", "high")))
    rule = Rule("class", conditions, "class", (0.97, 0.03), 41.23, "a")
    assert str(rule) == "if flavanoids is high and hue is medium-or-high then a 97% | 41 rows"
    assert rule.short == "flavanoids high and hue medium-or-high: a 97%"
    assert rule.share == 0.97


def test_there_is_a_rule_a_branch_with_weight_and_their_supports_sum_to_the_rows(tree):
    rules = tree.rules()
    assert len(rules) == tree.n_rules_
    assert sum(rule.support for rule in rules) == pytest.approx(150)
    strength = [(rule.effect, rule.support) for rule in rules]
    assert strength == sorted(strength, reverse=True)
    for rule in rules:
        asked = [condition.feature for condition in rule.conditions]
        assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("max_rules", [None, 3, 5, 8])
def test_the_rules_are_the_model(tree, max_rules):
    """Jeffrey's rule over the rules gives the prediction."""
    X, y = load_iris(return_X_y=True)
    if max_rules:
        tree = LinguisticTreeClassifier(max_rules=max_rules).fit(X, y)
    ranges = {feature.name: feature for feature in tree.model_.features}
    belief = np.zeros(3)
    for rule in rules_of(tree.model_):
        weight = 1.0
        for condition in rule.conditions:
            feature = ranges[condition.feature]
            peaks = np.array(feature.peaks)
            places = [feature.focal_sets.index(words) for words in condition.focal_sets]
            value = X[77][int(condition.feature[1:])]
            weight *= np.interp(value, peaks, np.eye(len(peaks))[places].sum(axis=0))
        belief += weight * np.array(rule.shares)
    np.testing.assert_allclose(belief, tree.predict_proba(X[77][None])[0], atol=1e-9)


def test_strange_names_reach_the_sentence_unchanged():
    frame = pd.DataFrame({"<b>größe & 大きさ": ["a|b", "c"] * 5})
    tree = LinguisticTreeClassifier().fit(frame, ["Ja", "Nein"] * 5)
    assert {str(rule) for rule in tree.rules()} == {
        "if <b>größe & 大きさ is a|b then Ja 100% | 5 rows",
        "if <b>größe & 大きさ is c then Nein 100% | 5 rows",
    }


def test_a_condition_that_always_holds_is_dropped():
    X = load_iris().data
    model = LinguisticTreeClassifier(min_gain=None, purity=0.3, max_depth=1).fit(X, ["a"] * 150)
    assert [str(rule) for rule in model.rules()] == ["a 100% | 150 rows"]


def test_importances_follow_the_gain(tree):
    shares = feature_importances(tree.model_)
    assert shares.sum() == pytest.approx(1.0)
    assert set(shares.argsort()[-2:]) == {2, 3}
    stump = LinguisticTreeClassifier().fit([[1.5], [2.5]], [0, 0])
    assert stump.feature_importances_.tolist() == [0.0]
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.65).astype(int)
    shares = RuleClassifier(interactions=0, max_rules=None).fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] > 2 * shares[1] > 2 * shares[2]


# --- effects -------------------------------------------------------------------------------------

ROOT, TOWARDS_B, TOWARDS_C = (0.5, 0.3, 0.2), (0.3, 0.6, 0.1), (0.5, 0.1, 0.4)


def binary(name):
    return Feature(name, Kind.BINARY, ("no", "yes"), (0.0, 1.0), (0.5, 0.5), (0, 1))


def stump(name, feature, start, *beliefs):
    """Make a tree of one question with two answers."""
    branches = tuple(
        Branch(((0, (place,)),), tuple(belief), support)
        for place, (belief, support) in enumerate(zip(beliefs, (6.0, 4.0), strict=False))
    )
    return TreeNode(name, (binary(feature),), branches, tuple(start))


def term(feature, *weights):
    """Make a term of two rules."""
    inputs = (TermInput.whole(binary(feature)),)
    return Term(inputs, np.array(weights), np.array([TOWARDS_B, TOWARDS_C]), np.array([6.0, 4.0]))


def model_of(*nodes, target=None):
    names = {node.name for node in nodes}
    features = tuple(a for node in nodes for a in node.inputs if a.origin not in names)
    target = target or Target("y", classes=("a", "b", "c"), shares=(0.2, 0.3, 0.5))
    return Model(target, features, nodes)


def test_the_effect_of_a_branch_is_the_change_from_the_root():
    rules = rules_of(model_of(stump("y", "x", ROOT, TOWARDS_B, TOWARDS_C)))
    assert [rule.effect for rule in rules] == pytest.approx([0.3, 0.2])
    assert [rule.effect_class for rule in rules] == ["b", "c"]
    # Its effect is for c, though a still has the largest share.
    assert rules[1].decision == "a"


def test_the_effect_of_a_rule_that_adds_is_its_weight():
    terms = tuple(
        term(name, (-size, 2 * size, -size), (size, -3 * size, 2 * size))
        for name, size in (("x1", 1.0), ("x2", 0.5), ("x3", 0.25))
    )
    model = model_of(AdditiveNode("y", (0.1, 0.0, -0.1), terms, (FeatureGroup("g", (0, 1)),)))
    rules = [rule for rule in rules_of(model) if rule.support == 6]
    effects = {"rules on x1": 2.0, "rules on x2": 1.0, "rules on x3": 0.5}
    assert {rule.part: rule.effect for rule in rules} == effects
    assert {rule.effect_class for rule in rules} == {"b"}
    others = [rule for rule in rules_of(model) if rule.support != 6]
    assert {rule.effect_class for rule in others} == {"c"}


def test_for_a_number_the_estimate_moves():
    target = Target("y", words=("low", "high"), peaks=(0, 5, 10), centres=(0.0, 5.0, 10.0))
    tree = stump("y", "x", (0.2, 0.6, 0.2), (0.4, 0.6, 0.0), (0.0, 0.5, 0.5))
    rules = rules_of(model_of(tree, target=target))
    assert [rule.effect for rule in rules] == pytest.approx([2.5, 2.0])
    assert [rule.effect_class for rule in rules] == [None, None]


@given(
    st.lists(
        st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3).filter(lambda some: sum(some) > 0.1),
        min_size=3,
        max_size=3,
    )
)
def test_somebody_gains_unless_nothing_moves(beliefs):
    root, *leaves = (np.array(some) / sum(some) for some in beliefs)
    for rule in rules_of(model_of(stump("y", "x", root, *leaves))):
        gains = np.array(rule.shares) - root
        assert rule.effect == pytest.approx(max(gains), abs=1e-12)
        assert (rule.effect_class is None) == (rule.effect == 0)
        assert rule.effect >= 0


def test_rules_are_equal_if_they_state_and_add_the_same():
    alone = model_of(stump("y", "x", ROOT, TOWARDS_B, TOWARDS_C))
    own = term("x", (1.0, 0.0, -1.0), (-1.0, 0.0, 1.0))
    node = AdditiveNode("y", (0.0, 0.0, 0.0), (own,))
    adding = model_of(node)
    assert rules_of(alone) == rules_of(replace(alone, generator="another"))
    assert rules_of(alone) != rules_of(adding)
    assert rules_of(adding) == rules_of(model_of(replace(node, name="z")))
    other = replace(own, weights=2.0 * own.weights)
    assert rules_of(adding) != rules_of(model_of(replace(node, terms=(other,))))


# --- lists ---------------------------------------------------------------------------------------

ODD_FEATURE = 'größe, "cm"\n|*大'
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
    frame = pd.DataFrame({ODD_FEATURE: ["a|b", "<i>"] * 5})
    target = pd.Series(ODD_CLASSES * 5, name="target_|_*")
    return LinguisticTreeClassifier().fit(frame, target)


def test_a_list_of_rules_is_a_list(rules):
    assert isinstance(rules, list)
    assert rules[-1] == list(rules)[-1]
    assert isinstance(rules[2:9:2], Rules)
    assert rules[2:9:2] == list(rules)[2:9:2]
    assert str(rules[:3]) == "\n".join(str(rule) for rule in rules[:3])
    for simulator in (copy.copy(rules), pickle.loads(pickle.dumps(rules))):
        assert simulator == rules
        assert simulator.to_csv() == rules.to_csv()


def test_filters_keep_what_they_name_and_refuse_what_is_not_there(rules):
    kept = rules.filter(class_=1, feature="alcohol", part="taste")
    assert 0 < len(kept) < len(rules)
    assert kept == [
        rule
        for rule in rules
        if rule.decision == 1
        and rule.part == "taste"
        and "alcohol" in [condition.feature for condition in rule.conditions]
    ]
    assert rules.filter(class_="1") == rules.filter(class_=1)
    assert {rule.part for rule in rules.filter(feature="taste")} == {"wine"}
    assert rules.filter() == rules
    with pytest.raises(DataError, match="'target' has no class '7'; there are: '0', '1', '2'"):
        rules.filter(class_=7)
    with pytest.raises(ColumnError, match="no column 'huge'; did you mean 'hue'?"):
        rules.filter(feature="huge")
    with pytest.raises(ParameterError, match="no rules 'tast'; did you mean 'taste'?"):
        rules.filter(part="tast")
    number = LinguisticTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    with pytest.raises(DataError, match="'y' is a number, so it has no class 'a'"):
        number.filter(class_="a")


def test_sorting_puts_the_largest_first(rules):
    for order in ("support", "effect"):
        ordered = rules.sort(order)
        values = [getattr(rule, order) for rule in ordered]
        assert values == sorted(values, reverse=True)
        assert sorted(map(str, ordered)) == sorted(map(str, rules))
        assert [getattr(rule, order) for rule in rules.sort(order, reverse=True)] == values[::-1]
    assert list(rules.sort(key=str)) == sorted(rules, key=str)
    with pytest.raises(ParameterError, match="by 'effect' or by 'support'. Got 'size' instead."):
        rules.sort("size")


def test_choosing_and_sorting_leave_the_list_as_it_is(rules):
    before = list(rules)
    for other in (
        rules.sort("effect"),
        rules.sort(key=str),
        rules.filter(),
        rules[:3],
        rules.copy(),
    ):
        assert isinstance(other, Rules)
        assert other is not rules
        assert other.model is rules.model
        other.clear()
        assert list(rules) == before


def test_csv_has_a_line_a_rule_and_a_share_a_class(rules, odd):
    first, *rows = csv.reader(io.StringIO(rules.to_csv()))
    assert first == [
        *("part", "rule", "conditions", "decision", "share", "support", "effect"),
        *("P(0)", "P(1)", "P(2)"),
    ]
    for rule, row in zip(rules, rows, strict=True):
        assert row[:4] == [rule.part, rule.sentence, rule.premise, str(rule.decision)]
        assert [float(cell) for cell in row[4:7]] == [rule.share, rule.support, rule.effect]
        assert tuple(float(cell) for cell in row[7:]) == rule.shares
    numbers = LinguisticTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    first, *rows = csv.reader(io.StringIO(numbers.to_csv()))
    assert first[-1] == "effect"
    assert [float(row[3]) for row in rows] == [rule.decision for rule in numbers]
    first, *rows = csv.reader(io.StringIO(odd.rules().to_csv()))
    assert {unguarded(row[3]) for row in rows} == set(ODD_CLASSES)
    assert first[7:] == [f"P({name})" for name in odd.classes_]


def test_odd_names_survive_json(odd):
    described = json.loads(json.dumps(odd.rules().to_dicts()))
    assert [one["text"] for one in described] == [str(rule) for rule in odd.rules()]
    assert {one["conditions"][0]["feature"] for one in described} == {ODD_FEATURE}
    assert {one["decision"] for one in described} == set(ODD_CLASSES)


def test_markdown_is_a_table_of_rules_and_one_of_words(rules, odd):
    lines = rules[:2].to_markdown().splitlines()
    assert lines[0] == "# Rules for “target”"
    assert lines[2] == f"{explain_number(rules[:2])}. Counts are training rows."
    assert lines[4:6] == ["| part | rule | training rows |", "|---|---|---|"]
    assert lines[6] == f"| taste | {rules[0].sentence} | {rules[0].counts} |"
    words = lines[lines.index("| feature | word | range |") + 2 :]
    assert words == [f"| {' | '.join(row)} |" for row in words_used(rules[:2])]
    assert words[0].startswith("| alcohol | low | up to ")
    page = odd.rules().to_markdown()
    assert "| rule | training rows |" in page
    assert "Words" not in page
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 2 + odd.n_rules_
    assert {line.replace("\\|", "").count("|") for line in table} == {3}
    assert not any("<" in line.replace("\\<", "") for line in table)


@given(st.text())
def test_escaped_text_stays_on_its_line_and_in_its_cell(text):
    escaped = escape(text)
    assert len(escaped.splitlines()) < 2 or set(text) & set("\x85")
    assert "|" not in escaped.replace("\\\\", "").replace("\\|", "")


def test_how_many_there_are_and_conditions_on_trees_are_explained(hierarchy, rules, wine):
    n_rules = hierarchy.n_rules_
    assert explain_number(rules) == f"{n_rules} rules in 2 trees"
    assert explain_number(rules[:1]) == f"{n_rules} rules in 2 trees, 1 shown"
    told = "A condition on taste is on the prediction of the tree of that name."
    assert explain_rules(rules)[0] == told
    assert told not in explain_rules(rules.filter(part="taste"))
    tree = LinguisticTreeClassifier(max_depth=1)
    model = LinguisticHierarchyClassifier(WIRING, tree=tree, belief_words=3).fit(*wine)
    rules = model.rules().filter(part="wine")
    assert told in explain_rules(rules)
    named = {feature for feature, _, _ in words_used(rules)}
    assert named == {condition.feature for rule in rules for condition in rule.conditions}
    assert any(feature.startswith("taste(") for feature in named)
    assert ("unlikely", "up to 0.25, fading out by 0.5") in [row[1:] for row in words_used(rules)]


def test_a_sum_has_no_rules_of_its_own():
    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = RuleClassifier(max_rules=12).fit(X, y).rules()
    with pytest.raises(ParameterError, match="no rules 'target'; there are: 'rules on "):
        rules.filter(part="target")


# --- notebooks -----------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads HTML: its tags, and the text of each cell."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.cells, self.text = [], [], ""
        self.open = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
            if self.cells and {"td", "th"} & set(self.open):
                self.cells[-1] += data


@given(st.text(min_size=1).filter(lambda text: not set(text) & set("\r\0")))
def test_a_rule_shows_its_sentence_whatever_the_names(name):
    rule = Rule("t", (Condition(name, ("low",)),), "target", (0.75, 0.25), 3.0, name)
    page = Page(rule._repr_html_())
    assert page.tags == ["div", "style", "p", "strong"]
    assert str(rule) in page.text


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 4)), rng.integers(0, 3, 300)
    return LinguisticTreeClassifier(min_gain=None).fit(X, y).rules()


def test_many_rules_are_a_table_of_the_first_and_a_count_of_the_others(many):
    html = many._repr_html_()
    page = Page(html)
    head = ["rule", "share as a bar", "training rows"]
    assert len(many) > 60
    assert page.cells[:3] == head
    rows = [page.cells[i : i + 3] for i in range(3, 3 + 50 * 3, 3)]
    assert rows == [[rule.sentence, "", rule.counts] for rule in many[:50]]
    assert page.cells[153:156] == ["feature", "word", "range"]
    assert f"… and {len(many) - 50} more" in page.text
    widths = re.findall(r"width: ([\d.]+)%\"", html)
    assert widths == [f"{100 * rule.share:.1f}" for rule in many[:50]]
    assert "more;" not in Page(many[:50]._repr_html_()).text
    assert Page(many[:0]._repr_html_()).cells == head
    numbers = LinguisticTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    assert Page(numbers._repr_html_()).cells[:2] == ["rule", "training rows"]


def test_names_that_look_like_markup_are_text():
    frame = pd.DataFrame({"<script>alert(1)</script>": ["a&amp;b", "\"'><i>"] * 5})
    rules = LinguisticTreeClassifier().fit(frame, ["<b>ja", "</td>nein"] * 5).rules()
    page = Page(rules._repr_html_())
    assert not {"script", "i", "b"} & set(page.tags)
    assert page.cells[3] == rules[0].sentence


def test_colours_are_those_of_the_page_around(many):
    (style,) = re.findall(r"<style>(.*?)</style>", many._repr_html_(), re.DOTALL)
    values = re.findall(r"(?<![-\w])(?:color|background): ([^;]+);", style)
    assert set(values) == {"inherit", "none", "currentColor"}
    selectors = re.findall(r"^([^{]+) \{", style, re.MULTILINE)
    assert all(part.strip().startswith(".solah") for one in selectors for part in one.split(","))


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError, match="rule"):
        render("rule.html.j2")
