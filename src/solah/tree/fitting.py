"""An estimator and rows that need not be in memory in, the estimator fitted out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Table
from solah.kernels.choose import count_threads
from solah.labels.drawing import MANY_ROWS
from solah.model.encode import encode_states
from solah.scale import Scan, scan
from solah.scale.facts import Survey
from solah.tree.distant import DistantRows, wish_for

if TYPE_CHECKING:
    from solah.scale.facts import Facts, Wish


def fit_distant(estimator: Any, data: Any, target: Any, sample_weight: Any) -> None:
    """Fit an estimator to rows in files, frames or a cluster.

    A few rows are read into memory, and fitted as if they had been there.
    """
    if isinstance(data, Scan):
        _fit(estimator, data, target, sample_weight)
        return
    with scan(data, None if isinstance(target, str) else target) as rows:
        _fit(estimator, rows, rows.target or target, sample_weight)


def _fit(estimator: Any, rows: Scan, target: Any, sample_weight: Any) -> None:
    wish = wish_for(rows.names, target, sample_weight, estimator.class_weight)
    task = {
        "estimator": type(estimator).__name__,
        "parameters": repr(sorted(_of_result(estimator).items())),
        "target": wish.target,
        "weight": repr(wish.weight),
    }
    engine = rows.engine(count_threads(estimator.n_jobs), task)
    survey = Survey(wish)
    facts = survey.facts(engine.run(survey), estimator.kinds)
    if facts.n_rows <= MANY_ROWS:
        estimator.fit(*_gathered(rows, wish, facts))
        return
    estimator.feature_names_in_ = np.array(wish.attributes, dtype=object)
    estimator.n_features_in_ = len(wish.attributes)
    estimator._fit_distant(DistantRows.open(estimator, engine, wish, facts))


def _of_result(estimator: Any) -> dict[str, Any]:
    """Return the parameters that the model depends on."""
    idle = ("n_jobs", "verbose")
    return {
        name: value for name, value in estimator.get_params(deep=False).items() if name not in idle
    }


def _gathered(rows: Scan, wish: Wish, facts: Facts) -> tuple[Table, Column, Any]:
    """Read all rows into memory: attributes, classes and weights."""
    parts = rows.source.parts(MANY_ROWS)
    tables = [table for part in parts for table in part.tables(wish.columns, MANY_ROWS)]
    columns = {
        name: Column(
            name,
            np.concatenate([table.column(name).values for table in tables]),
            tables[0].column(name).order,
            tables[0].column(name).nominal,
        )
        for name in wish.columns
    }
    n_rows = sum(table.n_rows for table in tables)
    states = np.array(list(facts.classes))
    codes = encode_states(columns[wish.target], tuple(facts.classes)).astype(np.intp)
    table = Table(tuple(columns[name] for name in wish.attributes), n_rows)
    weights = None if wish.weight is None else columns[wish.weight].values
    return table, Column(wish.target, states[codes]), weights
