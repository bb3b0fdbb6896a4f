"""The command from options to files."""

import json

import accuracy
import numpy as np
import pytest
from comparison import speed

SMALL = [
    "--sets",
    "iris,wine",
    "--models",
    "tree,bayes",
    "--folds",
    "2",
    "--seeds",
    "0",
    "--jobs",
    "1",
]


def test_results_are_written_and_shown(tmp_path, capsys):
    assert accuracy.main([*SMALL, "-o", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert "DecisionTree" in shown.out
    assert f"written: {tmp_path / 'out' / 'accuracy.md'}" in shown.err
    summary = json.loads((tmp_path / "out" / "accuracy.json").read_text())
    assert summary["settings"] == {"folds": 2, "seeds": [0], "rows": 20_000}
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sets", "irs"], "there is no set 'irs'; did you mean 'iris'?"),
        (["--models", "treee"], "there is no model 'treee'; did you mean 'tree'?"),
    ],
)
def test_unknown_names_are_one_line_and_exit_code_2(options, said, tmp_path, capsys):
    assert accuracy.main([*options, "-o", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"{said}\n")


@pytest.mark.parametrize("options", [["--folds", "1"], ["--seeds", "x"], ["--sets", ","]])
def test_options_that_make_no_sense(options, capsys):
    with pytest.raises(SystemExit) as stop:
        accuracy.main(options)
    assert stop.value.code == 2
    assert options[0] in capsys.readouterr().err


def test_what_is_done_is_kept_when_interrupted(tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(accuracy.Comparison, "run", interrupt)
    assert accuracy.main([*SMALL, "-o", str(tmp_path)]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err


def test_times_are_judged(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SOLAH_DATA", raising=False)
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOLAH_DATA_URL", "http://127.0.0.1:1/")
    for name in ("make_bands", "make_causes"):
        few_rows = getattr(speed, name)(500)
        monkeypatch.setattr(speed, name, lambda _, rows=few_rows: rows)
    assert accuracy.main([*SMALL, "--timing", "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "default fit on 58,000 x 9, four classes" in shown.out
    assert "Pima is not at hand" in shown.err


def test_the_rows_to_time_with_are_the_same_every_time():
    (X, y), (again, _) = speed.make_causes(2_000), speed.make_causes(2_000)
    assert X.shape == (2_000, 9)
    assert (again == X).all()
    assert np.bincount(y).tolist() == [1200, 500, 200, 100]
