"""A number of things to do in, a bar on the terminal out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Task


class Advance(Protocol):
    """What moves a bar on."""

    def __call__(self, steps: int, news: str = "") -> None:
        """Count steps as done, and show the news behind the bar."""


class _Count(ProgressColumn):
    """How many are done, of how many, and how many a second where the end is unknown."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """Write the count of a task."""
        if task.total is not None:
            return Text(f"{task.completed:,.0f}/{task.total:,.0f} {self._unit}")
        speed = f"   {task.speed:,.0f} {self._unit}/s" if task.speed else ""
        return Text(f"{task.completed:,.0f} {self._unit}{speed}")


class _News(ProgressColumn):
    """The last news of a task."""

    def render(self, task: Task) -> Text:
        """Write what the task had to say last."""
        return Text(str(task.fields["news"]))


@contextmanager
def show_progress(console: Console, total: int | None, unit: str) -> Iterator[Advance]:
    """Show a bar that goes away when the work is done; yield what moves it on."""
    remaining = [TimeRemainingColumn()] if total else []
    columns = (BarColumn(), _Count(unit), *remaining, _News())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(unit, total=total, news="")

        def advance(steps: int, news: str = "") -> None:
            progress.advance(task, steps)
            if news:
                progress.update(task, news=news)

        yield advance


class _RowsASecond(ProgressColumn):
    """How many rows are done a second."""

    def render(self, task: Task) -> Text:
        """Write the speed of a task."""
        return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")


def rows_progress(console: Console) -> Progress:
    """Make a bar of rows that goes away when it is stopped."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        _Count("rows"),
        _RowsASecond(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
