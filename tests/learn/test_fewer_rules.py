"""The path from many rules to few."""

import numpy as np
import pandas as pd
from additive_cases import cases, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from solah import RuleClassifier
from solah.learn.design import Design
from solah.learn.recipe import STRENGTHS, AdditiveRecipe
from solah.learn.sample import Sample
from solah.learn.terms import PairTerm, part_of_words


@settings(max_examples=20)
@given(
    cases(),
    st.integers(1, 40),
    st.sampled_from([None, 1, 2, 3]),
    st.dictionaries(st.integers(0, 4), st.sampled_from([0.1, 5.0, 100.0])),
    st.integers(0, 6),
)
def test_there_are_never_more_rules_or_features_than_asked_for(
    case, max_rules, max_features, costs, interactions
):
    X, y = case
    names = list(X.columns)
    model = RuleClassifier(
        max_rules=max_rules,
        max_features=max_features,
        interactions=interactions,
        feature_costs={names[j]: cost for j, cost in costs.items() if j < len(names)},
    ).fit(X, y)
    assert 0 <= model.n_rules_ <= max_rules  # a constant has none
    assert len(model.hierarchy_.features) <= (max_features or len(names))
    beliefs = model.predict_proba(X)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
    assert np.isfinite(beliefs).all()


def path_of(X, y, n_pairs=3):
    sample = Sample.draw(rows_of(X, y), len(y))
    design = Design.begin(sample, AdditiveRecipe())
    design.fit(STRENGTHS[2])
    for number in range(1, n_pairs + 1):
        design.add_pairs(number)
        design.fit(STRENGTHS[2])
    return design, design.path(STRENGTHS[2])


@settings(max_examples=25)
@given(cases(min_rows=60), st.integers(0, 30))
def test_joined_words_have_equal_scores_and_dropped_ones_none(case, max_rules):
    design, path = path_of(*case)
    path.walk(max_rules)
    assert path.n_rules <= max_rules
    at = 0
    for term in path.terms:
        found = path.weights[at : at + term.n_parameters]
        at += term.n_parameters
        if not term.n_rules:
            # All words of a term that is dropped are alike, so that it tells nothing.
            if isinstance(term, PairTerm):
                np.testing.assert_allclose(found, 0.0, atol=1e-4)
            np.testing.assert_allclose(found, np.tile(found[:1], (len(found), 1)), atol=1e-4)
            continue
        # What was joined or left out is what the reduction makes of the rest.
        shares = term.reduction()
        kept = np.linalg.lstsq(shares, found, rcond=None)[0]
        np.testing.assert_allclose(shares @ kept, found, atol=1e-4)
    refitted = design.refit(path, STRENGTHS[2])
    np.testing.assert_array_equal(path.weights, path.reduction() @ refitted.weights)


@settings(max_examples=25)
@given(cases(min_rows=60))
def test_every_word_is_in_one_place_at_every_step(case):
    _, path = path_of(*case)
    for max_rules in (40, 20, 10, 5, 2, 0):
        path.walk(max_rules)
        assert path.n_rules <= max_rules
        for term in path.terms:
            if isinstance(term, PairTerm):
                check_pair(term)
            elif term.n_rules:
                shares = term.reduction()
                np.testing.assert_allclose(shares.sum(axis=1), 1.0)
                assert (shares >= 0).all()


def check_pair(pair):
    """Both features of a pair have words in each of its parts, and each word is in one."""
    if not pair.n_rules:
        return
    n_cells = 1
    for single, steps in zip(pair.sides, pair.steps, strict=True):
        assert single.n_rules
        n_cells *= len(steps) + 1
        found = part_of_words(single, steps)
        expected = range(len(steps) + 1)
        if not single.vocabulary.is_ordered and len(found) == len(steps):
            expected = expected[1:]  # every state is a part
        assert sorted(set(found.tolist())) == list(expected)
    assert pair.n_rules == n_cells


def test_a_dear_feature_goes_before_a_cheap_one_that_tells_as_much():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=600)
    X = {name: hidden + 0.5 * rng.normal(size=600) for name in ("a", "b")}
    frame, y = pd.DataFrame(X), hidden > 0
    for dear, cheap in (("a", "b"), ("b", "a")):
        model = RuleClassifier(max_features=1, feature_costs={dear: 50.0})
        assert model.fit(frame, y).hierarchy_.features == (cheap,)
