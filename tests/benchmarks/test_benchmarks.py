"""Each benchmark runs at toy size, and says what it should: a smoke test each."""

import argparse
import json
import re
import sys
from pathlib import Path

import accuracy
import code_size
import honesty
import missing
import numpy as np
import pyarrow.parquet as pq
import pytest
import rare
import regression
import sensors
import signals_edge
import stability
import streams
import traffic
from comparison.models import MODELS, measure_size

import signals
from machines import recordings, window_features
from solah.model.policy import Policy

ROOT = Path(__file__).parents[2]


def test_accuracy_writes_a_page_a_picture_and_cells_that_are_found_again(tmp_path, capsys):
    words = ["--sets", "iris,wine", "--models", "tree,solah-tree", "--folds", "2", "--seeds", "0"]
    out = tmp_path / "out"
    assert accuracy.main([*words, "--jobs", "1", "-o", str(out)]) == 0
    page, summary = (
        (out / "accuracy.md").read_text(),
        json.loads((out / "accuracy.json").read_text()),
    )
    assert "DecisionTree" in capsys.readouterr().out
    assert summary["settings"] == {"folds": 2, "seeds": [0], "rows": 20_000}
    figures = summary["groups"]["named"]["models"]["tree"]
    (line,) = [line for line in page.splitlines() if line.startswith("| DecisionTree ")]
    assert f"{figures['accuracy']:.3f}" in line
    cells = {file: file.stat().st_mtime_ns for file in (out / "cells").iterdir()}
    assert len(cells) == 4
    assert accuracy.main([*words, "--jobs", "1", "-o", str(out)]) == 0
    assert cells == {file: file.stat().st_mtime_ns for file in (out / "cells").iterdir()}
    assert accuracy.main(["--sets", "irs", "-o", str(tmp_path)]) == 2
    assert "there is no set 'irs'; did you mean 'iris'?" in capsys.readouterr().err


def test_every_model_learns_from_numbers_states_and_gaps(make_set):
    material = make_set(n_classes=3)
    for model in MODELS.values():
        if model.obstacle or model.is_step:
            continue
        estimator = model.make(material, 60, 0).fit(material.table, material.target)
        beliefs = estimator.predict_proba(material.table)
        assert beliefs.shape == (60, 3), model.name
        decisions = estimator.classes_[beliefs.argmax(axis=1)]
        assert (decisions == material.target).mean() > 0.55, model.name
        assert measure_size(estimator).count >= 1, model.name


def test_honesty_prints_a_line_a_set_and_the_mean(capsys):
    honesty.main(["--sets", "wine", "diabetes", "--seeds", "1", "--jobs", "1"])
    _, _, first, second, *means = capsys.readouterr().out.splitlines()
    assert [first.split()[0], second.split()[0], len(means)] == ["wine", "diabetes", 2]
    assert all(0 < float(figure) < 1 for figure in first.split()[1:3])


def test_rare_classes_print_a_line_a_model(capsys):
    rare.main(["--sets", "drawn-150", "--models", "solah", "logistic", "boosted", "--quick"])
    _, *lines = capsys.readouterr().out.splitlines()
    assert [one.split()[3] for one in lines] == ["solah", "logistic", "boosted"]
    assert all(0.5 < float(one.split()[4]) < 1 for one in lines)


def test_stability_and_missing_readings_print_tables(monkeypatch, make_set, capsys):
    for program in (missing, stability):
        monkeypatch.setattr(program, "load_rows", lambda name, most: make_set(most))
    words = ["--sets", "made", "--models", "solah-20", "tree", "--draws", "2", "--rows", "90"]
    stability.main(words)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["made", "made"]
    missing.main(["--sets", "made", "--shares", "0.5", "--fills", "3", "--rows", "120"])
    lines = capsys.readouterr().out.splitlines()
    assert "nothing" in lines[2]
    assert "the half that matters" in lines[-1]
    whole = [float(word) for word in lines[2].split()[-5:]]
    assert whole[0] == pytest.approx(whole[1])


