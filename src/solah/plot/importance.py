"""Draws the importances of a model's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import count
from solah.estimators.inputs import known_names
from solah.exceptions import ParameterError, shorten
from solah.explain import attribute_importances
from solah.model import Model
from solah.model.predictor import Predictor
from solah.plot.canvas import BLUE, GREY, PALE, PLAIN, Display, inches, percent, points, shown, tidy
from solah.plot.subjects import model_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ImportanceDisplay(Display):
    """What each attribute tells: its share of what the model knows, the largest first.

    Parameters
    ----------
    importances : mapping of attribute name to float
        The shares.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : BarContainer
        A bar an attribute from top to bottom, and one for all those that have none of their own.

    Examples
    --------
    >>> from solah.plot import ImportanceDisplay
    >>> display = ImportanceDisplay({"hue": 0.3, "ash": 0.0, "proline": 0.7}).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['proline', 'hue', '1 other']
    """

    bars_: BarContainer

    def __init__(self, importances: Mapping[str, float]) -> None:
        self.importances = dict(importances)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_features: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw the importances of a fitted estimator's attributes.

        Parameters
        ----------
        estimator : estimator with ``feature_importances_``, Predictor or Model
            Of solah, or any other.
        max_features : int, default=20
            The most attributes with a bar of their own.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : ImportanceDisplay
        """
        if isinstance(estimator, Predictor | Model):
            model = model_of(estimator)
            names = [attribute.name for attribute in model.attributes]
            shares = attribute_importances(model).tolist()
        else:
            check_is_fitted(estimator)
            if not hasattr(estimator, "feature_importances_"):
                raise ParameterError(f"{shorten(estimator)} has no importances of attributes")
            names = known_names(estimator)
            shares = np.asarray(estimator.feature_importances_, dtype=np.float64).tolist()
        return cls(dict(zip(names, shares, strict=True))).plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_features : int, default=20
            The most attributes with a bar of their own.

        Returns
        -------
        self
        """
        if not isinstance(max_features, int) or max_features < 1:
            raise ParameterError(
                f"'max_features' must be an int of at least 1. Got {shorten(max_features)}."
            )
        names, shares, n_own = self._largest(max_features)
        ax = self._open(ax, 6.4, 0.75 + 0.27 * len(names))
        size = min(points("medium"), 55 * inches(ax)[1] / len(names))
        places = range(len(names))
        colours = [BLUE] * n_own + [PALE] * (len(names) - n_own)
        self.bars_ = ax.barh(places, shares, height=0.7, color=colours)
        ax.bar_label(self.bars_, list(map(percent, shares)), padding=3, color=GREY, size=size)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 1.12 * max(*shares, 1e-9)))
        ax.set_yticks(places, names, size=size, **PLAIN)
        ax.set_xlabel("share of what the model knows")
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        tidy(ax)
        return self

    def _largest(self, most: int) -> tuple[list[str], list[float], int]:
        """Return names and shares from top to bottom, and how many are of single attributes."""
        ranked = sorted(self.importances.items(), key=lambda item: -item[1])
        own = [(shown(name), share) for name, share in ranked[:most] if share > 0]
        rest = ranked[len(own) :]
        if rest:
            own.append((count(len(rest), "other"), sum(share for _, share in rest)))
        return [name for name, _ in own], [share for _, share in own], len(own) - bool(rest)
