"""What people did to a model, in its document: pins, moved words, edits and comments."""

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import jsonschema
import numpy as np
import pytest

from model_schema import model_schema
from random_models import random_model, random_number_model
from solah.exceptions import ModelFormatError
from solah.model.format import from_json, to_json
from solah.model.provenance import Comment, Edit, is_time, spell_time


def marked_model():
    """Make a model with everything that people may add."""
    model = random_model(np.random.default_rng(3), "groups")
    moved = replace(model.attributes[0], is_moved=True)
    terms = [
        replace(
            term,
            inputs=tuple(
                replace(one, attribute=moved) if one.name == moved.name else one
                for one in term.inputs
            ),
        )
        for term in model.terms
    ]
    terms[0] = replace(terms[0], pinned=frozenset({(0,)}))
    terms[1] = replace(terms[1], missing=replace(terms[1].missing, is_pinned=True))
    return replace(
        model,
        attributes=(moved, *model.attributes[1:]),
        nodes=model.with_terms(terms).nodes,
        edits=(Edit("moved an edge", "Ann", "2026-05-17T09:30:00Z", "it is new"), Edit("and so")),
        comments=(Comment("goal", " of the class"), Comment("attribute x0", "", is_behind=True)),
    )


def test_what_people_did_survives_the_round_trip_and_fits_the_schema():
    model = marked_model()
    text = to_json(model)
    again = from_json(text.encode())
    assert again == model
    assert again.edits == model.edits
    assert again.comments == model.comments
    assert to_json(again) == text
    jsonschema.validate(json.loads(text), model_schema())


def test_a_model_that_nobody_edited_has_none_of_these_keys():
    record = json.loads(to_json(random_number_model(np.random.default_rng(1))))
    assert not {"edits", "comments"} & set(record)
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
        (lambda d: d["comments"][0].update(text="a\nb"), "must be a text in one line"),
        (lambda d: d["comments"][0].update(behind=False), "behind must be true, or left out"),
        (lambda d: d["features"][0].update(moved=False), "moved must be true, or left out"),
        (
            lambda d: d["nodes"][0]["terms"][0]["rules"][0].update(pinned=1),
            "terms[0].rules[0].pinned must be true, or left out",
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
