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
    map_trees,
    random_model,
    random_number_model,
    random_rows,
    with_pins,
)
from solah.edit.diff import diff
from solah.edit.diff_rules import Sides, term_differences, terms_of
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.model import TermInput
from solah.model.evaluate import predict, trace
from solah.model.format import from_json, to_json
from solah.model.predictor import Predictor

ALL_SHAPES = (*SHAPES, *ADDITIVE_SHAPES)
SEEDS = st.integers(0, 10_000)


def made(seed, shape, n_classes=2):
    rng = np.random.default_rng(seed)
    if shape == "number":
        return random_number_model(rng)
    return random_model(rng, shape, n_classes)


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


def with_feature(model, changed):
    """Return the model with another description of a feature."""

    def fresh(one):
        return changed if one.name == changed.name else one

    nodes = (
        replace(node, inputs=tuple(map(fresh, node.inputs))) if node in model.trees else node
        for node in model.nodes
    )
    model = replace(model, nodes=tuple(nodes), features=tuple(map(fresh, model.features)))
    return model.with_terms(
        replace(
            term,
            inputs=tuple(replace(one, feature=fresh(one.feature)) for one in term.inputs),
        )
        for term in model.terms
    )


NUDGES = ("weights", "shares", "counts", "variance", "pins", "order")
NUDGES += ("high", "mean_masses", "target", "baseline")


def nudged_rules(rng, model, where):
    """Return the model with a figure of one rule, or of its term, changed."""
    trees, terms = model.trees, list(model.terms)
    if terms:
        place = int(rng.integers(len(terms)))
        term = terms[place]
        cell = tuple(int(rng.integers(size)) for size in term.shape)
        changes = {"weights": 0.25, "shares": 0.01, "counts": 3.0}
        if where in changes:
            values = getattr(term, where).copy()
            values[cell] += changes[where] * np.arange(1, values[cell].size + 1).reshape(
                values[cell].shape
            )
            terms[place] = replace(term, **{where: values})
        else:
            terms[place] = replace(term, variance=term.variance + 0.5)
        return model.with_terms(terms)
    chosen = trees[int(rng.integers(len(trees)))].branches[-1]
    if where == "counts":
        changed = replace(chosen, support=chosen.support * 1.5)
    else:
        belief = np.array(chosen.belief)[::-1] * 0.9 + 0.1 / len(chosen.belief)
        changed = replace(chosen, belief=tuple(belief.tolist()))
    return map_trees(model, lambda branch: changed if branch is chosen else branch)


def nudged(rng, model):
    """Return the model with one figure of it changed."""
    where = rng.choice(NUDGES)
    first, root = model.features[0], model.root
    if where == "target" and model.target.classes:
        shares = np.arange(1.0, len(model.target.classes) + 1)
        thresholds = tuple((shares / shares.sum()).tolist())
        return replace(model, target=replace(model.target, thresholds=thresholds))
    if where == "baseline" and model.is_additive:
        root = replace(root, baseline=(root.baseline[0] + 0.1, *root.baseline[1:]))
        return replace(model, nodes=(*model.nodes[:-1], root))
    if where == "high":
        return with_feature(model, replace(first, high=first.high + 1))
    if where == "mean_masses":
        masses = np.array(first.mean_masses) + np.arange(len(first.mean_masses))
        return with_feature(
            model, replace(first, mean_masses=tuple((masses / masses.sum()).tolist()))
        )
    if where == "pins":
        return with_pins(rng, model)
    if where == "order" and model.terms:
        turned = [replace(node, terms=node.terms[::-1], groups=()) for node in model.sums]
        return replace(model, nodes=tuple(turned) + model.trees)
    return nudged_rules(rng, model, where)


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
    before, after = Predictor(a).predict(table), Predictor(b).predict(table)
    expected = (np.flatnonzero(before != after) + 1).tolist()
    assert sorted(flip.row for flip in found.flips) == expected
    for flip in found.flips:
        assert (flip.before, flip.after) == (before[flip.row - 1], after[flip.row - 1])


def added(model, rows):
    """Return what each term of the root adds to rows, by its features."""
    steps = trace(model.program, rows)[-1]
    return {
        frozenset(term.features): part.weights
        for term, part in zip(model.root.terms, steps.parts, strict=False)
    }


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([*ADDITIVE_SHAPES, "number"]))
def test_no_reading_makes_rules_differ_more_than_is_told(seed, shape):
    a, b = made(seed, shape), made(seed + 1, shape)
    sides = Sides.of(a.target, b.target)
    rows = random_rows(np.random.default_rng(seed), a, 200, missing=0.0)
    before, after = added(a, rows), added(b, rows)
    others = terms_of(b)
    for (node, features), term in terms_of(a).items():
        found = list(term_differences(term, others[node, features], sides))
        told = max((one.size for one in found), default=0.0)
        first, second = sides.project(before[features], after[features])
        assert np.abs(second - first).max() <= told + 1e-9


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([*ADDITIVE_SHAPES, "number"]))
def test_rules_that_are_parted_otherwise_are_compared_word_by_word(seed, shape):
    """Whole terms against parted ones: values make them differ as much as is told."""
    a = made(seed, shape)
    b = a.with_terms(joined_first_words(term) for term in a.terms)
    sides = Sides.of(a.target, b.target)
    others = terms_of(b)
    for key, term in terms_of(a).items():
        found = list(term_differences(term, others[key], sides))
        assert all(one.text.startswith("if ") for one in found)
        told = max((one.size for one in found), default=0.0)
        values = [
            np.linspace(-4, 12, 60) if one.feature.is_continuous else np.array(one.feature.peaks)
            for one in term.inputs
        ]
        rows = np.full((np.prod([len(one) for one in values]), len(a.features)), 0.0)
        names = [one.name for one in a.features]
        for one, column in zip(term.inputs, np.meshgrid(*values, indexing="ij"), strict=True):
            rows[:, names.index(one.name)] = column.ravel()
        before, after = (added(model, rows)[key[1]] for model in (a, b))
        first, second = sides.project(before, after)
        assert np.abs(second - first).max() <= told + 1e-9


