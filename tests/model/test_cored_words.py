"""Words with cores: what they mean, and that a tree reads them as such."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import additive_tree, random_cored
from solah.data import Kind
from solah.explain.rules import tree_rules
from solah.kernels.reference import masses
from solah.model import Goal
from solah.model.attributes import are_cores, cored_attribute, flatten

seeds = st.integers(0, 2**32 - 1)


def memberships(attribute, values):
    """Return how far each word describes each value: ``(n_values, n_words)``."""
    of_sets = masses(np.asarray(values, dtype=float), flatten([attribute]), 0)
    of_words = np.zeros((len(values), len(attribute.words)))
    for place, word in enumerate(attribute.set_words):
        of_words[:, word] += of_sets[:, place]
    return of_words


@given(seeds)
def test_memberships_sum_to_one_and_are_full_in_the_core(seed):
    rng = np.random.default_rng(seed)
    attribute = random_cored(rng, "x", Kind.CONTINUOUS)
    values = np.concatenate([rng.uniform(attribute.low, attribute.high, 50), attribute.peaks])
    found = memberships(attribute, values)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert ((found > 0).sum(axis=1) <= 2).all()
    for word, (low, high) in enumerate(attribute.cores):
        inside = (values >= low) & (values <= high)
        np.testing.assert_allclose(found[inside, word], 1.0, atol=1e-12)


@given(seeds)
def test_memberships_are_linear_on_ramps(seed):
    rng = np.random.default_rng(seed)
    attribute = random_cored(rng, "x", Kind.CONTINUOUS)
    for word, ((_, end), (start, _)) in enumerate(
        zip(attribute.cores, attribute.cores[1:], strict=False)
    ):
        part = rng.random(9)
        found = memberships(attribute, end + part * (start - end))
        np.testing.assert_allclose(found[:, word + 1], part, atol=1e-9)
        np.testing.assert_allclose(found[:, word], 1 - part, atol=1e-9)


@given(seeds)
def test_ranges_tell_where_words_apply(seed):
    rng = np.random.default_rng(seed)
    attribute = random_cored(rng, "x", Kind.CONTINUOUS)
    values = rng.uniform(attribute.low, attribute.high, 50)
    found = memberships(attribute, values)
    for word, one in enumerate(attribute.word_ranges()):
        assert one.word == attribute.words[word]
        partly = (values > one.partly[0]) & (values < one.partly[1])
        assert not found[~partly, word].any()
        assert (found[partly, word] > 0).all()
        assert one.fully == attribute.cores[word]


@given(seeds)
def test_the_sets_of_a_word_are_one_branch(seed):
    rng = np.random.default_rng(seed)
    attribute = random_cored(rng, "x", Kind.CONTINUOUS)
    tree = additive_tree(rng, "of x", [attribute], 3)
    assert tree.n_rules == len(attribute.words)
    rules = tree_rules(tree, Goal("y", ("a", "b", "c")))
    words = [rule.premise.removeprefix("x is ") for rule in rules.values()]
    assert words == (list(attribute.words) if len(attribute.words) > 1 else ["lowest"])


@pytest.mark.parametrize(
    ("joined", "phrase"),
    [
        ([0, 1], "a or b"),
        ([0, 1, 2], "at most c"),
        ([2, 3, 4], "at least c"),
        ([3, 4], "d or e"),
        ([1, 2, 3], "from b to d"),
        ([2], "c"),
    ],
)
def test_conditions_name_words(joined, phrase):
    cores = [(-np.inf, 1), (2, 3), (4, 4), (5, 6), (7, np.inf)]
    attribute = cored_attribute("x", tuple("abcde"), cores, (1 / 7,) * 7, 0.0, 9.0)
    tree = additive_tree(np.random.default_rng(0), "of x", [attribute], 2)
    alike = [node + 1 for node, word in enumerate(attribute.set_words) if word in joined]
    tree.scores[alike], tree.belief[alike] = tree.scores[alike[0]], tree.belief[alike[0]]
    premises = [rule.premise for rule in tree_rules(tree, Goal("y", ("n", "y"))).values()]
    assert f"x is {phrase}" in premises


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
