"""The paper's tables: its text messages, small tables on bundled data, and the page in the docs."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_scope import SMALL, WINE

from reproduction.__main__ import main
from reproduction.data import load_rows
from reproduction.findings import find_bars, find_out
from reproduction.page import render_page
from reproduction.published import DATABASES, SMS_14, SMS_20
from reproduction.scope import Scope
from reproduction.sms import keyword_features
from reproduction.statistics import compare
from reproduction.tables.layout import PRINTED
from solah import Hierarchy

DOCS = Path(__file__).parents[2] / "docs"

# --- the keywords of the paper's two tables ---------------------------------------------------

# Written independently of the code: the paper's tables as regular expressions.
PATTERNS_20 = [
    "urgent", "congrat", "!", "win|won", "offer", "award", "prize", "call", "reply", "send",
    "stop", "click", "text|txt", "sex", "girl", "cash", "free", "[0-9]p",
    "euro|gbp|pound|£|[$]|€", "price",
]  # fmt: skip
PATTERNS_14 = [
    "urgent", "congrat", "!", "win|won", "offer", "award|prize", "sex|girl", "call",
    "reply|send", "stop|click", "text|txt", "cash|price", "free|[0-9]p", "euro|gbp|pound|£|[$]|€",
]  # fmt: skip
PATTERNS = {20: PATTERNS_20, 14: PATTERNS_14}

# The numbers, by the paper's table of 20, of the 20 that each of the 14 unites.
UNITED = [[0], [1], [2], [3], [4], [5, 6], [13, 14], [7], [8, 9], [10, 11], [12], [15, 19],
          [16, 17], [18]]  # fmt: skip


def by_patterns(messages, patterns):
    found = [[bool(re.search(one, text.lower())) for one in patterns] for text in messages]
    return np.array(found, dtype=float)


def numbers_found(message, n_keywords=20):
    return np.flatnonzero(keyword_features([message], n_keywords)[0]).tolist()


EXAMPLES = [
    ("an urgent matter", 0),
    ("congratulations dear", 1),
    ("hello!", 2),
    ("you could win it", 3),
    ("we won it", 3),
    ("an offer for you", 4),
    ("an award for you", 5),
    ("a prize for you", 6),
    ("call me later", 7),
    ("reply at once", 8),
    ("send it on", 9),
    ("stop it", 10),
    ("click here", 11),
    ("a long text", 12),
    ("a txt", 12),
    ("sex", 13),
    ("the girls", 14),
    ("cash only", 15),
    ("feel free", 16),
    *((f"only {digit}p", 17) for digit in range(10)),
    ("ten euros", 18),
    ("gbp", 18),
    ("a pound", 18),
    ("£", 18),
    ("$", 18),
    ("€", 18),
    ("at what price", 19),
]


def test_each_keyword_is_found_in_any_case_and_only_it():
    for message, number in EXAMPLES:
        for written in (message, message.upper(), message.title()):
            assert numbers_found(written) == [number]
            united = [new for new, olds in enumerate(UNITED) if number in olds]
            assert numbers_found(written, 14) == united


PIECES = st.sampled_from(
    [
        *("urgent", "congrat", "!", "offer", "award", "prize", "call", "reply", "send", "stop"),
        *("click", "text", "sex", "girl", "cash", "free", "price", "WIN", "won", "Txt", "0p", "9P"),
        *("7", "p", "euro", "GBP", "pound", "£", "$", "€", "w", "on"),
    ]
)


@given(st.lists(st.lists(st.text(max_size=5) | PIECES).map("".join), min_size=1))
def test_the_14_are_ors_of_the_20_and_both_are_what_the_patterns_find(messages):
    twenty = keyword_features(messages, 20)
    fourteen = keyword_features(messages, 14)
    ors = np.column_stack([twenty[:, olds].max(axis=1) for olds in UNITED])
    np.testing.assert_array_equal(fourteen, ors)
    np.testing.assert_array_equal(twenty, by_patterns(messages, PATTERNS_20))


@pytest.mark.shared
@pytest.mark.parametrize("n_keywords", [20, 14])
def test_the_papers_messages(shared_data, n_keywords):
    messages = load_rows("sms_spam")
    features = load_rows(f"sms{n_keywords}").X
    assert features.shape == (5574, n_keywords)
    assert messages.class_counts == {"ham": 4827, "spam": 747}
    texts = messages.table.column("text").values
    np.testing.assert_array_equal(features, by_patterns(texts, PATTERNS[n_keywords]))
    assert features.any(axis=0).all()


def test_hierarchies_of_the_paper_use_every_keyword():
    for study, n in ((SMS_20, 20), (SMS_14, 14)):
        for hand in study.by_hand:
            wiring = Hierarchy.parse(hand.wiring)
            assert sorted(wiring.features) == sorted(f"x{j}" for j in range(n))


def test_the_papers_means_are_those_of_its_lines():
    counted = [one for one in DATABASES if one.is_counted]
    assert len(counted) == 12
    assert np.mean([one.solah.accuracy for one in counted]) == pytest.approx(0.8208, abs=1e-4)
    assert np.mean([one.tree.accuracy for one in counted]) == pytest.approx(0.7742, abs=1e-4)
    for one in DATABASES:
        assert sum(one.properties.counts) == one.properties.rows


def test_nemenyis_difference_is_the_tabulated_one():
    # Demsar (2006): q(0.05) is 2.569 for four models.
    standing = compare(np.random.default_rng(0).random((14, 4)))
    expected = 2.569 * np.sqrt(4 * 5 / (6 * 14))
    assert standing.critical_difference == pytest.approx(expected, abs=2e-3)


# --- the program ------------------------------------------------------------------------------


def rows_of(table, **words):
    return [r for r in table["rows"] if all(r.get(key) == word for key, word in words.items())]


@pytest.mark.slow
def test_solah_against_the_tree(run, tmp_path):
    scope = replace(SMALL, databases=(WINE, SMALL.databases[2]))
    table = run("ldt", scope=scope)["ldt"]
    (wine,) = rows_of(table, name="wine", model="SOLAH", settings="PAPER")
    (iris,) = rows_of(table, name="iris", model="single tree", settings="PAPER")
    assert (wine["folds"], iris["folds"]) == (3, 2)
    assert wine["accuracy"] > 0.9
    means = [row for row in table["rows"] if row["data"].startswith("mean")]
    assert [row["settings"] for row in means] == 2 * [PRINTED, "PAPER", "default"]
    cells = {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}
    assert run("ldt", scope=scope)["ldt"] == table
    assert cells == {file: file.stat().st_mtime_ns for file in (tmp_path / "cells").iterdir()}


@pytest.mark.slow
def test_the_comparison_has_every_model(run):
    tables = run("comparison", scope=replace(SMALL, databases=SMALL.databases[::2]))
    wine, iris = tables["comparison"]["rows"]
    keys = [column["key"] for column in tables["comparison"]["columns"][1:]]
    assert len(keys) == 7
    for key in keys:
        assert 75 < wine[key][0] <= 100
        assert iris[key][1] >= 0
    assert tables["comparison-printed"]["rows"][0]["solah"] == [98.17, 2.95]


@pytest.mark.shared
def test_the_papers_branches_on_its_text_messages(run, shared_data):
    table = run("sms14", scope=Scope())["sms14"]
    for title, branches, accuracy in (
        ("SOLAH of the paper's text, wired by hand", 339, 0.9555),
        ("LAH-SMS14-1 of the paper's source", 154, 0.9356),
        ("single tree", 591, 0.9609),
    ):
        (row,) = rows_of(table, model=title, settings="PAPER")
        assert row["branches"] == branches
        assert row["accuracy"] == pytest.approx(accuracy, abs=0.003)
    for settings in ("PAPER", "default"):
        (row,) = rows_of(table, model="SOLAH", settings=settings)
        assert row["accuracy"] > 0.93


def test_the_command_computes_what_the_data_allow_and_errs_in_one_line(bare, tmp_path, capsys):
    results = str(tmp_path / "results")
    assert main(["databases", "-o", results, "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("reproduction: note: not available, so skipped: breast_cancer_ljublj")
    assert "Wine" in out
    page = (tmp_path / "results" / "reproduction.md").read_text(encoding="utf-8")
    assert page.startswith("# The paper's tables")
    with pytest.raises(SystemExit, match="2"):
        main(["sms41", "-o", results])
    err = capsys.readouterr().err
    assert err == "reproduction: error: there is no table 'sms41'; did you mean 'sms14'?\n"


def test_the_page_in_the_docs_is_made_by_the_command():
    summary = json.loads((DOCS / "reproduction.json").read_text(encoding="utf-8"))
    assert render_page(summary) == (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert (summary["missing"], summary["settings"]["folds"]) == ([], 10)
    tables = {table["name"]: table for table in summary["tables"]}
    assert {"sms20", "sweep14", "ldt", "high", "comparison"} <= set(tables)
    assert find_out(tables) == summary["findings"]
    assert find_bars(tables, summary["processor_seconds"]) == summary["bars"]
