"""Writes a model as a rules file, in columns that people can read and edit."""

from __future__ import annotations

import json
import math
from itertools import zip_longest
from typing import TYPE_CHECKING

from solah.edit.lexer import spell_name, spell_number, spell_signed
from solah.edit.rule_lines import spell_policy
from solah.edit.rules_reader import RULES_VERSION
from solah.edit.sentence import SetName, spell_condition, spell_state, target_names
from solah.exceptions import ParameterError
from solah.explain.rule_text import named_class
from solah.model.document import TreeNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.model.document import Model, Monotonic, Target, Term
    from solah.model.features import Feature
    from solah.model.provenance import Edit

    _Block = tuple[str, list[list[str]]]  # its first line, and the cells of the lines below


def write_rules(model: Model) -> str:
    """Write a model as a rules file, from which :func:`read_rules` makes the same model.

    Parameters
    ----------
    model : Model

    Returns
    -------
    text : str

    Raises
    ------
    ParameterError
        If the model has signals or a training domain, which a rules file cannot have.
    """
    for part, what in ((model.signals, "signals"), (model.domain, "a training domain")):
        if part is not None:
            raise ParameterError(
                f"the model has {what}, which a rules file cannot have; change the model with "
                "'solah rules edit' or .edit()"
            )
    return "\n\n".join("\n".join(_laid_out(block)) for block in _blocks(model)) + "\n"


