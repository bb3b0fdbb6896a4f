"""Model files: what is written is read back, and what is wrong is refused with its place."""

import copy
import json
import re
import sys
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris

from model_schema import model_schema
from random_models import any_model, random_model, random_number_model, random_rows
from small_models import room_model
from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.exceptions import ModelFormatError, ModelVersionError, SolahError
from solah.model import FeatureGroup, MissingRule, Monotonic, Term, TermInput
from solah.model.evaluate import run
from solah.model.format import MAX_BYTES, from_json, to_json
from solah.model.provenance import Intervals

SCHEMA = jsonschema.Draft202012Validator(model_schema())
SEEDS = st.integers(0, 10_000)


def additive_model():
    """Return rules on CO2 and a door, with a pair, a group, a missing rule and a constraint."""
    model = room_model()
    (node,) = model.nodes
    air, door = node.terms
    rule = MissingRule(4.0, (0.5, 0.5), (0.1, -0.1))
    inputs = TermInput(air.inputs[0].feature, ((0,), (1, 2))), door.inputs[0]
    weights = np.array([[[0.2, -0.2], [-0.1, 0.1]], [[0.0, 0.0], [-0.3, 0.3]]])
    pair = Term(inputs, weights, np.full((2, 2, 2), 0.5), np.full((2, 2), 30.0), 0.1)
    terms = replace(air, missing=rule), door, replace(pair, pinned=frozenset({(1, 0)}))
    node = replace(node, terms=terms, groups=(FeatureGroup("air", (0, 2)),))
    return replace(model, nodes=(node,), monotonic=(Monotonic("CO2", 1, 1),))


def tree_model():
    return LinguisticTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)).model_


def number_tree():
    return LinguisticTreeRegressor(max_depth=2).fit(*load_diabetes(return_X_y=True)).model_


def odd_tree():
    """Return a tree over categories, numbers with gaps, and a column without any value."""
    rows = [["a", 1, 2.5, None], ["b", 2, np.nan, None], ["c", 3, 4.5, None], ["a", 2, 0.5, None]]
    classifier = LinguisticTreeClassifier(feature_types={"x1": "categorical"})
    return classifier.fit(rows, [True, False, True, False]).model_


MODELS = {
    "additive": additive_model(),
    "tree": tree_model(),
    "number by a tree": number_tree(),
    "number by terms": random_number_model(np.random.default_rng(0)),
    "number by its logarithm": replace(
        random_number_model(np.random.default_rng(0), link="log"),
        intervals=Intervals((-1.5, -0.25, 0.5, 2.0), 2),
    ),
    "odd tree": odd_tree(),
    "hierarchy": random_model(np.random.default_rng(1), "masses", 3),
    "words": random_model(np.random.default_rng(2), "words", 3),
    "over a sum": random_model(np.random.default_rng(3), "over a sum", 2),
}
DOCUMENTS = {name: json.loads(to_json(model)) for name, model in MODELS.items()}


# --- round trip -------------------------------------------------------------------------------


def check_round_trip(model):
    text = to_json(model)
    again = from_json(text.encode())
    assert again == model
    assert to_json(again) == text
    SCHEMA.validate(json.loads(text))


def test_a_model_survives_the_round_trip_and_fits_the_schema():
    for model in MODELS.values():
        check_round_trip(model)


@settings(max_examples=100)
@given(SEEDS)
def test_any_model_survives_the_round_trip_and_fits_the_schema(seed):
    check_round_trip(any_model(seed))


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(model_schema())


@pytest.mark.parametrize("name", ["additive", "tree"])
def test_a_file_has_a_line_for_each_rule(name):
    model, lines = MODELS[name], to_json(MODELS[name]).splitlines()
    assert lines[1] == '  "format": "solah-model",'
    n_rules = model.n_rules if name == "additive" else len(model.root.branches)
    assert sum('{"if": ' in line for line in lines) == n_rules


# --- what is wrong is refused -------------------------------------------------------------------


