"""Lays a hierarchy out as an outline: one line per node, its inputs indented below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.plot.canvas import points, shown, text_width

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from solah.model.structure import Hierarchy

NAME_LENGTH = 28
LINE_HEIGHT = 1.75  # font sizes
BAR_ROOM = 0.8  # inches that the longest bar takes
_ATTRIBUTES_ROOM = 3.8  # inches; what is wider goes on the next line
_INDENT_ROOM = 3.0  # inches that all indents together may take
_NUMBER_ROOM = 0.65  # inches for a number
_MOST_LINES = 6


@dataclass(frozen=True)
class OutlineNode:
    """A node's place in the outline.

    Attributes
    ----------
    name : the node's name
    depth : how far below the root it stands, 0 for the root
    parent : the place of the node that it feeds; -1 for the root
    line : the line that it begins on, from 0
    attributes : the attributes that it asks, as lines of text
    """

    name: str
    depth: int
    parent: int
    line: int
    attributes: tuple[str, ...]

    @property
    def n_lines(self) -> int:
        """How many lines it takes."""
        return max(len(self.attributes), 1)


@dataclass(frozen=True)
class Sheet:
    """Where the columns of an outline begin, and the size of the whole, in inches.

    Attributes
    ----------
    indent : how far a node stands to the right of the one that it feeds
    attributes, rules, shares : where the columns begin
    width, height : the size
    """

    indent: float
    attributes: float
    rules: float
    shares: float
    width: float
    height: float

    def dot(self, node: OutlineNode) -> float:
        """Return where a node's dot stands."""
        return 0.1 + self.indent * node.depth

    def name(self, node: OutlineNode) -> float:
        """Return where a node's name begins."""
        return self.dot(node) + 0.13


def outline_of(hierarchy: Hierarchy, idle: Collection[str] = ()) -> tuple[OutlineNode, ...]:
    """Lay the nodes out from the root down, their attributes wrapped."""
    outline: list[OutlineNode] = []
    waiting = [(hierarchy.root, 0, -1)]
    line = 0
    while waiting:
        name, depth, parent = waiting.pop()
        asked = _asked(hierarchy.attributes_of(name), idle)
        node = OutlineNode(name, depth, parent, line, tuple(_wrapped(asked)))
        line += node.n_lines
        below = [(child, depth + 1, len(outline)) for child in hierarchy.children(name)]
        waiting.extend(reversed(below))
        outline.append(node)
    return tuple(outline)


def sheet_of(outline: Sequence[OutlineNode], has_rules: bool, has_shares: bool) -> Sheet:
    """Measure the columns of an outline."""
    deepest = max(node.depth for node in outline)
    indent = min(0.25, _INDENT_ROOM / max(deepest, 1))
    bare = Sheet(indent, 0, 0, 0, 0, 0)
    names = [
        bare.name(node) + text_width(shown(node.name, NAME_LENGTH), "medium", "bold")
        for node in outline
    ]
    lines = [text_width(line, "medium") for node in outline for line in node.attributes]
    attributes = max(names) + 0.25
    rules = attributes + max(*lines, 0.8) + 0.25
    shares = rules + has_rules * (BAR_ROOM + _NUMBER_ROOM)
    width = shares + has_shares * (BAR_ROOM + _NUMBER_ROOM)
    n_lines = sum(node.n_lines for node in outline)
    height = (n_lines + 1.5) * LINE_HEIGHT * points("medium") / 72
    return Sheet(indent, attributes, rules, shares, width, height)


def _asked(attributes: Sequence[str], idle: Collection[str]) -> list[str]:
    """List the attributes, those that are never asked as a number."""
    asked = [shown(name) for name in attributes if name not in idle]
    n_idle = len(attributes) - len(asked)
    return asked + [f"{n_idle} never asked"] * bool(n_idle)


def _wrapped(names: Sequence[str]) -> Iterator[str]:
    """Fill lines with names, broken between two of them only; count those left over."""
    line, n_lines = "", 1
    for place, name in enumerate(names):
        longer = f"{line}, {name}" if line else name
        if line and text_width(f"{longer},", "medium") > _ATTRIBUTES_ROOM:
            yield f"{line},"
            if n_lines == _MOST_LINES:
                yield f"… and {len(names) - place} more"
                return
            line, n_lines = name, n_lines + 1
        else:
            line = longer
    if line:
        yield line
