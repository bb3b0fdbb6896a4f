"""The dependences between features, with their groups."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data import Table, from_frame, is_frame
from solah.dependence import distance_correlation_matrix
from solah.estimators import RuleClassifier, SelfOrganisedHierarchyClassifier
from solah.estimators.inputs import known_names
from solah.exceptions import ColumnError, DataError, ParameterError, shorten
from solah.learn.organisation import group_features
from solah.plot.canvas import INK, PLAIN, RUST, Display, inches, points, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from solah.kernels.arrays import Float

_MOST_NUMBERED = 16  # features whose dependences are written into their cells
_LEAST_FONT = 3.5  # points; names that had to be smaller are dropped


class DependenceDisplay(Display):
    """The distance correlations of features, with groups outlined.

    Features of one group are side by side. A column on the right shows the dependence of each
    feature with the target.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        The dependences, between 0 and 1.
    names : sequence of str
        The features.
    clusters : sequence of sequences of str, default=()
        The names of the features of each group; features in no group come last.
    relevance : ndarray of shape (n_features,), default=None
        The dependences with the target.
    target : str, default="target"
        The target's name.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    order_ : tuple of str
        The features, from top to bottom and from left to right.
    image_ : AxesImage
        The matrix, in that order.
    outlines_ : tuple of Line2D
        The frames around groups of more than one feature.
    numbers_ : tuple of Text
        The numbers in the cells, where there is room for them.

    Examples
    --------
    >>> from solah.plot import DependenceDisplay
    >>> X = [[1.5, 2, 9.5], [2.5, 7, 0.5], [3.5, 3, 7.5], [4.5, 8, 2.5]]
    >>> display = DependenceDisplay.from_data(X, clusters=[["x1", "x2"]])
    >>> display.order_
    ('x1', 'x2', 'x0')
    """

    order_: tuple[str, ...]
    image_: AxesImage
    outlines_: tuple[Line2D, ...]
    numbers_: tuple[Text, ...]

    def __init__(
        self,
        matrix: Float,
        names: Sequence[str],
        clusters: Sequence[Sequence[str]] = (),
        relevance: Float | None = None,
        target: str = "target",
    ) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.names = tuple(names)
        self.clusters = tuple(map(tuple, clusters))
        self.relevance = relevance
        self.target = target

    @classmethod
    def from_estimator(
        cls,
        estimator: RuleClassifier | SelfOrganisedHierarchyClassifier,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the dependences by which an estimator grouped its features.

        Parameters
        ----------
        estimator : RuleClassifier or SelfOrganisedHierarchyClassifier
            Fitted.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : DependenceDisplay
        """
        if not isinstance(estimator, RuleClassifier | SelfOrganisedHierarchyClassifier):
            raise ParameterError(
                "only a RuleClassifier or a SelfOrganisedHierarchyClassifier measures dependences; "
                "for data alone there is DependenceDisplay.from_data(X). "
                f"Got {shorten(estimator)} instead."
            )
        check_is_fitted(estimator)
        names, target = known_names(estimator), estimator._target.name
        matrix, relevance = estimator.dependence_, estimator.relevance_
        is_rules = isinstance(estimator, RuleClassifier)
        groups = estimator.feature_groups_ if is_rules else estimator.clusters_
        return cls(matrix, names, groups, relevance, target).plot(ax)

    @classmethod
    def from_data(
        cls,
        X: Any,
        clusters: Sequence[Sequence[str]] | int | Literal["auto"] | None = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Measure the dependences between the columns of data, and draw them.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        clusters : sequence of sequences of column names, int or "auto", default=None
            Columns that belong together; or the paper's k, or "auto", for those that the
            self-organised hierarchy would find. None keeps the columns in their order.
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : DependenceDisplay
        """
        matrix = distance_correlation_matrix(X)
        names = _names_of(X, len(matrix))
        if clusters is None:
            clusters = ()
        elif isinstance(clusters, int) or clusters == "auto":
            found = group_features(matrix, clusters)
            clusters = [[names[place] for place in cluster] for cluster in found]
        return cls(matrix, names, clusters).plot(ax)

    def _draw(self, ax: Axes | None) -> None:
        places = self._order()
        n = len(places)
        side = float(np.clip(0.36 * n, 2.2, 6) if n <= 24 else np.clip(0.16 * n, 6, 14))
        ax = self._open(ax, side + 2.6, side + 1.4)
        self.order_ = tuple(self.names[place] for place in places)
        cells = self.matrix[np.ix_(places, places)]
        self.image_ = self._plot_cells(ax, cells, (-0.5, n - 0.5))
        if self.relevance is not None:
            self._plot_cells(ax, np.asarray(self.relevance)[places][:, None], (n, n + 1))
        self.outlines_ = self._outline_clusters(ax)
        self._name_features(ax)
        self.numbers_ = self._write_numbers(ax, cells)
        bar = self.figure_.colorbar(self.image_, ax=ax, shrink=0.7, pad=0.03)
        bar.set_label("distance correlation")
        bar.outline.set_visible(False)

    def _order(self) -> list[int]:
        """Return the indices of the features, group by group, then those in none."""
        place_of = {name: place for place, name in enumerate(self.names)}
        if self.matrix.shape != (len(self.names), len(self.names)):
            raise DataError(
                f"the dependences of {len(self.names)} features must be a square matrix. "
                f"Got an array of shape {self.matrix.shape}."
            )
        grouped = list(chain.from_iterable(self.clusters))
        for name in grouped:
            if name not in place_of:
                raise ColumnError.unknown(name, place_of)
            if grouped.count(name) > 1:
                raise ParameterError(f"column {shorten(name)} is in the clusters twice")
        alone = [place for name, place in place_of.items() if name not in set(grouped)]
        return [place_of[name] for name in grouped] + alone

    def _plot_cells(self, ax: Axes, cells: Float, span: tuple[float, float]) -> AxesImage:
        bottom = len(cells) - 0.5
        return ax.imshow(
            cells, cmap="Blues", vmin=0, vmax=1, extent=(*span, bottom, -0.5), aspect="equal"
        )

    def _outline_clusters(self, ax: Axes) -> tuple[Line2D, ...]:
        outlines, start = [], -0.5
        for cluster in self.clusters:
            end = start + len(cluster)
            if len(cluster) > 1:
                across, down = [start, end, end, start, start], [start, start, end, end, start]
                outlines += ax.plot(across, down, color=RUST, linewidth=2, clip_on=False)
            start = end
        return tuple(outlines)

    def _name_features(self, ax: Axes) -> None:
        """Name rows and columns, as small as they must be; not at all where nobody could read."""
        n = len(self.order_)
        names, across = [shown(name, 30) for name in self.order_], [*range(n)]
        n_columns = n if self.relevance is None else n + 1.5
        size = min(points("small"), 65 * min(inches(ax) / (n_columns, n)))
        ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(n - 0.5, -0.5))
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        if size < _LEAST_FONT:
            names = [""] * n
            ax.set_ylabel(f"{n} features")
        ax.set_yticks(across, names, size=size, **PLAIN)
        target = [] if self.relevance is None else [shown(self.target, 30)]
        ax.set_xticks(
            [*across, *[n + 0.5] * len(target)], names + target, size=size, rotation=90, **PLAIN
        )

    def _write_numbers(self, ax: Axes, cells: Float) -> tuple[Text, ...]:
        """Write the lower half of a small matrix into its cells; the upper one is the same."""
        cell = 72 * min(inches(ax)) / len(cells)
        if len(cells) > _MOST_NUMBERED or cell < 14:
            return ()
        return tuple(
            ax.text(
                column,
                row,
                f"{cells[row, column]:.2f}".lstrip("0"),
                ha="center",
                va="center",
                size=min(points("x-small"), 0.36 * cell),
                color="white" if cells[row, column] > 0.5 else INK,
            )
            for row in range(len(cells))
            for column in range(row)
        )


def _names_of(X: Any, n_columns: int) -> tuple[str, ...]:
    if isinstance(X, Table):
        return X.names
    if is_frame(X):
        return from_frame(X).names
    return tuple(f"x{j}" for j in range(n_columns))
