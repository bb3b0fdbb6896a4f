"""Few of many features: the most dependent on the target, and what is said of the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.dependence import screen_features
from solah.exceptions import ParameterError

NAMES = ["a", "b", "c", "d"]
RELEVANCE = [0.2, 0.7, 0.1, 0.7]
relevances = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(relevances, st.integers(1, 40))
def test_keeps_as_many_as_were_asked_for(relevance, keep):
    names = [f"x{j}" for j in range(len(relevance))]
    found = screen_features(relevance, names, keep)
    assert len(found.kept) == min(keep, len(names))
    assert sorted((*found.kept, *found.left_out)) == sorted(names)
    assert found.kept == tuple(names[at] for at in found.places)
    assert found.places == tuple(sorted(found.places))
    assert found.least_kept == min(relevance[at] for at in found.places)
    assert max(found.left_out_relevance, default=0.0) <= found.least_kept + 1e-9


@given(relevances, st.floats(0, 1))
def test_keeps_those_that_depend_enough(relevance, least):
    names = [f"x{j}" for j in range(len(relevance))]
    if max(relevance) < least - 1e-9:
        with pytest.raises(ParameterError, match="no feature depends on the target"):
            screen_features(relevance, names, least)
        return
    found = screen_features(relevance, names, least)
    assert found.least_kept >= least - 1e-9
    assert max(found.left_out_relevance, default=-1.0) < least


def test_the_first_of_equals_is_kept():
    found = screen_features([0.5, 0.7, 0.5 + 1e-12, 0.5], NAMES, 2)
    assert found.kept == ("a", "b")
    assert found.left_out == ("c", "d")


def test_says_what_was_left_out():
    assert str(screen_features(RELEVANCE, NAMES, 2)) == (
        "2 of 4 features are kept, down to a dependence on the target of 0.700; "
        "the next is 'a' (0.200)"
    )
    assert str(screen_features(RELEVANCE, NAMES, 9)) == (
        "all 4 features are kept; the least dependence is 0.100"
    )


def test_takes_arrays():
    found = screen_features(np.array(RELEVANCE), np.array(NAMES), np.int64(1))
    assert found.kept == ("b",)


@pytest.mark.parametrize("keep", [0, -1, True, 1.5, -2.0, float("nan"), "all", None])
def test_what_cannot_be_kept(keep):
    with pytest.raises(ParameterError, match="'keep' must be a whole number"):
        screen_features(RELEVANCE, NAMES, keep)


def test_relevances_that_cannot_be_used():
    with pytest.raises(ParameterError, match="Got 1 for 2 names"):
        screen_features([0.1], ["a", "b"], 1)
    with pytest.raises(ParameterError, match="Got 0 for 0 names"):
        screen_features([], [], 1)
    with pytest.raises(ParameterError, match="relevance of 'b' must be a number. Got nan"):
        screen_features([0.1, float("nan")], ["a", "b"], 1)


def test_nothing_depends_enough():
    with pytest.raises(ParameterError, match="by 0.9 or more; 'b' does most, by 0.700"):
        screen_features(RELEVANCE, NAMES, 0.9)
