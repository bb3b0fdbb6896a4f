"""Many columns: tile by tile, stopped and resumed, on any number of threads, in little memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from solah.data import from_array, settle
from solah.dependence import (
    TableColumns,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
    matrix,
    relevance_of,
)
from solah.dependence.checkpoint import Checkpoint
from solah.dependence.coding import code_numbers
from solah.dependence.matrix import MatrixWork
from solah.dependence.statistics import correlations
from solah.dependence.tiles import Tile
from solah.exceptions import ParameterError
from solah.kernels import native as kernels

WIDTH = 4
N_COLUMNS = 11
N_PAIRS = N_COLUMNS * (N_COLUMNS - 1) // 2


@pytest.fixture(autouse=True)
def _narrow_tiles(monkeypatch):
    monkeypatch.setattr(matrix, "tile_width", lambda n_rows: WIDTH)


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


def stop_after(n_pairs):
    def on_progress(done, total):
        if done >= n_pairs:
            raise KeyboardInterrupt

    return on_progress


def stopped(X, folder, n_pairs=N_PAIRS // 2, **settings):
    with pytest.raises(KeyboardInterrupt):
        distance_correlation_matrix(
            X, checkpoint=folder, on_progress=stop_after(n_pairs), **settings
        )


def written(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("n_columns", [1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH, N_COLUMNS])
def test_tiles_leave_no_trace(X, method, n_columns):
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


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("n_pairs", [1, N_PAIRS // 2, N_PAIRS])
def test_a_stopped_run_goes_on(X, tmp_path, method, n_pairs):
    expected = distance_correlation_matrix(X, method=method)
    folder = tmp_path / "a" / "checkpoint"
    stopped(X, folder, n_pairs, method=method)
    before, seen = written(folder), []
    found = distance_correlation_matrix(
        X,
        method=method,
        n_jobs=2,
        checkpoint=folder,
        on_progress=lambda *step: seen.append(step),
    )
    np.testing.assert_array_equal(found, expected)
    after = written(folder)
    assert {name: after[name] for name in before} == before
    assert len(after) == 6
    assert seen == sorted(seen)
    assert seen[-1] == (N_PAIRS, N_PAIRS)


def test_a_finished_run_is_read(X, tmp_path):
    first = distance_correlation_matrix(X, checkpoint=tmp_path)
    before = written(tmp_path)
    np.testing.assert_array_equal(distance_correlation_matrix(X, checkpoint=str(tmp_path)), first)
    assert written(tmp_path) == before


def test_dependence_goes_on_too(X, tmp_path):
    table, kinds = settle(from_array(X, [f"x{j}" for j in range(N_COLUMNS)]))
    goal = np.arange(len(X)) % 3
    columns = TableColumns.of(table, kinds, goal, nominal_goal=True)
    expected = dependence_of(columns)
    kept = replace(columns, checkpoint=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        dependence_of(replace(kept, on_progress=stop_after(20)))
    assert written(tmp_path)
    found = dependence_of(kept)
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    np.testing.assert_array_equal(found.relevance, expected.relevance)


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("method", ["exact", "binned"])
def test_relevance_alone_is_that_of_the_whole(X, monkeypatch, nominal, method):
    monkeypatch.setattr("solah.dependence.table._PAIRS_IN_A_RUN", 4)
    table, kinds = settle(from_array(X, [f"x{j}" for j in range(N_COLUMNS)]))
    goal = np.round(2 * X[:, 0]) % 4 if nominal else X[:, 0] ** 2
    settings = {"nominal_goal": nominal, "method": method, "n_jobs": 2}
    columns, seen = TableColumns.of(table, kinds, goal, **settings), []
    found = relevance_of(replace(columns, on_progress=lambda *at: seen.append(at)))
    expected = dependence_of(columns).relevance
    np.testing.assert_array_equal(found, expected)
    assert seen == [(4, 11), (8, 11), (11, 11)]


def other_value(X):
    X = X.copy()
    X[0, 0] += 1.0
    return {"X": X}


@pytest.mark.parametrize(
    "other",
    [
        other_value,
        lambda X: {"X": X[:, :-1]},
        lambda X: {"X": X[:, ::-1]},
        lambda X: {"X": X, "method": "binned"},
        lambda X: {"X": X, "bias_corrected": True},
        lambda X: {"X": X, "sample_weight": np.arange(len(X))},
        lambda X: {"X": X, "kinds": {"x4": "categorical"}},
    ],
)
def test_a_checkpoint_of_something_else_is_refused(X, tmp_path, other):
    stopped(X, tmp_path)
    before = written(tmp_path)
    with pytest.raises(ParameterError, match="of other data or settings.*give another folder"):
        distance_correlation_matrix(**other(X), checkpoint=tmp_path)
    assert written(tmp_path) == before


def test_the_refusal_says_what_was_there(X, tmp_path):
    stopped(X, tmp_path)
    message = "of 11 columns of 300 rows, exact, and this is 10 columns of 300 rows, binned, bias"
    with pytest.raises(ParameterError, match=message):
        distance_correlation_matrix(
            X[:, 1:], method="binned", bias_corrected=True, checkpoint=tmp_path
        )


def test_what_is_no_folder_is_refused(X, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ParameterError, match="'checkpoint' must be a folder.*file"):
        distance_correlation_matrix(X, checkpoint=tmp_path / "file")
    with pytest.raises(ParameterError, match="'checkpoint' must be a folder's path or None. Got 3"):
        distance_correlation_matrix(X, checkpoint=3)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: b"\x00" * len(content),
        lambda content: content[:300] + bytes([content[300] ^ 1]) + content[301:],
    ],
)
def test_a_damaged_tile_is_computed_anew(X, tmp_path, damage):
    expected = distance_correlation_matrix(X, checkpoint=tmp_path)
    path = sorted(tmp_path.iterdir())[1]
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(UserWarning, match=f"{path.name} was altered or cut short"):
        again = distance_correlation_matrix(X, checkpoint=tmp_path)
    np.testing.assert_array_equal(again, expected)
    assert path.read_bytes() == whole


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    checkpoint = Checkpoint.open(tmp_path_factory.mktemp("kept"), "fingerprint", "something")
    tile = Tile(range(2), range(2, 5))
    checkpoint.keep(tile, np.arange(6.0).reshape(tile.shape))
    (path,) = checkpoint.folder.iterdir()
    return checkpoint, tile, path, path.read_bytes()


def test_no_changed_byte_makes_other_values(kept):
    checkpoint, tile, path, content = kept
    np.testing.assert_array_equal(checkpoint.load(tile), np.arange(6.0).reshape(tile.shape))
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.warns(UserWarning, match="altered"):
            assert checkpoint.load(tile) is None
    with pytest.warns(UserWarning, match="altered"):
        Checkpoint.open(checkpoint.folder, "fingerprint", "something")


def test_a_tile_in_the_place_of_another_is_not_believed(tmp_path):
    checkpoint = Checkpoint.open(tmp_path, "fingerprint", "something")
    one, other = Tile(range(2), range(2, 5)), Tile(range(2), range(5, 8))
    checkpoint.keep(one, np.arange(6.0).reshape(one.shape))
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"{other.name}.npz")
    with pytest.warns(UserWarning, match="altered"):
        assert checkpoint.load(other) is None


def test_files_of_others_are_left_alone(X, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    distance_correlation_matrix(X, checkpoint=tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(kernels.load() is None, reason="NumPy remembers less than it works with")
def test_what_columns_remember_goes_with_their_tile(monkeypatch):
    monkeypatch.setenv("SOLAH_KERNEL", "native")
    rng = np.random.default_rng(0)
    columns = [code_numbers(values, None) for values in rng.random((80, 1_000))]
    remembered = 80 * 1_000 * (8 + 4)

    def peak(width):
        monkeypatch.setattr(matrix, "tile_width", lambda n_rows: width)
        tracemalloc.start()
        try:
            MatrixWork(columns, None, correlations).run()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(80) > remembered
    assert peak(8) < remembered / 2
