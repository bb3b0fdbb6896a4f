"""The page is made of the dict, and the one in docs/ of the dict beside it."""

import json
from pathlib import Path

from reproduction.findings import find_bars, find_out
from reproduction.page import render_page
from reproduction.tables.layout import PRINTED

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_in_the_docs_is_made_by_the_command():
    summary = json.loads((DOCS / "reproduction.json").read_text(encoding="utf-8"))
    assert render_page(summary) == (DOCS / "reproduction.md").read_text(encoding="utf-8")


def test_what_the_docs_show_is_whole():
    summary = json.loads((DOCS / "reproduction.json").read_text(encoding="utf-8"))
    assert summary["missing"] == []
    assert summary["settings"]["folds"] == 10
    assert summary["settings"]["runs"] == 10
    assert summary["settings"]["optlah"] == ["paper"]
    assert {"sms20", "sweep14", "ldt", "high", "comparison"} <= {
        t["name"] for t in summary["tables"]
    }


def test_findings_are_made_of_the_tables_in_the_dict():
    summary = json.loads((DOCS / "reproduction.json").read_text(encoding="utf-8"))
    tables = {table["name"]: table for table in summary["tables"]}
    assert find_out(tables) == summary["findings"]
    assert find_bars(tables, summary["processor_seconds"]) == summary["bars"]


def line(data, model, settings, accuracy, branches=10):
    words = {"data": data, "model": model, "settings": settings, "is_counted": data != "Other"}
    return {**words, "accuracy": accuracy, "auc": accuracy, "branches": branches}


def test_findings_say_what_is_close_above_and_below():
    rows = []
    for data, own in (("Near", 0.81), ("Far up", 0.9), ("Far down", 0.7), ("Other", 0.6)):
        for model in ("SOLAH", "single tree"):
            rows += [line(data, model, PRINTED, 0.8), line(data, model, "PAPER", own, 5)]
    (finding,) = find_out({"ldt": {"title": "T", "rows": rows}})
    assert (
        "SOLAH, PAPER: accuracy within 0.02 of the paper's on Near (+0.010); "
        "above it on Far up (+0.100); below it on Far down (-0.100)."
    ) in finding["text"]
    assert "PAPER, 3 databases: A is larger on 0, AUC on 0, β is smaller on 0." in finding["text"]


def test_bars_are_held_or_missed():
    rows = [
        {"key": key, "accuracy": accuracy, "learning_seconds": seconds, "choosing_seconds": 0.0}
        for key, accuracy, seconds in (
            ("optlah paper", 82.0, 50.0),
            ("solah paper", 80.0, 0.1),
            ("solah-auto paper", 81.0, 1.0),
        )
    ]
    bars = find_bars({"comparison-standing": {"rows": rows}}, {"optlah": 1.0, "others": 1.0})
    assert [(bar["measured"], bar["holds"]) for bar in bars] == [
        ("50 times", False),
        ("500 times", True),
        ("500 times", True),
        ("2.00 points", False),
        ("1.00 points", True),
    ]
