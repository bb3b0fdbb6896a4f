import json
import sys

import jsonschema
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.exceptions import ModelFormatError, ModelVersionError, SolahError
from solah.model.format import MAX_BYTES, from_json, to_json
from solah.model.schema import model_schema

IRIS = LinguisticTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)).model_
DIABETES = LinguisticTreeRegressor(max_depth=2).fit(*load_diabetes(return_X_y=True)).model_
ADDED = (
    SelfOrganisedHierarchyClassifier(
        groups={"z": ["x0", "x1", "x2"]}, interactions=0, max_rules=None, thresholds={0: 0.2}
    )
    .fit(*load_iris(return_X_y=True))
    .model_
)


def documents():
    mixed = LinguisticTreeClassifier(kinds={"x1": "categorical"}).fit(
        [["a", 1, 2.5, None], ["b", 2, np.nan, None], ["c", 3, 4.5, None], ["a", 2, 0.5, None]],
        [True, False, True, False],
    )
    return [IRIS, DIABETES, mixed.model_, ADDED]


@pytest.mark.parametrize("model", documents())
def test_a_document_survives_the_round_trip(model):
    text = to_json(model)
    assert from_json(text.encode()) == model
    assert to_json(from_json(text.encode())) == text


@pytest.mark.parametrize("model", documents())
def test_the_schema_that_ships_accepts_what_is_written(model):
    jsonschema.Draft202012Validator.check_schema(model_schema())
    jsonschema.validate(json.loads(to_json(model)), model_schema())


def test_a_document_is_read_line_by_line_by_people():
    lines = to_json(IRIS).splitlines()
    assert lines[1] == '  "format": "solah-model",'
    assert sum('"split"' in line or '"support"' in line for line in lines) == len(
        IRIS.trees[0].split
    )


def iris_document():
    return json.loads(to_json(IRIS))


def change(path, value):
    """Return the iris document with one value replaced."""
    document = iris_document()
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document).encode()