def changed(name, change):
    """Return a document after a change: a function of it, or a path and a value."""
    document = copy.deepcopy(DOCUMENTS[name])
    if callable(change):
        change(document)
        return document
    *path, last, value = change
    inner = document
    for key in path:
        inner = inner[key]
    inner[last] = value
    return document


def refuse(document, message):
    with pytest.raises(ModelFormatError) as error:
        from_json(json.dumps(document).encode())
    assert re.search(message, str(error.value)), str(error.value)


HEAD = [
    (("format", "pickle"), "not a solah model"),
    (("version", "1"), "version must be an integer"),
    (("version", True), "version must be an integer"),
    (("task", "clustering"), "task must be one of 'classification', 'regression'"),
    (("colour", 1), "has 'colour'"),
    (("x" * 100_000, 1), "has 'x{58}…"),
    (("nodes", []), "nodes must have between 1 and"),
    (("nodes", {"a": 1}), "nodes must be a list"),
    (("nodes", [7]), r"nodes\[0\] must be"),
    (lambda d: d.pop("target"), "has no 'target'"),
    (("features", []), "features must have between 1 and .* items"),
    (("features", 0, "name", "x1"), "features has one name twice"),
    (("features", 0, "name", 7), r"features\[0\].name must be a text"),
    (("features", 0, "type", "vague"), r"features\[0\].type must be one of"),
    (("features", 0, "peaks", [1, 2]), "must have 5 items. Got 2"),
    (("features", 0, "peaks", [1, 2, 2, 3, 4]), "increasing"),
    (("features", 0, "peaks", [1, 2, "3", 4, 5]), r"peaks\[2\] must be a number"),
    (("features", 0, "peaks", [1, 2, 3, 4, 10**400]), r"peaks\[4\] must be a finite"),
    (("features", 0, "peaks", [1, 2, 3, 4, 1e37]), r"from -1e\+36 to 1e\+36. Got 1e\+37"),
    (("features", 0, "peaks", [0, 1e-31, 1, 2, 3]), "at least 1e-30 apart"),
    (("features", 0, "ranges", [[None, None]]), "has 'peaks'"),
    (("features", 0, "missing", [1, 1, 1, 1, 1]), "missing must be numbers that sum to 1"),
    (("features", 0, "missing", [2, -1, 0, 0, 0]), "finite number from 0"),
    (("features", 0, "words", ["low", "low", "high"]), "without repetition"),
    (("features", 0, "words", [0] * 1000), "between 1 and 127 items. Got 1000"),
    (("features", 0, "words", ["low", "", "high"]), r"words\[1\] must be a text"),
    (("features", 0, "words", ["low", "\ud800", "high"]), "whole characters"),
    (("features", 0, "low", 100), "high must be a finite number from 100"),
    (("features", 0, "high", 1e308), r"from 4.3 to 1e\+36. Got 1e\+308"),
    (("features", 0, "low", -1e37), r"low must be a finite number from -1e\+36"),
    (("features", 0, "moved", False), "moved must be true, or absent"),
    (
        ("features", 0, {"name": "x0", "type": "binary", "categories": [1, 2, 3], "missing": [1]}),
        "at most two categories",
    ),
    (("target", "classes", []), "must have between 1 and 254 items"),
    (("target", "classes", [0, 1]), "must have 2 items"),
    (("target", "classes", [0, 1, "a"]), "all texts, all numbers or all booleans"),
    (("target", "classes", [1, 1.0, 2]), "without repetition"),
    (("target", "classes", [0, False, 3]), "all numbers or all booleans"),
    (("target", "classes", [2**63, 1, 2]), "one array of NumPy"),
    (("target", "classes", [2**53 + 1, 2.0**53, 0]), "one array of NumPy"),
    (("target", "classes", ["a", "a\0", "b"]), "one array of NumPy"),
    (("target", "classes", [0, 1, 1e37]), r"from -1e\+36 to 1e\+36"),
    (("target", "classes", [0, 1, 2**64]), "an integer from"),
    (("target", "classes", [0, 1, None]), r"classes\[2\] must be a number"),
    (("target", "thresholds", [0.5, 0.5]), r"target.thresholds must have 3 items"),
    (("target", "thresholds", [0.0, 0.5, 0.5]), r"target.thresholds\[0\] must be a finite number"),
    (("target", "thresholds", [0.3, 0.3, 0.3]), r"target.thresholds must be numbers that sum to 1"),
    (("target", "thresholds", ["a"] * 3), r"target.thresholds\[0\] must be a number"),
]


