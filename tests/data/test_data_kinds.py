"""What each column is taken for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.data import Column, Kind, Table, from_frame, infer_types, states_of
from solah.data.kinds import MAX_CATEGORIES
from solah.exceptions import ColumnError, DataError, RareCategoriesWarning


def column(*values: Any, name: str = "age", **known: Any) -> Column:
    is_text = any(isinstance(value, str) for value in values) or set(values) == {None}
    return Column(name, np.array(values, dtype=object if is_text else None), **known)


def settled(column: Column, declared: Any = None) -> tuple[Column, Kind]:
    table = Table((column,), len(column.values))
    table, (kind,) = infer_types(table, None if declared is None else {column.name: declared})
    return table.columns[0], kind


@pytest.mark.parametrize(
    ("one", "kind", "states"),
    [
        (column(1.5, 2.5, 3.5), Kind.CONTINUOUS, ()),
        (column(1, 2, 3, 4, 5, 6), Kind.CONTINUOUS, ()),
        (column(1, 2, 3, 4, 5), Kind.ORDINAL, (1, 2, 3, 4, 5)),
        (column(3.0, 1.0, np.nan, 2.0), Kind.ORDINAL, (1, 2, 3)),
        (column(7, 7), Kind.ORDINAL, (7,)),
        (column(0.5, 0.5), Kind.CONTINUOUS, ()),
        (column(0.5, 1.5, np.nan), Kind.BINARY, (0.5, 1.5)),
        (column(1, 0), Kind.BINARY, (0, 1)),
        (column(True, False), Kind.BINARY, (False, True)),
        (column(True, True), Kind.CATEGORICAL, (True,)),
        (column(np.nan, np.nan), Kind.CONTINUOUS, ()),
        (column("b", "a", None), Kind.BINARY, ("a", "b")),
        (column("b", "a", "c"), Kind.CATEGORICAL, ("a", "b", "c")),
        (column("a", "a"), Kind.CATEGORICAL, ("a",)),
        (column(None, None), Kind.CATEGORICAL, ()),
        (column("1.5", "2.5", "3.5", None), Kind.CONTINUOUS, ()),
        (column("3", "1", "2"), Kind.ORDINAL, (1, 2, 3)),
        (column("0", "1"), Kind.BINARY, (0, 1)),
        (column("a", "b", "c", "1"), Kind.CATEGORICAL, ("1", "a", "b", "c")),
        (column("3", "1", "2", nominal=True), Kind.CATEGORICAL, ("1", "2", "3")),
        (column("3", "1", nominal=True), Kind.BINARY, ("1", "3")),
        (column("M", "L", order=("S", "M", "L")), Kind.ORDINAL, ("S", "M", "L")),
    ],
)
def test_inferred(one: Column, kind: Kind, states: tuple[Any, ...]) -> None:
    found, found_kind = settled(one)
    assert found_kind is kind
    assert states_of(found, kind) == states
    assert list(map(type, states_of(found, kind))) == list(map(type, states))


@pytest.mark.parametrize(
    ("one", "declared", "kind", "states"),
    [
        (column(1.5, 2.5, 3.5), "categorical", Kind.CATEGORICAL, (1.5, 2.5, 3.5)),
        (column(3, 1), Kind.CONTINUOUS, Kind.CONTINUOUS, ()),
        (column(True, False), "continuous", Kind.CONTINUOUS, ()),
        (column("1", "2"), "continuous", Kind.CONTINUOUS, ()),
        (column("007", "8", "9"), "categorical", Kind.CATEGORICAL, (7, 8, 9)),
        (column("007", "8", nominal=True), "categorical", Kind.CATEGORICAL, ("007", "8")),
        (column(9.0, 10.0, np.nan), "ordinal", Kind.ORDINAL, (9, 10)),
        (column("9", "10", "-1"), "ordinal", Kind.ORDINAL, (-1, 9, 10)),
        (column("v10", "v9", "v09"), "ordinal", Kind.ORDINAL, ("v09", "v9", "v10")),
        (column("b10a", "b10", "a"), "ordinal", Kind.ORDINAL, ("a", "b10", "b10a")),
        (column("10", "9", nominal=True), "ordinal", Kind.ORDINAL, ("9", "10")),
        (column("M", order=("S", "M")), "ordinal", Kind.ORDINAL, ("S", "M")),
        (column("M", "S", None), ["S", "M", "L"], Kind.ORDINAL, ("S", "M", "L")),
        (column(1.0, 3.0, np.nan), [3, 2, 1], Kind.ORDINAL, ("3", "2", "1")),
        (column(True, False), (True, False), Kind.ORDINAL, (True, False)),
        (column(0, 1, 1), [False, True], Kind.ORDINAL, (False, True)),
        (column("TRUE", "false", None), [False, True], Kind.ORDINAL, (False, True)),
        (column("a", "a"), "binary", Kind.BINARY, ("a",)),
    ],
)
def test_declared(one: Column, declared: Any, kind: Kind, states: tuple[Any, ...]) -> None:
    found, found_kind = settled(one, declared)
    assert found_kind is kind
    assert states_of(found, kind) == states
    assert kind is not Kind.CONTINUOUS or found.values.dtype == np.float64


@pytest.mark.parametrize(
    ("one", "declared", "message"),
    [
        (column("1", "n/a", None, "2", "n/a"), None, r"2 values .* \(first: 'n/a', row 2\)"),
        (column("a", "b", "1"), "continuous", "column 'age' has 2 values that are not numbers"),
        (column(1, 2, 3), "binary", "'age' is declared binary but has 3 distinct values"),
        (column("S", "XL"), ["S", "M"], r"value 'XL' \(row 2\), which is not one of .*: 'S', 'M'"),
        (column("a"), [], "categories of column 'age' must be at least one and all different"),
        (column("a"), ["a", "a"], "must be at least one and all different"),
        (column("a"), [1, 1.0], "must be at least one and all different"),
        (column(1.0, 2.0, -np.inf, np.inf), None, r"'age' has an infinite value \(row 3\)"),
    ],
)
def test_what_a_column_cannot_be(one: Column, declared: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        settled(one, declared)


def test_unknown_columns_and_kinds_are_named() -> None:
    table = Table((column(1, 2),), 2)
    with pytest.raises(ColumnError, match="no column 'aged'; did you mean 'age'"):
        infer_types(table, {"aged": "continuous"})
    with pytest.raises(
        DataError, match="'numeric'; the types are: continuous, binary, categorical, ordinal"
    ):
        infer_types(table, {"age": "numeric"})
    with pytest.raises(DataError, match="column 'age' cannot be declared \\{1\\}; the types are"):
        infer_types(table, {"age": {1}})  # type: ignore[dict-item]


@pytest.mark.parametrize("declared", [None, "ordinal"])
def test_identifiers_are_refused(declared: str | None) -> None:
    words = [f"id {j}" for j in range(2 * MAX_CATEGORIES + 2)]
    with pytest.raises(
        DataError,
        match=r"'age' has 510 distinct values, .* drop it \(--drop age\), or keep its most",
    ):
        settled(column(*words), declared)
    settled(column(*words[:MAX_CATEGORIES]), declared)


@pytest.mark.parametrize("as_numbers", [False, True])
def test_rare_categories_count_as_missing(as_numbers: bool) -> None:
    frequent = [n for n in range(MAX_CATEGORIES) for _ in range(5)]
    rare = list(range(MAX_CATEGORIES, MAX_CATEGORIES + 300))
    values = [n if as_numbers else f"town {n:03}" for n in [*rare, *frequent]]
    declared = "categorical" if as_numbers else None
    with pytest.warns(
        RareCategoriesWarning, match=r"554 categories; the 254 most frequent .* \(19% of the rows\)"
    ):
        found, kind = settled(column(*values, np.nan if as_numbers else None), declared)
    assert kind is Kind.CATEGORICAL
    assert found.missing().tolist() == [True] * 300 + [False] * len(frequent) + [True]
    assert len(states_of(found, kind)) == MAX_CATEGORIES
    # Those that are as frequent are kept by their value, whatever the order of the rows.
    with pytest.warns(RareCategoriesWarning):
        other, _ = settled(column(*values[::-1]), declared)
    assert states_of(other, kind) == states_of(found, kind)


def test_declared_categories_are_kept_however_rare() -> None:
    words = [f"id {j:03}" for j in range(2 * MAX_CATEGORIES + 2)]
    with pytest.warns(RareCategoriesWarning, match=r"\(50% of the rows\) count as missing"):
        found, _ = settled(column(*words), "categorical")
    assert states_of(found, Kind.CATEGORICAL) == tuple(words[:MAX_CATEGORIES])


@given(st.lists(st.integers(-3, 3) | st.none(), min_size=1, max_size=3000))
def test_few_numbers_are_found_wherever_they_are(numbers: list[int | None]) -> None:
    values = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)
    distinct = sorted({n for n in numbers if n is not None})
    found, kind = settled(Column("x", values))
    if kind is Kind.CONTINUOUS:
        assert len(distinct) in (0, 6, 7)
    else:
        assert list(states_of(found, kind)) == distinct


def test_a_value_at_the_end_is_not_overlooked() -> None:
    values = np.zeros(100_000)
    values[-1] = 0.25
    assert settled(Column("x", values))[1] is Kind.BINARY
    values[-2] = 0.5
    assert settled(Column("x", values))[1] is Kind.CONTINUOUS


def test_declared_kinds_are_not_looked_for_one_by_one() -> None:
    class Names(tuple):  # type: ignore[type-arg]
        def __contains__(self, _: object) -> bool:
            raise AssertionError("a search through all names for each of them")

    names = [f"x{j}" for j in range(50)]
    table = Table(tuple(Column(name, np.arange(9.0)) for name in names), 9)
    table.__dict__["names"] = Names(names)
    _, kinds = infer_types(table, dict.fromkeys(names, "continuous"))
    assert set(kinds) == {Kind.CONTINUOUS}


def test_all_columns_that_cannot_be_used_are_named_at_once():
    n_rows = 300
    table = from_frame(
        pd.DataFrame(
            {
                "age": ["31", "unknown"] * 100 + ["46"] * 100,
                "kind": ["1", "a", "2", "b", "c", "d", "3", "4", "5", "6"] * 30,
                "mass": ["2.5", "not known"] * 150,
                "notes": [f"note {i}" for i in range(n_rows)],
                "who is it": [f"id {i}" for i in range(n_rows)],
                "width": [1.0] * n_rows,
            }
        )
    )
    with pytest.raises(DataError) as caught:
        infer_types(table)
    assert str(caught.value).startswith("5 columns cannot be used as they are: column 'age' has")
    assert str(caught.value).endswith(
        "what helps: --read missing=unknown --type kind=categorical "
        "--read missing='not known' --drop notes --drop 'who is it'"
    )


def test_many_numbers_with_a_unit_are_not_advised_to_be_dropped():
    cells = {
        "price": [f"${i},000" if i % 3 else f"{i}" for i in range(100, 400)],
        "mass": [f"{i} kg" for i in range(300)],
        "level": [f"{i}" if i % 3 else "unknown" for i in range(900)][:300],
    }
    with pytest.raises(DataError) as caught:
        infer_types(from_frame(pd.DataFrame(cells)))
    assert "--drop" not in str(caught.value)
    for name, cause in (("price", "has 2"), ("mass", "looks like numbers")):
        assert f"column {name!r} {cause}" in str(caught.value)
    assert str(caught.value).endswith("; what helps: --read missing=unknown")


def test_a_word_that_most_rows_have_may_mean_missing():
    cells = [str(i) for i in range(300)] + ["unknown"] * 900
    with pytest.raises(
        DataError, match=r"900 values that are not numbers .*--read missing=unknown"
    ):
        settled(column(*cells))


def test_dates_that_can_be_read_two_ways_are_refused():
    day = column("3/4/2026", "12/4/2026", None)
    with pytest.raises(DataError, match="'age' holds dates that may begin with the day or with"):
        infer_types(Table((day,), 3))
    _, kinds = infer_types(Table((day,), 3), {"age": "categorical"})
    assert kinds == (Kind.CATEGORICAL,)
