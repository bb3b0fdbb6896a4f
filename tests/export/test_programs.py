"""JavaScript, SQL and ONNX decide as the model does: run by node, databases and onnxruntime."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from hostile_models import HOSTILE, hostile_model
from hypothesis import given, settings
from hypothesis import strategies as st
from program_runs import decided, expected, run_onnx, run_sql
from sklearn.datasets import load_diabetes

from random_models import any_model, as_table, random_cored, random_model, random_rows
from small_models import room_model
from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.data import Kind, from_array
from solah.data.cells import encode_states
from solah.exceptions import AgreementError, ParameterError
from solah.export import (
    agreement,
    export_c,
    export_javascript,
    export_onnx,
    export_sql,
    require_agreement,
)
from solah.export.agreement import agreement_on
from solah.export.programs import state_bounds
from solah.model import Fusion, Goal, Model, Tree
from solah.model.attributes import discrete_attribute

EXPORTS = {"javascript": export_javascript, "sql": export_sql, "onnx": export_onnx}
PLACES = range(24)  # all shapes that the library makes, with two and three classes
NEAR = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(params=EXPORTS)
def export(request, find_tool):
    if request.param == "javascript":
        find_tool("node")
    if request.param == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    return EXPORTS[request.param]


@pytest.fixture
def sqlite():
    """Execute with SQLite, which may have been built without functions of mathematics."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, np.exp, deterministic=True)
    yield connection.execute
    connection.close()


@pytest.fixture
def duckdb():
    with pytest.importorskip("duckdb", reason="duckdb is not installed").connect() as connection:
        yield connection.execute


@pytest.fixture
def runtime():
    pytest.importorskip("onnx", reason="onnx is not installed")
    return pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def rows_of(place, model, n_rows=60):
    """Draw rows with unknown readings; of the first, nothing is known."""
    rows = random_rows(np.random.default_rng(place), model, n_rows, missing=0.2)
    rows[0] = np.nan
    return rows


def check(found, model, rows):
    answers, beliefs = found
    believed = expected(model, rows)
    np.testing.assert_allclose(beliefs, believed, **NEAR)
    if model.goal.states:
        assert answers == decided(model, believed)


@pytest.mark.parametrize("place", [place + 12 * (place % 2) for place in range(12)])
def test_every_shape_of_model_is_decided_alike(export, place):
    model = any_model(place)
    found = agreement_on(model, export(model).twin, rows_of(place, model))
    assert (found.share, found.n_rows) == (1.0, 60)
    assert found.largest_difference < 1e-9


@pytest.mark.parametrize("place", PLACES)
def test_sqlite_decides_as_the_model(sqlite, place):
    model = any_model(place)
    rows = rows_of(place, model)
    check(run_sql(sqlite, model, rows), model, rows)


@pytest.mark.parametrize("place", PLACES)
def test_duckdb_decides_as_the_model(duckdb, place):
    model = any_model(place)
    rows = rows_of(place, model)
    check(run_sql(duckdb, model, rows), model, rows)


@pytest.mark.parametrize("place", PLACES)
def test_onnxruntime_decides_as_the_model(runtime, place):
    model = any_model(place)
    rows = rows_of(place, model)
    check(run_onnx(runtime, model, rows), model, rows)


def test_a_number_by_its_words_is_estimated(export):
    X, y = load_diabetes(return_X_y=True)
    model = LinguisticTreeRegressor(max_depth=3).fit(X, y).model_
    found = require_agreement(model, export(model), from_array(X[:100], list(map(_x, range(10)))))
    assert found.share == 1.0
    assert found.largest_difference < 1e-6


def _x(place):
    return f"x{place}"


STATES = {
    "texts": ("red", "it's", 'so "green"'),
    "whole numbers": (3, -1, 12345678),
    "numbers": (0.1, 2.5, 1e-20),
    "truth": (False, True),
}