NODES = ("trees", 0, "nodes")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "pickle", "not a solah model"),
        (("version",), "1", "version must be an integer"),
        (("version",), True, "version must be an integer"),
        (("task",), "clustering", "task must be one of 'classification', 'regression'"),
        (("colour",), 1, "has 'colour'"),
        (("attributes",), [], "must have between 1 and .* items"),
        (("attributes", 0, "name"), "x1", "one name twice"),
        (("attributes", 0, "name"), 7, r"attributes\[0\].name must be a text"),
        (("attributes", 0, "kind"), "vague", "kind must be one of"),
        (("attributes", 0, "peaks"), [1, 2], "must have 5 items. Got 2"),
        (("attributes", 0, "peaks"), [1, 2, 2, 3, 4], "increasing"),
        (("attributes", 0, "peaks"), [1, 2, "3", 4, 5], r"peaks\[2\] must be a number"),
        (("attributes", 0, "peaks"), [1, 2, 3, 4, 10**400], r"peaks\[4\] must be a finite"),
        (("attributes", 0, "peaks"), [1, 2, 3, 4, 1e37], r"from -1e\+36 to 1e\+36. Got 1e\+37"),
        (("attributes", 0, "peaks"), [0, 1e-31, 1, 2, 3], "at least 1e-30 apart"),
        (("attributes", 0, "ignorance"), [1, 1, 1, 1, 1], "sum to 1"),
        (("attributes", 0, "ignorance"), [2, -1, 0, 0, 0], "finite number from 0"),
        (("attributes", 0, "words"), ["low", "low", "high"], "without repetition"),
        (("goal", "states"), [], "must have between 1 and 254 items"),
        (("goal", "states"), [0, 1], "must have 2 items"),
        (("goal", "states"), [0, 1, "a"], "all texts, all numbers or all truth values"),
        (("goal", "states"), [1, 1.0, 2], "without repetition"),
        (("goal", "states"), [0, False, 3], "all numbers or all truth values"),
        (("goal", "states"), [2**63, 1, 2], "one array of NumPy"),
        (("goal", "states"), [2**53 + 1, 2.0**53, 0], "one array of NumPy"),
        (("goal", "states"), [2**53 + 1, 1e16, 0], "one array of NumPy"),
        (("goal", "states"), ["a", "a\0", "b"], "one array of NumPy"),
        (("goal", "states"), [0, 1, 1e37], r"from -1e\+36 to 1e\+36"),
        (("goal", "states"), [0, 1, 2**64], "an integer from"),
        (("goal", "states"), [0, 1, 10**400], "an integer from"),
        (("goal", "states"), [0, 1, None], r"states\[2\] must be a number"),
        (("trees",), [], "must have between 1 and"),
        (
            ("trees", 0, "inputs"),
            ["x0", "x9"],
            "names 'x9', which is neither an attribute nor a tree before it",
        ),
        ((*NODES, 0, "first_child"), 0, "first_child must be an integer from 1"),
        ((*NODES, 0, "first_child"), 10**9, "first_child must be an integer from 1"),
        ((*NODES, 0, "first_child"), 2, "has no parent|no other node has"),
        ((*NODES, 0, "split"), "x9", "one of the tree's inputs"),
        ((*NODES, 0, "belief"), [1.0], "must have 3 items"),
        ((*NODES, 0, "support"), -1, "finite number from 0"),
        ((*NODES, 0, "support"), float("nan"), "finite number"),
        ((*NODES, 0, "support"), 1e121, r"from 0 to 1e\+120"),
        ((*NODES, 0, "support"), 1e-121, "0 or a number from 1e-120 on"),
        ((*NODES, 0, "belief"), [float("inf"), 0, 0], r"belief\[0\] must be a finite number"),
        ((*NODES, 1, "first_child"), 3, "has 'first_child'"),
        (("attributes", 0, "words"), [0] * 1000, "between 1 and 127 items. Got 1000"),
        (("attributes", 0, "words"), ["low", "", "high"], r"words\[1\] must be a text"),
        (("attributes", 0, "words"), ["low", "\ud800", "high"], "whole characters"),
        (("attributes", 0, "low"), 100, "high must be a finite number from 100"),
        (("attributes", 0, "high"), 1e308, r"from 4.3 to 1e\+36. Got 1e\+308"),
        (("attributes", 0, "low"), -1e37, r"low must be a finite number from -1e\+36"),
        (
            ("attributes", 0),
            {"name": "x0", "kind": "binary", "states": [1, 2, 3], "ignorance": [0.2, 0.3, 0.5]},
            "at most two states",
        ),
        (("x" * 100_000,), 1, "has 'x{58}…; there are|has 'xxxx"),
        (NODES, [], "must have between 1 and"),
        (NODES, {"a": 1}, "must be a list"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(path, value, message):
    with pytest.raises(ModelFormatError, match=message):
        from_json(change(path, value))


def test_a_cycle_and_a_shared_child_are_refused():
    document = iris_document()
    nodes = document["trees"][0]["nodes"]
    splits = [i for i, node in enumerate(nodes) if "split" in node]
    nodes[splits[2]]["first_child"] = nodes[splits[1]]["first_child"]
    with pytest.raises(ModelFormatError, match="no other node has"):
        from_json(json.dumps(document).encode())
    nodes[splits[2]]["first_child"] = splits[2]
    with pytest.raises(ModelFormatError, match="first_child must be an integer"):
        from_json(json.dumps(document).encode())


def test_a_branch_longer_than_there_are_inputs_is_refused():
    """Nobody learns it, and its rules would take time that grows with the square of the file."""
    leaf = {"support": 1.0, "belief": [1.0, 0.0, 0.0]}
    nodes = [
        leaf | {"split": "x0", "first_child": i + 1} if i % 5 == 0 and i < 100 else leaf
        for i in range(101)
    ]
    with pytest.raises(ModelFormatError, match="a branch has at most 4 splits"):
        from_json(change(NODES, nodes))


def test_a_key_that_is_there_twice_is_refused():
    text = to_json(IRIS).replace('"task":', '"version": 1, "task":')
    with pytest.raises(ModelFormatError, match="the key 'version' twice"):
        from_json(text.encode())


def test_a_missing_key_is_named():
    document = iris_document()
    del document["goal"]
    with pytest.raises(ModelFormatError, match="has no 'goal'"):
        from_json(json.dumps(document).encode())


def test_a_newer_version_asks_for_a_newer_solah():
    with pytest.raises(ModelVersionError, match="format version 99.*pip install --upgrade solah"):
        from_json(change(("version",), 99))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not whole JSON"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"[" * 5_000_000, "more than 4,194,304 lists and objects"),
        (b" " * (MAX_BYTES + 1), "more than the limit"),
        (b"\xff\xfe\x00", "UTF-8"),
        (to_json(IRIS).encode("utf-16"), "UTF-8"),
        (b"\x80abc", "UTF-8"),
        (b"9" * 10_000, "readable JSON"),
        (b"null", "not a solah model"),
        (b'"solah-model"', "not a solah model"),
    ],
)
def test_hostile_bytes_get_a_clear_error(data, message):
    with pytest.raises(ModelFormatError, match=message):
        from_json(data)


