"""Writes a model as a rules file, in columns that people can read and edit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError
from solah.model.document import Fusion, Task
from solah.rulefile.branches import goal_names
from solah.rulefile.lexer import spell_name, spell_number, spell_signed
from solah.rulefile.policy_lines import spell_policy
from solah.rulefile.reader import RULES_VERSION
from solah.rulefile.sentence import SetName, spell_state
from solah.rulefile.words import InputWords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Monotonic, Tree
    from solah.model.edits import Comment

_INDENT = "  "


@dataclass
class _Line:
    """A line in columns, and the names under which its comments are kept."""

    cells: list[str]
    anchors: Sequence[str]
    facts: str = ""
    depth: int = 0


@dataclass
class _Comments:
    """The comments of a document, each of which is written once."""

    by_anchor: dict[str, list[Comment]] = field(default_factory=dict)

    def take(self, anchors: Iterable[str]) -> list[Comment]:
        return [one for anchor in anchors for one in self.by_anchor.pop(anchor, [])]


def write_rules(model: Model) -> str:
    """Write a model as a rules file, from which :func:`read_rules` makes the same document.

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
            "the model with 'solah edit' or .edit()"
        )
    if model.domain is not None:
        raise ParameterError(
            "this model has a domain, what its training rows held, which a rules file cannot say; "
            "change the model with 'solah edit' or .edit()"
        )
    comments = _Comments()
    for comment in model.comments:
        comments.by_anchor.setdefault(comment.on, []).append(comment)
    lines: list[str] = []
    for block in _blocks(model):
        if lines:
            lines.append("")
        lines += _laid_out(block, comments)
    left = [f"# {one.text}".rstrip() for of in comments.by_anchor.values() for one in of]
    return "\n".join([*lines, *([""] if left else []), *left]) + "\n"


def _laid_out(block: Sequence[_Line], comments: _Comments) -> Iterator[str]:
    """Align the columns of a block, each line with its comments."""
    widths: dict[int, int] = {}
    for line in block:
        if line.depth:  # the block's head stands for itself
            for column, cell in enumerate(line.cells):
                width = len(cell) + (len(_INDENT) * line.depth if column == 0 else 0)
                widths[column] = max(widths.get(column, 0), width)
    for line in block:
        indent, behind = _INDENT * line.depth, ""
        for comment in comments.take(line.anchors):
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
    yield [_Line([f"solah rules {RULES_VERSION}"], ["solah"])]
    yield _goal_lines(model.goal)
    for attribute in model.attributes:
        yield _attribute_lines(attribute)
    whole = {attribute.name: attribute for attribute in model.attributes}
    for node in model.nodes:
        if isinstance(node, Fusion):
            yield _fusion_lines(node, model.goal)
            continue
        for attribute in node.inputs:
            if attribute.tree is not None:
                yield _belief_lines(attribute, model.goal)
        yield list(_TreeWriter(node, model.goal, whole).lines())
    if model.monotonic:
        yield [
            _Line([_promise_text(one, model.goal)], [f"promise {number}"])
            for number, one in enumerate(model.monotonic, 1)
        ]
    if model.policy is not None:
        yield [
            _Line([text], [anchor], depth=int(anchor != "policy"))
            for text, anchor in spell_policy(model.policy, model.goal)
        ]
    if model.edits:
        yield [
            _Line([_edit_text(number, model)], [f"edit {number + 1}"])
            for number in range(len(model.edits))
        ]


# --- goal and attributes -------------------------------------------------------------------------


def _goal_lines(goal: Goal) -> list[_Line]:
    kind = "classes" if goal.task is Task.CLASSIFICATION else "number"
    lines = [_Line([f"goal {spell_name(goal.name)} {kind}"], ["goal"])]
    for number, state in enumerate(goal.states):
        cells = [spell_state(state)]
        cells += [f"prior {spell_number(goal.prior[number])}"] if goal.prior else []
        cells += [f"threshold {spell_number(goal.thresholds[number])}"] if goal.thresholds else []
        lines.append(_Line(cells, [f"goal {spell_state(state)}"], depth=1))
    if goal.centres:
        names = map(SetName, goal_names(goal))
        for name, peak, centre in zip(names, goal.peaks, goal.centres, strict=True):
            cells = [str(name), f"peaks at {spell_number(peak)}", f"centre {spell_number(centre)}"]
            lines.append(_Line(cells, [f"goal {name}"], depth=1))
    return lines


