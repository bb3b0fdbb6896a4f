"""Loss and accuracy against the number of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from solah.data.spelling import spell_mean
from solah.exceptions import DataError, ParameterError, shorten
from solah.plot.canvas import BLUE, OLIVE, RUST, Display, add_legend, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from solah.learn.objective import PathStep


class PathDisplay(Display):
    """Cross-validated loss and accuracy against the number of rules.

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
        The mark of the chosen number, with its number of features in the legend.
    legend_ : Legend

    Examples
    --------
    >>> from solah.learn.objective import PathStep
    >>> from solah.plot import PathDisplay
    >>> few = PathStep(max_rules=4, n_rules=4, n_features=2, loss=0.5, quality=0.8)
    >>> many = PathStep(
    ...     max_rules=8, n_rules=8, n_features=3, loss=0.4, quality=0.9, is_chosen=True
    ... )
    >>> display = PathDisplay([few, many]).plot()
    >>> display.chosen_.get_xdata().tolist()
    [8]
    """

    accuracy_ax_: Axes
    loss_: ErrorbarContainer
    accuracy_: Line2D
    chosen_: Line2D | None
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
        self._scale_rules(ax, rules)
        lines, labels = [self.loss_, self.accuracy_], [loss, quality]
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
                lines.append(self.chosen_)
                features = spell_mean(step.n_features)
                labels.append(f"chosen: {spell_mean(step.n_rules)} rules, {features} features")
        self.legend_ = add_legend(ax, lines, labels, loc="center right")
        tidy(ax)
        tidy(self.accuracy_ax_)

    @staticmethod
    def _scale_rules(ax: Axes, n_rules: Sequence[float]) -> None:
        """Scale the axis for numbers of rules, few and many, and label it with round ones."""
        few, most = max(min(n_rules), 0.5), max(*n_rules, 0.5)
        ax.set_xscale("log")
        ax.set_xlim(few / 1.25, most * 1.25)
        round_numbers = [step * 10**power for power in range(7) for step in (1, 2, 5)]
        ticks = [tick for tick in round_numbers if few / 1.25 <= tick <= most * 1.25] or [few]
        ax.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        ax.minorticks_off()
