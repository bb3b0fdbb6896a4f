"""Dask collections give the same model, whatever their partitions, here or on a cluster."""

import numpy as np
import pytest
from scale_rows import document, document_in_memory, plant
from sklearn.base import clone

from solah import RuleClassifier, scan
from solah.data.frames import is_dask
from solah.exceptions import DataError

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
    other = dask_frame.from_pandas(rows["y"].iloc[5:], npartitions=3).reset_index(drop=True)
    with pytest.raises(DataError, match=r"a partition of X has \d+ rows where y has \d+"):
        clone(MODEL).fit(frame.drop(columns="y"), other)
    with pytest.raises(DataError, match="X must be a Dask DataFrame or Series. Got a Dask Array"):
        clone(MODEL).fit(dask_array.from_array(np.ones((9, 2)), chunks=(3, 2)), "y")
    numbered = dask_frame.from_pandas(rows.rename(columns={"s0": 0}), npartitions=2)
    with pytest.raises(DataError, match="columns of a Dask DataFrame must have names that are te"):
        clone(MODEL).fit(numbered, "y")


def test_only_collections_of_dask_are_such(rows):
    assert is_dask(dask_frame.from_pandas(rows, npartitions=1))
    assert is_dask(dask_array.ones(3))
    assert not any(map(is_dask, (rows, [rows], "rows.csv", np.ones(3), None)))
