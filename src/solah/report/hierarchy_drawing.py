"""Draws the hierarchy of a summary: the root on top, rows that wrap to the width."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from solah.report.charts import belief_bar
from solah.report.svg import cut, path, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    Nodes = Sequence[Mapping[str, Any]]
    Point = tuple[float, float]

_CARD_WIDTH, _CARD_HEIGHT = 162.0, 70.0
_GAP, _RAIL, _INDENT, _PAD = 12.0, 22.0, 16.0, 10.0
_LETTER, _SMALL_LETTER = 8.4, 6.4


@dataclass(frozen=True)
class _Card:
    """The position of a node's card."""

    node: int
    x: float
    y: float
    width: float = _CARD_WIDTH


@dataclass(frozen=True)
class _Block:
    """A node and all below it, laid out from its upper left corner.

    Attributes
    ----------
    width, height : the block's size
    cards : the positions of the nodes, the uppermost first
    wires : the lines between them
    """

    width: float
    height: float
    cards: tuple[_Card, ...]
    wires: tuple[tuple[Point, ...], ...] = field(default=())

    @property
    def entry(self) -> float:
        """Where, from the left, a line meets the uppermost card."""
        return self.cards[0].x + self.cards[0].width / 2

    def moved(self, x: float, y: float) -> _Block:
        """Return the block at another place."""
        return replace(
            self,
            cards=tuple(replace(card, x=card.x + x, y=card.y + y) for card in self.cards),
            wires=tuple(tuple((a + x, b + y) for a, b in wire) for wire in self.wires),
        )


def draw_hierarchy(nodes: Nodes, target: Mapping[str, Any], width: float, style: str) -> Markup:
    """Draw nodes as cards, each a link to its rules.

    Parameters
    ----------
    nodes : the nodes of a summary, from bottom to top
    target : the target of a summary
    width : where rows of cards are wrapped
    style : the drawing's class

    Returns
    -------
    drawing : Markup
    """
    block = _Layout(nodes).block(len(nodes) - 1, width)
    wires = tag("path", d="".join(map(path, block.wires)), class_="wire")
    cards = [_draw_card(card, nodes[card.node], target) for card in block.cards]
    return tag(
        "svg",
        wires,
        *cards,
        viewBox=f"-1 -1 {block.width + 2:.0f} {block.height + 2:.0f}",
        width=f"{block.width + 2:.0f}",
        class_=f"hierarchy {style}",
        role="group",
        aria_label="The hierarchy, from what decides down to its inputs",
    )


# --- layout ----------------------------------------------------------------------------------


