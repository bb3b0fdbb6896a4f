"""``solah export`` beyond devices: JavaScript, SQL and ONNX."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from machines import machine_model
from solah.model import load_document, save_document
from solah.model.policy import Policy

FILES = {
    "javascript": ["wine.mjs"],
    "sql": ["wine.sql", "wine_decision.sql"],
    "onnx": ["wine.onnx"],
}


@pytest.fixture(params=FILES)
def to(request, find_tool):
    if request.param == "javascript":
        find_tool("node")
    if request.param == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    return request.param


def test_a_program_is_written_and_compared(run, wine_model, tmp_path, to):
    words = ("export", wine_model, "wine", "--to", to, "-o", tmp_path / "out")
    found = run(*words, "--json").document
    assert found["arithmetic"] == "double"
    assert found["check"]["rows"] == 178
    assert found["check"]["same_decisions"] == 1.0
    assert found["check"]["largest_difference"] < 1e-12
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == FILES[to]
    out = run(*words).out
    assert "predictions beside the model's" in out
    assert "device" not in out


@pytest.mark.parametrize(
    "options", [("--arithmetic", "float"), ("--max-flash", "2k"), ("--learn",)], ids=lambda o: o[0]
)
def test_options_of_devices_are_refused(run, wine_model, tmp_path, to, options):
    outcome = run("export", wine_model, "--to", to, *options, "-o", tmp_path / "out")
    outcome.check_error(f"{options[0]} is for code on devices", f"--to {to} computes in doubles")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [("--table", "rows"), ("--keep", "id")], ids=lambda o: o[0])
def test_options_of_sql_are_refused_elsewhere(run, wine_model, tmp_path, options):
    outcome = run("export", wine_model, "--to", "c", *options, "-o", tmp_path / "out")
    outcome.check_error(f"{options[0]} requires --to sql")
    assert not (tmp_path / "out").exists()


def test_table_and_keys_are_named(run, wine_model, tmp_path):
    words = ("--table", 'the "cellar"', "--keep", "row", "--keep", "site")
    run("export", wine_model, "--to", "sql", *words, "-o", tmp_path / "out")
    text = (tmp_path / "out" / "wine.sql").read_text(encoding="utf-8")
    assert 'FROM "the ""cellar""" AS t' in text
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, np.exp)
    names = [feature.name for feature in load_document(wine_model).features]
    columns = ", ".join(f'"{name}" REAL' for name in names)
    connection.execute(f'CREATE TABLE "the ""cellar""" (row INTEGER, site TEXT, {columns})')
    answer = connection.execute(text)
    assert [column[0] for column in answer.description][:3] == ["row", "site", "decision"]
    connection.close()
    outcome = run("export", wine_model, "--to", "sql", "--keep", "Decision", "-o", tmp_path / "o2")
    outcome.check_error("'Decision' and 'decision'")
    assert not (tmp_path / "o2").exists()


def test_what_is_left_out_is_said(run, tmp_path, to):
    model = machine_model(np.random.default_rng(0), max_rules=8)
    save_document(replace(model, policy=Policy(votes=2, window=3)), tmp_path / "machine.json")
    outcome = run("export", tmp_path / "machine.json", "--to", to, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "exports for devices compute them from samples" in outcome.err
    lacks = "debouncing" if to == "javascript" else "the model's policy"
    assert f"without {lacks}" in outcome.err
