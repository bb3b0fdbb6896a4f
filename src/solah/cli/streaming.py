"""Where results are written: stdout, or a file that appears when all of them are there."""

import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import IO, TYPE_CHECKING

from solah.cli.options import STDOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.cli.screen import Screen
    from solah.progress import Advance


def opened(output: Path) -> AbstractContextManager[IO[str]]:
    """Open stdout, or a file that takes its name only when all rows are written."""
    from solah.atomic import whole_file

    return nullcontext(sys.stdout) if output == STDOUT else whole_file(output)


@contextmanager
def printed_to(output: Path) -> "Iterator[None]":
    """Let what is printed go to stdout, or to a file that takes its name only at the end."""
    if output == STDOUT:
        yield
        return
    with opened(output) as file, redirect_stdout(file):
        yield


def row_progress(screen: "Screen", output: Path) -> "AbstractContextManager[Advance]":
    """Show the rows that are done, except among the rows themselves."""
    if output == STDOUT:
        return nullcontext(lambda steps, news="": None)
    return screen.progress(None, "rows")
