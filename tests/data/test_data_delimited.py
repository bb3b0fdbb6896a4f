"""Delimited files: every dialect is read back as it was written, every flaw is named."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solah.data import MISSING_WORDS, ReadOptions, Table, iter_tables, join_tables, read_table
from solah.data.cells import TextCells
from solah.exceptions import ColumnError, DataError, FileFormatError

if TYPE_CHECKING:
    from pathlib import Path


CHUNK = "solah.data.delimited._CHUNK"


@pytest.fixture(params=[1 << 20, 7], autouse=True)
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a file whole, and in chunks that are smaller than its rows."""
    if not any(
        long in request.node.name
        for long in ("30000", "20002", "huge", "late", "in_pieces", "are_numbers")
    ):
        monkeypatch.setattr(CHUNK, request.param)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return path

    return write


def content(table: Table) -> dict[str, list[Any]]:
    return {
        column.name: [
            None if gone else value
            for value, gone in zip(column.values.tolist(), column.missing(), strict=True)
        ]
        for column in table.columns
    }


def read(path: Path, **options: Any) -> dict[str, list[Any]]:
    return content(read_table(path, options=ReadOptions(**options)))


def stream(path: Path, **options: Any) -> dict[str, list[Any]]:
    """Read all pieces of a file."""
    pieces = [content(one) for one in iter_tables(path, options=ReadOptions(**options))]
    return {name: [cell for one in pieces for cell in one[name]] for name in pieces[0]}


# Delimiters, headers, decimal signs


@pytest.mark.parametrize("suffix", ["csv", "tsv", "dat", "CSV", "tsv.gz"])
def test_delimiters_are_found(write: Any, suffix: str) -> None:
    rows = [["age", "colour"], ["1.5", "red"], ["2", "dark-blue"]]
    for delimiter in [",", ";", "\t", "|", " ", "   "]:
        path = write("\n".join(delimiter.join(row) for row in rows), f"data.{suffix}")
        assert read(path) == {"age": [1.5, 2.0], "colour": ["red", "dark-blue"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n1\n2\n", {"a": [1.0, 2.0]}),
        ("text\nhello, you\nhello\nwell, well\nso\n", None),  # one column of text
        (
            "  1   2.5  a\n 10  20.5  b\n\t-1\t-2.5\tc  \n",
            {"x0": [1.0, 10.0, -1.0], "x1": [2.5, 20.5, -2.5], "x2": ["a", "b", "c"]},
        ),
        ('name   size\n"big  red"   7\n"x" 8\n', {"name": ["big  red", "x"], "size": [7.0, 8.0]}),
        ("1,5;2,5\n3,5;-4,5e1\n", {"x0": [1.5, 3.5], "x1": [2.5, -45.0]}),
        ("a;b\n1,5;x,y\n2;z\n", {"a": [1.5, 2.0], "b": ["x,y", "z"]}),
        ("a;b\n1,5;1.5\n", {"a": ["1,5"], "b": [1.5]}),  # points: the comma is no decimal sign
        ("a,b,\n1,2,\n3,4,\n", {"a": [1.0, 3.0], "b": [2.0, 4.0]}),
        ("a,b\n1,2,\n3,4,\n", {"a": [1.0, 3.0], "b": [2.0, 4.0]}),
        ("1,2,\n3,4,\n", {"x0": [1.0, 3.0], "x1": [2.0, 4.0]}),
        ("a,b\n1,\n2,\n", {"a": [1.0, 2.0], "b": [None, None]}),
        ("\n" * 500 + "a,b\n1,2\n", {"a": [1.0], "b": [2.0]}),
        *(
            (end.join(["a,b", "1,x", "", "2,y", "  ", ""]), {"a": [1.0, 2.0], "b": ["x", "y"]})
            for end in ("\n", "\r\n", "\r")
        ),
    ],
)
def test_dialects_are_found(write: Any, text: str, expected: dict[str, Any] | None) -> None:
    path = write(text)
    assert read(path) == (expected or {"text": text.splitlines()[1:]})
    assert list(stream(path)) == list(read(path))


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a;b\n1,5;1.5\n", {"decimal": ","}, {"a": [1.5], "b": [1.5]}),
        ("a;b\n1,5;2\n", {"decimal": "."}, {"a": ["1,5"], "b": [2.0]}),
        ('a,b\n"1,5",2\n', {"decimal": ","}, {"a": [1.5], "b": [2.0]}),
        ("2019,2020\n1,2\n", {"header": True}, {"2019": [1.0], "2020": [2.0]}),
        ("a,b\nc,d\n", {"header": False}, {"x0": ["a", "c"], "x1": ["b", "d"]}),
        ("a,b;c\n1,2;3\n", {"delimiter": ","}, {"a": [1.0], "b;c": ["2;3"]}),
        ("a^b\n1 ^2\n", {"delimiter": "^"}, {"a": [1.0], "b": [2.0]}),
        ("a§b\n1§2\n", {"delimiter": "§"}, {"a": [1.0], "b": [2.0]}),
    ],
)
def test_dialects_are_declared(write: Any, text: str, options: Any, expected: Any) -> None:
    assert read(write(text), **options) == expected


