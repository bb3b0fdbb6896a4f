"""Frames as a source: read where they are, or kept on disk where they pass by once."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_contents import content, whole

from solah.data import Column, Table, from_frame
from solah.exceptions import DataError, MissingExtraError
from solah.scale.sources import is_source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FRAMES = [
    pd.DataFrame({"n": [1, 2], "g": ["a", "b"]}),
    pl.DataFrame({"g": ["c", None], "n": [0.5, None]}),
    pa.table({"n": pa.array([], pa.string()), "g": pa.array([], pa.string())}),
    pa.table({"n": [7], "g": ["d"]}),
    Table((Column("n", np.array([8], np.int8)), Column("g", np.array(["e"], object))), 1),
]
EXPECTED = {
    "n": ("float64", None, False, [1.0, 2.0, 0.5, None, 7.0, 8.0]),
    "g": ("object", None, False, ["a", "b", "c", None, "d", "e"]),
}
# The ways in which frames are given.
WAYS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "function": lambda frames: lambda: iter(frames),
    "iterator": iter,
}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_frames_of_all_libraries_are_joined(way: Any) -> None:
    with open_source(way(FRAMES)) as source:
        assert content(whole(source, rows=1)) == EXPECTED
        assert content(whole(source)) == EXPECTED


def test_parts(tmp_path: Path) -> None:
    assert [part.n_rows for part in open_source(FRAMES).parts(1)] == [2, 2, 1, 1]
    assert [part.n_rows for part in open_source(lambda: FRAMES).parts(1)] == [6]
    part = pickle.loads(pickle.dumps(open_source(FRAMES).parts(1)[1]))
    (table,) = part.tables(["g"], 10)
    assert table.first_row == 3
    assert table.column("g").values.tolist() == ["c", None]


NUMBERS = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False, width=32))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.none() | NUMBERS, max_size=6), min_size=1, max_size=5),
    st.sampled_from(list(WAYS)),
)
def test_columns_of_numbers_in_pieces(pieces: list[list[Any]], way: str) -> None:
    values = [value for piece in pieces for value in piece]
    frames = [
        Table((from_frame(pd.DataFrame({"x": pd.Series(p, dtype=object)})).columns[0],), len(p))
        for p in pieces
    ]
    if not values:
        with pytest.raises(DataError, match="no rows"):
            open_source(WAYS[way](frames))
        return
    with open_source(WAYS[way](frames)) as source:
        column = whole(source).column("x")
    expected = [None if value is None else float(value) for value in values]
    found = [None if gone else v for v, gone in zip(column.values, column.missing(), strict=True)]
    assert found == expected


@pytest.mark.parametrize(
    ("columns", "type_", "values"),
    [
        ([[True], [False, None]], "object", ["True", "False", None]),
        ([[True], [2]], "int64", [1, 2]),
        ([[True], [None]], "object", ["True", None]),
        ([[True], ["x"]], "object", ["True", "x"]),
        ([[None], [1]], "float64", [None, 1.0]),
        ([[None], ["x"], [np.nan]], "object", [None, "x", None]),
        ([[np.nan], [None]], "float64", [None, None]),
        ([[None], [np.nan]], "float64", [None, None]),
    ],
)
def test_what_pieces_become(way: Any, columns: list[list[Any]], type_: str, values: Any) -> None:
    frames = [pd.DataFrame({"x": values}) for values in columns]
    with open_source(way(frames)) as source:
        assert content(whole(source)) == {"x": (type_, None, False, values)}


def test_categoricals_keep_their_order(way: Any) -> None:
    def frame(*values: str | None) -> pd.DataFrame:
        return pd.DataFrame({"x": pd.Categorical(values, ["lo", "mid", "hi"], ordered=True)})

    with open_source(way([frame("lo", "hi"), frame(None), frame("mid")])) as source:
        assert content(whole(source)) == {
            "x": ("object", ("lo", "mid", "hi"), True, ["lo", "hi", None, "mid"])
        }


def test_large_types_and_odd_names(way: Any) -> None:
    names = ["a.b", "a", "ü ñ", "x\ny"]
    columns = [np.array([1.5], t) for t in ("longdouble", "float16", "uint8", "uint64")]
    frame = Table(tuple(map(Column, names, columns)), 1)
    with open_source(way([frame])) as source:
        assert source.names == tuple(names)
        assert [c.values.tolist() for c in whole(source).columns] == [[1.5], [1.5], [1], [1]]


# What does not fit


def test_frames_that_do_not_fit(way: Any) -> None:
    one = pd.DataFrame({"x": [1], "y": [1]})
    with pytest.raises(DataError, match="frame 2 has no column 'y', which frame 1 has"):
        open_source(way([one, one[["x"]]]))
    with pytest.raises(DataError, match="frame 3 has a column 'z', which frame 1 has not"):
        open_source(way([one, one, one.assign(z=1)]))
    with pytest.raises(DataError, match="column 'x' is text in frame 2 and numbers before it"):
        open_source(way([one, one.assign(x="a")]))
    with pytest.raises(DataError, match="item 2 of the frames is of type ndarray; give data fr"):
        open_source(way([one, np.ones((2, 2))]))
    with pytest.raises(DataError, match="frame 1 has no columns"):
        open_source(way([pd.DataFrame(index=[0, 1])]))
    with pytest.raises(DataError, match="no rows"):
        open_source(way([one[:0]]))


def test_a_function_must_give_the_same_each_time() -> None:
    frames = [pd.DataFrame({"x": [1, 2]})]
    source = open_source(lambda: list(frames))
    frames.append(pd.DataFrame({"x": [3]}))
    with pytest.raises(DataError, match=r"had 2 rows when it was opened and 3 now"):
        whole(source)
    frames[:] = [pd.DataFrame({"x": ["a", "b"]})]
    with pytest.raises(DataError, match="column 'x' is not what it was"):
        whole(source)
    frames[:] = [pd.DataFrame({"x": [0.5, 1.5]})]
    with pytest.raises(DataError, match="column 'x' is not what it was"):
        whole(source)


@pytest.mark.parametrize("given", [FRAMES[0], FRAMES[3], FRAMES[4], None])
def test_a_function_must_give_several_frames(given: Any) -> None:
    def load() -> Any:
        return given

    kind = type(given).__name__
    with pytest.raises(DataError, match=rf"load\(\) returns a {kind}; let it return an iterator"):
        open_source(load)


# The spool


def test_an_iterator_is_kept_on_disk_while_the_source_is_open(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    with open_source(iter(FRAMES), spool=spool) as source:
        assert list(spool.iterdir())
        part = pickle.loads(pickle.dumps(source.parts(100)[0]))
        assert part.n_rows == 6
        assert len(list(part.tables(["g"], 100))) >= 1
    assert not list(spool.iterdir())

    def failing() -> Any:
        yield FRAMES[0]
        raise OSError("the sensor is gone")

    with pytest.raises(OSError, match="the sensor is gone"):
        open_source(failing(), spool=spool)
    assert not list(spool.iterdir())


def test_small_frames_are_gathered(tmp_path: Path) -> None:
    frames = (pd.DataFrame({"x": np.arange(j * 10.0, (j + 1) * 10)}) for j in range(50))
    with open_source(frames) as source:
        (part,) = source.parts(1)  # one row group
        assert part.n_rows == 500
        assert whole(source).column("x").values.tolist() == list(range(500))


def test_types_that_alternate_do_not_scatter_the_rows(tmp_path: Path) -> None:
    frames = (pd.DataFrame({"x": [j if j % 2 else j + 0.5]}) for j in range(40))
    with open_source(frames, spool=tmp_path) as source:
        assert len(list(tmp_path.rglob("*.parquet"))) == 1
        assert whole(source).column("x").values.tolist() == [
            j if j % 2 else j + 0.5 for j in range(40)
        ]


def test_record_batches() -> None:
    batches = pa.table({"x": [1, 2, 3]}).to_batches(max_chunksize=2)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    with open_source(reader) as source:
        assert whole(source).column("x").values.tolist() == [1, 2, 3]


def test_text_that_is_not_unicode() -> None:
    with pytest.raises(DataError, match="column 'x' holds text that is not Unicode"):
        open_source(iter([pd.DataFrame({"x": pd.Series(["\ud800"], dtype=object)})]))


def test_an_iterator_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"keeping rows on disk needs .*solah\[parquet\]"):
        open_source(iter([FRAMES[0]]))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_fingerprint_is_of_the_content(way: Any) -> None:
    def digest(**columns: Any) -> str:
        with open_source(way([pd.DataFrame(columns)])) as source:
            return source.fingerprint

    one = digest(x=[1.0, 2.0], g=["a", "b"])
    assert digest(x=[1.0, 2.0], g=["a", "b"]) == one
    others = {digest(x=[1.0, 3.0], g=["a", "b"]), digest(x=[1.0, 2.0], g=["ab", None])}
    assert len(others | {one}) == 3


# What is a source


@pytest.mark.parametrize(
    "data",
    [
        "data.csv",
        ["a.csv", "b.csv"],
        iter([]),
        lambda: FRAMES,
        [FRAMES[0]],
        (FRAMES[1],),
        [FRAMES[-1]],
        open_source(FRAMES),
    ],
)
def test_what_is_a_source(data: Any, tmp_path: Path) -> None:
    assert is_source(data)
    assert is_source(tmp_path)


@pytest.mark.parametrize(
    "data", [np.ones(3), [[1.0]], [1.0], [], (), *FRAMES[:2], FRAMES[-1], None, 7, {"x": [1]}]
)
def test_what_is_none(data: Any) -> None:
    assert not is_source(data)


def test_what_cannot_be_opened() -> None:
    source = open_source(FRAMES)
    assert open_source(source) is source
    assert open_source(FRAMES[0]).n_rows == 2
    with pytest.raises(DataError, match="rows cannot be read from a int; give a path"):
        open_source(7)
    with pytest.raises(DataError, match="item 1 of the frames is of type list"):
        open_source([[1.0]])
