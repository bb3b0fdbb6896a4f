"""Many columns: block by block, on any number of threads, in little memory."""

from dataclasses import replace

import numpy as np
import pytest

from solah.data import from_array, infer_types
from solah.dependence import (
    TableColumns,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
    relevance_of,
    table,
)
from solah.kernels import native as kernels

WIDTH = 4
N_COLUMNS = 11
N_PAIRS = N_COLUMNS * (N_COLUMNS - 1) // 2


@pytest.fixture(autouse=True)
def _narrow_blocks(monkeypatch):
    monkeypatch.setattr(table, "_block_width", lambda n_rows: WIDTH)


@pytest.fixture(name="X")
def mixed_columns():
    """Return columns with many and few values, gaps, and one that is constant."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, N_COLUMNS))
    X[:, 1:] += 0.5 * X[:, :-1]
    X[:, 3:6] = np.round(X[:, 3:6])
    X[rng.random(300) < 0.2, 7] = np.nan
    X[:, 8] = 1.0
    return X


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("n_columns", [1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH, N_COLUMNS])
def test_blocks_leave_no_trace(X, method, n_columns):
    found = distance_correlation_matrix(X[:, :n_columns], method=method)
    for i in range(n_columns):
        for j in range(i):
            pair = distance_correlation(X[:, j], X[:, i], method=method)
            assert found[i, j] == found[j, i] == pair
    np.testing.assert_array_equal(np.diag(found), 1.0)


@pytest.mark.parametrize("method", ["exact", "binned"])
def test_threads_leave_no_trace(X, method):
    first = distance_correlation_matrix(X, method=method)
    for n_jobs in (2, 3, 8):
        again = distance_correlation_matrix(X, method=method, n_jobs=n_jobs)
        np.testing.assert_array_equal(again, first)


def test_progress_counts_every_pair(X):
    seen = []
    distance_correlation_matrix(X, on_progress=lambda *step: seen.append(step))
    assert seen == sorted(seen)
    assert seen[-1] == (N_PAIRS, N_PAIRS)


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("method", ["exact", "binned"])
def test_relevance_alone_is_that_of_the_whole(X, monkeypatch, nominal, method):
    monkeypatch.setattr("solah.dependence.table._PAIRS_IN_A_RUN", 4)
    read, kinds = infer_types(from_array(X, [f"x{j}" for j in range(N_COLUMNS)]))
    target = np.round(2 * X[:, 0]) % 4 if nominal else X[:, 0] ** 2
    settings = {"nominal_target": nominal, "method": method, "n_jobs": 2}
    columns, seen = TableColumns.of(read, kinds, target, **settings), []
    found = relevance_of(replace(columns, on_progress=lambda *at: seen.append(at)))
    expected = dependence_of(columns).relevance
    np.testing.assert_array_equal(found, expected)
    assert seen == [(4, 11), (8, 11), (11, 11)]


@pytest.mark.skipif(kernels.load() is None, reason="NumPy remembers less than it works with")
def test_what_columns_remember_goes_with_their_block(traced_peak):
    def peak(width):
        return traced_peak(
            f"""
            import os
            os.environ["SOLAH_KERNEL"] = "native"
            import numpy as np
            from solah.dependence import distance_correlation_matrix, table
            table._block_width = lambda n_rows: {width}
            X = np.random.default_rng(0).random((1_000, 80))
            """,
            "distance_correlation_matrix(X)",
        )

    remembered = 80 * 1_000 * (8 + 4)
    assert peak(80) - peak(8) > remembered / 2


@pytest.mark.parametrize("n_rows", [0, 1, 20_000, 50_000, 10**7, 10**10])
def test_blocks_are_narrower_for_more_rows(monkeypatch, n_rows):
    monkeypatch.undo()
    width = table._block_width(n_rows)
    assert 16 <= width <= 128
    assert table._block_width(10 * n_rows) <= width
    assert width == 16 or 2 * width * n_rows * 24 <= 2**28