def test_decimal_commas_are_spelt_with_points_in_a_stream_too(write: Any) -> None:
    assert stream(write("a;b\n1,5;v1,5\n2;z\n")) == {"a": ["1.5", "2"], "b": ["v1,5", "z"]}


def test_headers_are_found(write: Any) -> None:
    for text, names in {
        "1,2\n3,4\n": ("x0", "x1"),
        "a,2\nb,4\n": ("x0", "x1"),
        "a,?\nb,c\n": ("x0", "x1"),
        "a,\nb,c\n": ("x0", "x1"),
        "red,blue\ngreen,red\n": ("red", "blue"),
        ",a\n0,1.5\n": ("x0", "a"),
        "Ωhm,名前\n1,2\n": ("Ωhm", "名前"),
    }.items():
        assert read_table(write(text)).names == names


# Cells


def test_quotes(write: Any) -> None:
    quoted = '"x, ""y""",1\n"two\r\nlines" , 2\n" quoted\u00a0 ",3\n'
    path = write(f'a,b\n{quoted}  bare \t ,4\n5" pipe,5\n')
    assert read(path) == {
        "a": ['x, "y"', "two\r\nlines", "quoted", "bare", '5" pipe'],
        "b": [1.0, 2.0, 3.0, 4.0, 5.0],
    }


def test_missing_words(write: Any) -> None:
    for word in MISSING_WORDS:
        path = write(f"a,b\n1,x\n {word} , {word} \n")
        assert read(path) == {"a": [1.0, None], "b": ["x", None]}
        assert stream(path) == {"a": ["1", None], "b": ["x", None]}
    path = write("a,b\n-999,x\n1,gone\n")
    missing = frozenset({"-999", "gone"})
    assert read(path, missing=missing) == {"a": [None, 1.0], "b": ["x", None]}
    assert stream(path, missing=missing) == {"a": [None, "1"], "b": ["x", None]}


def test_text_keeps_its_spelling(write: Any) -> None:
    path = write("id,n\n007,1_000\nx,inf\n")
    assert read(path) == {"id": ["007", "x"], "n": ["1_000", "inf"]}


def test_a_column_that_turns_out_to_be_text_late_is_read_again(write: Any) -> None:
    rows = [f"{j:05},{j},a" for j in range(30_000)] + ["x,1,a"]
    table = read_table(write("\n".join(["id,n,t", *rows])))
    assert table.column("id").values[:2].tolist() == ["00000", "00001"]
    assert table.column("id").values[-1] == "x"
    assert table.column("n").values.dtype == np.float64
    assert table.n_rows == 30_001


