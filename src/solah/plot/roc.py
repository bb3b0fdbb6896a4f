"""Draws how well a classifier tells classes apart (ROC curves)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.data.spelling import spell
from solah.evaluation.curves import RocCurve, roc_curves
from solah.plot.canvas import Display, class_looks, shown
from solah.plot.square import figure_size, name_curves, prepare_square
from solah.plot.subjects import judge, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from solah.plot.subjects import Judged


class RocDisplay(Display):
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

    lines_: tuple[Line2D, ...]
    legend_: Legend

    def __init__(self, curves: tuple[RocCurve, ...]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw how well a fitted classifier tells the classes of rows apart.

        Parameters
        ----------
        estimator : classifier, Evaluator or Model
            Of solah, or any other with ``predict_proba``.
        X : array, frame or table of shape (n_rows, n_columns)
            Rows, best such as were not learnt from.
        y : array of shape (n_rows,)
            Their classes.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : RocDisplay
        """
        return cls(_roc_curves(judge(estimator, X, y))).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, beliefs: Any, classes: Any = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw how well beliefs, such as cross-validated ones, tell classes apart.

        Parameters
        ----------
        y : array of shape (n_rows,)
            The true classes.
        beliefs : array of shape (n_rows, n_classes)
        classes : array of shape (n_classes,), default=None
            The class of each column; None takes those of y, sorted.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : RocDisplay
        """
        return cls(_roc_curves(judged(y, beliefs, classes))).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        labels = [f"{shown(curve.name, 30)} ({curve.auc:.3f})" for curve in self.curves]
        ax = self._open(ax, *figure_size(labels))
        prepare_square(ax, "false positive rate", "true positive rate")
        self.lines_ = tuple(
            ax.plot(curve.false_positives, curve.true_positives, linewidth=2, **look)[0]
            for curve, look in zip(self.curves, class_looks(len(self.curves)), strict=True)
        )
        title = "AUC"
        if len(labels) > 1:
            mean = np.mean([curve.auc for curve in self.curves])
            title = f"AUC against the rest (mean {mean:.3f})"
        self.legend_ = name_curves(ax, self.lines_, labels, title, inside=True)


def _roc_curves(rows: Judged) -> tuple[RocCurve, ...]:
    names = [spell(name) for name in rows.classes]
    return tuple(roc_curves(rows.truth, rows.beliefs, names).values())
