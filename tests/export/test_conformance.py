"""Every exit of a model answers as its program does, on rows as odd as they come."""

from dataclasses import replace

import numpy as np
import pytest
from hostile_models import HOSTILE, hostile_model
from hypothesis import given, settings
from hypothesis import strategies as st
from renamed_models import NAMES, model_of_states, renamed_room

from exits import EXITS, Exit, check, draw, expected
from random_models import any_model
from solah import LinguisticTreeRegressor

SEEDS = range(24)  # all shapes that the library makes, with two and three classes
STATES = {
    "texts": ("red", "it's", 'so "green"'),
    "whole numbers": (3, -1, 12345678),
    "numbers": (0.1, 2.5, 1e-20),
    "truth": (False, True),
}
HARMFUL = (
    *(text for text in HOSTILE if "\0" not in text and "\u202e" not in text),
    "'; DROP TABLE readings; --",
    '"; DROP TABLE readings; --',
    "`; ${process.exit(3)}",
    "</script><script>alert(1)</script>",
    "--",
    "x'||(SELECT 1)||'",
    "__proto__",
    "constructor",
    "label",
    "probabilities",
    "decision",
    "place",
    "r0",
    "?1 :a $1 @b %s",
)


@pytest.fixture(params=EXITS, ids=lambda one: one.name)
def one_exit(request, find_tool):
    return available(request.param, find_tool)


def available(one_exit, find_tool):
    """Return an exit, or skip the test where its tools are not installed."""
    for tool in one_exit.tools:
        find_tool(tool)
    for package in one_exit.packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    return one_exit


def check_on_rows(one_exit, model, seed=0, n_rows=60):
    check(one_exit, model, *draw(np.random.default_rng(seed), model, n_rows))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_shape_of_model(one_exit, seed):
    check_on_rows(one_exit, any_model(seed), seed)


@pytest.mark.parametrize("kind", STATES)
def test_categories_and_classes_of_every_kind(one_exit, kind):
    check_on_rows(one_exit, model_of_states(STATES[kind], classes=STATES[kind]))


@pytest.mark.parametrize("place", range(0, len(HARMFUL), 3))
def test_names_that_want_to_break_out(one_exit, place):
    shape = ("words", "over a fusion", "masses")[place % 3]
    check_on_rows(one_exit, hostile_model(place, shape, HARMFUL), place, 20)


@pytest.mark.parametrize("one", EXITS, ids=lambda one: one.name)
@settings(max_examples=10)
@given(names=st.lists(NAMES, min_size=7, max_size=7, unique_by=str.casefold))
def test_any_text_as_a_name(find_tool, one, names):
    check_on_rows(available(one, find_tool), renamed_room(names), n_rows=8)


def without_split(tree):
    """Make a tree of one leaf."""
    return replace(
        tree,
        split=np.array([-1], np.int32),
        first_child=np.array([0], np.int32),
        support=tree.support[:1],
        belief=tree.belief[:1],
        scores=np.array([[0.3, -0.3]]),
    )


@pytest.mark.parametrize("has_missing_rule", [False, True])
def test_a_term_without_any_split(one_exit, has_missing_rule):
    model = any_model(7)
    tree = next(one for one in model.trees if bool(one.missing) is has_missing_rule)
    nodes = tuple(without_split(node) if node is tree else node for node in model.nodes)
    check_on_rows(one_exit, replace(model, nodes=nodes))


def test_a_number_that_is_the_mean_of_its_words(one_exit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    model = LinguisticTreeRegressor(max_depth=3).fit(X, X[:, 0] ** 2 + X[:, 1]).model_
    check_on_rows(one_exit, model)


def test_an_exit_that_differs_is_found():
    model = any_model(0)
    rows, table = draw(np.random.default_rng(0), model, 60)
    right = expected(model, rows)
    for wrong in (
        right._replace(values=right.values + 1e-6),
        right._replace(decisions=[right.decisions[0]] * 60, values=None),
    ):
        with pytest.raises(AssertionError):
            check(Exit("wrong", lambda *_, answers=wrong: answers, 1e-9), model, rows, table)