def test_columns_that_are_numbers_are_read_as_numbers_where_they_are(write: Any) -> None:
    path = write('a,b,c,d\n1,2,"1,000",x\n-999,3,inf,y\n')
    wanted = {"columns": ["c", "b", "a"], "numbers": ["a", "b", "c"]}
    (table,) = iter_tables(path, **wanted)
    assert content(table) == {"c": ["1,000", "inf"], "b": ["2", "3"], "a": ["1", "-999"]}
    (table,) = iter_tables(path, columns=["b", "a"], numbers=["a", "b"])
    assert content(table) == {"b": [2.0, 3.0], "a": [1.0, -999.0]}
    missing = ReadOptions(missing=frozenset({"-999"}))
    (table,) = iter_tables(path, columns=["a"], numbers=["a"], options=missing)
    assert content(table) == {"a": ["1", None]}


def test_equal_words_share_one_string(write: Any) -> None:
    values = read_table(write("a\n" + "some colour\n" * 100)).columns[0].values
    assert len({id(value) for value in values}) == 1


# Encodings


def test_what_cannot_be_decoded_is_one_sentence(write: Any) -> None:
    path = write("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not UTF-16 text: .*does not start with BOM"):
        read(path, encoding="utf-16")
    with pytest.raises(FileFormatError, match="is not PUNYCODE text: .*code point"):
        read(path, encoding="punycode")
    broken = gzip.compress(b"a,b\n\xfc,2\n" * 9, mtime=0)[:-9]
    with pytest.raises(FileFormatError, match="not UTF-8|not a complete gzip"):
        read(write(broken, "data.csv.gz"))


def test_encodings(write: Any) -> None:
    text = "größe,n\n1,2\n"
    for data, encoding in [
        (text.encode(), None),
        (codecs.BOM_UTF8 + text.encode(), None),
        (codecs.BOM_UTF8 + text.encode(), "UTF8"),
        (text.encode("utf-16"), None),
        (codecs.BOM_UTF16_BE + text.encode("utf-16-be"), None),
        (text.encode("utf-32"), None),
        (text.encode("latin-1"), "latin-1"),
    ]:
        for name in ("data.csv", "data.csv.gz"):
            assert read(write(data, name), encoding=encoding) == {"größe": [1.0], "n": [2.0]}


@pytest.mark.parametrize("lines", [0, 30_000])
def test_the_byte_that_cannot_be_decoded_is_named(write: Any, lines: int) -> None:
    line = b"1," + 25 * b"\xc3\xbc" + b"\n"
    start = b"a,b\n" + lines * line  # more than a block, or nothing
    path = write(start + b"\xfc,1\n")
    with pytest.raises(
        FileFormatError,
        match=rf"data.csv is not UTF-8 text: the byte at position {len(start)} is 0xfc; "
        r".*--read encoding=latin-1",
    ):
        list(iter_tables(path))
    if lines == 0:
        assert read(path, encoding="latin-1") == {"a": ["ü"], "b": [1.0]}


def test_text_that_ends_within_a_character(write: Any) -> None:
    with pytest.raises(FileFormatError, match="position 4 is 0xc3"):
        read_table(write(b"a\n1\n\xc3"))
    with pytest.raises(FileFormatError, match="is not UTF-16 text"):
        read_table(write("a\n1\n".encode("utf-16") + b"\x00"))


# Streams


def test_a_stream_is_the_whole_in_pieces(write: Any) -> None:
    path = write("a,b\n" + "".join(f"{j},{j % 3}\n\n" for j in range(10_000)))
    tables = list(iter_tables(path, rows=999))
    assert max(table.n_rows for table in tables) <= 999
    assert sum(table.n_rows for table in tables) == 10_000
    cells = [cell for table in tables for cell in table.column("a").values]
    assert cells == [str(j) for j in range(10_000)]
    assert list(map(float, cells)) == read(path)["a"]


