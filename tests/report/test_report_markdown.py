"""The Markdown report: nothing from the data can break it."""

import re
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
)
from solah.data import Column, Table
from solah.evaluation import Plan, cross_validate
from solah.report import render_markdown, summarise
from solah.report.markdown import escape


def shown(markdown: str) -> str:
    """Return the text that a reader of the rendered page sees."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "text_special", "softbreak"}, inline
    return "".join(child.content for child in inline)


DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SHOWN = st.characters(
    exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"], exclude_characters=DIRECTION_MARKS
)


@given(st.text(SHOWN, min_size=1))
def test_what_is_escaped_is_shown_as_it_was(name):
    assert shown(f"a {escape(name)} b") == f"a {name} b"
    cells = MarkdownIt("commonmark").enable("table").parse(f"| h |\n|---|\n| {escape(name)} |")
    texts = ["".join(c.content for c in t.children) for t in cells if t.type == "inline"]
    assert texts == ["h", name]


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("malic_acid", "malic_acid"),
        ("_x_", r"\_x\_"),
        ("a|b", r"a\|b"),
        ("<script>", r"\<script\>"),
        ("*größe*\n色", "\\*größe\\* 色"),
        ("a\u202eb\u2066", "a�b�"),
    ],
)
def test_names_stay_readable(name, escaped):
    assert escape(name) == escaped


NASTY_NAME = "|<script>|_色_"
TARGET = np.array(["ja|`", "nein_", "ja|`", "nein_"] * 6)


def nasty_table():
    values = np.array(["x|y", "<b>", "x|y", "*"] * 6, dtype=object)
    return Table((Column(NASTY_NAME, values), Column("größe [cm]", np.arange(24.0))), 24)


def nasty_model():
    tree = LinguisticTreeClassifier().fit(nasty_table(), TARGET)
    return tree.model_, cross_validate({"tr|ee": tree}, nasty_table(), TARGET, Plan(3, 2))


def test_special_characters_break_no_table():
    page = render_markdown(summarise(*nasty_model()))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<table>") == 3
    assert "<td>|&lt;script&gt;|_色_</td>" in html
    assert "<strong>ja|`</strong>" in html
    assert "3 folds (stratified), 2 times, seed 0" in page


def test_special_characters_break_no_hierarchy():
    wiring = {"```": [NASTY_NAME], "<script>|\n": ["```", "größe [cm]"]}
    fitted = LinguisticHierarchyClassifier(wiring).fit(nasty_table(), TARGET)
    page = render_markdown(summarise(fitted.model_))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    assert "<script>" not in html
    assert html.count("<table>") == 3
    (drawing,) = re.findall("<pre><code>(.*?)</code></pre>", html, re.DOTALL)
    assert unescape(drawing) == f"{summarise(fitted.model_)['hierarchy']['drawing']}\n"
    assert html.count("<h3>") == 2


def test_no_direction_mark_is_written_raw():
    name = f"a{DIRECTION_MARKS}b"
    table = Table((Column(name, nasty_table().columns[0].values),), nasty_table().n_rows)
    wiring = {f"z{name}": [name], f"y{name}": [f"z{name}"]}
    model = LinguisticHierarchyClassifier(wiring).fit(table, [f"{one}{name}" for one in TARGET])
    for page in (render_markdown(summarise(model.model_)), model.rules().to_markdown()):
        assert not set(page) & set(DIRECTION_MARKS)


def test_one_tree_has_no_structure():
    page = render_markdown(summarise(nasty_model()[0]))
    assert "## Structure" not in page
    assert "###" not in page


def test_scores_are_left_out_where_there_are_none():
    model, _ = nasty_model()
    assert "## Performance" not in render_markdown(summarise(model))


def test_a_number_and_its_words():
    x = np.linspace(0, 1, 60)[:, None]
    page = render_markdown(summarise(LinguisticTreeRegressor().fit(x, x[:, 0]).model_))
    assert "The model estimates a number" in page
    assert "very-low, low, medium, high, very-high" in page