class _Layout:
    """Lays out nodes over their inputs.

    Parameters
    ----------
    nodes : the nodes of a summary, from bottom to top
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        # Every level may ask twice, for two widths; without this a deep hierarchy takes for ever.
        self._known: dict[tuple[int, float], _Block] = {}

    def block(self, node: int, available: float) -> _Block:
        """Lay out a node and all below it, in one row or, where there is no room, in several."""
        waiting = [(node, available)]  # not recursive: a cascade may have hundreds of levels
        while waiting:
            needed = [one for one in self._below(*waiting[-1]) if one not in self._known]
            if needed:
                waiting += needed
            else:
                asked = waiting.pop()
                self._known[asked] = self._laid_out(*asked)
        return self._known[node, available]

    def _below(self, node: int, available: float) -> list[tuple[int, float]]:
        """Return the blocks below a node: wide ones or, where they do not fit, narrow ones."""
        row = [(child, available) for child in self._nodes[node]["inputs"]]
        known = [self._known[one] for one in row if one in self._known]
        if len(known) < len(row) or _row_width(known) <= available:
            return row
        return [(child, _indented(available)) for child, _ in row]

    def _laid_out(self, node: int, available: float) -> _Block:
        """Lay out a node over blocks that are known."""
        inputs = self._nodes[node]["inputs"]
        if not inputs:
            return _Block(_CARD_WIDTH, _CARD_HEIGHT, (_Card(node, 0, 0),))
        row = [self._known[child, available] for child in inputs]
        if _row_width(row) <= available:
            return _over_one_row(node, row)
        inner = _indented(available)
        return _over_rows(node, _rows([self._known[child, inner] for child in inputs], inner))


def _indented(available: float) -> float:
    return max(available - _INDENT, _CARD_WIDTH)


def _row_width(row: Sequence[_Block]) -> float:
    return sum(block.width for block in row) + _GAP * (len(row) - 1)


def _rows(blocks: list[_Block], available: float) -> list[list[_Block]]:
    """Fill rows from left to right."""
    rows: list[list[_Block]] = [[]]
    for block in blocks:
        if rows[-1] and _row_width([*rows[-1], block]) > available:
            rows.append([])
        rows[-1].append(block)
    return rows


def _over_one_row(node: int, row: Sequence[_Block]) -> _Block:
    """Put a card centred over a row."""
    width, top = _row_width(row), _CARD_HEIGHT + _RAIL
    placed = _placed(row, 0, top)
    middle = (placed[0].entry + placed[-1].entry) / 2
    card = _Card(node, middle - _CARD_WIDTH / 2, 0)
    trunk = ((middle, _CARD_HEIGHT), (middle, top - _RAIL / 2))
    height = max(block.height for block in row)
    return _joined(card, [trunk, *_rail(placed, middle, top)], placed, width, top + height)


def _over_rows(node: int, rows: Sequence[Sequence[_Block]]) -> _Block:
    """Put a wide card over rows that hang on a trunk at their left."""
    width = _INDENT + max(map(_row_width, rows))
    top, trunk_x = _CARD_HEIGHT + _RAIL, _INDENT / 2
    placed: list[_Block] = []
    wires: list[tuple[Point, ...]] = []
    for row in rows:
        here = _placed(row, _INDENT, top)
        placed += here
        wires += _rail(here, trunk_x, top)
        last_rail = top - _RAIL / 2
        top += max(block.height for block in row) + _RAIL
    wires.append(((trunk_x, _CARD_HEIGHT), (trunk_x, last_rail)))
    return _joined(_Card(node, 0, 0, width), wires, placed, width, top - _RAIL)


def _placed(row: Sequence[_Block], x: float, y: float) -> list[_Block]:
    placed = []
    for block in row:
        placed.append(block.moved(x, y))
        x += block.width + _GAP
    return placed


def _rail(row: Sequence[_Block], trunk: float, top: float) -> list[tuple[Point, ...]]:
    """Draw the line above a row and the drops to each of its blocks."""
    level = top - _RAIL / 2
    ends = [trunk, *(block.entry for block in row)]
    drops = [((block.entry, level), (block.entry, top)) for block in row]
    return [((min(ends), level), (max(ends), level)), *drops]


def _joined(
    card: _Card,
    wires: Sequence[tuple[Point, ...]],
    below: Sequence[_Block],
    width: float,
    height: float,
) -> _Block:
    cards = (card, *(one for block in below for one in block.cards))
    lines = (*wires, *(wire for block in below for wire in block.wires))
    return _Block(width, height, cards, lines)


# --- cards -----------------------------------------------------------------------------------


def _draw_card(card: _Card, node: Mapping[str, Any], target: Mapping[str, Any]) -> Markup:
    inside = card.width - 2 * _PAD
    room = int((inside - _SMALL_LETTER * 2) / _LETTER)
    bar = tag(
        "svg",
        belief_bar(node["belief"], target),
        x=_PAD,
        y=42,
        width=inside,
        height=6,
        viewBox="0 0 100 6",
        preserveAspectRatio="none",
        class_="belief",
    )
    contents = (
        tag("title", f"{node['title']}: {node['about']}"),
        tag("rect", width=card.width, height=_CARD_HEIGHT, rx=8, class_="card"),
        tag("text", cut(node["title"], room), x=_PAD, y=20, class_="name"),
        tag("text", cut(node["hint"], int(inside / _SMALL_LETTER)), x=_PAD, y=35, class_="hint"),
        *([bar] if node["belief"] else []),
        tag("text", node["result"], x=_PAD, y=62, class_="result"),
    )
    return tag(
        "a",
        *contents,
        href=f"#node-{node['place']}",
        transform=f"translate({card.x:.1f} {card.y:.1f})",
        class_="node",
        data_node=node["place"],
        data_letters=int(inside / _SMALL_LETTER),
    )
