"""The importances of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import count
from solah.estimators.inputs import known_names
from solah.exceptions import ParameterError, shorten
from solah.explain import feature_importances
from solah.model import Model
from solah.model.predictor import Predictor
from solah.plot.canvas import BLUE, PALE, Display, model_of, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ImportanceDisplay(Display):
    """The importance of each feature, the largest first; together they are 1.

    Parameters
    ----------
    importances : mapping of feature name to float

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : BarContainer
        From top to bottom: a bar for each feature, and one for all those without a bar.

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
        """Draw the importances of a fitted estimator's features.

        Parameters
        ----------
        estimator : estimator with ``feature_importances_``, Predictor or Model
            Of solah, or any other.
        max_features : int, default=20
            The maximum number of features with a bar.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : ImportanceDisplay
        """
        if isinstance(estimator, Predictor | Model):
            model = model_of(estimator)
            names = [feature.name for feature in model.features]
            shares = feature_importances(model).tolist()
        else:
            check_is_fitted(estimator)
            if not hasattr(estimator, "feature_importances_"):
                raise ParameterError(f"{shorten(estimator)} has no feature_importances_")
            names = known_names(estimator)
            shares = np.asarray(estimator.feature_importances_, dtype=np.float64).tolist()
        return cls(dict(zip(names, shares, strict=True))).plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_features : int, default=20
            The maximum number of features with a bar.

        Returns
        -------
        self
        """
        if not isinstance(max_features, int) or max_features < 1:
            raise ParameterError(
                f"'max_features' must be an int of at least 1. Got {shorten(max_features)}."
            )
        ranked = sorted(self.importances.items(), key=lambda item: -item[1])
        bars = [(shown(name), one, BLUE) for name, one in ranked[:max_features] if one > 0]
        if rest := ranked[len(bars) :]:
            bars.append((count(len(rest), "other"), sum(share for _, share in rest), PALE))
        self.bars_ = self._bars(ax, *zip(*bars, strict=True))
        self.ax_.set_xlabel("importance")
        return self
