"""Prepares the unit square in which curves of beliefs are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.plot.canvas import GREY, add_legend, text_width, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

_SIDE = 4.6  # inches
_FEW = 6  # curves whose names need no room on the right of the square


def figure_size(labels: Sequence[str]) -> tuple[float, float]:
    """Return how many inches wide and high a square and the names of its curves are."""
    if len(labels) <= _FEW:
        return _SIDE, _SIDE
    return _SIDE + 0.9 + max(text_width(label, "small") for label in labels), _SIDE


def prepare_square(ax: Axes, across: str, upwards: str) -> None:
    """Make room for shares in both directions, and draw the diagonal."""
    ticks = [0, 0.25, 0.5, 0.75, 1]
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, xticks=ticks, yticks=ticks)
    ax.set(xlabel=across, ylabel=upwards)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (2, 3)), zorder=1)
    tidy(ax)


def name_curves(
    ax: Axes, lines: Sequence[Line2D], labels: Sequence[str], title: str, *, inside: bool
) -> Legend:
    """Name the curves in the lower right corner, above the square, or, many, on its right."""
    where: dict[str, Any] = {"loc": "lower right"}
    if not inside:
        where = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 3}
    if len(lines) > _FEW:
        where = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
        ax.set_anchor("W")  # the room that the layout leaves is then all for the names
    return add_legend(ax, lines, labels, title, **where)
