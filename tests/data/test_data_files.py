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

from solah.data import iter_tables, read_table
from solah.exceptions import DataError, FileFormatError


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.gz", "data.parquet.gz"])
def test_unknown_suffixes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("a\n1\n")
    with pytest.raises(
        FileFormatError, match=rf"{name} has no suffix .*: .csv, .*, .arff, .*.pq, .arrow"
    ):
        read_table(path)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.arff.gz"])
def test_what_is_not_there_is_said_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match=f"{name} is not there"):
        read_table(str(tmp_path / name))
    with pytest.raises(FileFormatError, match=f"{name} is not there"):
        iter_tables(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FileFormatError, match=f"{name} is a folder"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.arff"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(FileFormatError, match=f"{name} is empty"):
        read_table(tmp_path / name)


def test_names_with_dots_spaces_and_accents(tmp_path: Path) -> None:
    path = tmp_path / "mes données.v1.2.csv"
    path.write_text("a\n1\n")
    assert read_table(path).n_rows == 1


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


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_parquet(tmp_path: Path, frame: pd.DataFrame, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    frame.to_parquet(path, row_group_size=30)
    table = read_table(path)
    assert table.names == ("größe", "n", "farbe", "stufe")
    assert table.column("größe").values.tolist() == frame["größe"].tolist()
    assert table.column("farbe").values.tolist()[:2] == ["rot", None]
    assert table.column("stufe").order == ("tief", "hoch")
    pieces = list(iter_tables(path, rows=40))
    assert max(piece.n_rows for piece in pieces) <= 40
    assert [v for piece in pieces for v in piece.column("n").values] == list(range(100))
    assert {piece.column("stufe").order for piece in pieces} == {("tief", "hoch")}


def test_parquet_of_polars(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"e": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"]))}).write_parquet(path)
    assert read_table(path).column("e").order == ("c", "b", "a")


def test_parquet_without_rows(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "data.parquet"
    frame.iloc[:0].to_parquet(path)
    with pytest.raises(DataError, match=r"data.parquet has columns but no rows"):
        read_table(path)
    with pytest.raises(DataError, match=r"data.parquet has columns but no rows"):
        list(iter_tables(path))


def test_parquet_that_is_none(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "data.parquet"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match=r"data.parquet cannot be read as Parquet"):
        read_table(path)
    frame.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FileFormatError, match=r"data.parquet cannot be read as Parquet"):
        list(iter_tables(path))


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
    with pytest.raises(FileFormatError, match="GB are free; pass over it instead"):
        read_table(path)


def test_a_damaged_parquet_file_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    texts, words = ["a", "ü", None] * 20, pa.array(["x", "yß"] * 30).dictionary_encode()
    pq.write_table(pa.table({"größe": [1.5, 2.5, None] * 20, "s": texts, "c": words}), path)
    content = path.read_bytes()
    for at in range(0, len(content), 3):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x81]) + content[at + 1 :])
        for read in (read_table, lambda file: list(iter_tables(file, rows=7))):
            with suppress(DataError):  # FileFormatError, or a table that is another
                read(path)
