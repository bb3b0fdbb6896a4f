"""Sources: files and frames, found, checked, and read again and again."""

import pickle
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from solah import RuleClassifier, scan
from solah.data import Column, ReadOptions, Table
from solah.exceptions import ColumnError, DataError, FileFormatError, ParameterError
from solah.scale import is_scan
from solah.scale.sources import find_files, open_source

FRAMES = [
    pd.DataFrame({"n": [1, 2], "g": ["a", "b"]}),
    pl.DataFrame({"g": ["c", None], "n": [0.5, None]}),
    pa.record_batch({"n": [7], "g": ["d"]}),
    Table((Column("n", np.array([8], np.int8)), Column("g", np.array(["e"], object))), 1),
]


class Texts:
    """A pass that gathers what it reads."""

    name, numbers = "gathering", ()

    def __init__(self, *columns):
        self.columns = columns

    def begin(self):
        return []

    def add(self, gathered, table):
        assert table.names == self.columns
        numbers = range(table.first_row, table.first_row + table.n_rows)
        cells = zip(*(column.values.tolist() for column in table.columns), strict=True)
        gathered += [(row, *map(str, each)) for row, each in zip(numbers, cells, strict=True)]

    def merge(self, one, other):
        return one + other


def read(data, *columns, n_threads=1):
    return sorted(scan(data).run(Texts(*columns), n_threads))


def test_frames_of_all_libraries_are_read_as_often_as_needed():
    rows = scan(FRAMES)
    assert rows.names == ("n", "g")
    once, again = (sorted(value for _, value in rows.run(Texts("g"))) for _ in range(2))
    assert once == again == ["None", "a", "b", "c", "d", "e"]
    assert rows.n_rows == 6


@pytest.fixture(name="files")
def plant_files(tmp_path):
    """Write the same 40 rows to two files of each format."""
    for half in (0, 1):
        frame = pd.DataFrame({"a.b": np.arange(20) + 20 * half, "a": ["x", "y"] * 10})
        frame.to_parquet(tmp_path / f"{half}.parquet", row_group_size=7)
        frame.to_csv(tmp_path / f"{half}.csv", index=False)
        frame.to_feather(tmp_path / f"{half}.feather")
    return tmp_path


@pytest.mark.parametrize("suffix", ["parquet", "csv", "feather"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_files_are_read_with_their_row_numbers(files, suffix, n_threads):
    found = read(str(files / f"*.{suffix}"), "a", "a.b", n_threads=n_threads)
    expected = [(n % 20 + 1, "xy"[n % 2], str(n)) for n in range(40)]
    assert found == sorted(expected)
    one = scan(files / f"0.{suffix}")
    assert len(one.run(Texts("a"))) == 20
    for part in one.source.parts:
        assert pickle.loads(pickle.dumps(part)) == part


def test_files_are_found(files):
    (files / "deep").mkdir()
    (files / "deep" / "2.parquet").write_bytes((files / "1.parquet").read_bytes())
    (files / "_temporary").mkdir()
    (files / "_temporary" / "3.parquet").write_bytes(b"")
    found = [file.relative_to(files).as_posix() for file in find_files(files)]
    assert found == ["0.feather", "0.parquet", "1.feather", "1.parquet", "deep/2.parquet"]
    assert [file.name for file in find_files(str(files / "*.csv"))] == ["0.csv", "1.csv"]
    with pytest.raises(FileFormatError, match="no file matches the pattern"):
        find_files(str(files / "*.tsv"))
    with pytest.raises(FileFormatError, match="has no Parquet or Arrow files .*give a pattern"):
        (files / "empty").mkdir()
        find_files(files / "empty")
    with pytest.raises(FileFormatError, match="nowhere.parquet does not exist"):
        scan(files / "nowhere.parquet")


def test_parts_must_have_the_same_columns(files):
    frame = pd.DataFrame({"x": [1], "y": [1]})
    with pytest.raises(DataError, match="frame 2 has no column 'y', which frame 1 has"):
        scan([frame, frame[["x"]]])
    with pytest.raises(DataError, match="frame 2 has a column 'z', which frame 1 does not have"):
        scan([frame, frame.assign(z=1)])
    frame.to_parquet(files / "9.parquet")
    with pytest.raises(FileFormatError, match=r"9.parquet has no column 'a.b', which .*0.parquet"):
        scan(str(files / "*.parquet"))
    twice = pa.table([[1], [2]], names=["x", "x"])
    parquet.write_table(twice, files / "twice.parquet")
    with pytest.raises(FileFormatError, match="twice.parquet has two columns named 'x'"):
        scan(files / "twice.parquet")


def test_what_cannot_be_read_again_is_refused_with_advice():
    with pytest.raises(DataError, match="can be read only once.* give files, or a list"):
        RuleClassifier().fit(iter(FRAMES), "g")
    with pytest.raises(DataError, match="item 2 of the frames is a ndarray; give data frames"):
        scan([FRAMES[0], np.ones((2, 2))])
    with pytest.raises(DataError, match="rows cannot be read from a int"):
        open_source(3, ReadOptions())
    with pytest.raises(DataError, match="has columns but no rows"):
        scan([pd.DataFrame({"x": []})])


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"PAR1" + data[:400]])
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_damaged_files_are_refused(files, damage, suffix):
    path = files / f"0.{suffix}"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileFormatError, match=f"0.{suffix} cannot be read as"):
        read(path, "a")


def test_columns_are_chosen_and_checked(files):
    rows = scan(files / "0.csv", columns=["a"])
    assert rows.names == ("a",)
    with pytest.raises(ColumnError, match="no column 'A'; did you mean 'a'"):
        scan(files / "0.csv", columns=["A"])
    with pytest.raises(ParameterError, match="'columns' must name a column of .*0.csv; got none"):
        scan(files / "0.csv", columns=[])


def test_an_error_names_its_part_and_stops_other_threads(files):
    bad = [pd.DataFrame({"x": [1.0, np.inf if n == 2 else 2.0], "y": [0, 1]}) for n in range(9)]
    for n_jobs in (1, 3):
        with pytest.raises(DataError, match=r"frame 3: column 'x' has an infinite .*\(row 2\)"):
            RuleClassifier(n_jobs=n_jobs).fit(bad, "y")


def test_numbers_here_and_text_there_are_refused(tmp_path):
    for n, cells in enumerate(("1\n2\n3", "red\nblue\nred")):
        rows = "\n".join(f"{cell},{k % 2}" for k, cell in enumerate(cells.split()))
        (tmp_path / f"{n}.csv").write_text(f"x,y\n{rows}\n")
    with pytest.raises(DataError, match="column 'x' (is numbers in some|has 2 values)"):
        RuleClassifier().fit(str(tmp_path / "*.csv"), "y")


def test_data_for_passes_are_told_from_arrays_and_frames(files):
    for data in ("rows.csv", files, ["a.csv"], FRAMES, iter(FRAMES), scan(FRAMES)):
        assert is_scan(data)
    for data in ([[1.0]], np.ones((2, 2)), FRAMES[0], FRAMES[3], [], None):
        assert not is_scan(data)


def test_progress_shows_every_row(files):
    seen = []

    @contextmanager
    def progress(total, unit):
        seen.append([total, unit])
        yield lambda steps, news="": seen[-1].append(news or steps)
        seen[-1].append("end")

    scan(str(files / "*.parquet"), progress=progress).run(Texts("a"), 2)
    ((n_rows, unit, name, *steps, end),) = seen
    assert (n_rows, unit, name, sum(steps), end) == (40, "rows", "gathering", 40, "end")
