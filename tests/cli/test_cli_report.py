"""``solah report``: a page or Markdown, with or without rows, and what can go wrong."""

import json

import pytest

from solah import load_model
from solah.report import render_markdown, render_page, summarise, summarise_page


def test_a_model_alone(run, fruit_model, tmp_path):
    page = tmp_path / "fruits.html"
    outcome = run("report", fruit_model, "-o", page)
    assert outcome.code == 0, outcome.err
    text = page.read_text(encoding="utf-8")
    assert outcome.out == f"Written to {page} ({len(text.encode()) / 1000:.0f} kB)\n"
    assert text == render_page(summarise_page(load_model(fruit_model).model_))
    assert "geschmack 👅" in text
    assert "How well it decides" not in text


def test_rows_add_scores(run, fruit_model, fruits, tmp_path):
    page = tmp_path / "fruits.html"
    outcome = run("report", fruit_model, fruits, "-o", page, "--json")
    assert outcome.code == 0, outcome.err
    summary = outcome.document
    assert summary["data"] == {"source": fruits.name, "rows": 24, "with_truth": 24}
    assert summary["measured"]["scores"]["accuracy"] == 1.0
    assert page.read_text(encoding="utf-8") == render_page(summary)


def test_rows_can_be_left_out(run, wine_model, tmp_path):
    page = tmp_path / "w.html"
    assert run("report", wine_model, "wine", "-o", page).out.endswith(" kB, with 50 rows)\n")
    outcome = run("report", wine_model, "wine", "-o", page, "--no-rows", "--json")
    assert (outcome.document["rows"], outcome.document["sample"]) == ([], None)
    assert outcome.document["measured"] is not None
    assert "Row of the data" not in page.read_text(encoding="utf-8")


def test_the_default_output(run, fruit_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("report", fruit_model, "-q").out == ""
    assert (tmp_path / "report.html").is_file()


def test_the_truth_may_have_another_name(run, fruit_model, fruits, write, tmp_path):
    lines = fruits.read_text(encoding="utf-8").replace("geschmack 👅", "taste").splitlines()
    renamed = write("renamed.csv", *lines)
    page = tmp_path / "r.html"
    outcome = run("report", fruit_model, renamed, "-o", page, "--json")
    assert "no column 'geschmack 👅'" in outcome.err
    assert "--target" in outcome.err
    assert outcome.document["measured"] is None
    assert outcome.document["features"][0]["histogram"] is not None
    outcome = run("report", fruit_model, renamed, "-t", "taste", "-o", page, "--json")
    assert outcome.err == ""
    assert outcome.document["measured"]["scores"]["accuracy"] == 1.0
    run("report", fruit_model, renamed, "-t", "tast", "-o", page).check_error("'taste'?")


def test_markdown(run, fruit_model, fruits, tmp_path):
    page = tmp_path / "fruits.md"
    outcome = run("report", fruit_model, fruits, "-o", page, "--json")
    assert "DATA is for .html" in outcome.err
    summary = summarise(load_model(fruit_model).model_)
    assert outcome.document == json.loads(json.dumps(summary))
    assert page.read_text(encoding="utf-8") == render_markdown(summary)


@pytest.mark.parametrize("name", ["report.pdf", "report"])
def test_other_suffixes_are_refused(name, run, fruit_model, tmp_path):
    run("report", fruit_model, "-o", tmp_path / name).check_error(".html or .md", repr(name))
    assert not (tmp_path / name).exists()


def test_a_missing_column_leaves_no_file(run, fruit_model, write, tmp_path):
    table = write("t.csv", "größe cm,色", "1,rot", "2,rot")
    page = tmp_path / "r.html"
    run("report", fruit_model, table, "-q", "-o", page).check_error("no column 'kerne'")
    assert not page.exists()
