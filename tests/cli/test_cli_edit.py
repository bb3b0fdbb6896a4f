"""``solah rules --format rules``, ``solah build``, ``solah edit`` and ``solah info MODEL``."""

import numpy as np
import pytest

from random_models import random_model
from solah.edit import write_rules
from solah.model import load_document, save_document
from solah.model.format import to_json


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.json"
    save_document(random_model(np.random.default_rng(4), "groups"), path)
    return path


def test_a_model_goes_to_text_and_back(run, model, tmp_path):
    rules, again = tmp_path / "model.rules", tmp_path / "again.json"
    assert run("rules", model, "-o", rules).code == 0
    assert rules.read_text(encoding="utf-8") == write_rules(load_document(model))
    assert run("rules", model, "--format", "rules").out == rules.read_text(encoding="utf-8")
    outcome = run("rules", "build", rules, "-o", again)
    assert outcome.code == 0
    assert f"rules written to {again}" in outcome.out
    assert to_json(load_document(again)) == to_json(load_document(model))


def test_a_wrong_file_is_an_error_in_one_line_and_nothing_is_written(run, model, tmp_path):
    rules, again = tmp_path / "model.rules", tmp_path / "again.json"
    text = write_rules(load_document(model)).replace("if x2 is a", "if x2 is aa", 1)
    rules.write_text(text, encoding="utf-8")
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "x2 is aa" in one)
    run("rules", "build", rules, "-o", again).check_error(
        f"model.rules: line {line}, column 12: 'x2' has no word 'aa'", "did you mean 'a'?"
    )
    assert not again.exists()
    run("rules", "build", rules, "-o", rules).check_error("is also read")
    run("rules", "build", tmp_path / "nowhere.rules", "-o", again).check_error("nowhere.rules")


def test_single_rules_are_edited(run, model, tmp_path):
    edited = tmp_path / "edited.json"
    words = ["--change", "if x2 is a then c0 +3", "--pin", "if x2 is a", "--remove", "if x2 is b"]
    outcome = run(
        "rules", "edit", model, *words, "--author", "Ann", "--reason", "why not", "-o", edited
    )
    assert outcome.code == 0
    assert outcome.out.splitlines()[:3] == [
        "set the rule: if x2 is a: c0 +3",
        "removed the rule: if x2 is b",
        "pinned the rule: if x2 is a",
    ]
    term = next(term for term in load_document(edited).terms if term.features == ("x2",))
    assert term.weights[0].tolist() == [1.5, -1.5]
    assert term.pinned == {(0,)}
    document = run("info", edited, "--json").document
    assert document["pinned rules"] == 1
    assert [(edit["author"], edit["reason"]) for edit in document["edits"]] == [
        ("Ann", "why not")
    ] * 3
    text = run("info", edited).out
    assert "pinned rules  1" in text
    assert "Ann: removed the rule: if x2 is b (because: why not)" in text
    assert "Edits" not in run("info", model).out


def test_edits_that_make_no_sense_write_nothing(run, model, tmp_path):
    edited = tmp_path / "edited.json"
    run("rules", "edit", model, "-o", edited).check_error("nothing to do")
    run("rules", "edit", model, "--change", "if x9 is a then c0 +3", "-o", edited).check_error(
        "line 1, column 4: the model has no rules on 'x9'"
    )
    run("rules", "edit", model, "--remove", "if x2 is a", "-o", model).check_error("is also read")
    assert not edited.exists()
