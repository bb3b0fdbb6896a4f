"""``solah explain``: why a model decides on rows as it does."""

import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from solah.cli.formats import choose_format
from solah.cli.options import STDOUT, ModelFile, OutputFileOrStdout, ReadingOptions
from solah.cli.overwriting import READ
from solah.cli.screen import Screen, output_option
from solah.cli.streaming import printed_to, row_progress
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import Table
    from solah.explain import Explainer, Explanation
    from solah.model import Model
    from solah.progress import Advance

_row_option = options_in("Which rows")
_change_option = options_in("What would change it")
_FORMAT_OF_SUFFIX = {".txt": "text", ".html": "html", ".json": "json", ".jsonl": "json"}
_MOST_ON_A_PAGE = 1_000

OptionalData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="A file or a data set by name; without --row all its rows are explained.",
        show_default=False,
    ),
    READ,
]
RowWords = Annotated[
    list[str] | None,
    _row_option(
        "--row",
        metavar="ROW",
        help="A row number of DATA (3, or 3-5), 'name=value, name=value', a JSON object, or the "
        "values of all attributes; '-' reads JSON lines from stdin. Repeat it for more.",
    ),
]
Top = Annotated[
    int,
    output_option(min=1, metavar="N", help="How many attributes, trees and changes to show."),
]
Everything = Annotated[bool, output_option("--all", help="Show all of them.")]
Format = Annotated[
    Literal["text", "html", "json"] | None,
    output_option(
        "--format", help="By default as the output file ends (.txt, .html, .json), else text."
    ),
]
WithChanges = Annotated[
    bool | None,
    _change_option(
        "--changes/--no-changes",
        help="Whether to look for what would change decisions; by default for rows of --row.",
    ),
]
Fixed = Annotated[
    list[str] | None,
    _change_option(
        "--fixed", metavar="COL", help="An attribute that cannot change. Repeat it, or use commas."
    ),
]
Ranges = Annotated[
    list[str] | None,
    _change_option(
        "--range",
        metavar="COL=LOW:HIGH",
        help="Where a reading may go; by default as far as the training rows went. Repeat it.",
    ),
]


def explain(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: OptionalData = None,
    row: RowWords = None,
    changes: WithChanges = None,
    fixed: Fixed = None,
    allowed: Ranges = None,
    top: Top = 8,
    everything: Everything = False,
    form: Format = None,
    output: OutputFileOrStdout = STDOUT,
) -> None:
    """Say why a model decides on rows as it does, and what would change it.

    What each reading added sums up from knowing nothing to the belief in the decision. Attributes
    that a row does not name are unknown. With --json a line is a row.

    Example: solah explain model.json --row 'alcohol=13.2, hue=1.04'
    """
    from solah.cli.problems import split_names
    from solah.cli.wording import plural
    from solah.explain import Explainer
    from solah.model import Task, load_document

    written_as = choose_format(form, output, _FORMAT_OF_SUFFIX, as_json=screen.json)
    document = load_document(model)
    columns, tables = _peek(_tables(document, data, row, reading, screen))
    is_choice = document.goal.task is Task.CLASSIFICATION
    explainer = Explainer(
        document,
        changes=is_choice and (bool(row) if changes is None else changes),
        ranges=_read_ranges(allowed or []),
        fixed=split_names(fixed, [*columns, *(one.name for one in document.attributes)]),
        columns=columns,
    )
    shown = None if everything else top
    with row_progress(screen, output) as advance, printed_to(output):
        explanations = _explained(explainer, tables, advance)
        n_rows = _write(screen, explanations, written_as, shown, document.goal.name)
    if output != STDOUT:
        screen.say(f"{plural(n_rows, 'row')} explained in {output}")


def _tables(
    model: "Model",
    data: str | None,
    words: list[str] | None,
    reading: ReadingOptions,
    screen: Screen,
) -> "Iterator[Table]":
    """Find the rows to explain."""
    from solah.cli.rows import pick_rows, read_rows, row_numbers
    from solah.cli.sources import iter_source
    from solah.exceptions import DataError

    if data is None and not words:
        raise DataError("there is nothing to explain: give DATA, or rows with --row")
    if data is None:
        return iter([read_rows(words or [], model.attributes, screen.note)])
    tables = iter_source(data, reading.read_options(), model)
    if not words:
        return tables
    numbers = row_numbers(words)
    if numbers is None:
        raise DataError(
            f"--row {next(word for word in words if row_numbers([word]) is None)}: beside DATA a "
            "row is a number, such as 3 or 3-5; leave DATA out to write the row itself"
        )
    return iter([pick_rows(tables, numbers)])


def _peek(tables: "Iterator[Table]") -> "tuple[tuple[str, ...], Iterator[Table]]":
    """Return the names of the columns, and the same tables."""
    first = next(tables, None)
    return (first.names, chain([first], tables)) if first else ((), iter(()))


def _explained(
    explainer: "Explainer", tables: "Iterator[Table]", advance: "Advance"
) -> "Iterator[Explanation]":
    for table in tables:
        for explanation in explainer.of_table(table):
            yield explanation
            advance(1)


def _write(
    screen: Screen,
    explanations: "Iterator[Explanation]",
    written_as: str,
    top: int | None,
    goal: str,
) -> int:
    """Write explanations; return how many there were."""
    from solah.cli.views import explanation_lines

    if written_as == "html":
        return _write_page(explanations, top, goal)
    n_rows = 0
    for n_rows, explanation in enumerate(explanations, start=1):
        if written_as == "json":
            sys.stdout.write(f"{explanation.to_json(top)}\n")
        else:
            screen.result(*[""][: n_rows - 1], *explanation_lines(explanation, top))
    return n_rows


def _write_page(explanations: "Iterator[Explanation]", top: int | None, goal: str) -> int:
    from solah.exceptions import DataError
    from solah.explain.html import as_page

    shown = list(islice(explanations, _MOST_ON_A_PAGE + 1))
    if len(shown) > _MOST_ON_A_PAGE:
        raise DataError(
            f"a page takes {_MOST_ON_A_PAGE:,} rows at the most; choose some with --row, or write "
            "all as --format json"
        )
    sys.stdout.write(as_page(shown, f"Why {goal} was decided so", top))
    return len(shown)


def _read_ranges(words: list[str]) -> dict[str, tuple[float, float]]:
    from solah.data.spelling import is_number
    from solah.exceptions import ParameterError

    ranges = {}
    for word in words:
        name, sign, ends = word.rpartition("=")
        low, colon, high = ends.partition(":")
        if not (sign and colon and is_number(low) and is_number(high)):
            raise ParameterError(f"--range {word} must be a name, = and two numbers: age=18:65")
        ranges[name] = (float(low), float(high))
    return ranges
