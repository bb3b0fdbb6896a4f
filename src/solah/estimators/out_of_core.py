"""Fits and scores estimators on rows in files, frames or a cluster, without reading all at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.data import Column, Table
from solah.data.cells import encode_states
from solah.data.spelling import spell
from solah.estimators.inputs import class_goal, known_names, refuse_one_group
from solah.exceptions import ColumnError, DataError, ParameterError, shorten
from solah.kernels.choose import count_threads
from solah.kernels.sums import exact_sum, negative_log, whole_and_parts
from solah.model.encode import encode_goal
from solah.scale import Scan, scan
from solah.scale.facts import ColumnRoles, Survey
from solah.scale.passes import Statistics, SummingPass
from solah.scale.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.kernels.arrays import Int64
    from solah.model import Goal
    from solah.scale.facts import Facts


_IN_ORDER = ("hierarchy", "initial")


def fit_scan(estimator: Any, data: Any, target: Any, sample_weight: Any, groups: Any) -> None:
    """Fit an estimator to rows in files, frames or a cluster.

    A few rows are read into memory, and fitted as if they had been there.
    """
    if isinstance(data, Scan):
        _fit(estimator, data, target, sample_weight, groups)
        return
    with scan(data, None if isinstance(target, str) else target) as rows:
        _fit(estimator, rows, rows.target or target, sample_weight, groups)


def _fit(estimator: Any, rows: Scan, target: Any, sample_weight: Any, groups: Any) -> None:
    roles = _column_roles(rows.names, target, sample_weight, groups, estimator.class_weight)
    names = roles.attributes
    if estimator._sorts_columns:
        roles = replace(roles, attributes=tuple(sorted(names)))
    task = {
        "estimator": type(estimator).__name__,
        "parameters": spell_parameters(_of_result(estimator)),
        "target": roles.target,
        "weight": repr(roles.weight),
    }
    if roles.group is not None:
        task["groups"] = roles.group
    engine = rows.engine(count_threads(estimator.n_jobs), task)
    limits = estimator._limits
    survey = Survey(roles, limits)
    facts = survey.facts(engine.run(survey), estimator.feature_types)
    if facts.n_rows <= limits.many_rows:
        table, column, weights, of_rows = _gathered(rows, roles, facts)
        estimator._fit(table.select(names), column, weights, of_rows)
    else:
        goal = class_goal(estimator, roles.target, np.array(list(facts.classes)))
        profile = Profile.open(engine, roles, facts, goal, estimator.class_weight, limits)
        if profile.sample.rows.groups is not None:
            refuse_one_group(profile.sample.rows.groups)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator._column_names = list(names)
        estimator.n_features_in_ = len(names)
        estimator._fit_profile(profile)
    if rows.is_nameless:
        del estimator.feature_names_in_


def _column_roles(
    names: Sequence[str], target: object, sample_weight: object, groups: object, class_weight: Any
) -> ColumnRoles:
    """Settle which columns of a source are meant for what."""
    if not isinstance(target, str):
        raise ParameterError(
            "rows that come from files, frames or a cluster are learnt from with y as the name of "
            f"the column of classes. Got {type(target).__name__}."
        )
    for what, given in (("weights", sample_weight), ("groups", groups)):
        if given is not None and not isinstance(given, str):
            raise ParameterError(
                f"the {what} of rows that come from files, frames or a cluster stand in one of "
                f"their columns; give its name. Got {type(given).__name__}."
            )
    apart = [name for name in (target, sample_weight, groups) if isinstance(name, str)]
    for name in apart:
        if name not in names:
            raise ColumnError.unknown(name, names)
    attributes = tuple(name for name in names if name not in apart)
    if not attributes:
        raise DataError(f"no column is left to decide {target!r} with")
    of_classes = {}
    if class_weight is not None and not isinstance(class_weight, str):
        of_classes = {spell(name): float(weight) for name, weight in class_weight.items()}
    weight, group = (one if isinstance(one, str) else None for one in (sample_weight, groups))
    return ColumnRoles(attributes, target, weight, of_classes, group)


def _of_result(estimator: Any) -> dict[str, Any]:
    """Return the parameters that the model depends on."""
    idle = ("n_jobs", "verbose")
    return {
        name: value for name, value in estimator.get_params(deep=False).items() if name not in idle
    }


def spell_parameters(parameters: Mapping[str, Any]) -> str:
    """Spell parameters as JSON, those that are equal alike.

    A mapping of columns or classes is equal to one in another order; in a hierarchy, and in what
    such a mapping holds, the order may matter and is kept.

    Examples
    --------
    >>> one = {"feature_types": {"age": "ordinal", "sex": "binary"}, "penalty": 2}
    >>> other = {"penalty": np.float64(2.0), "feature_types": {"sex": "binary", "age": "ordinal"}}
    >>> spell_parameters(one) == spell_parameters(other)
    True
    """
    plain = {name: _plain(value) for name, value in parameters.items()}
    for name, value in plain.items():
        if isinstance(parameters[name], Mapping) and name not in _IN_ORDER:
            value["mapping"].sort(key=json.dumps)
    return json.dumps(plain, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Turn a parameter into what JSON has, such that different ones stay different."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | str):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, int | float):
        return int(value) if float(value).is_integer() else float(value)
    if isinstance(value, Mapping):
        return {"mapping": [[_plain(name), _plain(one)] for name, one in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "get_params"):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return {kind: spell_parameters(value.get_params(deep=False))}
    return {"other": repr(value)}


def _gathered(rows: Scan, roles: ColumnRoles, facts: Facts) -> tuple[Table, Column, Any, Any]:
    """Read all rows into memory: attributes, classes, weights and groups."""
    parts = rows.source.parts(facts.n_rows)
    tables = [table for part in parts for table in part.tables(roles.columns, facts.n_rows)]
    columns = {
        name: Column(
            name,
            np.concatenate([table.column(name).values for table in tables]),
            tables[0].column(name).order,
            tables[0].column(name).nominal,
        )
        for name in roles.columns
    }
    n_rows = sum(table.n_rows for table in tables)
    states = np.array(list(facts.classes))
    codes = encode_states(columns[roles.target], tuple(facts.classes)).astype(np.intp)
    table = Table(tuple(columns[name] for name in roles.attributes), n_rows)
    weights = None if roles.weight is None else columns[roles.weight].values
    groups = None if roles.group is None else columns[roles.group]
    return table, Column(roles.target, states[codes]), weights, groups


# --- scoring --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowScores:
    """How well classes are told apart in very many rows.

    Attributes
    ----------
    n_rows : how many rows there are
    confusion : (n_classes, n_classes) how many rows of each class were decided for each
    log_loss : the mean negative log-likelihood, in nats; lower is better
    brier : half the mean squared distance of beliefs to the truth; lower is better
    """

    n_rows: int
    confusion: Int64
    log_loss: float
    brier: float

    @property
    def accuracy(self) -> float:
        """The share of rows whose class was decided for."""
        return float(np.trace(self.confusion)) / self.n_rows


def score_rows(estimator: Any, data: Any, target: str) -> RowScores:
    """Compare what a classifier decides with the true classes of rows that need not be in memory.

    Parameters
    ----------
    estimator : a fitted classifier
    data : whatever ``scan`` takes, or a Scan
    target : str
        The column of the true classes.
    """
    check_is_fitted(estimator)
    if isinstance(data, Scan):
        return _score(estimator, data, target)
    with scan(data) as rows:
        return _score(estimator, rows, target)


def _score(estimator: Any, rows: Scan, target: object) -> RowScores:
    if not isinstance(target, str):
        raise ParameterError(
            "rows that come from files, frames or a cluster are scored with y as the name of the "
            f"column of classes. Got {type(target).__name__}."
        )
    names = known_names(estimator)
    for name in (*names, target):
        if name not in rows.names:
            raise ColumnError.unknown(name, rows.names)
    one = Score(estimator, tuple(names), target)
    return one.scores(rows.engine(count_threads(estimator.n_jobs)).run(one))


class Score(SummingPass):
    """Sums up decisions and losses."""

    name = "scoring"

    def __init__(self, estimator: Any, names: tuple[str, ...], target: str) -> None:
        self.estimator, self.names, self.target = estimator, names, target

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return (*self.names, self.target)

    @property
    def _goal(self) -> Goal:
        goal: Goal = self.estimator._goal
        return goal

    def begin(self) -> Statistics:
        """Return the sums of no rows."""
        n_classes = self._goal.size
        return {
            "confusion": np.zeros((n_classes, n_classes), dtype=np.int64),
            "loss": np.zeros(2, dtype=np.int64),
            "distance": np.zeros(2, dtype=np.int64),
        }

    def add(self, gathered: Statistics, table: Table) -> None:
        """Decide on rows, and compare."""
        truth = self._truth(table)
        beliefs = self.estimator.predict_proba(table.select(self.names))
        rows = np.arange(len(truth))
        np.add.at(gathered["confusion"], (truth, self._goal.decide(beliefs)), 1)
        gathered["loss"] += exact_sum(negative_log(beliefs[rows, truth]))
        beliefs[rows, truth] -= 1.0
        gathered["distance"] += exact_sum((beliefs**2).sum(axis=1))

    def scores(self, statistics: Statistics) -> RowScores:
        """Return the scores."""
        n_rows = int(statistics["confusion"].sum())
        return RowScores(
            n_rows=n_rows,
            confusion=statistics["confusion"],
            log_loss=whole_and_parts(statistics["loss"]) / n_rows,
            brier=whole_and_parts(statistics["distance"]) / n_rows / 2,
        )

    def _truth(self, table: Table) -> Int64:
        column = table.column(self.target)
        places = encode_goal(column, self._goal)
        if (places < 0).any():
            row = int(np.argmax(places < 0))
            raise DataError(
                f"row {table.first_row + row} of {self.target!r} is "
                f"{shorten(column.values[row])}, which no row was when the model was fitted"
            )
        return places
