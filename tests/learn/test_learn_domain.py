"""What training rows held: it flags none of them, and knows what depends on what."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, as_table, random_model, random_rows
from solah import LinguisticTreeClassifier, RuleClassifier
from solah.data import Column, Table, from_array
from solah.explain.novelty import novelty_of
from solah.learn.domain import _spanning_tree, learn_domain
from solah.model.policy import MOST_CUTS, check_domain


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(SHAPES + ADDITIVE_SHAPES))
def test_no_training_row_is_strange(seed, shape):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, shape, 2)
    table = as_table(bare, random_rows(rng, bare, 40))
    domain = learn_domain(bare, table)
    check_domain(domain, bare.features)
    novelty = novelty_of(replace(bare, domain=domain), table)
    assert not novelty.out_of_range.any()
    assert not novelty.unseen.any()


def test_pairs_are_those_that_depend_on_each_other():
    rng = np.random.default_rng(0)
    a, c = rng.normal(size=(2, 500))
    values = np.column_stack([a, c, a + 0.1 * rng.normal(size=500), c + 0.1 * rng.normal(size=500)])
    table = from_array(values, ["a", "c", "like a", "like c"])
    target = np.where(a + c > 0, "yes", "no")
    model = LinguisticTreeClassifier(max_depth=4).fit(table, target).model_
    pairs = {(one.first, one.second) for one in learn_domain(model, table).pairs}
    assert len(pairs) == 3
    assert {("a", "like a"), ("c", "like c")} <= pairs
    strange = np.array([[2.0, 0.0, -2.0, 0.0], [2.0, 0.0, 2.0, 0.0]])
    known = replace(model, domain=learn_domain(model, table))
    assert novelty_of(known, from_array(strange, table.names)).n_unseen.tolist() == [1, 0]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6))
def test_no_other_tree_has_more_weight(seed, n):
    rng = np.random.default_rng(seed)
    weights = rng.random((n, n)).round(1)
    weights = (weights + weights.T) / 2
    edges = _spanning_tree(weights)
    every = list(combinations(range(n), 2))
    best = max(
        sum(weights[edge] for edge in tree)
        for tree in combinations(every, n - 1)
        if _is_connected(tree, n)
    )
    assert _is_connected(edges, n)
    assert sum(weights[edge] for edge in edges) == pytest.approx(best)


def _is_connected(edges, n):
    home = list(range(n))
    for a, b in edges:
        home = [home[a] if one == home[b] else one for one in home]
    return len(set(home)) == 1


def test_states_missing_values_and_odd_names():
    rng = np.random.default_rng(5)
    colour = rng.choice(np.array(["rot", "grün", "blau", None], dtype=object), 160)
    size = np.where(rng.random(160) < 0.15, np.nan, rng.normal(10, 3, 160))
    washed = rng.choice(np.array(["ja", "nein"], dtype=object), 160)
    values = {"Farbe 🎨": colour, "größe, cm": size, "=gewaschen": washed, "leer": size * np.nan}
    named = Table(tuple(Column(*one) for one in values.items()), 160)
    target = np.where(np.nan_to_num(size, nan=10.0) - 3 * (colour == "rot") > 9, "gut", "schlecht")
    model = RuleClassifier(max_rules=None).fit(named, target).model_
    domain = learn_domain(model, named)
    check_domain(domain, model.features)
    assert not novelty_of(replace(model, domain=domain), named).unseen.any()


def test_what_no_rule_asks_for_raises_no_doubt():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 2))
    table = from_array(values, ["told", "idle"])
    model = LinguisticTreeClassifier(max_depth=1).fit(table, values[:, 0] > 0).model_
    (tree,) = model.trees
    asked = {place for branch in tree.branches for place, _ in branch.conditions}
    assert [tree.inputs[place].name for place in asked] == ["told"]
    model = replace(model, nodes=(replace(tree, inputs=tree.inputs[:1]),))
    known = replace(model, domain=learn_domain(model, table))
    assert not known.domain.pairs
    far = from_array(np.array([[99.0, 0.0], [0.0, 99.0]]), table.names)
    assert novelty_of(known, far).is_out_of_range.tolist() == [True, False]


def test_many_words_have_a_bounded_number_of_cells():
    values = np.random.default_rng(0).random((400, 1))
    target = (20 * values[:, 0]).astype(int) % 2
    table = from_array(values, ["x"])
    model = LinguisticTreeClassifier(n_words=30).fit(table, target).model_
    (cells,) = learn_domain(model, table).cells
    assert len(cells.cuts) == MOST_CUTS
