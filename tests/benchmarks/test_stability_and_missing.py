"""The benchmarks of stability and of missing readings, on made-up sets."""

import missing
import pytest
import stability


@pytest.fixture
def no_files(monkeypatch, make_set):
    for program in (missing, stability):
        monkeypatch.setattr(program, "load_rows", lambda name, most: make_set(most))


def test_the_command_of_stability_prints_a_table(no_files, capsys):
    stability.main(
        ["--sets", "made", "--models", "solah-20", "tree", "--draws", "2", "--rows", "90"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["made", "made"]


def test_the_command_of_missing_readings_prints_a_table(no_files, capsys):
    missing.main(["--sets", "made", "--shares", "0.5", "--fills", "3", "--rows", "120"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["set", "missing"]
    assert "nothing" in lines[2]
    assert "50% at random" in lines[3]
    assert "the half that matters" in lines[-1]
    whole = [float(word) for word in lines[2].split()[-5:]]
    assert whole[0] == pytest.approx(whole[1])
