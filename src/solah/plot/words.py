"""The words of a feature over its values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data import from_frame, is_frame
from solah.estimators import LinguisticLabeller
from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import read_features
from solah.exceptions import ColumnError
from solah.kernels.reference import masses
from solah.model.encode import encode_column
from solah.model.features import flatten
from solah.model.predictor import Predictor
from solah.plot.canvas import (
    BLUE,
    GREY,
    PALE,
    PLAIN,
    Display,
    add_legend,
    inches,
    model_of,
    ramp,
    shown,
    text_width,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from solah.kernels.arrays import Float
    from solah.model import Feature

_BINS = 40
_MOST_CATEGORIES = 30


class WordsDisplay(Display):
    """The words of a feature.

    A continuous feature shows the membership of each value in each word, over the histogram of the
    data if there are any. A feature with categories shows the share of the rows that have each: of
    the data, or else of the training rows.

    Parameters
    ----------
    feature : Feature
        The feature.
    readings : ndarray of shape (n_rows,), default=None
        Its values as numbers, categories by their index; NaN is missing.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : tuple of Line2D
        The words of a continuous feature, from low to high.
    legend_ : Legend or None
        Their names.
    bars_ : BarContainer or None
        The histogram, or the shares of categories from top to bottom.

    Examples
    --------
    >>> from solah import LinguisticLabeller
    >>> from solah.plot import WordsDisplay
    >>> labeller = LinguisticLabeller().fit([[0.5], [10.5], [20.5]])
    >>> display = WordsDisplay.from_estimator(labeller, "x0")
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['low', 'medium', 'high']
    """

    lines_: tuple[Line2D, ...]
    legend_: Legend | None
    bars_: BarContainer | None

    def __init__(self, feature: Feature, readings: Float | None = None) -> None:
        self.feature = feature
        self.readings = readings

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature: str, X: Any = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw the words that a fitted estimator uses.

        Parameters
        ----------
        estimator : LinguisticLabeller, any estimator of solah, Predictor or Model
        feature : str
            The column's name; ``x0``, ``x1``, … where there are no names.
        X : array, frame or table, default=None
            Rows to show the values of.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : WordsDisplay
        """
        if isinstance(estimator, LinguisticLabeller):
            check_is_fitted(estimator)
            features, where = estimator.features_, "the labeller"
        else:
            features, where = model_of(estimator).features, "the model"
        by_name = {one.name: one for one in features}
        if feature not in by_name:
            raise ColumnError.unknown(feature, by_name, where)
        found = by_name[feature]
        if X is None:
            return cls(found).plot(ax)
        if isinstance(estimator, LinguisticLabeller | LinguisticEstimator):
            table = read_features(estimator, X, reset=False)
        elif is_frame(X):
            table = from_frame(X, only=[feature])
        else:
            table = Predictor(model_of(estimator))._table(X)
        return cls(found, encode_column(table, found)).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        self.lines_, self.legend_, self.bars_ = (), None, None
        if self.feature.is_continuous:
            self._plot_ranges(self._open(ax, 6.4, 2.9))
        else:
            self._plot_categories(ax)

    def _known(self) -> Float:
        readings = np.empty(0) if self.readings is None else self.readings
        return readings[~np.isnan(readings)]

    def _plot_ranges(self, ax: Axes) -> None:
        feature, known = self.feature, self._known()
        ends = [feature.low, feature.high, *feature.peaks, *known]
        numbers = [end for end in ends if end is not None]
        low, high = float(min(numbers)), float(max(numbers))
        margin = 0.02 * (high - low) or max(abs(high), 1.0) / 2
        low, high = low - margin, high + margin
        ax.set(xlim=(low, high), ylim=(0, 1.04), yticks=[0, 0.5, 1], ylabel="membership")
        ax.set_xlabel(shown(feature.name, 60), **PLAIN)
        tidy(ax)
        if known.size:
            self._plot_histogram(ax, known)
        colours = ramp(len(feature.words))
        self.lines_ = tuple(
            ax.plot(*np.array(word.outline(low, high)).T, color=colour, linewidth=2.4)[0]
            for word, colour in zip(feature.word_ranges(), colours, strict=True)
        )
        names = [shown(word, 24) for word in feature.words]
        widest = max(text_width(name, "small") for name in names) + 0.6
        self.legend_ = add_legend(
            ax,
            self.lines_,
            names,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=max(int(inches(ax)[0] / widest), 1),
        )

    def _plot_histogram(self, ax: Axes, known: Float) -> None:
        """Draw the histogram, as high as the words, with its counts on the right."""
        counts, edges = np.histogram(known, bins=_BINS)
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

    def _plot_categories(self, ax: Axes | None) -> None:
        """Draw one bar per category, the rarest of very many put together."""
        feature, shares, missing = self.feature, np.array(self.feature.mean_masses), 0.0
        if self.readings is not None:
            known, n_rows = self._known(), max(len(self.readings), 1)
            shares = masses(known, flatten([feature]), 0).sum(axis=0) / n_rows
            missing = 1 - len(known) / n_rows
        n_words = len(feature.words)
        colours = ramp(n_words) if feature.is_ordered else [BLUE] * n_words
        kept = np.sort(np.argsort(-shares, kind="stable")[:_MOST_CATEGORIES]).tolist()
        bars = [(shown(feature.words[k], 30), float(shares[k]), colours[k]) for k in kept]
        if len(kept) < n_words:
            rest = float(shares.sum() - shares[kept].sum())
            bars.append((f"{n_words - len(kept)} other", rest, PALE))
        if missing:
            bars.append(("missing", missing, PALE))
        names, widths, looks = zip(*bars, strict=True)
        self.bars_ = self._bars(ax, names, widths, looks)
        which = "training rows" if self.readings is None else "rows"
        self.ax_.set_xlabel(f"{shown(feature.name)}: share of the {which}", **PLAIN)