def test_a_wrong_head_is_refused():
    for change, message in HEAD:
        refuse(changed("tree", change), message)


NODE = ("nodes", 0)
CO2, DOOR, PAIR = ((*NODE, "terms", term, "rules") for term in range(3))


def on(path, act):
    """Return a change that calls a function with the list at a path."""

    def change(document):
        for key in path:
            document = document[key]
        act(document)

    return change


def swap(i, j):
    def act(items):
        items[i], items[j] = items[j], items[i]

    return act


def second_lines(words):
    def act(rules):
        for rule in rules[2:]:
            rule["if"][0][1] = words

    return act


TERMS = [
    # the grid
    (on(CO2, lambda r: r.pop(1)), r"terms\[0\] must use each word of 'CO2' once"),
    (on(PAIR, lambda r: r.pop(1)), r"terms\[2\].rules must be one rule for each combination"),
    (on(PAIR, lambda r: r.pop()), r"terms\[2\].rules must be one rule for each combination"),
    (on(CO2, lambda r: r.insert(0, r[0])), r"terms\[0\].rules must be one rule for each"),
    (on(PAIR, lambda r: r.append(r[0])), r"terms\[2\].rules must be one rule for each"),
    (on(PAIR, swap(0, 1)), r"terms\[2\] must use each word of 'door' once, and in their order"),
    (on(PAIR, swap(2, 3)), r"terms\[2\].rules must be one rule for each combination"),
    (on(CO2, swap(0, 1)), r"terms\[0\] must use each word of 'CO2' once"),
    (on(DOOR, swap(0, 1)), r"terms\[1\] must use each word of 'door' once, and in their order"),
    (on(PAIR, second_lines(["low", "medium", "high"])), r"terms\[2\] must use each word of 'CO2'"),
    (on(PAIR, second_lines("medium")), r"terms\[2\] must use each word of 'CO2' once"),
    (on(PAIR, second_lines(["high", "medium"])), r"rules\[2\].if\[0\]\[1\] must be words in their"),
    (on(PAIR, second_lines(["high", "high"])), r"rules\[2\].if\[0\]\[1\] must be words in their"),
    (on(PAIR, second_lines(["high"])), r"rules\[2\].if\[0\]\[1\] must have between 2 and 3 items"),
    (on(PAIR, second_lines(None)), r"terms\[2\] must use each word of 'CO2' once"),
    (on(CO2, swap(2, 3)), r"terms\[0\] must use each word of 'CO2' once"),
    (on(CO2, lambda r: r.append(r[-1])), r"terms\[0\] must use each word of 'CO2' once"),
    ((*CO2, []), r"terms\[0\].rules must have between 1 and"),
    # conditions
    ((*CO2, 0, "if", 0, 1, "lwo"), r"rules\[0\].if\[0\]\[1\] must be a word of 'CO2'.*mean 'low'"),
    ((*DOOR, 1, "if", 0, 1, "ajar"), r"rules\[1\].if\[0\]\[1\] must be a category of 'door'"),
    ((*DOOR, 1, "if", 0, 1, 7), r"rules\[1\].if\[0\]\[1\] must be a category of 'door'"),
    ((*DOOR, 1, "if", 0, 1, {}), r"rules\[1\].if\[0\]\[1\] must be"),
    ((*DOOR, 1, "if", 0, 0, "CO2"), r"rules\[1\].if must be conditions on the features of the"),
    ((*DOOR, 0, "if", 0, 0, "dor"), r"rules\[0\].if\[0\]\[0\] names 'dor'.*did you mean 'door'"),
    ((*DOOR, 0, "if", []), r"rules\[0\].if must have between 1 and 2 items"),
    ((*PAIR, 0, "if", [["CO2", "low"]] * 3), r"rules\[0\].if must have between 1 and 2 items"),
    ((*PAIR, 0, "if", [["CO2", "low"]] * 2), r"rules\[0\].if must be conditions on different"),
    ((*PAIR, 1, "if", [["CO2", "low"]]), r"rules\[1\].if must be conditions on the features"),
    ((*DOOR, 0, "if", 0, ["door"]), r"rules\[0\].if\[0\] must have 2 items"),
    (on((*NODE, "terms"), lambda t: t.append(t[1])), r"terms\[3\] has the features of another"),
    # numbers
    ((*CO2, 0, "weights", [0.5]), r"rules\[0\].weights must have 2 items"),
    ((*CO2, 0, "weights", [1e7, 0.0]), r"weights\[0\] must be a finite number from -1e\+06 to"),
    ((*CO2, 0, "weights", [float("nan"), 0.0]), r"weights\[0\] must be a finite number"),
    ((*CO2, 0, "shares", [0.5, 0.6]), r"rules\[0\].shares must be numbers that sum to 1"),
    ((*CO2, 0, "shares", [1.5, -0.5]), r"shares\[0\] must be a finite number from 0 to 1"),
    ((*CO2, 0, "mean", 3.0), r"rules\[0\] has 'mean'"),
    (on((*CO2, 0), lambda r: r.pop("shares")), r"rules\[0\] has no 'shares'"),
    ((*CO2, 0, "rows", -1), r"rules\[0\].rows must be a finite number from 0"),
    ((*CO2, 0, "rows", 1e121), r"rules\[0\].rows must be a finite number from 0 to 1e\+120"),
    ((*CO2, 0, "rows", 1e-121), r"rules\[0\].rows must be 0 or a number from 1e-120 on"),
    ((*CO2, 0, "pinned", False), r"rules\[0\].pinned must be true, or absent"),
    ((*NODE, "terms", 0, "variance", -1), r"terms\[0\].variance must be a finite number from 0"),
    ((*NODE, "terms", 0, "variance", 1e13), r"terms\[0\].variance must be .* to 1e\+12"),
    ((*NODE, "baseline", [0.0]), r"nodes\[0\].baseline must have 2 items"),
    ((*NODE, "baseline", [0.0, 1e308]), r"nodes\[0\].baseline\[1\] must be a finite number"),
    (
        lambda d: [
            on(rules, lambda r: r[0].update(weights=[6e5, -6e5]))(d) for rules in (CO2, DOOR)
        ],
        r"terms\[1\]: the largest weights up to here come to 1.2e\+06, and may come to 1e\+06",
    ),
    (("target", "shares", [0.5, 0.6]), "target.shares must be numbers that sum to 1"),
    (on(("target",), lambda t: t.pop("shares")), "target needs shares, for there are terms"),
    # features
    (("features", 0, "ranges", [[None, 6], [7, 9]]), r"features\[0\].ranges must have 3 items"),
    (("features", 0, "ranges", [[0, 6], [7, 9], [10, None]]), "the first from null"),
    (("features", 0, "ranges", [[None, 6], [9, 7], [10, None]]), "increasing intervals"),
    (("features", 0, "ranges", [[None, 6], [6, 9], [10, None]]), "increasing intervals"),
    # groups, names, constraints
    (
        (*NODE, "groups", 0, "terms", [0, 9]),
        r"groups\[0\].terms\[1\] must be an integer from 0 to 2",
    ),
    (
        (*NODE, "groups", 0, "terms", [0, 0]),
        r"groups\[0\].terms must be ascending numbers of terms",
    ),
    (
        (*NODE, "groups", 0, "terms", [2, 0]),
        r"groups\[0\].terms must be ascending numbers of terms",
    ),
    ((*NODE, "groups", 0, "terms", []), r"groups\[0\].terms must have between 1 and 3 items"),
    ((*NODE, "groups", []), r"groups must have between 1 and"),
    (
        on((*NODE, "groups"), lambda g: g.append({"name": "other", "terms": [2]})),
        r"groups\[1\].terms must be ascending numbers of terms that no other group has",
    ),
    ((*NODE, "groups", 0, "name", "door"), r"groups\[0\].name 'door' is taken already"),
    ((*NODE, "groups", 0, "name", "occupied"), r"groups\[0\].name 'occupied' is taken already"),
    ((*NODE, "name", "CO2"), r"nodes\[0\].name 'CO2' is taken already"),
    (("monotonic", 0, "direction", 0), r"monotonic\[0\].direction must be 1 or -1"),
    (("monotonic", 0, "direction", -1), "monotonic is not kept"),
    (("monotonic", 0, "feature", "door"), "not kept: the categories of 'door' have no order"),
    (("monotonic", 0, "class", 2), r"monotonic\[0\].class must be an integer from 0 to 1"),
    (("monotonic", 0, "feature", "floor"), "monotonic is not kept: .*'floor'"),
]


