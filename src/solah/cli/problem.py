"""The rows of the DATA argument, and what is to be learned from them by the column options."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.cli.screen import plural
from solah.cli.signals import rows_of_recordings
from solah.data import (
    Column,
    Kind,
    Table,
    infer_types,
    iter_tables,
    read_table,
    to_numbers,
    to_text,
)
from solah.data.cells import as_truth
from solah.datasets import load
from solah.exceptions import (
    ColumnError,
    DataError,
    DatasetError,
    IdentifierWarning,
    ParameterError,
    shorten,
)
from solah.model import Task
from solah.model.encode import UNSEEN, encode_target
from solah.safe_text import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.cli.options import ColumnOptions, ReadingOptions
    from solah.cli.screen import Screen
    from solah.datasets import Dataset
    from solah.model import Model
    from solah.model.signals import Signals

_MAX_CLASS_NUMBERS = 20
"""Whole numbers with more different values than this are a number to estimate, not classes."""

_PIECE_ROWS = 50_000
_FIRST_ROWS = 10_000


@dataclass(frozen=True)
class Source:
    """A table, with what is known of it where it is a data set by name.

    Attributes
    ----------
    name : what to call it
    table : all columns, the target among them
    target : the column that the data set is about
    kinds : the columns that are not what they seem
    groups : the group of each row
    signals : how the rows were made of samples
    """

    name: str
    table: Table
    target: str | None = None
    kinds: Mapping[str, Any] = field(default_factory=dict)
    groups: NDArray[Any] | None = None
    signals: Signals | None = None


def read_source(data: str, reading: ReadingOptions, model: Model | None = None) -> Source:
    """Read all of a file or a data set; for a model of signals, make rows of recordings."""
    windows = None if model is None else rows_of_recordings(model, data, reading)
    if windows is not None:
        return Source(file_name(data), windows)
    if _is_path(data):
        return Source(file_name(data), read_table(data, options=reading.read_options()))
    dataset = _load(data)
    return Source(dataset.name, _whole(dataset), dataset.target_name, dataset.kinds, dataset.groups)


def iter_source(data: str, reading: ReadingOptions, model: Model | None = None) -> Iterator[Table]:
    """Yield a file or a data set piece by piece, or the windows of recordings in one piece."""
    windows = None if model is None else rows_of_recordings(model, data, reading)
    if windows is not None:
        return iter([windows])
    if _is_path(data):
        return iter_tables(data, options=reading.read_options(), rows=_PIECE_ROWS)
    return iter([_whole(_load(data))])


def _is_path(data: str) -> bool:
    """Whether a text is a file rather than a name: it exists, or looks like one."""
    path = Path(data)
    return path.exists() or bool(path.suffix) or path.name != data


def _load(name: str) -> Dataset:
    try:
        return load(name)
    except DatasetError as error:
        raise DatasetError(f"{error} (and there is no file {name!r})") from error


def _whole(dataset: Dataset) -> Table:
    """Put the target back beside the features, as in a file."""
    target = Column(dataset.target_name, dataset.target.astype(object), nominal=True)
    return Table((*dataset.table.columns, target), dataset.table.n_rows)


@dataclass(frozen=True)
class Problem:
    """Rows, and the target to predict from them.

    Attributes
    ----------
    source : what the data are called
    n_rows : the number of rows; None if unknown
    features : the features, with their types inferred; a scan for rows that are read in passes
    names : the features' names
    kinds : their types; only those that are declared, for rows that are read in passes
    target : the target's classes or numbers; only its name, for rows that are read in passes
    task : classification or regression
    reason : why this task, if it was not the user's choice
    groups : the group of each row; the column of groups, for rows that are read in passes
    data : all columns as they were read; None for rows that are read in passes
    identifiers : columns that are dropped, as they number or name the rows
    left_out : columns that the user keeps out of the model
    signals : how the rows were made of samples
    notes : how columns were read that are not taken as they are written
    """

    source: str
    n_rows: int | None
    features: Any
    names: tuple[str, ...]
    kinds: Mapping[str, Any]
    target: Column
    task: Task
    reason: str
    groups: Any
    data: Any = None
    identifiers: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    signals: Signals | None = None
    notes: tuple[str, ...] = ()

    @property
    def y(self) -> Column | str:
        """What ``fit`` takes for y."""
        return self.target.name if self.data is None else self.target

    @property
    def n_groups(self) -> int:
        """The number of groups that are kept together; 0 if unknown."""
        is_known = self.data is not None and self.groups is not None
        return len(set(self.groups.tolist())) if is_known else 0

    def facts(self) -> dict[str, str]:
        """Describe the data, the target and the dropped identifiers, by name."""
        sizes = [] if self.n_rows is None else [plural(self.n_rows, "row")]
        sizes.append(plural(len(self.names), "feature"))
        what, how = self.target.name, "read in passes"
        if self.data is not None:
            counts = Counter(self.kinds.values())
            how = ", ".join(f"{counts[kind]} {kind.value}" for kind in Kind if counts[kind])
            n_classes = len(set(self.target.values.tolist()))
            is_number = self.task is Task.REGRESSION
            what += ", a number" if is_number else f", {plural(n_classes, 'class', 'classes')}"
        found = {
            "data": f"{self.source}: {', '.join(sizes)} ({how})",
            "target": f"{what} ({self.task.value}{self.reason})",
        }
        if self.identifiers:
            found["identifiers"] = (
                f"{', '.join(self.identifiers)}: one value per row; to use it: "
                f"--type {self.identifiers[0]}=TYPE"
            )
        return found


def pose(source: Source, columns: ColumnOptions, groups: str | None = None) -> Problem:
    """Part a table into features and target, by the user's options.

    Raises
    ------
    ColumnError
        If a column does not exist, or is used for two things.
    DataError
        If the target has missing values or only one class, or is not a number where one is needed.
    """
    table = source.table
    name = require_target(columns.target or source.target, table.names)
    target = as_truth(table.column(name))
    apart = [name] if groups is None else [name, groups]
    declared, chosen = declared_types(columns, table.names, name, groups)
    task, reason = (chosen, "") if chosen else _choose_task(target)
    gone = {*split_names(columns.gone, table.names), *apart}
    known = {name: kind for name, kind in source.kinds.items() if name not in gone} | declared
    taken, notes = _with_dates(table.drop(gone), known)
    settled, kinds = infer_types(taken, known)
    notes += [f"{column.name}: {column.note}" for column in settled.columns if column.note]
    if not settled.columns:
        raise DataError(f"no column is left to predict {name!r} with")
    kind_of = dict(zip(settled.names, kinds, strict=True))
    from solah.estimators.inputs import without_identifiers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        features = without_identifiers(settled, known)
    for column, what in ((target, "target"), *((table.column(one), "group") for one in apart[1:])):
        missing = column.missing()
        if missing.any():
            raise DataError(
                f"the {what} {column.name!r} has no value in {plural(int(missing.sum()), 'row')} "
                f"(first: row {int(missing.argmax()) + 1}); drop such rows from the data"
            )
    return Problem(
        source=source.name,
        n_rows=features.n_rows,
        features=features,
        names=features.names,
        kinds={name: kind_of[name] for name in features.names},
        target=_target(target, task),
        task=task,
        reason=reason,
        groups=source.groups if groups is None else to_text(table.column(groups)).values,
        data=table,
        identifiers=tuple(name for name in settled.names if name not in features.names),
        left_out=tuple(split_names(columns.leave_out, table.names)),
        signals=source.signals,
        notes=tuple(notes),
    )


def _target(column: Column, task: Task) -> Column:
    """Return the target as numbers or classes: whole numbers stay numbers, others become text."""
    if task is Task.REGRESSION:
        try:
            return Column(column.name, to_numbers(column).values)
        except DataError:
            raise DataError(
                f"the target {column.name!r} has values that are not numbers; for classes: --type "
                f"{column.name}=categorical"
            ) from None
    values = column.values
    if values.dtype.kind == "f":
        values = values.astype(np.int64) if _are_whole(values) else to_text(column).values
    if len(set(values.tolist())) < 2:
        raise DataError(
            f"the target {column.name!r} has only one class ({str(values[0])!r}); training "
            f"requires at least two"
        )
    return Column(column.name, values)


def _with_dates(table: Table, known: Mapping[str, Any]) -> tuple[Table, list[str]]:
    """Replace columns of dates by their useful parts, and print which."""
    parts = table.date_parts(known)
    notes = []
    for name, of_dates in parts.items():
        used = ", ".join(map(repr, of_dates)) or "nothing that repeats"
        notes.append(f"{name}: dates, used as {used}; to drop them: --drop")
    names = [part for name in table.names for part in parts.get(name, [name])]
    return table.select(names), notes


def split_names(given: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Split lists of names at commas, except where a column has a comma in its name."""
    whole = set(known)
    return [
        name.strip() if name not in whole else name
        for text in given or ()
        for name in ([text] if text in whole else text.split(","))
        if name.strip()
    ]


