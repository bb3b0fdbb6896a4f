"""Models that are made to fit into a flash: they fit, stay sound, and decide nearly as before."""

import numpy as np
import pytest
from export_shapes import ALL_SHAPES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from random_models import coded, random_model, random_rows
from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.data import from_array
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.costs import model_costs
from solah.export.shrinking import shrink
from solah.model.beliefs import signals_of
from solah.model.format import from_json, to_json
from solah.runtime import Evaluator


def flash_of(model, numbers="q15"):
    return model_costs(model, numbers).flash


def beliefs_on(model, rows):
    return signals_of(model, coded(model, rows))[model.root.name]


def halved(model, numbers):
    """Leave room for the code and for half of the tables."""
    costs = model_costs(model, numbers)
    return costs.flash - costs.table_bytes // 2


models = st.builds(
    lambda seed, shape, n_classes: random_model(np.random.default_rng(seed), shape, n_classes),
    st.integers(0, 10_000),
    st.sampled_from(ALL_SHAPES),
    st.integers(2, 4),
)


@settings(max_examples=20)
@given(models, st.sampled_from(["float", "q15"]))
@example(random_model(np.random.default_rng(3), "groups", 2), "q15")
def test_a_shrunk_model_fits_and_is_sound(model, numbers):
    small = shrink(model, halved(model, numbers), numbers)
    assert flash_of(small, numbers) <= halved(model, numbers)
    assert small.n_rules <= model.n_rules
    assert set(small.attributes) <= set(model.attributes)
    assert from_json(to_json(small).encode()) == small


@pytest.mark.parametrize("share", [0.005, 0.01, 0.02])
def test_alike_branches_of_which_some_are_joined_make_no_more_rules(share):
    model = random_model(np.random.default_rng(55), "words and pairs", 3)
    limit = int((1 - share) * flash_of(model))
    small = shrink(model, limit, "q15")
    assert flash_of(small) <= limit
    assert small.n_rules <= model.n_rules


@settings(max_examples=10)
@given(models, st.sampled_from(["float", "q15"]))
def test_a_shrunk_model_decides_on_the_device_as_here(model, numbers):
    small = shrink(model, halved(model, numbers), numbers)
    rows = random_rows(np.random.default_rng(0), small, 60)
    beliefs = beliefs_on(small, rows)
    scale = 1.0 if numbers == "float" else 32768.0
    device = export_c(small, numbers=numbers).twin.decide(rows)[1] / scale
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
    np.testing.assert_allclose(device, beliefs, atol=1e-4 if numbers == "float" else 0.02)


@settings(max_examples=8)
@given(models)
def test_shrinking_further_never_grows(model):
    once = shrink(model, halved(model, "q15"), "q15")
    twice = shrink(once, max(halved(once, "q15"), least_of(once)), "q15")
    assert twice.n_rules <= once.n_rules <= model.n_rules
    assert flash_of(twice) <= flash_of(once) <= flash_of(model)


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_the_same_limit_gives_the_same_model(shape):
    model = random_model(np.random.default_rng(6), shape, 3)
    limit = halved(model, "q15")
    small = shrink(model, limit, "q15")
    assert to_json(shrink(model, limit, "q15")) == to_json(small)
    assert shrink(small, limit, "q15") is small


def least_of(model):
    """Return what a model takes without rules, as the error says it."""
    with pytest.raises(ParameterError) as refused:
        shrink(model, 1, "q15")
    words = str(refused.value).split("takes ")[1]
    return int(words.split(":")[0].replace(",", ""))


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_a_model_that_fits_is_left_as_it_is(shape):
    model = random_model(np.random.default_rng(5), shape, 3)
    assert shrink(model, flash_of(model), "q15") is model


@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_the_least_is_a_model_that_asks_nothing(shape):
    model = random_model(np.random.default_rng(5), shape, 3)
    small = shrink(model, least_of(model), "q15")
    assert len(small.attributes) == 1
    assert all(tree.split[0] < 0 for tree in small.trees)
    assert from_json(to_json(small).encode()) == small
    rows = random_rows(np.random.default_rng(0), small, 5)
    assert np.ptp(beliefs_on(small, rows), axis=0).max() == 0


def test_a_limit_below_the_least_says_what_to_do():
    model = random_model(np.random.default_rng(5), "flat fusion", 3)
    with pytest.raises(ParameterError, match=r"'max_flash' is 2,000 bytes.*takes \d,\d+.*q15"):
        shrink(model, 2_000, "float")
    with pytest.raises(ParameterError, match="'max_flash' must be at least 1 byte. Got 0"):
        shrink(model, 0, "q15")


def test_trees_become_single_questions_where_walking_costs_too_much():
    model = random_model(np.random.default_rng(1), "flat fusion", 2)
    assert any(len(tree.inputs) > 1 for tree in model.trees)
    small = shrink(model, 600, "q15")
    assert all(len(tree.inputs) == 1 for tree in small.trees)
    assert small.n_rules > 1


def test_a_number_is_shrunk_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    y = X @ [3.0, 1.0, -1.0]
    model = LinguisticTreeRegressor().fit(X, y).model_
    small = shrink(model, 800, "q15")
    assert flash_of(model) > 800 >= flash_of(small)
    assert from_json(to_json(small).encode()) == small
    estimates = Evaluator(small).predict(from_array(X, ["x0", "x1", "x2"]))
    assert np.corrcoef(estimates, y)[0, 1] > 0.9


@pytest.mark.parametrize("name", ["wine", "wdbc"])
@pytest.mark.parametrize(
    ("estimator", "limit"),
    [(SelfOrganisedHierarchyClassifier(), 1024), (LinguisticTreeClassifier(), 2048)],
)
def test_accuracy_stays_usable(name, estimator, limit):
    data = datasets.load(name)
    goal = np.asarray(data.goal)
    learnt, held_out = train_test_split(
        np.arange(len(goal)), test_size=1 / 3, random_state=0, stratify=goal
    )
    model = clone(estimator).fit(data.table.take(learnt), goal[learnt]).model_
    full, shrunk = (
        np.mean(Evaluator(one).predict(data.table.take(held_out)) == goal[held_out])
        for one in (model, shrink(model, limit, "q15"))
    )
    assert shrunk >= full - 0.05
