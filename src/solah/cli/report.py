"""``solah report``: write a page about a model, with rows if there are any."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.options import By, ModelFile, OutputFile, ReadingOptions
from solah.cli.overwriting import READ
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.data import Column, Table
    from solah.model import Model

_PAGE_SUFFIXES = (".html", ".htm")
_MARKDOWN_SUFFIX = ".md"
_column_option = options_in("Columns")

Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows to measure and show it with: a file (CSV, TSV, Parquet, ARFF; text also as "
        ".gz), or a name that 'solah datasets' lists.",
        show_default=False,
    ),
    READ,
]
Truth = Annotated[
    str | None,
    _column_option(
        "-t",
        "--target",
        metavar="COL",
        help="The column of DATA with the truth, if it is not called as the model's goal.",
    ),
]


def report(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    by: By = None,
    output: OutputFile = Path("report.html"),
) -> None:
    """Write a page about a model: how it is built, how well it decides, and a live what-if.

    The page is one HTML file that loads nothing from anywhere. Rows of DATA with the goal's column
    add scores; rows without it add what is known of readings. An output that ends in .md
    is written as Markdown, which tells of the model alone. With --json the summary is printed too.

    Example: solah report model.json patients.csv --by sex -o report.html
    """
    from solah.atomic import write_whole
    from solah.model import load_document

    suffix = _suffix(output)
    document = load_document(model)
    with screen.working("writing"):
        if suffix == _MARKDOWN_SUFFIX:
            summary, text = _markdown(document, data, screen)
        else:
            summary, text = _page(document, data, target, by, reading, screen)
        write_whole(output, text)
    if screen.json:
        screen.document(summary)
    screen.say(f"written to {output}")


def _suffix(output: Path) -> str:
    suffix = output.suffix.lower()
    if suffix not in (*_PAGE_SUFFIXES, _MARKDOWN_SUFFIX):
        raise typer.BadParameter(
            f"a report is written as .html or .md. Got {output.name!r} instead."
        )
    return suffix


def _markdown(model: "Model", data: str | None, screen: Screen) -> tuple[dict[str, Any], str]:
    from solah.report import render_markdown, summarise

    if data is not None:
        screen.note("a report in Markdown tells of the model alone; DATA is for .html")
    summary = summarise(model)
    return summary, render_markdown(summary)


def _page(
    model: "Model",
    data: str | None,
    target: str | None,
    by: list[str] | None,
    reading: ReadingOptions,
    screen: Screen,
) -> tuple[dict[str, Any], str]:
    from solah.cli.sources import read_source
    from solah.report import render_page, summarise_page

    if data is None:
        if by:
            raise typer.BadParameter("--by measures the decisions on rows; give DATA")
        summary = summarise_page(model)
    else:
        source = read_source(data, reading.read_options())
        truth = known_truth(model, source.table, target, screen)
        columns = columns_by(model, source.table, by)
        summary = summarise_page(model, source.table, truth, source=source.name, by=columns)
    return summary, render_page(summary)


def columns_by(model: "Model", table: "Table", by: list[str] | None) -> list[str]:
    """Return the columns to measure groups of: by default those kept out of decisions."""
    from solah.cli.problems import split_names

    if by is not None:
        return split_names(by, table.names)
    left_out = model.provenance.left_out if model.provenance else ()
    return [name for name in left_out if name in table.names]


def known_truth(
    model: "Model", table: "Table", target: str | None, screen: Screen
) -> "Column | None":
    """Find the column with the truth; say so if it is not there and was not asked for."""
    from solah.cli.problems import true_classes
    from solah.model import Task

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
