"""Reasons are the rules that add most, as a plain computation from the document finds them."""

from dataclasses import replace

import blob_programs
import numpy as np
import pytest
from c_programs import WHY, build, why
from hypothesis import given
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    SHAPES,
    coded,
    join_leaves,
    odd_rows,
    random_fusion,
    random_model,
    random_rows,
    random_tree,
    with_scores,
)
from solah.explain.rules import tree_rules
from solah.export import export_c, export_micropython
from solah.export.blob import export_blob
from solah.learn.online import Pace
from solah.model.beliefs import signals_of
from solah.model.document import Tree

EVERY = 10_000
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


# --- the plain computation -------------------------------------------------------------------


def all_reasons(model, rows):
    """Return, for each row, what each rule adds to the decision's lead; None where it is close."""
    signals = signals_of(model, coded(model, rows))
    root = model.root
    scores = signals[root.name] / (model.goal.thresholds or 1.0)
    found = []
    for i, row in enumerate(rows):
        best, second, *others = np.argsort(-scores[i])
        gaps = np.diff(-scores[i][[best, second, *others]])[:2]
        below = {name: signal[i] for name, signal in signals.items()}
        readings = dict(zip((one.name for one in model.attributes), row, strict=True))
        found.append(_reasons(model, readings, below, best, second) if gaps.min() > 5e-3 else None)
    return found


def _reasons(model, readings, below, best, second):
    root, found = model.root, {}
    for tree in [root] if isinstance(root, Tree) else model.trees:
        said = tree.belief if tree is root else tree.scores
        fired = _weights_of_rules(tree, readings, below)
        leads = {head: share * (said[head][best] - said[head][second]) for head, share in fired}
        if is_alone(tree):
            leads = {max(fired, key=lambda one: one[1])[0]: sum(leads.values())}
        for head, rule in tree_rules(tree, model.goal).items():
            named = [one.attribute for one in rule.conditions if one.attribute in readings]
            for one in () if is_alone(tree) else with_one_word(tree, root):
                if one.name in named:
                    named.remove(one.name)  # the one word of an attribute tells nothing
            if is_alone(tree) and not rule.conditions:
                continue  # nothing depends on the reading
            is_read = not np.isnan([readings[name] for name in named]).any()
            lead = max(leads.get(head, 0.0), 0.0) if is_read else 0.0
            found[tree.name, rule.premise] = found.get((tree.name, rule.premise), 0.0) + lead
    return found


def with_one_word(tree, root):
    """Return the inputs whose one word changes nothing: any of a pair, the last of another tree."""
    is_pair = tree is not root and len(tree.inputs) == 2
    return [one for one in tree.inputs[0 if is_pair else -1 :] if one.n_focal_sets == 1]


def is_alone(tree):
    """Whether an attribute speaks alone: then all that it adds is the rule's that fires most."""
    return len(tree.inputs) == 1


def _weights_of_rules(tree, readings, below):
    """Follow every branch, and add up the weights of those that are joined: one a rule."""
    weights, stack = {}, [(0, 1.0)]
    while stack:
        node, weight = stack.pop()
        if tree.split[node] < 0:
            head = int(tree.heads[node])
            weights[head] = weights.get(head, 0.0) + weight
            continue
        masses = _masses(tree.inputs[tree.split[node]], readings, below)
        stack += [
            (child, weight * mass) for child, mass in zip(tree.children(node), masses, strict=True)
        ]
    return list(weights.items())


def _masses(attribute, readings, below):
    if attribute.origin not in readings:
        belief = below[attribute.origin]
        if attribute.tree is None:
            return belief
        reading = belief[attribute.place]
    else:
        reading = readings[attribute.name]
    if np.isnan(reading):
        return attribute.ignorance
    each = np.eye(attribute.n_focal_sets)
    return [np.interp(reading, attribute.peaks, of_set) for of_set in each]


# --- models ----------------------------------------------------------------------------------


def model_with_joined_branches(rng, shape, n_classes):
    if shape != "attributes alone and together":
        return join_leaves(rng, random_model(rng, shape, n_classes))
    model = random_model(rng, "flat fusion", n_classes)
    together = join_leaves(rng, model).nodes[0]
    alone = (
        with_scores(rng, random_tree(rng, f"alone{i}", [attribute], n_classes))
        for i, attribute in enumerate(model.attributes[2:])
    )
    trees = (together, *alone)
    fusion = random_fusion(rng, "y", [tree.name for tree in trees], n_classes)
    return replace(model, nodes=(*trees, fusion))


ALL_SHAPES = (*SHAPES, *ADDITIVE_SHAPES, "attributes alone and together")
models = st.builds(
    lambda seed, shape, n_classes: model_with_joined_branches(
        np.random.default_rng(seed), shape, n_classes
    ),
    st.integers(0, 2**32),
    st.sampled_from(ALL_SHAPES),
    st.integers(2, 4),
)


