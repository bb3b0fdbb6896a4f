"""``solah reproduce``: the paper's tables, computed anew."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.screen import Screen, output_option
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from rich.table import Table

    from solah.reproduction.running import Reproduction

_measure_option = options_in("How much")
_work_option = options_in("Work")

Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TABLE...",
        help="sms20, sweep20, sms14, sweep14, databases, ldt, high, comparison; all by default.",
        show_default=False,
    ),
]
DataFolder = Annotated[
    Path | None,
    _work_option(
        metavar="DIR",
        help="A folder of data sets, in place of SOLAH_DATA.",
        exists=True,
        file_okay=False,
    ),
]
Folds = Annotated[int, _measure_option(min=2, metavar="N", help="The folds of a cross-validation.")]
Seeds = Annotated[
    int, _measure_option(min=1, metavar="N", help="How often the rows are shuffled into folds.")
]
Runs = Annotated[
    int, _measure_option(min=1, metavar="N", help="Splits in halves, for the comparison.")
]
OptLah = Annotated[
    bool,
    _measure_option(
        "--optlah/--no-optlah",
        help="Whether the genetic search is in the comparison; it takes most of the time.",
    ),
]
Processes = Annotated[
    int | None,
    _work_option(min=1, metavar="N", help="How many processes; by default one a processor."),
]
ResultsFolder = Annotated[
    Path,
    output_option(
        "-o",
        "--output",
        metavar="DIR",
        help="Where finished cells are kept, and the results written.",
        file_okay=False,
    ),
]


def reproduce(
    screen: Screen,
    tables: Tables = None,
    data: DataFolder = None,
    folds: Folds = 10,
    seeds: Seeds = 1,
    runs: Runs = 10,
    optlah: OptLah = True,
    jobs: Processes = None,
    output: ResultsFolder = Path("results"),
) -> None:
    """Compute the paper's tables anew, beside the paper's figures.

    Cells that are done are kept in the results folder: the same command goes on where it was
    stopped.

    Example: solah reproduce sms14 ldt --data my-data --no-optlah -o results
    """
    from solah.reproduction import Wish
    from solah.reproduction.material import data_from
    from solah.reproduction.running import Reproduction, write_summary

    wish = Wish(folds, seeds, runs) if optlah else Wish(folds, seeds, runs, optlah=())
    with data_from(data):
        with screen.working("looking for the data"):
            work = Reproduction.plan(tables or (), wish, output)
        _announce(screen, work)
        summary = _run(screen, work, jobs)
    files = write_summary(summary, output)
    if screen.json:
        screen.document(summary)
    _show(screen, summary)
    screen.say("", *(f"written: {file}" for file in files))


def _announce(screen: Screen, work: "Reproduction") -> None:
    from solah.reproduction.running import how_to_get

    if work.missing:
        screen.note(f"not at hand, so left out: {how_to_get(work.missing)}")
    if work.searches_to_do():
        screen.note(
            "the genetic search of the comparison takes about half an hour on 2 processors; "
            "--no-optlah leaves it out"
        )


def _run(screen: Screen, work: "Reproduction", jobs: int | None) -> dict[str, Any]:
    """Compute with a progress bar; what is done when the user interrupts is kept."""
    try:
        with screen.progress(len(work.cells), "cells") as advance:
            return work.run(-1 if jobs is None else jobs, advance)
    except KeyboardInterrupt:
        screen.note(
            f"finished cells are kept in {work.folder}; the same command goes on from there"
        )
        raise


def _show(screen: Screen, summary: dict[str, Any]) -> None:
    from solah.cli.views import heading

    for table in summary["tables"]:
        screen.say(heading(table["title"]))
        screen.result(_laid_out(table))
        screen.say(*table["notes"], "")
    screen.say(heading("What agrees with the paper, and what does not"))
    screen.say(*(f"{finding['title']}: {finding['text']}" for finding in summary["findings"]), "")
    if summary["bars"]:
        screen.say(heading("What was aimed for"))
    for bar in summary["bars"]:
        verdict = "held" if bar["holds"] else "missed"
        screen.say(f"{bar['what']}: {bar['measured']}, aim {bar['aim']}: {verdict}")


def _laid_out(table: dict[str, Any]) -> "Table":
    """Lay a table out for the terminal; text to the left, figures to the right."""
    from rich.table import Table
    from rich.text import Text

    from solah.reproduction import spell_table

    titles, rows = spell_table(table)
    grid = Table.grid(padding=(0, 2))
    for column in table["columns"]:
        grid.add_column(justify="left" if column["kind"] == "text" else "right")
    grid.add_row(*(Text(title, "dim") for title in titles))
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid
