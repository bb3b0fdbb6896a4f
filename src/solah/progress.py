"""Show how far work is: a bar in a terminal, lines in notebooks and logs."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rich.progress import Task

# Seconds until the first line, how much later each next one is, and how far they are apart at most.
_FIRST_LINE, _LATER, _LONGEST_PAUSE = 1.0, 1.5, 60.0


class Advance(Protocol):
    """What moves a bar on."""

    def __call__(self, steps: int, news: str = "") -> None:
        """Count steps as done, and show the news behind the bar."""


class _Count(ProgressColumn):
    """How many are done, of how many, and the speed if the total is unknown."""

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
        """Write the last news of the task."""
        return Text(str(task.fields["news"]))


@contextmanager
def show_progress(console: Console, total: int | None, unit: str) -> Iterator[Advance]:
    """Show how far work is until it is done; yield what moves it on.

    In a terminal it is a bar that goes away. Notebooks and files get lines: the first after a
    second, then fewer and fewer, down to one per minute, and one at the end.
    """
    is_drawn = console.is_terminal and not console.is_jupyter
    with _bar(console, total, unit) if is_drawn else _lines(console, total, unit) as advance:
        yield advance


def report_progress(
    total: int | None, unit: str, *, is_shown: bool
) -> AbstractContextManager[Advance]:
    """Show progress on stderr, or nothing."""
    if not is_shown:
        return nullcontext(lambda steps, news="": None)
    return show_progress(Console(stderr=True), total, unit)


@contextmanager
def _bar(console: Console, total: int | None, unit: str) -> Iterator[Advance]:
    remaining = [TimeRemainingColumn()] if total else []
    columns = (BarColumn(), _Count(unit), *remaining, _News())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(unit, total=total, news="")

        def advance(steps: int, news: str = "") -> None:
            progress.advance(task, steps)
            if news:
                progress.update(task, news=news)

        yield advance


@contextmanager
def _lines(console: Console, total: int | None, unit: str) -> Iterator[Advance]:
    start, done, last, next_line = monotonic(), 0, "", _FIRST_LINE

    def write(*ending: str) -> None:
        count = f"{done:,}" if total is None else f"{done:,}/{total:,}"
        line = ": ".join([f"{count} {unit}, {monotonic() - start:.0f} s", *filter(None, ending)])
        print(line, file=console.file, flush=True)

    def advance(steps: int, news: str = "") -> None:
        nonlocal done, last, next_line
        done, last = done + steps, news or last
        elapsed = monotonic() - start
        if elapsed >= next_line:
            next_line = min(elapsed * _LATER, elapsed + _LONGEST_PAUSE)
            write(last)

    yield advance
    write(f"{last}; done" if last else "done")
