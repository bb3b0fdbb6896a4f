"""Find the attributes, the goal and the task in a table, by the column options."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.cli.wording import plural
from solah.data import Column, Kind, Table, settle, to_numbers, to_text
from solah.data.cells import as_truth
from solah.data.dates import are_dates, parse_dates, useful_parts
from solah.exceptions import ColumnError, DataError, IdentifierWarning, ParameterError
from solah.model import Task
from solah.model.encode import UNSEEN, encode_goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from solah.cli.options import ColumnOptions
    from solah.cli.screen import Screen
    from solah.cli.sources import Source
    from solah.model import Model
    from solah.model.signals import Signals

MAX_CLASS_NUMBERS = 20
"""Whole numbers with more different values than this are a number to estimate, not classes."""


@dataclass(frozen=True)
class Problem:
    """What is to be learnt.

    Attributes
    ----------
    source : what the data are called
    data : all columns as they were read
    attributes : the columns to decide with, settled
    kinds : what each of them is
    goal : the classes or numbers to decide on
    task : classification or regression
    reason : why this task, if it was not the user's choice
    groups : what rows belong together, one value a row
    identifiers : columns that are left out, as they number the rows
    left_out : columns that the user keeps out of decisions
    signals : how the rows were made of samples
    notes : how columns were read that are not taken as they are written
    """

    source: str
    data: Table
    attributes: Table
    kinds: Mapping[str, Kind]
    goal: Column
    task: Task
    reason: str
    groups: NDArray[Any] | None
    identifiers: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    signals: Signals | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to decide with."""
        return tuple(self.attributes.names)

    @property
    def n_groups(self) -> int:
        """How many groups there are that are kept together; 0 where there are none."""
        return 0 if self.groups is None else len(set(self.groups.tolist()))

    @property
    def shape(self) -> str:
        """The data's size and kinds as text."""
        counts = Counter(self.kinds.values())
        kinds = ", ".join(f"{counts[kind]} {kind.value}" for kind in Kind if counts[kind])
        n_columns = len(self.attributes.columns)
        rows, columns = plural(self.attributes.n_rows, "row"), plural(n_columns, "attribute")
        return f"{self.source}: {rows}, {columns} ({kinds})"

    @property
    def aim(self) -> str:
        """The goal and the task as text."""
        what = f"{self.goal.name}, a number"
        if self.task is Task.CLASSIFICATION:
            n_classes = len(set(self.goal.values.tolist()))
            what = f"{self.goal.name}, {plural(n_classes, 'class', 'classes')}"
        return f"{what} ({self.task.value}{self.reason})"


def pose(source: Source, columns: ColumnOptions, groups: str | None = None) -> Problem:
    """Part a table into attributes and goal, as the user says.

    Raises
    ------
    ColumnError
        If a column is not there, or is used for two things.
    DataError
        If the target has missing values or only one class, or is no number where one is needed.
    """
    table, target = source.table, _target(source, columns)
    goal = as_truth(table.column(target))
    task, reason = settle_task(goal, columns.task)
    declared = declared_kinds(columns, table.names)
    apart = [target] if groups is None else [target, groups]
    refuse_overlap(declared, apart)
    gone = {*split_names(columns.gone, table.names), *apart}
    known = {name: kind for name, kind in source.kinds.items() if name not in gone}
    taken, notes = _with_dates(table.drop(gone), known | declared)
    settled, kinds = settle(taken, known | declared)
    notes += [f"{column.name}: {column.note}" for column in settled.columns if column.note]
    if not settled.columns:
        raise DataError(f"no column is left to decide {target!r} with")
    kind_of = dict(zip(settled.names, kinds, strict=True))
    attributes, identifiers = _without_identifiers(settled, known | declared)
    return Problem(
        source=source.name,
        data=table,
        attributes=attributes,
        kinds={name: kind_of[name] for name in attributes.names},
        goal=Column(target, _goal(goal, task)),
        task=task,
        reason=reason,
        groups=source.groups if groups is None else _groups(table.column(groups)),
        identifiers=identifiers,
        left_out=tuple(split_names(columns.leave_out, table.names)),
        signals=source.signals,
        notes=tuple(notes),
    )


def _with_dates(table: Table, known: Mapping[str, Any]) -> tuple[Table, list[str]]:
    """Replace columns of dates by what they tell, and say so."""
    columns: list[Column] = []
    notes = []
    for column in table.columns:
        is_plain = not column.is_text or column.name in known or not are_dates(column.values)
        dates = None if is_plain else parse_dates(column.values)
        if dates is None:
            columns.append(column)
            continue
        parts = useful_parts(column.name, dates)
        columns += [table.column(part.name) for part in parts]
        told = ", ".join(repr(part.name) for part in parts) or "nothing that repeats"
        notes.append(f"{column.name}: dates, which tell {told}; to leave them out: --drop")
    return Table(tuple(columns), table.n_rows), notes


def spell_identifiers(names: tuple[str, ...]) -> str | None:
    """Say which columns were left out as they number the rows, and how to keep them."""
    if not names:
        return None
    return f"{', '.join(names)}: numbers the rows; to learn from it: --continuous {names[0]}"


def _without_identifiers(table: Table, known: Mapping[str, Any]) -> tuple[Table, tuple[str, ...]]:
    """Leave out columns that number the rows, before rows are split into folds."""
    from solah.estimators.inputs import without_identifiers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        left = without_identifiers(table, known)
    return left, tuple(name for name in table.names if name not in left.names)


