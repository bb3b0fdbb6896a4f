"""A plan runs every part once, lets beliefs travel and no readings, and says what it cannot do."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    random_model,
    random_sum,
    random_term,
    with_features,
)
from solah.exceptions import ParameterError
from solah.site.placement import Placement, load_placement
from solah.site.plan import make_plan

NAMES = [f"x{i}" for i in range(6)]


def model_of(shape, seed=0):
    return random_model(np.random.default_rng(seed), shape, 3)


def own_features(model, part):
    names = {feature.name for feature in model.features}
    return [name for name in part.origins if name in names]


@st.composite
def planned(draw):
    """Draw a model, and a plan with the features of each tree and some parts anywhere."""
    shape = draw(st.sampled_from((*SHAPES[:3], *ADDITIVE_SHAPES)))
    model = model_of(shape, draw(st.integers(0, 50)))
    if draw(st.booleans()):
        return model, make_plan(model)
    somewhere = st.sampled_from(["a", "b", "c", "gateway"])
    placement = {}
    if shape in ADDITIVE_SHAPES:
        sums = [part.name for part in model.parts if part.kind in ("group", "sum")]
        for name in (*NAMES, *(name for name in sums if draw(st.booleans()))):
            placement.setdefault(draw(somewhere), []).append(name)
        return model, make_plan(model, placement)
    for node in model.nodes:
        own = own_features(model, node)
        placed = own or ([node.name] if draw(st.booleans()) else [])
        if placed:
            placement.setdefault(draw(somewhere), []).extend(placed)
    return model, make_plan(model, placement)


@given(planned())
def test_every_part_runs_once_and_every_feature_is_read_once(drawn):
    model, plan = drawn
    runs = [part for node in plan.nodes for part in node.runs]
    assert sorted(runs) == sorted(part.name for part in model.parts)
    reads = [name for node in plan.nodes for name in node.reads]
    assert sorted(reads) == sorted(feature.name for feature in model.features)
    assert all(node.runs or node.sends for node in plan.nodes)


@given(planned())
def test_what_is_heard_is_what_others_send(drawn):
    _, plan = drawn
    heard = {(part, home) for node in plan.nodes for part, home in node.hears}
    sent = {(part, node.name) for node in plan.nodes for part in node.sends}
    assert heard == sent
    for node in plan.nodes:
        assert node.name not in dict(node.hears).values()
        assert set(node.sends) <= {*node.runs, *node.reads}


@given(planned())
def test_readings_travel_only_to_parts_that_no_single_node_can_run(drawn):
    model, plan = drawn
    where = {name: node.name for node in plan.nodes for name in node.reads}
    needed = set()
    for part in model.parts:
        own = own_features(model, part)
        if len({where[name] for name in own}) > 1:
            needed |= {name for name in own if where[name] != plan.home[part.name]}
        else:
            assert {where[name] for name in own} <= {plan.home[part.name]}
    sent = {name for node in plan.nodes for name in node.sends}
    assert sent & where.keys() == needed


@given(planned())
def test_a_node_has_all_that_its_parts_ask_for(drawn):
    model, plan = drawn
    for node in plan.nodes:
        at_hand = {*node.reads, *node.runs, *dict(node.hears)}
        for part in model.parts:
            if part.name in node.runs:
                assert set(part.origins) <= at_hand


@given(planned())
def test_the_node_that_decides_comes_first(drawn):
    model, plan = drawn
    assert model.root.name in plan.nodes[0].runs
    assert model.root.name not in [part for node in plan.nodes for part in node.sends]


# --- where things run by default -----------------------------------------------------------------


def test_a_term_of_features_on_two_nodes_runs_where_it_is_added():
    placement = {"a": ["x0", "x2"], "b": ["x1", "x3"], "gateway": ["x4", "x5"]}
    plan = make_plan(model_of("words and pairs"), placement)
    assert plan.home["rules on x0 and x1"] == plan.home["rules on x1 and x2"] == "gateway"
    assert plan.node("a").sends == ("rules on x0", "rules on x2", "x0", "x2")
    # x1 once, though two ask it
    assert plan.node("b").sends == ("rules on x1", "rules on x3", "x1", "x3")
    assert plan.node("gateway").reads == ("x4", "x5")


def test_any_name_of_an_feature_leads_to_a_node_of_its_own():
    rng = np.random.default_rng(0)
    names = ["色", "味", "größe cm", "größe/cm", "z" * 200]
    one = model_of("words and pairs").features[0]
    features = tuple(replace(one, name=name) for name in names)
    root = random_sum(rng, "y", [random_term(rng, [one], 3) for one in features], 3)
    plan = make_plan(replace(model_of("groups"), features=features, nodes=(root,)))
    assert [plan.home[f"rules on {name}"] for name in names] == [
        "rules-on",
        "rules-on-2",
        "rules-on-gr-e-cm",
        "rules-on-gr-e-cm-2",
        f"rules-on-{'z' * 47}",
    ]


# --- what cannot be done -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ({"a": NAMES, "b": ["rules on x0"]}, "'rules on x0' is placed at 'b', and what it asks is"),
        (
            {"a": NAMES[:4]},
            "does not name a node for 'x4'; each feature of the model needs",
        ),
        (
            {"a": [*NAMES[:5], "X5"]},
            "does not name a node for 'x5'; each feature of the model needs a node; did "
            "you mean 'X5'",
        ),
        ({"a": NAMES, "b": ["x0"]}, "'x0' is placed at 'a' and at 'b'; it can be at one node only"),
        ({"a": NAMES, "b": ["z0"], "c": ["z0"]}, "'z0' is placed at 'b' and at 'c'"),
        ({"a": NAMES, "b": []}, "the placement of 'b' is empty; drop the node"),
        ({"a": "x0"}, "the placement of 'a' must be a list of names. Got a value of type str"),
        ({"a": [5]}, "a name at 'a' must be text, in quotes where needed. Got 5"),
        ({"a": 5}, "the placement of 'a' must be a list of names. Got a value of type int"),
        ({"küche": NAMES}, "a node or site is named with letters, digits"),
        ({"a/b": NAMES}, "Got 'a/b' instead"),
        ({"#": NAMES}, "Got '#' instead"),
        ({"": NAMES}, "Got '' instead"),
        ({"a" * 65: NAMES}, "at most 64 of them"),
    ],
)
def test_an_error_names_what_to_do(placement, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        make_plan(model_of("three groups"), placement)


def test_a_tree_of_features_on_two_nodes_is_refused():
    placement = {"a": ["x0"], "b": NAMES[1:]}
    with pytest.raises(ParameterError, match="'z0' asks 'x0' of 'a' and 'x1' of 'b', and readings"):
        make_plan(model_of("words"), placement)


@pytest.mark.parametrize("about", ["feature", "class"])
def test_a_name_that_messages_cannot_carry_is_refused(about):
    model, text = model_of("three groups"), "n" * 501
    if about == "class":
        model = replace(model, target=replace(model.target, classes=("a", "b", text)))
    else:
        features = {one.name: one for one in model.features}
        features["x0"] = replace(features["x0"], name=text)
        root = with_features(model.root, features)
        model = replace(model, features=tuple(features.values()), nodes=(root,))
    with pytest.raises(ParameterError, match="has 501 characters, and messages take 500"):
        make_plan(model)


# --- placements from files -----------------------------------------------------------------------


@pytest.fixture
def load(tmp_path):
    """Return a function that loads a placement from a file of this text."""

    def read(text, name="p.yaml"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_placement(tmp_path / name)

    return read


def test_a_placement_maps_nodes_to_names(load):
    short = Placement({"a": ("x0", "größe cm"), "gateway": ("x1",)})
    assert load('a: [x0, "größe cm"]\ngateway:\n- x1\n') == short
    assert load('{"a": ["x0", "größe cm"], "gateway": ["x1"]}', "p.json") == short
    assert load(b'\xef\xbb\xbf{"a": ["x0"]}', "P.JSON") == Placement({"a": ("x0",)})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "maps each node's name to a list of names. Got a value of type NoneType"),
        ("- a", "Got a value of type list"),
        ("{}", "a placement needs at least one node"),
        ("nodes: {}", "a placement needs at least one node"),
        ("a: x0", "the placement of 'a' must be a list of names. Got a value of type str"),
        ("a: []", "the placement of 'a' is empty; drop the node"),
        ("a: [5]", "a name at 'a' must be text, in quotes where needed. Got 5 instead."),
        ("a: [[x]]", "Got a list of 1 instead."),
        ("a: [false]", "Got False instead."),
        ("o n: [x]", "a node or site is named with"),
        ("küche: [x]", "Got 'küche' instead."),
        ("site: house\na: [x]", "beside it, nodes go below 'nodes'"),
        ("sight: house\nnodes: {a: [x]}", "has no 'sight'; did you mean 'site'?"),
        ("site: 5\nnodes: {a: [x]}", "a node or site is named with"),
        ("a: [x]\na: [y]", "'a' is there twice"),
        ("nodes:\n  a: [x]\n  a: [y]", "'a' is there twice"),
        ("a: [x", "this is not YAML that can be used"),
        ("a: !!python/object/apply:os.system [echo]", "line 1: remove the tag"),
        ("a: &b [*b]", "nested too deeply"),
        ("? [a]\n: [x]", "line 1: a name must be a text"),
        (b"\xff\xff", "this is not YAML that can be used"),
        ("[" * 700, "nested too deeply"),
    ],
)
def test_a_broken_placement_is_named_with_its_file(load, text, words):
    with pytest.raises(ParameterError, match=re.escape(words)) as caught:
        load(text)
    assert "p.yaml: " in str(caught.value)
