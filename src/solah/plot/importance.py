"""The importances of features, and the hierarchy of a model with the importance of each part."""

from __future__ import annotations

import textwrap
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data.spelling import count
from solah.estimators.hierarchy import HierarchyEstimator
from solah.estimators.inputs import known_names
from solah.exceptions import ParameterError, shorten
from solah.explain import feature_importances
from solah.explain.importance import node_shares
from solah.explain.rules import part_rules
from solah.model import Model
from solah.model.predictor import Predictor
from solah.plot.canvas import (
    BLUE,
    GREY,
    PALE,
    PLAIN,
    Display,
    inches,
    model_of,
    percent,
    points,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.text import Text

    from solah.model.structure import Hierarchy


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


_WIDTH, _LINE = 9.0, 0.26  # inches
_NAMES, _FEATURES, _RULES, _SHARE = 0.02, 0.33, 0.77, 0.86  # where columns begin
_LETTERS, _NAME_LETTERS = 54, 28
_MOST_LINES = 6


class HierarchyDisplay(Display):
    """The parts of a model: which feeds which, on which features, and how important each is.

    An outline: the node that predicts comes first, and its inputs are below it. Beside each are
    its features, the number of its rules, and the importance of all features below it.

    Parameters
    ----------
    hierarchy : Hierarchy
        The wiring.
    rules : mapping of node name to int, default=None
        The number of rules of each node.
    shares : mapping of node name to float, default=None
        The importance of each node.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    names_ : tuple of Text
        The nodes' names, from top to bottom.
    features_ : tuple of Text
        The features of each, on several lines where they are many.
    bars_ : BarContainer or None
        The importances of the nodes that have one, from top to bottom.

    Examples
    --------
    >>> from solah import Hierarchy
    >>> from solah.plot import HierarchyDisplay
    >>> hierarchy = Hierarchy.parse("taste <- alcohol, acid; wine <- taste, hue")
    >>> display = HierarchyDisplay(hierarchy).plot()
    >>> [text.get_text() for text in display.features_]
    ['hue', 'alcohol, acid']
    """

    names_: tuple[Text, ...]
    features_: tuple[Text, ...]
    bars_: BarContainer | None

    def __init__(
        self,
        hierarchy: Hierarchy,
        rules: Mapping[str, int] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> None:
        self.hierarchy, self.rules, self.shares = hierarchy, rules or {}, shares or {}

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the hierarchy of a fitted estimator; a single tree is one of a single node.

        Where a node is a model of another kind, only the wiring is drawn.

        Parameters
        ----------
        estimator : any estimator of solah, Predictor or Model
        ax : matplotlib Axes, default=None
            None makes a figure.

        Returns
        -------
        display : HierarchyDisplay
        """
        if isinstance(estimator, HierarchyEstimator):
            check_is_fitted(estimator)
            if not hasattr(estimator, "model_"):
                return cls(estimator.hierarchy_).plot(ax)
        model = model_of(estimator)
        rules = {part.name: len(part.active()) for part in part_rules(model)}
        importances = node_shares(model)
        shares = {part.name: importances[part.name] for part in model.parts[:-1]}
        return cls(model.hierarchy, rules, shares).plot(ax)

    def _outline(self) -> Iterator[tuple[str, int, list[str]]]:
        """Yield name, depth and lines of features of each node, from the root down."""
        waiting, shown_below = [(self.hierarchy.root, 0)], set[str]()
        while waiting:
            name, depth = waiting.pop()
            if name in shown_below:  # it feeds several, and what is below it is shown once
                yield name, depth, ["…"]
                continue
            shown_below.add(name)
            # Lines are broken between names only.
            features = [
                shown(one).replace(" ", "\N{NO-BREAK SPACE}")
                for one in self.hierarchy.features_of(name)
            ]
            lines = textwrap.wrap(
                ", ".join(features), _LETTERS, break_long_words=False, break_on_hyphens=False
            )
            if len(lines) > _MOST_LINES:
                n_shown = ", ".join(lines[: _MOST_LINES - 1]).count(", ")
                lines[_MOST_LINES - 1 :] = [f"… and {len(features) - n_shown} more"]
            below = self.hierarchy.children(name)
            if not features:
                lines = [f"sum of {count(len(below), 'part')}"]
            yield name, depth, [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
            waiting.extend((child, depth + 1) for child in reversed(below))

    def _draw(self, ax: Axes | None) -> None:
        nodes = list(self._outline())
        starts = list(accumulate((len(lines) for *_, lines in nodes), initial=1))
        height = starts[-1] + 0.5
        ax = self._open(ax, _WIDTH, max(_LINE * height, 0.8))
        wide, high = inches(ax)
        size = min(points("medium") * min(1.0, wide / _WIDTH), 50 * high / height)
        ax.set(xlim=(0, 1), ylim=(height - 0.5, -0.5))
        ax.set_axis_off()
        deepest = max(depth for _, depth, _ in nodes)
        indent = min(0.02, 0.1 / max(deepest, 1))
        looks: dict[str, Any] = {"va": "center", "size": size, **PLAIN}
        titles = {_FEATURES: "features", **({_RULES: "rules"} if self.rules else {})}
        titles |= {_SHARE: "importance"} if self.shares else {}
        for x, title in titles.items():
            ax.text(x, 0, title, color=GREY, **looks)
        names, features, above = [], [], dict[int, int]()
        for (name, depth, lines), line in zip(nodes, starts, strict=False):
            x = _NAMES + indent * depth
            if depth:  # a wire from the node that it feeds
                ax.plot([x - indent, x - indent, x], [above[depth - 1], line, line], color=PALE)
            above[depth] = line
            ax.plot(x, line, marker="o", markersize=size / 2, color=BLUE)
            names.append(
                ax.text(x + 0.012, line, shown(name, _NAME_LETTERS), weight="bold", **looks)
            )
            for number, text in enumerate(lines):
                features.append(ax.text(_FEATURES, line + number, text, **looks))
            if name in self.rules:
                ax.text(_RULES, line, f"{self.rules[name]:,}", **looks)
        self.names_, self.features_, self.bars_ = tuple(names), tuple(features), None
        listed = [
            (line, self.shares[name])
            for (name, *_), line in zip(nodes, starts, strict=False)
            if name in self.shares
        ]
        if listed:
            at, shares = zip(*listed, strict=True)
            scale = (0.92 - _SHARE) / max(*shares, 1e-9)
            widths = [scale * share for share in shares]
            self.bars_ = ax.barh(at, widths, height=0.5, left=_SHARE, color=BLUE, alpha=0.75)
            ax.bar_label(self.bars_, list(map(percent, shares)), padding=size / 3, size=size)
