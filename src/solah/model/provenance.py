"""The training data of a model, and the changes that people made after training."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import to_numbers
from solah.data.digests import chain, digest_column, digest_numbers
from solah.model.document import Task
from solah.model.encode import encode_column, encode_target
from solah.model.json_fields import read_mark, record_of
from solah.model.limits import MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data import Column, Table
    from solah.data.json_reader import Reader
    from solah.model.document import Model


MAX_EDITS = 10_000
MAX_COMMENTS = 100_000
MAX_TEXT = 2_000
MAX_ROWS = 2**53
_MAX_LEFT_OUT = 10_000
_MAX_COLUMNS, _MAX_NAME = 1_000_000, 1_000_000
_MAX_ORIGIN = 1_000
_DIGITS = 32
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_SCORES = {
    "accuracy": (0.0, 1.0),
    "log_loss": (0.0, MOST_NUMBER),
    "r2": (-MOST_NUMBER, 1.0),
    "rmse": (0.0, MOST_NUMBER),
}


@dataclass(frozen=True)
class OutOfFold:
    """How well such a model decides on rows that were held out.

    Attributes
    ----------
    accuracy, log_loss : for classes
    r2, rmse : for a number, the share of its variance that is explained, and the root mean squared
        error in its unit
    """

    accuracy: float | None = None
    log_loss: float | None = None
    r2: float | None = None
    rmse: float | None = None


@dataclass(frozen=True)
class Provenance:
    """What is kept of the rows that a model was learned from; what is not known is left empty.

    There is no clock in it, so that equal rows give equal documents.

    Attributes
    ----------
    source : the name of the file, without folders, or of the data set
    modified : when the file was changed last, in UTC
    rows : how many rows there were
    classes : how many of them each class had, in the order of the classes
    digest : what :func:`digest_data` made of all their columns
    columns : what :func:`digest_columns` made of each feature
    left_out : columns that were kept out of decisions
    out_of_fold : how such a model did on rows held out
    """

    source: str = ""
    modified: str = ""
    rows: int | None = None
    classes: tuple[int, ...] = ()
    digest: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    out_of_fold: OutOfFold | None = None


def digest_data(table: Table) -> str:
    """Digest the rows of a table, whatever a model uses of them.

    Neither the order of the rows nor that of the columns matters, nor does it whether a number is
    written as 7, 7.0 or text. It tells rows apart; it is no proof against those who forge them.

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

    A model that has lost features, and rows that have more columns or are written in another
    way, can so be matched by the features that are left.
    """
    is_class = model.target.task is Task.CLASSIFICATION
    truth = encode_target(target, model.target) if is_class else to_numbers(target).values
    start = digest_numbers(truth)
    rows = {
        one.name: chain([digest_numbers(encode_column(table, one))], start)
        for one in model.features
    }
    return {name: f"{int(one.sum(dtype=np.uint64)):016x}" for name, one in rows.items()}


def is_learned_from(model: Model, table: Table, target: Column | None) -> bool | None:
    """Return whether a model was learned from these rows; None if its document does not tell."""
    if target is None or model.provenance is None:
        return None
    known = model.provenance.columns
    found = digest_columns(model, table, target)
    matches = [found[name] == known[name] for name in found if name in known]
    return all(matches) if matches else None


def provenance_record(provenance: Provenance) -> dict[str, Any]:
    """Return what a document keeps; what is not known is left out."""
    found = provenance.out_of_fold and record_of(provenance.out_of_fold)
    record = record_of(replace(provenance, out_of_fold=None))
    return record | ({"out_of_fold": found} if found else {})


def read_provenance(reader: Reader, n_classes: int) -> Provenance:
    """Read and check what a document keeps."""
    texts = ("source", "modified", "digest")
    fields = reader.record((), (*texts, "rows", "classes", "columns", "left_out", "out_of_fold"))
    found: dict[str, Any] = {
        key: fields[key].text(most=_MAX_ORIGIN) for key in texts if key in fields
    }
    if "rows" in fields:
        found["rows"] = fields["rows"].integer(0, MAX_ROWS)
    if "classes" in fields:
        counts = fields["classes"].items(n_classes, n_classes)
        found["classes"] = tuple(one.integer(0, MAX_ROWS) for one in counts)
    if "columns" in fields:
        digests = fields["columns"].named(_MAX_COLUMNS, _MAX_NAME)
        found["columns"] = {name: one.text(most=_MAX_ORIGIN) for name, one in digests.items()}
    if "left_out" in fields:
        found["left_out"] = fields["left_out"].texts(0, _MAX_LEFT_OUT)
    if "out_of_fold" in fields:
        scores = fields["out_of_fold"].record((), _SCORES)
        found["out_of_fold"] = OutOfFold(
            **{key: score.number(*_SCORES[key]) for key, score in scores.items()}
        )
    return Provenance(**found)


# --- changes by people ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """One change of a model by a person.

    Attributes
    ----------
    text : what was done, as a sentence
    author : who did it; empty if not given
    time : when, as ISO 8601 in UTC (``2026-05-17T09:30:00Z``); empty if not given
    reason : why; empty if not given
    """

    text: str
    author: str = ""
    time: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Return the edit as one line."""
        made = ", ".join(filter(None, (self.time, self.author)))
        because = f" (because: {self.reason})" if self.reason else ""
        return f"{made}: {self.text}{because}" if made else f"{self.text}{because}"


@dataclass(frozen=True)
class Comment:
    """A comment of a rules file.

    Attributes
    ----------
    on : the statement that it stands before or behind, as the file's writer names it
    text : the comment, without its sign
    is_behind : whether it stands in the statement's own line
    """

    on: str
    text: str
    is_behind: bool = False


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
    """Tell whether a text is a moment as edits have it."""
    try:
        return spell_time(datetime.strptime(text, _TIME_FORMAT)) == text
    except ValueError:
        return False


def edit_record(edit: Edit) -> dict[str, Any]:
    """Return an edit as the document has it."""
    return record_of(edit)


def comment_record(comment: Comment) -> dict[str, Any]:
    """Return a comment as the document has it."""
    record: dict[str, Any] = {"on": comment.on, "text": comment.text}
    return record | ({"behind": True} if comment.is_behind else {})


def read_edits(reader: Reader) -> tuple[Edit, ...]:
    """Read the edits of a document."""
    return tuple(_read_edit(item) for item in reader.items(1, MAX_EDITS))


def _read_edit(reader: Reader) -> Edit:
    fields = reader.record(["text"], ["author", "time", "reason"])
    edit = Edit(**{key: field.text(most=MAX_TEXT) for key, field in fields.items()})
    if edit.time and not is_time(edit.time):
        raise fields["time"].fail("a moment in UTC such as '2026-05-17T09:30:00Z'")
    return edit


def read_comments(reader: Reader) -> tuple[Comment, ...]:
    """Read the comments of a document."""
    return tuple(_read_comment(item) for item in reader.items(1, MAX_COMMENTS))


def _read_comment(reader: Reader) -> Comment:
    fields = reader.record(["on", "text"], ["behind"])
    text = fields["text"].text(least=0, most=MAX_TEXT)
    if "\n" in text:
        raise fields["text"].fail("a text in one line")
    is_behind = "behind" in fields and read_mark(fields["behind"])
    return Comment(fields["on"].text(), text, is_behind)
