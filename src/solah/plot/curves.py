"""Draws the ROC curves of a classifier, and whether its beliefs come true."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, column_or_1d

from solah.data.spelling import spell
from solah.evaluation.calibration import BeliefBins, bin_beliefs, bins_of
from solah.evaluation.curves import RocCurve, roc_curves
from solah.exceptions import DataError, ParameterError, shorten
from solah.model import Model, Task
from solah.model.predictor import Predictor
from solah.plot.canvas import GREY, PALE, Display, add_legend, class_looks, shown, text_width, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float

Of = Literal["decided", "classes"]

_SIDE = 4.6  # inches
_FEW = 6  # curves whose names need no room on the right of the square
_MOST_NUMBERED = 12  # bins whose counts are written on them


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows whose class is known, and what a classifier believes of them.

    Attributes
    ----------
    truth : (n_rows,) the places of the true classes
    beliefs : (n_rows, n_classes)
    decided : (n_rows,) the places of the classes decided for
    classes : the classes, in the order of the beliefs
    """

    truth: NDArray[np.intp]
    beliefs: Float
    decided: NDArray[np.intp]
    classes: tuple[Any, ...]


class CurvesDisplay(Display):
    """Base of pictures of beliefs; not for use by itself."""

    lines_: tuple[Line2D, ...]
    legend_: Legend

    @classmethod
    @abstractmethod
    def _of(cls, rows: Judged, **options: Any) -> Self: ...

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the beliefs of a fitted classifier about rows.

        Parameters
        ----------
        estimator : classifier, Predictor or Model
            Of solah, or any other with ``predict_proba``.
        X : array, frame or table of shape (n_rows, n_columns)
            Rows that were not learnt from; of others every classifier is too sure.
        y : array of shape (n_rows,)
            Their classes.
        ax : matplotlib Axes, default=None
            None makes a figure.
        **options
            Those of the display.

        Returns
        -------
        display
        """
        classifier = Predictor(estimator) if isinstance(estimator, Model) else estimator
        is_ours = isinstance(classifier, Predictor)
        is_number = (
            classifier.model_.goal.task is Task.REGRESSION if is_ours else is_regressor(classifier)
        )
        if is_number or not hasattr(classifier, "predict_proba"):
            raise ParameterError(
                f"beliefs in classes are drawn, and {type(classifier).__name__} has none; "
                "use a classifier with predict_proba"
            )
        if not is_ours:
            check_is_fitted(classifier)
        beliefs, decisions = classifier.predict_proba(X), classifier.predict(X)
        rows = _judged(y, beliefs, classifier.classes_, decisions)
        return cls._of(rows, **options).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, beliefs: Any, classes: Any = None, *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw beliefs, such as cross-validated ones.

        Parameters
        ----------
        y : array of shape (n_rows,)
            The true classes.
        beliefs : array of shape (n_rows, n_classes)
        classes : array of shape (n_classes,), default=None
            The class of each column; None takes those of y, sorted.
        ax, **options
            As in ``from_estimator``.

        Returns
        -------
        display
        """
        return cls._of(_judged(y, beliefs, classes), **options).plot(ax)

    def _open_square(self, ax: Axes | None, labels: Sequence[str], x: str, y: str) -> Axes:
        """Open a square for shares in both directions, with the diagonal."""
        names = 0.9 + max(text_width(label, "small") for label in labels)
        ax = self._open(ax, _SIDE + (names if len(labels) > _FEW else 0.0), _SIDE)
        ticks = [0, 0.25, 0.5, 0.75, 1]
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1, xticks=ticks, yticks=ticks)
        ax.set(xlabel=x, ylabel=y)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (2, 3)), zorder=1)
        tidy(ax)
        return ax

    def _name_curves(self, ax: Axes, labels: Sequence[str], title: str, **where: Any) -> None:
        """Name the curves; many, on the right of the square."""
        if len(labels) > _FEW:
            where = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
            ax.set_anchor("W")  # the room that the layout leaves is then all for the names
        self.legend_ = add_legend(ax, self.lines_, labels, title, **where)