def _attribute_lines(attribute: Attribute) -> list[_Line]:
    anchor = f"attribute {spell_name(attribute.name)}"
    head = f"{anchor} {attribute.kind.value}"
    if not attribute.is_continuous:
        unknown = [_unknown([mass]) for mass in attribute.ignorance]
        facts = "" if attribute.states else unknown[0]
        texts = map(spell_state, attribute.states)
        return [
            _Line([head], [anchor], facts),
            *(
                _Line([text], [f"{anchor} {text}"], masses, depth=1)
                for text, masses in zip(texts, unknown, strict=False)
            ),
        ]
    low, high = (spell_number(end or 0.0) for end in (attribute.low, attribute.high))
    moved = " moved" if attribute.is_moved else ""
    return [
        _Line([f"{head} from {low} to {high}{moved}"], [anchor]),
        *_word_lines(attribute, anchor),
    ]


def _belief_lines(attribute: Attribute, goal: Goal) -> list[_Line]:
    anchor = f"belief {spell_name(attribute.name)}"
    state = spell_state(goal.states[attribute.place])
    head = f"{anchor} of {spell_name(attribute.origin)} in {state}"
    return [_Line([head], [anchor]), *_word_lines(attribute, anchor)]


def _word_lines(attribute: Attribute, anchor: str) -> Iterator[_Line]:
    if not attribute.cores:
        sets = zip(attribute.focal_sets, attribute.peaks, attribute.ignorance, strict=True)
        for words, peak, mass in sets:
            cells = [str(SetName(words)), f"peaks at {spell_number(peak)}"]
            yield _Line(cells, [f"{anchor} {SetName(words)}"], _unknown([mass]), depth=1)
        return
    for number, (word, core) in enumerate(zip(attribute.words, attribute.cores, strict=True)):
        masses = [
            mass
            for of, mass in zip(attribute.set_words, attribute.ignorance, strict=True)
            if of == number
        ]
        name = spell_name(word)
        yield _Line([name, _core_text(core)], [f"{anchor} {name}"], _unknown(masses), depth=1)


def _core_text(core: tuple[float, float]) -> str:
    low, high = map(spell_number, core)
    if math.isinf(core[0]):
        return "everywhere" if math.isinf(core[1]) else f"up to {high}"
    if core[0] == core[1]:
        return f"at {low}"
    return f"from {low}" if math.isinf(core[1]) else f"from {low} to {high}"


def _unknown(masses: Iterable[float]) -> str:
    return f"unknown {', '.join(map(spell_number, masses))}"


# --- rules ---------------------------------------------------------------------------------------


def _fusion_lines(fusion: Fusion, goal: Goal) -> list[_Line]:
    anchor = f"{'sum' if fusion.bias else 'group'} {spell_name(fusion.name)}"
    origins = [f"adds {spell_name(name)}" for name in fusion.origins]
    lines = [_Line([anchor], [anchor])]
    lines += [_Line([text], [f"{anchor} {text}"], depth=1) for text in origins]
    if fusion.bias:
        cells = ["begins with", *_scores(fusion.bias, goal)]
        lines.append(_Line([" ".join(cells)], [f"{anchor} begins"], depth=1))
    return lines


def _scores(scores: Sequence[float], goal: Goal) -> list[str]:
    """Write evidence, one cell for each class."""
    names = [f"{spell_state(state)} " for state in goal.states] or [""]
    cells = [f"{name}{spell_signed(score)}" for name, score in zip(names, scores, strict=True)]
    return [f"{cell}," for cell in cells[:-1]] + cells[-1:]


def _promise_text(promise: Monotonic, goal: Goal) -> str:
    state = f"{spell_state(goal.states[promise.state])} " if goal.states else ""
    moves = "falls" if promise.direction > 0 else "rises"
    return f"promise {state}never {moves} with {spell_name(promise.attribute)}"


def _edit_text(number: int, model: Model) -> str:
    edit = model.edits[number]
    parts = (("by", edit.author), ("at", edit.time), ("because", edit.reason))
    rest = [f"{word} {_quoted(text)}" for word, text in parts if text]
    return " ".join([f"edit {_quoted(edit.text)}", *rest])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


