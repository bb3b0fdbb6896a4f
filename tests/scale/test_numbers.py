"""Quantiles of rows that pass by are those of all rows at hand, exactly."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scale_rows import partitions

from solah.data import Column, Kind, Table
from solah.labels.drawing import Limits
from solah.labels.goals import integer_weights
from solah.labels.sketches import FineCounts, Sketch
from solah.labels.words import weighted_quantiles
from solah.model.attributes import Attribute
from solah.scale import numbers as numbers_module
from solah.scale.engines import statistics_of
from solah.scale.facts import ColumnRoles
from solah.scale.numbers import Bracket, Quantiles, Spread
from solah.scale.reading import Reader


class Part:
    def __init__(self, table):
        self.table = table

    def tables(self, columns, rows):
        for start in range(0, self.table.n_rows, rows):
            yield self.table.select(columns).rows(start, start + rows)


class Passing:
    """Takes passes over parts of a table, and counts them."""

    def __init__(self, table, places):
        self.parts = [Part(table.take(part)) for part in places]
        self.names = []

    def run(self, one):
        self.names.append(type(one).__name__)
        first, *others = [statistics_of(one, [part], 13) for part in self.parts]
        for other in others:
            first = one.merge(first, other)
        return first


FEW = Limits(sketch_values=16, sketch_grid=4)


def number(name):
    return Attribute(
        name, Kind.CONTINUOUS, words=("any",), peaks=(0.0,), ignorance=(1.0,), low=0.0, high=0.0
    )


def table_of(values, weights):
    columns = (Column("x", values), Column("y", np.zeros(len(values), dtype=int)))
    return Table((*columns, Column("w", weights)), len(values))


def quantiles_of(values, weights, places, n_parts):
    """Pass over numbers, and find their quantiles; return who took the passes, too."""
    roles = ColumnRoles(("x",), "y", "w")
    _, unit = integer_weights(np.array([weights.max()]))
    reader = Reader(roles, (number("x"),), (0,), np.ones(1), unit)
    passing = Passing(table_of(values, weights), places)
    sketch = Sketch.of(values[weights > 0], FEW)
    spread = Spread(reader, {"x": sketch}, np.zeros(1, dtype=np.uint64), 0)
    counts = spread.counts(passing.run(spread))
    finder = Quantiles(passing, reader, {"x": sketch}, counts)
    found = [finder.find({"x": n})["x"] for n in n_parts]
    return found, passing


def expected_of(values, weights, n_parts):
    used = weights > 0
    integers, _ = integer_weights(weights)
    known = used & ~np.isnan(values)
    return [weighted_quantiles(values[known], integers[known], n) + 0.0 for n in n_parts]


@pytest.fixture(scope="module", autouse=True)
def small_sketches():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers_module, "_PARTS", 16)
        patch.setattr(numbers_module, "_UNTIDY", 10)
        yield patch


SHAPES = {
    "even": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "atoms": lambda rng, n: np.where(rng.random(n) < 0.6, 0.5, rng.random(n)),
    "few": lambda rng, n: rng.integers(0, 6, n) / 3,
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, rng.normal(size=n)),
    "no less than zero": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, rng.random(n)),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 40, n) * np.finfo(float).eps,
    "denormal": lambda rng, n: rng.integers(-50, 50, n) * 5e-324,
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "largest": lambda rng, n: rng.random(n) * 2.0**1023 // 2.0**1020 * 2.0**1020,
    "crowd": lambda rng, n: np.concatenate([[-1e6, 1e6], rng.random(n - 2)]),
    "far crowd": lambda rng, n: np.concatenate([[-1e9], rng.integers(0, 60, n - 1) * 1e-9]),
}


@settings(max_examples=100)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(3, 150),
    weighing=st.sampled_from(["equal", "whole", "real"]),
    crowd=st.sampled_from([1, 8, 10**9]),
    n_parts=st.lists(st.integers(2, 13), min_size=1, max_size=3),
    data=st.data(),
)
def test_quantiles_are_those_of_all_values(shape, seed, n_rows, weighing, crowd, n_parts, data):
    rng = np.random.default_rng(seed)
    values = SHAPES[shape](rng, n_rows)
    weights = {
        "equal": np.full(n_rows, 0.3),
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "real": rng.random(n_rows) * 7,
    }[weighing]
    weights[np.flatnonzero(~np.isnan(values))[:1]] = 1.0
    if np.isnan(values).all():
        return
    places = data.draw(partitions(n_rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers_module, "_CROWD", crowd)
        found, _ = quantiles_of(values, weights, places, n_parts)
    for mine, theirs in zip(found, expected_of(values, weights, n_parts), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs))


def test_few_values_take_no_further_pass():
    values = np.arange(90) % 12 / 4
    found, passing = quantiles_of(values, np.ones(90), [np.arange(90)], [4])
    assert passing.names == ["Spread"]
    np.testing.assert_array_equal(found[0], expected_of(values, np.ones(90), [4])[0])


def test_what_is_known_is_not_looked_for_again():
    values = np.random.default_rng(0).normal(size=300)
    _, passing = quantiles_of(values, np.ones(300), [np.arange(300)], [6, 6, 3])
    assert passing.names == ["Spread", "Inside"]


@pytest.mark.parametrize("crowd", [3, 40])
def test_crowded_bins_are_parted_first(monkeypatch, crowd):
    monkeypatch.setattr(numbers_module, "_CROWD", crowd)
    values = SHAPES["crowd"](np.random.default_rng(0), 400)
    found, passing = quantiles_of(values, np.ones(400), [np.arange(400)], [6])
    assert passing.names[:2] == ["Spread", "Parting"]
    assert passing.names[-1] == "Inside"
    np.testing.assert_array_equal(found[0], expected_of(values, np.ones(400), [6])[0])


@pytest.mark.parametrize("crowded", [0.5, 0.0, -0.0, 5e-324, -1e300])
def test_a_crowd_of_one_value_is_found_in_a_few_passes(monkeypatch, crowded):
    monkeypatch.setattr(numbers_module, "_CROWD", 1)
    monkeypatch.setattr(numbers_module, "_PARTS", 1024)
    others = np.random.default_rng(0).normal(size=200)
    values = np.where(np.arange(200) < 150, crowded, others)
    found, passing = quantiles_of(values, np.ones(200), [np.arange(200)], [4])
    np.testing.assert_array_equal(found[0], expected_of(values, np.ones(200), [4])[0])
    assert len(passing.names) <= 9


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False))
@example(0.0, 5e-324)
@example(-0.0, 1.0)
@example(-5e-324, 0.0)
@example(np.finfo(float).max, np.inf)
@example(-np.finfo(float).max, np.inf)
def test_a_bracket_is_parted_where_floats_lie_between(one, other):
    low, high = sorted([one, other])
    if low == high:
        return
    edges = Bracket("x", low, high, 0, 1).edges
    assert edges[0] == low
    assert (np.diff(edges) > 0).all()
    assert edges[-1] < high
    assert (len(edges) == 1) == (math.nextafter(low, math.inf) == high)


@given(st.integers(0, 2**32 - 1), st.data())
@example(0, None)
def test_the_sample_has_every_different_row_once(seed, data):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, 100) / 4
    weights = rng.integers(0, 3, 100).astype(float)
    weights[0] = 2.0
    places = [np.arange(100)] if data is None else data.draw(partitions(100))
    reader = Reader(ColumnRoles(("x",), "y", "w"), (number("x"),), (0,), np.ones(1), 1.0)
    spread = Spread(reader, {}, np.zeros(1, dtype=np.uint64), 2**64 - 1)
    sample = spread.sample(Passing(table_of(values, weights), places).run(spread))
    drawn = dict(zip(sample.rows.readings[:, 0], sample.rows.weights, strict=True))
    used = weights > 0
    assert drawn == {v: weights[values == v].sum() for v in np.unique(values[used])}
    assert (np.diff(sample.digests.astype(float)) > 0).all()


@given(st.integers(0, 2**32 - 1), st.data())
def test_fine_counts_add_up(seed, data):
    rng = np.random.default_rng(seed)
    values = SHAPES["gaps"](rng, 80)
    weights = rng.integers(1, 2**30, 80)
    sketch = Sketch.of(values, FEW)
    whole = FineCounts.of(values, weights, sketch)
    parts = [FineCounts.of(values[p], weights[p], sketch) for p in data.draw(partitions(80))]
    np.testing.assert_array_equal(sum(part.weights for part in parts), whole.weights)
    np.testing.assert_array_equal(sum(part.places for part in parts), whole.places)
    assert whole.weights.sum() == weights[~np.isnan(values)].sum()