class RocDisplay(CurvesDisplay):
    """The ROC curves of all classes in one picture, each class against all others.

    Of two classes only the second is drawn: the other curve is its mirror image. Classes that are
    not among the rows have none.

    Parameters
    ----------
    curves : sequence of RocCurve
        The curves, in the order of the classes.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : tuple of Line2D
        The curves.
    legend_ : Legend
        The classes with their AUC, and the mean.

    Examples
    --------
    >>> from solah.plot import RocDisplay
    >>> beliefs = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]
    >>> display = RocDisplay.from_predictions(["no", "no", "yes"], beliefs)
    >>> display.curves[0].name, display.curves[0].auc
    ('yes', 1.0)
    """

    def __init__(self, curves: Sequence[RocCurve]) -> None:
        self.curves = tuple(curves)

    @classmethod
    def _of(cls, rows: Judged, **options: Any) -> Self:
        names = [spell(name) for name in rows.classes]
        return cls(tuple(roc_curves(rows.truth, rows.beliefs, names).values()), **options)

    def _draw(self, ax: Axes | None) -> None:
        labels = [f"{shown(curve.name, 30)} ({curve.auc:.3f})" for curve in self.curves]
        ax = self._open_square(ax, labels, "false positive rate", "true positive rate")
        self.lines_ = tuple(
            ax.plot(curve.false_positives, curve.true_positives, linewidth=2, **look)[0]
            for curve, look in zip(self.curves, class_looks(len(self.curves)), strict=True)
        )
        mean = np.mean([curve.auc for curve in self.curves])
        title = f"AUC against the rest (mean {mean:.3f})" if len(labels) > 1 else "AUC"
        self._name_curves(ax, labels, title, loc="lower right")


@dataclass(frozen=True, eq=False)
class CalibrationCurve(BeliefBins):
    """Beliefs, put into bins, against how often they came true; bins without rows are left out.

    Attributes
    ----------
    name : whose beliefs
    believed, came_true, counts : (n_bins,) as in :class:`solah.evaluation.BeliefBins`
    """

    name: str = ""


class CalibrationDisplay(CurvesDisplay):
    """Whether beliefs come true as often as they promise.

    On the diagonal they do; above it the classifier is too cautious, below it too sure. The area of
    a mark and the bars at the bottom show how many beliefs stand behind it. ``from_estimator`` and
    ``from_predictions`` take two options: ``of``, "decided" (by default) for the belief in the
    class that is decided for, or "classes" for that in each class; and ``n_bins``.

    Parameters
    ----------
    curves : sequence of CalibrationCurve
        One for the class decided for, or one per class.
    n_bins : int, default=10
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

    bars_: BarContainer

    def __init__(self, curves: Sequence[CalibrationCurve], n_bins: int = 10) -> None:
        self.curves = tuple(curves)
        self.n_bins = n_bins

    @classmethod
    def _of(cls, rows: Judged, of: Of = "decided", n_bins: int = 10, **options: Any) -> Self:
        if of not in ("decided", "classes"):
            raise ParameterError(f"'of' must be 'decided' or 'classes'. Got {shorten(of)} instead.")
        if not isinstance(n_bins, int) or n_bins < 1:
            raise ParameterError(f"'n_bins' must be an int of at least 1. Got {shorten(n_bins)}.")
        if of == "decided":
            chosen = rows.beliefs[np.arange(len(rows.truth)), rows.decided]
            beliefs = [("class decided for", chosen, rows.decided == rows.truth)]
        else:
            beliefs = [
                (spell(name), rows.beliefs[:, place], rows.truth == place)
                for place, name in enumerate(rows.classes)
            ]
        curves = []
        for name, believed, is_true in beliefs:
            bins = bin_beliefs(believed, is_true, n_bins)
            full = bins.counts > 0
            parts = bins.believed[full], bins.came_true[full], bins.counts[full]
            curves.append(CalibrationCurve(*parts, name))
        return cls(curves, n_bins, **options)

    def _draw(self, ax: Axes | None) -> None:
        labels = [f"{shown(curve.name, 30)} ({curve.error:.3f})" for curve in self.curves]
        ax = self._open_square(ax, labels, "belief", "share that came true")
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
        where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 3}
        self._name_curves(ax, labels, "mean distance to the diagonal", **where)

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


def _judged(y: Any, beliefs: Any, classes: Any = None, decisions: Any = None) -> Judged:
    """Check beliefs and true classes, and number the classes; decide for what is believed most."""
    goal = column_or_1d(y)
    known = np.unique(goal) if classes is None else np.asarray(classes)
    shares = np.asarray(beliefs, dtype=np.float64)
    if shares.shape != (len(goal), len(known)):
        raise DataError(
            f"the beliefs in {len(known)} classes for {len(goal)} rows must have the shape "
            f"{(len(goal), len(known))}. Got an array of shape {shares.shape}."
        )
    truth = _places(goal, known)
    if len(set(truth.tolist())) < 2:
        raise DataError("y has one class only; a picture of how classes are told apart needs two")
    decided = shares.argmax(axis=1) if decisions is None else _places(decisions, known)
    return Judged(truth, shares, decided, tuple(known.tolist()))


def _places(values: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each value stands among the classes."""
    place_of = {value: place for place, value in enumerate(classes.tolist())}
    values = np.asarray(values).tolist()
    strange = [value for value in values if value not in place_of]
    if strange:
        known = ", ".join(map(shorten, list(place_of)[:8]))
        raise DataError(
            f"y has the class {shorten(strange[0])}, which the classifier does not know; "
            f"it knows: {known}{', …' if len(place_of) > 8 else ''}"
        )
    return np.array([place_of[value] for value in values], dtype=np.intp)
