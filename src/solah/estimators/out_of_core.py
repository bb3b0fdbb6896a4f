"""Fitting and scoring on rows in files, frames or a Dask collection, read in passes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data.cells import encode_states
from solah.estimators.inputs import class_target, known_names, read_problem, refuse_one_group
from solah.exceptions import (
    ColumnError,
    DataError,
    ParameterError,
    RareCategoriesWarning,
    shorten,
)
from solah.kernels.choose import count_threads
from solah.model.encode import encode_target, is_path
from solah.scale import Scan, scan
from solah.scale.memory_limit import batch_within, sample_within
from solah.scale.scanned_rows import ScannedRows, read_whole
from solah.scale.survey import ColumnRoles, Survey

if TYPE_CHECKING:
    from solah.data import Table
    from solah.kernels.arrays import Int64


def fit_scan(estimator: Any, data: Any, target: Any, sample_weight: Any, groups: Any) -> None:
    """Fit an estimator to rows in files, frames or a Dask collection.

    If the rows are few, they are read into memory and fitted there.
    """
    if not estimator._sorts_columns:  # as additive models do, in memory and here
        if not is_path(data):
            raise DataError(_in_memory_only(estimator, target))
        estimator._fit(*read_problem(data, target, sample_weight, groups))
        return
    rows = data
    if not isinstance(data, Scan):
        rows = scan(data, None if isinstance(target, str) else target)
    target = rows.target or target
    roles = ColumnRoles.of(rows.names, target, sample_weight, groups, estimator.class_weight)
    names, n_threads = roles.features, count_threads(estimator.n_jobs)
    roles = replace(roles, features=tuple(sorted(names)))
    limits = estimator._limits
    if rows.memory is not None:
        rows = replace(rows, batch_rows=batch_within(rows.memory, len(roles.columns), n_threads))
    as_text = {roles.target, *(estimator.feature_types or ())}
    numbers = tuple(name for name in rows.source.numbers if name in {*roles.columns} - as_text)
    survey = Survey(roles, numbers, is_untyped=rows.source.is_untyped)
    seen = rows.run(survey, n_threads)
    if any(one.is_text and one.name in numbers for one in seen.features):
        survey = Survey(roles, is_untyped=True)  # text behind numbers, all of which count as text
        seen = rows.run(survey, n_threads)
    facts = survey.facts(seen, estimator.feature_types)
    if facts.n_all <= limits.many_rows:
        table, column, weights, of_rows = read_whole(rows, roles)
        classes = np.array(list(facts.classes))
        codes = encode_states(column, tuple(facts.classes)).astype(np.intp)
        column = replace(column, values=classes[codes])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RareCategoriesWarning)  # the survey has warned
            estimator._fit(table.select(names), column, weights, of_rows)
    else:
        described = class_target(estimator, roles.target, np.array(list(facts.classes)))
        settings, weight = estimator._word_settings(), estimator.class_weight
        if rows.memory is not None:
            sizes = [len(states) for states in facts.states()]
            most = sample_within(rows.memory, sizes, described.size, limits.many_rows)
            limits = replace(limits, many_rows=most)
        opened = ScannedRows.open(
            rows, roles, facts, described, weight, settings, limits, n_threads
        )
        if opened.sample.groups is not None:
            refuse_one_group(opened.sample.groups)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator._column_names = list(names)
        estimator.n_features_in_ = len(names)
        estimator._learn(opened)


def _in_memory_only(estimator: Any, target: object) -> str:
    name = target if isinstance(target, str) else "y"
    return (
        f"{type(estimator).__name__} learns from rows in memory: read them first, such as "
        f"rows = pandas.concat(map(pandas.read_parquet, files)), then "
        f"fit(rows.drop(columns={name!r}), rows[{name!r}]); RuleClassifier learns from files"
    )


def score_scan(estimator: Any, data: Any, target: object) -> float:
    """Return the accuracy of a classifier on rows in files, frames or a Dask collection."""
    check_is_fitted(estimator)
    rows = data if isinstance(data, Scan) else scan(data)
    if not isinstance(target, str):
        raise ParameterError(
            "y must be the name of the column of classes if the rows are files, frames or a Dask "
            f"collection. Got {type(target).__name__}."
        )
    names = tuple(known_names(estimator))
    for name in (*names, target):
        if name not in rows.names:
            raise ColumnError.unknown(name, rows.names)
    right, n_rows = rows.run(Hits(estimator, names, target), count_threads(estimator.n_jobs))
    return float(right) / float(n_rows)


class Hits:
    """A pass that counts the rows that are predicted correctly, and all rows."""

    name = "scoring"
    numbers: tuple[str, ...] = ()

    def __init__(self, estimator: Any, names: tuple[str, ...], target: str) -> None:
        self.estimator, self.names, self.target = estimator, names, target
        self.columns = (*names, target)

    def begin(self) -> Int64:
        """Return zero counts."""
        return np.zeros(2, dtype=np.int64)

    def add(self, gathered: Int64, table: Table) -> None:
        """Count the rows of a table."""
        column = table.column(self.target)
        target = self.estimator.model_.target
        truth = encode_target(column, target)
        if (truth < 0).any():
            row = int(np.argmax(truth < 0))
            raise DataError(
                f"row {table.first_row + row} of {self.target!r} is "
                f"{shorten(column.values[row])}, which is not a class of the training rows"
            )
        predicted = target.decide(self.estimator.predict_proba(table.select(self.names)))
        gathered += (predicted == truth).sum(), len(truth)

    def merge(self, one: Int64, other: Int64) -> Int64:
        """Add counts of different rows."""
        return one + other
