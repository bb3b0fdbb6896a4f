"""Open the DATA argument: a file, or a data set by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.cli.signals import rows_of_recordings
from solah.data import Column, ReadOptions, Table, iter_tables, read_table
from solah.datasets import load
from solah.exceptions import DatasetError
from solah.safe_text import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from solah.datasets import Dataset
    from solah.model import Model
    from solah.model.signals import Signals

_PIECE_ROWS = 50_000


@dataclass(frozen=True)
class Source:
    """A table, with what is known of it where it is a data set by name.

    Attributes
    ----------
    name : what to call it
    table : all columns, the target among them
    target : the column that the data set is about
    kinds : the columns that are not what they seem
    groups : what rows belong together, one value a row
    signals : how the rows were made of samples
    """

    name: str
    table: Table
    target: str | None = None
    kinds: Mapping[str, Any] = field(default_factory=dict)
    groups: NDArray[Any] | None = None
    signals: Signals | None = None


def read_source(data: str, options: ReadOptions, model: Model | None = None) -> Source:
    """Read all of a file or a data set; for a model of signals, make rows of recordings."""
    windows = None if model is None else rows_of_recordings(model, data, options)
    if windows is not None:
        return Source(file_name(data), windows)
    if _is_path(data):
        return Source(file_name(data), read_table(data, options=options))
    dataset = _load(data)
    return Source(dataset.name, _whole(dataset), dataset.goal_name, dataset.kinds, dataset.groups)


def iter_source(data: str, options: ReadOptions, model: Model | None = None) -> Iterator[Table]:
    """Stream a file or a data set, piece by piece; the windows of recordings come at once."""
    windows = None if model is None else rows_of_recordings(model, data, options)
    if windows is not None:
        return iter([windows])
    if _is_path(data):
        return iter_tables(data, options=options, rows=_PIECE_ROWS)
    return iter([_whole(_load(data))])


def _is_path(data: str) -> bool:
    """Tell a file from a name: it is there, or looks like one."""
    path = Path(data)
    return path.exists() or bool(path.suffix) or path.name != data


def _load(name: str) -> Dataset:
    try:
        return load(name)
    except DatasetError as error:
        raise DatasetError(f"{error} (nor is there a file {name!r})") from error


def _whole(dataset: Dataset) -> Table:
    """Put the goal back beside the attributes, as it stands in a file."""
    goal = Column(dataset.goal_name, dataset.goal.astype(object), nominal=True)
    return Table((*dataset.table.columns, goal), dataset.table.n_rows)
