"""Parquet files as a source: every part by itself, every table of one form, bounded memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_contents import content, whole

from solah.data import read_table
from solah.exceptions import (
    ColumnError,
    DataError,
    FileFormatError,
    ParameterError,
)
from solah.scale.sources import open_source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    number = rng.standard_normal(100)
    number[3] = np.nan
    return pd.DataFrame(
        {
            "größe (m)": number.astype(np.float32),
            "n": np.arange(100),
            "late gap": pd.array([*range(99), None], dtype="Int32"),
            "a.b": rng.random(100) < 0.5,
            "a": pd.array([*[True, False] * 49, True, None], dtype="boolean"),
            "farbe": ["rot", None] * 50,
            "sorte": pd.Categorical(["x"] * 90 + ["y"] * 10),
            "stufe": pd.Categorical(
                ["tief"] * 50 + ["hoch"] * 50, ["tief", "mittel", "hoch"], ordered=True
            ),
            "nichts": [None] * 100,
        }
    )


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_pieces_are_the_whole_file(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "data.parquet"
    frame.to_parquet(path, row_group_size=30)
    source = open_source(path)
    assert content(whole(source)) == content(read_table(path))
    assert source.name == str(path)


@pytest.mark.parametrize("statistics", [True, False])
def test_one_gap_anywhere_changes_all_tables(tmp_path: Path, statistics: bool) -> None:
    table = pa.table({"n": [*range(50), None], "t": [*[True] * 50, None], "m": list(range(51))})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=9, write_statistics=statistics)
    found = content(whole(open_source(tmp_path / "a.parquet")))
    assert [found[name][0] for name in "ntm"] == ["float64", "object", "int64"]
    assert found["t"][3][-2:] == ["True", None]


def test_columns_come_in_the_order_asked_for(tmp_path: Path, frame: pd.DataFrame) -> None:
    frame.to_parquet(tmp_path / "data.parquet")
    (part,) = open_source(tmp_path / "data.parquet").parts(1_000)
    (table,) = part.tables(["farbe", "a", "n"], rows=1_000)
    assert table.names == ("farbe", "a", "n")
    with pytest.raises(ColumnError, match=r"data.parquet has no column 'fabre'; did .* 'farbe'"):
        part.tables(["fabre"], rows=10)
    with pytest.raises(ParameterError, match="at least one"):
        part.tables([], rows=10)
    with pytest.raises(ParameterError, match="at least one row: got 0"):
        part.tables(["n"], rows=0)


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any),
    group=st.integers(1, 25),
    part_rows=st.integers(1, 60),
    rows=st.integers(1, 30),
)
def test_parts_are_the_rows_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    group: int,
    part_rows: int,
    rows: int,
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    values = iter(range(sum(sizes)))
    for j, size in enumerate(sizes):
        table = pa.table({"n": pa.array([next(values) for _ in range(size)], pa.int64())})
        pq.write_table(table, folder / f"{j}.parquet", row_group_size=group)
    source = open_source(folder)
    assert whole(source, rows, part_rows).column("n").values.tolist() == list(range(sum(sizes)))
    assert all(
        part.n_rows and part.n_rows <= max(part_rows, group) for part in source.parts(part_rows)
    )


def test_a_part_travels(
    tmp_path: Path, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=30)
    monkeypatch.chdir(tmp_path)
    part = open_source("data.parquet").parts(30)[1]
    monkeypatch.chdir("/")
    far = pickle.loads(pickle.dumps(part))
    (table,) = far.tables(["n"], rows=100)
    assert table.first_row == 31
    assert table.column("n").values.tolist() == list(range(30, 60))


# Several files


def test_files_are_joined_by_name(tmp_path: Path) -> None:
    write(tmp_path / "b.parquet", x=[2.5], g=["v"])
    write(tmp_path / "a.parquet", g=["u"], x=pa.array([1], pa.int32()))
    write(tmp_path / "c.parquet", x=pa.nulls(1), g=pa.nulls(1))
    found = content(whole(open_source(str(tmp_path / "*.parquet"))))
    assert found == {
        "g": ("object", None, False, ["u", "v", None]),
        "x": ("float64", None, False, [1.0, 2.5, None]),
    }


def test_a_folder_leaves_out_what_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "_temporary").mkdir()
    write(tmp_path / "year=2024" / "b.PQ", x=[2])
    write(tmp_path / "a.parquet", x=[1])
    for name in ["_metadata.parquet", ".a.parquet", "_temporary/c.parquet", "notes.txt"]:
        (tmp_path / name).write_text("no data")
    assert whole(open_source(tmp_path)).column("x").values.tolist() == [1, 2]
    assert open_source(str(tmp_path / "y*" / "**" / "*.PQ")).n_rows == 1
    listed = open_source([tmp_path / "year=2024" / "b.PQ", str(tmp_path / "a.parquet")])
    assert whole(listed).column("x").values.tolist() == [2, 1]
    assert listed.name.endswith("b.PQ and 1 more")


def test_a_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    assert open_source(write(tmp_path / "data[1].parquet", x=[1])).n_rows == 1


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    first = write(tmp_path / "a.parquet", x=[1], y=[1])
    fewer = write(tmp_path / "fewer.parquet", x=[1])
    more = write(tmp_path / "more.parquet", x=[1], y=[1], z=[1])
    text = write(tmp_path / "text.parquet", x=["1"], y=[1])
    with pytest.raises(FileFormatError, match=r"fewer.parquet has no column 'y', which .*a.parq"):
        open_source([first, fewer])
    with pytest.raises(FileFormatError, match=r"more.parquet has a column 'z', which .*a.parq"):
        open_source([first, more])
    with pytest.raises(FileFormatError, match=r"'x' is text in .*text.parquet and numbers before"):
        open_source([first, text])
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(FileFormatError, match=r"a.csv is delimited text and .*a.parquet is Parq"):
        open_source([first, tmp_path / "a.csv"])


def test_orders_that_run_through_one_another(tmp_path: Path) -> None:
    def ordered(*states: str) -> Any:
        return pa.DictionaryArray.from_arrays([0, 1], list(states), ordered=True)

    a = write(tmp_path / "a.parquet", level=ordered("low", "high"))
    b = write(tmp_path / "b.parquet", level=ordered("low", "mid", "high"))
    c = write(tmp_path / "c.parquet", level=ordered("high", "low"))
    assert whole(open_source([a, b])).column("level").order == ("low", "mid", "high")
    with pytest.raises(FileFormatError, match=r"'level' of .*c.parquet .* high < low, and low < h"):
        open_source([a, c])


# What cannot be read


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none.parquet is not there"):
        open_source(tmp_path / "none.parquet")
    with pytest.raises(FileFormatError, match=r"no file matches the pattern '.*day\*.parquet'"):
        open_source(str(tmp_path / "day*.parquet"))
    with pytest.raises(FileFormatError, match=r"the folder .* has no Parquet files .*\*.csv'"):
        open_source(tmp_path)


def test_broken_files(tmp_path: Path, frame: pd.DataFrame) -> None:
    good, bad = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame.to_parquet(good)
    bad.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(FileFormatError, match=r"b.parquet cannot be read as Parquet"):
        open_source([good, bad])


def test_no_rows_at_all(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=pa.array([], pa.int64()))
    with pytest.raises(DataError, match=r"has columns but no rows"):
        open_source(tmp_path)


def test_columns_without_a_name_of_their_own(tmp_path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match=r"a.parquet has 2 columns named 'x'"):
        open_source(tmp_path)
    write(tmp_path / "a.parquet", **{"": [1]})
    with pytest.raises(FileFormatError, match=r"a.parquet has a column without a name"):
        open_source(tmp_path)


def test_what_is_of_no_use_is_said_when_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=[1], when=pd.to_timedelta(["1 day"]))
    (part,) = open_source(tmp_path).parts(10)
    assert next(part.tables(["x"], 10)).n_rows == 1
    with pytest.raises(DataError, match="column 'when' holds dates or times"):
        list(part.tables(["x", "when"], 10))


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", x=[1, 2])
    source = open_source(path)
    write(path, x=["text", "text", "text"])
    with pytest.raises(FileFormatError, match=r"a.parquet has changed since .* bytes instead of"):
        whole(source)
    path.unlink()
    with pytest.raises(FileFormatError, match=r"a.parquet has changed .*: it is gone"):
        whole(source)


def test_the_fingerprint_tells_data_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", x=[1, 2])
    before = open_source(path).fingerprint
    assert open_source(path).fingerprint == before
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert open_source(path).fingerprint != before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded_by_the_table_and_not_by_the_row_group(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({f"c{j}": rng.standard_normal(400_000) for j in range(40)})
    pq.write_table(
        table,
        tmp_path / "a.parquet",
        row_group_size=400_000,  # 122 MB
        use_dictionary=False,
        data_page_size=65_536,
    )
    program = """
import sys
from pathlib import Path
from solah.scale.sources import open_source
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
source = open_source(sys.argv[1])
next(source.parts(1)[0].tables(source.names[:1], 100))
before = peak()
for part in source.parts(400_000):
    for table in part.tables(source.names, 8_192):
        assert table.n_rows <= 8_192
print(peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "a.parquet"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 40
