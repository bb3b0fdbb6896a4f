"""Summarises a model and rows as a dict: what the report page shows and computes with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.exceptions import DataError
from solah.explain.rule_text import OF_90
from solah.explain.shapes import shapes_of
from solah.explain.traversal import numbers_of
from solah.model.document import Task
from solah.model.encode import encode, read_named, read_truth, target_column, warn_of_unseen
from solah.model.evaluate import run
from solah.model.limits import MOST_NUMBER
from solah.report.groups import describe_groups
from solah.report.live import describe_editing, describe_live
from solah.report.node_cards import describe_nodes
from solah.report.summary import describe_card, share_of_rules, spread_evenly, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.evaluation import CrossValidation
    from solah.explain.shapes import Shape
    from solah.kernels.arrays import Float
    from solah.learn.objective import PathStep
    from solah.model.document import Model
    from solah.model.features import Feature


N_BINS = 24
_ROOM = 1e-6


def picture_of(
    feature: Feature,
    readings: Float | None = None,
    classes: Sequence[NDArray[np.bool_]] = (),
) -> dict[str, Any]:
    """Describe the range that is shown, where readings lie in it, and a reading to start from.

    Parameters
    ----------
    feature : Feature
    readings : ndarray of shape (n_rows,), default=None
        As the kernels read them; NaN is unknown.
    classes : sequence of ndarray of shape (n_rows,), default=()
        Which rows have each class; readings are then counted class by class.

    Returns
    -------
    picture : dict
    """
    ends = [end for end in (feature.low, feature.high, *feature.peaks) if end is not None]
    low, high = min(ends), max(ends)
    if low == high:
        room = max(0.5, abs(low) * _ROOM)  # which is more than the distance to the next float
        low, high = low - room, high + room
    counts: dict[str, Any] | None = None
    totals = np.array(feature.mean_masses)
    if readings is not None:
        known = ~np.isnan(readings)
        bins, places = _places(feature, readings[known], low, high)
        groups = classes or [np.ones(len(readings), bool)]
        by_class = [np.bincount(places[group[known]], minlength=bins) for group in groups]
        counts = {"counts": [one.tolist() for one in by_class], "unknown": int((~known).sum())}
        totals = np.sum(by_class, axis=0)
    peaks, is_continuous = feature.peaks, feature.is_continuous
    usual = len(peaks) // 2 if is_continuous else int(np.argmax(feature.mean_masses))
    return {
        "coded": feature.is_coded,
        "shown": [low, high],
        "peaks": list(peaks),
        "usual": peaks[usual],
        "histogram": counts,
        "shares": [] if is_continuous else (totals / max(totals.sum(), 1e-300)).tolist(),
    }


def _places(
    feature: Feature, readings: Float, low: float, high: float
) -> tuple[int, NDArray[np.intp]]:
    """Find the bin of each value: one of many, or that of the nearest category."""
    if not feature.is_continuous:
        apart = np.abs(readings[:, None] - np.array(feature.peaks))
        return len(feature.peaks), np.argmin(apart, axis=1)
    shares = (np.clip(readings, low, high) - low) / (high - low)
    return N_BINS, np.minimum(shares * N_BINS, N_BINS - 1).astype(np.intp)


MAX_RULES = 400
MAX_RULES_OF_PART = 100
MAX_STACKED = 5
MAX_ROWS = 50
MAX_SHAPES = 20
MAX_FEW_CLASSES = 8
MAX_SAMPLE = 5_000
MAX_SAMPLE_READINGS = 250_000


def summarise_page(
    model: Model,
    X: Any = None,
    y: Any = None,
    *,
    source: str = "",
    scores: CrossValidation | None = None,
    path: Sequence[PathStep] = (),
    by: Sequence[str] = (),
    positive: str | None = None,
    with_rows: bool = True,
) -> dict[str, Any]:
    """Gather what the report page shows of a model, and of rows that it decides on.

    Parameters
    ----------
    model : Model
        The model.
    X : data frame or Table, default=None
        Rows with the model's features, by name; there may be more columns.
    y : array-like of shape (n_rows,), default=None
        The true class or number of each row. Default: the column of X with the target's name.
    source : str, default=""
        What to call the rows.
    scores : CrossValidation, default=None
        How well such models decide on unseen rows.
    path : sequence of PathStep, default=()
        What each number of rules is worth: the ``path_`` of an estimator.
    by : sequence of str, default=()
        Columns of X by whose values error rates are measured; the model need not know them.
    positive : str, default=None
        Of two classes, the one whose false positives are counted; by default the second.
    with_rows : bool, default=True
        Whether the page may hold rows: some to look at, and, where the model can be edited, up to
        5,000 (and 250,000 readings) on which an edit is tried. Without, it has only what is
        counted and measured.

    Returns
    -------
    summary : dict
        Plain values only, ready for JSON. It has what :func:`solah.report.summarise` gathers,
        and more.

    Raises
    ------
    DataError
        If X lacks a column of the model or of ``by``, has no rows, or y has another length.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_depth=1).fit(iris.table, iris.target)
    >>> summary = summarise_page(tree.model_, iris.table, iris.target, source="iris")
    >>> summary["data"]["rows"], round(summary["measured"]["scores"]["accuracy"], 2)
    (150, 0.96)
    """
    rules_a_part = min(share_of_rules(model, MAX_RULES), MAX_RULES_OF_PART)
    # It needs scikit-learn, which takes longer to import than most pages to write.
    from solah.report.measuring import describe_dependence

    summary = summarise(model, scores, path=path)
    rows = None if X is None else DecidedRows(model, read_named(X), y)
    held = rows if with_rows else None
    editing = describe_editing(model)
    return {
        **summary,
        "features": [
            {
                "place": place,
                **described,
                **picture_of(feature, *(rows.column(place) if rows else ())),
            }
            for place, (feature, described) in enumerate(
                zip(model.features, summary["features"], strict=True)
            )
        ],
        "nodes": describe_nodes(model, rules_a_part),
        "shapes": describe_shapes(model) if not editing["why_not"] else [],
        **_on_rows(model, rows, source, by, positive),
        "rows": held.shown() if held else [],
        "editing": editing,
        "sample": None if editing["why_not"] else held and held.sample(),
        "dependence": rows and describe_dependence(model, rows.readings),
        "live": describe_live(model, rules_a_part),
    }


def describe_shapes(model: Model) -> list[dict[str, Any]]:
    """Describe the contribution of each term, as the page draws it."""
    return [_describe_shape(model, shape) for shape in shapes_of(model)[:MAX_SHAPES]]


def _describe_shape(model: Model, shape: Shape) -> dict[str, Any]:
    classes = model.target.classes
    described: dict[str, Any] = {
        "title": shape.title,
        "share": shape.share,
        "features": [side.name for side in shape.sides],
        "labels": list(shape.sides[0].labels),
        "curves": [],
        "cells": [],
        "place": None,
    }
    if len(shape.sides) == 2:
        place = int(np.ptp(shape.values, axis=(0, 1)).argmax())
        # A value for each rule: knots of one word are next to each other.
        lines = [np.unique(side.lines, return_index=True)[1] for side in shape.sides]
        cells = shape.values[..., place][np.ix_(*lines)]
        where = classes.index(shape.classes[place]) if classes else None
        return described | {"cells": cells.tolist(), "place": where}
    (side,), half = shape.sides, 0.5 if shape.sides[0].labels else 0.0
    low, high = float(side.knots[0]) - half, float(side.knots[-1]) + half
    curves = []
    for place, state in enumerate(shape.classes[:MAX_FEW_CLASSES]):
        values, bands = shape.values[:, place], np.empty((0, 2))
        if shape.errors is not None:
            halves = OF_90 * shape.errors[:, place]
            bands = np.column_stack([values - halves, values + halves])
        curves.append(
            {
                "place": classes.index(state) if classes else 0,
                "knots": side.knots.tolist(),
                "values": values.tolist(),
                "bands": bands.tolist(),
            }
        )
    return described | {"low": low, "high": high if high > low else low + 1, "curves": curves}


def summarise_card(
    model: Model,
    X: Any = None,
    y: Any = None,
    *,
    source: str = "",
    by: Sequence[str] = (),
    positive: str | None = None,
) -> dict[str, Any]:
    """Gather the contents of a model card: inputs, predictions, performance and limits.

    Parameters
    ----------
    model, X, y, source, by, positive
        As in :func:`summarise_page`.

    Returns
    -------
    summary : dict
        Plain values only, ready for JSON.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> fitted = RuleClassifier(max_rules=6).fit(iris.table, iris.target)
    >>> summary = summarise_card(fitted.model_, iris.table, iris.target)
    >>> summary["card"]["device"]["flash"]["q15"] < 2_000
    True
    """
    rows = None if X is None else DecidedRows(model, read_named(X), y)
    told = summarise(model, max_rules=1)
    shown = ("target", "size", "start", "when", "generator")
    return {**{key: told[key] for key in shown}, **_on_rows(model, rows, source, by, positive)}


def _on_rows(
    model: Model,
    rows: DecidedRows | None,
    source: str,
    by: Sequence[str],
    positive: str | None,
) -> dict[str, Any]:
    """Gather the facts about rows that pages and cards show."""
    return {
        "data": rows and {"source": source, "rows": rows.n_rows, "with_truth": rows.n_known},
        "measured": rows and rows.measured(),
        "trust": rows and rows.trusted(),
        "by": [rows.measured_by(name, positive) for name in by] if rows else [],
        "card": describe_card(model, rows),
    }


class DecidedRows:
    """Rows that the model decides on.

    Parameters
    ----------
    model : what decides
    table : the rows
    y : the true class or number of each; None if the table may have it
    """

    def __init__(self, model: Model, table: Table, y: Any) -> None:
        if table.n_rows == 0:
            raise DataError("the data have no rows; a report needs one at least")
        self._model, self._target = model, model.target
        self.truth = target_column(model.target, table, y)
        self.table = table
        self.n_rows = table.n_rows
        warn_of_unseen(table, model.features)
        self.readings = encode(table, model.features)
        self._beliefs = run(model.program, self.readings)
        self._truth = read_truth(model.target, table, y)
        self._is_known = ~np.isnan(self._truth)
        self._is_number = model.target.task is Task.REGRESSION

    @property
    def n_known(self) -> int:
        """The number of rows with a true class or number."""
        return int(self._is_known.sum())

    @property
    def _decided(self) -> Float:
        """The places of the classes decided for, or the estimates."""
        if self._is_number:
            return numbers_of(self._target, self._beliefs)
        return self._target.decide(self._beliefs).astype(np.float64)

    def column(self, place: int) -> tuple[Float, Sequence[Float]]:
        """Return a feature's readings, and which rows have each class, if they are few."""
        n_classes = len(self._target.classes) if self.n_known else 0
        shown = range(n_classes if n_classes <= MAX_STACKED else 0)
        return self.readings[:, place], [self._truth == c for c in shown]

    def measured(self) -> dict[str, Any] | None:
        """Measure the decisions on rows with a true class or number."""
        # It needs scikit-learn, which takes longer to import than most pages to write.
        from solah.report.measuring import measure_classes, measure_numbers

        if not self.n_known:
            return None
        truth, decided = self._truth[self._is_known], self._decided[self._is_known]
        if self._is_number:
            return measure_numbers(truth, decided)
        names = [spell(state) for state in self._target.classes]
        beliefs = self._beliefs[self._is_known]
        return measure_classes(truth.astype(np.intp), beliefs, decided.astype(np.intp), names)

    def trusted(self) -> dict[str, Any] | None:
        """Measure abstentions and, in the order of the rows, stable decisions."""
        from solah.report.measuring import measure_trust

        if not self.n_known or self._is_number:
            return None
        truth = np.where(self._is_known, self._truth, -1).astype(np.intp)
        return measure_trust(self._model, self.table, truth, self._beliefs)

    def measured_by(self, name: str, positive: str | None) -> dict[str, Any]:
        """Measure the decisions on the rows with each value of a column."""
        from solah.evaluation import measure_groups

        column = self.table.column(name)
        if self._is_number:
            groups = measure_groups(column, self._truth, self._decided)
        else:
            names = np.array([*map(spell, self._target.classes), None], dtype=object)
            truth = names[np.where(self._is_known, self._truth, -1).astype(np.intp)]
            decided = names[self._decided.astype(np.intp)]
            classes = names[:-1].tolist()
            groups = measure_groups(column, truth, decided, self._beliefs, classes, positive)
        return describe_groups(groups)

    def shown(self) -> list[dict[str, Any]]:
        """List some rows to look at, spread over the classes, with true and predicted class."""
        decided, readings = self._decided, self._bounded
        return [
            {
                "row": row + 1,
                "truth": self._spelt(self._truth[row]),
                "decided": self._spelt(decided[row]),
                "readings": _plain(readings[row]),
            }
            for row in self._chosen()
        ]

    def sample(self) -> dict[str, Any]:
        """Return rows to try an edit on, evenly spread: the readings column by column."""
        most = min(MAX_SAMPLE, max(MAX_SAMPLE_READINGS // self.readings.shape[1], 1))
        chosen = spread_evenly(self.n_rows, most)
        return {
            "rows": (chosen + 1).tolist(),
            "readings": [_plain(column) for column in self._bounded[chosen].T],
            "truth": _plain(self._truth[chosen]),
        }

    @property
    def _bounded(self) -> Float:
        """The readings with large numbers for infinity, which JSON has not and means the same."""
        return np.clip(self.readings, -MOST_NUMBER, MOST_NUMBER)

    def _chosen(self) -> list[int]:
        """Take as many rows of each class, evenly spread; any rows where there is no class."""
        groups = [np.flatnonzero(self._truth == c) for c in range(len(self._target.classes))]
        groups = [group for group in groups if len(group)] or [np.arange(self.n_rows)]
        groups = groups[:MAX_ROWS]
        chosen: list[int] = []
        for left, group in enumerate(sorted(groups, key=len)):
            share = (MAX_ROWS - len(chosen)) // (len(groups) - left)
            chosen += group[spread_evenly(len(group), share)].tolist()
        return sorted(chosen)

    def _spelt(self, value: float) -> str | None:
        if np.isnan(value):
            return None
        return spell_number(value) if self._is_number else spell(self._target.classes[int(value)])


def _plain(numbers: Float) -> list[float | None]:
    """List numbers for JSON, with None for NaN."""
    return [None if np.isnan(x) else x for x in numbers.tolist()]
