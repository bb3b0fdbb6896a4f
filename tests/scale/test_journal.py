"""A run that was stopped goes on where it was, and ends with the same model."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from scale_rows import cut, document, plant
from sklearn.base import clone

from solah import LinguisticTreeClassifier, RuleClassifier, scan
from solah.exceptions import DataError, ParameterError
from solah.scale import engines

pytestmark = pytest.mark.usefixtures("few_are_many")

TREE = LinguisticTreeClassifier(max_depth=3, shrinkage=2.0, class_weight="balanced")
CHOIR = RuleClassifier(max_rules=30, interactions=2)


@pytest.fixture(scope="module")
def rows():
    return cut(plant(300), 3)


@pytest.fixture
def passes(monkeypatch):
    """List the passes that are taken; stop before the one whose number is ``stop``."""
    taken = Taken()
    run = engines.LocalEngine.run

    def run_until(self, one):
        if len(taken) == taken.stop:
            raise taken.error
        taken.append(one.name)
        return run(self, one)

    monkeypatch.setattr(engines.LocalEngine, "run", run_until)
    return taken


class Taken(list):
    stop = -1
    error = KeyboardInterrupt()


def fitted(estimator, rows, folder, **options):
    return document(clone(estimator), scan(rows, checkpoint=folder, **options), "y")


@pytest.mark.parametrize(
    ("estimator", "error"),
    [(TREE, KeyboardInterrupt()), (CHOIR, OSError("the disk is gone"))],
    ids=["tree", "hierarchy"],
)
def test_only_what_is_missing_is_done_again(rows, passes, tmp_path, estimator, error):
    whole = document(clone(estimator), rows, "y")
    n_passes = len(passes)
    assert n_passes > 4
    for stop in range(n_passes):
        passes.clear()
        passes.stop, passes.error = stop, error
        with pytest.raises(type(error)):
            fitted(estimator, rows, tmp_path / str(stop))
        passes.stop = -1
        assert fitted(estimator, rows, tmp_path / str(stop)) == whole
        assert len(passes) == n_passes
        assert fitted(estimator, rows, tmp_path / str(stop)) == whole
        assert len(passes) == n_passes


def test_a_run_that_is_stopped_again_and_again_gets_to_its_end(rows, passes, tmp_path):
    whole = document(clone(TREE), rows, "y")
    n_passes, n_stops = len(passes), 0
    while True:
        passes.clear()
        passes.stop = 1
        try:
            found = fitted(TREE, rows, tmp_path)
        except KeyboardInterrupt:
            n_stops += 1
            assert n_stops < n_passes
            continue
        break
    assert found == whole
    assert n_stops == n_passes - 1


def test_passes_are_kept_by_their_number_and_name(rows, tmp_path):
    fitted(TREE, rows, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:3] == [
        "0001-looking-at-the-columns.npz",
        "0002-counting-readings.npz",
        "0003-placing-words.npz",
    ]
    assert names[-1] == "task.json"
    assert all(name[:4].isdigit() for name in names[:-1])


@pytest.mark.parametrize("left", [0, 1, 100, -1])
def test_what_is_cut_short_is_found_anew(rows, passes, tmp_path, left):
    whole = fitted(TREE, rows, tmp_path)
    kept = sorted(tmp_path.glob("*.npz"))
    for number in (0, 2, len(kept) - 1):
        content = kept[number].read_bytes()
        kept[number].write_bytes(content[:left])
        passes.clear()
        with pytest.warns(UserWarning, match="altered or cut short"):
            assert fitted(TREE, rows, tmp_path) == whole
        assert len(passes) == 1
        assert kept[number].read_bytes() == content


def test_no_file_that_was_altered_makes_another_model(rows, tmp_path):
    for number, frame in enumerate(rows):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    folder, pattern = tmp_path / "kept", str(tmp_path / "*.csv")
    whole = fitted(TREE, pattern, folder)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert {path.suffix for path in files} == {".json", ".npz", ".parquet"}
    before = {path: path.read_bytes() for path in files}
    for path, content in before.items():
        for at in np.linspace(0, len(content) - 1, 5).astype(int):
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*altered")
                found = fitted_or_refused(pattern, folder)
            assert found == whole or (found is None and path.name == "task.json"), (path, at)
            path.write_bytes(content)


def fitted_or_refused(pattern, folder):
    try:
        return fitted(TREE, pattern, folder)
    except ParameterError:
        return None


def test_a_pass_in_the_place_of_another_is_not_believed(rows, passes, tmp_path):
    whole = fitted(TREE, rows, tmp_path)
    first, *_, last = sorted(tmp_path.glob("*.npz"))
    last.write_bytes(first.read_bytes())
    passes.clear()
    with pytest.warns(UserWarning, match=f"{last.name} was altered"):
        assert fitted(TREE, rows, tmp_path) == whole
    assert len(passes) == 1


def test_passes_of_another_task_are_not_believed(rows, tmp_path):
    other = clone(TREE).set_params(max_depth=2)
    whole = document(clone(other), rows, "y")
    fitted(TREE, rows, tmp_path)
    (tmp_path / "task.json").unlink()
    with pytest.warns(UserWarning, match="altered"):
        assert fitted(other, rows, tmp_path) == whole


def test_equal_settings_in_another_order_are_the_same_task(rows, passes, tmp_path):
    kinds, weights = {"s4": "ordinal", "place": "categorical"}, {"hot": 2, "cold": 1.5}
    one = clone(TREE).set_params(
        feature_types=kinds, class_weight=weights, n_words={"s1": 4, "s0": 5}
    )
    whole = fitted(one, rows, tmp_path)
    passes.clear()
    other = clone(TREE).set_params(
        feature_types=dict(reversed(kinds.items())),
        class_weight={"cold": np.float64(1.5), "hot": 2.0},
        n_words={"s0": 5, "s1": np.int64(4)},
        max_depth=np.int64(3),
    )
    assert fitted(other, rows, tmp_path) == whole
    assert passes == []


@pytest.mark.parametrize(
    "change", [{"max_depth": 2}, {"class_weight": None}, {"feature_types": {"s4": "categorical"}}]
)
def test_another_task_is_refused(rows, tmp_path, change):
    fitted(TREE, rows, tmp_path)
    other = clone(TREE).set_params(**change)
    with pytest.raises(ParameterError, match="another run, which differs in its parameters; take"):
        fitted(other, rows, tmp_path)


def test_other_rows_are_refused(rows, tmp_path):
    fitted(TREE, rows, tmp_path)
    before = sorted(tmp_path.iterdir())
    for others in (rows[:2], rows[::-1], [*rows[:2], rows[2].assign(s1=0.0)]):
        with pytest.raises(ParameterError, match="another run, which differs in its data"):
            fitted(TREE, others, tmp_path)
    with pytest.raises(ParameterError, match="another run, which differs in its estimator"):
        fitted(CHOIR, rows, tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_another_target_is_refused(rows, tmp_path):
    frames = [frame.assign(again=frame["y"]) for frame in rows]
    fitted(TREE, frames, tmp_path)
    with pytest.raises(ParameterError, match="another run, which differs in its target"):
        document(clone(TREE), scan(frames, checkpoint=tmp_path), "again")


def test_jobs_may_change_and_so_may_what_is_said(rows, passes, tmp_path, capsys):
    whole = fitted(CHOIR, rows, tmp_path)
    passes.clear()
    other = clone(CHOIR).set_params(n_jobs=2, verbose=True)
    assert fitted(other, rows, tmp_path, memory="4GB") == whole
    assert passes == []
    capsys.readouterr()


@pytest.mark.parametrize("content", ["", "[]", "{", "\xff", "[" * 100_000])
def test_a_folder_of_other_things_is_refused(rows, tmp_path, content):
    (tmp_path / "task.json").write_text(content, encoding="latin-1")
    with pytest.raises(ParameterError, match="task.json is not what a checkpoint begins with"):
        fitted(TREE, rows, tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(rows, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ParameterError, match="file/below.* cannot be made"):
        fitted(TREE, rows, tmp_path / "file" / "below")


def test_rows_that_pass_by_once_are_known_again(rows, passes, tmp_path):
    whole = fitted(TREE, iter(rows), tmp_path)
    passes.clear()
    assert fitted(TREE, iter(rows), tmp_path) == whole
    assert passes == []
    with pytest.raises(ParameterError, match="another run, which differs in its data"):
        fitted(TREE, iter(rows[1:]), tmp_path)


def test_an_error_in_the_rows_leaves_no_statistics(rows, tmp_path):
    frames = [*rows[:2], rows[2].assign(s1=np.inf)]
    with pytest.raises(DataError, match="'s1' has an infinite value"):
        fitted(TREE, frames, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["task.json"]


SCRIPT = """
import sys
import time
sys.path.insert(0, {here!r})
from pytest import MonkeyPatch
from scale_rows import document
from smaller_sizes import make_smaller
from test_journal import TREE, scan
from solah.scale import engines

