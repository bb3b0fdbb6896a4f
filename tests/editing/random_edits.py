"""Random edits of random models, for tests that hold for all of them."""

from datetime import UTC, datetime

import numpy as np

from solah.editing import Editor
from solah.exceptions import ParameterError, RuleTextError
from solah.model import Fusion
from solah.rulefile.lexer import spell_name
from solah.rulefile.sentence import spell_state
from solah.rulefile.words import InputWords


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


def _conditions(rng, editor):
    """Write the conditions of a random leaf, and name its tree."""
    model = editor.model
    tree = model.trees[rng.integers(len(model.trees))]
    whole = {attribute.name: attribute for attribute in model.attributes}
    node, parts = 0, []
    while tree.split[node] >= 0:
        one = tree.inputs[tree.split[node]]
        words = InputWords(one, whole.get(one.name))
        place = int(rng.integers(one.n_focal_sets))
        # All focal sets of a word.
        same = one.set_words or range(one.n_focal_sets)
        places = [k for k in range(one.n_focal_sets) if same[k] == same[place]]
        parts.append(f"{spell_name(one.name)} is {words.spell(places)}")
        node = tree.children(node)[place]
    return tree, f"if {' and '.join(parts)}"


def _scores(rng, goal):
    drawn = rng.normal(0, 2, goal.size).round(2)
    names = [f"{spell_state(state)} " for state in goal.states] or [""]
    return ", ".join(f"{name}{number:+}" for name, number in zip(names, drawn, strict=True))


def _set(rng, editor):
    tree, conditions = _conditions(rng, editor)
    goal = editor.model.goal
    if tree.scores is not None:
        if len(tree.inputs) == 1 and rng.random() < 0.3:
            conditions = f"if {spell_name(tree.inputs[0].name)} is missing"
        editor.set(f"{conditions} then {_scores(rng, goal)}", tree=tree.name)
        return
    shares = rng.dirichlet(np.ones(goal.size))
    named = zip(goal.states, shares, strict=True)
    text = ", ".join(f"{spell_state(state)} {share!r}" for state, share in named)
    editor.set(
        f"{conditions} then {text}".replace("np.float64(", "").replace(")", ""), tree=tree.name
    )


def _remove(rng, editor):
    tree, conditions = _conditions(rng, editor)
    editor.remove(conditions, tree=tree.name, reason="it was never true")


def _pin(rng, editor):
    tree, conditions = _conditions(rng, editor)
    editor.pin(conditions, tree=tree.name)


def _add(rng, editor):
    model = editor.model
    assert isinstance(model.root, Fusion) or rng is not None
    two = rng.choice(len(model.attributes), 2, replace=False)
    parts = []
    for one in (model.attributes[number] for number in two):
        words = InputWords(one)
        place = int(rng.integers(one.n_focal_sets))
        parts.append(f"{spell_name(one.name)} is {words.spell([place])}")
    editor.add(f"if {' and '.join(parts)} then {_scores(rng, model.goal)}")


def _move(rng, editor):
    attributes = [one for one in editor.model.attributes if one.is_continuous]
    one = attributes[rng.integers(len(attributes))]
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
        one = model.attributes[rng.integers(len(model.attributes))]
        editor.rename_attribute(one.name, f"attribute {number}")
    elif which == 1:
        one = model.attributes[rng.integers(len(model.attributes))]
        editor.rename_word(one.name, one.words[0], f'word "{number}"')
    elif which == 2 and model.goal.states:
        editor.rename_class(model.goal.states[0], f"class, {number}")
    else:
        node = model.nodes[rng.integers(len(model.nodes))]
        editor.rename_group(node.name, f"group | {number}")


def _prior(rng, editor):
    states = editor.model.goal.states
    shares = rng.dirichlet(np.full(max(len(states), 1), 3.0))
    editor.set_prior(dict(zip(states, shares.tolist(), strict=False)))
