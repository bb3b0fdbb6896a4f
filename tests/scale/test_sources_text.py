"""Text files as a source: read once, and piece by piece what read_table makes of the whole."""

from __future__ import annotations

import csv
import gzip
import io
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from source_contents import content, whole

import solah.scale.text_source
from solah.data import ReadOptions, read_table
from solah.exceptions import DataError, FileFormatError
from solah.scale.sources import open_source

if TYPE_CHECKING:
    from pathlib import Path

CELLS = st.one_of(
    st.sampled_from(["", "?", "NA", "nan", "-999", "1_0", "inf", "1e999", " 7 ", "1,5", "x", "é"]),
    st.integers(-3, 3).map(str),
    st.floats(allow_nan=False, width=32).map(repr),
)


def spell(rows: list[list[str]], delimiter: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solah.scale.text_source, "_ROWS", 5)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Count how often each file is read."""
    paths: list[Path] = []
    read = solah.scale.text_source.iter_delimited

    def counted(path: Path, *rest: Any) -> Any:
        paths.append(path)
        return read(path, *rest)

    monkeypatch.setattr(solah.scale.text_source, "iter_delimited", counted)
    return paths


def same(path: Path, **options: Any) -> None:
    """See that a source of one file is what read_table makes of it."""
    how = ReadOptions(**options)
    with open_source(path, options=how) as source:
        assert content(whole(source)) == content(read_table(path, options=how))


@settings(max_examples=100, deadline=None)
@given(
    columns=st.lists(st.lists(CELLS, min_size=12, max_size=12), min_size=1, max_size=4),
    delimiter=st.sampled_from([",", ";", "\t"]),
    missing=st.sampled_from([frozenset(), frozenset({"-999"})]),
)
def test_a_file_is_what_read_table_makes_of_it(
    tmp_path_factory: pytest.TempPathFactory,
    columns: list[list[str]],
    delimiter: str,
    missing: frozenset[str],
) -> None:
    path = tmp_path_factory.mktemp("text") / "data.csv"
    names = [f"name {j}" for j in range(len(columns))]
    rows = [names, *map(list, zip(*columns, strict=True))]
    path.write_text(spell(rows, delimiter), encoding="utf-8", newline="")
    options = {"header": True, "delimiter": delimiter, "missing": missing}
    try:
        read_table(path, options=ReadOptions(**options))
    except DataError:  # a single column of which all cells are empty has only blank lines
        with pytest.raises(DataError, match=r"data.csv"):
            open_source(path, options=ReadOptions(**options))
    else:
        same(path, **options)


@settings(max_examples=50, deadline=None)
@example(cells=["?", "1,5", "0.0"], cut=2)  # one file alone has a decimal comma
@given(cells=st.lists(CELLS.filter(str.strip), min_size=2, max_size=30), cut=st.integers(1, 29))
def test_several_files_are_as_one(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("text")
    options = ReadOptions(header=True, delimiter="|")

    def write(name: str, part: list[str], order: int) -> None:
        rows = [["a", "n"], *([cell, "1"] for cell in part)]
        (folder / name).write_text(spell([row[::order] for row in rows], "|"), newline="")

    write("whole.csv", cells, 1)
    write("part1.csv", cells[:cut], 1)
    write("part2.csv", cells[cut:], -1)  # perhaps without rows
    with open_source(str(folder / "part*.csv"), options=options) as source:
        expected = read_table(folder / "whole.csv", options=options)
        assert content(whole(source)) == content(expected)


def test_files_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("1;a\n2;b\n")
    (tmp_path / "2.csv").write_text("x;y\n" * 300)  # alone, its first row would be a header
    (tmp_path / "3.csv").write_text("1,5;c\n")  # alone, it would be cut at the comma
    with open_source(str(tmp_path / "*.csv")) as source:
        table = whole(source)
    assert table.names == ("x0", "x1")
    assert table.column("x0").values.tolist() == ["1", "2", *["x"] * 300, "1,5"]


def test_the_dialects(tmp_path: Path) -> None:
    path = tmp_path / "mes données.csv"
    path.write_text("größe;farbe\n" + "1,5;rot\n\n" * 9 + "?;blau\n", encoding="utf-16")
    same(path)
    path = tmp_path / "data.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n" + b"1\tx\n" * 20))
    same(path)
    path = tmp_path / "data.dat"
    path.write_text("  1   2.5  a\n" * 12)
    same(path)


def test_arff(tmp_path: Path) -> None:
    path = tmp_path / "data.arff"
    header = "@relation r\n@attribute n numeric\n@attribute c {7,8}\n@attribute s string\n@data\n"
    path.write_text(header + "1,7,?\n" * 6 + "?,8,?\n" * 6 + "3,?,'a b'\n")
    same(path)
    (tmp_path / "none.arff").write_text(header)
    (tmp_path / "nothing.arff").write_text(header + "?,?,?\n" * 6)
    same(tmp_path / "nothing.arff")
    with open_source([tmp_path / "none.arff", path]) as source:
        assert content(whole(source)) == content(read_table(path))


def test_text_is_read_once_unless_a_column_fails_late(tmp_path: Path, readings: list[Path]) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,x\n" * 30)
    same(path)
    assert len(readings) == 1
    path.write_text("a,b,c\n" + "007,x,1\n" * 12 + "y,x,1\n" + "8,x,1\n" * 12 + "8,x,z\n")
    same(path)
    assert len(readings) == 3


# The spool


def test_a_temporary_spool_goes_with_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tmp_path / "data.csv"
    path.write_text("a\n1\n2\n")
    with open_source(path) as source:
        assert source.n_rows == 2
        assert list((tmp_path / "temporary").iterdir())
    assert not list((tmp_path / "temporary").iterdir())
    source = open_source(path)
    del source
    assert not list((tmp_path / "temporary").iterdir())
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(FileFormatError, match="line 3"):
        open_source(path)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_kept_spool_serves_again(tmp_path: Path, readings: list[Path]) -> None:
    path, spool = tmp_path / "data.csv", tmp_path / "kept" / "here"
    path.write_text("a,b\n" + "1,x\n" * 30)
    with open_source(path, spool=spool) as source:
        first, fingerprint = content(whole(source)), source.fingerprint
    with open_source(path, spool=spool) as source:
        assert content(whole(source)) == first
        assert source.fingerprint == fingerprint
    assert len(readings) == 1
    with open_source(path, spool=spool, options=ReadOptions(missing=frozenset({"x"}))) as source:
        assert source.fingerprint != fingerprint
        assert whole(source).column("b").missing().all()
    assert len(readings) == 2


def test_a_kept_spool_is_replaced_when_the_file_changes(
    tmp_path: Path, readings: list[Path]
) -> None:
    path, spool = tmp_path / "data.csv", tmp_path / "kept"
    path.write_text("a\n1\n2\n")
    open_source(path, spool=spool).close()
    path.write_text("a\n3\n4\n")
    os.utime(path, ns=(1, 1))
    with open_source(path, spool=spool) as source:
        assert whole(source).column("a").values.tolist() == [3, 4]
    assert len(readings) == 2
    assert len(list(spool.iterdir())) == 1


def test_a_spool_that_was_not_finished_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, spool = tmp_path / "data.csv", tmp_path / "kept"
    path.write_text("a\n" + "1\n" * 30)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(solah.scale.text_source, "write_record", killed)
        with pytest.raises(KeyboardInterrupt):
            open_source(path, spool=spool)
    assert not list(spool.iterdir())
    with open_source(path, spool=spool) as source:
        (home,) = spool.iterdir()
        assert source.n_rows == 30
    for broken in ["{", "[]", "{}", "[" * 100_000]:
        (home / "spool.json").write_text(broken)
        with open_source(path, spool=spool) as source:
            assert source.n_rows == 30
    (home / "rows-000000.parquet").unlink()
    draft = spool / f".{home.name}-left"
    draft.mkdir()
    os.utime(draft, (1, 1))
    with (
        pytest.warns(UserWarning, match="were altered"),
        open_source(path, spool=spool) as source,
    ):
        assert source.n_rows == 30
    assert list(spool.iterdir()) == [home]


# What cannot be read


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(FileFormatError, match=r"2.csv has no column 'b', which .*1.csv has"):
        open_source(str(tmp_path / "*.csv"))
    (tmp_path / "1.arff").write_text("@attribute a numeric\n@data\n1\n")
    (tmp_path / "2.arff").write_text("@attribute a {x}\n@data\nx\n")
    with pytest.raises(FileFormatError, match=r"'a' is text in .*2.arff and numbers before it"):
        open_source(str(tmp_path / "*.arff"))


def test_no_rows(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n")
    with pytest.raises(DataError, match=r"1.csv has columns but no rows"):
        open_source(tmp_path / "1.csv")
