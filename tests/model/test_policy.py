"""Domain and policy in the model document: written, read back, checked, and kept by what edits."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_schema import model_schema
from policy_cases import POLICY, random_domain, room
from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_number_model
from solah.edit import Editor, write_rules
from solah.edit.diff import diff
from solah.exceptions import ModelFormatError, ParameterError
from solah.model.compile import part_of
from solah.model.format import from_json, to_json
from solah.model.policy import Cells, Domain, Policy, cells_of, is_out_of_range, unseen_pairs


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from(SHAPES + ADDITIVE_SHAPES),
    policy=st.builds(
        Policy,
        min_probability=st.sampled_from([(), (0.5, 0.25, 1.0)]),
        min_completeness=st.floats(0, 1),
        stays_in_range=st.booleans(),
        max_unseen=st.none() | st.integers(0, 255),
        smoothing=st.sampled_from([1, 2, 64, 256]),
        hysteresis=st.floats(0, 1),
        window=st.integers(3, 32),
        votes=st.integers(1, 3),
        min_hold=st.integers(1, 65_534),
    ),
)
def test_domain_and_policy_survive_the_round_trip(seed, shape, policy):
    rng = np.random.default_rng(seed)
    bare = random_model(rng, shape, 3)
    model = replace(bare, domain=random_domain(rng, bare), policy=policy)
    text = to_json(model)
    assert from_json(text.encode()) == model
    assert to_json(from_json(text.encode())) == text
    jsonschema.validate(json.loads(text), model_schema())


def test_a_policy_that_does_nothing_is_written_as_nothing():
    model = replace(room(), policy=Policy())
    assert json.loads(to_json(model))["policy"] == {}
    assert from_json(to_json(model).encode()) == model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"min_probability": [0.5]},
            "the model.policy: 'min_probability' must have a number for each of 2",
        ),
        (
            {"min_probability": [0.5, 1.5]},
            "the model.policy.min_probability[1] must be a finite number",
        ),
        (
            {"min_probability": [0.5] * 3},
            "'min_probability' must have a number for each of 2 classes. Got 3",
        ),
        (
            {"min_completeness": -1},
            "the model.policy.min_completeness must be a finite number from 0 to 1",
        ),
        ({"stays_in_range": 1}, "the model.policy.stays_in_range must be true or false"),
        ({"max_unseen": 256}, "the model.policy.max_unseen must be an integer from 0 to 255"),
        ({"max_unseen": None}, "the model.policy.max_unseen must be an integer from 0 to 255"),
        ({"smoothing": 3}, "the model.policy: 'smoothing' must be a power of two"),
        ({"smoothing": 512}, "the model.policy.smoothing must be an integer from 1 to 256"),
        ({"votes": 4}, "the model.policy: 'votes' must be from 1 to the window"),
        ({"min_hold": 65535}, "the model.policy.min_hold must be an integer from 1 to 65534"),
        ({"patience": 1}, "the model.policy has 'patience'"),
    ],
)
def test_wrong_policies_are_refused(change, message):
    document = json.loads(to_json(room()))
    document["policy"] |= change
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": []}, "the model.domain.cells must have between 1 and 1000000 items"),
        ({"cells": [{"name": "door"}] * 2}, "cells for each feature of the model"),
        ({"cells": [{"name": "CO2"}, {"name": "door"}]}, "the cells of 'CO2' need a range"),
        (
            {"cells": [{"name": "CO", "low": 0, "high": 1}, {"name": "door"}]},
            "the model has no feature 'CO'; did you mean 'CO2'?",
        ),
        (
            {"cells": [{"name": "CO2", "low": 2, "high": 1}, {"name": "door"}]},
            "must have a range from low to high",
        ),
        (
            {"cells": [{"name": "CO2", "low": 2, "high": 3, "cuts": [2, 2]}, {"name": "door"}]},
            "at most 15 cuts, which ascend",
        ),
        (
            {"cells": [{"name": "CO2", "low": 2, "high": 3}, {"name": "door", "cuts": [1]}]},
            "the cells of 'door' are its categories",
        ),
        ({"pairs": [{"first": "CO2", "second": "door", "seen": ["2"]}]}, "a text of 0 and 1"),
        ({"pairs": [{"first": "CO2", "second": "door", "seen": ["10"]}]}, "3 rows of 2 flags"),
        ({"pairs": [{"first": "CO2", "second": "CO2", "seen": ["10"]}]}, "of two features"),
        ({"pairs": [{"first": "CO2", "second": "gate", "seen": ["1"]}]}, "no feature 'gate'"),
        (
            {"pairs": [{"first": "CO2", "second": "door", "seen": ["10"] * 3}] * 2},
            "and occur once",
        ),
        (
            {"pairs": [{"first": "CO2", "second": "door", "seen": ["1" * 10_000]}]},
            "a text of at most 254 characters",
        ),
    ],
)
def test_wrong_domains_are_refused(change, message):
    document = json.loads(to_json(room()))
    document["domain"] |= change
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert message in str(error.value)


def test_a_policy_that_asks_for_a_domain_needs_one():
    document = json.loads(to_json(room()))
    del document["domain"]
    with pytest.raises(ModelFormatError, match="'stays_in_range' requires a model with a"):
        from_json(json.dumps(document).encode())


def test_a_number_has_no_policy():
    document = json.loads(to_json(random_number_model(np.random.default_rng(0))))
    document["policy"] = {"min_hold": 2}
    with pytest.raises(ModelFormatError, match="this model predicts a number"):
        from_json(json.dumps(document).encode())


def test_a_renamed_feature_is_renamed_in_the_domain():
    edited = Editor(room()).rename_feature("CO2", "Luftgüte").model
    assert [cells.name for cells in edited.domain.cells] == ["Luftgüte", "door"]
    assert [(pair.first, pair.second) for pair in edited.domain.pairs] == [("Luftgüte", "door")]
    assert edited.policy == POLICY


def test_other_edits_keep_domain_and_policy():
    edited = Editor(room()).rename_class("yes", "busy").move("CO2", "low", end=500.0).model
    assert (edited.domain, edited.policy) == (room().domain, POLICY)


def test_a_part_keeps_its_part_of_the_domain_but_no_policy():
    part = part_of(room(), "rules on CO2")
    assert part.domain == Domain(room().domain.cells[:1])
    assert part.policy is None
    assert from_json(to_json(part).encode()) == part


def test_a_rules_file_says_that_it_has_no_room_for_a_domain():
    with pytest.raises(ParameterError, match="has a training domain"):
        write_rules(room())


def test_diff_tells_other_policies_and_domains():
    other = replace(room(), policy=replace(POLICY, min_hold=6, min_probability=(0.7, 0.7)))
    told = {one.text for one in diff(room(), other).of("policy")}
    assert told == {
        "policy: the probability of no must be at least 0.7 (gone)",
        "policy: the probability of yes must be at least 0.55 (gone)",
        "policy: the probability must be at least 0.7 (new)",
        "policy: a stable decision stays for at least 5 (gone)",
        "policy: a stable decision stays for at least 6 (new)",
    }
    narrow = replace(
        room().domain, cells=(Cells("CO2", 400.0, 900.0, (600.0, 900.0)), Cells("door"))
    )
    told = [one.text for one in diff(room(), replace(room(), domain=narrow)).of("policy")]
    assert told == [
        "training domain: CO2 400 to 900, cuts 600, 900 (new)",
        "training domain: CO2 390 to 1500, cuts 600, 900 (gone)",
    ]
    bare = replace(room(), domain=None, policy=None)
    assert "training domain: CO2 390 to 1500" in str(diff(bare, room()))


def test_readings_lie_in_cells_and_ranges():
    air, door = room().domain.cells
    co2, gate = room().features
    readings = np.array([389.0, 390.0, 600.0, 899.0, 900.0, 1501.0, np.nan])
    assert cells_of(co2, air, readings).tolist() == [0, 0, 1, 1, 2, 2, -1]
    assert is_out_of_range(air, readings).tolist() == [True, *[False] * 4, True, False]
    states = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, np.nan])
    assert cells_of(gate, door, states).tolist() == [0, 1, 0, 1, 0, 0, -1]
    assert not is_out_of_range(door, states).any()
    unseen = unseen_pairs(room().domain, (co2, gate), {"CO2": readings, "door": states})
    assert unseen[:, 0].tolist() == [False, True, False, False, True, True, False]


def test_a_number_between_two_states_belongs_to_the_nearest():
    ordinal = random_model(np.random.default_rng(0), "tree").features[4]
    assert ordinal.categories == (1.0, 2.5, 7.0, 8.0)
    readings = np.array([0.0, 1.7, 1.75, 4.7, 4.75, 7.5, 99.0, np.nan])
    assert cells_of(ordinal, Cells(ordinal.name), readings).tolist() == [0, 0, 1, 1, 2, 3, 3, -1]
