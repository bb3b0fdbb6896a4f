"""A cluster finds the same model, whatever happens to its workers."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from scale_rows import WIRING, cut, document, document_in_memory, plant
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from smaller_sizes import make_smaller

from solah import (
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    RuleClassifier,
    scan,
)
from solah.data.frames import is_dask
from solah.exceptions import DataError, MissingExtraError, ParameterError, SolahError
from solah.scale.dask_engine import DaskEngine, connect, open_collection
from solah.scale.engines import Portions
from solah.scale.frames_source import FramesSource

distributed = pytest.importorskip("distributed")
dask_array, dask_frame = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.usefixtures("few_are_many")

TREE = LinguisticTreeClassifier(max_depth=2)
ESTIMATORS = {
    "tree": TREE,
    "hearing": LinguisticHierarchyClassifier(
        WIRING, tree=LinguisticTreeClassifier(max_depth=2, n_words=2)
    ),
    "adding": RuleClassifier(max_rules=30, interactions=2),
}


@pytest.fixture(scope="module")
def client():
    here = str(Path(__file__).parent)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="localhost:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.register_plugin(Smaller(here))
        yield client


class Smaller(distributed.WorkerPlugin):
    """Lets few rows be many on every worker, and on those that come later."""

    def __init__(self, here):
        self.here = here

    def setup(self, worker):
        sys.path.insert(0, self.here)
        make_smaller(pytest.MonkeyPatch())


@pytest.fixture(scope="module")
def rows():
    return plant(400)


@pytest.fixture(scope="module")
def expected(rows):
    return {name: document_in_memory(clone(one), rows) for name, one in ESTIMATORS.items()}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_data_frame_gives_the_same(client, rows, expected, name):
    frame = dask_frame.from_pandas(rows, npartitions=3)
    assert document(clone(ESTIMATORS[name]), frame, "y") == expected[name]


@pytest.mark.parametrize("n_partitions", [1, 13])
def test_partitions_leave_no_trace(client, rows, expected, n_partitions):
    frame = dask_frame.from_pandas(rows, npartitions=n_partitions)
    assert document(clone(TREE), frame, "y") == expected["tree"]
    target = frame["y"]
    assert document(clone(TREE), frame.drop(columns="y"), target) == expected["tree"]


def test_arrays_give_the_same(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    in_memory = clone(TREE).fit(X, y)
    chunks = dask_array.from_array(X, chunks=(70, 2)), dask_array.from_array(y, chunks=70)
    on_cluster = clone(TREE).fit(*chunks)
    assert on_cluster.model_ == in_memory.model_
    beliefs = on_cluster.predict_proba(chunks[0]).compute()
    np.testing.assert_array_equal(beliefs, in_memory.predict_proba(X))


@pytest.mark.parametrize("way", ["parquet", "csv", "frames"])
def test_workers_read_what_is_scanned(client, rows, expected, tmp_path, way):
    parts = cut(rows, 3)
    for number, part in enumerate(parts):
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
        part.to_csv(tmp_path / f"{number}.csv", index=False)
    data = {"parquet": tmp_path, "csv": str(tmp_path / "*.csv"), "frames": parts}[way]
    with scan(data, dask=client, checkpoint=tmp_path / "kept") as scanned:
        assert document(clone(TREE), scanned, "y") == expected["tree"]
    assert client.status == "running"


# Older versions of Dask warn of it, since the tests beside this one have a client.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_without_a_client_partitions_are_read_here(rows, expected):
    frame = dask_frame.from_pandas(rows, npartitions=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "default_client", no_client)
        scanned = scan(frame)
        assert scanned.client is None
        assert document(clone(TREE), scanned, "y") == expected["tree"]


def no_client():
    raise ValueError("No clients found")


class SlowParts:
    """Frames that take their time to be read."""

    def __init__(self, frame, pause):
        self.frame, self.pause = frame, pause

    def __call__(self):
        time.sleep(self.pause)
        return (self.frame,)


def test_a_worker_that_is_killed_changes_nothing(client, rows, expected):
    source = FramesSource("slow frames", [SlowParts(part, 0.05) for part in cut(rows, 12)])
    before = set(client.run(os.getpid).values())
    victim, killed = min(before), threading.Event()

    def kill():
        time.sleep(0.4)
        os.kill(victim, signal.SIGKILL)
        killed.set()

    thread = threading.Thread(target=kill)
    thread.start()
    found = document(clone(TREE), scan(source, dask=client), "y")
    was_killed = killed.is_set()
    thread.join()
    assert was_killed, "the run was over before a worker was killed"
    assert found == expected["tree"]
    deadline = time.monotonic() + 180
    while len(set(client.run(os.getpid, on_error="ignore").values()) - {victim}) < 2:
        assert time.monotonic() < deadline, "no worker took the place of the killed one"
        time.sleep(0.1)


def test_errors_of_workers_are_those_of_solah(client, rows):
    parts = cut(rows, 4)
    parts[2] = parts[2].assign(s1=np.where(np.arange(len(parts[2])) == 5, np.inf, 0.0))
    row = len(parts[0]) + len(parts[1]) + 6
    with pytest.raises(DataError, match=rf"column 's1' has an infinite value \(row {row}\)"):
        clone(TREE).fit(scan(parts, dask=client), "y")
    frame = dask_frame.from_pandas(rows.assign(y=rows["y"].where(rows.index > 3)), npartitions=2)
    with pytest.raises(DataError, match="the target 'y' has no value in row 1"):
        clone(TREE).fit(frame, "y")


def test_who_watches_hears_of_every_row(client, rows):
    heard = []

    class Watcher:
        def begin(self, name, n_rows):
            heard.append([name, n_rows, 0])

        def advance(self, n_rows):
            heard[-1][2] += n_rows

        def end(self):
            deadline = time.monotonic() + 60
            while heard[-1][2] < heard[-1][1] and time.monotonic() < deadline:
                time.sleep(0.01)

    clone(TREE).fit(scan(cut(rows, 5), dask=client, watcher=Watcher()), "y")
    assert len(heard) > 4
    assert {tuple(told[1:]) for told in heard} == {(len(rows), len(rows))}


def test_a_run_on_a_cluster_goes_on_without_it(client, rows, expected, tmp_path):
    runs = []

    class Stopping(DaskEngine):
        def run(self, one):
            runs.append(one.name)
            if len(runs) == 4:
                raise OSError("the cluster is gone")
            return super().run(one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solah.scale.scanning.DaskEngine", Stopping)
        with pytest.raises(OSError, match="the cluster is gone"):
            clone(TREE).fit(scan(cut(rows, 3), dask=client, checkpoint=tmp_path), "y")
    assert len(list(tmp_path.glob("*.npz"))) == 3
    assert document(clone(TREE), scan(cut(rows, 3), checkpoint=tmp_path), "y") == expected["tree"]


def test_parts_are_cut_for_all_workers(client, rows, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=10, index=False)
    with scan(tmp_path, dask=client) as scanned:
        portions = scanned.engine(1, {}).portions
    assert portions.part_rows == 100  # two parts for each of two threads
    assert portions.rows == Portions.rows


def test_what_is_cut_otherwise_is_refused(client, rows):
    frame = dask_frame.from_pandas(rows, npartitions=3)
    target = dask_frame.from_pandas(rows["y"], npartitions=4)
    with pytest.raises(DataError, match="X has 3 partitions where y has 4; they must be cut alike"):
        clone(TREE).fit(frame.drop(columns="y"), target)
    with pytest.raises(DataError, match="y is called 'y', like a column of X; rename one of them"):
        clone(TREE).fit(frame, frame["y"])
    flat = dask_array.from_array(np.arange(9.0), chunks=3)
    with pytest.raises(DataError, match="X must have two dimensions. Got a Dask array of 1."):
        clone(TREE).fit(flat, flat)
    X = dask_array.from_array(np.ones((9, 2)), chunks=(3, 2))
    other = dask_array.from_array(np.arange(9), chunks=((2, 4, 3),))
    with pytest.raises(DataError, match="a partition of X has 3 rows where y has [24]"):
        clone(TREE).fit(X, other)
    numbered = dask_frame.from_pandas(rows.rename(columns={"s0": 0}), npartitions=2)
    with pytest.raises(DataError, match="columns of a Dask DataFrame must have names that are te"):
        clone(TREE).fit(numbered, "y")


def test_who_is_no_cluster_is_refused():
    with pytest.raises(ParameterError, match="'dask' must be 'local', the address .* Got int."):
        connect(8)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    def refuse(*_, **__):
        raise OSError("Timed out")

    monkeypatch.setattr(distributed, "Client", type("Client", (), {"__new__": refuse}))
    with pytest.raises(SolahError, match="no Dask scheduler at tcp://nowhere:1: Timed out"):
        connect("tcp://nowhere:1")


def test_a_cluster_of_ones_own_ends_with_the_scan(rows, expected, monkeypatch):
    ended = []

    class Own(distributed.LocalCluster):
        def __init__(self, **options):
            super().__init__(n_workers=1, processes=False, **options)

        def close(self, *arguments):
            ended.append(True)
            return super().close(*arguments)

    monkeypatch.setattr(distributed, "LocalCluster", Own)
    with scan(cut(rows, 2), dask="local") as scanned:
        assert document(clone(TREE), scanned, "y") == expected["tree"]
    assert ended
    assert scanned.client.status == "closed"


def test_the_extra_is_named_where_it_is_missing(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"'distributed': pip install 'solah\[dask\]'"):
        scan([rows], dask="local")
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'solah\[dask\]'"):
        open_collection(object())


def test_only_collections_of_dask_are_such(rows):
    assert is_dask(dask_frame.from_pandas(rows, npartitions=1))
    assert is_dask(dask_array.ones(3))
    assert not any(map(is_dask, (rows, [rows], "rows.csv", np.ones(3), None)))


@pytest.mark.parametrize(
    "estimator",
    [
        RuleClassifier(n_jobs=2),
        GeneticHierarchyClassifier(
            GeneticSearch(population_size=3, n_generations=1, n_folds=2),
            tree=LinguisticTreeClassifier(max_depth=2),
            random_state=0,
            n_jobs=2,
        ),
    ],
    ids=["auto", "genetic"],
)
def test_joblib_on_a_cluster_finds_the_same(client, rows, estimator):
    here = document_in_memory(clone(estimator), rows)
    with parallel_config(backend="dask"):
        assert document_in_memory(clone(estimator), rows) == here


def test_cross_validation_on_a_cluster_scores_the_same(client, rows):
    X, y = rows.drop(columns="y"), rows["y"]
    here = cross_val_score(clone(TREE), X, y, cv=3)
    with parallel_config(backend="dask"):
        there = cross_val_score(clone(TREE), X, y, cv=3, n_jobs=-1)
    np.testing.assert_array_equal(here, there)


def test_no_cluster_is_left_behind_by_a_wrong_path(monkeypatch, tmp_path):
    monkeypatch.setattr("solah.scale.scanning.connect", lambda _: pytest.fail("a cluster started"))
    for wrong in ({"data": tmp_path / "none.parquet"}, {"data": [], "memory": "lots"}):
        with pytest.raises((DataError, ParameterError)):
            scan(**wrong, dask="local")
