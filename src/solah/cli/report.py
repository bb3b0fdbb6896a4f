"""``solah report``: write a page or a model card about a model, with rows if there are any."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.command import WRITTEN, option
from solah.cli.options import By, ModelFile, Positive, ReadingOptions, Rows, Truth, writable
from solah.cli.screen import Screen, plural

if TYPE_CHECKING:
    from solah.model import Model

_PAGE_SUFFIXES = (".html", ".htm")
_MARKDOWN_SUFFIX = ".md"

Card = Annotated[bool, option("--card", "Write a model card (Markdown) instead.")]
WithRows = Annotated[
    bool,
    option(
        "--rows/--no-rows",
        "Whether the page holds rows of DATA: 50 to look at, 5,000 to measure edits. Default: yes.",
    ),
]
Output = Annotated[
    Path | None,
    option(
        "-o --output",
        "File to write: .html, or .md for Markdown. Default: report.html, or card.md.",
        metavar="FILE",
        callback=lambda path: None if path is None else writable(path),
    ),
    WRITTEN,
]


def report(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    card: Card = False,
    target: Truth = None,
    by: By = None,
    positive: Positive = None,
    with_rows: WithRows = True,
    output: Output = None,
) -> None:
    """Write one HTML page about a model: structure, performance, and a live what-if.

    Rows of DATA with the target add metrics; with --by, error rates of groups too. The page needs
    no network, and its rules can be edited. --card writes the model card: training data,
    performance, limits and size on a device. With --json the summary is printed too.

    Example: solah report model.json patients.csv --by sex -o report.html
    """
    from solah.atomic import write_whole
    from solah.model import load_document

    output = output or Path("card.md" if card else "report.html")
    suffix = output.suffix.lower()
    if not card and suffix not in (*_PAGE_SUFFIXES, _MARKDOWN_SUFFIX):
        raise typer.BadParameter(f"a report is .html or .md; got {output.name!r}")
    if data is None and (by or positive):
        raise typer.BadParameter("--by measures predictions of rows; pass DATA")
    document = load_document(model)
    with screen.working("writing"):
        summary, text = _written(
            document,
            screen,
            reading,
            data,
            "card" if card else suffix,
            target=target,
            by=by,
            positive=positive,
            with_rows=with_rows,
        )
        write_whole(output, text)
    if screen.json:
        screen.document(summary)
    n_rows = len((summary.get("sample") or {}).get("rows", summary.get("rows") or []))
    held = f", with {plural(n_rows, 'row')}" if n_rows and not card else ""
    screen.say(f"Written to {output} ({len(text.encode()) / 1000:,.0f} kB{held})")


def _written(
    model: "Model",
    screen: Screen,
    reading: ReadingOptions,
    data: str | None,
    kind: str,
    *,
    target: str | None,
    by: list[str] | None,
    positive: str | None,
    with_rows: bool,
) -> tuple[dict[str, Any], str]:
    """Return the summary and the text of a card, a page or a Markdown report."""
    from solah.cli.problem import columns_by, known_truth, read_source
    from solah.report import (
        render_card,
        render_markdown,
        render_page,
        summarise,
        summarise_card,
        summarise_page,
    )

    if kind == _MARKDOWN_SUFFIX:
        if data is not None:
            screen.note("a report in Markdown describes the model alone; DATA is for .html")
        summary = summarise(model)
        return summary, render_markdown(summary)
    given: tuple[Any, ...] = ()
    more: dict[str, Any] = {}
    if data is not None:
        source = read_source(data, reading, model)
        truth = known_truth(model, source.table, target, screen)
        columns = columns_by(model, source.table, by, positive)
        given = (source.table, truth)
        more = {"source": source.name, "by": columns, "positive": positive}
    if kind == "card":
        summary = summarise_card(model, *given, **more)
        return summary, render_card(summary)
    if data is not None:
        more["with_rows"] = with_rows
    summary = summarise_page(model, *given, **more)
    return summary, render_page(summary)
