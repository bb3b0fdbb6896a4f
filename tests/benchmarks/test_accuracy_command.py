"""The command from options to files."""

import json

import accuracy
import pytest

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
