"""Draws how few rules suffice, and how a genetic search went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import spell_mean
from solah.estimators import GeneticHierarchyClassifier
from solah.exceptions import DataError, ParameterError, shorten
from solah.plot.canvas import (
    BLUE,
    GREY,
    OLIVE,
    RUST,
    Display,
    add_legend,
    inches,
    text_width,
    tidy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from solah.learn.objective import PathStep


class PathDisplay(Display):
    """How few rules suffice: loss and accuracy on unseen rows against the number of rules.

    Parameters
    ----------
    steps : sequence of PathStep
        As ``path_`` of the estimator has them.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; ``ax_`` has the loss.
    accuracy_ax_ : matplotlib Axes
        The second axis, with the accuracy.
    loss_ : ErrorbarContainer
        The loss, with the standard error of how much more it is than the least.
    accuracy_ : Line2D
    chosen_ : Line2D or None
        The mark of what was chosen.
    texts_ : tuple of Text
        How many attributes the rules ask for, above the steps.
    legend_ : Legend

    Examples
    --------
    >>> from solah.learn.objective import ClassStep
    >>> from solah.plot import PathDisplay
    >>> few = ClassStep(max_rules=4, n_rules=4, n_attributes=2, log_loss=0.5, accuracy=0.8)
    >>> many = ClassStep(
    ...     max_rules=8, n_rules=8, n_attributes=3, log_loss=0.4, accuracy=0.9, is_chosen=True
    ... )
    >>> display = PathDisplay([few, many]).plot()
    >>> display.chosen_.get_xdata().tolist(), [text.get_text() for text in display.texts_]
    ([8], ['2', '3'])
    """

    accuracy_ax_: Axes
    loss_: ErrorbarContainer
    accuracy_: Line2D
    chosen_: Line2D | None
    texts_: tuple[Text, ...]
    legend_: Legend

    def __init__(self, steps: Sequence[PathStep]) -> None:
        self.steps = tuple(sorted(steps, key=lambda step: (step.n_rules, step.max_rules)))

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the numbers of rules that a fitted estimator compared.

        Parameters
        ----------
        estimator : estimator with ``path_``
            Fitted.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : PathDisplay
        """
        if not hasattr(estimator, "path_"):
            raise ParameterError(
                "only a fitted estimator that compares numbers of rules has a path of them. "
                f"Got {shorten(estimator)} instead."
            )
        return cls(estimator.path_).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        if not self.steps:
            raise DataError("no numbers of rules were compared, as one was given; nothing to draw")
        ax = self._open(ax, 5.6, 3.6)
        rules = [step.n_rules for step in self.steps]
        self.loss_ = ax.errorbar(
            rules,
            [step.loss for step in self.steps],
            [step.error for step in self.steps],
            color=BLUE,
            linewidth=2,
            marker="o",
            markersize=4,
            capsize=3,
        )
        self.accuracy_ax_ = ax.twinx()
        (self.accuracy_,) = self.accuracy_ax_.plot(
            rules,
            [step.quality for step in self.steps],
            color=OLIVE,
            linestyle="--",
            linewidth=2,
            marker="s",
            markersize=3,
        )
        quality, loss = self.steps[0].metrics
        ax.set(xlabel="rules", ylabel=f"cross-validated {loss}")
        self.accuracy_ax_.set_ylabel(quality)
        _scale_rules(ax, rules)
        self._mark_chosen(ax)
        self._name_attributes(ax)
        lines = [self.loss_, self.accuracy_, *([self.chosen_] if self.chosen_ else [])]
        labels = [loss, quality, "chosen"]
        self.legend_ = add_legend(ax, lines, labels[: len(lines)], loc="center right")
        tidy(ax)
        tidy(self.accuracy_ax_)

    def _mark_chosen(self, ax: Axes) -> None:
        self.chosen_ = None
        for step in self.steps:
            if step.is_chosen:
                (self.chosen_,) = ax.plot(
                    [step.n_rules],
                    [step.loss],
                    color=RUST,
                    linestyle="none",
                    marker="o",
                    markersize=11,
                    markerfacecolor="none",
                    markeredgewidth=2,
                )

    def _name_attributes(self, ax: Axes) -> None:
        """Write how many attributes are asked for above the steps, where there is room."""
        (low, high), wide = np.log(ax.get_xlim()), inches(ax)[0]
        room = 1.5 * text_width("88.8", "small")
        chosen = [step for step in self.steps if step.is_chosen]
        named: dict[float, PathStep] = {}
        for step in (*chosen, *self.steps):
            place = (np.log(max(step.n_rules, 0.5)) - low) / (high - low) * wide
            if all(abs(place - other) >= room for other in named):
                named[place] = step
        looks: dict[str, Any] = {"color": GREY, "size": "small", "va": "bottom"}
        self.texts_ = tuple(
            ax.text(
                place / wide,
                1.01,
                spell_mean(named[place].n_attributes),
                transform=ax.transAxes,
                ha="center",
                **looks,
            )
            for place in sorted(named)
        )
        ax.annotate(
            "attributes",
            (0, 1),
            xycoords="axes fraction",
            xytext=(-4, 1),
            textcoords="offset points",
            ha="right",
            **looks,
        )


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


def _scale_rules(ax: Axes, n_rules: Sequence[float]) -> None:
    """Scale an axis for numbers of rules, few and many, and label it with round ones."""
    few, most = max(min(n_rules), 0.5), max(*n_rules, 0.5)
    ax.set_xscale("log")
    ax.set_xlim(few / 1.25, most * 1.25)
    round_numbers = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    ticks = [tick for tick in round_numbers if few / 1.25 <= tick <= most * 1.25]
    ax.set_xticks(ticks or [few], [f"{tick:,.0f}" for tick in ticks or [few]])
    ax.minorticks_off()