def test_wrong_terms_are_refused():
    for change, message in TERMS:
        refuse(changed("additive", change), message)


BRANCHES = (*NODE, "rules")


def first_with(rules, n_conditions):
    return next(rule for rule in rules if len(rule["if"]) == n_conditions)


TREES = [
    (on(BRANCHES, lambda r: r.pop(0)), r"rules\[0\] does not fit: no rule covers set 0"),
    (on(BRANCHES, lambda r: r.pop()), r"does not fit: no rule covers set 4"),
    (on(BRANCHES, lambda r: r.append(r[0])), r"does not fit: another rule has the same conditions"),
    (
        on(BRANCHES, lambda r: r[-1]["if"].reverse() or r[-1]["if"][0].__setitem__(0, "x1")),
        r"does not fit: rules with the same first conditions ask differently",
    ),
    (
        on(BRANCHES, lambda r: first_with(r, 2)["if"].pop()),
        r"does not fit: (rules with the same first conditions ask differently|another rule)",
    ),
    ((*BRANCHES, 0, "if", 0, 1, [["lwo"]]), r"rules\[0\].if\[0\]\[1\]\[0\] must be the words of a"),
    (
        (*BRANCHES, 0, "if", 0, 1, [["low", "high"]]),
        r"if\[0\]\[1\]\[0\] must be the words of a focal",
    ),
    ((*BRANCHES, 0, "if", 0, 1, "low"), r"rules\[0\].if\[0\]\[1\] must be a list"),
    (
        (*BRANCHES, 0, "if", 0, 1, [["low", "medium"], ["low"]]),
        r"rules\[0\].if\[0\]\[1\] must be focal sets in their order, each once",
    ),
    (
        on(
            BRANCHES,
            lambda r: first_with(r, 2)["if"][0].__setitem__(1, [["low"], ["low", "medium"]]),
        ),
        r"if\[0\]\[1\] must be one focal set: only the last condition may have several",
    ),
    (
        on(BRANCHES, lambda r: first_with(r, 2)["if"].append(first_with(r, 2)["if"][0])),
        r"if\[2\]\[0\] must be one of the node's inputs that no condition before names",
    ),
    ((*BRANCHES, 0, "if", 0, 0, "x9"), r"rules\[0\].if\[0\]\[0\] must be one of the node's inputs"),
    (
        (*BRANCHES, 0, "if", [["x0", [["low"]]]] * 9),
        r"rules\[0\].if must have between 0 and 4 items",
    ),
    ((*BRANCHES, 0, "belief", [1.0]), r"rules\[0\].belief must have 3 items"),
    ((*BRANCHES, 0, "belief", [float("inf"), 0, 0]), r"belief\[0\] must be a finite number"),
    ((*BRANCHES, 0, "belief", [0.5, 0.5, 0.5]), r"rules\[0\].belief must be numbers that sum to 1"),
    ((*BRANCHES, 0, "rows", float("nan")), r"rules\[0\].rows must be a finite number"),
    ((*BRANCHES, 0, "weights", [0, 0, 0]), r"rules\[0\] has 'weights'"),
    ((*NODE, "start", [0.5, 0.5]), r"nodes\[0\].start must have 3 items"),
    ((*NODE, "inputs", ["x0", "x9"]), r"inputs\[1\] names 'x9', which is neither a feature nor a"),
    ((*NODE, "inputs", ["x0", "x0"]), r"nodes\[0\].inputs must be a list without repetition"),
    ((*BRANCHES, []), r"nodes\[0\].rules must have between 1 and"),
    ((*NODE, "variance", 1.0), r"nodes\[0\] has 'variance'"),
]


