"""Dask collections give the same model, whatever their partitions, here or on a cluster."""

import sys

import numpy as np
import pytest
from scale_rows import document, document_in_memory, plant
from sklearn.base import clone

from solah import RuleClassifier, scan
from solah.data.frames import is_dask
from solah.exceptions import DataError, MissingExtraError
from solah.scale.dask_collections import open_collection

distributed = pytest.importorskip("distributed")
dask_array, dask_frame = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")

MODEL = RuleClassifier(max_rules=30, interactions=2)


@pytest.fixture(scope="module")
def rows():
    return plant(400)


@pytest.fixture(scope="module")
def expected(rows, few_are_many):
    return document_in_memory(clone(MODEL), rows)


@pytest.mark.parametrize("n_partitions", [1, 13])
def test_partitions_leave_no_trace(rows, expected, n_partitions):
    frame = dask_frame.from_pandas(rows, npartitions=n_partitions)
    assert document(clone(MODEL), frame, "y") == expected
    assert document(clone(MODEL), frame.drop(columns="y"), frame["y"]) == expected
    assert document(clone(MODEL), scan(frame, memory="4GB"), "y") == expected


def test_a_cluster_gives_the_same(rows, expected):
    frame = dask_frame.from_pandas(rows, npartitions=3)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="localhost:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        model = clone(MODEL)
        assert document(model, frame, "y") == expected
        X = rows.drop(columns="y")
        np.testing.assert_array_equal(model.predict(frame).compute(), model.predict(X))


def test_arrays_give_the_same(few_are_many):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    in_memory = clone(MODEL).fit(X, y)
    chunks = dask_array.from_array(X, chunks=(70, 2)), dask_array.from_array(y, chunks=70)
    model = clone(MODEL).fit(*chunks)
    assert model.model_ == in_memory.model_
    assert not hasattr(model, "feature_names_in_")
    found = model.predict_proba(chunks[0]).compute()
    np.testing.assert_array_equal(found, in_memory.predict_proba(X))
    np.testing.assert_array_equal(model.predict(chunks[0]).compute(), in_memory.predict(X))


def test_errors_are_those_of_solah_and_name_the_partition(rows):
    wrong = rows.assign(s1=np.where(np.arange(len(rows)) == 205, np.inf, 0.0))
    frame = dask_frame.from_pandas(wrong, npartitions=4)
    with pytest.raises(DataError, match=r"partition 3: column 's1' has an infinite .*\(row 6\)"):
        clone(MODEL).fit(frame, "y")


def test_what_is_cut_otherwise_is_refused(rows):
    frame = dask_frame.from_pandas(rows, npartitions=3)
    target = dask_frame.from_pandas(rows["y"], npartitions=4)
    with pytest.raises(DataError, match="X has 3 partitions where y has 4; they must be cut alike"):
        clone(MODEL).fit(frame.drop(columns="y"), target)
    with pytest.raises(DataError, match="y is called 'y', like a column of X; rename one of them"):
        clone(MODEL).fit(frame, frame["y"])
    flat = dask_array.from_array(np.arange(9.0), chunks=3)
    with pytest.raises(DataError, match="X must have two dimensions. Got a Dask array of 1."):
        clone(MODEL).fit(flat, flat)
    X = dask_array.from_array(np.ones((9, 2)), chunks=(3, 2))
    other = dask_array.from_array(np.arange(9), chunks=((2, 4, 3),))
    with pytest.raises(DataError, match="a partition of X has 3 rows where y has [24]"):
        clone(MODEL).fit(X, other)
    numbered = dask_frame.from_pandas(rows.rename(columns={"s0": 0}), npartitions=2)
    with pytest.raises(DataError, match="columns of a Dask DataFrame must have names that are te"):
        clone(MODEL).fit(numbered, "y")


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'solah\[dask\]'"):
        open_collection(object())


def test_only_collections_of_dask_are_such(rows):
    assert is_dask(dask_frame.from_pandas(rows, npartitions=1))
    assert is_dask(dask_array.ones(3))
    assert not any(map(is_dask, (rows, [rows], "rows.csv", np.ones(3), None)))