def split_names(given: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Split lists of names at commas, except where a column has a comma in its name."""
    whole = set(known)
    return [
        name.strip() if name not in whole else name
        for text in given or ()
        for name in ([text] if text in whole else text.split(","))
        if name.strip()
    ]


def true_classes(
    model: Model, column: Column, screen: Screen, *, unseen_are: str = "always wrong"
) -> NDArray[np.intp]:
    """Return the place of each row's true class; say so if the model does not know some.

    Raises
    ------
    DataError
        If the model knows none of them, so that it is likely another column.
    """
    if model.goal.task is not Task.CLASSIFICATION:
        raise DataError(f"{model.goal.name!r} is a number; this is for decisions between classes")
    places = encode_goal(column, model.goal)
    known, unseen = int((places >= 0).sum()), int((places == UNSEEN).sum())
    if unseen and not known:
        classes = ", ".join(map(str, model.goal.states[:8]))
        raise DataError(
            f"column {column.name!r} has none of the model's classes ({classes}); name the column "
            "of true classes with --target"
        )
    if unseen:
        verb = "has a class" if unseen == 1 else "have classes"
        screen.note(f"{plural(unseen, 'row')} {verb} that the model does not know: {unseen_are}")
    return places


def columns_by(model: Model, table: Table, by: list[str] | None, positive: str | None) -> list[str]:
    """Return the columns to measure groups of: by default those kept out of decisions."""
    left_out = model.provenance.left_out if model.provenance else ()
    columns = [name for name in left_out if name in table.names]
    columns = columns if by is None else split_names(by, table.names)
    refuse_idle_positive(positive, columns, model.goal.task)
    return columns


def refuse_idle_positive(positive: str | None, columns: list[str], task: Task) -> None:
    """Refuse a positive class where no groups of decisions between classes are measured."""
    if positive is None:
        return
    if not columns:
        raise ParameterError("--positive is for groups; name their column with --by")
    if task is Task.REGRESSION:
        raise ParameterError("--positive is for classes, and a number is estimated here")


def known_truth(model: Model, table: Table, target: str | None, screen: Screen) -> Column | None:
    """Find the column with the truth; say so if it is not there and was not asked for."""
    name = target or model.goal.name
    if target is not None or name in table.names:
        column = table.column(name)
        if model.goal.task is Task.CLASSIFICATION:
            true_classes(model, column, screen)  # which refuses a column of something else
        return column
    screen.note(
        f"the data have no column {model.goal.name!r}, so there are no scores; "
        "if it has another name, say it with --target"
    )
    return None


def _target(source: Source, columns: ColumnOptions) -> str:
    target = columns.target or source.target
    if target is None:
        names = ", ".join(map(repr, source.table.names[:8]))
        more = ", …" if len(source.table.names) > 8 else ""
        raise ColumnError(
            f"which column is to be decided on? Say it with --target; there are: {names}{more}"
        )
    return target


def declared_kinds(columns: ColumnOptions, names: Iterable[str]) -> dict[str, str]:
    """Turn the kinds' flags into a mapping from column to kind."""
    declared: dict[str, str] = {}
    for kind, given in columns.kinds.items():
        for name in split_names(given, names):
            if declared.setdefault(name, kind) != kind:
                raise ColumnError(
                    f"column {name!r} is declared both {declared[name]} and {kind}; choose one"
                )
    return declared


def refuse_overlap(declared: Mapping[str, str], apart: list[str]) -> None:
    """Refuse to declare what is no attribute."""
    for name in apart:
        if name in declared:
            raise ColumnError(
                f"column {name!r} is not an attribute, so it cannot be declared "
                f"{declared[name]}; for the target there is --task"
            )


def settle_task(column: Column, chosen: str) -> tuple[Task, str]:
    """Choose the task; the reason is empty where the user chose."""
    if chosen != "auto":
        return Task(chosen), ""
    if column.is_text or column.values.dtype.kind == "b":
        return Task.CLASSIFICATION, ""
    known = column.values[~column.missing()]
    distinct = np.unique(known)
    if len(distinct) <= MAX_CLASS_NUMBERS and _are_whole(distinct):
        return Task.CLASSIFICATION, "; if it is a number: --task regression"
    return Task.REGRESSION, "; if it is not: --task classification"


def _goal(column: Column, task: Task) -> NDArray[Any]:
    _refuse_missing(column, "target")
    return _classes(column) if task is Task.CLASSIFICATION else _numbers(column)


def _groups(column: Column) -> NDArray[Any]:
    _refuse_missing(column, "groups' column")
    return to_text(column).values


def _refuse_missing(column: Column, what: str) -> None:
    missing = column.missing()
    if missing.any():
        raise DataError(
            f"the {what} {column.name!r} has no value in {plural(int(missing.sum()), 'row')} "
            f"(first: row {int(missing.argmax()) + 1}); leave such rows out of the data"
        )


def _classes(column: Column) -> NDArray[Any]:
    """Take the classes; whole numbers stay numbers, others are known by their spelling."""
    values = column.values
    if values.dtype.kind == "f":
        values = values.astype(np.int64) if _are_whole(values) else to_text(column).values
    if len(set(values.tolist())) < 2:
        raise DataError(
            f"the target {column.name!r} has only one class ({str(values[0])!r}): "
            "there is nothing to tell apart"
        )
    return values


def _numbers(column: Column) -> NDArray[Any]:
    try:
        return to_numbers(column).values
    except DataError:
        raise DataError(
            f"the target {column.name!r} has values that are not numbers; "
            "classes are learnt with --task classification"
        ) from None


def _are_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.all(np.isfinite(numbers)) and np.all(numbers == np.floor(numbers)))
