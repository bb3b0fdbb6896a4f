"""The training data of a model, and the changes that people made after training."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from solah.data import to_numbers
from solah.data.digests import chain, digest_column, digest_numbers
from solah.exceptions import ParameterError
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model import json_fields as json
from solah.model.document import Task
from solah.model.encode import encode_column, encode_target
from solah.model.limits import MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data import Column, Table
    from solah.data.json_reader import Reader
    from solah.kernels.arrays import Float
    from solah.model.document import Model


MAX_EDITS = 10_000
MAX_TEXT = 2_000
MAX_ROWS = 2**53
_MAX_DROPPED = 10_000
_MAX_COLUMNS, _MAX_NAME = 1_000_000, 1_000_000
_MAX_ORIGIN = 1_000
_DIGITS = 32
MAX_RESIDUALS = 199
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class CrossValidated:
    """Cross-validated metrics: of classes the accuracy and the log-loss, of a number two others.

    These are R² and RMSE, or D² with the mean absolute error, the pinball loss or the deviance.
    """

    accuracy: float | None = field(default=None, metadata=json.number(0.0, 1.0))
    log_loss: float | None = field(default=None, metadata=json.number(0.0, MOST_NUMBER))
    r2: float | None = field(default=None, metadata=json.number(-MOST_NUMBER, 1.0))
    rmse: float | None = field(default=None, metadata=json.number(0.0, MOST_NUMBER))
    d2: float | None = field(default=None, metadata=json.number(-MOST_NUMBER, 1.0))
    mae: float | None = field(default=None, metadata=json.number(0.0, MOST_NUMBER))
    pinball: float | None = field(default=None, metadata=json.number(0.0, MOST_NUMBER))
    deviance: float | None = field(default=None, metadata=json.number(0.0, MOST_NUMBER))


def _read_counts(part: Reader) -> tuple[int, ...]:
    return tuple(one.integer(0, MAX_ROWS) for one in part.items(1, MAX_FOCAL_SETS))


def _read_digests(part: Reader) -> dict[str, str]:
    digests = part.named(_MAX_COLUMNS, _MAX_NAME)
    return {name: one.text(most=_MAX_ORIGIN) for name, one in digests.items()}


WeightErrors = tuple[tuple[tuple[float, ...], ...], ...]
"""Term by term, of each rule, for each class: standard errors of weights."""


def _read_errors(part: Reader) -> WeightErrors:
    return tuple(
        tuple(
            tuple(rule.numbers(1, MAX_FOCAL_SETS, 0.0, MOST_NUMBER))
            for rule in term.items(1, MAX_ROWS)
        )
        for term in part.items(1, MAX_ROWS)
    )


@dataclass(frozen=True)
class Recurrence:
    """How often a feature, a pair of features or a word comes back in resamples.

    Attributes
    ----------
    features : one feature or two
    share : the share of the resamples
    word : a word of the feature; empty for the feature itself
    low, high : of a feature, between which its importance is in nine of ten resamples
    """

    features: tuple[str, ...] = field(metadata=json.texts(1, 2))
    share: float = field(metadata=json.number(0.0, 1.0))
    word: str = field(default="", metadata=json.text(_MAX_ORIGIN))
    low: float = field(default=0.0, metadata=json.number(0.0, 1.0))
    high: float = field(default=0.0, metadata=json.number(0.0, 1.0))


@dataclass(frozen=True)
class Uncertainty:
    """How sure the weights of a sum are, and what comes back in resamples of the training rows.

    Attributes
    ----------
    errors : the standard errors of the weights, term by term, of each rule (that for a missing
        value is the last), for each class; of two classes, that of the difference
    resamples : the number of resamples
    recurrences : what comes back in them
    """

    errors: WeightErrors = field(metadata=json.form(_read_errors))
    resamples: int = field(default=0, metadata=json.integer(0, MAX_ROWS))
    recurrences: tuple[Recurrence, ...] = field(
        default=(), metadata=json.records(Recurrence, _MAX_COLUMNS)
    )


def _read_residuals(part: Reader) -> tuple[float, ...]:
    residuals = part.numbers(1, MAX_RESIDUALS, -MOST_NUMBER, MOST_NUMBER)
    if list(residuals) != sorted(residuals):
        raise part.fail("numbers in ascending order")
    return tuple(residuals)


@dataclass(frozen=True)
class Intervals:
    """Residuals of held-out rows, from which intervals around predictions are made.

    A residual is divided by a power of its prediction, so that the noise is alike for all rows.

    Attributes
    ----------
    residuals : ascending; those of many rows are reduced to equally likely ones
    power : how the variance of the noise grows with the prediction: 0 not at all, 1 alike (counts),
        2 with its square (amounts)
    """

    residuals: tuple[float, ...] = field(metadata=json.form(_read_residuals))
    power: int = field(default=0, metadata=json.integer(0, 2))

    @classmethod
    def of(cls, numbers: Float, predictions: Float, weights: Float, power: int) -> Intervals:
        """Take the residuals of rows that were held out.

        Parameters
        ----------
        numbers, predictions : (n_rows,) the true numbers, and the predicted ones
        weights : (n_rows,) how many rows each is, such as those that equal it
        power : as above
        """
        residuals = (numbers - predictions) / predictions ** (power / 2)
        order = np.argsort(residuals, kind="stable")
        residuals, weights = residuals[order], weights[order]
        n_rows = float(weights.sum())
        n_levels = min(max(int(n_rows + 1e-6), 1), MAX_RESIDUALS)
        levels = np.arange(1, n_levels + 1) / (n_levels + 1) * (1 - 1e-9)  # sums round
        ranks = np.cumsum(weights) / (n_rows + 1)
        residuals = residuals[np.minimum(np.searchsorted(ranks, levels), len(ranks) - 1)]
        bounded = np.clip(residuals, -MOST_NUMBER, MOST_NUMBER)
        return cls(tuple(bounded.tolist()), power)

    def around(self, predictions: Float, coverage: float) -> Float:
        """Return intervals that hold this share of rows: ``(n_rows, 2)``.

        Raises
        ------
        ParameterError
            If the coverage is not between 0 and 1, or higher than so few residuals can show.
        """
        if not 0 < coverage < 1:
            raise ParameterError(f"'coverage' must be above 0 and below 1; got {coverage!r}")
        n_gaps = len(self.residuals) + 1
        rank = math.floor(n_gaps * (1 - coverage) / 2 + 1e-9)
        if rank < 1:
            most = 1 - 2 / n_gaps
            raise ParameterError(
                f"'coverage' is at most {most:.3g} with {len(self.residuals)} residuals of "
                f"held-out rows; got {coverage!r}"
            )
        ends = np.array([self.residuals[rank - 1], self.residuals[-rank]])
        found = predictions[:, None] + ends * (predictions ** (self.power / 2))[:, None]
        return np.maximum(found, 0.0) if self.power else np.asarray(found)


@dataclass(frozen=True)
class Provenance:
    """The training data of a model, as far as it is known.

    It has no time of training, so that equal rows give equal model files.

    Attributes
    ----------
    source : the name of the file, without folders, or of the data set
    modified : when the file was changed last, in UTC
    rows : the number of rows
    classes : the number of rows of each class, in the order of the classes
    digest : of all columns, see :func:`digest_data`
    columns : a digest of each feature, see :func:`digest_columns`
    dropped : the columns that were dropped
    cross_validated : cross-validated metrics
    """

    source: str = field(default="", metadata=json.text(_MAX_ORIGIN))
    modified: str = field(default="", metadata=json.text(_MAX_ORIGIN))
    rows: int | None = field(default=None, metadata=json.integer(0, MAX_ROWS))
    classes: tuple[int, ...] = field(default=(), metadata=json.form(_read_counts))
    digest: str = field(default="", metadata=json.text(_MAX_ORIGIN))
    columns: Mapping[str, str] = field(default_factory=dict, metadata=json.form(_read_digests))
    dropped: tuple[str, ...] = field(default=(), metadata=json.texts(0, _MAX_DROPPED))
    cross_validated: CrossValidated | None = field(
        default=None, metadata=json.form(lambda part: json.read_record(part, CrossValidated))
    )


def digest_data(table: Table) -> str:
    """Digest all columns of a table.

    The digest does not depend on the order of rows or columns, nor on whether a number is written
    as 7, 7.0 or text. It distinguishes rows, but does not prove that nobody forged them.

    Examples
    --------
    >>> from solah import datasets
    >>> iris = datasets.load("iris").table
    >>> digest_data(iris) == digest_data(iris.take(np.arange(150)[::-1]))
    True
    """
    names = sorted(table.names)
    columns = [digest_column(table.column(name)) for name in names]
    rows = chain(columns, np.zeros(table.n_rows, np.uint64))
    head = "\n".join(names).encode("utf-8", "surrogatepass")
    return sha256(head + np.sort(rows).astype("<u8").tobytes()).hexdigest()[:_DIGITS]


def digest_columns(model: Model, table: Table, target: Column) -> dict[str, str]:
    """Digest each feature of a model together with the target, as the model reads them.

    So a model that lost features can be matched by those that are left, and rows with more columns
    too.
    """
    is_class = model.target.task is Task.CLASSIFICATION
    truth = encode_target(target, model.target) if is_class else to_numbers(target).values
    start = digest_numbers(truth)
    rows = {
        one.name: chain([digest_numbers(encode_column(table, one))], start)
        for one in model.features
    }
    return {name: f"{int(one.sum(dtype=np.uint64)):016x}" for name, one in rows.items()}


def is_trained_on(model: Model, table: Table, target: Column | None) -> bool | None:
    """Return whether a model was trained on these rows; None if its file has no digests."""
    if target is None or model.provenance is None:
        return None
    known = model.provenance.columns
    found = digest_columns(model, table, target)
    matches = [found[name] == known[name] for name in found if name in known]
    return all(matches) if matches else None


# --- changes by people ---------------------------------------------------------------------------


def spell_time(moment: datetime) -> str:
    """Write a moment as edits have it; one without a time zone is in UTC.

    Examples
    --------
    >>> from datetime import timedelta, timezone
    >>> spell_time(datetime(2026, 5, 17, 9, 30, tzinfo=timezone(timedelta(hours=2))))
    '2026-05-17T07:30:00Z'
    """
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime(_TIME_FORMAT)


def is_time(text: str) -> bool:
    """Whether a text is a moment as edits have it."""
    try:
        return spell_time(datetime.strptime(text, _TIME_FORMAT)) == text
    except ValueError:
        return False


def _read_time(part: Reader) -> str:
    time = part.text(most=MAX_TEXT)
    if not is_time(time):
        raise part.fail("a moment in UTC such as '2026-05-17T09:30:00Z'")
    return time


@dataclass(frozen=True)
class Edit:
    """One change of a model by a person.

    Attributes
    ----------
    text : the change, as a sentence
    author : who made it; empty if not given
    time : when, as ISO 8601 in UTC (``2026-05-17T09:30:00Z``); empty if not given
    reason : why; empty if not given
    """

    text: str = field(metadata=json.text(MAX_TEXT))
    author: str = field(default="", metadata=json.text(MAX_TEXT))
    time: str = field(default="", metadata=json.form(_read_time))
    reason: str = field(default="", metadata=json.text(MAX_TEXT))

    def __str__(self) -> str:
        made = ", ".join(filter(None, (self.time, self.author)))
        because = f" (because: {self.reason})" if self.reason else ""
        return f"{made}: {self.text}{because}" if made else f"{self.text}{because}"
