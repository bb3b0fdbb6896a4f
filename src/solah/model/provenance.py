"""Where a model comes from: the rows that it was learnt from, and how it did on rows held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.digests import chain, digest_column
from solah.model.limits import MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data import Column, Table
    from solah.data.json_reader import Reader
    from solah.model.attributes import Attribute
    from solah.model.document import Model

MAX_ROWS = 2**53
MAX_TEXT = 1_000
MAX_LEFT_OUT = 10_000
_DIGITS = 32
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
    """What is kept of the rows that a model was learnt from; what is not known is left empty.

    There is no clock in it, so that equal rows give equal documents.

    Attributes
    ----------
    source : the name of the file, without folders, or of the data set
    modified : when the file was changed last, in UTC
    rows : how many rows there were
    classes : how many of them each class had, in the order of the goal's states
    digest : what :func:`digest_data` made of them
    left_out : columns that were kept out of decisions
    out_of_fold : how such a model did on rows held out
    """

    source: str = ""
    modified: str = ""
    rows: int | None = None
    classes: tuple[int, ...] = ()
    digest: str = ""
    left_out: tuple[str, ...] = ()
    out_of_fold: OutOfFold | None = None


def digest_data(attributes: tuple[Attribute, ...], table: Table, goal: Column) -> str:
    """Digest the rows of a model's attributes and its goal.

    Neither the order of the rows nor that of the columns matters, nor does it whether a number is
    written as 7, 7.0 or text. It tells rows apart; it is no proof against those who forge them.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.data import as_column
    >>> iris = datasets.load("iris")
    >>> attributes = LinguisticTreeClassifier().fit(iris.table, iris.goal).model_.attributes
    >>> backwards = np.arange(150)[::-1]
    >>> digest_data(attributes, iris.table, as_column("class", iris.goal)) == digest_data(
    ...     attributes, iris.table.take(backwards), as_column("class", iris.goal[backwards])
    ... )
    True
    """
    names = sorted(one.name for one in attributes)
    columns = [*(table.column(name) for name in names), goal]
    rows = chain(map(digest_column, columns), np.zeros(table.n_rows, np.uint64))
    head = "\n".join([*names, goal.name]).encode("utf-8", "surrogatepass")
    return sha256(head + np.sort(rows).astype("<u8").tobytes()).hexdigest()[:_DIGITS]


def is_learnt_from(model: Model, table: Table, goal: Column | None) -> bool | None:
    """Tell whether a model was learnt from these rows; None if its document does not tell."""
    if goal is None or model.provenance is None or not model.provenance.digest:
        return None
    named = replace(goal, name=model.goal.name)
    return digest_data(model.attributes, table, named) == model.provenance.digest


def provenance_record(provenance: Provenance) -> dict[str, Any]:
    """Return what a document keeps; what is not known is left out."""
    record = {
        "source": provenance.source,
        "modified": provenance.modified,
        "rows": provenance.rows,
        "classes": list(provenance.classes),
        "digest": provenance.digest,
        "left_out": list(provenance.left_out),
        "out_of_fold": _known(vars(provenance.out_of_fold or OutOfFold())),
    }
    return _known(record)


def _known(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value not in ("", None, [], {})}


def read_provenance(reader: Reader, n_classes: int) -> Provenance:
    """Read and check what a document keeps."""
    texts, others = ("source", "modified", "digest"), ("rows", "classes", "left_out", "out_of_fold")
    fields = reader.record((), (*texts, *others))
    found: dict[str, Any] = {key: fields[key].text(most=MAX_TEXT) for key in texts if key in fields}
    if "rows" in fields:
        found["rows"] = fields["rows"].integer(0, MAX_ROWS)
    if "classes" in fields:
        counts = fields["classes"].items(n_classes, n_classes)
        found["classes"] = tuple(one.integer(0, MAX_ROWS) for one in counts)
    if "left_out" in fields:
        found["left_out"] = fields["left_out"].texts(0, MAX_LEFT_OUT)
    if "out_of_fold" in fields:
        scores = fields["out_of_fold"].record((), _SCORES)
        found["out_of_fold"] = OutOfFold(
            **{key: score.number(*_SCORES[key]) for key, score in scores.items()}
        )
    return Provenance(**found)
