"""``solah report``: write a page about a model, with rows if there are any."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.options import By, ModelFile, OutputFile, Positive, ReadingOptions, Rows, Truth
from solah.cli.screen import Screen

if TYPE_CHECKING:
    from solah.model import Model

_PAGE_SUFFIXES = (".html", ".htm")
_MARKDOWN_SUFFIX = ".md"

WithRows = Annotated[
    bool,
    typer.Option(
        "--rows/--no-rows",
        help="Whether the page holds rows of DATA: 50 to look at and, if rules add up, up to 5,000 "
        "that show what an edit changes. Without, it holds only counts and scores.",
    ),
]


def report(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    by: By = None,
    positive: Positive = None,
    with_rows: WithRows = True,
    output: OutputFile = Path("report.html"),
) -> None:
    """Write a page about a model: how it is built, how well it decides, and a live what-if.

    The page is one HTML file that loads nothing from anywhere. Rows of DATA with the goal's column
    add scores; rows without it add what is known of readings. Where rules add up, they can be
    edited on the page, which shows what that changes on its rows. An output that ends in .md
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
            summary, text = _page(document, data, target, by, positive, reading, screen, with_rows)
        write_whole(output, text)
    if screen.json:
        screen.document(summary)
    screen.say(f"written to {output} ({_size(summary, text)})")


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
    positive: str | None,
    reading: ReadingOptions,
    screen: Screen,
    with_rows: bool,
) -> tuple[dict[str, Any], str]:
    from solah.cli.problems import columns_by, known_truth
    from solah.cli.sources import read_source
    from solah.report import render_page, summarise_page

    if data is None:
        if by or positive:
            raise typer.BadParameter("--by measures the decisions on rows; give DATA")
        summary = summarise_page(model)
    else:
        source = read_source(data, reading.read_options(), model)
        truth = known_truth(model, source.table, target, screen)
        columns = columns_by(model, source.table, by, positive)
        summary = summarise_page(
            model,
            source.table,
            truth,
            source=source.name,
            by=columns,
            positive=positive,
            with_rows=with_rows,
        )
    return summary, render_page(summary)


def _size(summary: dict[str, Any], text: str) -> str:
    """Tell how large a report is, and how many rows it holds."""
    from solah.cli.wording import plural

    n_rows = len((summary.get("sample") or {}).get("rows", summary.get("rows", [])))
    held = f", with {plural(n_rows, 'row')}" if n_rows else ""
    return f"{len(text.encode()) / 1000:,.0f} kB{held}"
