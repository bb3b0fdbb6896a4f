"""Draws whether the beliefs of a classifier come true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from solah.data.spelling import spell
from solah.evaluation.calibration import BeliefBins, bin_beliefs, bins_of
from solah.exceptions import ParameterError, shorten
from solah.plot.canvas import GREY, PALE, Display, class_looks, shown
from solah.plot.square import figure_size, name_curves, prepare_square
from solah.plot.subjects import judge, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.plot.subjects import Judged

Of = Literal["decided", "classes"]

_MOST_NUMBERED = 12  # bins whose counts are written on them


@dataclass(frozen=True, eq=False)
class CalibrationCurve(BeliefBins):
    """Beliefs, put into bins, against how often they came true; bins without rows are left out.

    Attributes
    ----------
    name : whose beliefs
    believed, came_true, counts : (n_bins,) as in :class:`solah.evaluation.BeliefBins`
    """

    name: str = ""


class CalibrationDisplay(Display):
    """Whether beliefs come true as often as they promise.

    On the diagonal they do; above it the classifier is too cautious, below it too sure. The area of
    a mark and the bars at the bottom show how many beliefs stand behind it.

    Parameters
    ----------
    curves : sequence of CalibrationCurve
        One for the class decided for, or one per class.
    n_bins : int
        How many bins of equal width there are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : tuple of Line2D
        The curves.
    bars_ : BarContainer
        The beliefs in each bin, of all curves; the highest bar is a fifth of the axes.
    legend_ : Legend
        The curves' names, with the mean distance to the diagonal.

    Examples
    --------
    >>> from solah.plot import CalibrationDisplay
    >>> beliefs = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.38, 0.62]]
    >>> display = CalibrationDisplay.from_predictions(["no", "no", "yes", "no"], beliefs)
    >>> display.curves[0].believed.tolist(), display.curves[0].counts.tolist()
    ([0.61, 0.7, 0.9], [2, 1, 1])
    """

    lines_: tuple[Line2D, ...]
    bars_: BarContainer
    legend_: Legend

    def __init__(self, curves: tuple[CalibrationCurve, ...], n_bins: int = 10) -> None:
        self.curves = curves
        self.n_bins = n_bins

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        of: Of = "decided",
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw whether what a fitted classifier believes of rows comes true.

        Parameters
        ----------
        estimator : classifier, Evaluator or Model
            Of solah, or any other with ``predict_proba``.
        X : array, frame or table of shape (n_rows, n_columns)
            Rows that were not learnt from; of others every classifier is too sure.
        y : array of shape (n_rows,)
            Their classes.
        of : {"decided", "classes"}, default="decided"
            The belief in the class that is decided for, or in each class.
        n_bins : int, default=10
            How many bins of equal width the beliefs are put into.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : CalibrationDisplay
        """
        return cls(_curves(judge(estimator, X, y), of, n_bins), n_bins).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        beliefs: Any,
        classes: Any = None,
        *,
        of: Of = "decided",
        n_bins: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw whether beliefs, such as cross-validated ones, come true.

        Parameters
        ----------
        y : array of shape (n_rows,)
            The true classes.
        beliefs : array of shape (n_rows, n_classes)
        classes : array of shape (n_classes,), default=None
            The class of each column; None takes those of y, sorted.
        of, n_bins, ax
            As in ``from_estimator``.

        Returns
        -------
        display : CalibrationDisplay
        """
        return cls(_curves(judged(y, beliefs, classes), of, n_bins), n_bins).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        labels = [f"{shown(curve.name, 30)} ({curve.error:.3f})" for curve in self.curves]
        ax = self._open(ax, *figure_size(labels))
        prepare_square(ax, "belief", "share that came true")
        self.bars_ = self._plot_counts(ax)
        looks = class_looks(len(self.curves))
        self.lines_ = tuple(
            ax.plot(curve.believed, curve.came_true, linewidth=1.6, **look)[0]
            for curve, look in zip(self.curves, looks, strict=True)
        )
        most = max(curve.counts.max() for curve in self.curves)
        for curve, look in zip(self.curves, looks, strict=True):
            areas = 12 + 90 * curve.counts / most
            ax.scatter(curve.believed, curve.came_true, areas, color=look["color"], zorder=3)
        title = "mean distance to the diagonal"
        self.legend_ = name_curves(ax, self.lines_, labels, title, inside=False)

    def _plot_counts(self, ax: Axes) -> BarContainer:
        """Draw how many beliefs each bin has at the bottom, with the numbers on the bars."""
        counts = np.zeros(self.n_bins, dtype=int)
        for curve in self.curves:
            counts[bins_of(curve.believed, self.n_bins)] += curve.counts
        middles = (np.arange(self.n_bins) + 0.5) / self.n_bins
        bars = ax.bar(middles, 0.2 * counts / counts.max(), 0.9 / self.n_bins, color=PALE, zorder=0)
        if self.n_bins <= _MOST_NUMBERED:
            labels = [f"{count:,}" if count else "" for count in counts.tolist()]
            ax.bar_label(bars, labels, size="x-small", color=GREY, padding=1)
        return bars


def _curves(rows: Judged, of: Of, n_bins: int) -> tuple[CalibrationCurve, ...]:
    if of not in ("decided", "classes"):
        raise ParameterError(f"'of' must be 'decided' or 'classes'. Got {shorten(of)} instead.")
    if not isinstance(n_bins, int) or n_bins < 1:
        raise ParameterError(f"'n_bins' must be an int of at least 1. Got {shorten(n_bins)}.")
    if of == "decided":
        beliefs = rows.beliefs[np.arange(len(rows.truth)), rows.decided]
        return (_curve("class decided for", beliefs, rows.decided == rows.truth, n_bins),)
    return tuple(
        _curve(spell(name), rows.beliefs[:, place], rows.truth == place, n_bins)
        for place, name in enumerate(rows.classes)
    )


def _curve(name: str, beliefs: Float, is_true: NDArray[np.bool_], n_bins: int) -> CalibrationCurve:
    bins = bin_beliefs(beliefs, is_true, n_bins)
    filled = bins.counts > 0
    return CalibrationCurve(
        bins.believed[filled], bins.came_true[filled], bins.counts[filled], name
    )
