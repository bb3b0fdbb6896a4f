"""Every exit of a model answers as its program does, on rows as odd as they come."""

from dataclasses import replace

import numpy as np
import pytest
from hostile_models import HOSTILE, hostile_model
from hypothesis import given, settings
from renamed_models import ROOM_NAMES, model_of_states, renamed_room

from exits import EXITS, Exit, check, draw, expected
from random_models import ADDITIVE_SHAPES, any_model, random_model, random_number_model
from solah import LinguisticTreeRegressor
from solah.exceptions import ParameterError
from solah.model import TermInput

SEEDS = range(18)  # all shapes that the library makes, with two and three classes
STATES = {
    "texts": ("red", "it's", 'so "green"'),
    "whole numbers": (3, -1, 12345678),
    "numbers": (0.1, 2.5, 1e-20),
    "truth": (False, True),
}
HARMFUL = (
    *(text for text in HOSTILE if not set(text) & set("\0\u202e") and len(text) < 200),
    "ä" * 200,
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

WITHOUT_READINGS = [one for one in EXITS if one.name != "onnxruntime"]
"""The exits of models that read nothing, which an ONNX graph has to."""


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


def check_on_rows(one_exit, model, seed=0, n_rows=120):
    check(one_exit, model, *draw(np.random.default_rng(seed), model, n_rows))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_shape_of_model(one_exit, seed):
    check_on_rows(one_exit, any_model(seed), seed)


@pytest.mark.parametrize("kind", STATES)
def test_categories_and_classes_of_every_kind(one_exit, kind):
    check_on_rows(one_exit, model_of_states(STATES[kind], classes=STATES[kind]))


@pytest.mark.parametrize("place", range(0, len(HARMFUL), 9))
def test_names_that_want_to_break_out(one_exit, place):
    """Each model has nineteen of the names."""
    shape = ("words", "over a sum", "masses")[place // 9 % 3]
    check_on_rows(one_exit, hostile_model(place, shape, HARMFUL), place, 20)


@pytest.mark.parametrize("one", EXITS, ids=lambda one: one.name)
@settings(max_examples=5)
@given(names=ROOM_NAMES)
def test_any_text_as_a_name(find_tool, one, names):
    check_on_rows(available(one, find_tool), renamed_room(names), n_rows=8)


def of_one_rule(term):
    """Make a term of one rule, which joins all words of its feature."""
    (one,) = term.inputs
    joined = TermInput(one.feature, (tuple(range(len(one.feature.words))),))
    return replace(
        term,
        inputs=(joined,),
        weights=np.array([[0.3, -0.3]]),
        shares=term.shares[:1],
        counts=term.counts[:1],
    )


@pytest.mark.parametrize("has_missing_rule", [False, True])
def test_a_term_of_one_rule(one_exit, has_missing_rule):
    model = random_model(np.random.default_rng(7), "groups")
    singles = [one for one in model.terms if len(one.inputs) == 1]
    term = next(one for one in singles if bool(one.missing) is has_missing_rule)
    terms = [of_one_rule(one) if one is term else one for one in model.terms]
    check_on_rows(one_exit, model.with_terms(terms))


def test_a_tree_of_one_branch(one_exit):
    model = any_model(0)
    branch = replace(model.root.branches[0], conditions=())
    check_on_rows(one_exit, replace(model, nodes=(replace(model.root, branches=(branch,)),)))


@pytest.mark.parametrize("one", WITHOUT_READINGS, ids=lambda one: one.name)
def test_a_model_without_rules(find_tool, one):
    model = random_model(np.random.default_rng(7), "groups", 3)
    constant = replace(model, nodes=(replace(model.root, terms=(), groups=()),))
    check_on_rows(available(one, find_tool), constant)


def test_a_number_that_is_the_mean_of_its_words(one_exit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    model = LinguisticTreeRegressor(max_depth=3).fit(X, X[:, 0] ** 2 + X[:, 1]).model_
    check_on_rows(one_exit, model)


@pytest.mark.parametrize("shape", ADDITIVE_SHAPES)
def test_a_number_by_its_logarithm(one_exit, shape):
    model = random_number_model(np.random.default_rng(3), shape, link="log")
    if one_exit.takes_exp:
        check_on_rows(one_exit, model)
        beyond = replace(model.root, baseline=(1000.0,))
        check_on_rows(one_exit, replace(model, nodes=(beyond,)), n_rows=5)
    else:
        with pytest.raises(ParameterError, match="integers do not compute; export it as C with"):
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
