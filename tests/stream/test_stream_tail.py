"""Rows as they come: files that grow, pipes, CSV, JSON lines, and lines that are neither."""

import os

import numpy as np
import pytest

from solah.data import Column, ReadOptions, Table
from solah.exceptions import FileFormatError
from solah.stream import StreamLearner
from solah.stream.tail import (
    NewLines,
    feed,
    first_lines_of,
    lines_of_file,
    lines_of_pipe,
    rows_of,
)


def tables(chunks, told=None, options=None, **more):
    """Return the rows of pieces of text, as lists of cells."""
    source = [NewLines(chunk.encode().split(b"\n"), 0) for chunk in chunks]
    wrong = [] if told is None else told
    pieces = rows_of(source, "it", options or ReadOptions(), on_skipped=wrong.append, **more)
    return [piece.table for piece in pieces if piece.table is not None]


def cells(found):
    return [row for table in found for row in zip(*(c.values for c in table.columns), strict=True)]


def test_a_header_and_rows_become_tables():
    found = tables(["a,b", "1,x", "2,\n3,y"])
    assert [table.names for table in found] == [("a", "b")] * len(found)
    assert cells(found) == [("1", "x"), ("2", None), ("3", "y")]


def test_it_does_not_matter_how_lines_come():
    lines = ["a;b", "1,5;x", "2,5;y", "3,5;z"]
    whole = cells(tables(["\n".join(lines)]))
    assert whole == [("1.5", "x"), ("2.5", "y"), ("3.5", "z")]
    assert cells(tables(["\n".join(lines[:2]), *lines[2:]])) == whole


def test_lines_that_are_no_rows_are_told_and_left_out():
    told = []
    found = tables(['a,b\n1,2\n3\n\n4,"5\n6,7'], told)
    assert cells(found) == [("1", "2"), ("6", "7")]
    assert [line.rpartition(": ")[2] for line in told] == ["'3'", "'4,\"5'"]


def test_json_lines_are_rows():
    told = []
    found = tables(['{"a": 1, "b": "x"}\n{"b": "y"}\n{"a": [1]}\n7\n{"a": 2.5, "c": 0}'], told)
    assert [table.names for table in found] == [("a", "b")]
    assert str(found[0].column("a").values.tolist()) == "[1.0, nan, 2.5]"
    assert found[0].column("b").values.tolist() == ["x", "y", None]
    assert len(told) == 2


def test_text_that_cannot_be_decoded_is_told():
    told = []
    source = [NewLines([b"a,b", b"1,\xff", b"2,x"], 0)]
    pieces = list(rows_of(source, "it", ReadOptions(), on_skipped=told.append))
    assert cells([piece.table for piece in pieces]) == [("2", "x")]
    assert "not utf-8" in told[0]


def test_a_file_is_read_on_from_a_position(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    (first,) = lines_of_file(path)
    with path.open("a", encoding="utf-8") as file:
        file.write("5,6\n")
    found = tables(["5,6"], first=first_lines_of(path, None))
    assert cells(found) == [("5", "6")]
    assert list(lines_of_file(path, start=first.position)) == [NewLines([b"5,6"], 16)]


def test_a_growing_file_is_waited_for(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"a\n1")
    source = lines_of_file(path, growing=True)
    assert next(source) == NewLines([b"a"], 2)
    assert next(source) == NewLines([], 2)  # half a line is none yet
    with path.open("ab") as file:
        file.write(b"2\r\n")
    assert next(line for line in source if line.lines) == NewLines([b"12"], 6)


def test_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"a\n1\n2\n3\n")
    source = lines_of_file(path, growing=True)
    assert next(source).lines == [b"a", b"1", b"2", b"3"]
    path.write_bytes(b"a\n9\n")
    assert next(line for line in source if line.lines).lines == [b"a", b"9"]


def test_a_line_without_end_is_refused(tmp_path):
    path = tmp_path / "zeros.csv"
    path.write_bytes(b"0" * (1 << 21))
    with pytest.raises(FileFormatError, match="a line of more than"):
        list(lines_of_file(path))


def test_a_pipe_ends_with_its_last_line():
    reading, writing = os.pipe()
    os.write(writing, b"a,b\n1,2\n3,4")
    os.close(writing)
    found = list(lines_of_pipe(reading))
    os.close(reading)
    assert [line for new in found for line in new.lines] == [b"a,b", b"1,2", b"3,4"]


def test_a_silent_pipe_gives_nothing_now_and_then():
    reading, writing = os.pipe()
    source = lines_of_pipe(reading)
    assert next(source) == NewLines([], 0)
    os.write(writing, b"1\n")
    assert next(new for new in source if new.lines) == NewLines([b"1"], 0)
    os.close(writing)
    assert [new for new in source if new.lines] == []
    os.close(reading)


def mixed_rows(n_rows=100):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n_rows)
    texts = np.array([f"{value:.3f}" for value in x], dtype=object)
    target = np.array(["1" if value > 0 else "0" for value in x], dtype=object)
    return texts, target


def test_rows_that_cannot_be_read_are_left_out():
    texts, target = mixed_rows()
    learner, told = StreamLearner(window=60, min_rows=40), []
    for change in ({}, {3: "wet", 70: "dry"}):
        changed = texts.copy()
        changed[list(change)] = list(change.values())
        table = Table((Column("x", changed), Column("y", target)), 100)
        feed(learner, table, "y", on_skipped=told.append)
    assert learner.metrics.rows == 198
    assert [("wet" in line, "dry" in line) for line in told] == [(True, False), (False, True)]
    assert learner.classes_.tolist() == [0, 1]
