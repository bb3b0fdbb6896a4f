"""Changes of a model: the rules that conditions mean, other names, and moved words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError, RuleTextError, did_you_mean, shorten
from solah.model.document import AdditiveNode, Branch, Term, TermInput, TreeNode
from solah.model.features import cored_feature

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from solah.data import State
    from solah.edit.sentence import StatedCondition
    from solah.model.document import Model, Node
    from solah.model.features import Feature


@dataclass(frozen=True)
class Found:
    """Rules of a term or of a tree.

    Attributes
    ----------
    node : the index of the node in the model
    number : the index of the term in the node; 0 for a tree
    part : the term or the tree; each of its lines or branches is meant whole, or not at all
    meant : the cells or the indices of branches that are meant; none for a missing value
    """

    node: int
    number: int
    part: Term | TreeNode
    meant: frozenset[Any] = frozenset()

    def replaced(self, model: Model, part: Term | TreeNode) -> Model:
        """Return the model with another part instead."""
        node = model.nodes[self.node]
        if isinstance(part, TreeNode):
            node = part
        elif isinstance(node, AdditiveNode):
            terms = (*node.terms[: self.number], part, *node.terms[self.number + 1 :])
            node = replace(node, terms=terms)
        nodes = (*model.nodes[: self.node], node, *model.nodes[self.node + 1 :])
        return replace(model, nodes=nodes)


def find_rules(
    model: Model, conditions: Sequence[StatedCondition], node_name: str | None = None
) -> Found:
    """Return the rules that conditions select; an error locates a wrong condition."""
    names = {condition.feature for condition in conditions}
    known = [node.name for node in model.nodes]
    if node_name is not None and node_name not in known:
        near = did_you_mean(node_name, known)
        raise RuleTextError(f"the model has no node {shorten(node_name)}{near}")
    parts: list[tuple[int, int, Term | TreeNode]] = []
    for number, node in enumerate(model.nodes):
        if node_name not in (None, node.name):
            continue
        if isinstance(node, TreeNode):
            parts.append((number, 0, node))
        else:
            parts += [(number, place, term) for place, term in enumerate(node.terms)]
    asked = [frozenset(one.name for one in part.inputs) for *_, part in parts]
    inputs = frozenset[str]().union(*asked)
    for condition in conditions:
        if condition.feature not in inputs:
            near = did_you_mean(condition.feature, sorted(inputs))
            raise condition.token.fail(
                f"the model has no rules on {shorten(condition.feature)}{near}"
            )
    found = [part for part, of in zip(parts, asked, strict=True) if of == names] or [
        part
        for part, of in zip(parts, asked, strict=True)
        if of > names and isinstance(part[2], TreeNode)
    ]
    if not found:
        told = " and ".join(map(shorten, sorted(names)))
        how = "together" if len(names) > 1 else "alone"
        raise conditions[-1].token.fail(f"the model has no rules on {told} {how}; add one")
    if len(found) > 1:
        shown = ", ".join(shorten(known[number]) for number, *_ in found[:4])
        raise conditions[0].token.fail(f"several rules match; choose one with node=: {shown}")
    ((number, place, part),) = found
    if isinstance(part, TreeNode):
        return Found(number, place, *_find_branches(part, conditions))
    return Found(number, place, *_find_cells(part, conditions))


# --- terms ---------------------------------------------------------------------------------------


def _find_cells(
    term: Term, conditions: Sequence[StatedCondition]
) -> tuple[Term, frozenset[tuple[int, ...]]]:
    """Split lines of a term so that conditions mean whole ones; return the cells, too."""
    by_name = {one.feature: one for one in conditions}
    if any(one.form == "missing" for one in conditions):
        if len(term.inputs) > 1:
            raise conditions[0].token.fail(
                "a missing value has a rule only where rules are on one feature"
            )
        return term, frozenset()
    wanted = [meant_words(one.feature, by_name[one.name]) for one in term.inputs]
    term = _split_lines(term, wanted)
    lines = [
        [line for line, part in enumerate(one.parts) if words.issuperset(part)]
        for one, words in zip(term.inputs, wanted, strict=True)
    ]
    return term, frozenset(product(*lines))


def meant_words(feature: Feature, condition: StatedCondition) -> frozenset[int]:
    """Return the words that a condition means, by their indices."""
    return frozenset(condition.indices([(word,) for word in feature.words], feature.crossovers))


def pieces_of(
    feature: Feature, part: Sequence[int], wanted: Collection[int]
) -> list[tuple[int, ...]]:
    """Part words, or focal sets, into those that are wanted and others; into runs with an order."""
    key = [(0 if feature.is_ordered else one not in wanted, one) for one in part]
    grouped = groupby((one for _, one in sorted(key)), lambda one: one in wanted)
    return sorted(tuple(run) for _, run in grouped)


def _split_lines(term: Term, wanted: Sequence[Collection[int]]) -> Term:
    """Split the lines of which only some words are wanted; nobody counted the rows of the parts."""
    inputs, sources, whole = [], [], []
    for one, words in zip(term.inputs, wanted, strict=True):
        pieces = [
            (piece, line)
            for line, part in enumerate(one.parts)
            for piece in pieces_of(one.feature, part, words)
        ]
        pieces.sort()
        inputs.append(TermInput(one.feature, tuple(piece for piece, _ in pieces)))
        sources.append([line for _, line in pieces])
        whole.append(np.array([piece == one.parts[line] for piece, line in pieces]))
    lines = np.ix_(*sources)
    new = replace(
        term,
        inputs=tuple(inputs),
        weights=term.weights[lines],
        shares=term.shares[lines],
        counts=np.where(reduce(np.logical_and.outer, whole), term.counts[lines], 0.0),
    )
    pinned = (
        cell
        for cell in new.cells()
        if tuple(of[place] for of, place in zip(sources, cell, strict=True)) in term.pinned
    )
    return replace(new, pinned=frozenset(pinned))


def spread_of(term: Term) -> float:
    """Return the variance of what a term adds, for values spread as those of the training rows.

    The features count as independent.
    """
    masses = [np.bincount(one.part_of_set, one.asked.mean_masses) for one in term.inputs]
    rows = reduce(np.multiply.outer, masses).reshape(-1)
    weights = term.weights.reshape(len(rows), -1)
    away = weights - np.average(weights, axis=0, weights=rows)
    return float(np.average((away**2).mean(axis=1), weights=rows))


# --- trees ---------------------------------------------------------------------------------------


def _find_branches(
    tree: TreeNode, conditions: Sequence[StatedCondition]
) -> tuple[TreeNode, frozenset[int]]:
    """Split branches so that conditions mean whole ones; return the indices of these, too."""
    numbers = {one.name: number for number, one in enumerate(tree.inputs)}
    wanted: dict[int, frozenset[int]] = {}
    narrow: dict[int, StatedCondition] = {}
    for condition in conditions:
        if condition.form == "missing":
            raise condition.token.fail("a tree has no rules for missing values")
        number = numbers[condition.feature]
        sets = tree.inputs[number].focal_sets
        wanted[number] = frozenset(condition.indices(sets))
        if len(wanted[number]) < len(sets):
            narrow[number] = condition
    branches: list[tuple[Branch, bool]] = []
    others: set[int] = set()
    for branch in tree.branches:
        asked = dict(branch.conditions)
        if any(number in asked and wanted[number].isdisjoint(asked[number]) for number in wanted):
            branches.append((branch, False))
            continue
        for number, condition in narrow.items():
            if number not in asked:
                raise condition.token.fail(
                    f"a matching branch of {shorten(tree.name)} has "
                    f"no condition on this feature; drop it"
                )
        others |= asked.keys() - wanted.keys()
        branches += _split_branch(tree, branch, wanted)
    branches.sort(key=lambda one: one[0].conditions)
    meant = frozenset(number for number, (_, is_meant) in enumerate(branches) if is_meant)
    contents = {(one.belief, one.is_pinned) for one, is_meant in branches if is_meant}
    if others and len(contents) > 1:
        named = " and ".join(shorten(tree.inputs[number].name) for number in sorted(others))
        raise conditions[-1].token.fail(f"several rules match; add a condition on {named}")
    return replace(tree, branches=tuple(branch for branch, _ in branches)), meant


def _split_branch(
    tree: TreeNode, branch: Branch, wanted: dict[int, frozenset[int]]
) -> list[tuple[Branch, bool]]:
    """Split a branch of which only some focal sets are wanted; flag those parts.

    The parts share its rows as missing values are spread over the focal sets.
    """
    if not branch.conditions or branch.conditions[-1][0] not in wanted:
        return [(branch, True)]
    *before, (number, sets) = branch.conditions
    one = tree.inputs[number]
    pieces = pieces_of(one, sets, wanted[number])
    masses = [sum(one.mean_masses[index] for index in piece) for piece in pieces]
    if len(pieces) == 1 or not sum(masses):
        masses = [1.0] * len(pieces)
    return [
        (
            replace(
                branch,
                conditions=(*before, (number, piece)),
                support=branch.support * mass / sum(masses),
            ),
            wanted[number].issuperset(piece),
        )
        for piece, mass in zip(pieces, masses, strict=True)
    ]


# --- names ---------------------------------------------------------------------------------------


def map_features(model: Model, change: Callable[[Feature], Feature]) -> Model:
    """Return a model whose features, and words over outputs of nodes, are changed everywhere."""

    def changed(node: Node) -> Node:
        if not isinstance(node, AdditiveNode):
            return replace(node, inputs=tuple(map(change, node.inputs)))
        terms = []
        for term in node.terms:
            inputs = (replace(one, feature=change(one.feature)) for one in term.inputs)
            terms.append(replace(term, inputs=tuple(inputs)))
        return replace(node, terms=tuple(terms))

    return replace(
        model,
        features=tuple(map(change, model.features)),
        nodes=tuple(map(changed, model.nodes)),
    )


def rename_feature(model: Model, old: str, new: str) -> Model:
    """Rename a feature, in the domain and in what is computed from samples as well."""

    def name_of(name: str) -> str:
        return new if name == old else name

    signals, domain = model.signals, model.domain
    if signals is not None:
        features = (replace(one, name=name_of(one.name)) for one in signals.features)
        signals = replace(signals, features=tuple(features))
    if domain is not None:
        cells = (replace(one, name=name_of(one.name)) for one in domain.cells)
        pairs = (
            replace(one, first=name_of(one.first), second=name_of(one.second))
            for one in domain.pairs
        )
        domain = replace(domain, cells=tuple(cells), pairs=tuple(pairs))
    promises = (replace(one, feature=name_of(one.feature)) for one in model.monotonic)
    renamed = map_features(
        model, lambda one: replace(one, name=name_of(one.name)) if one.tree is None else one
    )
    return replace(renamed, signals=signals, domain=domain, monotonic=tuple(promises))


def rename_node(model: Model, old: str, new: str) -> Model:
    """Rename a node or a group."""
    groups = [group.name for node in model.sums for group in node.groups]
    names = [*(node.name for node in model.nodes), *groups]
    if old not in names:
        raise ParameterError(f"there is no group {shorten(old)}{did_you_mean(old, names)}")

    def name_of(name: str) -> str:
        return new if name == old else name

    def changed(node: Node) -> Node:
        node = replace(node, name=name_of(node.name))
        if not isinstance(node, AdditiveNode):
            return node
        groups = tuple(replace(group, name=name_of(group.name)) for group in node.groups)
        return replace(node, groups=groups)

    def heard(one: Feature) -> Feature:
        if one.tree is not None:
            return replace(one, tree=name_of(one.tree))
        return replace(one, name=name_of(one.name))  # no feature has the name of a node

    renamed = map_features(model, heard)
    return replace(renamed, nodes=tuple(map(changed, renamed.nodes)))


def rename_word(model: Model, feature: str, old: str, new: str) -> Model:
    """Rename a word of a feature, or one over the output of a node."""
    beliefs = (one for node in model.nodes for one in node.inputs if one.tree is not None)
    known = {one.name: one for one in (*model.features, *beliefs)}
    if feature not in known:
        near = did_you_mean(feature, known)
        raise ParameterError(f"the model has no feature {shorten(feature)}{near}")
    if not known[feature].is_continuous:
        raise ParameterError(
            f"{shorten(feature)} is categorical, and the data name its categories, too; rename "
            f"them in the data"
        )
    number = _index(old, known[feature].words, feature, "word")
    words = list(known[feature].words)
    words[number] = new

    def changed(one: Feature) -> Feature:
        return replace(one, words=tuple(words)) if one == known[feature] else one

    return map_features(model, changed)


def rename_class(model: Model, old: State, new: State) -> Model:
    """Rename a class of the target, and what learning calls after it."""
    states = list(model.target.classes)
    if old not in states:
        near = did_you_mean(old, map(str, states))
        raise ParameterError(f"there is no class {shorten(old)}{near}")
    states[states.index(old)] = new
    nodes = {node.name for node in model.nodes}

    def changed(one: Feature) -> Feature:
        if one.tree is not None and one.name == f"{one.tree}({old})":
            return replace(one, name=f"{one.tree}({new})")
        if one.tree is None and one.name in nodes:
            return replace(one, categories=tuple(states), words=tuple(map(str, states)))
        return one

    renamed = map_features(model, changed)
    return replace(renamed, target=replace(model.target, classes=tuple(states)))


# --- where words apply ---------------------------------------------------------------------------


def moved(
    feature: Feature, word: str, start: float | None, end: float | None, peak: float | None
) -> tuple[Feature, str]:
    """Move the range of a word, or the peak of a focal set; return it and the text of the edit."""
    name = shorten(feature.name)
    if not feature.is_continuous:
        raise ParameterError(f"{name} is categorical; only words of a continuous feature move")
    edges = {"begins": start, "ends": end}
    values = [value for value in (*edges.values(), peak) if value is not None]
    if not all(map(math.isfinite, values)):
        raise ParameterError(f"{shorten(word)} can move to finite numbers only. Got {values}.")
    has_edges = start is not None or end is not None
    if feature.cores:
        if peak is not None or not has_edges:
            raise ParameterError(f"the words of {name} have ranges: give start, end or both")
        return _move_range(feature, word, edges)
    if peak is None or has_edges:
        raise ParameterError(f"the words of {name} overlap: give the peak of one, or of two")
    return _move_peak(feature, word, peak)


def _index(word: str, words: Sequence[str], feature: str, what: str) -> int:
    if word not in words:
        near = did_you_mean(word, words)
        raise ParameterError(f"{shorten(feature)} has no {what} {shorten(word)}{near}")
    return list(words).index(word)


def _move_range(feature: Feature, word: str, edges: dict[str, float | None]) -> tuple[Feature, str]:
    number = _index(word, feature.words, feature.name, "word")
    ends, told = list(feature.cores[number]), []
    for side, (verb, value) in enumerate(edges.items()):
        if value is None:
            continue
        if math.isinf(ends[side]):
            where = ("lower", "higher")[side]
            raise ParameterError(
                f"{shorten(word)} applies to all {where} values, so it has no edge there to move"
            )
        told.append(f"{verb} at {value:g} instead of {ends[side]:g}")
        ends[side] = float(value)
    start, end = ends
    if start > end:
        raise ParameterError(f"{shorten(word)} would end at {end:g}, before it begins at {start:g}")
    cores = [*feature.cores[:number], (start, end), *feature.cores[number + 1 :]]
    if number and cores[number - 1][1] >= start:
        raise ParameterError(
            f"{shorten(word)} would begin at {start:g}, where {shorten(feature.words[number - 1])} "
            f"reaches up to {cores[number - 1][1]:g}; move that first"
        )
    if number + 1 < len(cores) and end >= cores[number + 1][0]:
        raise ParameterError(
            f"{shorten(word)} would end at {end:g}, where {shorten(feature.words[number + 1])} "
            f"begins at {cores[number + 1][0]:g}; move that first"
        )
    low, high = feature.low or 0.0, feature.high or 0.0
    after = cored_feature(feature.name, feature.words, cores, (), low, high)
    masses: list[float] = []
    for place in range(
        len(feature.words)
    ):  # a range has two ends with a mass each, a point has one
        zipped = zip(feature.set_words, feature.mean_masses, strict=True)
        before = [mass for of, mass in zipped if of == place]
        n_after = after.set_words.count(place)
        masses += before if len(before) == n_after else [sum(before) / n_after] * n_after
    return replace(after, mean_masses=tuple(masses), is_moved=True), " and ".join(told)


def _move_peak(feature: Feature, word: str, peak: float) -> tuple[Feature, str]:
    names = ["-or-".join(words) for words in feature.focal_sets]
    number = _index(word, names, feature.name, "peak")
    peaks = list(feature.peaks)
    peaks[number] = float(peak)
    for low, high in pairwise(range(max(number - 1, 0), min(number + 2, len(peaks)))):
        if peaks[low] >= peaks[high]:
            raise ParameterError(
                f"{names[high]} would peak at {peaks[high]:g}, not above {names[low]} at "
                f"{peaks[low]:g}; move that first"
            )
    told = f"peaks at {peak:g} instead of {feature.peaks[number]:g}"
    return replace(feature, peaks=tuple(peaks), is_moved=True), told
