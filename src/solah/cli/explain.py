"""``solah explain``: explain predictions and what would flip them."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from solah.cli.command import READ, argument, option
from solah.cli.options import ModelFile, OutputFileOrStdout, ReadingOptions
from solah.cli.screen import STDOUT, Screen, choose_format, plural, printed_to, row_progress

if TYPE_CHECKING:
    from solah.data import Table
    from solah.explain import Explanation
    from solah.model import Feature, Model

    Row = dict[str, Any]

_FORMAT_OF_SUFFIX = {".txt": "text", ".html": "html", ".json": "json", ".jsonl": "json"}
_MOST_ON_A_PAGE = 1_000
_MOST_ROWS = 100_000

OptionalData = Annotated[
    str | None,
    argument("DATA", "A file or a data set by name; without --row all its rows are explained."),
    READ,
]
RowWords = Annotated[
    list[str] | None,
    option(
        "Row number of DATA (3, or 3-5), 'name=value, name=value', a JSON object, or '-' for JSON "
        "lines on stdin. Repeatable.",
        metavar="ROW",
    ),
]
WithChanges = Annotated[
    bool | None,
    option(
        "--changes/--no-changes",
        "Search for changes that flip the prediction. Default: for rows of --row.",
    ),
]
Fixed = Annotated[
    list[str] | None, option("Feature that cannot change. Repeatable, or commas.", metavar="COL")
]
Ranges = Annotated[
    list[str] | None,
    option(
        "--range",
        "Allowed range of a feature. Default: the training range. Repeatable.",
        metavar="COL=LOW:HIGH",
    ),
]
Top = Annotated[int, option("Number of features and changes to show.", min=1, metavar="N")]
Everything = Annotated[bool, option("--all", "Show all features and changes.")]
Format = Annotated[
    Literal["text", "html", "json"] | None,
    option("--format", "Output format. Default: by the file's suffix, else text."),
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
    """Explain predictions and what would flip them.

    Contributions start from the overall share and add up to the predicted probability. Features
    that a row does not name are missing. With --json each line is a row.

    Example: solah explain model.json --row 'alcohol=13.2, hue=1.04'
    """
    from solah.cli.problem import split_names
    from solah.cli.views import explanation_lines
    from solah.explain import Explainer
    from solah.model import Task, load_document

    written_as = choose_format(form, output, _FORMAT_OF_SUFFIX, as_json=screen.json)
    document = load_document(model)
    tables = _tables(document, data, row, reading, screen)
    first = next(tables, None)
    columns = first.names if first else ()
    is_choice = document.target.task is Task.CLASSIFICATION
    explainer = Explainer(
        document,
        changes=is_choice and (bool(row) if changes is None else changes),
        ranges=_read_ranges(allowed or []),
        fixed=split_names(fixed, [*columns, *(one.name for one in document.features)]),
        columns=columns,
    )
    shown, n_rows = None if everything else top, 0
    with row_progress(screen, output) as advance, printed_to(output):
        explanations = (
            explanation
            for table in chain([first] if first else [], tables)
            for explanation in explainer.of_table(table)
        )
        if written_as == "html":
            n_rows = _write_page(explanations, shown, document.target.name)
        else:
            for n_rows, explanation in enumerate(explanations, start=1):
                if written_as == "json":
                    sys.stdout.write(f"{explanation.to_json(shown)}\n")
                else:
                    screen.result(*[""][: n_rows - 1], *explanation_lines(explanation, shown))
                advance(1)
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
    from solah.cli.problem import iter_source
    from solah.exceptions import DataError

    if data is None and not words:
        raise DataError("nothing to explain; pass DATA, or rows with --row")
    if data is None:
        return iter([read_rows(words or [], model.features, screen.note)])
    tables = iter_source(data, reading, model)
    if not words:
        return tables
    numbers: list[int] = []
    for word in words:
        found = _row_numbers(word)
        if found is None:
            raise DataError(
                f"--row {word}: with DATA, a row is a number, such as 3 or 3-5; drop DATA to "
                "write the row itself"
            )
        numbers += found
    return iter([_pick_rows(tables, numbers)])


def _write_page(explanations: "Iterator[Explanation]", top: int | None, target: str) -> int:
    from solah.exceptions import DataError
    from solah.explain.html import as_page

    shown = list(islice(explanations, _MOST_ON_A_PAGE + 1))
    if len(shown) > _MOST_ON_A_PAGE:
        raise DataError(
            f"a page takes at most {_MOST_ON_A_PAGE:,} rows; choose some with --row, or write all "
            "as --format json"
        )
    sys.stdout.write(as_page(shown, f"Why {target} was predicted so", top))
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


def _row_numbers(word: str) -> list[int] | None:
    """Read ``3`` or ``10-12``; None if it is not a row number."""
    from solah.exceptions import DataError

    first, _, last = word.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not last)) or word.endswith("-"):
        return None
    start, stop = int(first), int(last or first)
    if start < 1 or stop < start:
        raise DataError(f"--row {word}: row numbers start at 1 and must ascend, such as 3-5")
    if stop - start >= _MOST_ROWS:
        raise DataError(f"--row {word}: at most {_MOST_ROWS:,} rows; drop --row to explain all")
    return [*range(start, stop + 1)]


def _pick_rows(tables: "Iterable[Table]", numbers: Sequence[int]) -> "Table":
    """Take rows by their numbers, which begin with 1, from a stream of tables."""
    from solah.data import join_tables
    from solah.exceptions import DataError

    found: dict[int, Table] = {}
    n_rows = 0
    for table in tables:
        for number in numbers:
            if n_rows < number <= n_rows + table.n_rows:
                found[number] = table.rows(number - n_rows - 1, number - n_rows)
        n_rows += table.n_rows
        if len(found) == len(set(numbers)):
            break
    for number in numbers:
        if number not in found:
            raise DataError(f"there is no row {number}; the data have {n_rows:,} rows")
    return join_tables([found[number] for number in numbers])


def read_rows(
    words: Iterable[str], features: "Sequence[Feature]", note: Callable[[str], None]
) -> "Table":
    """Read rows as the user wrote them; ``-`` means JSON lines on stdin.

    A row is ``name=value`` pairs, or a JSON object; JSON may be a list of rows.
    """
    from solah.exceptions import DataError, did_you_mean, shorten
    from solah.model.encode import rows_table

    names = [feature.name for feature in features]
    rows: list[Row] = []
    for word in words:
        if word == "-":
            lines = [line for line in sys.stdin if line.strip()]
            rows += [row for line in lines for row in _read_json(line, names)]
        elif word.lstrip().startswith(("{", "[")):
            rows += _read_json(word, names)
        else:
            rows.append(_read_fields(word, names))
    if not rows:
        raise DataError("no row to explain: stdin was empty")
    table = rows_table(rows, features)
    if unknown := sorted({name for row in rows for name in row} - {*names, *table.names}):
        if not any(name in names for row in rows for name in row):
            hint = did_you_mean(unknown[0], names)
            raise DataError(f"{shorten(unknown[0])} is not a feature of the model{hint}")
        note(f"not features of the model, ignored: {', '.join(unknown)}")
    return table


def _read_json(text: str, names: Sequence[str]) -> "Iterator[Row]":
    from solah.exceptions import DataError, shorten
    from solah.model.encode import check_row_names

    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"invalid JSON: {shorten(text)} ({error})") from None
    for row in content if isinstance(content, list) else [content]:
        if not isinstance(row, dict):
            raise DataError(f"a row must be a JSON object with values by name; got {shorten(row)}")
        yield check_row_names(row, names)


def _read_fields(text: str, names: Sequence[str]) -> "Row":
    """Read pairs or values behind commas; a value with a comma is quoted."""
    from solah.exceptions import DataError, shorten
    from solah.model.encode import check_row_names
    from solah.model.structure import first_repeated

    try:
        fields = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(f"invalid row: {shorten(text)} ({error})") from None
    pairs = [field.partition("=") for field in fields]
    for name, sign, _ in pairs:
        if not sign:
            raise DataError(f"{shorten(name)} is not a name=value pair, such as hue=1.04")
    if twice := first_repeated([name.strip() for name, _, _ in pairs]):
        raise DataError(f"duplicate {shorten(twice)} in one row")
    return check_row_names({name.strip(): value.strip() for name, _, value in pairs}, names)
