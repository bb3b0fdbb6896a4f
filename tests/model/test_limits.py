"""Whatever numbers stand in a document: it is refused, or all that is made of it is finite."""

import copy
import json
import subprocess
from collections import defaultdict

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from model_schema import model_schema
from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_number_model
from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.data import Column, Table
from solah.exceptions import DataError, ParameterError, SolahError
from solah.export import export_c
from solah.model import Task
from solah.model.format import from_json, to_json
from solah.model.limits import MOST_NUMBER, what_classes_must_be, what_states_must_be
from solah.model.predictor import Predictor
from solah.report import render_markdown, render_page, summarise, summarise_page

HOSTILE = (1e308, -1e308, 1e-308, 5e-324, 0, 10**30, -(10**40), 10**400, 2**63)
HOSTILE += (float("nan"), float("inf"), float("-inf"), -0.0, 0.5, True)


def documents():
    """Make documents of all shapes, by name."""
    models = {
        shape: random_model(np.random.default_rng(i), shape, 2 + i % 2)
        for i, shape in enumerate((*SHAPES, *ADDITIVE_SHAPES))
    }
    models["a sum"] = random_number_model(np.random.default_rng(0))
    X, y = load_diabetes(return_X_y=True)
    models["a number"] = LinguisticTreeRegressor(max_depth=2).fit(X, y).model_
    models["a number of one"] = LinguisticTreeRegressor(max_depth=1).fit(X[:, [2]], y).model_
    return {name: json.loads(to_json(model)) for name, model in models.items()}


DOCUMENTS = documents()


def numbers_in(value, path=()):
    """Group the paths to all numbers of a document by what they are."""
    found = defaultdict(list)
    if isinstance(value, int | float) and not isinstance(value, bool):
        found[tuple(key for key in path if isinstance(key, str))].append(path)
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            for kind, paths in numbers_in(inner, (*path, key)).items():
                found[kind] += paths
    return found


NUMBERS = {name: numbers_in(document) for name, document in DOCUMENTS.items()}
PLACES = [(name, kind) for name, kinds in NUMBERS.items() for kind in sorted(kinds)]


def rows_for(model, rng):
    """Draw readings: peaks, what lies between and far beyond them, and none at all."""
    n_rows = 10

    def readings(feature):
        middle = (feature.peaks[0] + feature.peaks[-1]) / 2
        odd = [np.inf, -np.inf, 1e308, -1e308, 5e-324, np.nan, middle]
        if not feature.is_coded:
            return rng.choice([*feature.peaks, *odd], n_rows)
        known = [*map(str, feature.categories), None]
        return np.array([known[place] for place in rng.integers(len(known), size=n_rows)], object)

    columns = (Column(one.name, readings(one)) for one in model.features)
    return Table(tuple(columns), n_rows)


def check_all_that_is_made_of(model):
    """Use a model in all ways; what is written must be JSON, which has no NaN."""
    predictor, table = Predictor(model), rows_for(model, np.random.default_rng(0))
    beliefs_of = {} if model.target.is_additive_number else predictor.node_outputs(table)
    for beliefs in beliefs_of.values():
        assert ((beliefs >= 0) & (beliefs <= 1)).all()
        np.testing.assert_allclose(beliefs.sum(axis=1), 1.0, atol=1e-9)
    is_choice = model.target.task is Task.CLASSIFICATION
    decisions = predictor.predict(table)
    assert set(decisions.tolist()) <= set(model.target.classes) or np.isfinite(decisions).all()
    written = [rule.to_dict() for rule in predictor.rules()]
    explanations = predictor.explain(table, changes=is_choice)
    written += [explanation.to_dict() for explanation in explanations]
    json.dumps([*written, summarise(model)], allow_nan=False)
    assert all(map(str, explanations))
    assert render_markdown(summarise(model))
    truth = Column(model.target.name, decisions) if is_choice else None
    assert render_page(summarise_page(model, table, truth))


@settings(max_examples=70)
@given(st.sampled_from(PLACES), st.data())
def test_hostile_numbers_are_refused_or_do_no_harm(place, data):
    name, kind = place
    document = copy.deepcopy(DOCUMENTS[name])
    path = data.draw(st.sampled_from(NUMBERS[name][kind]))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = data.draw(st.sampled_from(HOSTILE))
    try:
        model = from_json(json.dumps(document).encode())
    except SolahError:
        return
    assert from_json(to_json(model).encode()) == model
    jsonschema.validate(json.loads(to_json(model)), model_schema())
    check_all_that_is_made_of(model)
    for numbers in ("float", "q15"):
        assert export_c(model, numbers=numbers).files


