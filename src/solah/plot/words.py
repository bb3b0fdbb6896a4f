"""Draws the words of an attribute over the values that they describe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.data.spelling import count
from solah.kernels.reference import masses
from solah.model.attributes import flatten
from solah.plot.canvas import (
    BLUE,
    GREY,
    PALE,
    PLAIN,
    Display,
    inches,
    percent,
    points,
    ramp,
    shown,
    tidy,
)
from solah.plot.canvas import text_width as width_of
from solah.plot.subjects import attribute_of, readings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from solah.kernels.arrays import Float
    from solah.model import Attribute

_BINS = 40
_MOST_STATES = 30
_GAP = 0.1  # inches between two words on one line


class WordsDisplay(Display):
    """The words of an attribute.

    A continuous attribute shows how appropriate each word is for each value, over the histogram
    of the data if there are any. The states of a discrete one are words of their own; it shows the
    share of the rows that have them: of the data, or else of the rows that were learnt from.

    Parameters
    ----------
    attribute : Attribute
        The described attribute.
    readings : ndarray of shape (n_rows,), default=None
        Its values as numbers, a discrete attribute's as the places of its states; NaN is unknown.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : tuple of Line2D
        The words of a continuous attribute, from low to high.
    texts_ : tuple of Text
        Their names.
    bars_ : BarContainer or None
        The histogram, or a discrete attribute's shares from top to bottom.

    Examples
    --------
    >>> from solah import LinguisticLabeller
    >>> from solah.plot import WordsDisplay
    >>> labeller = LinguisticLabeller().fit([[0.5], [10.5], [20.5]])
    >>> display = WordsDisplay.from_estimator(labeller, "x0")
    >>> [text.get_text() for text in display.texts_]
    ['low', 'medium', 'high']
    """

    lines_: tuple[Line2D, ...]
    texts_: tuple[Text, ...]
    bars_: BarContainer | None

    def __init__(self, attribute: Attribute, readings: Float | None = None) -> None:
        self.attribute = attribute
        self.readings = readings

    @classmethod
    def from_estimator(
        cls, estimator: Any, attribute: str, X: Any = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw the words that a fitted estimator uses.

        Parameters
        ----------
        estimator : LinguisticLabeller, any estimator of solah, Predictor or Model
        attribute : str
            The column's name; ``x0``, ``x1``, … where there are no names.
        X : array, frame or table, default=None
            Rows to show the values of.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : WordsDisplay
        """
        described = attribute_of(estimator, attribute)
        readings = None if X is None else readings_of(estimator, described, X)
        return cls(described, readings).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        self.lines_, self.texts_, self.bars_ = (), (), None
        if self.attribute.is_continuous:
            self._plot_ranges(self._open(ax, 6.4, 2.9))
        else:
            self._plot_states(ax)

    def _plot_ranges(self, ax: Axes) -> None:
        low, high = self._span()
        ax.set(xlim=(low, high), ylim=(0, 1.04), yticks=[0, 0.5, 1])
        ax.set_ylabel("appropriateness")
        ax.set_xlabel(shown(self.attribute.name, 60), **PLAIN)
        tidy(ax)
        if self._known().size:
            self._plot_histogram(ax)
        colours = ramp(len(self.attribute.words))
        outlines = [np.array(word.outline(low, high)).T for word in self.attribute.word_ranges()]
        self.lines_ = tuple(
            ax.plot(*outline, color=colour, linewidth=2.4)[0]
            for outline, colour in zip(outlines, colours, strict=True)
        )
        tops = [bends[heights == 1].mean() for bends, heights in outlines]
        self.texts_ = self._name_words(ax, np.array(tops), colours)

    def _known(self) -> Float:
        readings = np.empty(0) if self.readings is None else self.readings
        return readings[~np.isnan(readings)]

    def _span(self) -> tuple[float, float]:
        """Return a range that holds the words and the values, a little wider than both."""
        ends = [self.attribute.low, self.attribute.high, *self.attribute.peaks, *self._known()]
        known = [end for end in ends if end is not None]
        low, high = float(min(known)), float(max(known))
        margin = 0.02 * (high - low) or max(abs(high), 1.0) / 2
        return low - margin, high + margin

    def _plot_histogram(self, ax: Axes) -> None:
        """Draw the histogram, as high as the words, with its counts on the right."""
        counts, edges = np.histogram(self._known(), bins=_BINS)
        tallest = int(counts.max())
        self.bars_ = ax.bar(
            edges[:-1], counts / tallest, 0.9 * np.diff(edges), align="edge", color=PALE, zorder=0
        )
        of_rows = ax.secondary_yaxis(
            "right", functions=(partial(np.multiply, tallest), partial(np.multiply, 1 / tallest))
        )
        of_rows.set_yticks([0, tallest])
        of_rows.set_ylabel("rows", color=GREY)
        of_rows.tick_params(color=PALE, labelcolor=GREY)
        of_rows.spines["right"].set_visible(False)

    def _name_words(self, ax: Axes, tops: Float, colours: list[str]) -> tuple[Text, ...]:
        """Write each word above where it fits, on as many lines as keep words apart."""
        names = [shown(word, 24) for word in self.attribute.words]
        widths = np.array([width_of(name, "medium", "bold") for name in names])
        (low, high), room = ax.get_xlim(), inches(ax)[0]
        wished = (tops - low) / (high - low) * room
        places = np.clip(wished, widths / 2, np.maximum(room - widths / 2, widths / 2))
        lift = 1.35 * points("medium")
        return tuple(
            ax.annotate(
                name,
                (place / room, 1),
                xycoords="axes fraction",
                xytext=(0, 2 + lift * line),
                textcoords="offset points",
                ha="center",
                color=colour,
                weight="bold",
                arrowprops={"arrowstyle": "-", "color": colour} if line else None,
                # A word hides the threads of those above it that pass behind.
                bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
                zorder=9 - line / 10,
                **PLAIN,
            )
            for name, place, colour, line in zip(
                names, places, colours, lines_apart(places, widths), strict=True
            )
        )

    def _plot_states(self, ax: Axes | None) -> None:
        """Draw one bar per state, as long as its share of the rows."""
        names, shares, colours = self._shares()
        ax = self._open(ax, 6.4, 0.75 + 0.28 * len(names))
        size = min(points("medium"), 55 * inches(ax)[1] / len(names))
        places = range(len(names))
        self.bars_ = ax.barh(places, shares, height=0.72, color=colours)
        ax.bar_label(self.bars_, list(map(percent, shares)), padding=3, color=GREY, size=size)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 1.12 * max(*shares, 1e-9)))
        ax.set_yticks(places, names, size=size, **PLAIN)
        which = "learnt from" if self.readings is None else "given"
        ax.set_xlabel(f"{shown(self.attribute.name)}: share of the rows {which}", **PLAIN)
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        tidy(ax)

    def _shares(self) -> tuple[list[str], list[float], list[str]]:
        """Return names, shares and colours of the states, the rarest of very many put together."""
        attribute = self.attribute
        names = [shown(word, 30) for word in attribute.words]
        shares, unknown = np.array(attribute.ignorance), 0.0
        colours = ramp(len(names)) if attribute.is_ordered else [BLUE] * len(names)
        if self.readings is not None:
            known = self._known()
            n_rows = max(len(self.readings), 1)
            shares = masses(known, flatten([attribute]), 0).sum(axis=0) / n_rows
            unknown = 1 - len(known) / n_rows
        kept = np.sort(np.argsort(-shares, kind="stable")[:_MOST_STATES]).tolist()
        others = [("not known", unknown)] if unknown else []
        if len(kept) < len(names):
            rest = float(shares.sum() - shares[kept].sum())
            others.insert(0, (count(len(names) - len(kept), "other state"), rest))
        return (
            [names[place] for place in kept] + [name for name, _ in others],
            shares[kept].tolist() + [share for _, share in others],
            [colours[place] for place in kept] + [PALE] * len(others),
        )


def lines_apart(places: Float, widths: Float) -> list[int]:
    """Put words, from left to right, on the lowest line where they do not touch the one before.

    Examples
    --------
    >>> import numpy as np
    >>> lines_apart(np.array([1.0, 1.5, 3.0]), np.array([1.0, 1.0, 1.0]))
    [0, 1, 0]
    """
    ends: list[float] = []
    lines = []
    for place, width in zip(places.tolist(), widths.tolist(), strict=True):
        begin = place - width / 2
        line = next((i for i, end in enumerate(ends) if end + _GAP <= begin), len(ends))
        ends[line : line + 1] = [place + width / 2]
        lines.append(line)
    return lines