def require_target(target: str | None, names: Sequence[str] = ()) -> str:
    """Return the target column; refuse that there is none."""
    if target is None:
        shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        raise ColumnError("no target column; pass --target" + (f": {shown}" if shown else ""))
    return target


def declared_types(
    columns: ColumnOptions, names: Iterable[str], target: str, groups: str | None = None
) -> tuple[dict[str, str | list[str]], Task | None]:
    """Return the declared type of each feature, and the task if the target's type is declared."""
    declared: dict[str, str | list[str]] = {}
    for text in columns.type or ():
        given, sign, kind = text.rpartition("=")
        if not sign or not given.strip() or not kind.strip():
            raise ParameterError(
                f"--type {shorten(text)} is not of the form COL=TYPE, such as age=categorical"
            )
        order = [state.strip() for state in kind.split("<")]
        for name in split_names([given], names):
            if name in declared:
                raise ColumnError(f"column {name!r} is declared twice; keep one --type")
            declared[name] = order if len(order) > 1 else order[0]
    if groups in declared:
        raise ColumnError(
            f"column {groups!r} has the groups, and takes no --type; drop that --type"
        )
    of_target = declared.pop(target, None)
    tasks = {"continuous": Task.REGRESSION, "categorical": Task.CLASSIFICATION}
    if of_target is None or str(of_target) in tasks:
        return declared, tasks.get(str(of_target))
    raise ParameterError(
        f"--type of the target {target!r} must be continuous (a number) or categorical (classes); "
        f"got {shorten(of_target)}"
    )


