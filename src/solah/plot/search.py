"""Draws how a genetic search went: the best and the mean, by generation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.estimators import GeneticHierarchyClassifier
from solah.exceptions import DataError, ParameterError, shorten
from solah.plot.canvas import BLUE, OLIVE, Display, add_legend, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

_MEASURES = {"auc": "AUC", "accuracy": "accuracy", "log_loss": "log-loss, negative"}


class SearchDisplay(Display):
    """How a genetic search went: the best score so far and the mean, by generation.

    Parameters
    ----------
    history : mapping of str to ndarray
        ``generation``, ``best`` and ``mean``, as ``history_`` of the estimator has them.
    measure : str, default="score"
        What the scores are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    best_, mean_ : Line2D
        The curves.
    legend_ : Legend

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import GeneticHierarchyClassifier, GeneticSearch
    >>> from solah.plot import SearchDisplay
    >>> search = GeneticHierarchyClassifier(GeneticSearch(4, n_generations=2), random_state=0)
    >>> display = SearchDisplay.from_estimator(search.fit(*load_iris(return_X_y=True)))
    >>> display.best_.get_xdata()
    array([0, 1, 2])
    """

    best_: Line2D
    mean_: Line2D
    legend_: Legend

    def __init__(self, history: Mapping[str, Any], measure: str = "score") -> None:
        self.history = {name: np.asarray(column) for name, column in history.items()}
        self.measure = measure

    @classmethod
    def from_estimator(
        cls, estimator: GeneticHierarchyClassifier, *, ax: Axes | None = None
    ) -> Self:
        """Draw how a fitted estimator's search went.

        Parameters
        ----------
        estimator : GeneticHierarchyClassifier
            Fitted.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : SearchDisplay
        """
        if not isinstance(estimator, GeneticHierarchyClassifier):
            raise ParameterError(
                "only a GeneticHierarchyClassifier has searched through generations. "
                f"Got {shorten(estimator)} instead."
            )
        check_is_fitted(estimator)
        return cls(estimator.history_, _MEASURES[estimator.search_.scoring]).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        generations = self.history["generation"]
        if len(generations) == 0:
            raise DataError("no generation was scored, as the rows were too few; nothing to draw")
        ax = self._open(ax, 5.2, 3.2)
        mark = "o" if len(generations) <= 30 else None
        looks: dict[str, Any] = {"linewidth": 2, "marker": mark, "markersize": 4}
        (self.best_,) = ax.plot(generations, self.history["best"], color=BLUE, **looks)
        (self.mean_,) = ax.plot(
            generations, self.history["mean"], color=OLIVE, linestyle="--", **looks
        )
        ax.set(xlabel="generation", ylabel=f"{self.measure} on unseen rows")
        ax.locator_params("x", integer=True)
        labels = ["best so far", "mean of the generation"]
        self.legend_ = add_legend(ax, [self.best_, self.mean_], labels, loc="best")
        tidy(ax)
