"""Draws a hierarchy for a terminal or a notebook."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.shorttext import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.model.structure import Hierarchy

# Attributes that need more columns go below their tree's name when it leaves them fewer.
_LEAST_ROOM = 24


class _Branch(NamedTuple):
    """A tree to draw, what stands before it, and what before the lines below it."""

    name: str
    lead: str
    below: str


class Drawing:
    """A hierarchy, what to show beside its names, and how wide."""

    def __init__(self, hierarchy: Hierarchy, annotations: dict[str, str], width: int) -> None:
        known = {*hierarchy.attributes, *(node.name for node in hierarchy.nodes)}
        for name in annotations:
            if name not in known:
                raise ParameterError(
                    f"the hierarchy has no {shorten(name)} to annotate{did_you_mean(name, known)}"
                )
        self._hierarchy = hierarchy
        self._annotations = annotations
        self._width = width
        self._is_deep = 3 * (len(hierarchy.levels) - 1) > width // 2

    def lines(self) -> Iterator[str]:
        """Draw from the root down."""
        waiting = [_Branch(self._hierarchy.root, "", "")]
        while waiting:
            branch = waiting.pop()
            branches = self._branches(branch)
            yield from self._tree(branch, "│" if branches else " ")
            waiting.extend(reversed(branches))

    def _branches(self, branch: _Branch) -> list[_Branch]:
        """Lead to the children of a tree."""
        children = list(self._hierarchy.children(branch.name))
        if not children:
            return []
        if self._is_deep:
            highest = max(children, key=self._hierarchy.height)
            children.remove(highest)
            last = _Branch(highest, f"{branch.below}↑ ", branch.below)
        else:
            last = _Branch(children.pop(), f"{branch.below}└─ ", f"{branch.below}   ")
        others = (_Branch(c, f"{branch.below}├─ ", f"{branch.below}│  ") for c in children)
        return [*others, last]

    def _tree(self, branch: _Branch, bar: str) -> Iterator[str]:
        """Draw a tree's name and its attributes, wrapped."""
        head = branch.lead + self._label(branch.name)
        labels = [self._label(name) for name in self._hierarchy.attributes_of(branch.name)]
        if not labels:
            yield head
            return
        head += " ←"
        indent = branch.below + bar
        column = _columns(head) + 1
        if self._width - column < min(_LEAST_ROOM, _columns(", ".join(labels))):
            yield head
            head = indent
            column = _columns(indent) + 3
        for text in _wrapped(labels, max(self._width - column, _LEAST_ROOM)):
            yield head + " " * (column - _columns(head)) + text
            head = indent

    def _label(self, name: str) -> str:
        shown = name if _is_plain(name) else quoted(name)
        return f"{shown} ({self._annotations[name]})" if name in self._annotations else shown


def as_html(drawing: str, label: str) -> str:
    """Show a drawing in a notebook; screen readers read the label instead."""
    look = "line-height: 1.3; overflow-x: auto; white-space: pre; color: inherit; background: none"
    return (
        f'<pre role="img" tabindex="0" aria-label="{escape(label)}" style="{look}">'
        f"{escape(drawing)}</pre>"
    )


def _is_plain(name: str) -> bool:
    """Whether a name cannot be mistaken when it is drawn as it is."""
    return bool(name) and name == name.strip() and name.isprintable() and not set(name) & set(',"←')


def _wrapped(labels: Sequence[str], room: int) -> Iterator[str]:
    """Fill lines with labels and break between two of them only."""
    line = labels[0]
    for label in labels[1:]:
        # The comma that follows has to fit as well.
        if _columns(line) + _columns(label) + 3 > room:
            yield f"{line},"
            line = label
        else:
            line += f", {label}"
    yield line


def _columns(text: str) -> int:
    """Count a text's columns in a terminal, where some characters take two and some none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