@pytest.mark.parametrize("number", [1e308, -1e308])
@pytest.mark.parametrize("name", ["groups", "words", "a number", "a sum"])
def test_the_schema_that_ships_has_the_same_bounds(name, number):
    for paths in NUMBERS[name].values():
        document = copy.deepcopy(DOCUMENTS[name])
        inner = document
        for key in paths[0][:-1]:
            inner = inner[key]
        inner[paths[0][-1]] = number
        if not {"class", "terms"} & set(paths[0][-2:]):  # which are indices of something
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(document, model_schema())
        with pytest.raises(SolahError):
            from_json(json.dumps(document).encode())


def far_apart(rng, n):
    """Draw peaks that a document may have, but only just."""
    return [
        [MOST_NUMBER * (2 * k / max(n - 1, 1) - 1) for k in range(n)],
        [k * 1.0001e-30 for k in range(n)],
        [1.7e9 + 60 * k for k in range(n)],
        [MOST_NUMBER * (1 - 1e-15 * (n - k)) for k in range(n)],
        [0.0, *(10.0 ** (8 * k - 29) for k in range(n - 1))],
    ][rng.integers(5)]


def uneven(rng, n):
    """Draw shares, most of them all or nothing."""
    shares = np.full(n, [0.0, 5e-324, 1e-12][rng.integers(3)])
    shares[rng.integers(n)] = 1.0 - shares[1:].sum()
    return shares.tolist()


def at_the_bounds(name, seed):
    """Return a document with numbers as large, as small and as close as they may be."""
    rng, document = np.random.default_rng(seed), copy.deepcopy(DOCUMENTS[name])
    for one in document["features"]:
        if "ranges" in one:
            low, *ends, high = (end for both in one["ranges"] for end in both)
            apart = iter(far_apart(rng, max(len(ends), 2)))
            ends = [next(apart) for _ in ends]
            one["ranges"] = list(
                map(list, zip([low, *ends[1::2]], [*ends[::2], high], strict=True))
            )
            one["missing"] = uneven(rng, max(len(ends), 1))
        elif "peaks" in one:
            one["peaks"] = far_apart(rng, len(one["peaks"]))
        elif one["type"] == "ordinal":
            one["categories"] = far_apart(rng, len(one["categories"]))
        if "low" in one:
            one["low"], one["high"] = -MOST_NUMBER, rng.choice([-MOST_NUMBER, MOST_NUMBER])
        if "ranges" not in one:
            one["missing"] = uneven(rng, len(one["missing"]))
    at_the_bounds_of_target(document["target"], rng)
    is_sum = len(document["target"]) == 1
    most = 1e34 if is_sum else 1e4
    for node in document["nodes"]:
        if "baseline" in node:
            node["baseline"] = rng.choice([100 * most, -most, 0.0], len(node["baseline"])).tolist()
        rules = [rule for term in node.get("terms", []) for rule in term["rules"]]
        for rule in [*rules, *node.get("rules", [])]:
            renew_rule(rule, document["features"], rng, most)
    return document


def renew_rule(rule, features, rng, most):
    """Give a rule figures at the bounds, and the categories that its features have now."""
    rule["rows"] = rng.choice([0.0, 1e120, 1e-120])
    for key in rule.keys() & {"shares", "belief"}:
        rule[key] = uneven(rng, len(rule[key]))
    if "weights" in rule:
        rule["weights"] = rng.choice([most, -most, 5e-324], len(rule["weights"])).tolist()
    if "mean" in rule:
        rule["mean"] = rng.choice([MOST_NUMBER, -MOST_NUMBER, 0.0])
    ordinals = {one["name"]: one["categories"] for one in features if one["type"] == "ordinal"}
    for condition in rule["if"]:
        if condition[0] in ordinals:
            condition[1] = in_other_numbers(condition[1], ordinals[condition[0]])


def in_other_numbers(words, numbers):
    """Replace the categories of random models, which are these four numbers."""
    if isinstance(words, list):
        return [in_other_numbers(one, numbers) for one in words]
    return words if words is None else numbers[(1.0, 2.5, 7.0, 8.0).index(words)]


