"""Moves where the words of an attribute apply, and what the trees that ask them have."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.attributes import cored_attribute, parted_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.attributes import Attribute


@dataclass(frozen=True)
class WordMove:
    """A word that applies elsewhere.

    Attributes
    ----------
    values : what the record of the attribute has from now on
    text : what was done
    """

    values: dict[str, Any]
    text: str


def move_word(
    attribute: Attribute, word: str, start: float | None, end: float | None, peak: float | None
) -> WordMove:
    """Move the core of a word, or the peak of a focal set; refuse what makes no sense."""
    has_edges = start is not None or end is not None
    if not attribute.is_continuous:
        raise ParameterError(f"{shorten(attribute.name)} has states, which do not move")
    if attribute.cores:
        if peak is not None or not has_edges:
            raise ParameterError(
                f"the words of {shorten(attribute.name)} have ranges: give start, end or both"
            )
        return _move_core(attribute, word, {0: start, 1: end})
    if peak is None or has_edges:
        raise ParameterError(
            f"the words of {shorten(attribute.name)} overlap: give the peak of one, or of two"
        )
    return _move_peak(attribute, word, peak)


def _move_core(attribute: Attribute, word: str, edges: dict[int, float | None]) -> WordMove:
    number = _place(word, attribute.words, attribute, "word")
    cores: list[list[float | None]] = [list(core) for core in attribute.cores]
    cores[0][0] = cores[-1][1] = None
    told = []
    for side, value in edges.items():
        if value is None:
            continue
        before = cores[number][side]
        if before is None:
            where = ("lower", "higher")[side]
            raise ParameterError(f"{shorten(word)} applies to all {where} readings: it has no edge")
        cores[number][side] = float(value)
        told.append(f"{('begins', 'ends')[side]} at {value:g} instead of {before:g}")
    _check_order(attribute, cores, number)
    return WordMove({"cores": cores}, " and ".join(told))


def _place(word: str, words: Sequence[str], attribute: Attribute, what: str) -> int:
    if word not in words:
        near = did_you_mean(word, words)
        raise ParameterError(f"{shorten(attribute.name)} has no {what} {shorten(word)}{near}")
    return list(words).index(word)


def _check_order(
    attribute: Attribute, cores: Sequence[Sequence[float | None]], number: int
) -> None:
    word, (start, end) = attribute.words[number], cores[number]
    if start is not None and end is not None and not start <= end:
        raise ParameterError(f"{shorten(word)} would end at {end:g}, before it begins at {start:g}")
    if number and start is not None:
        before = cores[number - 1][1]
        if before is not None and not before < start:
            other = attribute.words[number - 1]
            raise ParameterError(
                f"{shorten(word)} would begin at {start:g}, where {shorten(other)} reaches up to "
                f"{before:g}; move that first"
            )
    if number + 1 < len(cores) and end is not None:
        after = cores[number + 1][0]
        if after is not None and not end < after:
            other = attribute.words[number + 1]
            raise ParameterError(
                f"{shorten(word)} would end at {end:g}, where {shorten(other)} begins at "
                f"{after:g}; move that first"
            )


def _move_peak(attribute: Attribute, word: str, peak: float) -> WordMove:
    names = ["-or-".join(words) for words in attribute.focal_sets]
    number = _place(word, names, attribute, "peak")
    peaks = list(attribute.peaks)
    peaks[number] = float(peak)
    for low, high in pairwise(range(max(number - 1, 0), min(number + 2, len(peaks)))):
        if not peaks[low] < peaks[high]:
            raise ParameterError(
                f"{names[high]} would peak at {peaks[high]:g}, not above {names[low]} at "
                f"{peaks[low]:g}; move that first"
            )
    before = attribute.peaks[number]
    return WordMove({"peaks": peaks}, f"peaks at {peak:g} instead of {before:g}")


def apply_move(document: dict[str, Any], attribute: Attribute, move: WordMove) -> None:
    """Let the words of an attribute apply elsewhere in a document, in its trees as well."""
    record = next(one for one in document["attributes"] if one["name"] == attribute.name)
    record |= {**move.values, "moved": True}
    if not attribute.cores:
        return
    ends = [
        (-math.inf if low is None else low, math.inf if high is None else high)
        for low, high in move.values["cores"]
    ]
    after = cored_attribute(attribute.name, attribute.words, ends, (), 0.0, 1.0)
    change = SetChange(attribute, after)
    record["ignorance"] = change.masses(record["ignorance"])
    after = replace(after, ignorance=tuple(record["ignorance"]))
    for tree in document["trees"]:
        for asked in tree.get("inputs", ()):
            if asked == attribute.name:
                tree["nodes"] = change.nodes(tree["nodes"], attribute.name)
            elif isinstance(asked, dict) and asked["name"] == attribute.name:
                both = (parted_attribute(one, asked["parted_at"]) for one in (attribute, after))
                tree["nodes"] = SetChange(*both).nodes(tree["nodes"], attribute.name)


class SetChange:
    """The focal sets of an input after words moved, and what they were before.

    A word or part whose core becomes a point has one focal set instead of two, and the other way
    round.

    Parameters
    ----------
    before, after : the input as it was, and as it is from now on
    """

    def __init__(self, before: Attribute, after: Attribute) -> None:
        self._sources: list[list[int]] = []
        self._copies: list[int] = []
        for number in range(len(before.words)):
            old = [place for place, word in enumerate(before.set_words) if word == number]
            n_new = after.set_words.count(number)
            same = len(old) == n_new
            self._sources += [[place] for place in old] if same else [old] * n_new
            self._copies += [max(n_new // len(old), 1)] * n_new

    def masses(self, before: Sequence[float]) -> list[float]:
        """Return the masses of the focal sets: shared by copies, summed where two are one."""
        return [
            sum(before[place] for place in sources) / copies
            for sources, copies in zip(self._sources, self._copies, strict=True)
        ]

    def nodes(self, nodes: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        """Return the nodes of a tree with the new focal sets below splits on the attribute."""
        queue: list[tuple[int, float]] = [(0, 1.0)]
        sizes = _child_counts(nodes)
        changed: list[dict[str, Any]] = []
        for number, factor in queue:  # which grows on the way
            node = dict(nodes[number])
            node["support"] *= factor
            if "split" in node:
                first = node["first_child"]
                node["first_child"] = len(queue)
                if node["split"] == name:
                    queue.extend(self._children(nodes, first, factor))
                else:
                    queue.extend((first + k, factor) for k in range(sizes[number]))
            changed.append(node)
        return changed

    def _children(
        self, nodes: Sequence[dict[str, Any]], first: int, factor: float
    ) -> list[tuple[int, float]]:
        children = []
        for sources, copies in zip(self._sources, self._copies, strict=True):
            supports = [nodes[first + place]["support"] for place in sources]
            grown = sum(supports) / supports[0] if supports[0] else 1.0
            children.append((first + sources[0], factor * grown / copies))
        return children


def _child_counts(nodes: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Count the children of each inner node: they reach up to the next node's first child."""
    starts = sorted((node["first_child"], i) for i, node in enumerate(nodes) if "split" in node)
    ends = [first for first, _ in starts[1:]] + [len(nodes)]
    return {number: end - first for (first, number), end in zip(starts, ends, strict=True)}
