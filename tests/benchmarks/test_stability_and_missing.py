"""The benchmarks of stability and of missing readings, on made-up sets."""

import missing
import numpy as np
import pytest
import stability


@pytest.fixture
def no_files(monkeypatch, make_set):
    for program in (missing, stability):
        monkeypatch.setattr(program, "load_rows", lambda name, most: make_set(most))


def test_decisions_that_change_are_counted(make_set):
    n_rules, shares, sizes = stability.changes("solah-20", make_set(120), 2)
    assert 1 <= n_rules <= 20
    assert len(shares) == len(sizes) == 2
    assert ((shares >= 0) & (shares < 0.5)).all()


def test_the_command_of_stability_prints_a_table(no_files, capsys):
    stability.main(
        ["--sets", "made", "--models", "solah-20", "tree", "--draws", "2", "--rows", "90"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["made", "made"]


def test_gaps_are_made_and_filled(make_set):
    table = make_set(40).table
    lost = np.random.default_rng(0).random((40, len(table.columns))) < 0.5
    gapped = missing.without(table, lost)
    for j, column in enumerate(gapped.columns):
        assert column.missing()[lost[:, j]].all()
    filled = missing.filled(gapped, lost, table, np.random.default_rng(0))
    for j, column in enumerate(filled.columns):
        before = table.columns[j]
        assert (column.missing() <= before.missing() | lost[:, j]).all()
        kept = ~lost[:, j] & ~before.missing()
        assert (column.values[kept] == before.values[kept]).all()


def test_the_command_of_missing_readings_prints_a_table(no_files, capsys):
    missing.main(["--sets", "made", "--shares", "0.5", "--fills", "3", "--rows", "120"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["set", "missing"]
    assert "nothing" in lines[2]
    assert "50% at random" in lines[3]
    assert "the half that matters" in lines[-1]
    whole = [float(word) for word in lines[2].split()[-5:]]
    assert whole[0] == pytest.approx(whole[1])
