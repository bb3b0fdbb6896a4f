"""Files by their suffix: the right reader, or a clear word."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from solah.data import iter_tables, read_table
from solah.exceptions import ColumnError, DataError, FileFormatError


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.gz", "data.parquet.gz"])
def test_unknown_suffixes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("a\n1\n")
    with pytest.raises(
        FileFormatError,
        match=rf"{name} is not of a known type; solah reads .csv, .*.arff .*.pq, .arrow",
    ):
        read_table(path)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.arff.gz"])
def test_what_is_not_there_is_said_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match=f"{name} does not exist"):
        read_table(str(tmp_path / name))
    with pytest.raises(FileFormatError, match=f"{name} does not exist"):
        iter_tables(tmp_path / name)
    (tmp_path / name).touch()
    with pytest.raises(FileFormatError, match=f"{name} is empty"):
        read_table(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(FileFormatError, match=f"{name} is a folder"):
        read_table(tmp_path / name)


def test_what_the_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a\n1\n")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileFormatError, match=r"data.csv cannot be read: Permission denied"):
        read_table(path)


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "größe": np.arange(100.0),
            "n": np.arange(100),
            "farbe": ["rot", None] * 50,
            "stufe": pd.Categorical(["hoch", "tief"] * 50, ["tief", "hoch"], ordered=True),
        }
    )


def write(frame: pd.DataFrame, path: Path) -> None:
    if path.suffix in (".parquet", ".pq"):
        frame.to_parquet(path, row_group_size=30)
    else:
        feather.write_feather(frame, path, chunksize=30)


@pytest.mark.parametrize("name", ["data.parquet", "data.pq", "data.arrow", "data.feather"])
def test_parquet_and_arrow(tmp_path: Path, frame: pd.DataFrame, name: str) -> None:
    path = tmp_path / name
    write(frame, path)
    table = read_table(path)
    assert table.names == ("größe", "n", "farbe", "stufe")
    assert table.column("größe").values.tolist() == frame["größe"].tolist()
    assert table.column("farbe").values.tolist()[:2] == ["rot", None]
    assert table.column("stufe").order == ("tief", "hoch")
    pieces = list(iter_tables(path, rows=40))
    assert max(piece.n_rows for piece in pieces) <= 40
    assert [v for piece in pieces for v in piece.column("n").values] == list(range(100))
    assert {piece.column("stufe").order for piece in pieces} == {("tief", "hoch")}
    write(frame.iloc[:0], path)
    for read in (read_table, lambda file: list(iter_tables(file))):
        with pytest.raises(DataError, match=f"{name} has columns but no rows"):
            read(path)


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow", "data.csv"])
def test_only_some_columns_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = pd.DataFrame({"time": ["2026-01-05 10:30"], "x": [1], "odd": [2]})
    frame.to_csv(path, index=False) if name.endswith("csv") else write(frame, path)
    (table,) = iter_tables(path, columns=["x", "hour of time"])
    assert table.names == ("x", "hour of time")
    assert table.column("hour of time").values.tolist() == [10.5]
    with pytest.raises(ColumnError, match="no column 'od'; did you mean 'odd'"):
        list(iter_tables(path, columns=["od"]))


def test_parquet_of_polars(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"]))}).write_parquet(path)
    assert read_table(path).column("e").order == ("c", "b", "a")


@pytest.fixture
def inflated(tmp_path: Path) -> Path:
    """Write a file of a few kilobytes that holds sixty million rows."""
    rows = pa.table({"a": np.zeros(2_000_000), "y": pa.array(["x"]).take(np.zeros(2_000_000, int))})
    path = tmp_path / "inflated.parquet"
    with pq.ParquetWriter(path, rows.schema) as writer:
        for _ in range(30):
            writer.write_table(rows)
    return path


def test_a_parquet_file_that_would_fill_the_memory_is_refused(inflated: Path) -> None:
    assert inflated.stat().st_size < 1e6
    with pytest.raises(
        FileFormatError, match=r"has 60,000,000 rows of 2 columns, about 4.8 GB"
    ) as e:
        read_table(inflated)
    assert "solah fit --memory 1GB" in str(e.value)
    assert next(iter_tables(inflated, rows=100)).n_rows == 100


def test_what_is_free_decides_on_large_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, memory = tmp_path / "data.parquet", tmp_path / "meminfo"
    pq.write_table(pa.table({"a": np.random.default_rng(0).normal(size=1_000)}), path)
    monkeypatch.setattr("solah.data.files._SMALL", 0)
    monkeypatch.setattr("solah.data.files._MEMORY", memory)
    assert read_table(path).n_rows == 1_000  # nobody tells what is free
    memory.write_text("MemTotal: 99 kB\nMemAvailable:      16 kB\n", encoding="ascii")
    assert read_table(path).n_rows == 1_000
    memory.write_text("MemTotal: 99 kB\nMemAvailable:      15 kB\n", encoding="ascii")
    with pytest.raises(FileFormatError, match="GB are free; read it in passes"):
        read_table(path)


@pytest.mark.parametrize("name", ["data.parquet", "data.arrow"])
def test_a_damaged_file_is_said_to_be(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match=f"{name} cannot be read as"):
        read_table(path)
    texts, words = ["a", "ü", None] * 20, pd.Categorical(["x", "yß"] * 30)
    write(pd.DataFrame({"größe": [1.5, 2.5, None] * 20, "s": texts, "c": words}), path)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    with pytest.raises(FileFormatError, match=f"{name} cannot be read as"):
        list(iter_tables(path))
    for at in range(0, len(content), len(content) // 200):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x81]) + content[at + 1 :])
        for read in (read_table, lambda file: list(iter_tables(file, rows=7))):
            with suppress(DataError):  # FileFormatError, or a table that is another
                read(path)