# --- tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("numbers", "near"), [("float", 1e-5), ("q15", 0.03)])
@given(models, st.integers(0, 2**32))
def test_reasons_are_those_of_the_document(numbers, near, model, seed):
    rows = random_rows(np.random.default_rng(seed), model, 20, missing=0.3)
    export = export_c(model, numbers=numbers)
    unit = 1.0 if numbers == "float" else export.unit
    every = export.twin.why(rows, len(export.rules))
    for expected, reasons in zip(all_reasons(model, rows), every, strict=True):
        if expected is None:
            continue
        # Rules with one premise count together: those of focal sets of one word, and those of
        # nodes that are joined, whose branches are reasons of their own.
        found = dict.fromkeys(((rule.tree, rule.premise) for rule in export.rules), 0.0)
        for rule, amount in reasons:
            found[export.rules[rule].tree, export.rules[rule].premise] += unit * amount
        found = {rule: found[rule] for rule in expected}
        assert found == pytest.approx(expected, abs=near)


@pytest.mark.parametrize("numbers", ["float", "q15"])
@given(models, st.integers(0, 2**32), st.integers(0, 5))
def test_the_first_reasons_are_the_first_of_all(numbers, model, seed, n_most):
    rows = odd_rows(np.random.default_rng(seed), model, 20)
    twin = export_c(model, numbers=numbers).twin
    every = twin.why(rows, EVERY)
    assert twin.why(rows, n_most) == [reasons[:n_most] for reasons in every]
    for reasons in every:
        assert reasons == sorted(reasons, key=lambda one: (-one.amount, one.rule))
        assert len({one.rule for one in reasons}) == len(reasons)


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize(
    "shape", ["tree", "masses", "attributes alone and together", *ADDITIVE_SHAPES]
)
def test_devices_name_the_reasons_of_their_twin(shape, numbers, tmp_path, find_tool):
    rng = np.random.default_rng(5)
    model = model_with_joined_branches(rng, shape, 3)
    export = export_c(model, name="m", numbers=numbers)
    program = build(export, tmp_path, find_tool("cc"), WHY, SANITIZED, n_most=2)
    rows = np.vstack([odd_rows(rng, model, 1_000), random_rows(rng, model, 500, missing=0.5)])
    assert why(program, export, rows, 2) == export.twin.why(rows, 2)


def test_boards_and_blobs_name_the_reasons_of_their_twin(tmp_path, find_tool):
    rng = np.random.default_rng(6)
    models = [model_with_joined_branches(rng, shape, 3) for shape in ALL_SHAPES]
    drawn = [odd_rows(rng, model, 200) for model in models]
    blobs = [export_blob(model) for model in models]
    program = blob_programs.build(
        blobs[0], tmp_path, find_tool("cc"), blob_programs.RUN.format(n_most=3)
    )
    loader = module_of(blobs[0].files["solah_blob.py"])
    sent = [(blob.data, blob.twin.prepare(rows)) for blob, rows in zip(blobs, drawn, strict=True)]
    answers = blob_programs.run(program, sent, 3)
    for model, blob, rows, answer in zip(models, blobs, drawn, answers, strict=True):
        expected = blob.twin.why(rows, 3)
        assert blob_programs.reasons_of(answer) == expected
        loader["load"](blob.data)
        board = module_of(export_micropython(model).files["model.py"])
        prepared = blob.twin.prepare(rows).tolist()
        assert [loader["why_prepared"](row, 3) for row in prepared] == expected
        assert [board["why_prepared"](row, 3) for row in prepared] == expected


def module_of(text):
    """Run a module for boards."""
    module = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), module)
    return module


def test_a_device_that_learns_names_the_reasons_of_its_twin(tmp_path, find_tool):
    rng = np.random.default_rng(7)
    model = model_with_joined_branches(rng, "attributes alone and together", 3)
    export = export_c(model, name="m", numbers="q15", learning=Pace())
    program_text = WHY.replace("{{\n    {reading}", "{{\n    m_memory memory;\n    {reading}")
    program_text = program_text.replace("    while", "    m_begin(&memory);\n    while")
    program_text = program_text.replace("m_why(", "m_why(&memory, ")
    program = build(export, tmp_path, find_tool("cc"), program_text, SANITIZED, n_most=3)
    rows = random_rows(rng, model, 300, missing=0.2)
    assert why(program, export, rows, 3) == export.twin.why(rows, 3)


def test_a_rule_is_a_reason_whatever_it_does_not_name():
    """Of a node whose leaves are all one rule, nothing that it asks is named, read or not."""
    rng = np.random.default_rng(8)
    first, second = (random_model(rng, "tree").attributes[place] for place in (2, 4))
    n_first, n_second = first.n_focal_sets, second.n_focal_sets
    belief = np.vstack([[0.5, 0.5], *[[0.1, 0.9]] * n_first, *[[0.2, 0.8]] * n_second])
    split = np.array([0, 1] + [-1] * (n_first - 1 + n_second), np.int32)
    first_child = np.array([1, 1 + n_first] + [0] * (n_first - 1 + n_second), np.int32)
    tree = Tree("y", (first, second), split, first_child, np.ones(len(split)), belief)
    model = replace(random_model(rng, "tree"), attributes=(first, second), nodes=(tree,))
    model = replace(model, goal=replace(model.goal, thresholds=()))
    export = export_c(model)
    of_first, unread, nothing = export.twin.why(
        np.array([[0.0, np.nan], [1.0, 2.0], [np.nan, 2.0]]), 3
    )
    assert [export.rules[one.rule].premise for one in of_first] == ["x2 is a"]
    assert [export.rules[one.rule].premise for one in unread] == ["x2 is b or c"]
    assert nothing == []