make_smaller(MonkeyPatch())
run = engines.LocalEngine.run

def run_slowly(self, one):
    time.sleep({pause})
    return run(self, one)

engines.LocalEngine.run = run_slowly
with scan({rows!r}, checkpoint={folder!r}) as rows:
    print(document(TREE, rows, "y"), end="")
"""


def test_a_process_that_is_killed_goes_on(rows, tmp_path):
    folder = tmp_path / "kept"
    for number, frame in enumerate(rows):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    whole = document(clone(TREE), str(tmp_path / "*.csv"), "y")

    def start(pause):
        here = str(Path(__file__).parent)
        pattern = str(tmp_path / "*.csv")
        script = SCRIPT.format(here=here, rows=pattern, folder=str(folder), pause=pause)
        return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)

    with start(0.5) as killed:
        deadline = time.monotonic() + 180
        while len(list(folder.glob("*.npz"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL
    kept = {path.name: path.read_bytes() for path in folder.glob("*.npz")}
    assert len(kept) >= 2
    with start(0.0) as resumed:
        found, _ = resumed.communicate(timeout=180)
    assert resumed.returncode == 0
    assert found == whole
    assert {name: (folder / name).read_bytes() for name in kept} == kept
    assert len(list(folder.glob("*.npz"))) > len(kept)
