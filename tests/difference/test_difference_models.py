"""What is said to differ between two models does differ, and nothing else does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solah
from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    as_table,
    coded,
    join_leaves,
    random_model,
    random_number_model,
    random_rows,
    with_parted_pairs,
)
from solah.difference import diff
from solah.difference.evidence import Sides, term_differences, terms_of
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.model import Fusion, Tree
from solah.model.beliefs import signals_of
from solah.model.evaluate import predict
from solah.model.format import from_json, to_json
from solah.runtime import Evaluator

ALL_SHAPES = (*SHAPES, *ADDITIVE_SHAPES)
SEEDS = st.integers(0, 10_000)


def made(seed, shape, n_classes=2):
    rng = np.random.default_rng(seed)
    if shape == "number":
        return random_number_model(rng)
    model = join_leaves(rng, random_model(rng, shape, n_classes))
    return with_parted_pairs(rng, model) if shape == "words and pairs" else model


@settings(max_examples=60)
@given(SEEDS, st.sampled_from([*ALL_SHAPES, "number"]), st.sampled_from([2, 3]))
def test_a_model_does_not_differ_from_itself(seed, shape, n_classes):
    model = made(seed, shape, n_classes)
    again = from_json(to_json(model).encode())
    found = diff(model, again, as_table(model, random_rows(np.random.default_rng(seed), model, 20)))
    assert found.is_empty
    assert found.differences == ()
    assert found.decisions.flips == ()
    assert str(found).startswith("The models are the same")


def nudged(rng, model):
    """Return the model with one figure of it changed, and what was changed."""
    where = rng.choice(["leaf", "support", "attribute", "ignorance", "goal", "bias", "node"])
    trees = [place for place, node in enumerate(model.nodes) if isinstance(node, Tree)]
    place = int(rng.choice(trees))
    nodes, tree = list(model.nodes), model.nodes[place]
    if where in ("leaf", "support"):
        values = {"support": tree.support, "leaf": tree.belief}[where].copy()
        leaf = int(rng.choice(tree.leaves))
        if where == "support":
            values[leaf] *= 1.5
        else:
            values[leaf] = values[leaf][::-1] * 0.9 + 0.1 / len(values[leaf])
        nodes[place] = replace(tree, **{"support" if where == "support" else "belief": values})
        if where == "leaf" and tree.scores is not None:
            scores = tree.scores.copy()
            scores[leaf, 0] += 0.25
            nodes[place] = replace(tree, scores=scores)
    elif where == "node":
        nodes[place] = replace(tree, variance=tree.variance + 0.5)
    elif where == "bias":
        root = model.root
        if isinstance(root, Fusion):
            nodes[-1] = replace(root, bias=(root.bias[0] + 0.1, *root.bias[1:]))
    elif where == "goal" and model.goal.states:
        shares = np.arange(1.0, len(model.goal.states) + 1)
        thresholds = tuple((shares / shares.sum()).tolist())
        return replace(model, goal=replace(model.goal, thresholds=thresholds))
    elif where in ("attribute", "ignorance"):
        first = model.attributes[0]
        change = {"high": first.high + 1} if where == "attribute" else {}
        if where == "ignorance":
            masses = np.array(first.ignorance) + np.arange(len(first.ignorance))
            change = {"ignorance": tuple((masses / masses.sum()).tolist())}
        return replace(model, attributes=(replace(first, **change), *model.attributes[1:]))
    return replace(model, nodes=tuple(nodes))


@settings(max_examples=150)
@given(SEEDS, st.sampled_from([*ALL_SHAPES, "number"]))
def test_it_is_empty_if_and_only_if_the_models_are_equal(seed, shape):
    model = made(seed, shape)
    other = nudged(np.random.default_rng(seed + 1), model)
    found = diff(model, other)
    assert found.is_empty == (model == other)
    assert all(one.text for one in found.differences)


@settings(max_examples=60)
@given(SEEDS, st.sampled_from([*ALL_SHAPES, "number"]), st.sampled_from([2, 3]))
def test_the_flips_are_exactly_the_rows_that_are_decided_differently(seed, shape, n_classes):
    a, b = made(seed, shape, n_classes), made(seed + 1, shape, n_classes)
    table = as_table(a, random_rows(np.random.default_rng(seed), a, 60))
    found = diff(a, b, table).decisions
    before, after = Evaluator(a).predict(table), Evaluator(b).predict(table)
    expected = (np.flatnonzero(before != after) + 1).tolist()
    assert sorted(flip.row for flip in found.flips) == expected
    for flip in found.flips:
        assert (flip.before, flip.after) == (before[flip.row - 1], after[flip.row - 1])


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([*ADDITIVE_SHAPES, "number", "flat fusion"]))
def test_no_reading_makes_rules_differ_more_than_is_told(seed, shape):
    a, b = made(seed, shape), made(seed + 1, shape)
    sides = Sides.of(a.goal, b.goal)
    rows = random_rows(np.random.default_rng(seed), a, 200, missing=0.0)
    before, after = (signals_of(model, coded(model, rows)) for model in (a, b))
    others = terms_of(b)
    for names, trees in terms_of(a).items():
        found = list(term_differences(trees, others[names], sides))
        told = max((one.size for one in found), default=0.0)
        first, second = sides.project(
            sum(before[tree.name] for tree in trees),
            sum(after[tree.name] for tree in others[names]),
        )
        assert np.abs(second - first).max() <= told + 1e-9


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(ALL_SHAPES))
def test_a_difference_is_as_large_in_both_directions(seed, shape):
    a, b = made(seed, shape), made(seed + 1, shape)
    there, back = (
        sorted(one.size for one in found.of("rule")) for found in (diff(a, b), diff(b, a))
    )
    assert there == pytest.approx(back)


def test_what_an_additive_model_adds_is_the_sum_of_its_terms():
    """The terms that are compared are all that decides, beside the bias."""
    model = made(3, "words and pairs")
    rows = random_rows(np.random.default_rng(0), model, 50, missing=0.0)
    signals = signals_of(model, coded(model, rows))
    total = sum(signals[tree.name] for trees in terms_of(model).values() for tree in trees)
    scores = total + np.array(model.root.bias)
    beliefs = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = predict(model, as_table(model, rows))
    assert beliefs / beliefs.sum(axis=1, keepdims=True) == pytest.approx(expected)


def test_classes_that_came_or_went_are_told_and_the_others_compared():
    a, b = made(1, "groups", 2), made(1, "groups", 3)
    found = diff(a, b)
    assert "class c2 is new" in [one.text for one in found.of("goal")]
    assert "class c2 is gone" in [one.text for one in diff(b, a).of("goal")]
    assert found.of("rule")
    table = as_table(b, random_rows(np.random.default_rng(0), b, 30))
    decisions = diff(a, b, table, ["c0", "c1", "c2"] * 10).decisions
    assert decisions.n_known == 20
    assert [one.name for one in decisions.classes] == ["c0", "c1"]
    assert any(flip.truth == "c2" for flip in decisions.flips)


def test_scores_are_those_of_the_models():
    a, b = made(1, "groups"), made(2, "groups")
    table = as_table(a, random_rows(np.random.default_rng(0), a, 90))
    truth = np.array(["c0", "c1", "c1"] * 30)
    found = diff(a, b, table, truth).decisions
    for model, scores in ((a, found.before), (b, found.after)):
        decided, beliefs = Evaluator(model).predict(table), Evaluator(model).predict_proba(table)
        in_truth = beliefs[np.arange(90), (truth == "c1").astype(int)]
        assert scores.accuracy == np.mean(decided == truth)
        assert scores.log_loss == pytest.approx(-np.log(in_truth).mean())
        assert scores.brier == pytest.approx(np.mean((1 - in_truth) ** 2))
    right = sum(flip.after == flip.truth for flip in found.flips)
    wrong = sum(flip.before == flip.truth for flip in found.flips)
    assert right - wrong == round(90 * (found.after.accuracy - found.before.accuracy))
    assert sum(one.decided[0] for one in found.classes) == 90


def test_models_of_different_things_are_refused():
    classes, number = made(0, "groups"), made(0, "number")
    with pytest.raises(ParameterError, match="'y' is for classification, 'power' for regression"):
        diff(classes, number)
    strange = replace(classes, goal=replace(classes.goal, states=("p", "q")))
    with pytest.raises(ParameterError, match=r"no class in common \(c0, c1; p, q\)"):
        diff(classes, strange)
    with pytest.raises(ParameterError, match=r"Got SelfOrganised\w+, which is none or not fitted"):
        diff(classes, solah.SelfOrganisedHierarchyClassifier())


def test_wrong_rows_are_refused():
    a, b = made(0, "groups"), made(1, "groups")
    rows = as_table(a, random_rows(np.random.default_rng(0), a, 4))
    with pytest.raises(ColumnError, match=r"no column 'x0'.* \(the first model asks for it\)"):
        diff(a, b, rows.drop(["x0"]))
    with pytest.raises(DataError, match="no rows"):
        diff(a, b, rows.take(np.array([], dtype=int)))
    with pytest.raises(DataError, match="X has 4 rows, but y has 3 values"):
        diff(a, b, rows, ["c0"] * 3)
    with pytest.raises(ParameterError, match="X must be a data frame or a Table"):
        diff(a, b, np.zeros((4, 6)))
