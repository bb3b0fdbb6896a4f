"""``python -m reproduction``: compute the paper's tables again, beside the paper's figures.

Finished cells (a model on a data set) are kept in the results folder: the same command continues
where it was stopped.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.table import Table
from rich.text import Text

from reproduction.data import how_to_get
from reproduction.page import format_table, write_summary
from reproduction.running import Reproduction
from reproduction.scope import Scope
from reproduction.tables import TABLES
from solah.cli.screen import Screen
from solah.cli.views import heading
from solah.datasets.loading import VARIABLE
from solah.exceptions import SolahError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print an error in one line."""
        self.exit(2, f"reproduction: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return 0, or 130 after an interrupt. An error exits with 2."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    screen = Screen(options.json, options.quiet)
    try:
        _reproduce(options, screen)
    except KeyboardInterrupt:
        text = f"interrupted; finished cells are kept in {options.output}, so the same command"
        _note(screen, f"{text} continues from there")
        return 130
    except (SolahError, OSError) as error:
        if options.verbose:
            traceback.print_exc()
        parser.error(str(error))
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m reproduction",
        description="Compute the paper's tables again, beside the paper's figures. Finished cells "
        "are kept in the results folder: the same command continues where it was stopped.",
        epilog="example: python -m reproduction sms14 ldt --data my-data --no-optlah -o results",
    )
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all by default")
    add(
        "--data",
        type=_folder(must_exist=True),
        metavar="DIR",
        help=f"a folder of data sets, in place of {VARIABLE}",
    )
    for name, least, default, text in (
        ("--folds", 2, 10, "folds of a cross-validation"),
        ("--seeds", 1, 1, "how often the rows are shuffled into folds"),
        ("--runs", 1, 10, "random halves in the comparison"),
    ):
        text = f"{text} (default: {default})"
        add(name, type=_at_least(least), default=default, metavar="N", help=text)
    add(
        "--optlah",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the genetic search is in the comparison; it takes most of the time",
    )
    add(
        "--jobs",
        type=_at_least(1),
        default=-1,
        metavar="N",
        help="processes (default: one per processor)",
    )
    add(
        *("-o", "--output"),
        type=_folder(must_exist=False),
        default=Path("results"),
        metavar="DIR",
        help="where finished cells are kept and results are written (default: %(default)s)",
    )
    add("--json", action="store_true", help="print the summary as JSON instead of the tables")
    add("-q", "--quiet", action="store_true", help="print only the tables and errors")
    add("-v", "--verbose", action="store_true", help="print a traceback with an error")
    return parser


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {text}")
        return int(text)

    return number


def _folder(*, must_exist: bool) -> Callable[[str], Path]:
    def folder(text: str) -> Path:
        path = Path(text)
        if not path.is_dir() and (must_exist or path.exists()):
            raise argparse.ArgumentTypeError(f"{text} is not a folder")
        return path

    return folder


def _reproduce(options: argparse.Namespace, screen: Screen) -> None:
    if options.data is not None:
        os.environ[VARIABLE] = str(options.data)
    optlah = Scope.optlah if options.optlah else ()
    scope = Scope(options.folds, options.seeds, options.runs, optlah)
    with screen.working("looking for the data"):
        work = Reproduction.plan(options.tables, scope, options.output)
    if work.missing:
        _note(screen, f"not available, so skipped: {how_to_get(work.missing)}")
    if work.has_searches_left():
        _note(
            screen,
            "the genetic search of the comparison takes about half an hour on 2 processors; "
            "--no-optlah skips it",
        )
    with screen.progress(len(work.cells), "cells") as advance:
        summary = work.run(options.jobs, advance)
    files = write_summary(summary, options.output)
    if screen.json:
        screen.document(summary)
    _show(screen, summary)
    screen.say("", *(f"written: {file}" for file in files))


def _note(screen: Screen, text: str) -> None:
    if not screen.quiet:
        print(f"reproduction: note: {text}", file=sys.stderr)


def _show(screen: Screen, summary: dict[str, Any]) -> None:
    for table in summary["tables"]:
        screen.say(heading(table["title"]))
        screen.result(_grid(table))
        screen.say(*table["notes"], "")
    screen.say(heading("What agrees with the paper, and what does not"))
    screen.say(*(f"{finding['title']}: {finding['text']}" for finding in summary["findings"]), "")
    if summary["bars"]:
        screen.say(heading("Targets"))
    for bar in summary["bars"]:
        verdict = "met" if bar["holds"] else "missed"
        screen.say(f"{bar['what']}: {bar['measured']}, target {bar['aim']}: {verdict}")


def _grid(table: dict[str, Any]) -> Table:
    """Lay a table out for the terminal; text to the left, figures to the right."""
    titles, rows = format_table(table)
    grid = Table.grid(padding=(0, 2))
    for column in table["columns"]:
        grid.add_column(justify="left" if column["kind"] == "text" else "right")
    grid.add_row(*(Text(title, "dim") for title in titles))
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


if __name__ == "__main__":
    sys.exit(main())
