"""Draws a hierarchy: which tree feeds which, and how much each tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import count
from solah.estimators.hierarchy_base import HierarchyClassifier
from solah.explain.importance import node_shares
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
)
from solah.plot.outline import BAR_ROOM, LINE_HEIGHT, NAME_LENGTH, outline_of, sheet_of
from solah.plot.subjects import model_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.text import Text

    from solah.model import Model
    from solah.model.structure import Hierarchy
    from solah.plot.outline import OutlineNode, Sheet


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
        estimator : any estimator of solah that decides
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : HierarchyDisplay
        """
        if isinstance(estimator, HierarchyClassifier):
            check_is_fitted(estimator)
            if not hasattr(estimator, "model_"):
                return cls.from_hierarchy(estimator.hierarchy_, ax=ax)
        return cls.from_model(estimator, ax=ax)

    @classmethod
    def from_model(cls, model: Any, *, ax: Axes | None = None) -> Self:
        """Draw the hierarchy of a loaded model or a model document.

        Parameters
        ----------
        model : Evaluator or Model
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : HierarchyDisplay
        """
        document = model_of(model)
        rules = {tree.name: tree.n_rules for tree in document.trees}
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
                text = f"adds up {count(len(below), 'tree')}"
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
    return {node.name: shares[node.name] for node in model.nodes[:-1]}


def idle_attributes(model: Model) -> set[str]:
    """Name the attributes that no rule asks."""
    asked = {
        tree.inputs[place].name for tree in model.trees for place in set(tree.split.tolist()) - {-1}
    }
    return {attribute.name for attribute in model.attributes} - asked
