"""Renames features, words, classes and groups of a model, and moves words."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.attributes import cored_attribute
from solah.model.document import AdditiveNode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.data import State
    from solah.model.attributes import Attribute
    from solah.model.document import Model, Node


def map_features(model: Model, change: Callable[[Attribute], Attribute]) -> Model:
    """Return a model whose features, and words over outputs of nodes, are changed everywhere."""

    def changed(node: Node) -> Node:
        if not isinstance(node, AdditiveNode):
            return replace(node, inputs=tuple(map(change, node.inputs)))
        terms = []
        for term in node.terms:
            inputs = (replace(one, attribute=change(one.attribute)) for one in term.inputs)
            terms.append(replace(term, inputs=tuple(inputs)))
        return replace(node, terms=tuple(terms))

    return replace(
        model,
        attributes=tuple(map(change, model.attributes)),
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
    promises = (replace(one, attribute=name_of(one.attribute)) for one in model.monotonic)
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

    def heard(one: Attribute) -> Attribute:
        if one.tree is not None:
            return replace(one, tree=name_of(one.tree))
        return replace(one, name=name_of(one.name))  # no feature has the name of a node

    renamed = map_features(model, heard)
    return replace(renamed, nodes=tuple(map(changed, renamed.nodes)))


def rename_word(model: Model, feature: str, old: str, new: str) -> Model:
    """Rename a word of a feature, or one over the output of a node."""
    beliefs = (one for node in model.nodes for one in node.inputs if one.tree is not None)
    known = {one.name: one for one in (*model.attributes, *beliefs)}
    if feature not in known:
        near = did_you_mean(feature, known)
        raise ParameterError(f"the model has no attribute {shorten(feature)}{near}")
    if not known[feature].is_continuous:
        raise ParameterError(
            f"{shorten(feature)} has states, which the data have, too; rename them there"
        )
    number = _index(old, known[feature].words, feature, "word")
    words = list(known[feature].words)
    words[number] = new

    def changed(one: Attribute) -> Attribute:
        return replace(one, words=tuple(words)) if one == known[feature] else one

    return map_features(model, changed)


def rename_class(model: Model, old: State, new: State) -> Model:
    """Rename a class of the target, and what learning calls after it."""
    states = list(model.goal.states)
    if old not in states:
        near = did_you_mean(old, map(str, states))
        raise ParameterError(f"there is no class {shorten(old)}{near}")
    states[states.index(old)] = new
    nodes = {node.name for node in model.nodes}

    def changed(one: Attribute) -> Attribute:
        if one.tree is not None and one.name == f"{one.tree}({old})":
            return replace(one, name=f"{one.tree}({new})")
        if one.tree is None and one.name in nodes:
            return replace(one, states=tuple(states), words=tuple(map(str, states)))
        return one

    renamed = map_features(model, changed)
    return replace(renamed, goal=replace(model.goal, states=tuple(states)))


# --- where words apply ---------------------------------------------------------------------------


def moved(
    feature: Attribute, word: str, start: float | None, end: float | None, peak: float | None
) -> tuple[Attribute, str]:
    """Move the range of a word, or the peak of a focal set; tell what was done."""
    name = shorten(feature.name)
    if not feature.is_continuous:
        raise ParameterError(f"{name} has states, which do not move")
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


def _move_range(
    feature: Attribute, word: str, edges: dict[str, float | None]
) -> tuple[Attribute, str]:
    number = _index(word, feature.words, feature.name, "word")
    ends, told = list(feature.cores[number]), []
    for side, (verb, value) in enumerate(edges.items()):
        if value is None:
            continue
        if math.isinf(ends[side]):
            where = ("lower", "higher")[side]
            raise ParameterError(f"{shorten(word)} applies to all {where} readings: it has no edge")
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
    after = cored_attribute(feature.name, feature.words, cores, (), low, high)
    masses: list[float] = []
    for place in range(
        len(feature.words)
    ):  # a range has two ends with a mass each, a point has one
        zipped = zip(feature.set_words, feature.ignorance, strict=True)
        before = [mass for of, mass in zipped if of == place]
        n_after = after.set_words.count(place)
        masses += before if len(before) == n_after else [sum(before) / n_after] * n_after
    return replace(after, ignorance=tuple(masses), is_moved=True), " and ".join(told)


def _move_peak(feature: Attribute, word: str, peak: float) -> tuple[Attribute, str]:
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
