"""The training data in a model file, and what people did to the model."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_schema import model_schema
from random_models import as_table, random_model, random_number_model, random_rows
from solah.data import Column, Table
from solah.exceptions import ModelFormatError
from solah.model import CrossValidated, Provenance
from solah.model.format import from_json, to_json
from solah.model.provenance import (
    Edit,
    digest_columns,
    digest_data,
    is_time,
    is_trained_on,
    spell_time,
)

MODEL = random_model(np.random.default_rng(0), "groups")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
SCORES = st.none() | st.floats(0, 1)
PROVENANCES = st.builds(
    Provenance,
    source=st.just("") | TEXT,
    modified=st.just("") | TEXT,
    rows=st.none() | st.integers(0, 2**53),
    classes=st.just(()) | st.tuples(st.integers(0, 2**53), st.integers(0, 2**53)),
    digest=st.just("") | TEXT,
    columns=st.dictionaries(TEXT, TEXT, max_size=3),
    dropped=st.lists(TEXT, unique=True, max_size=3).map(tuple),
    cross_validated=st.none() | st.builds(CrossValidated, st.floats(0, 1), SCORES, SCORES),
)


@given(PROVENANCES)
def test_it_survives_the_round_trip_and_the_schema(provenance):
    text = to_json(replace(MODEL, provenance=provenance))
    jsonschema.validate(json.loads(text), model_schema())
    read = from_json(text.encode())
    assert read.provenance == provenance
    assert to_json(read) == text
    assert read == MODEL  # which compares what decides


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rows", -1, "provenance.rows must be an integer"),
        ("classes", [1], "provenance.classes must be a number of rows for each class"),
        ("source", "", "provenance.source must be a text"),
        ("columns", {"a": 1}, "provenance.columns.a must be a text"),
        ("dropped", ["a", "a"], "provenance.dropped must be a list without repetition"),
        (
            "cross_validated",
            {"accuracy": 1.5},
            "cross_validated.accuracy must be a finite number from 0",
        ),
        ("sorce", "x", "has 'sorce'; did you mean 'source'?"),
    ],
)
def test_a_wrong_one_is_refused(key, value, message):
    document = json.loads(to_json(MODEL)) | {"provenance": {key: value}}
    with pytest.raises(ModelFormatError, match="the model.provenance") as refused:
        from_json(json.dumps(document).encode())
    assert message in str(refused.value)


def data(n_rows=60):
    rng = np.random.default_rng(3)
    table = as_table(MODEL, random_rows(rng, MODEL, n_rows))
    return table, Column("y", rng.choice(np.array(["c0", "c1"], dtype=object), n_rows))


@given(st.randoms(use_true_random=False))
def test_the_digests_depend_neither_on_the_order_of_rows_nor_of_columns(random):
    table, target = data()
    rows = np.array(random.sample(range(60), 60))
    columns = Table(tuple(random.sample(table.columns, len(table.columns))), 60).take(rows)
    assert digest_data(columns) == digest_data(table)
    again = digest_columns(MODEL, columns, Column("y", target.values[rows]))
    assert again == digest_columns(MODEL, table, target)


def test_the_digests_tell_a_changed_cell_a_lost_row_and_a_repeated_one():
    table, target = data()
    first = table.column("x0").values.copy()
    first[7] = 0.25
    changed = Table((Column("x0", first), *table.columns[1:]), 60)
    fewer, more = np.arange(59), np.array([*range(60), 0])
    others = [
        (changed, target.values),
        (table.take(fewer), target.values[fewer]),
        (table.take(more), target.values[more]),
    ]
    assert len({digest_data(one) for one, _ in [(table, target), *others]}) == 4
    model = learned_from(MODEL, table, target)
    assert is_trained_on(model, table, target)
    for one, of_target in others:
        assert is_trained_on(model, one, Column("y", of_target)) is False
    other_classes = np.roll(target.values, 1)
    assert is_trained_on(model, table, Column("y", other_classes)) is False


def test_numbers_and_their_texts_are_the_same_rows():
    table, target = data()
    spelt = [None if np.isnan(x) else repr(float(x)) for x in table.column("x0").values]
    as_text = Table((Column("x0", np.array(spelt, dtype=object)), *table.columns[1:]), 60)
    assert digest_data(as_text) == digest_data(table)
    assert digest_columns(MODEL, as_text, target) == digest_columns(MODEL, table, target)


def test_training_rows_are_known_by_the_columns_that_the_model_still_has():
    table, target = data()
    model = learned_from(MODEL, table, target)
    known = dict(list(model.provenance.columns.items())[:2])
    fewer = replace(model, provenance=replace(model.provenance, columns=known))
    assert is_trained_on(fewer, table, target)
    assert is_trained_on(MODEL, table, target) is None
    assert is_trained_on(replace(model, provenance=Provenance()), table, target) is None
    assert is_trained_on(model, table, None) is None


def learned_from(model, table, target):
    return replace(model, provenance=Provenance(columns=digest_columns(model, table, target)))


def marked_model():
    """Make a model with everything that people may add."""
    model = random_model(np.random.default_rng(3), "groups")
    moved = replace(model.features[0], is_moved=True)
    terms = [
        replace(
            term,
            inputs=tuple(
                replace(one, feature=moved) if one.name == moved.name else one
                for one in term.inputs
            ),
        )
        for term in model.terms
    ]
    terms[0] = replace(terms[0], pinned=frozenset({(0,)}))
    terms[1] = replace(terms[1], missing=replace(terms[1].missing, is_pinned=True))
    return replace(
        model,
        features=(moved, *model.features[1:]),
        nodes=model.with_terms(terms).nodes,
        edits=(Edit("moved an edge", "Ann", "2026-05-17T09:30:00Z", "it is new"), Edit("and so")),
    )


def test_what_people_did_survives_the_round_trip_and_fits_the_schema():
    model = marked_model()
    text = to_json(model)
    again = from_json(text.encode())
    assert again == model
    assert again.edits == model.edits
    assert to_json(again) == text
    jsonschema.validate(json.loads(text), model_schema())


def test_a_model_that_nobody_edited_has_none_of_these_keys():
    record = json.loads(to_json(random_number_model(np.random.default_rng(1))))
    assert not {"edits"} & set(record)
    assert "pinned" not in json.dumps(record)
    assert "moved" not in json.dumps(record)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d["edits"][0].update(time="2026-05-17 09:30"), "edits[0].time must be a moment"),
        (lambda d: d["edits"][0].update(time="2026-13-17T09:30:00Z"), "edits[0].time must be"),
        (lambda d: d["edits"][0].update(text="x" * 2001), "at most 2000 characters"),
        (lambda d: d["edits"][0].update(who="Ann"), "has 'who'"),
        (lambda d: d["edits"][1].pop("text"), "has no 'text'"),
        (lambda d: d.update(edits=[]), "edits must have between 1 and 10000 items"),
        (lambda d: d["features"][0].update(moved=False), "moved must be true, or absent"),
        (
            lambda d: d["nodes"][0]["terms"][0]["rules"][0].update(pinned=1),
            "terms[0].rules[0].pinned must be true, or absent",
        ),
        (lambda d: d["nodes"][0].update(pinned=True), "has 'pinned'"),
    ],
)
def test_a_wrong_mark_is_an_error_that_names_its_place(change, problem):
    document = json.loads(to_json(marked_model()))
    change(document)
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert problem in str(error.value)


def test_times_are_written_in_utc():
    noon = datetime(2026, 5, 17, 12, 0, tzinfo=timezone(timedelta(hours=-3)))
    assert spell_time(noon) == "2026-05-17T15:00:00Z"
    assert is_time("2026-05-17T15:00:00Z")
    assert not is_time("2026-05-17T15:00:00+00:00")


def test_an_edit_reads_as_a_line():
    assert str(Edit("moved an edge", "Ann", "2026-05-17T09:30:00Z", "it is new")) == (
        "2026-05-17T09:30:00Z, Ann: moved an edge (because: it is new)"
    )
    assert str(Edit("moved an edge")) == "moved an edge"
