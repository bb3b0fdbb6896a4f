"""What notebooks show of rules: tables that show every name as it is."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.explain.html import render
from solah.explain.rules import Condition, Rule


class Page(HTMLParser):
    """Reads HTML: which tags there are, and the text of each cell."""

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
        if "style" in self.open:
            return
        self.text += data
        if self.cells and {"td", "th"} & set(self.open):
            self.cells[-1] += data


def rule_with(name, decision="a"):
    return Rule("t", (Condition(name, ("low",)),), "goal", (0.75, 0.25), 3.0, decision)


@given(st.text(min_size=1).filter(lambda text: not set(text) & set("\r\0")))
def test_a_rule_shows_its_sentence_whatever_the_names(name):
    page = Page(rule_with(name, decision=name)._repr_html_())
    assert page.tags == ["div", "style", "p", "strong"]
    assert str(rule_with(name, decision=name)) in page.text


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 4)), rng.integers(0, 3, 300)
    return LinguisticTreeClassifier(min_gain=None).fit(X, y).rules()


def test_many_rules_are_a_table_of_the_first_and_a_count_of_the_others(many):
    html = many._repr_html_()
    page = Page(html)
    assert len(many) > 60
    assert page.cells[:4] == ["rule", "belief", "support", "effect"]
    rows = [page.cells[i : i + 4] for i in range(4, 4 + 50 * 4, 4)]
    assert rows == [[rule.sentence, "", f"{rule.support:.1f}", rule.impact] for rule in many[:50]]
    assert page.cells[204:207] == ["attribute", "word", "range"]
    assert f"… and {len(many) - 50} more" in page.text
    widths = re.findall(r"width: ([\d.]+)%\"", html)
    assert widths == [f"{100 * rule.certainty:.1f}" for rule in many[:50]]


def test_few_rules_hide_nothing(many):
    assert "more;" not in Page(many[:50]._repr_html_()).text
    assert Page(many[:0]._repr_html_()).cells == ["rule", "belief", "support", "effect"]


def test_numbers_have_no_belief_to_draw():
    rules = LinguisticTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).rules()
    assert Page(rules._repr_html_()).cells[:3] == ["rule", "support", "effect"]


def test_names_that_look_like_markup_are_text():
    frame = pd.DataFrame({"<script>alert(1)</script>": ["a&amp;b", "\"'><i>"] * 5})
    rules = LinguisticTreeClassifier().fit(frame, ["<b>ja", "</td>nein"] * 5).rules()
    page = Page(rules._repr_html_())
    assert not {"script", "i", "b"} & set(page.tags)
    assert page.cells[4] == rules[0].sentence


def test_colours_are_those_of_the_page_around(many):
    (style,) = re.findall(r"<style>(.*?)</style>", many._repr_html_(), re.DOTALL)
    values = re.findall(r"(?<![-\w])(?:color|background): ([^;]+);", style)
    assert set(values) == {"inherit", "none", "currentColor"}
    selectors = re.findall(r"^([^{]+) \{", style, re.MULTILINE)
    assert all(part.strip().startswith(".solah") for one in selectors for part in one.split(","))


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError, match="rule"):
        render("rules_one.html.j2")