def test_a_piece_has_at_least_one_row(write: Any) -> None:
    path = write("a,b\n1,1\n2,2\n")
    with pytest.raises(DataError, match="at least one row: got rows=0"):
        iter_tables(path, rows=0)
    assert len(list(iter_tables(path, rows=1))) == 2
    pieces = iter_tables(path, rows=1)
    assert next(pieces).n_rows == 1
    pieces.close()  # type: ignore[attr-defined]


# Flaws


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('a,b\n\n1,"x\ny"\n3\n', FileFormatError, "data.csv, line 5: 1 field where 2 are expected"),
        ("a,b\n" + "1,2\n" * 20_000 + "1,2,3\n", FileFormatError, "line 20002: 3 fields where 2"),
        (
            "a,b,\n" + "1,2,\n" * 300 + "1,2,3\n",
            FileFormatError,
            "line 302: 3 fields where 2 and a delimiter at the end",
        ),
        ("a,b,\n" + "1,2,\n" * 300 + "1,2\n", FileFormatError, "line 302: 2 fields where 2 and a"),
        ("my data\n1;2;3\n4;5;6\n7;8;9\n", FileFormatError, "the header has 1 field where .* 3"),
        ("a,b,a\n1,2,3\n", ColumnError, "data.csv: duplicate column 'a'"),
        ('a,b\n1,x\n2,"never closed\n3,y\n', FileFormatError, "line 3: .*; a quote is probably"),
        ('a,b\n1,x\n2,"never closed', FileFormatError, "line 3: .*; a quote is probably"),
        ('a,b\n1,x\n2,"one"two\n', FileFormatError, "line 3: .*; a quote is probably"),
        ('"a"b,c\n1,2\n', FileFormatError, "line 1: .*quote"),
        ("a,b\n1,\0\n", FileFormatError, "line 2 has a NUL character; is it a text file"),
        ("\0\0\0", FileFormatError, "line 1 has a NUL character"),
        ("a,b\n" + "1,2\n" * 300 + "\0,1\n", FileFormatError, "line 302 has a NUL character"),
        ("a,b\n\n", DataError, "data.csv has columns but no rows.*--read header=no"),
        ("", FileFormatError, "data.csv is empty"),
        ("\n\n  \n", FileFormatError, "data.csv is empty"),
        ("\ufeff", FileFormatError, "data.csv is empty"),
    ],
)
def test_flaws_are_named(write: Any, text: str, error: type[DataError], message: str) -> None:
    for name in ("data.csv", "data.csv.gz"):
        path = write(text, name)
        with pytest.raises(error, match=message.replace("data.csv", name)):
            read_table(path)
        with pytest.raises(error, match=message.replace("data.csv", name)):
            list(iter_tables(path))


def test_rows_that_look_like_a_header_can_be_declared(write: Any) -> None:
    assert read(write("a,b\n\n"), header=False) == {"x0": ["a"], "x1": ["b"]}


def test_a_line_without_an_end(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solah.data.textfile.MAX_LINE", 1000)
    assert read(write("a\n" + "x" * 999)) == {"a": ["x" * 999]}
    with pytest.raises(FileFormatError, match="line 2 is longer than 1,000 characters"):
        read_table(write("a\n" + "x" * 1000))


def test_huge_fields(write: Any) -> None:
    word = "x" * 1_000_000
    assert read(write(f'a,b\n"{word}\n{word}",1\n')) == {"a": [f"{word}\n{word}"], "b": [1.0]}


def test_broken_gzip(tmp_path: Path) -> None:
    whole, path = gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0), tmp_path / "data.csv.gz"
    for data in (b"a,b\n1,2\n", whole[:-20], whole[:12] + b"garbage garbage", whole + b"garbage"):
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match=r"data.csv.gz is not a complete gzip file"):
            read_table(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.binary(max_size=200) | st.text(alphabet='ab1,;"\n\r \t|-.é\0', max_size=60).map(str.encode)
)
def test_whatever_is_in_a_file_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    try:
        whole = read_table(path)
    except DataError as error:
        assert "data.csv" in str(error)  # noqa: PT017
        with pytest.raises(DataError):
            list(iter_tables(path))
    else:
        pieces = list(iter_tables(path, rows=2))
        assert sum(piece.n_rows for piece in pieces) == whole.n_rows
        assert {piece.names for piece in pieces} == {whole.names}