def _choose_task(column: Column) -> tuple[Task, str]:
    """Choose the task by the target's values: text and up to 20 whole numbers are classes."""
    name = column.name
    if column.is_text or column.values.dtype.kind == "b":
        return Task.CLASSIFICATION, ""
    distinct = np.unique(column.values[~column.missing()])
    if len(distinct) <= _MAX_CLASS_NUMBERS and _are_whole(distinct):
        return Task.CLASSIFICATION, f"; if it is a number: --type {name}=continuous"
    return Task.REGRESSION, f"; if it is not: --type {name}=categorical"


def _are_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.all(np.isfinite(numbers)) and np.all(numbers == np.floor(numbers)))


def true_classes(
    model: Model, column: Column, screen: Screen, *, unseen_are: str = "always wrong"
) -> NDArray[np.intp]:
    """Return the index of each row's true class; note if the model lacks some.

    Raises
    ------
    DataError
        If the model has none of them, so that it is likely another column.
    """
    if model.target.task is not Task.CLASSIFICATION:
        raise DataError(
            f"this requires a model that predicts classes, but {model.target.name!r} is a number"
        )
    places = encode_target(column, model.target)
    known, unseen = int((places >= 0).sum()), int((places == UNSEEN).sum())
    if unseen and not known:
        classes = ", ".join(map(str, model.target.classes[:8]))
        raise DataError(
            f"column {column.name!r} has none of the model's classes ({classes}); pass the column "
            "of true classes with --target"
        )
    if unseen:
        verb = "has a class" if unseen == 1 else "have classes"
        screen.note(f"{plural(unseen, 'row')} {verb} that the model does not have: {unseen_are}")
    return places


def columns_by(model: Model, table: Table, by: list[str] | None, positive: str | None) -> list[str]:
    """Return the columns to measure groups by. Default: those kept out of the model."""
    left_out = model.provenance.dropped if model.provenance else ()
    columns = [name for name in left_out if name in table.names]
    columns = columns if by is None else split_names(by, table.names)
    refuse_idle_positive(positive, columns, model.target.task)
    return columns


def refuse_idle_positive(positive: str | None, columns: list[str], task: Task) -> None:
    """Refuse a positive class where no groups of classes are measured."""
    if positive is not None and not columns:
        raise ParameterError("--positive requires --by")
    if positive is not None and task is Task.REGRESSION:
        raise ParameterError("--positive is for classes, and the target is a number")


def known_truth(model: Model, table: Table, target: str | None, screen: Screen) -> Column | None:
    """Find the column of true values; note if it is missing and was not asked for."""
    name = target or model.target.name
    if target is not None or name in table.names:
        column = table.column(name)
        if model.target.task is Task.CLASSIFICATION:
            true_classes(model, column, screen)  # which refuses a column of something else
        return column
    screen.note(
        f"the data have no column {model.target.name!r}, so there are no metrics; "
        "if it has another name, pass --target"
    )
    return None


def pose_scan(
    data: str,
    columns: ColumnOptions,
    reading: ReadingOptions,
    memory: str | None,
    screen: Screen,
    groups: str | None,
) -> Problem:
    """Open rows that are read in passes, and pose the problem."""
    from solah.scale import scan

    with screen.working("opening"):
        rows = scan(data, memory=memory, options=reading.read_options(), progress=screen.progress)
    names = rows.source.names
    target = require_target(columns.target, names)
    apart = [target] if groups is None else [target, groups]
    kinds, chosen = declared_types(columns, names, target, groups)
    gone = split_names(columns.gone, names)
    for name in (*apart, *gone):
        if name not in names:
            raise ColumnError.unknown(name, names)
    left = tuple(name for name in names if name not in gone and name not in apart)
    if not left:
        raise DataError(f"no column is left to predict {target!r} with")
    part = rows.source.parts[0]
    first = next(iter(part.tables([target], _FIRST_ROWS))).column(target)
    task, reason = (chosen, "") if chosen else _choose_task(first)
    if task is Task.REGRESSION:
        raise DataError(
            f"the target {target!r} is taken as a number{reason}, and regression requires rows "
            f"in memory"
        )
    return Problem(
        source=rows.source.name,
        n_rows=rows.source.n_rows,
        features=replace(rows, names=(*left, *apart)),
        names=left,
        kinds=kinds,
        target=Column(target, first.values[:0]),
        task=task,
        reason="",
        groups=groups,
        left_out=tuple(split_names(columns.leave_out, names)),
    )
