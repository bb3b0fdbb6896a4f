"""A plan runs every part once, lets beliefs travel and no readings, and says what it cannot do."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, random_fusion, random_model, random_tree
from solah.exceptions import ParameterError
from solah.model import Tree
from solah.network.placement import Placement, load_placement
from solah.network.plan import make_plan, plan_of_homes

NAMES = [f"x{i}" for i in range(6)]


def model_of(shape, seed=0):
    return random_model(np.random.default_rng(seed), shape, 3)


def own_attributes(model, tree):
    names = {attribute.name for attribute in model.attributes}
    return [name for name in tree.origins if name in names]


@st.composite
def planned(draw):
    """Draw a model, and a plan with the attributes of each tree and some parts anywhere."""
    shape = draw(st.sampled_from((*SHAPES, *ADDITIVE_SHAPES)))
    model = model_of(shape, draw(st.integers(0, 50)))
    if draw(st.booleans()):
        return model, make_plan(model)
    somewhere = st.sampled_from(["a", "b", "c", "gateway"])
    placement = {}
    if shape in ADDITIVE_SHAPES:
        for name in (*NAMES, *(node.name for node in model.fusions if draw(st.booleans()))):
            placement.setdefault(draw(somewhere), []).append(name)
        return model, make_plan(model, placement)
    for node in model.nodes:
        own = own_attributes(model, node) if isinstance(node, Tree) else []
        placed = own or ([node.name] if draw(st.booleans()) else [])
        if placed:
            placement.setdefault(draw(somewhere), []).extend(placed)
    return model, make_plan(model, placement)


@given(planned())
def test_every_part_runs_once_and_every_attribute_is_read_once(drawn):
    model, plan = drawn
    runs = [part for node in plan.nodes for part in node.runs]
    assert sorted(runs) == sorted(node.name for node in model.nodes)
    reads = [name for node in plan.nodes for name in node.reads]
    assert sorted(reads) == sorted(attribute.name for attribute in model.attributes)
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
def test_readings_travel_only_to_trees_that_no_single_node_can_run(drawn):
    model, plan = drawn
    where = {name: node.name for node in plan.nodes for name in node.reads}
    needed = set()
    for tree in model.trees:
        own = own_attributes(model, tree)
        if len({where[name] for name in own}) > 1:
            needed |= {name for name in own if where[name] != plan.home[tree.name]}
        else:
            assert {where[name] for name in own} <= {plan.home[tree.name]}
    sent = {name for node in plan.nodes for name in node.sends}
    assert sent & where.keys() == needed


@given(planned())
def test_a_node_has_all_that_its_parts_ask_for(drawn):
    model, plan = drawn
    for node in plan.nodes:
        at_hand = {*node.reads, *node.runs, *dict(node.hears)}
        for part in model.nodes:
            if part.name in node.runs:
                assert set(part.origins) <= at_hand


@given(planned())
def test_the_node_that_decides_comes_first(drawn):
    model, plan = drawn
    assert model.root.name in plan.nodes[0].runs
    assert model.root.name not in [part for node in plan.nodes for part in node.sends]


@pytest.mark.parametrize("shape", SHAPES)
def test_who_hears_starts_before_those_that_it_hears(shape):
    plan = make_plan(model_of(shape))
    place = {node.name: number for number, node in enumerate(plan.nodes)}
    for node in plan.nodes:
        assert all(place[home] > place[node.name] for _, home in node.hears)


def test_the_order_holds_where_a_high_part_runs_beside_a_low_one():
    placement = {"b": NAMES[:2] + NAMES[4:], "a": [*NAMES[2:4], "f"]}
    plan = make_plan(model_of("nested fusions"), placement)
    assert [node.name for node in plan.nodes] == ["gateway", "a", "b"]


def test_nodes_may_hear_each_other():
    placement = {"a": [*NAMES[:2], "y"], "b": [*NAMES[2:], "f"]}
    plan = make_plan(model_of("nested fusions"), placement)
    assert [node.name for node in plan.nodes] == ["a", "b"]
    assert plan.node("a").hears == (("f", "b"), ("z2", "b"))
    assert plan.node("b").hears == (("z0", "a"),)


def test_thousands_of_nodes_are_planned_at_once():
    model = model_of("flat fusion")
    tree, *_, root = model.nodes
    trees = tuple(replace(tree, name=f"t{i}") for i in range(4_000))
    names = tuple(one.name for one in trees)
    wide = replace(root, origins=names)
    started = time.process_time()
    home = {name: name for name in names} | {"y": "gateway"}
    plan = plan_of_homes(replace(model, nodes=(*trees, wide)), home, "site")
    assert len(plan.nodes) == 4_001
    assert time.process_time() - started < 2.0


# --- where things run by default -----------------------------------------------------------------


def homes(plan):
    return {node.name: node.runs for node in plan.nodes}


def test_trees_have_nodes_of_their_own_by_default():
    plan = make_plan(model_of("flat fusion"))
    assert homes(plan) == {"gateway": ("y",), "z2": ("z2",), "z1": ("z1",), "z0": ("z0",)}


def test_a_fusion_of_lowest_trees_is_one_cluster():
    plan = make_plan(model_of("nested fusions"))
    assert homes(plan) == {"gateway": ("y",), "f": ("z0", "z1", "f"), "z2": ("z2",)}
    assert plan.node("f").sends == ("f",)


def test_a_group_is_one_node_and_sends_its_sum():
    plan = make_plan(model_of("groups"))
    assert homes(plan) == {
        "gateway": ("both", "y"),
        "first": ("of x0", "of x1", "x0 and x1", "first"),
        "second": ("of x2", "of x3", "second"),
        "of-x4": ("of x4",),
        "of-x5": ("of x5",),
    }
    assert plan.node("first").sends == ("first",)
    assert plan.node("gateway").hears == (
        ("first", "first"),
        ("second", "second"),
        ("of x4", "of-x4"),
        ("of x5", "of-x5"),
    )


def test_a_tree_of_attributes_on_two_nodes_runs_where_it_is_added():
    placement = {"a": ["x0", "x2"], "b": ["x1", "x3"], "gateway": ["x4", "x5"]}
    plan = make_plan(model_of("words and pairs"), placement)
    assert plan.home["x0 and x1"] == plan.home["x1 and x2"] == "gateway"
    assert plan.node("a").sends == ("of x0", "of x2", "x0", "x2")
    assert plan.node("b").sends == ("of x1", "of x3", "x1", "x3")  # x1 once, though two ask it
    assert plan.node("gateway").reads == ("x4", "x5")


def test_a_tree_of_attributes_on_two_nodes_may_be_placed():
    placement = {"a": ["x0", "x0 and x1"], "b": [*NAMES[1:]]}
    plan = make_plan(model_of("words and pairs"), placement)
    assert plan.home["x0 and x1"] == "a"
    assert plan.node("a").hears == (("x1", "b"),)


def test_a_root_that_asks_readings_runs_where_they_are():
    plan = make_plan(model_of("masses"))
    assert homes(plan) == {"y": ("y",), "z1": ("z1",), "z0": ("z0",)}
    assert plan.node("y").reads == ("x4", "x5")


@pytest.mark.parametrize("placement", [None, {"only": NAMES}])
def test_one_tree_is_one_node(placement):
    (node,) = make_plan(model_of("tree"), placement).nodes
    assert node.name == ("y" if placement is None else "only")
    assert (node.runs, node.hears, node.sends) == (("y",), (), ())


def test_one_node_may_do_everything():
    (node,) = make_plan(model_of("nested fusions"), {"hub": NAMES}, gateway="hub").nodes
    assert node.runs == ("z0", "z1", "z2", "f", "y")
    assert (node.hears, node.sends) == ((), ())


def test_a_part_may_be_placed_by_name():
    placement = {"a": NAMES[:2], "b": NAMES[2:4], "c": [*NAMES[4:], "y"], "d": ["f"]}
    plan = make_plan(model_of("nested fusions"), placement)
    assert plan.home == {"z0": "a", "z1": "b", "z2": "c", "f": "d", "y": "c"}
    assert plan.node("d").hears == (("z0", "a"), ("z1", "b"))


def named(names):
    """Make a fusion of trees that are called so, each of one attribute."""
    rng = np.random.default_rng(0)
    model = model_of("flat fusion")
    trees = [
        random_tree(rng, name, [attribute], 3)
        for name, attribute in zip(names, model.attributes, strict=False)
    ]
    root = random_fusion(rng, "y", names, 3)
    return replace(model, attributes=model.attributes[: len(names)], nodes=(*trees, root))


def test_any_name_of_a_tree_leads_to_a_node_of_its_own():
    trees = ["色", "味", "größe cm", "größe/cm", "gateway", "z" * 200]
    plan = make_plan(named(trees))
    assert plan.home == {
        "色": "node",
        "味": "node-2",
        "größe cm": "gr-e-cm",
        "größe/cm": "gr-e-cm-2",
        "gateway": "gateway-2",
        "z" * 200: "z" * 56,
        "y": "gateway",
    }


# --- what cannot be done -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ({"a": ["x0"], "b": NAMES[1:]}, "'z0' asks 'x0' of 'a' and 'x1' of 'b', and readings do"),
        (
            {"a": NAMES[:4]},
            "does not say where 'x4' is measured; each attribute of the model needs",
        ),
        (
            {"a": [*NAMES[:5], "X5"]},
            "does not say where 'x5' is measured; each attribute of the model needs a node; did "
            "you mean 'X5'",
        ),
        ({"a": NAMES, "b": ["x0"]}, "'x0' is placed at 'a' and at 'b'; it can be at one node only"),
        ({"a": NAMES, "b": ["z0"]}, "'z0' is placed at 'b', and what it asks is measured at 'a'"),
        ({"a": NAMES, "b": ["f"], "c": ["f"]}, "'f' is placed at 'b' and at 'c'"),
        ({"a": NAMES, "b": []}, "the placement of 'b' is empty; leave the node out"),
        ({"a": "x0"}, "the placement of 'a' must be a list of names. Got a value of type str"),
        ({"a": [5]}, "the placement of 'a' must be a list of names"),
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
        make_plan(model_of("nested fusions"), placement)


@pytest.mark.parametrize("about", [{"gateway": "a b"}, {"site": "+"}, {"site": "x\n"}])
def test_gateway_and_site_must_be_names(about):
    with pytest.raises(ParameterError, match="a node or site is named with"):
        make_plan(model_of("flat fusion"), **about)


def test_an_unknown_node_is_named_with_those_there_are():
    with pytest.raises(ParameterError, match="the plan has no node 'gatway'; did you mean 'gate"):
        make_plan(model_of("flat fusion")).node("gatway")


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


def test_a_placement_may_name_gateway_and_site(load):
    long = Placement({"a": ("x0",)}, "hub", "house")
    assert load("gateway: hub\nsite: house\nnodes:\n  a: [x0]\n", "p.yml") == long
    assert load('{"gateway": "hub", "site": "house", "nodes": {"a": ["x0"]}}', "p.json") == long
    assert load("nodes: {a: [x0]}").gateway == "gateway"
    assert load("nodes: [x0]") == Placement({"nodes": ("x0",)})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "maps each node's name to a list of names. Got a value of type NoneType"),
        ("- a", "Got a value of type list"),
        ("{}", "a placement needs at least one node"),
        ("nodes: {}", "a placement needs at least one node"),
        ("a: x0", "what is at 'a' must be a list of names. Got a value of type str instead."),
        ("a: []", "nothing is at 'a'; leave the node out"),
        ("a: [5]", "a name at 'a' must be text, in quotes where needed. Got 5 instead."),
        ("a: [[x]]", "Got a list of 1 instead."),
        ("a: [false]", "Got False instead."),
        ("o n: [x]", "a node or site is named with"),
        ("küche: [x]", "Got 'küche' instead."),
        ("site: house\na: [x]", "beside it, nodes go below 'nodes'"),
        ("sight: house\nnodes: {a: [x]}", "has no 'sight'; did you mean 'site'?"),
        ("site: 5\nnodes: {a: [x]}", "a node or site is named with"),
        ("a: [x]\na: [y]", "'a' stands there twice"),
        ("nodes:\n  a: [x]\n  a: [y]", "'a' stands there twice"),
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the placement is not whole JSON"),
        (b"\xff", "the placement is not text in UTF-8"),
        ('{"a": ["x"], "a": ["y"]}', "the key 'a' twice in one object"),
        ('{"nodes": {"a": ["x"], "a": ["y"]}}', "the key 'a' twice in one object"),
        ('{"a": [null]}', "Got None instead."),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_broken_json_is_named_with_its_file(load, text, words):
    with pytest.raises(ParameterError, match=re.escape(words)) as caught:
        load(text, "p.json")
    assert "p.json: " in str(caught.value)


def test_another_kind_of_file_is_refused(load):
    with pytest.raises(ParameterError, match=r"read from \.json, \.yaml, \.yml\. Got '\.txt'"):
        load("a: [x]", "p.txt")
