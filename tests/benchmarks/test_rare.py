"""The benchmark of rare classes, on drawn rows."""

import numpy as np
import pytest
import rare


def test_the_command_prints_a_line_a_model(capsys):
    rare.main(["--sets", "drawn-150", "--models", "solah", "logistic", "boosted", "--quick"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["set", "rows", "1", "of"]
    assert [one.split()[3] for one in lines] == ["solah", "logistic", "boosted"]
    assert all(0.5 < float(one.split()[4]) < 1 for one in lines)


def test_the_likeliest_rows_are_compared_with_what_they_are():
    rng = np.random.default_rng(0)
    chances = rng.random(20_000)
    truth = (rng.random(20_000) < chances).astype(int)
    expected, observed, error = rare.top_of(chances, truth)
    assert expected == pytest.approx(0.995, abs=0.001)
    assert abs(expected - observed) < 4 * error
    assert rare.top_of(chances, np.zeros(20_000))[1] == 0
    assert rare.top_of(chances, np.zeros(20_000))[2] > 0
