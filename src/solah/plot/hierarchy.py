"""Draws a hierarchy: which part feeds which, and how much each tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import count
from solah.estimators.hierarchy import HierarchyEstimator
from solah.explain.importance import node_shares
from solah.explain.rules import part_rules
from solah.model.program import Walk
from solah.plot.canvas import (
    BLUE,
    GREY,
    OLIVE,
    PALE,
    PLAIN,
    Display,
    inches,
    percent,
    points,
    shown,
    text_width,
)
from solah.plot.subjects import model_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.text import Text

    from solah.model import Model
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


class HierarchyDisplay(Display):
    """How trees are wired: which feeds which, on which attributes, and how much each tells.

    An outline: the node that decides stands first, and its inputs stand below it. Beside
    each stand its attributes, the number of its rules, its share of what the model knows (the
    importances of all attributes below it).

    Parameters
    ----------
    hierarchy : Hierarchy
        The wiring.
    rules : mapping of node name to int, default=None
        How many rules each tree has.
    shares : mapping of node name to float, default=None
        Each node's share of what the model knows.
    idle : collection of str, default=()
        Attributes that no rule asks: they are counted, not named.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    outline_ : tuple of OutlineNode
        The nodes, from top to bottom.
    names_, attributes_ : tuple of Text
        The nodes' names, and the lines of attributes that they ask, from top to bottom.
    bars_ : dict of str to BarContainer
        The ``"rules"`` and the ``"share"`` of each node that has them, from top to bottom.

    Examples
    --------
    >>> from solah import Hierarchy
    >>> from solah.plot import HierarchyDisplay
    >>> hierarchy = Hierarchy.parse("taste <- alcohol, acid; wine <- taste, hue")
    >>> display = HierarchyDisplay.from_hierarchy(hierarchy)
    >>> [text.get_text() for text in display.attributes_]
    ['hue', 'alcohol, acid']
    """

    outline_: tuple[OutlineNode, ...]
    names_: tuple[Text, ...]
    attributes_: tuple[Text, ...]
    bars_: dict[str, BarContainer]

    def __init__(
        self,
        hierarchy: Hierarchy,
        rules: Mapping[str, int] | None = None,
        shares: Mapping[str, float] | None = None,
        idle: Collection[str] = (),
    ) -> None:
        self.hierarchy = hierarchy
        self.rules = rules or {}
        self.shares = shares or {}
        self.idle = frozenset(idle)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the hierarchy of a fitted estimator; a single tree is one of a single node.

        Where a node is a model of another kind, only the wiring is known.

        Parameters
        ----------
        estimator : any estimator of solah that decides, Predictor or Model
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : HierarchyDisplay
        """
        if isinstance(estimator, HierarchyEstimator):
            check_is_fitted(estimator)
            if not hasattr(estimator, "model_"):
                return cls.from_hierarchy(estimator.hierarchy_, ax=ax)
        document = model_of(estimator)
        rules = {part.name: len(part.active()) for part in part_rules(document)}
        shares, idle = shares_of_nodes(document), idle_attributes(document)
        return cls(document.hierarchy, rules, shares, idle).plot(ax)

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy, *, ax: Axes | None = None) -> Self:
        """Draw a wiring of which nothing else is known."""
        return cls(hierarchy).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        self.outline_ = outline_of(self.hierarchy, self.idle)
        sheet = sheet_of(self.outline_, bool(self.rules), bool(self.shares))
        ax = self._open(ax, sheet.width, sheet.height)
        wide, high = inches(ax)
        # On axes that are larger than it needs the picture keeps its size, on smaller it shrinks.
        size = points("medium") * min(1.0, wide / sheet.width, high / sheet.height)
        n_lines = max(sheet.height, high) / LINE_HEIGHT / (points("medium") / 72)
        ax.set(xlim=(0, max(sheet.width, wide)), ylim=(n_lines - 1.5, -1.5))
        ax.set_axis_off()
        self._plot_wires(ax, sheet, size)
        self._plot_texts(ax, sheet, size)
        self._plot_numbers(ax, sheet, size)

    def _plot_wires(self, ax: Axes, sheet: Sheet, size: float) -> None:
        """Lead from each node to its inputs; the more one tells, the thicker its wire."""
        for node in self.outline_[1:]:
            above = self.outline_[node.parent]
            start, end = sheet.dot(above), sheet.dot(node)
            ax.plot([start, start], [above.line, node.line], color=PALE, linewidth=1.2, zorder=1)
            width = size * (0.12 + 0.5 * self.shares.get(node.name, 0.0))
            ax.plot([start, end], [node.line] * 2, color=BLUE, alpha=0.55, linewidth=width)
        ax.scatter(
            [sheet.dot(node) for node in self.outline_],
            [node.line for node in self.outline_],
            s=size**2 / 2,
            color=BLUE,
            zorder=3,
        )

    def _plot_texts(self, ax: Axes, sheet: Sheet, size: float) -> None:
        self.names_ = tuple(
            ax.text(
                sheet.name(node),
                node.line,
                shown(node.name, NAME_LENGTH),
                weight="bold",
                va="center",
                size=size,
                **PLAIN,
            )
            for node in self.outline_
        )
        self._name_attributes(ax, sheet, size)

    def _name_attributes(self, ax: Axes, sheet: Sheet, size: float) -> None:
        """Write which attributes each node asks, or how many trees it adds up."""
        self.attributes_ = tuple(
            ax.text(sheet.attributes, node.line + i, text, va="center", size=size, **PLAIN)
            for node in self.outline_
            for i, text in enumerate(node.attributes)
        )
        for node in self.outline_:
            below = self.hierarchy.children(node.name)
            if below and not node.attributes and node.name not in self.rules:
                text = f"adds up {count(len(below), 'part')}"
                ax.text(sheet.attributes, node.line, text, va="center", size=size, color=GREY)
        self._title(ax, sheet.attributes, "attributes", size)

    def _plot_numbers(self, ax: Axes, sheet: Sheet, size: float) -> None:
        self.bars_ = {}
        if self.rules:
            spelt = {name: f"{n_rules:,}" for name, n_rules in self.rules.items()}
            self._plot_bars(ax, "rules", sheet.rules, self.rules, spelt, OLIVE, size)
        if self.shares:
            spelt = {name: percent(share) for name, share in self.shares.items()}
            self._plot_bars(ax, "share", sheet.shares, self.shares, spelt, BLUE, size)

    def _plot_bars(
        self,
        ax: Axes,
        title: str,
        start: float,
        values: Mapping[str, float],
        spelt: Mapping[str, str],
        colour: str,
        size: float,
    ) -> None:
        """Draw a bar for each node that has a value, with the value behind it."""
        nodes = [node for node in self.outline_ if node.name in values]
        scale = BAR_ROOM / max(*values.values(), 1e-9)
        lengths = [scale * values[node.name] for node in nodes]
        lines = [node.line for node in nodes]
        bars = ax.barh(lines, lengths, height=0.5, left=start, color=colour, alpha=0.75)
        ax.bar_label(bars, [spelt[node.name] for node in nodes], padding=size / 3, size=size)
        self._title(ax, start, title, size)
        self.bars_[title] = bars

    def _title(self, ax: Axes, start: float, title: str, size: float) -> None:
        ax.text(start, -1, title, va="center", color=GREY, size=0.9 * size)


def shares_of_nodes(model: Model) -> dict[str, float]:
    """Return the shares of what a model knows that stand below each node but the root."""
    shares = node_shares(model)
    return {part.name: shares[part.name] for part in model.parts[:-1]}


def idle_attributes(model: Model) -> set[str]:
    """Name the attributes that no rule asks."""
    program, asked = model.program, set()
    for term in (term for stage in program.stages for term in stage.terms):
        places = set(range(len(term.axes)))
        if isinstance(term.cells, Walk):
            places &= set(term.cells.split.tolist())
        axes = [program.axes[term.axes[place]] for place in places]
        asked |= {program.features[axis.source] for axis in axes if axis.is_read}
    return set(program.features) - asked