def model_of_states(states, classes=("no", "yes")):
    """Make a tree over one attribute with these states, and one that is measured."""
    rng = np.random.default_rng(len(states))
    colour = discrete_attribute(
        "colour", Kind.CATEGORICAL, states, tuple(rng.dirichlet(np.ones(len(states))))
    )
    size = random_cored(np.random.default_rng(5), "size", Kind.CONTINUOUS)
    n_sets, n_leaves = size.n_focal_sets, len(states) * size.n_focal_sets
    n_nodes = 1 + len(states) + n_leaves
    split = [0] + [1] * len(states) + [-1] * n_leaves
    first = [1] + [1 + len(states) + i * n_sets for i in range(len(states))] + [0] * n_leaves
    tree = Tree(
        "y",
        (colour, size),
        np.array(split, np.int32),
        np.array(first, np.int32),
        np.ones(n_nodes),
        rng.dirichlet(np.ones(len(classes)), n_nodes),
    )
    return Model(Goal("y", classes), (colour, size), (tree,))


@pytest.mark.parametrize("kind", STATES)
def test_states_of_every_kind_are_read(export, kind, sqlite, duckdb, runtime):
    model = model_of_states(STATES[kind], classes=STATES[kind])
    rows = rows_of(3, model)
    found = agreement_on(model, export(model).twin, rows)
    assert (found.share, found.largest_difference < 1e-9) == (1.0, True)
    for run in (run_sql(sqlite, model, rows), run_sql(duckdb, model, rows)):
        check(run, model, rows)
    check(run_onnx(runtime, model, rows), model, rows)


@given(
    st.lists(
        st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e30, 1e30)),
        min_size=1,
        max_size=4,
        unique_by=float,
    ),
    st.data(),
)
def test_a_number_counts_as_the_state_that_the_model_takes_it_for(states, data):
    bounds = state_bounds(states)
    near = [
        [one, np.float64(np.float32(one)), one * (1 + 4e-8), one * (1 - 4e-8), *ends]
        for one, ends in zip(map(float, states), bounds, strict=True)
    ]
    numbers = np.array(sum(near, [data.draw(st.floats(-1e30, 1e30))]))
    numbers = numbers[(numbers != 0) | ~np.signbit(numbers)]
    taken = encode_states(from_array(numbers[:, None], ["x"]).column("x"), states)
    for number, place in zip(numbers.tolist(), taken.tolist(), strict=True):
        found = [i for i, (low, high) in enumerate(bounds) if low <= number <= high]
        assert found == ([] if place != place else [int(place)])


HARMFUL = (
    *(text for text in HOSTILE if "\0" not in text),
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


@pytest.mark.parametrize("place", range(0, len(HARMFUL), 3))
def test_names_that_want_to_break_out_are_names(export, place):
    model = hostile_model(place, ("words", "over a fusion", "masses")[place % 3], HARMFUL)
    found = agreement_on(model, export(model).twin, rows_of(place, model, 20))
    assert (found.share, found.largest_difference < 1e-9) == (1.0, True)


DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = st.text(
    st.characters(exclude_characters=f"\0{DIRECTION_MARKS}", exclude_categories=["Cs"]), min_size=1
)


@settings(max_examples=25, deadline=None)
@given(st.lists(NAMES, min_size=7, max_size=7, unique_by=str.casefold))
def test_any_text_is_a_name_to_databases_and_onnx(names):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    model = renamed_room(names)
    rows = rows_of(1, model, 8)
    check(run_onnx(runtime, model, rows), model, rows)
    for connect in (sqlite3.connect, duckdb.connect):
        connection = connect(":memory:")
        if connect is sqlite3.connect:
            connection.create_function("exp", 1, np.exp)
        check(run_sql(connection.execute, model, rows), model, rows)
        connection.close()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.text(min_size=1), min_size=7, max_size=7, unique=True))
