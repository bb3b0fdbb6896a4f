"""Writes a model as a rules file, in columns that people can read and edit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.edit.lexer import spell_name, spell_number, spell_signed
from solah.edit.rule_lines import rule_anchor, spell_policy
from solah.edit.rules_reader import RULES_VERSION
from solah.edit.sentence import SetName, spell_condition, spell_state, target_names
from solah.exceptions import ParameterError
from solah.model.document import AdditiveNode, MissingRule, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.model.document import Model, Monotonic, Target, Term, TreeNode
    from solah.model.features import Feature
    from solah.model.provenance import Comment, Edit

_INDENT = "  "


@dataclass
class _Line:
    """A line in columns, and the name under which its comments are kept."""

    cells: list[str]
    anchor: str
    facts: str = ""
    depth: int = 0


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
        If readings are made of samples, or there is a domain, which a rules file cannot say.
    """
    if model.signals is not None:
        raise ParameterError(
            "the readings of this model are made of samples, which a rules file cannot say; change "
            "the model with 'solah rules edit' or .edit()"
        )
    if model.domain is not None:
        raise ParameterError(
            "this model has a domain, what its training rows held, which a rules file cannot say; "
            "change the model with 'solah rules edit' or .edit()"
        )
    comments: dict[str, list[Comment]] = {}
    for comment in model.comments:
        comments.setdefault(comment.on, []).append(comment)
    lines: list[str] = []
    for block in _blocks(model):
        if lines:
            lines.append("")
        lines += _laid_out(block, comments)
    left = [f"# {one.text}".rstrip() for of in comments.values() for one in of]
    return "\n".join([*lines, *([""] if left else []), *left]) + "\n"


def _laid_out(block: Sequence[_Line], comments: dict[str, list[Comment]]) -> Iterator[str]:
    """Align the columns of a block, each line with its comments."""
    widths: dict[int, int] = {}
    for line in block:
        if line.depth:  # the block's head stands for itself
            for column, cell in enumerate(line.cells):
                width = len(cell) + (len(_INDENT) * line.depth if column == 0 else 0)
                widths[column] = max(widths.get(column, 0), width)
    for line in block:
        indent, behind = _INDENT * line.depth, ""
        for comment in comments.pop(line.anchor, []):
            if comment.is_behind and not behind:
                behind = f"  # {comment.text}".rstrip()
            else:
                yield f"{indent}# {comment.text}".rstrip()
        cells = [f"{indent}{line.cells[0]}", *line.cells[1:]]
        if line.facts:
            cells.append(f"| {line.facts}")
        if line.depth:
            last = len(cells) - 1
            cells[:last] = [cell.ljust(widths[n]) for n, cell in enumerate(cells[:last])]
        yield f"{' '.join(cells)}{behind}"


def _blocks(model: Model) -> Iterator[list[_Line]]:
    target = model.target
    yield [_Line([f"solah rules {RULES_VERSION}"], "solah")]
    yield _target_lines(target)
    for feature in model.features:
        yield _feature_lines(feature)
    for node in model.nodes:
        for feature in node.inputs:
            if feature.tree is not None:
                yield _belief_lines(feature, target)
        if not isinstance(node, AdditiveNode):
            yield list(_tree_lines(node, target))
            continue
        anchor, cells = f"sum {spell_name(node.name)}", _weights(node.baseline, target)
        baseline = _Line([" ".join(["baseline:", *cells])], f"{anchor} baseline", depth=1)
        yield [_Line([anchor], anchor), baseline]
        for term in node.terms:
            yield list(_term_lines(term, spell_name(node.name), target))
        for group in node.groups:
            anchor = f"group {spell_name(group.name)}"
            names = [_features(node.terms[number]) for number in group.terms]
            lines = [_Line([name], f"{anchor} {name}", depth=1) for name in names]
            yield [_Line([anchor], anchor), *lines]
    if model.monotonic:
        yield [
            _Line([_promise_text(one, target)], f"promise {number}")
            for number, one in enumerate(model.monotonic, 1)
        ]
    if model.policy is not None:
        yield [
            _Line([text], anchor, depth=int(anchor != "policy"))
            for text, anchor in spell_policy(model.policy, target)
        ]
    if model.edits:
        yield [
            _Line([_edit_text(one)], f"edit {number}") for number, one in enumerate(model.edits, 1)
        ]


# --- target and features -------------------------------------------------------------------------


def _target_lines(target: Target) -> list[_Line]:
    kind = "classes" if target.task is Task.CLASSIFICATION else "number"
    lines = [_Line([f"target {spell_name(target.name)} {kind}"], "target")]
    for number, state in enumerate(target.classes):
        cells = [spell_state(state)]
        cells += [f"share {spell_number(target.shares[number])}"] if target.shares else []
        cells += (
            [f"threshold {spell_number(target.thresholds[number])}"] if target.thresholds else []
        )
        lines.append(_Line(cells, f"target {spell_state(state)}", depth=1))
    if target.centres:
        names = map(SetName, target_names(target))
        for name, peak, centre in zip(names, target.peaks, target.centres, strict=True):
            cells = [str(name), f"peaks at {spell_number(peak)}", f"centre {spell_number(centre)}"]
            lines.append(_Line(cells, f"target {name}", depth=1))
    return lines


def _feature_lines(feature: Feature) -> list[_Line]:
    anchor = f"feature {spell_name(feature.name)}"
    head = f"{anchor} {feature.kind.value}"
    if not feature.is_continuous:
        masses = [_missing([mass]) for mass in feature.mean_masses]
        texts = [spell_state(state) for state in feature.categories]
        return [
            _Line([head], anchor, "" if texts else masses[0]),
            *(
                _Line([text], f"{anchor} {text}", mass, depth=1)
                for text, mass in zip(texts, masses, strict=False)
            ),
        ]
    low, high = (spell_number(end or 0.0) for end in (feature.low, feature.high))
    moved = " moved" if feature.is_moved else ""
    return [_Line([f"{head} from {low} to {high}{moved}"], anchor), *_words(feature, anchor)]


