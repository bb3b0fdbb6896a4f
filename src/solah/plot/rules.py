"""Draws what more rules are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone, is_classifier

from solah.evaluation import Plan, cross_validate
from solah.exceptions import ParameterError, shorten
from solah.plot.canvas import BLUE, GREY, Display, matplotlib, tidy
from solah.plot.subjects import as_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.text import Text

    from solah.evaluation import Fold


@dataclass(frozen=True)
class RulesPoint:
    """How well models of at most so many rules decide on unseen rows.

    Attributes
    ----------
    max_rules : the most rules that were allowed; None for no limit
    n_rules : how many they had, on average over the folds
    score : their mean score
    error : its standard error
    """

    max_rules: int | None
    n_rules: float
    score: float
    error: float


class RulesDisplay(Display):
    """What more rules are worth: the score on unseen rows against the number of rules.

    Parameters
    ----------
    points : sequence of RulesPoint
        One for each limit.
    measure : str, default="accuracy"
        What the scores are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    errorbar_ : ErrorbarContainer
        The scores, with their standard errors.
    text_ : Text or None
        What marks the point without a limit.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.plot import RulesDisplay
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier()
    >>> display = RulesDisplay.from_estimator(tree, iris.table, iris.goal, max_rules=(3, None))
    >>> display.points[0].n_rules
    3.0
    """

    errorbar_: ErrorbarContainer
    text_: Text | None

    def __init__(self, points: Sequence[RulesPoint], measure: str = "accuracy") -> None:
        self.points = tuple(points)
        self.measure = measure

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        max_rules: Sequence[int | None] = (5, 10, 20, 50, None),
        cv: int = 5,
        ax: Axes | None = None,
    ) -> Self:
        """Cross-validate an estimator under several limits on its rules, and draw the scores.

        Parameters
        ----------
        estimator : estimator of solah
            It is cloned, not changed; it need not be fitted.
        X : array, frame or table of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            Classes, scored by accuracy; or numbers, scored by R².
        max_rules : sequence of int or None, default=(5, 10, 20, 50, None)
            The limits; None is no limit.
        cv : int, default=5
            The folds of the cross-validation, the same for all limits.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : RulesDisplay
        """
        matplotlib("pyplot")  # known to be missing before the long work, not after it
        limits = tuple(dict.fromkeys(max_rules))
        name = _limiting(estimator)
        _check(limits, cv)
        limited = {str(limit): clone(estimator).set_params(**{name: limit}) for limit in limits}
        measured = cross_validate(limited, as_table(X), np.asarray(y), Plan(folds=cv))
        measure = "accuracy" if is_classifier(estimator) else "r2"
        folds = {
            limit: [fold for fold in measured.folds if fold.estimator == str(limit)]
            for limit in limits
        }
        points = [_point(limit, of_limit, measure) for limit, of_limit in folds.items()]
        return cls(points, {"accuracy": "accuracy", "r2": "R²"}[measure]).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        ax = self._open(ax, 5.2, 3.4)
        ordered = sorted(self.points, key=lambda point: point.n_rules)
        self.errorbar_ = ax.errorbar(
            [point.n_rules for point in ordered],
            [point.score for point in ordered],
            [point.error for point in ordered],
            color=BLUE,
            marker="o",
            linewidth=1.8,
            elinewidth=1.2,
            capsize=3,
        )
        ax.set(xlabel="rules", ylabel=f"{self.measure} on unseen rows")
        self._mark_limits(ax)
        tidy(ax)

    def _mark_limits(self, ax: Axes) -> None:
        """Label the axis with numbers of rules, and tell where there was no limit."""
        scale_rules(ax, [point.n_rules for point in self.points])
        free = [point for point in self.points if point.max_rules is None]
        self.text_ = None
        if free:
            self.text_ = ax.annotate(
                "no limit",
                (free[0].n_rules, free[0].score - free[0].error),
                xytext=(0, -5),
                textcoords="offset points",
                ha="center",
                va="top",
                size="small",
                color=GREY,
            )


def scale_rules(ax: Axes, n_rules: Sequence[float]) -> None:
    """Scale an axis for numbers of rules, few and many, and label it with round ones."""
    few, most = max(min(n_rules), 0.5), max(*n_rules, 0.5)
    ax.set_xscale("log")
    ax.set_xlim(few / 1.25, most * 1.25)
    round_numbers = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    ticks = [tick for tick in round_numbers if few / 1.25 <= tick <= most * 1.25]
    ax.set_xticks(ticks or [few], [f"{tick:,.0f}" for tick in ticks or [few]])
    ax.minorticks_off()


def _limiting(estimator: Any) -> str:
    """Name the parameter that limits an estimator's rules: its own, or that of its trees."""
    own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if own.get("tree") is None and "max_rules" in own:
        return "max_rules"
    if "tree" in own:
        return "tree__max_rules"
    raise ParameterError(
        f"{shorten(estimator)} has no parameter 'max_rules'; use an estimator of solah"
    )


def _check(limits: Sequence[int | None], cv: int) -> None:
    if not limits:
        raise ParameterError("'max_rules' must name one limit at least, such as (5, 20, None)")
    if not isinstance(cv, int) or cv < 2:
        raise ParameterError(f"'cv' must be an int of at least 2: folds. Got {shorten(cv)}.")


def _point(limit: int | None, folds: Sequence[Fold], measure: str) -> RulesPoint:
    scores = np.array([fold.measures[measure] for fold in folds])
    n_rules = np.mean([fold.measures["n_rules"] for fold in folds])
    error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return RulesPoint(limit, float(n_rules), float(scores.mean()), float(error))