def test_wrong_trees_are_refused():
    for change, message in TREES:
        refuse(changed("tree", change), message)


def ranged(feature):
    """Give a feature words with ranges."""
    feature.pop("peaks")
    ranges = [[None, 1.0], [2.0, 3.0], [4.0, None]]
    feature.update(ranges=ranges, words=["a", "b", "c"], missing=[0.25] * 4)


def test_trees_refuse_words_with_ranges_and_terms_words_that_overlap():
    document = changed("tree", on(("features", 0), ranged))
    refuse(document, r"nodes\[0\].inputs names 'x0', whose words have ranges")
    document = changed("over a sum", lambda d: None)
    condition = document["nodes"][0]["terms"][0]["rules"][0]["if"][0]
    overlapping = next(one["name"] for one in document["features"] if "peaks" in one)
    condition[0] = overlapping
    refuse(document, r"if\[0\]\[0\] must be a feature whose words have ranges, or one with categor")


HIERARCHY = [
    (lambda nodes: nodes.pop(), "nodes has 'z0', which feeds no node"),
    (lambda nodes: nodes.insert(0, nodes.pop()), r"nodes\[0\].inputs\[0\] names 'z0', which is"),
    (
        lambda nodes: nodes.append(
            nodes[0]
            | {"name": "top", "inputs": ["z0"], "rules": [nodes[0]["rules"][0] | {"if": []}]}
        ),
        r"nodes\[3\] uses 'z0', as another node does",
    ),
    (lambda nodes: nodes[0].update(name="x3"), r"nodes\[0\].name 'x3' is taken already"),
    (lambda nodes: nodes[1].update(name="z0"), r"nodes\[1\].name 'z0' is taken already"),
]


