"""Reasons are the rules that add most, as a plain computation from the document finds them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, odd_rows, random_model, random_rows
from solah.explain.rules import MISSING, part_rules
from solah.export import export_c
from solah.model import Branch, TreeNode
from solah.model.evaluate import trace

EVERY = 10_000


# --- the plain computation -------------------------------------------------------------------


def all_reasons(model, rows):
    """Return, for each row, what each rule adds to the decision's lead; None where it is close."""
    stages = zip(model.nodes, trace(model.program, rows), strict=True)
    outputs = {node.name: steps.outputs for node, steps in stages}
    scores = outputs[model.root.name] / (model.target.thresholds or 1.0)
    found = []
    for i, row in enumerate(rows):
        best, second, *others = np.argsort(-scores[i])
        gaps = np.diff(-scores[i][[best, second, *others]])[:2]
        below = {name: output[i] for name, output in outputs.items()}
        readings = dict(zip((one.name for one in model.features), row, strict=True))
        found.append(_reasons(model, readings, below, best, second) if gaps.min() > 5e-3 else None)
    return found


def _reasons(model, readings, below, best, second):
    found, rules = {}, {part.name: part.rules for part in part_rules(model)}
    for part, inputs, fired in _fired(model, readings, below):
        leads = {number: share * (said[best] - said[second]) for number, share, said in fired}
        is_alone = len(inputs) == 1
        if is_alone:  # all that it adds is the rule's that fires most
            leads = {max(fired, key=lambda one: one[1])[0]: sum(leads.values())}
        untold = [one.name for one in inputs if one.n_focal_sets == 1 and not is_alone]
        for number, rule in rules[part].items():
            named = {one.feature for one in rule.conditions} & readings.keys() - set(untold)
            if number == MISSING or (is_alone and not rule.conditions):
                continue  # nothing depends on the reading
            is_read = not np.isnan([readings[name] for name in named]).any()
            lead = max(leads.get(number, 0.0), 0.0) if is_read else 0.0
            found[part, rule.premise] = found.get((part, rule.premise), 0.0) + lead
    return found


def _fired(model, readings, below):
    """Yield each part of the root with its inputs and, of each rule, its share and what it says."""
    root = model.root
    if isinstance(root, TreeNode):
        masses = [_masses(one, readings, below) for one in root.inputs]
        yield (
            root.name,
            root.inputs,
            [
                (number, _product(masses, branch.conditions), branch.belief)
                for number, branch in enumerate(root.branches)
            ],
        )
        return
    for term, compiled in zip(root.terms, model.program.stages[-1].terms, strict=True):
        masses = [_masses(one.asked, readings, below) for one in term.inputs]
        lines = [np.array(one.part_of_set) for one in term.inputs]
        fired = []
        for number, cell in enumerate(term.cells()):
            sets = [np.flatnonzero(of == line) for of, line in zip(lines, cell, strict=True)]
            fired.append((number, _product(masses, enumerate(sets)), term.weights[cell]))
        yield compiled.name, [one.asked for one in term.inputs], fired


def _product(masses, conditions):
    return np.prod([sum(masses[place][one] for one in sets) for place, sets in conditions])


def _masses(feature, readings, below):
    if feature.origin not in readings:
        belief = below[feature.origin]
        if feature.tree is None:
            return belief
        reading = belief[feature.place]
    else:
        reading = readings[feature.name]
    if np.isnan(reading):
        return feature.mean_masses
    each = np.eye(feature.n_focal_sets)
    return [np.interp(reading, feature.peaks, of_set) for of_set in each]


# --- models ----------------------------------------------------------------------------------


def model_with_joined_branches(rng, shape, n_classes):
    """Make a model, and join some branches of its trees with the next ones below the same node."""
    model = random_model(rng, shape, n_classes)
    nodes = (_joined(rng, node) if isinstance(node, TreeNode) else node for node in model.nodes)
    return replace(model, nodes=tuple(nodes))


def _joined(rng, tree):
    first, *others = tree.branches
    branches = [first]
    for branch in others:
        *before, (place, sets) = branches[-1].conditions
        *these, (other, more) = branch.conditions
        if before == these and place == other and rng.random() < 0.5:
            conditions = (*before, (place, (*sets, *more)))
            branches[-1] = replace(branches[-1], conditions=conditions)
        else:
            branches.append(branch)
    return replace(tree, branches=tuple(branches))


ALL_SHAPES = (*SHAPES, *ADDITIVE_SHAPES)
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
    every = export.simulator.why(rows, len(export.rules))
    for expected, reasons in zip(all_reasons(model, rows), every, strict=True):
        if expected is None:
            continue
        # Rules with one premise count together: those of focal sets of one word, and those of
        # nodes that are joined, whose branches are reasons of their own.
        found = dict.fromkeys(((rule.part, rule.premise) for rule in export.rules), 0.0)
        for rule, amount in reasons:
            found[export.rules[rule].part, export.rules[rule].premise] += unit * amount
        found = {rule: found[rule] for rule in expected}
        assert found == pytest.approx(expected, abs=near)


@pytest.mark.parametrize("numbers", ["float", "q15"])
@given(models, st.integers(0, 2**32), st.integers(0, 5))
def test_the_first_reasons_are_the_first_of_all(numbers, model, seed, n_most):
    rows = odd_rows(np.random.default_rng(seed), model, 20)
    simulator = export_c(model, numbers=numbers).simulator
    every = simulator.why(rows, EVERY)
    assert simulator.why(rows, n_most) == [reasons[:n_most] for reasons in every]
    for reasons in every:
        assert reasons == sorted(reasons, key=lambda one: (-one.amount, one.rule))
        assert len({one.rule for one in reasons}) == len(reasons)


def test_a_rule_is_a_reason_whatever_it_does_not_name():
    """Of a node whose leaves are all one rule, nothing that it asks is named, read or not."""
    rng = np.random.default_rng(8)
    first, second = (random_model(rng, "tree").features[place] for place in (2, 4))
    branches = (
        Branch(((0, (0,)), (1, tuple(range(second.n_focal_sets)))), (0.2, 0.8), 1.0),
        Branch(((0, (1, 2)),), (0.1, 0.9), 1.0),
    )
    tree = TreeNode("y", (first, second), branches, (0.5, 0.5))
    model = replace(random_model(rng, "tree"), features=(first, second), nodes=(tree,))
    model = replace(model, target=replace(model.target, thresholds=()))
    export = export_c(model)
    of_first, unread, nothing = export.simulator.why(
        np.array([[0.0, np.nan], [1.0, 2.0], [np.nan, 2.0]]), 3
    )
    assert [export.rules[one.rule].premise for one in of_first] == ["x2 is a"]
    assert [export.rules[one.rule].premise for one in unread] == ["x2 is b or c"]
    assert nothing == []
