"""Write a model document as JSON, and read one with every value checked.

The format has a number, raised when a reader of the old one could misread a new file; the readers
of old numbers stay (``docs/model-format.md`` says how). Reading runs no code and needs memory in
proportion to the file (:mod:`solah.data.json_reader`).
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from importlib.metadata import version as package_version
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.json_reader import JsonParser, Reader
from solah.data.table import Kind
from solah.exceptions import ModelFormatError, ModelVersionError, did_you_mean, shorten
from solah.kernels.arrays import MAX_DEPTH, MAX_FOCAL_SETS
from solah.kernels.reference import softmax
from solah.model.attributes import Attribute, belief_attribute, discrete_attribute
from solah.model.document import Fusion, Goal, Model, Node, Task, Tree
from solah.model.limits import (
    EXACT_SUM,
    LEAST_GAP,
    LEAST_INTEGER,
    LEAST_SUPPORT,
    LEAST_THRESHOLD,
    MOST_INTEGER,
    MOST_NUMBER,
    MOST_SUPPORT,
    MOST_WEIGHT,
    ROUGH_SUM,
    are_apart,
    what_classes_must_be,
    what_states_must_be,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from solah.data import State

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 1
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
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    attributes = _block((_dump(_attribute_record(a)) for a in model.attributes), "    ")
    trees = _block(map(_node_text, model.nodes), "    ")
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
    if goal.task is Task.CLASSIFICATION:
        record = {"name": goal.name, "states": list(goal.states)}
        return record | ({"thresholds": list(goal.thresholds)} if goal.thresholds else {})
    return {
        "name": goal.name,
        "words": list(goal.words),
        "peaks": list(goal.peaks),
        "centres": list(goal.centres),
    }


def _attribute_record(attribute: Attribute) -> dict[str, Any]:
    record: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind.value}
    if attribute.is_continuous:
        record |= {
            "words": list(attribute.words),
            "peaks": list(attribute.peaks),
            "low": attribute.low,
            "high": attribute.high,
        }
    else:
        record |= {"states": list(attribute.states)}
    return record | {"ignorance": list(attribute.ignorance)}


def _node_text(node: Node) -> str:
    if isinstance(node, Tree):
        return _tree_text(node)
    weighed = [
        {"tree": name, "weight": weight}
        for name, weight in zip(node.origins, node.weights, strict=True)
    ]
    return _dump({"name": node.name, "weighs": weighed, "bias": list(node.bias)})


def _tree_text(tree: Tree) -> str:
    names = [attribute.name for attribute in tree.inputs]
    columns = zip(
        tree.split.tolist(),
        tree.first_child.tolist(),
        tree.support.tolist(),
        tree.belief.tolist(),
        strict=True,
    )
    nodes = _block((_dump(_branch_record(names, *node)) for node in columns), "      ")
    inputs = _dump([_input_record(attribute) for attribute in tree.inputs])
    return f'{{"name": {_dump(tree.name)}, "inputs": {inputs}, "nodes": {nodes}}}'


def _input_record(attribute: Attribute) -> str | dict[str, Any]:
    """Name an attribute or a tree below; words over a tree's belief stand here in full."""
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


def _branch_record(
    names: list[str], split: int, first_child: int, support: float, belief: list[float]
) -> dict[str, Any]:
    leaf = {"support": support, "belief": belief}
    return leaf if split < 0 else {"split": names[split], "first_child": first_child} | leaf


# --- reading ---------------------------------------------------------------------------------


def _read_version_1(document: Reader) -> Model:
    fields = document.record(
        ["format", "version", "generator", "task", "goal", "attributes", "trees"]
    )
    task = _read_choice(fields["task"], [task.value for task in Task])
    goal = _read_goal(fields["goal"], Task(task))
    attributes = {
        attribute.name: attribute
        for attribute in map(_read_attribute, fields["attributes"].items(1, MAX_ATTRIBUTES))
    }
    if len(attributes) != len(fields["attributes"].value):
        raise ModelFormatError(f"{fields['attributes'].place} has one name twice")
    trees = _read_trees(fields["trees"], attributes, goal)
    return Model(goal, tuple(attributes.values()), trees, generator=fields["generator"].text())


_READERS = {1: _read_version_1}


def _read_choice(reader: Reader, choices: list[str]) -> str:
    text = reader.text()
    if text not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return text


def _read_goal(reader: Reader, task: Task) -> Goal:
    if task is Task.CLASSIFICATION:
        fields = reader.record(["name", "states"], ["thresholds"])
        states = _read_states(fields["states"], 1, what_classes_must_be)
        thresholds: tuple[float, ...] = ()
        if "thresholds" in fields:
            thresholds = _read_shares(fields["thresholds"], len(states), least=LEAST_THRESHOLD)
        return Goal(fields["name"].text(), states=states, thresholds=thresholds)
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


