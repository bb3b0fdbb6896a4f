"""The shapes of all terms on one page: contribution against value, and pairs as heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import from_frame, is_frame
from solah.explain.rule_text import OF_90, spell_class
from solah.explain.shapes import Shape, Side, shapes_of
from solah.model.encode import encode_column
from solah.model.predictor import Predictor
from solah.plot.canvas import (
    BLUE,
    GREY,
    PALE,
    PLAIN,
    RUST,
    add_legend,
    matplotlib,
    model_of,
    percent,
    ramp,
    shown,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from solah.kernels.arrays import Float
    from solah.model.document import Model

_WIDTH, _HEIGHT, _LEGEND = 3.6, 2.7, 0.3  # inches
_BINS = 40
_MOST_CLASSES = 8


def shapes(model: Any, X: Any = None, *, columns: int = 3) -> Figure:
    """Draw the contribution of each term against its values, on one page.

    A line shows the contribution to the score (log-odds, or the unit of a number) of one class of
    two, or of each of several; a band around it where the model has one
    (``estimate_uncertainty``). Behind it is how often values occur. Two features that interact are
    a heat map; of several classes, that of the class with the largest spread.

    Parameters
    ----------
    model : RuleClassifier, RuleRegressor, loaded model or model file
    X : array, frame or table, default=None
        Rows whose values are counted; by default the counts of the training rows in the rules.
    columns : int, default=3
        The number of panels side by side.

    Returns
    -------
    figure : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import RuleClassifier
    >>> from solah.plot import shapes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> figure = shapes(RuleClassifier(max_rules=6).fit(X, y), X)
    >>> figure.axes[0].get_ylabel()
    'contribution (log-odds)'
    """
    document = model_of(model)
    found = shapes_of(document)
    pyplot = matplotlib("pyplot")
    n_columns = max(1, min(columns, len(found)))
    n_rows = max(1, -(-len(found) // n_columns))
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(_WIDTH * n_columns, _HEIGHT * n_rows + _LEGEND),
        layout="constrained",
        squeeze=False,
    )
    unit = "log-odds" if document.target.classes else shown(document.target.score_name, 20)
    for number, (ax, shape) in enumerate(zip(axes.flat, found, strict=False)):
        ax.set_title(f"{shown(shape.title)} · {percent(shape.share)}", fontsize="medium", **PLAIN)
        if len(shape.sides) == 2:
            _heat_map(ax, shape, document)
            continue
        ax.set_ylabel(f"contribution ({unit})", fontsize="small", **PLAIN)
        readings = _readings(document, X, shape.sides[0].name)
        _line(ax, shape, document, readings, has_legend=number == 0)
    for ax in axes.flat[len(found) :]:
        ax.set_axis_off()
    drawn: Figure = figure
    return drawn


def _readings(model: Model, X: Any, name: str) -> Float | None:
    """Return the values of a feature in some rows, categories by their index."""
    if X is None:
        return None
    feature = next(one for one in model.features if one.name == name)
    table = from_frame(X, only=[name]) if is_frame(X) else Predictor(model)._table(X)
    readings = encode_column(table, feature)
    return np.asarray(readings[~np.isnan(readings)])


def _line(
    ax: Axes, shape: Shape, model: Model, readings: Float | None, *, has_legend: bool
) -> None:
    """Draw the contributions of one feature: lines between knots, or a point for each category."""
    side, n_classes = shape.sides[0], len(shape.classes)
    colours = [BLUE] if n_classes == 1 else ramp(min(n_classes, _MOST_CLASSES))
    names = [spell_class(one, model.target.name) for one in shape.classes]
    ax.axhline(0, color=PALE, linewidth=1, zorder=1)
    lines: list[Any] = []
    for place, colour in enumerate(colours):
        values = shape.values[:, place]
        errors = None if shape.errors is None else OF_90 * shape.errors[:, place]
        if side.labels:
            offset = 0.12 * (place - (len(colours) - 1) / 2)
            look: dict[str, Any] = {"fmt": "o", "color": colour, "markersize": 4, "capsize": 2}
            lines.append(ax.errorbar(side.knots + offset, values, errors, **look))
        else:
            lines += ax.plot(side.knots, values, color=colour, linewidth=2, zorder=3)
            if errors is not None:
                ends = (values - errors, values + errors)
                alpha = 0.18 / n_classes**0.5
                ax.fill_between(side.knots, *ends, color=colour, alpha=alpha, linewidth=0)
        if shape.missing is not None:
            ax.axhline(shape.missing[place], color=colour, linewidth=1, linestyle=":", zorder=2)
    if side.labels:
        texts = [shown(label, 14) for label in side.labels]
        turn = 90 if sum(map(len, texts)) > 30 else 0
        ax.set_xticks(side.knots, texts, fontsize="small", rotation=turn, **PLAIN)
    _density(ax, shape, side, readings)
    tidy(ax)
    if n_classes > 1 and has_legend:  # one for the page
        add_legend(ax, lines, [shown(name, 14) for name in names], loc="best", handlelength=1)
    elif n_classes == 1 and model.target.classes:
        text = f"↑ {shown(names[0], 24)}"
        ax.text(
            0.02, 0.98, text, transform=ax.transAxes, va="top", color=GREY, size="small", **PLAIN
        )


def _density(ax: Axes, shape: Shape, side: Side, readings: Float | None) -> None:
    """Draw how often values occur at the foot of the axes, a quarter as high."""
    if side.labels:
        edges = np.append(side.knots - 0.5, side.knots[-1] + 0.5)
        if readings is None:  # categories of one rule share its rows
            sizes = np.bincount(side.lines)
            heights = shape.rows[list(side.lines)] / sizes[list(side.lines)]
        else:
            heights = np.bincount(readings.astype(int), minlength=len(side.knots)).astype(float)
    elif readings is None:
        edges = np.array(side.edges)
        heights = shape.rows / np.maximum(np.diff(edges), 1e-300)
    else:
        ends = (side.knots[0], side.knots[-1])
        heights, edges = np.histogram(np.clip(readings, *ends), bins=_BINS, range=ends)
    below = ax.twinx()
    tallest = max(float(heights.max()), 1e-300)
    below.stairs(heights / tallest, edges, fill=True, color=PALE)
    below.set(ylim=(0, 4), yticks=[])
    below.spines[:].set_visible(False)
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)


def _heat_map(ax: Axes, shape: Shape, model: Model) -> None:
    """Draw the contributions of a pair, blue where they lower the score of the class."""
    place = int(np.ptp(shape.values, axis=(0, 1)).argmax())
    values = shape.values[..., place]
    most = float(np.abs(values).max()) or 1.0
    colours = matplotlib("colors").LinearSegmentedColormap.from_list("", [BLUE, "white", RUST])
    look = {"cmap": colours, "vmin": -most, "vmax": most}
    image: Any
    first, second = shape.sides
    if first.labels or second.labels:
        image = ax.imshow(values.T, origin="lower", aspect="auto", **look)
        for side, axis in ((first, ax.xaxis), (second, ax.yaxis)):
            labels = [shown(one, 12) for one in side.labels] or [f"{x:.3g}" for x in side.knots]
            axis.set_ticks(range(len(labels)), labels, fontsize="small", **PLAIN)
    else:
        x, y = (np.linspace(side.knots[0], side.knots[-1], 60) for side in (first, second))
        rows = np.array([np.interp(y, second.knots, line) for line in values])
        smooth = np.array([np.interp(x, first.knots, line) for line in rows.T])
        image = ax.pcolormesh(x, y, smooth, shading="gouraud", **look)
    ax.set_xlabel(shown(first.name), fontsize="small", **PLAIN)
    ax.set_ylabel(shown(second.name), fontsize="small", **PLAIN)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.outline.set_visible(False)
    if model.target.classes:
        bar.set_label(shown(spell_class(shape.classes[place], model.target.name), 24), **PLAIN)
    tidy(ax)