class _TreeWriter:
    """Writes the rules of one tree; nodes that are the same but for their rows share a line."""

    def __init__(self, tree: Tree, goal: Goal, whole: dict[str, Attribute]) -> None:
        self._tree, self._goal = tree, goal
        self._anchor = f"rules {spell_name(tree.name)}"
        self._inputs = [InputWords(one, whole.get(one.name)) for one in tree.inputs]
        self._contents = self._find_contents()
        self._everything = "anything" if tree.missing is None else "known"

    def lines(self) -> Iterator[_Line]:
        tree = self._tree
        inputs = ", ".join(map(_input_text, self._inputs))
        head = _Line([f"{self._anchor} on {inputs}"], [self._anchor])
        is_leaf = tree.split[0] < 0
        if not is_leaf:
            head.facts = self._facts([0])
        yield head
        if tree.variance:
            text = f"variance {spell_number(tree.variance)}"
            yield _Line([text], [f"{self._anchor} variance"], depth=1)
        if is_leaf:
            yield self._leaf("always", [0], [f"{self._anchor} always"], 1)
        else:
            yield from self._below([0], self._anchor, 1)
        if tree.missing is not None:
            yield self._missing()

    def _missing(self) -> _Line:
        rule, name = self._tree.missing, spell_name(self._inputs[0].name)
        assert rule is not None
        values = _scores(rule.scores, self._goal)
        shares = ", ".join(map(spell_number, rule.belief))
        pin = "pin " if rule.is_pinned else ""
        return _Line(
            [f"{pin}if {name} is missing", f"then {values[0]}", *values[1:]],
            [f"{self._anchor} / {name} missing"],
            f"{spell_number(rule.support)} rows: {shares}",
            depth=1,
        )

    def _below(self, nodes: list[int], anchor: str, depth: int) -> Iterator[_Line]:
        """Write the branches below nodes that are the same."""
        tree = self._tree
        words = self._inputs[tree.split[nodes[0]]]
        for places in self._joined(nodes[0]):
            children = [tree.children(node)[place] for node in nodes for place in places]
            named = f"{anchor} / {spell_name(words.name)}"
            anchors = [f"{named} {words.spell([place])}" for place in places]
            spelled = words.spell(places, self._everything)
            text = f"if {spell_name(words.name)} is {spelled}"
            if tree.split[children[0]] < 0:
                yield self._leaf(text, children, anchors, depth)
            else:
                yield _Line([f"{text} and"], anchors, self._facts(children), depth)
                yield from self._below(children, anchors[0], depth + 1)

    def _joined(self, node: int) -> list[list[int]]:
        """Put the focal sets of a node together that lead to the same."""
        tree, groups = self._tree, dict[int, list[int]]()
        joined: list[list[int]] = []
        is_ordered = tree.inputs[tree.split[node]].is_ordered
        for place, child in enumerate(tree.children(node)):
            content = self._contents[child]
            if is_ordered and content not in groups:
                groups.clear()
            if content not in groups:
                groups[content] = []
                joined.append(groups[content])
            groups[content].append(place)
        return joined

    def _leaf(self, text: str, nodes: list[int], anchors: Sequence[str], depth: int) -> _Line:
        tree, first = self._tree, nodes[0]
        if tree.scores is None:
            names = self._belief_names()
            beliefs = [spell_number(abs(one)) for one in tree.belief[first].tolist()]
            cells = [f"{name} {share}" for name, share in zip(names, beliefs, strict=True)]
            values = [f"{cell}," for cell in cells[:-1]] + cells[-1:]
        else:
            values = _scores(tree.scores[first].tolist(), self._goal)
        pin = "pin " if first in tree.pinned else ""
        return _Line(
            [f"{pin}{text}", f"then {values[0]}", *values[1:]],
            anchors,
            self._facts(nodes, with_belief=tree.scores is not None),
            depth,
        )

    def _belief_names(self) -> list[str]:
        if self._goal.states:
            return [spell_state(state) for state in self._goal.states]
        return [str(SetName(name)) for name in goal_names(self._goal)]

    def _facts(self, nodes: list[int], *, with_belief: bool = True) -> str:
        supports = " + ".join(map(spell_number, self._tree.support[nodes].tolist()))
        if not with_belief:
            return f"{supports} rows"
        beliefs = [", ".join(map(spell_number, one)) for one in self._tree.belief[nodes].tolist()]
        same = len(set(beliefs)) == 1
        return f"{supports} rows: {beliefs[0] if same else '; '.join(beliefs)}"

    def _find_contents(self) -> list[int]:
        """Give a number to each node, the same to those that are the same but for their rows."""
        tree, numbers = self._tree, dict[object, int]()
        contents = [0] * len(tree.split)
        for node in range(len(tree.split) - 1, -1, -1):  # children stand behind their parents
            told: tuple[object, ...] = (tree.belief[node].tobytes(), node in tree.pinned)
            if tree.split[node] >= 0:
                # Where evidence is added up, the shares of an inner node are facts of its rows.
                told = () if tree.scores is not None else told
                told += (int(tree.split[node]), *(contents[n] for n in tree.children(node)))
            elif tree.scores is not None:
                told += (tree.scores[node].tobytes(),)
            contents[node] = numbers.setdefault(told, len(numbers))
        return contents


def _input_text(words: InputWords) -> str:
    parted = " and ".join(map(spell_name, words.parted_at))
    return f"{spell_name(words.name)} parted at {parted}" if parted else spell_name(words.name)