def _read_attribute(reader: Reader) -> Attribute:
    fields = reader.record(
        ["name", "kind", "ignorance"], ["words", "peaks", "low", "high", "states"]
    )
    kind = Kind(_read_choice(fields["kind"], [kind.value for kind in Kind]))
    if kind is Kind.CONTINUOUS:
        return _read_continuous(reader)
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


def _read_trees(
    reader: Reader, attributes: Mapping[str, Attribute], goal: Goal
) -> tuple[Node, ...]:
    """Read nodes from bottom to top; each but the last is an input of one that follows."""
    most = MAX_TREES if goal.task is Task.CLASSIFICATION else 1
    nodes: list[Node] = []
    known, free = dict(attributes), set(attributes)
    reach: dict[str, float] = {}  # by the names of the nodes so far
    for item in reader.items(1, most):
        node = _read_node(item, known, reach.keys(), goal)
        if node.name in known:
            raise ModelFormatError(f"{item.place}.name {shorten(node.name)} is taken already")
        if twice := set(node.origins) - free:
            raise ModelFormatError(
                f"{item.place} takes {shorten(min(twice))}, as another tree does"
            )
        free -= set(node.origins)
        free.add(node.name)
        reach[node.name] = _reach(node, reach)
        if reach[node.name] > MOST_WEIGHT:
            raise ModelFormatError(
                f"{item.place}: the weights up to here come to {reach[node.name]:.3g}, and may "
                f"come to {MOST_WEIGHT:g}"
            )
        known[node.name] = belief_attribute(node.name, goal.states, to_begin_with(node))
        nodes.append(node)
    if strays := free - attributes.keys() - {nodes[-1].name}:
        raise ModelFormatError(f"{reader.place} has {shorten(min(strays))}, which feeds no tree")
    return tuple(nodes)


def _reach(node: Node, below: Mapping[str, float]) -> float:
    """Return how often, at the most, the evidence of trees counts in a node, 1 at the least.

    The weights of fusions above one another multiply. As no factor counts as less than 1, no part
    of such a product is larger than what is returned.
    """
    if isinstance(node, Tree):
        return 1.0
    parts = zip(node.weights, node.origins, strict=True)
    return max(1.0, sum(abs(weight) * below[name] for weight, name in parts))


def to_begin_with(node: Node) -> tuple[float, ...]:
    """Return what a node believes of a row of which nothing is known."""
    start = softmax(np.array([node.bias]))[0] if isinstance(node, Fusion) else node.belief[0]
    return tuple(start.tolist())


def _read_node(
    reader: Reader, attributes: Mapping[str, Attribute], below: Collection[str], goal: Goal
) -> Node:
    if isinstance(reader.value, dict) and "weighs" in reader.value:
        return _read_fusion(reader, below, goal)
    return _read_tree(reader, attributes, below, goal)


def _read_fusion(reader: Reader, below: Collection[str], goal: Goal) -> Fusion:
    fields = reader.record(["name", "weighs", "bias"])
    weighed = [item.record(["tree", "weight"]) for item in fields["weighs"].items(1, MAX_TREES)]
    for one in weighed:
        if one["tree"].text() not in below:
            raise one["tree"].fail("the name of a tree before this one")
    names = tuple(one["tree"].text() for one in weighed)
    if len(set(names)) != len(names):
        raise fields["weighs"].fail("a list without repetition")
    return Fusion(
        name=fields["name"].text(),
        origins=names,
        weights=tuple(one["weight"].number(-MOST_WEIGHT, MOST_WEIGHT) for one in weighed),
        bias=fields["bias"].numbers(goal.size, goal.size, -MOST_WEIGHT, MOST_WEIGHT),
    )


def _read_tree(
    reader: Reader, attributes: Mapping[str, Attribute], trees: Collection[str], goal: Goal
) -> Tree:
    fields = reader.record(["name", "inputs", "nodes"])
    most = len(attributes) * max(goal.size, 1)
    inputs = tuple(
        _read_input(item, attributes, trees, goal) for item in fields["inputs"].items(1, most)
    )
    if len({attribute.name for attribute in inputs}) != len(inputs):
        raise fields["inputs"].fail("a list without repetition")
    return _read_nodes(fields["nodes"], fields["name"].text(), inputs, goal)


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


def _read_nodes(reader: Reader, tree_name: str, inputs: tuple[Attribute, ...], goal: Goal) -> Tree:
    nodes = reader.items(1, MAX_NODES)
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
        fields = node.record(_INNER if is_inner else _LEAF)
        support[i] = fields["support"].number(0.0, MOST_SUPPORT)
        if 0 < support[i] < LEAST_SUPPORT:
            raise fields["support"].fail(f"0 or a number from {LEAST_SUPPORT:g} on")
        belief[i] = _read_shares(fields["belief"], goal.size)
        if not is_inner:
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
    return Tree(tree_name, inputs, split, first_child, support, belief)


_BELIEF = ("name", "tree", "state", "words", "peaks", "ignorance")
_LEAF = ("support", "belief")
_INNER = ("split", "first_child", *_LEAF)
