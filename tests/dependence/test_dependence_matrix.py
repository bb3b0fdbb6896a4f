"""Whole tables: all pairs, any source, any number of threads, and clear errors."""

import numpy as np
import pandas as pd
import pytest

from solah.data import Column, Kind, Table, infer_types
from solah.dependence import (
    Dependence,
    TableColumns,
    dependence_of,
    distance_correlation,
    distance_correlation_matrix,
)
from solah.exceptions import DataError, ParameterError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 400
    normal = rng.standard_normal(n)
    return pd.DataFrame(
        {
            "normal": normal,
            "holes": np.where(rng.random(n) < 0.2, np.nan, normal + rng.standard_normal(n)),
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[np.clip((normal + 1).astype(int), 0, 2)],
                ["S", "M", "L"],
                ordered=True,
            ),
            "colour": np.where(rng.random(n) < 0.1, None, rng.choice(["red", "blue", "grey"], n)),
            "flag": normal > 1,
            "constant": 1.0,
            "grid": rng.integers(0, 40, n),
        }
    )


def test_entries_are_those_of_the_pairs(frame):
    found = distance_correlation_matrix(frame)
    places = frame["size"].cat.codes.to_numpy()
    columns = [places if name == "size" else frame[name].to_numpy() for name in frame]
    for i, x in enumerate(columns):
        for j, y in enumerate(columns):
            expected = 1.0 if i == j else distance_correlation(x, y)
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_is_symmetric_with_ones_and_no_constant(frame):
    found = distance_correlation_matrix(frame)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 1.0)
    constant = list(frame).index("constant")
    np.testing.assert_array_equal(np.delete(found[constant], constant), 0.0)


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_order_and_threads_leave_no_trace(frame, method, weighted):
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.1, 3.0, len(frame)) if weighted else np.ones(len(frame))
    first = distance_correlation_matrix(frame, method=method, sample_weight=weights)
    for n_jobs in (1, 2, 5):
        order = rng.permutation(len(frame))
        again = distance_correlation_matrix(
            frame.iloc[order], method=method, sample_weight=weights[order], n_jobs=n_jobs
        )
        np.testing.assert_array_equal(again, first)


def test_a_target_is_measured_in_the_same_go(frame):
    table = Table(
        tuple(
            Column(name, frame[name].to_numpy()) for name in ("normal", "holes", "grid", "constant")
        ),
        len(frame),
    )
    table, kinds = infer_types(table)
    classes = frame["grid"].to_numpy() % 3
    found = dependence_of(TableColumns.of(table, kinds, classes, nominal_target=True, n_jobs=2))
    assert found.names == table.names
    assert found.method == "exact"
    np.testing.assert_array_equal(found.matrix, distance_correlation_matrix(table))
    expected = [distance_correlation(c.values, classes, nominal_y=True) for c in table.columns]
    np.testing.assert_array_equal(found.relevance, expected)
    numeric = dependence_of(TableColumns.of(table, kinds, classes, nominal_target=False))
    assert numeric.relevance[2] != found.relevance[2]


def test_a_declared_kind_holds(frame):
    X = frame[["grid", "normal"]]
    found = distance_correlation_matrix(X, kinds={"grid": Kind.CATEGORICAL})
    assert found[0, 1] == distance_correlation(X["grid"], X["normal"], nominal_x=True)


def test_progress_reaches_the_end(frame):
    seen = []
    distance_correlation_matrix(frame, n_jobs=2, on_progress=lambda *step: seen.append(step))
    assert seen[-1] == (21, 21)
    assert seen == sorted(seen)


def test_one_column_is_a_matrix_too():
    np.testing.assert_array_equal(distance_correlation_matrix([[1.0], [2.0]]), [[1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2, 3]), "same length. Got 2 and 3"),
        (([[1, 2]], [1, 2]), "x must have one dimension"),
        (([], []), "no rows"),
        (([1.0, np.inf], [1, 2]), "'x' has an infinite value \\(row 2\\)"),
        ((np.array([1], dtype="m8[D]"), [1]), "dates or times"),
    ],
)
def test_columns_that_cannot_be_used(arguments, message):
    with pytest.raises(DataError, match=message):
        distance_correlation(*arguments)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "one value for each of the 2 rows"),
        ([1.0, -1.0], "not negative. Got -1.0 in row 2"),
        ([np.nan, 1.0], "must be finite"),
        ([0.0, 0.0], "must weigh"),
        (["a", "b"], "must be numbers"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    with pytest.raises(DataError, match=message):
        distance_correlation([1, 2], [1, 2], sample_weight=weights)


def test_other_errors():
    with pytest.raises(ParameterError, match="'method' must be"):
        distance_correlation([1, 2], [1, 2], method="fast")
    with pytest.raises(DataError, match="two dimensions"):
        distance_correlation_matrix([1, 2])
    table = Table((Column("a", np.arange(3.0)),), 3)
    with pytest.raises(DataError, match="y has 2 values where the table has 3 rows"):
        TableColumns.of(table, [Kind.CONTINUOUS], [0, 1], nominal_target=True)


def test_other_columns_have_their_place_in_a_matrix():
    found = Dependence(
        ("b", "a"), np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([0.5, 0.2]), "exact"
    )
    matrix = found.matrix_of(["a", "new", "b"])
    np.testing.assert_array_equal(matrix[np.ix_([0, 2], [0, 2])], found.matrix[::-1, ::-1])
    assert np.isnan(matrix[1]).all()
    assert np.isnan(matrix[:, 1]).all()
