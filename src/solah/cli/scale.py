"""Scan more rows than fit into memory, as the options ask."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.progress import Progress, TaskID

    from solah.cli.options import ColumnOptions, ReadingOptions
    from solah.cli.screen import Screen
    from solah.data import Column
    from solah.model import Task
    from solah.scale import Scan
    from solah.scale.passes import ProgressReporter

_scale_option = options_in("More rows than memory")
_PATTERN = "*?["
_FIRST_ROWS = 10_000


@dataclass(frozen=True)
class ScaleOptions:
    """How rows are passed over that need not fit into memory; an option group."""

    memory: Annotated[
        str | None,
        _scale_option(
            metavar="SIZE",
            help="Pass over the rows instead of reading them all, and hold no more than this, such "
            "as 1GB. A folder or a pattern of files, in quotes, is always passed over.",
        ),
    ] = None

    def given(self) -> list[str]:
        """Return the flags that the user set."""
        return [f"--{name}" for name, value in vars(self).items() if value is not None]

    def is_for(self, data: str) -> bool:
        """Tell whether rows are passed over: if an option says so, or they are several files."""
        if self.given():
            return True
        path = Path(data)
        return path.is_dir() or (not path.exists() and any(sign in data for sign in _PATTERN))


@dataclass(frozen=True)
class ScanProblem:
    """What is to be learnt from rows that are not in memory.

    Attributes
    ----------
    source : what the data are called
    n_rows : how many rows there are, where that is known
    names : the columns to decide with
    kinds : what the user says that they are
    target : the column to decide on
    task : classification
    identifiers : none; rows that are passed over are not compared with each other
    left_out : columns that the user keeps out of decisions
    groups : the column of what rows belong to
    """

    source: str
    n_rows: int | None
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    target: str
    task: Task
    identifiers: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    groups: str | None = None

    n_groups = 0  # they are not counted

    @property
    def shape(self) -> str:
        """The data's size as text."""
        from solah.cli.wording import plural

        rows = "" if self.n_rows is None else f"{plural(self.n_rows, 'row')}, "
        return f"{self.source}: {rows}{plural(len(self.names), 'attribute')} (passed over)"

    @property
    def aim(self) -> str:
        """The goal and the task as text."""
        return f"{self.target} ({self.task.value})"


def scanned(
    data: str,
    columns: ColumnOptions,
    reading: ReadingOptions,
    scale: ScaleOptions,
    screen: Screen,
    groups: str | None = None,
) -> tuple[Scan, ScanProblem]:
    """Open rows, and settle what is to be learnt from them."""
    from solah.cli.problems import declared_kinds, refuse_overlap, split_names
    from solah.cli.screen import console
    from solah.exceptions import ColumnError, DataError
    from solah.model import Task
    from solah.scale import scan
    from solah.scale.passes import NO_PROGRESS

    watcher: ProgressReporter = NO_PROGRESS
    if screen.is_watched:
        watcher = PassProgress(console(stderr=True))
    with screen.working("opening"):
        rows = scan(
            data,
            memory=scale.memory,
            options=reading.read_options(),
            progress=watcher,
        )
    names = rows.source.names
    target = columns.target
    if target is None:
        shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        raise ColumnError(
            f"which column is to be decided on? Say it with --target; there are: {shown}"
        )
    kinds = declared_kinds(columns, names)
    apart = [target] if groups is None else [target, groups]
    refuse_overlap(kinds, apart)
    gone = split_names(columns.gone, names)
    for name in (*apart, *gone):
        if name not in names:
            raise ColumnError.unknown(name, names)
    left = tuple(name for name in names if name not in gone and name not in apart)
    if not left:
        raise DataError(f"no column is left to decide {target!r} with")
    _refuse_number(_first_of(rows, target), columns.task)
    problem = ScanProblem(
        source=rows.source.name,
        n_rows=rows.source.n_rows,
        names=left,
        kinds=kinds,
        target=target,
        task=Task.CLASSIFICATION,
        left_out=tuple(split_names(columns.leave_out, names)),
        groups=groups,
    )
    return replace(rows, names=(*left, *apart)), problem


def _first_of(rows: Scan, target: str) -> Column:
    """Read the target of some rows."""
    return next(iter(rows.source.parts[0].tables([target], _FIRST_ROWS))).column(target)


def _refuse_number(target: Column, task_option: str) -> None:
    """Refuse a target that is taken as a number."""
    from solah.cli.problems import settle_task
    from solah.exceptions import DataError
    from solah.model import Task

    task, reason = settle_task(target, task_option)
    if task is Task.REGRESSION:
        raise DataError(
            f"the target {target.name!r} is taken as a number{reason}, and numbers are learnt from "
            "rows in memory only"
        )


@dataclass
class PassProgress:
    """A bar on the terminal for each pass: rows, rows a second, and the time that is left."""

    console: Any
    _progress: Progress | None = field(default=None, init=False)
    _task: TaskID | None = field(default=None, init=False)
    _n_passes: int = field(default=0, init=False)
    _lock: Any = field(default_factory=threading.Lock, init=False)

    def begin(self, name: str, n_rows: int | None) -> None:
        """Show a pass that begins."""
        from solah.progress import rows_progress

        self._n_passes += 1
        self._progress = rows_progress(self.console)
        self._progress.start()
        self._task = self._progress.add_task(f"pass {self._n_passes}: {name}", total=n_rows)

    def advance(self, n_rows: int) -> None:
        """Show that so many more rows are done."""
        with self._lock:
            if self._progress is not None and self._task is not None:
                self._progress.advance(self._task, n_rows)

    def end(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
