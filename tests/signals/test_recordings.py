"""Recordings from frames, files and folders."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from solah.exceptions import ColumnError, DataError
from solah.signals import SampleColumns, from_long_frame, read_recordings

SAMPLES = {
    "time": [0.0, 0.1, 0.0, 0.1, 0.2],
    "x": [1.0, 2.0, 3.0, np.nan, 5.0],
    "y": [1, 2, 3, 4, 5],
    "run": ["b", "b", "a", "a", "a"],
    "who": [7, 7, 8, 8, 8],
    "doing": ["walk", "walk", "run", None, "run"],
}


def long_frame():
    return pd.DataFrame(SAMPLES)


ROLES = SampleColumns(("x", "y"), label="doing", recording="run", group="who")


def test_infinite_samples_in_a_file_are_missing(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text("x,y,word\n1,2,a\ninf,3,b\n-Infinity,4,inf\n")
    (recording,) = read_recordings(file, SampleColumns())
    assert list(recording.samples) == ["x", "y"]
    np.testing.assert_array_equal(recording.samples["x"], [1.0, np.nan, np.nan])
    with pytest.raises(DataError, match="'word' has 3 values that are not numbers"):
        read_recordings(file, SampleColumns(("word",)))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_long_frame_has_several_recordings(library):
    first, second = from_long_frame(library.DataFrame(SAMPLES), ROLES)
    assert (first.name, second.name) == ("b", "a")
    assert (first.group, second.group) == (7, 8)
    assert second.times.tolist() == [0.0, 0.1, 0.2]
    np.testing.assert_array_equal(second.samples["x"], [3.0, np.nan, 5.0])
    assert second.labels.tolist() == ["run", None, "run"]


def test_channels_are_the_numbers_that_are_nothing_else():
    (recording,) = from_long_frame(long_frame()[["time", "x", "y", "doing"]], SampleColumns())
    assert list(recording.samples) == ["x", "y"]
    (recording,) = from_long_frame(long_frame()[["x", "y"]], SampleColumns())
    assert recording.times is None


def write(path, frame):
    frame.to_csv(path, index=False)


@pytest.fixture
def folder(tmp_path):
    for name in ("morning", "evening"):
        write(tmp_path / f"{name}.csv", long_frame()[["time", "x", "y"]].iloc[2:])
    (tmp_path / ".hidden").write_text("")
    return tmp_path


def test_a_folder_has_a_recording_per_file(folder):
    recordings = read_recordings(folder, SampleColumns())
    assert [one.name for one in recordings] == ["evening", "morning"]
    assert recordings[0].samples["y"].tolist() == [3.0, 4.0, 5.0]


def test_intervals_give_labels_and_groups(folder):
    labels = folder / "labels.csv"
    write(
        labels,
        pd.DataFrame(
            {
                "recording": ["evening", "evening"],
                "start": [0.0, 0.2],
                "end": [0.1, 9.0],
                "doing": ["sit", "run"],
                "who": ["Ann", "Ann"],
            }
        ),
    )
    roles = SampleColumns(label="doing", group="who")
    evening, morning = read_recordings(folder, roles, labels=labels)
    assert evening.labels.tolist() == ["sit", None, "run"]
    assert evening.group == "Ann"
    assert morning.labels.tolist() == [None, None, None]


def test_intervals_of_recordings_without_times_need_a_rate(tmp_path):
    (tmp_path / "one.csv").write_text("x\n1\n2\n3\n4\n")
    labels = tmp_path / "labels.csv"
    labels.write_text("recording,start,end,doing\none,0.1,0.3,run\n")
    roles = SampleColumns(label="doing")
    (recording,) = read_recordings(tmp_path, roles, labels=labels, rate=10)
    assert recording.labels.tolist() == [None, "run", "run", None]
    with pytest.raises(DataError, match="has no times; name their column, or give a rate"):
        read_recordings(tmp_path, roles, labels=labels)


def test_whole_numbers_are_classes_as_they_are_written(tmp_path):
    (tmp_path / "one.csv").write_text("x,doing\n1,0\n2,\n3,1\n")
    (recording,) = read_recordings(tmp_path / "one.csv", SampleColumns(("x",), label="doing"))
    assert recording.labels.tolist() == [0, None, 1]


def test_what_cannot_be_read_is_refused(tmp_path):
    frame = long_frame()
    with pytest.raises(ColumnError, match="has no column 'z'"):
        from_long_frame(frame, SampleColumns(("z",)))
    with pytest.raises(ColumnError, match="has no column 'when'"):
        from_long_frame(frame, SampleColumns(("x",), time="when"))
    with pytest.raises(DataError, match="no column of numbers is left"):
        from_long_frame(frame[["run"]], SampleColumns())
    with pytest.raises(DataError, match="recording 'the data' must belong to one group"):
        from_long_frame(frame, SampleColumns(("x",), group="who"))
    with pytest.raises(DataError, match="column 'run' has no recording in row 2"):
        from_long_frame(frame.assign(run=["b", None, "a", "a", "a"]), ROLES)
    with pytest.raises(DataError, match="has no files"):
        read_recordings(tmp_path, SampleColumns())
    write(tmp_path / "a.csv", frame[["x"]])
    write(tmp_path / "a.tsv", frame[["x"]])
    with pytest.raises(DataError, match="two recordings are called 'a'"):
        read_recordings(tmp_path, SampleColumns())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recording,start,doing\n", "the table of labels has no column 'end'"),
        ("recording,start,end\none,0,1\n", "the table of labels has no column 'doing'"),
        ("recording,start,end,doing\ntwo,0,1,run\n", "a recording 'two', which does not exist"),
    ],
)
def test_intervals_that_do_not_fit_are_refused(tmp_path, text, message):
    write(tmp_path / "one.csv", long_frame()[["time", "x"]].iloc[2:])
    labels = tmp_path / "labels.csv"
    labels.write_text(text if "one" in text or "two" in text else text + "one,0,1\n")
    with pytest.raises((DataError, ColumnError), match=message):
        read_recordings(tmp_path, SampleColumns(label="doing"), labels=labels)
