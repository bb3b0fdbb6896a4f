"""The SELECT of a model: what it reads as unknown, its names, what it needs, what is refused."""

import math
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from golden_files import check_golden
from hypothesis import given
from hypothesis import strategies as st

from exits import draw, run_sql, sqlite
from random_models import any_model, random_model
from small_models import room_model
from solah.exceptions import ParameterError
from solah.export import export_sql
from solah.export.quoting import sql_name, sql_string
from solah.export.sql_parts import added, largest, literal, root_steps
from solah.model.program import Link

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, math.exp, deterministic=True)
    yield connection
    connection.close()


def test_the_text_is_the_one_that_was_reviewed():
    files = export_sql(room_model(), name="room", table="rooms", keys=["id"]).files
    check_golden("sql", files, "room.sql")


def test_a_query_is_made_a_view(database):
    files = export_sql(room_model(), table="rooms", keys=["id"]).files
    database.execute('CREATE TABLE rooms (id INTEGER, "CO2" REAL, door TEXT)')
    database.executemany(
        "INSERT INTO rooms VALUES (?, ?, ?)", [(1, 450, "open"), (2, 1200, "shut")]
    )
    database.execute(f"CREATE VIEW decisions AS {files['model.sql']}")
    answer = database.execute("SELECT * FROM decisions ORDER BY id")
    assert [column[0] for column in answer.description] == [
        "id",
        "decision",
        "probability_no",
        "probability_yes",
    ]
    assert [row[:2] for row in answer.fetchall()] == [(1, "no"), (2, "yes")]


@pytest.mark.parametrize("reading", [None, "", "n/a", "9", "inf"])
def test_what_is_no_number_is_unknown(database, reading):
    """SQLite takes any value in any column; to it texts are larger than all numbers."""
    database.execute('CREATE TABLE readings ("CO2", door TEXT)')
    database.executemany("INSERT INTO readings VALUES (?, 'shut')", [(reading,), (None,)])
    found, unknown = database.execute(export_sql(room_model()).files["model.sql"]).fetchall()
    assert found == unknown


def test_infinity_takes_the_last_word(database):
    database.execute('CREATE TABLE readings ("CO2", door TEXT)')
    readings = [(math.inf,), (1e9,), (-math.inf,), (0.0,)]
    database.executemany("INSERT INTO readings VALUES (?, 'shut')", readings)
    found = database.execute(export_sql(room_model()).files["model.sql"]).fetchall()
    assert (found[0], found[2]) == (found[1], found[3])
    assert found[0] != found[2]


def test_a_column_that_is_missing_is_an_error_and_no_text(database):
    """SQLite reads a name in quotes that no column has as a text, unless a table stands before."""
    database.execute("CREATE TABLE readings (door TEXT)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.execute(export_sql(room_model()).files["model.sql"])


@pytest.mark.parametrize("place", range(12))
def test_decisions_alone_need_no_function(place):
    model = any_model(place)
    _, table = draw(np.random.default_rng(place), model, 60)
    takes_exp = any(stage.link is Link.SOFTMAX for stage in model.program.stages[:-1])
    if not model.target.classes or takes_exp:
        assert list(export_sql(model).files) == ["model.sql"]
        return
    bare = sqlite(exp=None)
    bare.create_function("sqrt", 1, None)
    alone = run_sql(bare, model, table, "model_decision.sql")
    assert alone.values is None
    assert alone.decisions == run_sql(sqlite(), model, table).decisions


def test_columns_that_databases_cannot_tell_apart_are_refused():
    model = room_model()
    names = zip(model.features, ("Door", "door"), strict=True)
    twice = replace(model, features=tuple(replace(one, name=name) for one, name in names))
    with pytest.raises(ParameterError, match="columns of the table would be called 'Door' and"):
        export_sql(twice)
    with pytest.raises(ParameterError, match="the answer would be called 'Probability_YES'"):
        export_sql(model, keys=["Probability_YES"])
    for name in ("", "a\0b"):
        with pytest.raises(ParameterError, match="is not a name of a table or a column"):
            export_sql(model, table=name)


def test_classes_that_differ_in_capitals_have_columns_of_their_own(database):
    model = room_model()
    model = replace(model, target=replace(model.target, classes=("yes", "YES")))
    database.execute('CREATE TABLE readings ("CO2" REAL, door TEXT)')
    answer = database.execute(export_sql(model).files["model.sql"])
    names = [column[0] for column in answer.description]
    assert names == ["decision", "probability_yes", "probability_YES_2"]


def with_classes(rng, tree, n_classes):
    """Let a tree believe in so many classes."""
    beliefs = rng.dirichlet(np.ones(n_classes), len(tree.branches)).tolist()
    branches = (
        replace(branch, belief=tuple(belief))
        for branch, belief in zip(tree.branches, beliefs, strict=True)
    )
    return replace(tree, branches=tuple(branches))


def test_a_statement_that_databases_would_not_take_is_refused():
    rng = np.random.default_rng(0)
    model = random_model(rng, "tree", 2)
    many = tuple(f"class {i}" for i in range(1700))
    tree = model.root
    target = replace(model.target, classes=many, thresholds=())
    wide = replace(model, target=target, nodes=(with_classes(rng, tree, len(many)),))
    with pytest.raises(ParameterError, match=r"columns inside, and databases take 1,600; fit it"):
        export_sql(wide)
    some = tuple(f"class {i}" for i in range(400))
    long = replace(
        wide,
        target=replace(wide.target, classes=some),
        nodes=(with_classes(rng, tree, len(some)),),
    )
    with pytest.raises(ParameterError, match=r"bytes, and databases take 1,000,000; fit it"):
        export_sql(long)


def test_many_trees_are_not_nested_too_deep(database):
    """A thousand terms in a row would be nested a thousand deep, which SQLite refuses."""
    assert database.execute(f"SELECT {added(['1e0'] * 5000)}").fetchone() == (5000.0,)
    assert added([]) == "0e0"
    assert added(["a"]) == "a"


@given(TEXTS, TEXTS.filter(bool))
def test_texts_and_names_are_read_back(text, name):
    connection = sqlite3.connect(":memory:")
    answer = connection.execute(f"SELECT {sql_string(text)} AS {sql_name(name)}")
    assert answer.description[0][0] == name
    assert answer.fetchall() == [(text,)]
    connection.close()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_back(number):
    connection = sqlite3.connect(":memory:")
    assert connection.execute(f"SELECT {literal(number)}").fetchone() == (number,)
    connection.close()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_the_first_of_the_largest_is_the_answer(values):
    connection = sqlite3.connect(":memory:")
    query = f"SELECT {largest(list(map(str, values)), list(map(str, range(len(values)))))}"
    assert connection.execute(query).fetchone() == (int(np.argmax(values)),)
    connection.close()


@given(st.floats(1, 1e13), st.floats(0, 1))
def test_newtons_steps_find_the_root(most, share):
    square = 1 + share * (most - 1)
    columns = {"q": square}
    for ((name, value),) in root_steps("q", "h", most):
        columns[name] = eval(value, {}, columns)
    assert columns["h"] == pytest.approx(math.sqrt(square), rel=1e-15)
