"""Write a model as a JSON file, and read one back.

The format has a version, which ``docs/model-format.md`` says when to raise. Reading runs no code,
needs memory in proportion to the file (:mod:`solah.data.json_reader`) and checks every value
(:mod:`solah.model.reading`).
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from importlib.metadata import version as package_version
from typing import TYPE_CHECKING, Any

from solah.data.json_reader import JsonParser
from solah.exceptions import ModelFormatError, ModelVersionError
from solah.model.document import AdditiveNode, Task
from solah.model.edits import comment_record, edit_record
from solah.model.policy_format import domain_record, policy_record
from solah.model.provenance import provenance_record
from solah.model.reading import read_fields, set_words
from solah.model.signals_format import signals_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from solah.data.json_reader import Reader
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Monotonic, Node, Term, TreeNode

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 1
MAX_BYTES = 64 * 1024 * 1024


def model_hash(model: Model) -> str:
    """Return the first 16 digits of the hash of a model file."""
    return sha256(to_json(model).encode()).hexdigest()[:16]


def to_json(model: Model) -> str:
    """Write a model as JSON, one line per feature and per rule."""
    generator = model.generator or f"solah {package_version('solah')}"
    head = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "generator": generator,
        "task": model.goal.task.value,
        "target": _goal_record(model.goal),
    }
    if model.provenance is not None:
        head["provenance"] = provenance_record(model.provenance)
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    features = _block((_dump(_attribute_record(a)) for a in model.attributes), "    ")
    nodes = _block((_node_text(node, model.goal) for node in model.nodes), "    ")
    made = {
        "monotonic": [_dump(_promise_record(one, model.goal)) for one in model.monotonic],
        "edits": [_dump(edit_record(edit)) for edit in model.edits],
        "comments": [_dump(comment_record(comment)) for comment in model.comments],
    }
    blocks = {"features": features, "nodes": nodes}
    blocks |= {key: _block(records, "    ") for key, records in made.items() if records}
    if model.signals is not None:
        blocks["signals"] = _dump(signals_record(model.signals))
    if model.domain is not None:
        blocks["domain"] = _dump(domain_record(model.domain))
    if model.policy is not None:
        blocks["policy"] = _dump(policy_record(model.policy))
    lines.append(",\n".join(f'  "{key}": {block}' for key, block in blocks.items()))
    return "\n".join(["{", *lines, "}"]) + "\n"


def from_json(data: bytes, max_bytes: int = MAX_BYTES) -> Model:
    """Read a model from JSON and check all of it."""
    remedy = "; if you trust it, load it with a larger max_bytes"
    parser = JsonParser("the model", ModelFormatError, max_bytes, remedy=remedy)
    return read_model(parser.read(data))


def read_model(document: Reader) -> Model:
    """Read a model from a parsed document and check all of it."""
    if document.part("format").value != FORMAT_NAME:
        raise ModelFormatError(f'this is not a solah model: no "format": "{FORMAT_NAME}"')
    version = document.part("version").integer(1, 2**31)
    if version != FORMAT_VERSION:
        raise ModelVersionError(
            f"the model has format version {version}; this solah reads version {FORMAT_VERSION}: "
            "pip install --upgrade solah"
        )
    return read_fields(document)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _block(items: Iterable[str], indent: str) -> str:
    lines = [f"{indent}{item}" for item in items]
    return "[\n" + ",\n".join(lines) + f"\n{indent[:-2]}]"


def _goal_record(goal: Goal) -> dict[str, Any]:
    if goal.is_additive_number:
        return {"name": goal.name}
    if goal.task is Task.CLASSIFICATION:
        record = {"name": goal.name, "classes": list(goal.states)}
        record |= {"thresholds": list(goal.thresholds)} if goal.thresholds else {}
        return record | ({"shares": list(goal.prior)} if goal.prior else {})
    return {
        "name": goal.name,
        "words": list(goal.words),
        "peaks": list(goal.peaks),
        "centres": list(goal.centres),
    }


def _attribute_record(attribute: Attribute) -> dict[str, Any]:
    record: dict[str, Any] = {"name": attribute.name, "type": attribute.kind.value}
    if attribute.is_continuous:
        record |= _words_record(attribute) | {"low": attribute.low, "high": attribute.high}
    else:
        record |= {"categories": list(attribute.states)}
    record |= {"missing": list(attribute.ignorance)}
    return record | ({"moved": True} if attribute.is_moved else {})


def _words_record(attribute: Attribute) -> dict[str, Any]:
    if not attribute.cores:
        return {"words": list(attribute.words), "peaks": list(attribute.peaks)}
    ranges = [list(map(_finite, core)) for core in attribute.cores]
    return {"words": list(attribute.words), "ranges": ranges}


def _promise_record(promise: Monotonic, goal: Goal) -> dict[str, Any]:
    record = {"feature": promise.attribute, "direction": promise.direction}
    return record | ({"class": promise.state} if goal.states else {})


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _node_text(node: Node, goal: Goal) -> str:
    """Write a node, with a line for each of its rules."""
    head: dict[str, Any] = {"name": node.name}
    if believed := [one for one in node.inputs if one.tree is not None]:
        head["beliefs"] = [
            {"name": one.name, "node": one.tree, "class": one.place, **_words_record(one)}
            | {"missing": list(one.ignorance)}
            for one in believed
        ]
    if not isinstance(node, AdditiveNode):
        head |= {"inputs": [one.name for one in node.inputs], "start": list(node.start)}
        rules = _block(map(_dump, _branch_records(node)), "      ")
        return f'{_dump(head)[:-1]}, "rules": {rules}}}'
    head["baseline"] = list(node.baseline)
    terms = _block((_term_text(term, goal) for term in node.terms), "      ")
    groups = [_dump({"name": one.name, "terms": list(one.terms)}) for one in node.groups]
    behind = f', "groups": {_block(groups, "      ")}' if groups else ""
    return f'{_dump(head)[:-1]}, "terms": {terms if node.terms else "[]"}{behind}}}'


def _term_text(term: Term, goal: Goal) -> str:
    head = f'"variance": {_dump(term.variance)}, ' if term.variance else ""
    rules = _block(map(_dump, _rule_records(term, goal)), "        ")
    return f'{{{head}"rules": {rules}}}'


def _rule_records(term: Term, goal: Goal) -> Iterator[dict[str, Any]]:
    def record(
        words: list[Any], weights: list[float], rows: float, shares: list[float], is_pinned: bool
    ) -> dict[str, Any]:
        told = {"mean": shares[0]} if goal.is_additive_number else {"shares": shares}
        conditions = [list(one) for one in zip(term.features, words, strict=True)]
        pin = {"pinned": True} if is_pinned else {}
        return {"if": conditions, "weights": weights, "rows": rows, **told, **pin}

    named = [one.attribute.states or one.attribute.words for one in term.inputs]
    for cell in term.cells():
        words = [
            [names[word] for word in one.parts[place]]
            for one, names, place in zip(term.inputs, named, cell, strict=True)
        ]
        yield record(
            [one[0] if len(one) == 1 else one for one in words],
            term.weights[cell].tolist(),
            float(term.counts[cell]),
            term.shares[cell].tolist(),
            cell in term.pinned,
        )
    if (rule := term.missing) is not None:
        yield record([None], list(rule.scores), rule.support, list(rule.belief), rule.is_pinned)


def _branch_records(node: TreeNode) -> Iterator[dict[str, Any]]:
    words = [[list(one) for one in set_words(attribute)] for attribute in node.inputs]
    for branch in node.branches:
        conditions = [
            [node.inputs[place].name, [words[place][index] for index in sets]]
            for place, sets in branch.conditions
        ]
        pin = {"pinned": True} if branch.is_pinned else {}
        yield {"if": conditions, "belief": list(branch.belief), "rows": branch.support, **pin}