def at_the_bounds_of_target(target, rng):
    if "classes" in target:
        target["thresholds"] = [1e-12] * (len(target["classes"]) - 1)
        target["thresholds"].append(1 - sum(target["thresholds"]))
    if "centres" in target:
        target["peaks"] = far_apart(rng, len(target["peaks"]))
        extremes = [MOST_NUMBER, -MOST_NUMBER, 0.0]
        target["centres"] = rng.choice(extremes, len(target["centres"])).tolist()


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_numbers_at_the_bounds_do_no_harm(name):
    for seed in range(3):
        check_all_that_is_made_of(from_json(json.dumps(at_the_bounds(name, seed)).encode()))


@pytest.mark.parametrize("name", sorted(DOCUMENTS.keys() - {"a number of one", "a sum"}))
def test_the_c_of_numbers_at_the_bounds_compiles(name, tmp_path, find_tool):
    model = from_json(json.dumps(at_the_bounds(name, 0)).encode())
    export = export_c(model)
    for file, text in export.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    command = [find_tool("cc"), "-std=c99", "-Wall", "-Werror", "-c", "model.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rows = np.array([[np.nan] * len(model.features), [0.0] * len(model.features)])
    if model.target.task is Task.CLASSIFICATION:
        assert np.isfinite(export.simulator.decide(rows)[1]).all()


def test_what_is_too_steep_for_float32_is_not_exported():
    document = copy.deepcopy(DOCUMENTS["a number of one"])
    document["features"][0]["peaks"] = [k * 1.0001e-30 for k in range(5)]
    n_centres = len(document["target"]["centres"])
    document["target"]["centres"] = [MOST_NUMBER * (-1) ** k for k in range(n_centres)]
    model = from_json(json.dumps(document).encode())
    with pytest.raises(ParameterError, match="what 'x0' adds changes within 1e-30, .* too steep"):
        export_c(model)


def test_knots_that_float32_cannot_tell_apart_stay_apart():
    """Times in seconds are one and the same float32 for a minute or two."""
    document = copy.deepcopy(DOCUMENTS["a number of one"])
    document["features"][0]["peaks"] = [1.7e9 + 10 * k for k in range(5)]
    model = from_json(json.dumps(document).encode())
    export = export_c(model)
    rows = np.array([[1.7e9 - 1e4], [1.7e9 + 1e4]])
    expected = Predictor(model).predict(rows)
    np.testing.assert_allclose(export.simulator.estimate(rows), expected, rtol=1e-6)


def test_shares_that_people_round_are_scaled():
    document = copy.deepcopy(DOCUMENTS["words and pairs"])
    document["nodes"][0]["terms"][0]["rules"][0]["shares"] = [0.3333333, 0.6666666]
    model = from_json(json.dumps(document).encode())
    assert model.terms[0].shares[0].sum() == pytest.approx(1.0, abs=1e-15)
    assert from_json(to_json(model).encode()) == model


def test_classes_that_would_become_the_same_are_refused():
    same = [(1, 1.0, 2), (0, False, 3), (0.0, -0.0), (1, "1"), ("a", "a\0"), (1e37, 0.0)]
    same += [(2**63, 1), (2**63, -1), (2**53 + 1, 1e16), (2**64, 5)]
    for states in same:
        assert what_classes_must_be(states) is not None


def test_classes_that_stay_what_they_are_are_taken():
    whole = [(10**16, 5), (1e16, 5), (2**63, 2**64 - 1)]
    for states in [(1, 2.5), (True, False), ("1", "1.0"), ("a",), *whole]:
        assert what_classes_must_be(states) is None
        assert np.array(states).tolist() == list(states)


def test_features_may_have_states_that_one_array_cannot_hold():
    assert what_states_must_be((2**63, 1)) is None
    assert what_states_must_be(()) is None
    assert what_states_must_be((1, 1.0)) == "without repetition"


def test_classes_that_a_document_cannot_hold_are_refused_in_training():
    y = np.array([2**63, 1, 1], dtype=np.uint64)
    with pytest.raises(DataError, match="the classes of 'class' must be such that one array"):
        LinguisticTreeClassifier().fit([[1.5], [2.5], [3.5]], y)


def test_a_threshold_that_a_document_cannot_hold_is_refused_in_training():
    estimator = LinguisticTreeClassifier(thresholds={"a": 1e-13})
    with pytest.raises(ParameterError, match="must be at least 1e-12"):
        estimator.fit([[1.5], [2.5], [3.5]], ["a", "b", "b"])