def test_rows_of_sensors_depend_on_their_place_alone(tmp_path, monkeypatch, capsys):
    X, y = sensors.sensor_block(0, 20_000, n_features=9)
    for start, stop in ((0, 7), (7, 13_001), (13_001, 20_000)):
        rows, target = sensors.sensor_block(start, stop - start, n_features=9)
        np.testing.assert_array_equal(rows, X[start:stop])
        np.testing.assert_array_equal(target, y[start:stop])
    words = ["sensors.py", str(tmp_path), "--rows", "5", "--files", "9", "--features", "3"]
    monkeypatch.setattr(sys, "argv", words)
    sensors.main()
    assert capsys.readouterr().out.startswith("5 rows, 0.00 GB, in ")
    assert pq.read_table(tmp_path).num_rows == 5


def test_settling_and_energy_of_signals():
    windows = window_features().windows(recordings(np.random.default_rng(0), 1))
    decided = windows.labels.astype(str)
    assert signals.settle(windows, decided, Policy()) == (1.0, 0.0)
    decided[np.flatnonzero(windows.recording == "r0")[5]] = "fault"
    # Windows of 1 s overlap by half: the second of three comes half a second later.
    assert signals.settle(windows, decided, Policy(votes=2, window=3)) == (1.0, 0.5)
    board = signals_edge.Board.parse("mine,100,50,2")
    # A million instructions are 1.3 million cycles: of 50 pC each, at 2 V.
    assert board.microwatts(1e6) == pytest.approx(1.3e6 * 50e-12 * 2 * 1e6)
    with pytest.raises(argparse.ArgumentTypeError):
        signals_edge.Board.parse("mine,100")


def test_streams_decide_on_every_row_but_the_first():
    X, y = streams.abrupt(700, 0)
    for run in (streams.fitted_once, streams.partial_fit_alone(1 / 32), streams.stream):
        accuracy_, speed = streams.timed(run, X, y)
        assert 0.5 < accuracy_ < 0.95
        assert speed > 0


def test_airtime_is_that_of_the_formula():
    """At SF9 and 125 kHz a symbol takes 4.096 ms; 12.25 are the preamble, the rest by hand."""
    for payload, symbols in ((0, 40.25), (10, 50.25), (51, 95.25)):
        assert traffic.airtime(payload) == pytest.approx(0.004096 * symbols)
    ring = [f"US{i}" for i in range(1, 25)]
    placed = [name for own in traffic.quarters(ring).values() for name in own]
    assert sorted(placed) == sorted(ring)


def test_every_package_has_a_budget_and_all_fits_on_a_screen(monkeypatch, capsys):
    measured = {"a fit": (50, 400), "commands": (25, 400)}
    monkeypatch.setattr(code_size, "measured_apart", lambda root: measured)
    code_size.main(ROOT)
    lines = capsys.readouterr().out.splitlines()
    folders = (path for path in (ROOT / "src" / "solah").iterdir() if path.is_dir())
    packages = {path.name for path in folders if (path / "__init__.py").exists()}
    assert packages == {package for some in code_size.BUDGETS for package in some}
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 110


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_wide_runs_at_toy_size(capfd, monkeypatch):
    pytest.importorskip("resource")
    import wide

    monkeypatch.setattr(wide, "show_peer", lambda options, mine: print(f"mine {mine.cpu > 0}"))
    wide.main(["--columns", "150", "--rows", "200", "--keep", "5", "--jobs", "1"])
    shown, told = capfd.readouterr()
    assert told == ""
    assert "all 11,175 pairs of 150 columns, 200 rows" in shown
    assert "5 of 150 features are kept" in shown
    assert len(re.findall(r"peak 0\.\d\d GB", shown)) == 4


def test_regression_measures_models_and_prints_ratios(tmp_path, capsys, monkeypatch):
    out = tmp_path / "results.json"
    words = ["--sets", "diabetes", "--models", "solah,tree", "--folds", "2", "--rows", "200"]
    monkeypatch.setattr(sys, "argv", ["regression.py", *words, "-o", str(out)])
    regression.main()
    assert re.search(r"RMSE of solah / tree: mean 0\.\d+, .* over 1 sets", capsys.readouterr().out)
    assert {found["rows"] for found in json.loads(out.read_text()).values()} == {200}
