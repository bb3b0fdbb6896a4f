"""Write a model document as JSON, and read one with every value checked.

The format has a number, raised when a reader of the old one could misread a new file; the readers
of old numbers stay (``docs/model-format.md`` says how). Reading runs no code and needs memory in
proportion to the file (:mod:`solah.data.json_reader`).
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version as package_version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.json_reader import JsonParser, Reader
from solah.data.table import Kind
from solah.exceptions import ModelFormatError, ModelVersionError, did_you_mean, shorten
from solah.kernels.arrays import MAX_DEPTH, MAX_FOCAL_SETS
from solah.kernels.reference import softmax
from solah.model.attributes import (
    Attribute,
    are_cores,
    belief_attribute,
    cored_attribute,
    discrete_attribute,
    parted_attribute,
)
from solah.model.beliefs import deciding_fusions, fusion_inputs
from solah.model.document import Fusion, Goal, MissingRule, Model, Node, Task, Tree
from solah.model.limits import (
    EXACT_SUM,
    LEAST_GAP,
    LEAST_INTEGER,
    LEAST_SUPPORT,
    LEAST_THRESHOLD,
    MOST_INTEGER,
    MOST_NUMBER,
    MOST_SCORE,
    MOST_SUPPORT,
    MOST_VARIANCE,
    ROUGH_SUM,
    are_apart,
    what_classes_must_be,
    what_states_must_be,
)
from solah.model.provenance import provenance_record, read_provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from solah.data import State

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 2
MAX_BYTES = 64 * 1024 * 1024
MAX_WORDS = (MAX_FOCAL_SETS + 1) // 2
MAX_ATTRIBUTES = 1_000_000
MAX_TREES = 100_000
MAX_NODES = 50_000_000


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
    lines += [f'  "attributes": {attributes},', f'  "trees": {trees}']
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


# --- writing ---------------------------------------------------------------------------------


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
    return record | {"ignorance": list(attribute.ignorance)}


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
    if tree.scores is None or tree.split[node] >= 0:
        return record
    return record | {"scores": tree.scores[node].tolist()}


def _told(belief: list[float], goal: Goal) -> dict[str, Any]:
    return {"mean": belief[0]} if goal.is_additive_number else {"belief": belief}


# --- reading ---------------------------------------------------------------------------------


def _read_version_1(document: Reader) -> Model:
    """Read a model in which fusions weigh trees, and evidence is told from beliefs."""
    fields = document.record(_FIELDS)
    task = Task(_read_choice(fields["task"], [task.value for task in Task]))
    goal = _read_goal(fields["goal"], task, version=1)
    attributes = _read_attributes(fields["attributes"], version=1)
    weights: dict[str, float] = {}
    nodes = _read_trees(fields["trees"], attributes, goal, weights)
    model = Model(goal, tuple(attributes.values()), nodes, generator=fields["generator"].text())
    model = _without_weights(model, weights, fields["trees"])
    _check_evidence(model, fields["trees"])
    return model


def _read_version_2(document: Reader) -> Model:
    fields = document.record(_FIELDS, ["provenance"])
    task = Task(_read_choice(fields["task"], [task.value for task in Task]))
    goal = _read_goal(fields["goal"], task)
    attributes = _read_attributes(fields["attributes"])
    nodes = _read_trees(fields["trees"], attributes, goal)
    model = Model(goal, tuple(attributes.values()), nodes, generator=fields["generator"].text())
    if "provenance" in fields:
        found = read_provenance(fields["provenance"], len(goal.states))
        model = replace(model, provenance=found)
    if model.fusions and goal.states and not goal.prior:
        raise ModelFormatError(f"{fields['goal'].place} needs a prior, for evidence is added up")
    _check_evidence(model, fields["trees"])
    return model


_FIELDS = ("format", "version", "generator", "task", "goal", "attributes", "trees")
_READERS = {1: _read_version_1, 2: _read_version_2}


def _read_attributes(reader: Reader, version: int = FORMAT_VERSION) -> dict[str, Attribute]:
    items = reader.items(1, MAX_ATTRIBUTES)
    attributes = {one.name: one for one in (_read_attribute(item, version) for item in items)}
    if len(attributes) != len(reader.value):
        raise ModelFormatError(f"{reader.place} has one name twice")
    return attributes


def _check_evidence(model: Model, trees: Reader) -> None:
    """Check that what a fusion adds up are scores, and that no sum of them is too large."""
    added, fusions = fusion_inputs(model.nodes), deciding_fusions(model.nodes)
    if model.goal.is_additive_number and not isinstance(model.root, Fusion):
        raise ModelFormatError(f"{trees.place} must end with a fusion, as the goal is a number")
    most = MOST_NUMBER if model.goal.is_additive_number else MOST_SCORE
    reach = dict.fromkeys((fusion.name for fusion in fusions.values()), 0.0)
    for place, node in enumerate(model.nodes):
        where, is_added = f"{trees.place}[{place}]", node.name in added
        if isinstance(node, Fusion):
            if is_added == bool(node.bias):
                needed = "no bias, since a fusion adds it up" if is_added else "a bias"
                raise ModelFormatError(f"{where} must have {needed}")
        elif is_added != (node.scores is not None):
            needed = "scores, since a fusion adds it up" if is_added else "no scores"
            raise ModelFormatError(f"{where} must have {needed}")
        elif node.scores is not None:
            missing = () if node.missing is None else node.missing.scores
            top = fusions[node.name].name
            reach[top] += max(np.abs(node.scores).max(), *map(abs, missing), 0.0)
            if reach[top] > most:
                raise ModelFormatError(
                    f"{where}: the largest scores up to here come to {reach[top]:.3g}, and may "
                    f"come to {most:g}"
                )


def _without_weights(model: Model, weights: Mapping[str, float], trees: Reader) -> Model:
    """Multiply the weights of version 1 into the scores of trees.

    A group has no bias from version 2 on, and the shares of the classes, from which the first tree
    tells its evidence, belong to the goal.
    """
    if not model.fusions:
        return model
    added = fusion_inputs(model.nodes)
    nodes: list[Node] = []
    in_all: dict[str, float] = {}
    for node in reversed(model.nodes):
        above = in_all.get(node.name, 1.0)
        if abs(above) > MOST_SCORE:
            raise ModelFormatError(
                f"{trees.place}: the weights above {shorten(node.name)} come to {above:.3g}, and "
                f"may come to {MOST_SCORE:g}"
            )
        if isinstance(node, Fusion):
            in_all |= {name: above * weights[name] for name in node.origins}
            nodes.append(replace(node, bias=()) if node.name in added else node)
        elif node.name in added:
            scores = np.where(node.split[:, None] < 0, above * node.evidence, 0.0)
            nodes.append(replace(node, scores=scores))
        else:
            nodes.append(node)
    first = next(tree for tree in model.trees if tree.name in added)
    goal = replace(model.goal, prior=tuple(first.belief[0].tolist()))
    return replace(model, goal=goal, nodes=tuple(reversed(nodes)))


def _read_choice(reader: Reader, choices: list[str]) -> str:
    text = reader.text()
    if text not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return text


def _read_goal(reader: Reader, task: Task, version: int = FORMAT_VERSION) -> Goal:
    is_first = version == 1
    if task is Task.CLASSIFICATION:
        fields = reader.record(["name", "states"], ["thresholds", *([] if is_first else ["prior"])])
        states = _read_states(fields["states"], 1, what_classes_must_be)
        thresholds: tuple[float, ...] = ()
        if "thresholds" in fields:
            thresholds = _read_shares(fields["thresholds"], len(states), least=LEAST_THRESHOLD)
        prior = _read_shares(fields["prior"], len(states)) if "prior" in fields else ()
        return Goal(fields["name"].text(), states=states, thresholds=thresholds, prior=prior)
    if not is_first and isinstance(reader.value, dict) and len(reader.value) == 1:
        return Goal(reader.record(["name"])["name"].text())
    fields = reader.record(["name", "words", "peaks", "centres"])
    words = fields["words"].texts(1, MAX_WORDS)
    peaks = _read_peaks(fields["peaks"], 2 * len(words) - 1)
    centres = fields["centres"].numbers(len(peaks), len(peaks), -MOST_NUMBER, MOST_NUMBER)
    return Goal(fields["name"].text(), words=words, peaks=peaks, centres=centres)


def _read_states(
    reader: Reader, least: int, what_they_must_be: Callable[[tuple[State, ...]], str | None]
) -> tuple[State, ...]:
    states = tuple(_read_state(item) for item in reader.items(least, MAX_FOCAL_SETS))
    requirement = what_they_must_be(states)
    if requirement is not None:
        raise ModelFormatError(
            f"{reader.place} must be {requirement}. Got {shorten(list(states))}."
        )
    return states


def _read_state(reader: Reader) -> State:
    """Read a state: a text, a finite number, or true or false."""
    if isinstance(reader.value, bool):
        return reader.value
    if isinstance(reader.value, str):
        return reader.text()
    if isinstance(reader.value, int):
        return reader.integer(LEAST_INTEGER, MOST_INTEGER)
    return reader.number(-MOST_NUMBER, MOST_NUMBER)


def _read_shares(reader: Reader, count: int, least: float = 0.0) -> tuple[float, ...]:
    """Read numbers from 0 to 1 that sum to one; those that were rounded are scaled to do so."""
    shares = reader.numbers(count, count, least, 1.0)
    total = math.fsum(shares)
    if abs(total - 1.0) > ROUGH_SUM:
        raise reader.fail("numbers that sum to 1")
    if abs(total - 1.0) <= EXACT_SUM:
        return shares
    return tuple(share / total for share in shares)


def _read_peaks(reader: Reader, count: int) -> tuple[float, ...]:
    peaks = reader.numbers(count, count, -MOST_NUMBER, MOST_NUMBER)
    if not are_apart(peaks):
        raise reader.fail(f"a list of increasing numbers, at least {LEAST_GAP:g} apart")
    return peaks


def _read_attribute(reader: Reader, version: int) -> Attribute:
    cores = ["cores"] if version > 1 else []
    fields = reader.record(
        ["name", "kind", "ignorance"], ["words", "peaks", *cores, "low", "high", "states"]
    )
    kind = Kind(_read_choice(fields["kind"], [kind.value for kind in Kind]))
    if kind is Kind.CONTINUOUS:
        return _read_cored(reader) if "cores" in fields else _read_continuous(reader)
    fields = reader.record(["name", "kind", "states", "ignorance"])
    states = _read_states(fields["states"], 0, what_states_must_be)
    if kind is Kind.BINARY and len(states) > 2:
        raise fields["states"].fail("at most two states")
    return discrete_attribute(
        fields["name"].text(), kind, states, _read_shares(fields["ignorance"], max(1, len(states)))
    )


def _read_continuous(reader: Reader) -> Attribute:
    fields = reader.record(["name", "kind", "words", "peaks", "low", "high", "ignorance"])
    words = fields["words"].texts(1, MAX_WORDS)
    n_sets = 2 * len(words) - 1
    low = fields["low"].number(-MOST_NUMBER, MOST_NUMBER)
    return Attribute(
        name=fields["name"].text(),
        kind=Kind.CONTINUOUS,
        words=words,
        peaks=_read_peaks(fields["peaks"], n_sets),
        ignorance=_read_shares(fields["ignorance"], n_sets),
        low=low,
        high=fields["high"].number(low, MOST_NUMBER),
    )


def _read_cored(reader: Reader) -> Attribute:
    fields = reader.record(["name", "kind", "words", "cores", "low", "high", "ignorance"])
    words = fields["words"].texts(1, MAX_WORDS)
    cores = [_read_core(item) for item in fields["cores"].items(len(words), len(words))]
    if not are_cores(cores):
        raise fields["cores"].fail(
            "a list of increasing intervals, the first from null and the last to null, with "
            f"ends at least {LEAST_GAP:g} apart"
        )
    low = fields["low"].number(-MOST_NUMBER, MOST_NUMBER)
    high = fields["high"].number(low, MOST_NUMBER)
    attribute = cored_attribute(fields["name"].text(), words, cores, (), low, high)
    return replace(attribute, ignorance=_read_shares(fields["ignorance"], attribute.n_focal_sets))


def _read_core(reader: Reader) -> tuple[float, float]:
    low, high = reader.items(2, 2)
    return (
        -math.inf if low.value is None else low.number(-MOST_NUMBER, MOST_NUMBER),
        math.inf if high.value is None else high.number(-MOST_NUMBER, MOST_NUMBER),
    )


def _read_trees(
    reader: Reader,
    attributes: Mapping[str, Attribute],
    goal: Goal,
    weights: dict[str, float] | None = None,
) -> tuple[Node, ...]:
    """Read nodes from bottom to top; each but the last is an input of one that follows.

    Nodes of version 1 put the weights of what they add up into ``weights``.
    """
    most = 1 if goal.centres else MAX_TREES
    nodes: list[Node] = []
    known, names = dict(attributes), set[str]()
    free = set[str]()  # nodes that feed no other yet
    for item in reader.items(1, most):
        node = _read_node(item, known, names, goal, weights)
        if node.name in known:
            raise ModelFormatError(f"{item.place}.name {shorten(node.name)} is taken already")
        below = set(node.origins) & names
        if twice := below - free:
            raise ModelFormatError(
                f"{item.place} takes {shorten(min(twice))}, as another tree does"
            )
        if below and isinstance(node, Tree) and not goal.states:
            raise ModelFormatError(f"{item.place} takes {shorten(min(below))}, which is no word")
        free -= below
        free.add(node.name)
        names.add(node.name)
        known[node.name] = belief_attribute(node.name, goal.states, to_begin_with(node))
        nodes.append(node)
    if strays := free - {nodes[-1].name}:
        raise ModelFormatError(f"{reader.place} has {shorten(min(strays))}, which feeds no tree")
    return tuple(nodes)


def to_begin_with(node: Node) -> tuple[float, ...]:
    """Return what a node believes of a row of which nothing is known; a group, nothing."""
    if isinstance(node, Tree):
        return tuple(node.belief[0].tolist())
    return tuple(softmax(np.array([node.bias]))[0].tolist()) if node.bias else ()


def _read_node(
    reader: Reader,
    attributes: Mapping[str, Attribute],
    below: Collection[str],
    goal: Goal,
    weights: dict[str, float] | None,
) -> Node:
    keys = reader.value if isinstance(reader.value, dict) else {}
    if weights is not None and "weighs" in keys:
        return _read_weighing(reader, below, goal, weights)
    if weights is None and "adds" in keys:
        return _read_fusion(reader, below, goal)
    return _read_tree(reader, attributes, below, goal, has_scores=weights is None)


def _read_weighing(
    reader: Reader, below: Collection[str], goal: Goal, weights: dict[str, float]
) -> Fusion:
    fields = reader.record(["name", "weighs", "bias"])
    weighed = [item.record(["tree", "weight"]) for item in fields["weighs"].items(1, MAX_TREES)]
    names = _read_origins(fields["weighs"], [one["tree"] for one in weighed], below)
    for name, one in zip(names, weighed, strict=True):
        weights[name] = one["weight"].number(-MOST_SCORE, MOST_SCORE)
    return Fusion(fields["name"].text(), names, _read_scores(fields["bias"], goal))


def _read_fusion(reader: Reader, below: Collection[str], goal: Goal) -> Fusion:
    fields = reader.record(["name", "adds"], ["bias"])
    names = _read_origins(fields["adds"], fields["adds"].items(1, MAX_TREES), below)
    bias = _read_scores(fields["bias"], goal) if "bias" in fields else ()
    return Fusion(fields["name"].text(), names, bias)


def _read_origins(reader: Reader, items: list[Reader], below: Collection[str]) -> tuple[str, ...]:
    for one in items:
        if one.text() not in below:
            raise one.fail("the name of a tree before this one")
    names = tuple(one.text() for one in items)
    if len(set(names)) != len(names):
        raise reader.fail("a list without repetition")
    return names


def _read_scores(reader: Reader, goal: Goal) -> tuple[float, ...]:
    most = MOST_NUMBER if goal.is_additive_number else MOST_SCORE
    return reader.numbers(goal.size, goal.size, -most, most)


def _read_tree(
    reader: Reader,
    attributes: Mapping[str, Attribute],
    trees: Collection[str],
    goal: Goal,
    *,
    has_scores: bool,
) -> Tree:
    """Read a tree; one that may have no scores has neither a variance nor a missing rule."""
    fields = reader.record(
        ["name", "inputs", "nodes"], ["variance", "missing"] if has_scores else []
    )
    most = len(attributes) * goal.size
    inputs = tuple(
        _read_input(item, attributes, trees, goal) for item in fields["inputs"].items(1, most)
    )
    if len({attribute.name for attribute in inputs}) != len(inputs):
        raise fields["inputs"].fail("a list without repetition")
    tree = _read_nodes(fields["nodes"], fields["name"].text(), inputs, goal, has_scores)
    if tree.scores is None:
        for key in ("variance", "missing"):
            if key in fields:
                raise ModelFormatError(f"{fields[key].place} stands at a tree without scores")
        return tree
    missing = None
    if "missing" in fields:
        if len(inputs) > 1 or inputs[0].origin in trees:
            raise ModelFormatError(f"{fields['missing'].place} needs a tree with one attribute")
        told = "mean" if goal.is_additive_number else "belief"
        rule = fields["missing"].record(["support", told, "scores"])
        missing = MissingRule(
            _read_support(rule["support"]),
            _read_belief(rule[told], goal),
            _read_scores(rule["scores"], goal),
        )
    most_variance = MOST_NUMBER**2 if goal.is_additive_number else MOST_VARIANCE
    variance = fields["variance"].number(0.0, most_variance) if "variance" in fields else 0.0
    return replace(tree, variance=variance, missing=missing)


def _read_support(reader: Reader) -> float:
    support = reader.number(0.0, MOST_SUPPORT)
    if 0 < support < LEAST_SUPPORT:
        raise reader.fail(f"0 or a number from {LEAST_SUPPORT:g} on")
    return support


def _read_belief(reader: Reader, goal: Goal) -> tuple[float, ...]:
    if goal.is_additive_number:
        return (reader.number(-MOST_NUMBER, MOST_NUMBER),)
    return _read_shares(reader, goal.size)


def _read_input(
    reader: Reader, attributes: Mapping[str, Attribute], trees: Collection[str], goal: Goal
) -> Attribute:
    if not isinstance(reader.value, dict):
        name = reader.text()
        if name not in attributes:
            raise ModelFormatError(
                f"{reader.place} names {shorten(name)}, which is neither an attribute "
                f"nor a tree before it{did_you_mean(name, attributes)}"
            )
        return attributes[name]
    if "parted_at" in reader.value:
        return _read_parted(reader, attributes)
    fields = reader.record(_BELIEF)
    tree = fields["tree"].text()
    if tree not in trees:
        raise fields["tree"].fail("the name of a tree before this one")
    words = fields["words"].texts(1, MAX_WORDS)
    peaks = _read_peaks(fields["peaks"], 2 * len(words) - 1)
    return Attribute(
        name=fields["name"].text(),
        kind=Kind.CONTINUOUS,
        words=words,
        peaks=peaks,
        ignorance=_read_shares(fields["ignorance"], len(peaks)),
        low=0.0,
        high=1.0,
        tree=tree,
        place=fields["state"].integer(0, goal.size - 1),
    )


def _read_parted(reader: Reader, attributes: Mapping[str, Attribute]) -> Attribute:
    """Read an input that is only asked in which part it is."""
    fields = reader.record(["name", "parted_at"])
    attribute = attributes.get(fields["name"].text())
    if attribute is None or len(attribute.cores) < 2:
        raise fields["name"].fail("the name of an attribute whose words have cores")
    last = len(attribute.words) - 1
    starts = [start.integer(1, last) for start in fields["parted_at"].items(1, last)]
    if any(start >= after for start, after in pairwise(starts)):
        raise fields["parted_at"].fail("numbers of words that ascend")
    return parted_attribute(attribute, starts)


def _read_nodes(
    reader: Reader,
    tree_name: str,
    inputs: tuple[Attribute, ...],
    goal: Goal,
    has_scores: bool,
) -> Tree:
    nodes = reader.items(1, MAX_NODES)
    told = "mean" if goal.is_additive_number else "belief"
    is_scored = has_scores and any(
        isinstance(node.value, dict) and "scores" in node.value for node in nodes
    )
    leaf_keys = ("support", told, *(("scores",) if is_scored else ()))
    inner_keys = ("split", "first_child", "support", told)
    scores = np.zeros((len(nodes), goal.size))
    places = {attribute.name: i for i, attribute in enumerate(inputs)}
    most_conditions = min(MAX_DEPTH, len(inputs))
    split = np.full(len(nodes), -1, dtype=np.int32)
    first_child = np.zeros(len(nodes), dtype=np.int32)
    support = np.empty(len(nodes))
    belief = np.empty((len(nodes), goal.size))
    depth = np.full(len(nodes), -1, dtype=np.int32)
    depth[0] = 0
    for i, node in enumerate(nodes):
        is_inner = isinstance(node.value, dict) and "split" in node.value
        fields = node.record(inner_keys if is_inner else leaf_keys)
        support[i] = _read_support(fields["support"])
        belief[i] = _read_belief(fields[told], goal)
        if not is_inner:
            if is_scored:
                scores[i] = _read_scores(fields["scores"], goal)
            continue
        split[i] = places.get(fields["split"].text(), -1)
        if split[i] < 0:
            raise fields["split"].fail("one of the tree's inputs")
        if depth[i] >= most_conditions:
            raise node.fail(f"a leaf, for a branch has at most {most_conditions} splits")
        n_children = inputs[split[i]].n_focal_sets
        # Children after their parent, and each child once: so there is no cycle.
        first = fields["first_child"].integer(i + 1, len(nodes) - n_children)
        if (depth[first : first + n_children] >= 0).any():
            raise fields["first_child"].fail("the first of children that no other node has")
        depth[first : first + n_children] = depth[i] + 1
        first_child[i] = first
    if (depth < 0).any():
        raise ModelFormatError(f"{reader.place}[{int(np.argmin(depth))}] has no parent")
    of_leaves = scores if is_scored else None
    return Tree(tree_name, inputs, split, first_child, support, belief, of_leaves)


_BELIEF = ("name", "tree", "state", "words", "peaks", "ignorance")
