"""Read the trees of a parsed model document, and all of it, with every value checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from solah.data.table import Kind
from solah.exceptions import ModelFormatError, did_you_mean, shorten
from solah.kernels.arrays import MAX_DEPTH
from solah.model.attributes import (
    Attribute,
    belief_attribute,
    parted_attribute,
)
from solah.model.beliefs import deciding_fusions, fusion_inputs, to_begin_with
from solah.model.document import Fusion, Goal, MissingRule, Model, Monotonic, Node, Task, Tree
from solah.model.edits import read_comments, read_edits, read_mark
from solah.model.limits import (
    LEAST_SUPPORT,
    MOST_NESTED_FUSIONS,
    MOST_NUMBER,
    MOST_SCORE,
    MOST_SUPPORT,
    MOST_VARIANCE,
)
from solah.model.monotone import broken_promises
from solah.model.policy_format import read_domain, read_policy
from solah.model.provenance import read_provenance
from solah.model.reading_attributes import (
    MAX_WORDS,
    read_attributes,
    read_choice,
    read_goal,
    read_peaks,
    read_shares,
)
from solah.model.signals_format import read_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from solah.data.json_reader import Reader

MAX_TREES = 100_000
MAX_PROMISES = 1_000_000
_MAX_NODES = 50_000_000
FIELDS = ("format", "version", "generator", "task", "goal", "attributes", "trees")
_BELIEF = ("name", "tree", "state", "words", "peaks", "ignorance")


@dataclass(frozen=True)
class Version:
    """What a version of the format has of its own.

    Attributes
    ----------
    fusion_key : the key that tells a fusion from a tree
    read_fusion : reads a fusion, given the names of the nodes below it, and the goal
    has_scores : whether evidence stands in scores, with all that came with them: the shares of
        the classes, words with cores, rules for missing readings, numbers that are added up
    """

    fusion_key: str
    read_fusion: Callable[[Reader, Collection[str], Goal], Fusion]
    has_scores: bool


def read_current(document: Reader) -> Model:
    """Read a model of the version that is written now."""
    optional = ["provenance", "monotonic", "edits", "comments", "signals", "domain", "policy"]
    fields = document.record(FIELDS, optional)
    model = read_fields(fields, Version("adds", _read_fusion, has_scores=True))
    if "provenance" in fields:
        found = read_provenance(fields["provenance"], len(model.goal.states))
        model = replace(model, provenance=found)
    if "edits" in fields:
        model = replace(model, edits=read_edits(fields["edits"]))
    if "comments" in fields:
        model = replace(model, comments=read_comments(fields["comments"]))
    if "signals" in fields:
        model = replace(model, signals=read_signals(fields["signals"], model.attributes))
    if "domain" in fields:
        model = replace(model, domain=read_domain(fields["domain"], model.attributes))
    if "policy" in fields:
        policy = read_policy(fields["policy"], model.domain, model.goal)
        model = replace(model, policy=policy)
    if model.fusions and model.goal.states and not model.goal.prior:
        raise ModelFormatError(f"{fields['goal'].place} needs a prior, for evidence is added up")
    check_evidence(model, fields["trees"])
    if "monotonic" in fields:
        items = fields["monotonic"].items(1, MAX_PROMISES)
        model = replace(model, monotonic=tuple(_read_promise(one, model.goal) for one in items))
        for broken in broken_promises(model):
            raise ModelFormatError(f"{fields['monotonic'].place} is not kept: {broken}")
    return model


def _read_promise(reader: Reader, goal: Goal) -> Monotonic:
    fields = reader.record(["attribute", "direction", *(["state"] if goal.states else [])])
    direction = fields["direction"].integer(-1, 1)
    if not direction:
        raise fields["direction"].fail("1 or -1")
    state = fields["state"].integer(0, goal.size - 1) if goal.states else 0
    return Monotonic(fields["attribute"].text(), direction, state)


def read_fields(fields: Mapping[str, Reader], version: Version) -> Model:
    """Read the parts of a model; what its evidence adds up to is not checked yet."""
    task = Task(read_choice(fields["task"], [task.value for task in Task]))
    goal = read_goal(fields["goal"], task, has_scores=version.has_scores)
    attributes = read_attributes(fields["attributes"], has_scores=version.has_scores)
    nodes = _read_trees(fields["trees"], attributes, goal, version)
    return Model(goal, tuple(attributes.values()), nodes, generator=fields["generator"].text())


def check_evidence(model: Model, trees: Reader) -> None:
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


def _read_trees(
    reader: Reader, attributes: Mapping[str, Attribute], goal: Goal, version: Version
) -> tuple[Node, ...]:
    """Read nodes from bottom to top; each but the last is an input of one that follows."""
    most = 1 if goal.centres else MAX_TREES
    nodes: list[Node] = []
    known, names = dict(attributes), set[str]()
    free = set[str]()  # nodes that feed no other yet
    nested: dict[str, int] = {}  # how many fusions are on the way down from each
    for item in reader.items(1, most):
        node = _read_node(item, known, names, goal, version)
        if node.name in known:
            raise ModelFormatError(f"{item.place}.name {shorten(node.name)} is taken already")
        below = set(node.origins) & names
        if twice := below - free:
            raise ModelFormatError(
                f"{item.place} takes {shorten(min(twice))}, as another tree does"
            )
        if below and isinstance(node, Tree) and not goal.states:
            raise ModelFormatError(f"{item.place} takes {shorten(min(below))}, which is no word")
        if isinstance(node, Fusion):
            nested[node.name] = 1 + max(nested.get(name, 0) for name in node.origins)
            if nested[node.name] > MOST_NESTED_FUSIONS:
                raise ModelFormatError(
                    f"{item.place} is nested too deeply: more than {MOST_NESTED_FUSIONS} fusions "
                    "that add up one another"
                )
        free -= below
        free.add(node.name)
        names.add(node.name)
        believed = belief_attribute(node.name, goal.states, to_begin_with(node))
        known[node.name] = replace(believed, is_moved=_is_moved(node, known))
        nodes.append(node)
    if strays := free - {nodes[-1].name}:
        raise ModelFormatError(f"{reader.place} has {shorten(min(strays))}, which feeds no tree")
    return tuple(nodes)


def _is_moved(node: Node, below: Mapping[str, Attribute]) -> bool:
    """Tell whether words were moved that a node decides by, itself or through those below it."""
    if isinstance(node, Tree):
        return any(one.is_moved for one in node.inputs)
    return any(below[name].is_moved for name in node.origins)


def _read_node(
    reader: Reader,
    attributes: Mapping[str, Attribute],
    below: Collection[str],
    goal: Goal,
    version: Version,
) -> Node:
    if isinstance(reader.value, dict) and version.fusion_key in reader.value:
        return version.read_fusion(reader, below, goal)
    return _read_tree(reader, attributes, below, goal, has_scores=version.has_scores)


def _read_fusion(reader: Reader, below: Collection[str], goal: Goal) -> Fusion:
    fields = reader.record(["name", "adds"], ["bias"])
    names = read_origins(fields["adds"], fields["adds"].items(1, MAX_TREES), below)
    bias = read_scores(fields["bias"], goal) if "bias" in fields else ()
    return Fusion(fields["name"].text(), names, bias)


def read_origins(reader: Reader, items: list[Reader], below: Collection[str]) -> tuple[str, ...]:
    """Read the names of what a fusion adds up."""
    for one in items:
        if one.text() not in below:
            raise one.fail("the name of a tree before this one")
    names = tuple(one.text() for one in items)
    if len(set(names)) != len(names):
        raise reader.fail("a list without repetition")
    return names


def read_scores(reader: Reader, goal: Goal) -> tuple[float, ...]:
    """Read the evidence for each class, or what is added to a number."""
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
        rule = fields["missing"].record(["support", told, "scores"], ["pinned"])
        missing = MissingRule(
            _read_support(rule["support"]),
            _read_belief(rule[told], goal),
            read_scores(rule["scores"], goal),
            "pinned" in rule and read_mark(rule["pinned"]),
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
    return read_shares(reader, goal.size)


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
    peaks = read_peaks(fields["peaks"], 2 * len(words) - 1)
    return Attribute(
        name=fields["name"].text(),
        kind=Kind.CONTINUOUS,
        words=words,
        peaks=peaks,
        ignorance=read_shares(fields["ignorance"], len(peaks)),
        low=0.0,
        high=1.0,
        tree=tree,
        place=fields["state"].integer(0, goal.size - 1),
        is_moved=attributes[tree].is_moved,
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
    nodes = reader.items(1, _MAX_NODES)
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
    pinned: list[int] = []
    pin_key = ("pinned",) if has_scores else ()
    for i, node in enumerate(nodes):
        is_inner = isinstance(node.value, dict) and "split" in node.value
        fields = node.record(inner_keys) if is_inner else node.record(leaf_keys, pin_key)
        support[i] = _read_support(fields["support"])
        belief[i] = _read_belief(fields[told], goal)
        if not is_inner:
            if is_scored:
                scores[i] = read_scores(fields["scores"], goal)
            if "pinned" in fields and read_mark(fields["pinned"]):
                pinned.append(i)
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
    kept = frozenset(pinned)
    return Tree(tree_name, inputs, split, first_child, support, belief, of_leaves, pinned=kept)