def joined_first_words(term):
    """Return a term in which the first two lines of its first input are one."""
    one = term.inputs[0]
    if len(one.parts) < 2 or (term.missing is not None):
        return term
    joined = tuple(sorted(one.parts[0] + one.parts[1]))
    inputs = (TermInput(one.feature, (joined, *one.parts[2:])), *term.inputs[1:])
    arrays = {key: getattr(term, key)[1:] for key in ("weights", "shares", "counts")}
    return replace(term, inputs=inputs, **arrays)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(ALL_SHAPES))
def test_a_difference_is_as_large_in_both_directions(seed, shape):
    a, b = made(seed, shape), made(seed + 1, shape)
    there, back = (
        sorted(one.size for one in found.of("rule")) for found in (diff(a, b), diff(b, a))
    )
    assert there == pytest.approx(back)


def test_what_an_additive_model_adds_is_the_sum_of_its_terms():
    """The terms that are compared are all that decides, beside the baseline."""
    model = made(3, "words and pairs")
    rows = random_rows(np.random.default_rng(0), model, 50, missing=0.0)
    assert {features for _, features in terms_of(model)} == added(model, rows).keys()
    scores = sum(added(model, rows).values()) + np.array(model.root.baseline)
    beliefs = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = predict(model, as_table(model, rows))
    assert beliefs / beliefs.sum(axis=1, keepdims=True) == pytest.approx(expected)


def test_classes_that_came_or_went_are_told_and_the_others_compared():
    a, b = made(1, "groups", 2), made(1, "groups", 3)
    found = diff(a, b)
    assert "class c2 is new" in [one.text for one in found.of("target")]
    assert "class c2 is gone" in [one.text for one in diff(b, a).of("target")]
    assert found.of("rule")
    table = as_table(b, random_rows(np.random.default_rng(0), b, 30))
    decisions = diff(a, b, table, ["c0", "c1", "c2"] * 10).decisions
    assert decisions.n_known == 20
    assert [one.name for one in decisions.classes] == ["c0", "c1"]
    assert any(flip.target == "c2" for flip in decisions.flips)


def test_scores_are_those_of_the_models():
    a, b = made(1, "groups"), made(2, "groups")
    table = as_table(a, random_rows(np.random.default_rng(0), a, 90))
    truth = np.array(["c0", "c1", "c1"] * 30)
    found = diff(a, b, table, truth).decisions
    for side, model in enumerate((a, b)):
        scores = {name: both[side] for name, both in found.metrics.items()}
        decided, beliefs = Predictor(model).predict(table), Predictor(model).predict_proba(table)
        in_truth = beliefs[np.arange(90), (truth == "c1").astype(int)]
        assert scores["accuracy"] == np.mean(decided == truth)
        assert scores["log_loss"] == pytest.approx(-np.log(in_truth).mean())
        assert scores["brier"] == pytest.approx(np.mean((1 - in_truth) ** 2))
    right = sum(flip.after == flip.target for flip in found.flips)
    wrong = sum(flip.before == flip.target for flip in found.flips)
    before, after = found.metrics["accuracy"]
    assert right - wrong == round(90 * (after - before))
    assert sum(one.decided[0] for one in found.classes) == 90


def test_models_of_different_things_are_refused():
    classes, number = made(0, "groups"), made(0, "number")
    with pytest.raises(ParameterError, match="'y' is for classification, 'power' for regression"):
        diff(classes, number)
    strange = replace(classes, target=replace(classes.target, classes=("p", "q")))
    with pytest.raises(ParameterError, match=r"no class in common \(c0, c1; p, q\)"):
        diff(classes, strange)
    with pytest.raises(ParameterError, match=r"Got RuleClassifier, which is not fitted"):
        diff(classes, solah.RuleClassifier())


def test_wrong_rows_are_refused():
    a, b = made(0, "groups"), made(1, "groups")
    rows = as_table(a, random_rows(np.random.default_rng(0), a, 4))
    with pytest.raises(ColumnError, match=r"no column 'x0'.* \(the first model uses it\)"):
        diff(a, b, rows.drop(["x0"]))
    with pytest.raises(DataError, match="no rows"):
        diff(a, b, rows.take(np.array([], dtype=int)))
    with pytest.raises(DataError, match="X has 4 rows, but y has 3 values"):
        diff(a, b, rows, ["c0"] * 3)
    with pytest.raises(ParameterError, match="X must be a data frame or a Table"):
        diff(a, b, np.zeros((4, 6)))