def _belief_lines(feature: Feature, target: Target) -> list[_Line]:
    anchor = f"belief {spell_name(feature.name)}"
    state = spell_state(target.classes[feature.place])
    head = f"{anchor} of {spell_name(feature.origin)} in {state}"
    return [_Line([head], anchor), *_words(feature, anchor)]


def _words(feature: Feature, anchor: str) -> Iterator[_Line]:
    if not feature.cores:
        sets = zip(feature.focal_sets, feature.peaks, feature.mean_masses, strict=True)
        for words, peak, mass in sets:
            cells = [str(SetName(words)), f"peaks at {spell_number(peak)}"]
            yield _Line(cells, f"{anchor} {SetName(words)}", _missing([mass]), depth=1)
        return
    masses = list(zip(feature.set_words, feature.mean_masses, strict=True))
    for number, (word, (low, high)) in enumerate(zip(feature.words, feature.cores, strict=True)):
        if math.isinf(low):
            where = "everywhere" if math.isinf(high) else f"up to {spell_number(high)}"
        elif low == high:
            where = f"at {spell_number(low)}"
        else:
            end = "" if math.isinf(high) else f" to {spell_number(high)}"
            where = f"from {spell_number(low)}{end}"
        facts = _missing([mass for of, mass in masses if of == number])
        yield _Line([spell_name(word), where], f"{anchor} {spell_name(word)}", facts, depth=1)


def _missing(masses: Iterable[float]) -> str:
    return f"missing {', '.join(map(spell_number, masses))}"


# --- rules ---------------------------------------------------------------------------------------


def _features(term: Term) -> str:
    return " and ".join(map(spell_name, term.features))


def _weights(weights: Iterable[float], target: Target) -> list[str]:
    """Write weights, one cell for each class."""
    names = [f"{spell_state(state)} " for state in target.classes] or [""]
    return _listed(f"{name}{spell_signed(one)}" for name, one in zip(names, weights, strict=True))


def _listed(cells: Iterable[str]) -> list[str]:
    *others, last = cells
    return [*(f"{cell}," for cell in others), last]


def _term_lines(term: Term, node: str, target: Target) -> Iterator[_Line]:
    anchor = f"{node} rules on {_features(term)}"
    variance = f"variance {spell_number(term.variance)}" if term.variance else ""
    yield _Line([f"rules on {_features(term)}"], anchor, variance)
    features = [one.feature for one in term.inputs]
    everything = "anything" if term.missing is None else "known"

    rules = []
    for cell in term.cells():
        parts = [one.parts[place] for one, place in zip(term.inputs, cell, strict=True)]
        told = " and ".join(
            spell_condition(one, part, sets=False, everything=everything)
            for one, part in zip(features, parts, strict=True)
        )
        at = rule_anchor(zip(features, parts, strict=True), sets=False)
        facts = MissingRule(
            float(term.counts[cell]),
            tuple(term.shares[cell].tolist()),
            tuple(term.weights[cell].tolist()),
            cell in term.pinned,
        )
        rules.append((told, at, facts))
    if term.missing is not None:
        rules.append((f"{_features(term)} is missing", "", term.missing))
    for told, at, one in rules:
        shares = ", ".join(map(spell_number, one.belief))
        yield _Line(
            [f"{'pin ' if one.is_pinned else ''}if {told}:", *_weights(one.scores, target)],
            f"{anchor} / {at}",
            f"{spell_number(one.support)} rows: {shares}",
            depth=1,
        )


def _tree_lines(tree: TreeNode, target: Target) -> Iterator[_Line]:
    anchor = f"tree {spell_name(tree.name)}"
    names = [str(SetName(name)) for name in target_names(target)]
    if target.classes:
        names = [spell_state(state) for state in target.classes]

    def shares(belief: Iterable[float]) -> list[str]:
        numbers = (spell_number(abs(one)) for one in belief)
        return _listed(f"{name} {number}" for name, number in zip(names, numbers, strict=True))

    inputs = ", ".join(spell_name(one.name) for one in tree.inputs)
    yield _Line([f"{anchor} on {inputs}"], anchor)
    first, *others = shares(tree.start)
    yield _Line(["start:", f"{'':4} {first}", *others], f"{anchor} start", depth=1)
    for branch in tree.branches:
        asked = [(tree.inputs[place], sets) for place, sets in branch.conditions]
        told = " and ".join(spell_condition(*one, sets=True) for one in asked)
        first, *others = shares(branch.belief)
        when = f"if {told}" if told else "always"
        yield _Line(
            [f"{'pin ' if branch.is_pinned else ''}{when}", f"then {first}", *others],
            f"{anchor} / {rule_anchor(asked, sets=True)}",
            f"{spell_number(branch.support)} rows",
            depth=1,
        )


# --- what else a model has -----------------------------------------------------------------------


def _promise_text(promise: Monotonic, target: Target) -> str:
    state = f"{spell_state(target.classes[promise.state])} " if target.classes else ""
    moves = "falls" if promise.direction > 0 else "rises"
    return f"promise {state}never {moves} with {spell_name(promise.feature)}"


def _edit_text(edit: Edit) -> str:
    parts = (("edit", edit.text), ("by", edit.author), ("at", edit.time), ("because", edit.reason))
    return " ".join(
        f"{word} {json.dumps(text, ensure_ascii=not text.isprintable())}"
        for word, text in parts
        if text
    )
