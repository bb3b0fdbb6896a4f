"""Write a model document as JSON, and read one back.

The format has a number, raised when a reader of the old one could misread a new file; the readers
of old numbers stay (``docs/model-format.md`` says how). Reading runs no code, needs memory in
proportion to the file (:mod:`solah.data.json_reader`) and checks every value
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
from solah.model.document import Task, Tree
from solah.model.edits import comment_record, edit_record
from solah.model.policy_format import domain_record, policy_record
from solah.model.provenance import provenance_record
from solah.model.reading import read_current
from solah.model.signals_format import signals_record
from solah.model.version_1 import read_version_1

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.data.json_reader import Reader
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Monotonic, Node

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 2
MAX_BYTES = 64 * 1024 * 1024
_READERS = {1: read_version_1, 2: read_current}


def model_hash(model: Model) -> str:
    """Return the first 16 digits of the hash of a model's document."""
    return sha256(to_json(model).encode()).hexdigest()[:16]


def to_json(model: Model) -> str:
    """Write a model as JSON, one line per attribute and per node."""
    generator = model.generator or f"solah {package_version('solah')}"
    head = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "generator": generator,
        "task": model.goal.task.value,
        "goal": _goal_record(model.goal),
    }
    if model.provenance is not None:
        head["provenance"] = provenance_record(model.provenance)
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    attributes = _block((_dump(_attribute_record(a)) for a in model.attributes), "    ")
    trees = _block((_node_text(node, model.goal) for node in model.nodes), "    ")
    made = {
        "monotonic": [_dump(_promise_record(one, model.goal)) for one in model.monotonic],
        "edits": [_dump(edit_record(edit)) for edit in model.edits],
        "comments": [_dump(comment_record(comment)) for comment in model.comments],
    }
    blocks = {"attributes": attributes, "trees": trees}
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
    if version not in _READERS:
        raise ModelVersionError(
            f"the model has format version {version}; this solah reads up to {FORMAT_VERSION}: "
            "pip install --upgrade solah"
        )
    return _READERS[version](document)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _block(items: Iterable[str], indent: str) -> str:
    lines = [f"{indent}{item}" for item in items]
    return "[\n" + ",\n".join(lines) + f"\n{indent[:-2]}]"


def _goal_record(goal: Goal) -> dict[str, Any]:
    if goal.is_additive_number:
        return {"name": goal.name}
    if goal.task is Task.CLASSIFICATION:
        record = {"name": goal.name, "states": list(goal.states)}
        record |= {"thresholds": list(goal.thresholds)} if goal.thresholds else {}
        return record | ({"prior": list(goal.prior)} if goal.prior else {})
    return {
        "name": goal.name,
        "words": list(goal.words),
        "peaks": list(goal.peaks),
        "centres": list(goal.centres),
    }


def _attribute_record(attribute: Attribute) -> dict[str, Any]:
    record: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind.value}
    if attribute.is_continuous:
        record |= {"words": list(attribute.words)}
        if attribute.cores:
            record |= {"cores": [list(map(_finite, core)) for core in attribute.cores]}
        else:
            record |= {"peaks": list(attribute.peaks)}
        record |= {"low": attribute.low, "high": attribute.high}
    else:
        record |= {"states": list(attribute.states)}
    record |= {"ignorance": list(attribute.ignorance)}
    return record | ({"moved": True} if attribute.is_moved else {})


def _promise_record(promise: Monotonic, goal: Goal) -> dict[str, Any]:
    record = {"attribute": promise.attribute, "direction": promise.direction}
    return record | ({"state": promise.state} if goal.states else {})


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _node_text(node: Node, goal: Goal) -> str:
    if isinstance(node, Tree):
        return _tree_text(node, goal)
    record = {"name": node.name, "adds": list(node.origins)}
    return _dump(record | ({"bias": list(node.bias)} if node.bias else {}))


def _tree_text(tree: Tree, goal: Goal) -> str:
    leaves = [_leaf_record(tree, node, goal) for node in range(len(tree.split))]
    records = (
        leaf if split < 0 else {"split": tree.inputs[split].name, "first_child": first_child} | leaf
        for leaf, split, first_child in zip(
            leaves, tree.split.tolist(), tree.first_child.tolist(), strict=True
        )
    )
    head: dict[str, Any] = {
        "name": tree.name,
        "inputs": [_input_record(attribute) for attribute in tree.inputs],
    }
    if tree.variance:
        head["variance"] = tree.variance
    if tree.missing is not None:
        rule = tree.missing
        told = _told(list(rule.belief), goal)
        head["missing"] = {"support": rule.support, **told, "scores": list(rule.scores)}
        head["missing"] |= _pin_record(rule.is_pinned)
    return f'{_dump(head)[:-1]}, "nodes": {_block(map(_dump, records), "      ")}}}'


def _input_record(attribute: Attribute) -> str | dict[str, Any]:
    """Name an attribute or a tree below; words over a tree's belief stand here in full."""
    if attribute.parted_at:
        return {"name": attribute.name, "parted_at": list(attribute.parted_at)}
    if attribute.tree is None:
        return attribute.name
    return {
        "name": attribute.name,
        "tree": attribute.tree,
        "state": attribute.place,
        "words": list(attribute.words),
        "peaks": list(attribute.peaks),
        "ignorance": list(attribute.ignorance),
    }


def _leaf_record(tree: Tree, node: int, goal: Goal) -> dict[str, Any]:
    record = {"support": float(tree.support[node]), **_told(tree.belief[node].tolist(), goal)}
    if tree.split[node] >= 0:
        return record
    if tree.scores is not None:
        record |= {"scores": tree.scores[node].tolist()}
    return record | _pin_record(node in tree.pinned)


def _pin_record(is_pinned: bool) -> dict[str, Any]:
    return {"pinned": True} if is_pinned else {}


def _told(belief: list[float], goal: Goal) -> dict[str, Any]:
    return {"mean": belief[0]} if goal.is_additive_number else {"belief": belief}
