"""Axes to draw on, and the look of all figures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.estimators.base import LinguisticEstimator
from solah.exceptions import ParameterError, require, shorten
from solah.model import Model
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend

    from solah.kernels.arrays import Float

BLUE, OLIVE, RUST = "#2f6fa8", "#7a8b2e", "#b5532d"
INK, GREY, PALE = "#333333", "#6b6b6b", "#d5dae0"

# Names from data are not formulas: "$" and "_" are printed as they are.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

_LONGEST_NAME = 36
_PADDING = 0.08  # inches around a figure


def model_of(source: Any) -> Model:
    """Return the model of a fitted estimator, a loaded model, or a model as it is."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Predictor):
        return source.model_
    if isinstance(source, LinguisticEstimator):
        return source._model()
    raise ParameterError(
        "a fitted estimator of solah, a loaded model or a model file can be drawn. "
        f"Got {shorten(source)} instead."
    )


class Display:
    """Base of all figures; not for use by itself.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
        The figure that the axes are part of.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    _draw: Callable[[Axes | None], None]  # a method of each figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure that is as large as needed.

        Returns
        -------
        self
        """
        self._draw(ax)
        return self

    def _open(self, ax: Axes | None, width: float, height: float) -> Axes:
        """Take the user's axes, or make a figure of this size in inches; keep both."""
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

    def _bars(
        self, ax: Axes | None, names: Sequence[str], shares: Sequence[float], colours: Sequence[str]
    ) -> BarContainer:
        """Draw a bar for each name from top to bottom, with its share as a percentage."""
        ax = self._open(ax, 6.4, 0.75 + 0.27 * len(names))
        size = min(points("medium"), 55 * inches(ax)[1] / len(names))
        lines = range(len(names))
        bars = ax.barh(lines, shares, height=0.7, color=colours)
        ax.bar_label(bars, list(map(percent, shares)), padding=3, color=GREY, size=size)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 1.12 * max(*shares, 1e-9)))
        ax.set_yticks(lines, names, size=size, **PLAIN)
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        tidy(ax)
        return bars


def matplotlib(module: str) -> ModuleType:
    """Import a part of matplotlib, or raise an error with the line that installs it."""
    return require(f"matplotlib.{module}", "plot", "drawing a figure")


def shown(name: object, most: int = _LONGEST_NAME) -> str:
    r"""Write a name on one line; a long one loses its middle.

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
    """Write a share as a percentage, a small one as ``<1%``."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def tidy(ax: Axes) -> None:
    """Hide the upper and the right border."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(color=PALE)


def ramp(n: int) -> list[str]:
    """Return colours for words with an order, from blue over olive to rust."""
    anchors = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (BLUE, OLIVE, RUST)])
    places = np.linspace(0, 2, n) if n > 1 else np.zeros(1)
    channels = [np.interp(places, range(3), anchors[:, c]).round().astype(int) for c in range(3)]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]


def add_legend(ax: Axes, lines: Sequence[Any], labels: Sequence[str], **where: Any) -> Legend:
    """Name lines, also with labels that begin with an underscore, which matplotlib hides."""
    legend = ax.legend(lines, ["·"] * len(lines), frameon=False, fontsize="small", **where)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=label, **PLAIN)
    return legend


def points(size: str | float) -> float:
    """Return a font size such as "small" in points, as the user's settings have it."""
    font = matplotlib("font_manager").FontProperties(size=size)
    return float(font.get_size_in_points())


def text_width(text: str, size: str | float, weight: str = "normal") -> float:
    """Return the width of a text in inches."""
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
