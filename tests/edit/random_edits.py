"""Random edits of random models, for tests that hold for all of them."""

from datetime import UTC, datetime

import numpy as np

from solah.edit import Editor
from solah.edit.lexer import spell_name
from solah.edit.sentence import spell_condition, spell_state
from solah.exceptions import ParameterError, RuleTextError
from solah.model import TreeNode


def edited(rng, model, n_edits=6):
    """Edit a model at random; edits that are refused are left out."""
    editor = Editor(model, author="Ann", time=datetime(2026, 5, 17, tzinfo=UTC))
    steps = [_set, _remove, _pin, _add, _move, _move, _rename, _prior]
    for _ in range(n_edits):
        try:
            steps[rng.integers(len(steps))](rng, editor)
        except (ParameterError, RuleTextError):
            continue
    return editor.model


def random_conditions(rng, model):
    """Name a node, and write the conditions of a random rule of it, often of some words only."""
    node = model.nodes[rng.integers(len(model.nodes))]

    def some(indices):
        chosen = [one for one in indices if rng.random() < 0.7] or indices[:1]
        return tuple(chosen) if rng.random() < 0.5 else indices

    if isinstance(node, TreeNode):
        branch = node.branches[rng.integers(len(node.branches))]
        parts = [
            spell_condition(node.inputs[place], some(sets), sets=True)
            for place, sets in branch.conditions
        ]
    else:
        term = node.terms[rng.integers(len(node.terms))]
        cell = [one.parts[rng.integers(len(one.parts))] for one in term.inputs]
        parts = [
            spell_condition(one.feature, some(part), sets=False)
            for one, part in zip(term.inputs, cell, strict=True)
        ]
        if len(term.inputs) == 1 and rng.random() < 0.2:
            parts = [f"{spell_name(term.features[0])} is missing"]
    return node.name, f"if {' and '.join(parts)}"


def _scores(rng, target):
    drawn = rng.normal(0, 2, target.size).round(2)
    names = [f"{spell_state(state)} " for state in target.classes] or [""]
    return ", ".join(f"{name}{number:+}" for name, number in zip(names, drawn, strict=True))


def _set(rng, editor):
    node, conditions = random_conditions(rng, editor.model)
    target = editor.model.target
    if node not in [tree.name for tree in editor.model.trees]:
        editor.set(f"{conditions}: {_scores(rng, target)}", node=node)
        return
    shares = rng.dirichlet(np.ones(target.size)).tolist()
    named = zip(target.classes, shares, strict=True)
    text = ", ".join(f"{spell_state(state)} {share!r}" for state, share in named)
    editor.set(f"{conditions} then {text}", node=node)


def _remove(rng, editor):
    node, conditions = random_conditions(rng, editor.model)
    editor.remove(conditions, node=node, reason="it was never true")


def _pin(rng, editor):
    node, conditions = random_conditions(rng, editor.model)
    editor.pin(conditions, node=node)


def _add(rng, editor):
    model = editor.model
    parts = []
    for number in rng.choice(len(model.features), 2, replace=False):
        one = model.features[number]
        parts.append(spell_condition(one, (int(rng.integers(len(one.words))),), sets=False))
    editor.add(f"if {' and '.join(parts)} then {_scores(rng, model.target)}")


def _move(rng, editor):
    features = [one for one in editor.model.features if one.is_continuous]
    one = features[rng.integers(len(features))]
    step = float(rng.normal(0, 0.2))
    if one.cores:
        number = int(rng.integers(len(one.words)))
        low, high = one.cores[number]
        sides = rng.integers(1, 4)
        start = low + step if sides & 1 and np.isfinite(low) else None
        end = high + abs(step) if sides & 2 and np.isfinite(high) else None
        if rng.random() < 0.2 and np.isfinite([low, high]).all():
            start, end = low, low  # a point
        editor.move(one.name, one.words[number], start=start, end=end)
    else:
        number = int(rng.integers(one.n_focal_sets))
        words = "-or-".join(one.focal_sets[number])
        editor.move(one.name, words, peak=one.peaks[number] + step)


def _rename(rng, editor):
    model, number = editor.model, len(editor.model.edits)
    which = rng.integers(4)
    if which == 0:
        one = model.features[rng.integers(len(model.features))]
        editor.rename_feature(one.name, f"feature {number}")
    elif which == 1:
        one = model.features[rng.integers(len(model.features))]
        editor.rename_word(one.name, one.words[0], f'word "{number}"')
    elif which == 2 and model.target.classes:
        editor.rename_class(model.target.classes[0], f"class, {number}")
    else:
        groups = [group for node in model.sums for group in node.groups]
        named = [*model.nodes, *groups]
        editor.rename_group(named[rng.integers(len(named))].name, f"group | {number}")


def _prior(rng, editor):
    states = editor.model.target.classes
    shares = rng.dirichlet(np.full(max(len(states), 1), 3.0))
    editor.set_prior(dict(zip(states, shares.tolist(), strict=False)))
