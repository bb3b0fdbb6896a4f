"""Ranges of words print as the command line prints them."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import random_attribute, random_cored
from solah.data import Kind
from solah.model.attributes import cored_attribute, discrete_attribute, rounded_edges
from solah.report import describe_attribute

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
    attribute = random_cored(np.random.default_rng(seed), "x", Kind.CONTINUOUS)
    texts = [one.text for one in attribute.word_ranges()]
    for before, after in pairwise(texts):
        (low,) = re.findall(r"fully (?:from \S+ to|up to|at) (\S+),", before)
        assert re.search(rf"partly from {re.escape(low)}(?: |$)", after)


@given(seed=SEEDS)
@pytest.mark.parametrize("make", [random_cored, random_attribute])
def test_a_word_range_prints_what_reports_and_the_command_line_do(make, seed):
    attribute = make(np.random.default_rng(seed), "x", Kind.CONTINUOUS)
    described = describe_attribute(attribute)["words"]
    printed = [f"{word['word']}: {word['text']}" for word in described]
    assert list(map(str, attribute.word_ranges())) == printed


@pytest.mark.parametrize("kind", [Kind.BINARY, Kind.CATEGORICAL, Kind.ORDINAL])
@pytest.mark.parametrize("states", [(), ("a", "b"), (1.0, 2.5, 7.0)])
def test_categories_have_no_ranges(kind, states):
    assert discrete_attribute("x", kind, states, ()).word_ranges() == ()


def test_a_single_word_applies_everywhere():
    attribute = cored_attribute("x", ("any",), [(-np.inf, np.inf)], (1.0,), 0.0, 9.0)
    assert list(map(str, attribute.word_ranges())) == ["any: everywhere"]
