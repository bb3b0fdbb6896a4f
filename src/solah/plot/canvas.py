"""Prepares axes to draw on, and sets how all pictures look."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.exceptions import ParameterError, require, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend

    from solah.kernels.arrays import Float

BLUE, OLIVE, RUST = "#2f6fa8", "#7a8b2e", "#b5532d"
INK, GREY, PALE = "#333333", "#6b6b6b", "#d5dae0"
# Far apart for every kind of colour vision, which BLUE, OLIVE and RUST are not.
CLASS_COLOURS = (BLUE, RUST, "#98b22d", "#d998a7", "#572db2", "#402d31", "#8c6262", "#661a63")
_CLASS_STYLES = ("-", "--", "-.", ":")

# What a user calls things is no formula: "$" and "_" stand for themselves.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

_LONGEST_NAME = 36
_PADDING = 0.08  # inches around a picture


class Display:
    """Base of all pictures; not for use by itself.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure that the axes are part of.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    _draw: Callable[[Axes | None], None]  # a method of each picture

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure that is as large as the picture needs.

        Returns
        -------
        self
        """
        self._draw(ax)
        return self

    def _open(self, ax: Axes | None, width: float, height: float) -> Axes:
        """Take the user's axes, or make a figure of so many inches; keep both."""
        pyplot = matplotlib("pyplot")
        if ax is None:
            figure, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
            figure.get_layout_engine().set(w_pad=_PADDING, h_pad=_PADDING)
        if not (hasattr(ax, "plot") and hasattr(ax, "figure")):
            raise ParameterError(
                f"'ax' must be the Axes of a matplotlib figure, or None. Got {shorten(ax)} instead."
            )
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def matplotlib(module: str) -> ModuleType:
    """Import a part of matplotlib, or raise an error with how to install it."""
    return require(f"matplotlib.{module}", "plot", "drawing a picture")


def shown(name: object, most: int = _LONGEST_NAME) -> str:
    r"""Write a name on one line, its middle left out where it is long: both ends tell it apart.

    Examples
    --------
    >>> shown("inlet temperature\n(°C)")
    'inlet temperature (°C)'
    >>> shown("a_very_long_name_that_nobody_can_read_at_a_glance", 21)
    'a_very_lon…t_a_glance'
    """
    text = "".join(c if c.isprintable() else " " for c in str(name))
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def percent(share: float) -> str:
    """Write a share as a percentage; a little is not nothing.

    Examples
    --------
    >>> percent(0.123), percent(0.001), percent(0.0)
    ('12%', '<1%', '0%')
    """
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def tidy(ax: Axes) -> None:
    """Leave out the upper and the right border."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(color=PALE)


def ramp(n: int) -> list[str]:
    """Return colours for things with an order, from blue over olive to rust."""
    anchors = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (BLUE, OLIVE, RUST)])
    places = np.linspace(0, 2, n) if n > 1 else np.zeros(1)
    channels = [np.interp(places, range(3), anchors[:, c]).round().astype(int) for c in range(3)]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]


def class_looks(n: int) -> list[dict[str, Any]]:
    """Return a colour and a dash for each class: told apart also without seeing colours."""
    n_colours, n_styles = len(CLASS_COLOURS), len(_CLASS_STYLES)
    # Each round of colours begins with the next dash, so that no look comes twice for long.
    return [
        {
            "color": CLASS_COLOURS[i % n_colours],
            "linestyle": _CLASS_STYLES[(i + i // n_colours) % n_styles],
        }
        for i in range(n)
    ]


def add_legend(
    ax: Axes, lines: Sequence[Any], labels: Sequence[str], title: str | None = None, **where: Any
) -> Legend:
    """Name lines; labels that begin with an underscore, which matplotlib hides, as well."""
    legend = ax.legend(
        lines,
        ["·"] * len(lines),
        title=title,
        alignment="left",
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        **where,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=label, **PLAIN)
    return legend


def points(size: str | float) -> float:
    """Return a font size such as "small" in points, as the user's settings have it."""
    font = matplotlib("font_manager").FontProperties(size=size)
    return float(font.get_size_in_points())


def text_width(text: str, size: str | float, weight: str = "normal") -> float:
    """Return how wide a text is, in inches."""
    font = matplotlib("font_manager").FontProperties(size=size, weight=weight)
    measure = matplotlib("textpath").text_to_path
    with warnings.catch_warnings():
        # Letters that the font lacks are warned of when they are drawn; once is enough.
        warnings.simplefilter("ignore", UserWarning)
        width, _, _ = measure.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def inches(ax: Axes) -> Float:
    """Return the width and the height of axes, in inches."""
    box = ax.get_window_extent()
    return np.array([box.width, box.height]) / ax.figure.dpi
