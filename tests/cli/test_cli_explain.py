"""``solah explain``: rows in any form, explanations in any form."""

import io
import json

import numpy as np
import pytest

from random_models import csv_lines, random_model, random_number_model, random_rows
from solah.model import save_document


@pytest.fixture(scope="module")
def module_path(tmp_path_factory):
    return tmp_path_factory.mktemp("explain")


@pytest.fixture(scope="module")
def model(module_path):
    """Return a small model of the wines that weighs evidence."""
    from solah.cli.main import main

    path = module_path / "wine.json"
    assert main(["fit", "wine", "--max-rules", "20", "-o", str(path), "-q"]) == 0
    return path


def test_rows_are_chosen_by_number(run, model):
    outcome = run("explain", model, "wine", "--row", "1", "--row", "60-61", "--json")
    decided = [json.loads(line)["decision"] for line in outcome.out.splitlines()]
    assert decided == ["class_0", "class_1", "class_1"]


def test_all_rows_are_streamed(run, model):
    lines = run("explain", model, "wine", "--json").out.splitlines()
    assert len(lines) == 178
    assert json.loads(lines[0])["changes"] is None, "the search is for chosen rows"
    with_changes = run("explain", model, "wine", "--row", "3", "--json").document
    assert with_changes["changes"]["safe_ranges"]
    without = run("explain", model, "wine", "--row", "3", "--no-changes", "--json").document
    assert without["changes"] is None


@pytest.mark.parametrize(
    "row",
    [
        "alcohol=13.2, hue=1.04",
        "hue = 1.04 , alcohol = 13.2",
        "hue=1.04,\nalcohol=13.2",
        '{"alcohol": 13.2, "hue": 1.04}',
        '[{"alcohol": "13.2", "hue": 1.04, "proline": null}]',
    ],
)
def test_a_row_can_be_written_in_many_ways(run, model, row):
    found = run("explain", model, "--row", row, "--json").document
    known = {one["feature"]: one["value"] for one in found["features"] if one["words"]}
    assert known.items() <= {"alcohol": 13.2, "hue": 1.04}.items()
    assert "proline" not in known


def test_json_lines_come_through_stdin(run, model, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"alcohol": 14}\n\n{"alcohol": 12}\n'))
    lines = run("explain", model, "--row", "-", "--json").out.splitlines()
    assert [json.loads(line)["features"][0]["value"] for line in lines] == [14, 12]


def test_the_text_has_all_parts(run, model):
    out = run("explain", model, "wine", "--row", "1").out
    assert out.startswith("class_0, ")
    for part in ("Contributions", "Rules that apply", "Smallest changes that flip"):
        assert part in out
    few = run("explain", model, "wine", "--row", "1", "--top", 1).out
    every = run("explain", model, "wine", "--row", "1", "--all").out
    assert 0 < len(few.splitlines()) < len(out.splitlines()) <= len(every.splitlines())


def test_a_page_is_written_whole(run, model, module_path):
    page = module_path / "why.html"
    outcome = run("explain", model, "wine", "--row", "1-2", "-o", page)
    assert outcome.out == f"2 rows explained in {page}\n"
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert html.count('class="solah-conclusion"') == 2
    assert run("explain", model, "--row", "alcohol=13", "--format", "html").out.startswith("<!DOC")


def test_features_can_be_fixed_and_ranges_given(run, model):
    words = ("explain", model, "wine", "--row", "1", "--json")
    free = run(*words).document["changes"]
    fixed = run(*words, "--fixed", "alcohol,proline").document["changes"]
    assert {"alcohol", "proline"} <= {one["feature"] for one in free["safe_ranges"]}
    assert not {"alcohol", "proline"} & {one["feature"] for one in fixed["safe_ranges"]}
    tight = run(*words, "--range", "proline=1000:1100").document["changes"]
    (safe_range,) = [one for one in tight["safe_ranges"] if one["feature"] == "proline"]
    assert 1000 <= safe_range["low"] <= safe_range["high"] <= 1100


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ["nothing to explain", "--row"]),
        (["--row", "1,2"], ["'1' is not a name=value pair"]),
        (["--row", "grapes=1"], ["'grapes' is not a feature of the model"]),
        (["--row", "alcool=3"], ["no column 'alcool'", "alcohol"]),
        (["--row", "alcohol=3, hue"], ["'hue' is not a name=value pair"]),
        (["--row", "{alcohol: 3}"], ["invalid JSON"]),
        (["--row", '["a", {"b": 1}]'], ["a row must be a JSON object"]),
        (["--row", '{"alcohol": [1]}'], ["'alcohol' must be a number or a text"]),
        (["--row", "alcohol=much"], ["'alcohol' is measured", "'much'"]),
        (["--row", "alcohol=13, alcohol=14"], ["duplicate 'alcohol'"]),
        (["wine", "--row", "1-9999999999"], ["at most 100,000 rows"]),
        (["wine", "--row", "179"], ["no row 179", "178 rows"]),
        (["wine", "--row", "0"], ["start at 1"]),
        (["wine", "--row", "5-3"], ["must ascend"]),
        (["wine", "--row", "alcohol=3"], ["with DATA, a row is a number"]),
        (["wine", "--row", "1", "--fixed", "ashes"], ["no column 'ashes'"]),
        (["wine", "--row", "1", "--range", "hue=1"], ["--range hue=1 must be"]),
        (["wine", "--row", "1", "--range", "hue=2:1"], ["range of 'hue'"]),
        (["wine", "--row", "1", "-o", "why.doc"], ["why.doc does not end in"]),
        (["wine", "--json", "--format", "html"], ["two formats"]),
        (["nowhere.csv"], ["nowhere.csv"]),
    ],
)
def test_what_cannot_be_explained_is_said(run, model, words, parts):
    run("explain", model, *words).check_error(*parts)


def test_a_page_of_too_many_rows_is_refused_and_not_begun(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("solah.cli.explain._MOST_ON_A_PAGE", 3)
    run("explain", model, "wine", "-o", tmp_path / "all.html").check_error("at most 3 rows")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_number", [False, True])
def test_models_that_add_up_are_explained(run, write, tmp_path, is_number):
    rng = np.random.default_rng(1)
    model = random_number_model(rng) if is_number else random_model(rng, "groups", 2)
    save_document(model, tmp_path / "m.json")
    rows = random_rows(rng, model, 3, missing=0.0)
    rows[0, 2] = np.nan
    data = write("rows.csv", *csv_lines(model, rows))
    outcome = run("explain", tmp_path / "m.json", data, "--row", "1")
    assert "Missing: x2" in outcome.out
    assert ": first\n" in outcome.out
    lines = run("explain", tmp_path / "m.json", data, "--json").out.splitlines()
    known = [json.loads(line)["completeness"] for line in lines]
    assert known[0] < 1
    assert known[1:] == [1.0, 1.0]
    run("explain", tmp_path / "m.json", data, "-o", tmp_path / "why.html")
    assert "Missing: x2" in (tmp_path / "why.html").read_text(encoding="utf-8")