def _laid_out(block: _Block) -> Iterator[str]:
    """Write the head of a block, and align the columns of its lines."""
    head, lines = block
    yield head
    # Facts, which begin with a bar, are behind the last column.
    columns = zip_longest(*([c for c in line if c[:2] != "| "] for line in lines), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    for *cells, last in lines:
        aligned = (cell.ljust(width) for cell, width in zip(cells, widths, strict=False))
        yield "  " + " ".join([*aligned, last])


def _blocks(model: Model) -> Iterator[_Block]:
    target = model.target
    yield f"solah rules {RULES_VERSION}", []
    yield _target_block(target)
    for feature in model.features:
        yield _feature_block(feature)
    for node in model.nodes:
        for feature in node.inputs:
            if feature.tree is not None:
                name, state = spell_name(feature.name), spell_state(target.classes[feature.place])
                head = f"belief {name} of {spell_name(feature.origin)} in {state}"
                yield head, list(_words(feature))
        if isinstance(node, TreeNode):
            yield _tree_block(node, target)
            continue
        baseline = " ".join(["baseline:", *_weights(node.baseline, target)])
        yield f"sum {spell_name(node.name)}", [[baseline]]
        for term in node.terms:
            yield _term_block(term, target)
        for group in node.groups:
            names = [[_features(node.terms[number])] for number in group.terms]
            yield f"group {spell_name(group.name)}", names
    if model.monotonic:
        yield "\n".join(_constraint_text(one, target) for one in model.monotonic), []
    if model.policy is not None:
        yield "policy", [[text] for text in spell_policy(model.policy, target)]
    if model.edits:
        yield "\n".join(map(_edit_text, model.edits)), []


# --- target and features -------------------------------------------------------------------------


def _target_block(target: Target) -> _Block:
    kind, lines = "number log" if target.link == "log" else "number", []
    if target.classes:
        kind, lines = "classes", [[spell_state(state)] for state in target.classes]
    for word, numbers in (("share", target.shares), ("threshold", target.thresholds)):
        for line, number in zip(lines, numbers, strict=False):
            line.append(f"{word} {spell_number(number)}")
    if target.centres:
        sets = zip(map(SetName, target_names(target)), target.peaks, target.centres, strict=True)
        lines = [
            [str(name), f"peaks at {spell_number(peak)}", f"centre {spell_number(centre)}"]
            for name, peak, centre in sets
        ]
    return f"target {spell_name(target.name)} {kind}", lines


def _feature_block(feature: Feature) -> _Block:
    head = f"feature {spell_name(feature.name)} {feature.kind.value}"
    if feature.is_continuous:
        low, high = (spell_number(end or 0.0) for end in (feature.low, feature.high))
        moved = " moved" if feature.is_moved else ""
        return f"{head} from {low} to {high}{moved}", list(_words(feature))
    masses = [_missing([mass]) for mass in feature.mean_masses]
    if not feature.categories:
        return f"{head} {masses[0]}", []
    return head, [*map(list, zip(map(spell_state, feature.categories), masses, strict=True))]


def _words(feature: Feature) -> Iterator[list[str]]:
    if not feature.cores:
        sets = zip(feature.focal_sets, feature.peaks, feature.mean_masses, strict=True)
        for words, peak, mass in sets:
            yield [str(SetName(words)), f"peaks at {spell_number(peak)}", _missing([mass])]
        return
    for number, (word, (low, high)) in enumerate(zip(feature.words, feature.cores, strict=True)):
        if math.isinf(low):
            where = "everywhere" if math.isinf(high) else f"up to {spell_number(high)}"
        elif low == high:
            where = f"at {spell_number(low)}"
        else:
            end = "" if math.isinf(high) else f" to {spell_number(high)}"
            where = f"from {spell_number(low)}{end}"
        masses = zip(feature.set_words, feature.mean_masses, strict=True)
        yield [spell_name(word), where, _missing(mass for of, mass in masses if of == number)]


def _missing(masses: Iterable[float]) -> str:
    return f"| missing {', '.join(map(spell_number, masses))}"


# --- rules ---------------------------------------------------------------------------------------


def _features(term: Term) -> str:
    return " and ".join(map(spell_name, term.features))


def _weights(weights: Sequence[float], target: Target) -> list[str]:
    """Write weights, one cell for each class; of two, the difference, as rules are printed."""
    named = named_class(target)
    if named is not None and weights[0] == -weights[1]:
        own = weights[target.classes.index(named)]
        return [f"{spell_state(named)} {spell_signed(2 * own + 0.0)}"]
    names = [f"{spell_state(state)} " for state in target.classes] or [""]
    return _listed(f"{name}{spell_signed(one)}" for name, one in zip(names, weights, strict=True))


def _listed(cells: Iterable[str]) -> list[str]:
    *others, last = cells
    return [*(f"{cell}," for cell in others), last]


def _term_block(term: Term, target: Target) -> _Block:
    everything = "anything" if term.missing is None else "known"
    lines = []
    for cell, one in term.rules():
        conditions = f"{_features(term)} is missing"
        if cell is not None:
            conditions = " and ".join(
                spell_condition(side.feature, side.parts[line], sets=False, everything=everything)
                for side, line in zip(term.inputs, cell, strict=True)
            )
        shares = ", ".join(map(spell_number, one.belief))
        head = f"{'pin ' if one.is_pinned else ''}if {conditions}:"
        facts = f"| {spell_number(one.support)} rows: {shares}"
        lines.append([head, *_weights(one.scores, target), facts])
    variance = f" | variance {spell_number(term.variance)}" if term.variance else ""
    return f"rules on {_features(term)}{variance}", lines


def _tree_block(tree: TreeNode, target: Target) -> _Block:
    names = [str(SetName(name)) for name in target_names(target)]
    if target.classes:
        names = [spell_state(state) for state in target.classes]

    def shares(belief: Iterable[float]) -> list[str]:
        numbers = (spell_number(abs(one)) for one in belief)
        return _listed(f"{name} {number}" for name, number in zip(names, numbers, strict=True))

    first, *others = shares(tree.start)
    lines = [["start:", f"{'':4} {first}", *others]]
    for branch in tree.branches:
        conditions = " and ".join(
            spell_condition(tree.inputs[place], sets, sets=True)
            for place, sets in branch.conditions
        )
        first, *others = shares(branch.belief)
        when = f"if {conditions}" if conditions else "always"
        cells = [f"{'pin ' if branch.is_pinned else ''}{when}", f"then {first}", *others]
        lines.append([*cells, f"| {spell_number(branch.support)} rows"])
    inputs = ", ".join(spell_name(one.name) for one in tree.inputs)
    return f"tree {spell_name(tree.name)} on {inputs}", lines


# --- constraints and edits -----------------------------------------------------------------------


def _constraint_text(one: Monotonic, target: Target) -> str:
    state = f"{spell_state(target.classes[one.state])} " if target.classes else ""
    moves = "falls" if one.direction > 0 else "rises"
    return f"constraint {state}never {moves} with {spell_name(one.feature)}"


def _edit_text(edit: Edit) -> str:
    parts = (("edit", edit.text), ("by", edit.author), ("at", edit.time), ("because", edit.reason))
    return " ".join(
        f"{word} {json.dumps(text, ensure_ascii=not text.isprintable())}"
        for word, text in parts
        if text
    )
