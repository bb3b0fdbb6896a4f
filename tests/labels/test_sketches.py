"""Sketches: the same for any order and any partition of the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.labels.drawing import Limits
from solah.labels.sketches import FineCounts, Sketch, SketchState

CAPACITY = 12

some_numbers = st.lists(
    st.one_of(
        st.floats(allow_nan=True, allow_infinity=False, width=64),
        st.integers(-4, 4).map(float),
        st.just(-0.0),
    ),
    max_size=60,
).map(lambda values: np.array(values, dtype=np.float64))


FEW = Limits(sketch_values=CAPACITY, sketch_grid=4)


def told(sketch):
    shown = [repr(value) for value in sketch.values.tolist()]
    return shown, repr(sketch.low), repr(sketch.high), sketch.is_complete


def state_of(numbers):
    state = SketchState.empty(FEW)
    state.add(numbers)
    return state


@given(some_numbers, st.integers(0, 2**32 - 1))
def test_neither_order_nor_partition_matters(numbers, seed):
    rng = np.random.default_rng(seed)
    whole = Sketch.of(numbers, FEW)
    cuts = np.sort(rng.integers(0, len(numbers) + 1, 3))
    parts = np.split(rng.permutation(numbers), cuts)
    one_by_one = SketchState.empty(FEW)
    for part in parts:
        one_by_one.add(part)
    assert told(one_by_one.sketch()) == told(whole)
    merged = SketchState.empty(FEW)
    for state in map(state_of, parts[::-1]):
        merged.merge(state)
    assert told(merged.sketch()) == told(whole)


@given(some_numbers, some_numbers, some_numbers)
def test_merging_is_associative_and_a_sketch_merged_with_itself_is_itself(a, b, c):
    left, right, inner, twice = state_of(a), state_of(a), state_of(b), state_of(a)
    left.merge(state_of(b))
    left.merge(state_of(c))
    inner.merge(state_of(c))
    right.merge(inner)
    assert told(left.sketch()) == told(right.sketch())
    twice.merge(state_of(a))
    assert told(twice.sketch()) == told(Sketch.of(a, FEW))


@given(some_numbers)
def test_a_complete_sketch_holds_all(numbers):
    sketch = Sketch.of(numbers, FEW)
    known = np.unique(numbers[~np.isnan(numbers)] + 0.0)
    assert sketch.is_complete == (len(known) <= CAPACITY)
    assert np.isin(sketch.values, known).all()
    assert len(sketch.values) == min(len(known), CAPACITY)
    assert (np.diff(sketch.values) > 0).all()
    if len(known):
        assert (sketch.low, sketch.high) == (known[0], known[-1])
    if sketch.is_complete:
        np.testing.assert_array_equal(sketch.values, known)
        np.testing.assert_array_equal(sketch.edges, known)


def test_what_is_kept_of_very_many_is_an_even_sample():
    sketch = Sketch.of(np.arange(100_000.0), Limits(sketch_values=1024))
    assert not sketch.is_complete
    in_tenths = np.histogram(sketch.values, 10, (0, 100_000))[0]
    assert in_tenths.min() > 65
    assert in_tenths.max() < 145


def test_nothing_has_no_range():
    sketch = Sketch.of(np.array([np.nan, np.nan]), FEW)
    assert (len(sketch.values), sketch.low, sketch.high, sketch.is_complete) == (
        0,
        np.inf,
        -np.inf,
        True,
    )
    assert len(sketch.edges) == 0


some_weights = st.sampled_from([None, "whole", "heavy"])
moderate = some_numbers.map(lambda values: np.where(np.abs(values) < 1e100, values, 1.0))


@given(moderate, some_weights, st.integers(0, 2**32 - 1))
def test_fine_bins_count_every_number_where_it_is(numbers, weighing, seed):
    rng = np.random.default_rng(seed)
    heaviest = {None: 1, "whole": 4, "heavy": 2**30}[weighing]
    weights = None if weighing is None else rng.integers(1, heaviest, len(numbers), endpoint=True)
    sketch = Sketch.of(numbers, FEW)
    counts = FineCounts.of(numbers, weights, sketch)
    known = ~np.isnan(numbers)
    of_rows = np.ones(len(numbers), dtype=np.int64) if weights is None else weights
    assert counts.weights.sum() == of_rows[known].sum()
    ends = np.append(sketch.edges, np.inf)[1:]
    for low, high, found in zip(sketch.edges, ends, counts.weights, strict=True):
        assert found == of_rows[known & (numbers >= low) & (numbers < high)].sum()


@given(moderate, st.integers(0, 2**32 - 1))
def test_centres_are_the_means_of_bins(numbers, seed):
    weights = np.random.default_rng(seed).integers(1, 2**30, len(numbers))
    sketch = Sketch.of(numbers, FEW)
    counts = FineCounts.of(numbers, weights, sketch)
    centres = sketch.centres(counts)
    ends = np.append(sketch.edges, np.inf)[1:]
    bins = zip(sketch.edges, ends, sketch.widths, centres, strict=True)
    for low, high, width, centre in bins:
        inside = (numbers >= low) & (numbers < high)
        mean = low + width / 2
        if inside.any():
            mean = np.average(numbers[inside], weights=weights[inside])
        assert abs(centre - mean) <= width * 2.0**-16 + 1e-12 * max(abs(low), abs(low + width))


def test_places_never_overflow():
    sketch = Sketch.of(np.arange(50.0), FEW)
    numbers = np.full(1000, np.nextafter(sketch.edges[1], 0.0))
    weights = np.full(1000, 2**30)
    counts = FineCounts.of(numbers, weights, sketch)
    many = FineCounts(counts.weights * 2**18, counts.places * 2**18)
    assert (many.places >= 0).all()
    assert many.weights.sum() == 1000 * 2**48
    assert many.mean_places()[0] == pytest.approx(1.0, abs=2.0**-15)
