"""``solah predict``: decide on every row; the rows are streamed."""

from typing import TYPE_CHECKING, Annotated

from solah.cli.options import STDOUT, Data, Jobs, ModelFile, OutputFileOrStdout, ReadingOptions
from solah.cli.screen import Screen, output_option
from solah.cli.signals import WHERE, SampleOptions, rows_of_recordings
from solah.cli.streaming import opened, row_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.cli.decisions import Decider, Writer
    from solah.data import Table
    from solah.progress import Advance

Keep = Annotated[
    list[str] | None,
    output_option(
        metavar="COL",
        help="Copy this column of the data, such as an id. Repeat it, or use commas.",
    ),
]

Evidence = Annotated[
    bool,
    output_option(
        "--evidence",
        help="Add the share of the model's knowledge that the row's known values can reach.",
    ),
]


def predict(
    model: ModelFile,
    data: Data,
    samples: SampleOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFileOrStdout = STDOUT,
    keep: Keep = None,
    evidence: Evidence = False,
    jobs: Jobs = None,
) -> None:
    """Decide on every row of a table, and write the decisions as CSV.

    The columns are 'prediction' and, for classes, a probability each: 'P(yes)', 'P(no)'. Rows
    are streamed, so the file may be larger than the memory. With --json a line is a row.
    With --evidence the column 'evidence' tells how much missing values matter: 1 if none does.
    Of recordings, a row is a window, and 'recording', 'start' and 'end' tell which.
    With a policy, rows are taken in the order of time: a 'prediction' that is not known is empty,
    'settled' is what stands after the row, and 'doubts' says why.

    Example: solah predict model.json new.csv --keep id -o decisions.csv
    """
    from solah.cli.decisions import Decider, csv_writer, json_writer
    from solah.cli.sources import iter_source
    from solah.cli.wording import plural
    from solah.kernels.choose import available_threads
    from solah.model.predictor import load_model

    predictor = load_model(model)
    predictor.n_threads = jobs or available_threads()
    options = reading.read_options()
    windows = rows_of_recordings(predictor.model_, data, options, samples)
    tables = iter_source(data, options) if windows is None else iter([windows])
    keep = [*(WHERE if windows is not None else ()), *(keep or [])]
    recordings = None if windows is None else WHERE[0]
    decider = Decider(predictor, keep, screen.note, with_evidence=evidence, recordings=recordings)
    with opened(output) as file, row_progress(screen, output) as advance:
        writer = (json_writer if screen.json else csv_writer)(file)
        n_rows = _stream(tables, decider, writer, advance)
    if output != STDOUT:
        screen.say(f"{plural(n_rows, 'row')} written to {output}")


def _stream(
    tables: "Iterator[Table]", decider: "Decider", writer: "Writer", advance: "Advance"
) -> int:
    """Decide piece by piece; return the number of rows."""
    n_rows = 0
    for table in tables:
        writer(decider.decide(table))
        advance(table.n_rows)
        n_rows += table.n_rows
    return n_rows