@given(st.integers(0, len(to_json(IRIS)) - 3))
def test_every_truncation_is_noticed(length):
    with pytest.raises(ModelFormatError):
        from_json(to_json(IRIS).encode()[:length])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value, path=()):
    """List the paths to all values of a document."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        found += [place for key, inner in items for place in places(inner, (*path, key))]
    return found


@settings(max_examples=300)
@given(st.sampled_from(places(iris_document())), json_values)
@example(("goal",), {"name": "y", "states": [0, 1, 2], "thresholds": []})
def test_any_value_anywhere_either_loads_or_is_refused_clearly(path, value):
    try:
        model = from_json(change(path, value))
    except SolahError:
        return
    assert from_json(to_json(model).encode()) == model


def hierarchy_document():
    X, y = load_iris(return_X_y=True)
    wiring = "z1 <- x0, x1; z2 <- x2; y <- z1, z2, x3"
    tree = LinguisticTreeClassifier(max_depth=2)
    model = LinguisticHierarchyClassifier(wiring, tree=tree).fit(X, y).model_
    return json.loads(to_json(model))


def test_a_hierarchy_survives_the_round_trip_and_fits_the_schema():
    document = hierarchy_document()
    jsonschema.validate(document, model_schema())
    model = from_json(json.dumps(document).encode())
    assert [tree.name for tree in model.trees] == ["z1", "z2", "y"]
    assert from_json(to_json(model).encode()) == model


@pytest.mark.parametrize(
    ("change_trees", "message"),
    [
        (lambda trees: trees[:2], "has 'z1', which feeds no tree"),
        (lambda trees: [trees[2], trees[0], trees[1]], "names 'z1', which is neither"),
        (
            lambda trees: [
                *trees,
                trees[2] | {"name": "top", "inputs": ["z1"], "nodes": trees[0]["nodes"][-1:]},
            ],
            "takes 'z1', as another",
        ),
        (lambda trees: [trees[0] | {"name": "x3"}, *trees[1:]], "'x3' is taken already"),
        (lambda trees: [trees[0], trees[1] | {"name": "z1"}, trees[2]], "'z1' is taken already"),
    ],
)
def test_trees_that_are_wired_wrongly_are_refused(change_trees, message):
    document = hierarchy_document()
    document["trees"] = change_trees(document["trees"])
    with pytest.raises(ModelFormatError, match=message):
        from_json(json.dumps(document).encode())


def added_document():
    return json.loads(to_json(ADDED))


def spoil(document, **changes):
    document["trees"][-1] |= changes
    return document


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adds": []}, r"adds must have between 1 and"),
        ({"adds": ["x9"]}, "the name of a tree before this one"),
        ({"adds": ["z", "z"]}, "without repetition"),
        ({"adds": ["z"]}, "'evidence of x3', which feeds no tree"),
        ({"adds": [3]}, r"adds\[0\] must be"),
        ({"bias": [0.0, 1e308, 0.0]}, r"bias\[1\] must be a finite number"),
        ({"bias": [0.0, 1.0]}, r"bias must have 3 items"),
        ({"strength": 3}, "has 'strength'"),
    ],
)
def test_a_broken_fusion_is_refused(changes, message):
    data = json.dumps(spoil(added_document(), **changes)).encode()
    with pytest.raises(ModelFormatError, match=message):
        from_json(data)


@pytest.mark.parametrize(
    "thresholds", [[0.5, 0.5], [0.0, 0.5, 0.5], [0.3, 0.3, 0.3], ["a"] * 3, [1e-13, 0.5, 0.5]]
)
def test_broken_thresholds_are_refused(thresholds):
    document = added_document()
    document["goal"]["thresholds"] = thresholds
    with pytest.raises(ModelFormatError, match="thresholds"):
        from_json(json.dumps(document).encode())


def test_a_tree_may_have_a_fusion_as_input():
    document = added_document()
    root = document["trees"].pop()
    fusion = next(tree for tree in document["trees"] if tree["name"] == "z")
    fusion["bias"] = root["bias"]
    inputs = ["z", document["attributes"][0]["name"]]
    tree = {"name": "y", "inputs": inputs, "nodes": [{"support": 1.0, "belief": [1.0, 0, 0]}]}
    document["trees"] = [tree for tree in document["trees"] if tree["name"] != "evidence of x3"] + [
        tree
    ]
    assert from_json(json.dumps(document).encode()).trees[-1].inputs[0].n_focal_sets == 3
    assert root["adds"][0] == "z"


def many_trees(n_trees):
    """Write a document of a fusion over many trees, each over an attribute of its own."""
    leaf = {"support": 1.0, "belief": [0.5, 0.5], "scores": [0.0, 0.0]}
    kind = {"kind": "binary", "states": ["off", "on"], "ignorance": [0.5, 0.5]}
    trees = [{"name": f"z{i}", "inputs": [f"x{i}"], "nodes": [leaf]} for i in range(n_trees)]
    document = {
        "format": "solah-model",
        "version": 2,
        "generator": "a test",
        "task": "classification",
        "goal": {"name": "y", "states": ["no", "yes"], "prior": [0.5, 0.5]},
        "attributes": [{"name": f"x{i}", **kind} for i in range(n_trees)],
        "trees": [
            *trees,
            {"name": "y", "adds": [tree["name"] for tree in trees], "bias": [0.0, 0.0]},
        ],
    }
    return json.dumps(document).encode()


def steps_of(work):
    """Count the instructions of the interpreter that some work takes."""
    n_steps = 0

    def trace(frame, event, _):
        nonlocal n_steps
        frame.f_trace_opcodes = True
        n_steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return n_steps


def test_reading_costs_in_proportion_to_the_trees():
    few, more, most = (steps_of(lambda n=n: from_json(many_trees(n))) for n in (20, 40, 60))
    assert most - more == pytest.approx(more - few, rel=0.01)
