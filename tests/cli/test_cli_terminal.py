"""Whatever things are called, a terminal is told nothing but text; spreadsheets get no formulas."""

import csv
import os
import pty
import re
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from random_models import random_model, with_features
from solah.cli.main import main
from solah.cli.predict import Predictions, csv_writer
from solah.data import read_table
from solah.explain import rules_of
from solah.model import Target, save_document
from solah.model.encode import encode_target
from solah.site.bundle import Bundle, save_bundle
from solah.site.plan import make_plan

TITLE = "\x1b]0;owned\x07"
NASTY = (f"a{TITLE}", "b\x9b2Jb", "c\u202ec")
OBEYED = re.compile("\x1b[^\\[]|\x07|[\x80-\x9f]|\u202e|\x1b\\[[0-9;]*[^0-9;mK?hlA]")
FORMULA = "=cmd|' /C calc'!A1"


def nasty_model():
    """Return a model of which the target, its classes, a group and features want to be obeyed."""
    model = random_model(np.random.default_rng(0), "groups", 3)
    renamed = {one.name: one for one in model.features}
    for name in ("x0", "x1"):
        renamed[name] = replace(renamed[name], name=name + TITLE)
    root = with_features(model.root, renamed)
    first, *others = root.groups
    return replace(
        model,
        target=replace(model.target, name=f"target{TITLE}", classes=NASTY, thresholds=()),
        features=tuple(renamed.values()),
        nodes=(replace(root, groups=(replace(first, name=f"z{TITLE}"), *others)),),
    )


@pytest.fixture
def folder(tmp_path):
    model = nasty_model()
    save_document(model, tmp_path / "model.json")
    save_bundle(Bundle(make_plan(model), model), tmp_path / "plan.json")
    names = [feature.name for feature in model.features]
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*names, f"target{TITLE}", f"kept{TITLE}"])
        for place in range(6):
            rows.writerow([*(0.1 * place for _ in names), NASTY[place % 3], TITLE])
    return tmp_path


@pytest.fixture
def on_a_terminal(folder, monkeypatch):
    """Return a function that runs the program on a terminal and returns all that it wrote there."""

    def call(*words):
        ours, its = pty.openpty()
        written = []

        def read():
            with suppress(OSError):  # how Linux says that nobody writes any more
                while piece := os.read(ours, 65536):
                    written.append(piece)

        reader = threading.Thread(target=read)
        reader.start()
        with monkeypatch.context() as patch, open(its, "w", encoding="utf-8") as terminal:
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", "200")
            patch.chdir(folder)
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            main(words)
        reader.join()
        os.close(ours)
        return b"".join(written).decode()

    return call


@pytest.mark.parametrize(
    "words",
    [
        "rules model.json",
        "rules model.json --format csv",
        "rules model.json --format markdown",
        "rules model.json --json",
        "predict model.json rows.csv --json",
        "predict model.json rows.csv --keep KEPT",
        "explain model.json rows.csv --row 1",
        "explain model.json rows.csv --row 1 --json",
        "site plan model.json -o other.json",
        "stress model.json rows.csv",
        "info model.json",
        "fit rows.csv -t TARGET -o new.json",
    ],
)
def test_no_verb_lets_a_name_command_the_terminal(on_a_terminal, words):
    written_out = {"KEPT": f"kept{TITLE}", "TARGET": f"target{TITLE}"}
    told = on_a_terminal(*(written_out.get(word, word) for word in words.split()))
    assert "owned" in told or "2Jb" in told or words.startswith(("info", "stress"))
    assert OBEYED.findall(told) == []


def test_what_rich_lays_out_keeps_its_colours(on_a_terminal):
    told = on_a_terminal("rules", "model.json")
    assert "\x1b[1m" in told
    assert "\N{REPLACEMENT CHARACTER}]0;owned" in told


def test_errors_are_harmless_and_not_long(run, tmp_path):
    run("rules", tmp_path / f"no{TITLE}.json").check_error("no\N{REPLACEMENT CHARACTER}]0;owned")
    outcome = run("predict", "m" * 50_000, "d")
    outcome.check_error()
    assert len(outcome.err) <= 1_001
    told = run("-v", "rules", tmp_path / f"no{TITLE}.json").err
    assert OBEYED.findall(told) == []


# --- formulas ------------------------------------------------------------------------------------

TEXTS = (
    "=1+1",
    "+1+1",
    "-x",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "'=1",
    FORMULA,
    "'",
    "plain",
    "",
    "a=b",
    "a\r=1",
)
NUMBERS = ("-1.5", "+2", "-1e5", "3")


def written(kept, prediction):
    page = StringIO()
    csv_writer(page)(Predictions(kept, {"prediction": prediction}))
    return page.getvalue()


def test_decisions_hold_no_formulas_and_numbers_stay():
    kept = {"=name": [*TEXTS, *NUMBERS], "id": [None] * len(TEXTS + NUMBERS)}
    n_rows = len(TEXTS + NUMBERS)
    classes = (FORMULA, "-1", -1, 0.5)
    prediction = [classes[place % 4] for place in range(n_rows)]
    page = written(kept, prediction)
    header, *rows = csv.reader(StringIO(page, newline=""))
    assert header == ["'=name", "id", "prediction"]
    for text in {cell for row in rows for cell in row}:
        assert text[:1] not in {*"=+-@\t\r"} or text in {*NUMBERS, "-1"}
    assert [row[2] for row in rows[:4]] == [f"'{FORMULA}", "-1", "-1", "0.5"]
    assert [row[0] for row in rows[-4:]] == [*NUMBERS]


def test_a_class_that_looks_like_a_formula_is_known_again(tmp_path):
    target = Target("y", (FORMULA, "-x", "'=1", "fine"), thresholds=())
    prediction = list(target.classes)
    page = written({}, prediction)
    (tmp_path / "decisions.csv").write_text(page, encoding="utf-8", newline="")
    column = read_table(tmp_path / "decisions.csv").column("prediction")
    assert encode_target(column, target).tolist() == [0, 1, 2, 3]


def test_rules_hold_no_formulas_either():
    model = nasty_model()
    target = replace(model.target, name="=target", classes=("=1", "@x", "-y"))
    model = replace(model, target=target)
    for row in csv.reader(StringIO(rules_of(model).to_csv(), newline="")):
        assert not any(cell[:1] in {*"=+@"} for cell in row)
        assert row[3][:1] != "-"