def test_any_text_is_a_name_to_javascript(names):
    model = renamed_room(names)
    twin = export_javascript(model).twin
    if twin is None:
        pytest.skip("node is not installed: make test-system")
    assert agreement_on(model, twin, rows_of(1, model, 8)).largest_difference < 1e-9


def renamed_room(names):
    """Give all texts of a small model other names."""
    goal, co2, door, opened, shut, no, yes = names
    plain = room_model()
    air = replace(plain.attributes[0], name=co2)
    gate = discrete_attribute(door, Kind.BINARY, (opened, shut), (0.25, 0.75))
    trees = [
        replace(tree, name=f"of {i}", inputs=(one,))
        for i, (tree, one) in enumerate(zip(plain.trees, (air, gate), strict=True))
    ]
    root = Fusion(f"{goal} of all", ("of 0", "of 1"), plain.root.bias)
    return Model(replace(plain.goal, name=goal, states=(no, yes)), (air, gate), (*trees, root))


@pytest.mark.parametrize("mark", DIRECTION_MARKS)
@pytest.mark.parametrize("place", range(7))
def test_no_direction_mark_is_written_raw(mark, place):
    names = ["goal", "co2", "door", "open", "shut", "no", "yes"]
    names[place] = f"a{mark}b"
    model = renamed_room(names)
    (module,) = export_javascript(model).files.values()
    assert mark not in module
    if place == 0:  # which only a comment names
        assert not any(mark in text for text in export_sql(model).files.values())
        return
    with pytest.raises(ParameterError, match=f"direction mark U.{ord(mark):04X}, which SQL cannot"):
        export_sql(model)


def test_no_direction_mark_is_in_a_name_that_sql_is_given():
    for words in ({"table": "t\u202e"}, {"keys": ["id", "k\u2066"]}):
        with pytest.raises(ParameterError, match="has the direction mark"):
            export_sql(room_model(), **words)


@pytest.mark.parametrize("to", [export_sql, export_onnx])
def test_a_name_with_a_nul_is_refused(to):
    with pytest.raises(ParameterError, match=r"cannot hold 'd\\x00r', which has a NUL"):
        to(renamed_room(["goal", "co2", "d\0r", "open", "shut", "no", "yes"]))


def test_states_that_are_no_doubles_are_refused(export):
    with pytest.raises(ParameterError, match="cannot tell the state 9007199254740993 from its"):
        export(model_of_states((1, 2**53 + 1)))
    with pytest.raises(ParameterError, match="begins with a letter"):
        export(room_model(), name="../escape")


def test_a_tree_that_asks_nothing_is_exported(export):
    model = room_model()
    tree = model.trees[0]
    leaf = replace(
        tree,
        split=np.array([-1], np.int32),
        first_child=np.array([0], np.int32),
        support=tree.support[:1],
        belief=tree.belief[:1],
        scores=np.array([[0.3, -0.3]]),
    )
    model = replace(model, nodes=(leaf, *model.nodes[1:]))
    found = agreement_on(model, export(model).twin, rows_of(1, model))
    assert (found.share, found.largest_difference < 1e-9) == (1.0, True)


def test_a_program_that_decides_otherwise_is_refused(export):
    model = random_model(np.random.default_rng(0), "groups", 3)
    root = replace(model.root, bias=tuple(-9 * bias for bias in model.root.bias))
    table = as_table(model, rows_of(0, model))
    with pytest.raises(AgreementError, match="the program decides as the model does on .* 60 rows"):
        require_agreement(model, export(replace(model, nodes=(*model.nodes[:-1], root))), table)
    assert agreement(model, export(model).twin, table).share == 1.0


def test_the_exports_of_a_learnt_model_agree_with_its_c(export):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    model = LinguisticTreeClassifier(max_rules=12).fit(X + y[:, None], y).model_
    rows = rows_of(2, model, 300)
    assert np.array_equal(export(model).twin.decide(rows)[0], export_c(model).twin.decide(rows)[0])