MESSY = st.sampled_from(
    [
        *("", "1", " 2 ", "NA", " NA ", "inf", "1e999", "1_0", "+1", "007", "-999", "x", "é"),
        *('"q"', '"a,b"', '"a""b"', '""', '"x\ny"', ' "s"', '"s" ', '"o"o', '5" p', '"open'),
        *("1,5", "true", "\xa04", "\t7", "$5", "\0", "a b"),
    ]
)


@pytest.mark.parametrize("chunk", [1 << 20], indirect=True)  # it sets others
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    rows=st.lists(st.lists(st.just("1") | MESSY, min_size=2, max_size=2), min_size=1, max_size=6),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    options=st.sampled_from([{}, {"missing": frozenset({"-999"})}, {"decimal": ","}]),
)
def test_neither_chunks_nor_tidying_change_a_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[list[str]],
    delimiter: str,
    end: str,
    options: dict[str, Any],
) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(end.join(map(delimiter.join, [["a", "b"], *rows])).encode())

    def found() -> Any:
        try:
            return repr((read(path, **options), stream(path, **options)))
        except DataError:
            return "refused"

    expected = found()
    with monkeypatch.context() as patch:
        for size in (3, 23):
            patch.setattr(CHUNK, size)
            assert found() == expected
    with monkeypatch.context() as patch:
        patch.setattr("solah.data.delimited._is_odd", lambda *_: True)
        assert found() == expected


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    rows=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_text_survives_a_round_trip(
    tmp_path: Path, rows: list[list[str]], delimiter: str, end: str, encoding: str
) -> None:
    names = [f"näme {j}" for j in range(len(rows[0]))]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([names, *rows])
    path = tmp_path / "data.csv"
    path.write_bytes(buffer.getvalue().encode(encoding))
    # Declared, because the words themselves may hide the dialect: ("," and ";" as all the cells).
    options = ReadOptions(delimiter=delimiter, header=True, decimal=".")
    table = join_tables(list(iter_tables(path, options=options)))
    expected = [TextCells().of(row).tolist() for row in rows]
    assert table.names == tuple(names)
    assert [list(row) for row in zip(*(c.values for c in table.columns), strict=True)] == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    rows=st.integers(2, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(allow_infinity=False), min_size=n, max_size=n),
            min_size=1,
            max_size=8,
        )
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|", " "]),
    comma=st.booleans(),
    header=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_numbers_survive_a_round_trip(
    tmp_path: Path,
    rows: list[list[float]],
    delimiter: str,
    comma: bool,
    header: bool,
    quoting: Any,
) -> None:
    comma = comma and delimiter not in ", "
    cells = [[repr(x).replace(".", ",") if comma else repr(x) for x in row] for row in rows]
    names = [f"c{j}" for j in range(len(rows[0]))]
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerows(([names] if header else []) + cells)
    table = read_table(path)
    expected = names if header else [f"x{j}" for j in range(len(names))]
    assert table.names == tuple(expected)
    found = np.column_stack([column.values for column in table.columns])
    np.testing.assert_array_equal(found, np.array(rows))


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ",,"}, "the delimiter must be one character"),
        ({"delimiter": '"'}, "the delimiter must be one character"),
        ({"decimal": "x"}, "the decimal sign must be '.' or ','"),
        ({"encoding": "klingon"}, "unknown encoding 'klingon'"),
        ({"encoding": "hex"}, "unknown encoding 'hex'"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ReadOptions(**options)
