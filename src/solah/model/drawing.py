"""Drawings of hierarchies for a terminal or a notebook."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.model.structure import Hierarchy

# Features that need more columns go below the name of their node if it leaves them fewer.
_MIN_ROOM = 24


def drawn(hierarchy: Hierarchy, notes: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the lines of a drawing, from the root down."""

    def label(name: str) -> str:
        is_plain = name == name.strip() and name.isprintable() and not set(name) & set(',"←')
        shown = name if is_plain else quoted(name)
        return f"{shown} ({notes[name]})" if name in notes else shown

    is_deep = 3 * (len(hierarchy.levels) - 1) > width // 2
    waiting = [(hierarchy.root, "", "")]  # a node, what is before it, and before the lines below
    while waiting:
        name, lead, below = waiting.pop()
        others = list(hierarchy.children(name))
        branches = []
        if others:
            if is_deep:
                last = max(others, key=hierarchy.height)
                others.remove(last)
                branches = [(last, f"{below}↑ ", below)]
            else:
                branches = [(others.pop(), f"{below}└─ ", f"{below}   ")]
        head, indent = lead + label(name), below + ("│" if branches else " ")
        waiting += branches
        waiting += [(one, f"{below}├─ ", f"{below}│  ") for one in reversed(others)]
        labels = [label(one) for one in hierarchy.features_of(name)]
        if not labels:
            yield head
            continue
        head += " ←"
        column = _columns(head) + 1
        if width - column < min(_MIN_ROOM, _columns(", ".join(labels))):
            yield head
            head, column = indent, _columns(indent) + 3
        for text in _wrapped(labels, max(width - column, _MIN_ROOM)):
            yield head + " " * (column - _columns(head)) + text
            head = indent


def quoted(name: str) -> str:
    """Write a name in double quotes, with JSON's escapes."""
    return json.dumps(name, ensure_ascii=not name.isprintable())


def _wrapped(labels: Sequence[str], room: int) -> Iterator[str]:
    """Fill lines with labels and break between two of them only."""
    line = labels[0]
    for label in labels[1:]:
        if _columns(line) + _columns(label) + 3 > room:  # the comma that follows has to fit, too
            yield f"{line},"
            line = label
        else:
            line += f", {label}"
    yield line


def _columns(text: str) -> int:
    """Count the columns of a text in a terminal, where some characters take two or none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
