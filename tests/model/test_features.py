"""Words of features: what they mean, where they apply, and that terms read them as such."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import random_cored, random_feature, random_parts
from solah.data import Kind
from solah.kernels.reference import masses
from solah.model import TermInput
from solah.model.features import (
    are_cores,
    cored_feature,
    discrete_feature,
    flatten,
    rounded_edges,
)
from solah.report import describe_feature

seeds = st.integers(0, 2**32 - 1)


def memberships(feature, values):
    """Return how far each word describes each value: ``(n_values, n_words)``."""
    of_sets = masses(np.asarray(values, dtype=float), flatten([feature]), 0)
    of_words = np.zeros((len(values), len(feature.words)))
    for place, word in enumerate(feature.set_words):
        of_words[:, word] += of_sets[:, place]
    return of_words


@given(seeds)
def test_memberships_sum_to_one_and_are_full_in_the_core(seed):
    rng = np.random.default_rng(seed)
    feature = random_cored(rng, "x", Kind.CONTINUOUS)
    values = np.concatenate([rng.uniform(feature.low, feature.high, 50), feature.peaks])
    found = memberships(feature, values)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert ((found > 0).sum(axis=1) <= 2).all()
    for word, (low, high) in enumerate(feature.cores):
        inside = (values >= low) & (values <= high)
        np.testing.assert_allclose(found[inside, word], 1.0, atol=1e-12)


@given(seeds)
def test_memberships_are_linear_on_ramps(seed):
    rng = np.random.default_rng(seed)
    feature = random_cored(rng, "x", Kind.CONTINUOUS)
    for word, ((_, end), (start, _)) in enumerate(
        zip(feature.cores, feature.cores[1:], strict=False)
    ):
        part = rng.random(9)
        found = memberships(feature, end + part * (start - end))
        np.testing.assert_allclose(found[:, word + 1], part, atol=1e-9)
        np.testing.assert_allclose(found[:, word], 1 - part, atol=1e-9)


@given(seeds)
def test_ranges_tell_where_words_apply(seed):
    rng = np.random.default_rng(seed)
    feature = random_cored(rng, "x", Kind.CONTINUOUS)
    values = rng.uniform(feature.low, feature.high, 50)
    found = memberships(feature, values)
    for word, one in enumerate(feature.word_ranges()):
        assert one.word == feature.words[word]
        partly = (values > one.partly[0]) & (values < one.partly[1])
        assert not found[~partly, word].any()
        assert (found[partly, word] > 0).all()
        assert one.fully == feature.cores[word]


@given(seeds)
def test_the_parts_of_a_term_have_the_memberships_of_their_words(seed):
    rng = np.random.default_rng(seed)
    feature = random_cored(rng, "x", Kind.CONTINUOUS)
    one = TermInput(feature, random_parts(rng, feature))
    cores = feature.cores
    inside = [
        value
        for low, high in cores
        for value in (low, high, (low + high) / 2)
        if np.isfinite(value)
    ]
    whole = memberships(feature, [*inside, 0.0])
    of_sets = masses(np.array([*inside, 0.0]), flatten([one.asked]), 0)
    for number, part in enumerate(one.parts):
        found = of_sets[:, np.array(one.part_of_set) == number].sum(axis=1)
        # Between two words of one part, it has all of both; within a core, all or nothing.
        expected = whole[:, list(part)].sum(axis=1)
        np.testing.assert_allclose(found[:-1], expected[:-1], atol=1e-12)
        assert found[-1] == pytest.approx(expected[-1])


@pytest.mark.parametrize(
    ("joined", "phrase"),
    [
        ((0, 1), "below 3.5"),
        ((0, 1, 2), "below 4.5"),
        ((2, 3, 4), "above 3.5"),
        ((3, 4), "above 4.5"),
        ((1, 2, 3), "1.5 to 6.5"),
        ((2,), "c"),
    ],
)
def test_joined_words_are_named_by_where_they_meet_others(joined, phrase):
    cores = [(-np.inf, 1), (2, 3), (4, 4), (5, 6), (7, np.inf)]
    feature = cored_feature("x", tuple("abcde"), cores, (1 / 7,) * 7, 0.0, 9.0)
    others = [(word,) for word in range(5) if word not in joined]
    parts = sorted([joined, *others])
    one = TermInput(feature, tuple(parts))
    assert one.phrase(parts.index(joined)) == phrase


@pytest.mark.parametrize(
    ("cores", "are"),
    [
        ([(-np.inf, np.inf)], True),
        ([(-np.inf, 1), (2, np.inf)], True),
        ([(-np.inf, 1), (1.5, 1.5), (2, np.inf)], True),
        ([], False),
        ([(0, 1), (2, np.inf)], False),
        ([(-np.inf, 1), (2, 3)], False),
        ([(-np.inf, 2), (2, np.inf)], False),
        ([(-np.inf, 3), (2, np.inf)], False),
        ([(-np.inf, 1), (3, 2), (4, np.inf)], False),
        ([(-np.inf, 1), (np.nan, 2), (4, np.inf)], False),
        ([(-np.inf, np.inf), (2, np.inf)], False),
    ],
)
def test_cores_must_increase_without_an_end_outside(cores, are):
    assert are_cores(cores) is are


SEEDS = st.integers(0, 2**32 - 1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8, unique=True))
def test_rounded_edges_stay_apart_and_near(edges):
    edges = sorted(edges)
    rounded = rounded_edges(edges)
    assert all(a < b for a, b in pairwise(rounded))
    gaps = np.diff(edges)
    for i, (edge, shown) in enumerate(zip(edges, rounded, strict=True)):
        assert abs(shown - edge) <= 0.02 * min(gaps[max(i - 1, 0) : i + 1]) * (1 + 1e-9)


@given(seed=SEEDS)
def test_an_edge_is_written_alike_for_both_its_words(seed):
    feature = random_cored(np.random.default_rng(seed), "x", Kind.CONTINUOUS)
    texts = [one.text for one in feature.word_ranges()]
    for before, after in pairwise(texts):
        (low,) = re.findall(r"^(?:up to |at |\S+ to )(\S+),", before)
        assert re.search(rf"fading in from {re.escape(low)}(?: |$)", after)


@given(seed=SEEDS)
@pytest.mark.parametrize("make", [random_cored, random_feature])
def test_a_word_range_prints_what_reports_and_the_command_line_do(make, seed):
    feature = make(np.random.default_rng(seed), "x", Kind.CONTINUOUS)
    described = describe_feature(feature)["words"]
    printed = [f"{word['word']}: {word['text']}" for word in described]
    assert list(map(str, feature.word_ranges())) == printed


@pytest.mark.parametrize("kind", [Kind.BINARY, Kind.CATEGORICAL, Kind.ORDINAL])
@pytest.mark.parametrize("states", [(), ("a", "b"), (1.0, 2.5, 7.0)])
def test_categories_have_no_ranges(kind, states):
    assert discrete_feature("x", kind, states, ()).word_ranges() == ()


def test_a_single_word_applies_everywhere():
    feature = cored_feature("x", ("any",), [(-np.inf, np.inf)], (1.0,), 0.0, 9.0)
    assert list(map(str, feature.word_ranges())) == ["any: all values"]