def test_nodes_that_are_wired_wrongly_are_refused():
    for change, message in HIERARCHY:
        refuse(changed("hierarchy", on(("nodes",), change)), message)


def test_words_about_a_probability_stay_between_0_and_1():
    document = changed("over a sum", lambda d: None)
    for peaks in ([-0.2, 0.1, 0.5, 0.6, 0.9], [0.0, 0.25, 0.5, 0.75, 1.5]):
        document["nodes"][1]["beliefs"][0]["peaks"] = peaks
        refuse(document, r"nodes\[1\].beliefs\[0\].peaks must be numbers from 0 to 1")


def test_numbers_that_terms_add_up_to_have_no_trees():
    document = changed("number by terms", lambda d: None)
    tree = {"name": "t", "inputs": ["x2"], "start": [1.0], "rules": []}
    tree["rules"] = [{"if": [], "belief": [1.0], "rows": 1.0}]
    refuse(document | {"nodes": [tree]}, "nodes must end with terms: the target is a number")
    refuse(document | {"nodes": [tree, *document["nodes"]]}, "nodes must have 1 items")
    node = document["nodes"][0]
    node["terms"][0]["rules"][0]["shares"] = [1.0]
    refuse(document, r"terms\[0\].rules\[0\] has 'shares'")


def test_numbers_that_trees_predict_have_no_terms():
    document = changed("number by a tree", lambda d: None)
    size = len(document["target"]["centres"])
    node = {"name": "s", "baseline": [0.0] * size, "terms": []}
    refuse(document | {"nodes": [node]}, r"nodes\[0\] must be a tree: the target has words")


def test_a_key_that_is_there_twice_is_refused():
    text = to_json(MODELS["tree"]).replace('"task":', '"version": 1, "task":')
    with pytest.raises(ModelFormatError, match="the key 'version' twice"):
        from_json(text.encode())


def test_another_version_asks_for_another_solah():
    with pytest.raises(ModelVersionError, match="format version 99.*pip install --upgrade solah"):
        from_json(json.dumps(changed("tree", ("version", 99))).encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"[" * 5_000_000, "more than 4,194,304 lists and objects"),
        (b" " * (MAX_BYTES + 1), "more than the limit"),
        (b"\xff\xfe\x00", "UTF-8"),
        (to_json(MODELS["tree"]).encode("utf-16"), "UTF-8"),
        (b"\x80abc", "UTF-8"),
        (b"9" * 10_000, "readable JSON"),
        (b"null", "not a solah model"),
        (b'"solah-model"', "not a solah model"),
    ],
)
def test_hostile_bytes_get_a_clear_error(data, message):
    with pytest.raises(ModelFormatError, match=message):
        from_json(data)


@given(st.integers(0, len(to_json(MODELS["additive"])) - 3))
def test_every_truncation_is_noticed(length):
    with pytest.raises(ModelFormatError):
        from_json(to_json(MODELS["additive"]).encode()[:length])


# --- any change -------------------------------------------------------------------------------

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


def at(document, path):
    for key in path:
        document = document[key]
    return document


def check_it_loads_or_is_refused(document):
    """Any document is refused with an error of the library, or is a model that predicts."""
    try:
        model = from_json(json.dumps(document).encode())
    except SolahError:
        return
    assert from_json(to_json(model).encode()) == model
    assert not list(SCHEMA.iter_errors(json.loads(to_json(model))))
    outputs = run(model.program, random_rows(np.random.default_rng(0), model, 5, missing=0.3))
    assert np.isfinite(outputs).all()


@settings(max_examples=300)
@given(st.sampled_from(sorted(DOCUMENTS)), st.data(), json_values)
@example("tree", None, {"name": "y", "classes": [0, 1, 2], "thresholds": []})
def test_any_value_anywhere_loads_or_is_refused(name, data, value):
    paths = places(DOCUMENTS[name])
    path = ("target",) if data is None else data.draw(st.sampled_from(paths))
    check_it_loads_or_is_refused(changed(name, (*path, value)))


@settings(max_examples=400)
@given(st.sampled_from(sorted(DOCUMENTS)), st.data())
def test_any_part_moved_copied_or_removed_loads_or_is_refused(name, data):
    """Parts of valid documents in wrong places are nearer to valid ones than any values."""
    document = copy.deepcopy(DOCUMENTS[name])
    paths = places(document)
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(paths))
        other = data.draw(st.sampled_from(paths))
        how = data.draw(st.sampled_from(["remove", "copy", "repeat", "reverse"]))
        try:
            inner, source = at(document, path), at(document, other)
            if how == "remove":
                del inner[last]
            elif how == "copy":
                inner[last] = copy.deepcopy(source)
            elif how == "repeat" and isinstance(inner, list):
                inner.insert(last, copy.deepcopy(inner[last]))
            elif how == "reverse" and isinstance(inner, list):
                inner.reverse()
        except (KeyError, IndexError, TypeError):  # an earlier change removed the path
            continue
    check_it_loads_or_is_refused(document)


def many_terms(n_terms):
    """Write a document of a sum of many terms, each on a feature of its own."""
    kind = {"type": "binary", "categories": ["off", "on"], "missing": [0.5, 0.5]}
    facts = {"weights": [0.0, 0.0], "rows": 1.0, "shares": [0.5, 0.5]}
    terms = [
        {"rules": [{"if": [[f"x{i}", one]], **facts} for one in ("off", "on")]}
        for i in range(n_terms)
    ]
    document = {
        "format": "solah-model",
        "version": 1,
        "generator": "a test",
        "task": "classification",
        "target": {"name": "y", "classes": ["no", "yes"], "shares": [0.5, 0.5]},
        "features": [{"name": f"x{i}", **kind} for i in range(n_terms)],
        "nodes": [{"name": "y", "baseline": [0.0, 0.0], "terms": terms}],
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


def test_reading_costs_in_proportion_to_the_terms():
    few, more, most = (steps_of(lambda n=n: from_json(many_terms(n))) for n in (20, 40, 60))
    assert most - more == pytest.approx(more - few, rel=0.01)
