"""``solah predict``: predict every row; the rows are streamed."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import option
from solah.cli.options import Data, Jobs, ModelFile, OutputFileOrStdout, ReadingOptions
from solah.cli.screen import STDOUT, Screen, opened, plural, row_progress
from solah.cli.signals import WHERE, rows_of_recordings

if TYPE_CHECKING:
    from typing import IO

    from solah.data import Table
    from solah.model.predictor import Predictor

_REASONS = "abstain_reasons"
_TAKEN = ("prediction", "completeness", "stable", _REASONS)

Keep = Annotated[
    list[str] | None, option("Column of DATA to copy to the output. Repeatable.", metavar="COL")
]
Completeness = Annotated[
    bool, option("--completeness", "Add the share of importance whose features have a value.")
]


@dataclass
class Predictions:
    """The columns that are written for some rows: copies of DATA, probabilities, and the rest."""

    kept: dict[str, list[Any]]
    predicted: dict[str, list[Any]]
    probabilities: dict[str, list[float]] = field(default_factory=dict)
    completeness: list[float] | None = None


def predict(
    model: ModelFile,
    data: Data,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFileOrStdout = STDOUT,
    keep: Keep = None,
    completeness: Completeness = False,
    jobs: Jobs = None,
) -> None:
    """Predict every row of a table, and write predictions and probabilities as CSV.

    The columns are 'prediction' and, for classes, the probabilities 'P(yes)', 'P(no)'. Rows are
    streamed, so the file may be larger than memory. With --json each line is a row. For recordings,
    a row is a window. With a policy, 'prediction' is empty where the model abstains, 'stable' is
    the stable decision after the row, and 'abstain_reasons' has the reasons.

    Example: solah predict model.json new.csv --keep id -o predictions.csv
    """
    from solah.cli.problem import iter_source
    from solah.kernels.choose import available_threads
    from solah.model.predictor import load_model

    predictor = load_model(model)
    predictor.n_threads = jobs or available_threads()
    windows = rows_of_recordings(predictor.model_, data, reading)
    tables = iter_source(data, reading) if windows is None else iter([windows])
    kept = [*(WHERE if windows is not None else ()), *(keep or [])]
    recordings = None if windows is None else WHERE[0]
    n_rows = 0
    with opened(output) as file, row_progress(screen, output) as advance:
        write = (_json_writer if screen.json else csv_writer)(file)
        for found in _predicted(predictor, tables, kept, screen.note, completeness, recordings):
            write(found)
            n = len(found.predicted["prediction"])
            advance(n)
            n_rows += n
    if output != STDOUT:
        screen.say(f"{plural(n_rows, 'row')} written to {output}")


def _predicted(
    predictor: "Predictor",
    tables: "Iterator[Table]",
    keep: Iterable[str],
    note: Callable[[str], None],
    with_completeness: bool,
    recordings: str | None,
) -> Iterator[Predictions]:
    """Yield the predictions of each table.

    Parameters
    ----------
    predictor : the model
    tables : the rows, piece by piece
    keep : the columns to copy; names may be joined by commas
    note : called with what the user should know
    with_completeness : whether to add the completeness of each row
    recordings : the column of the recording of a row; None if all are one
    """
    from solah.cli.problem import split_names
    from solah.data import to_text
    from solah.model import Task
    from solah.model.decide import PolicyDecider
    from solah.model.policy import name_reasons

    model, target = predictor.model_, predictor.model_.target
    has_policy = model.policy is not None or (model.domain is not None and target.classes)
    decider = PolicyDecider(model, predictor.n_threads) if has_policy else None
    names: dict[str, str] | None = None
    for table in tables:
        if names is None:
            names = _output_names(split_names(keep, table.names), target.classes, note)
        kept = {out: to_text(table.column(name)).values.tolist() for name, out in names.items()}
        found = Predictions(kept, {})
        if target.task is Task.REGRESSION:
            found.predicted["prediction"] = predictor.predict(table).tolist()
        else:
            if decider is None:
                shares = predictor.outputs(table)
                places = target.decide(shares).tolist()
                found.predicted["prediction"] = [target.classes[place] for place in places]
            else:
                groups = recordings and table.column(recordings).values.tolist()
                decided = decider.take(table, groups)
                shares = decided.probabilities
                found.predicted["prediction"] = decided.decisions
                if model.policy is not None:
                    found.predicted["stable"] = decided.stable
                reasons = decided.abstain_reasons.tolist()
                found.predicted[_REASONS] = [*map(name_reasons, reasons)]
            columns = zip(map(str, target.classes), shares.T.tolist(), strict=True)
            found.probabilities = dict(columns)
        if with_completeness:
            found.completeness = predictor.completeness(table).tolist()
        yield found


def _output_names(
    keep: Iterable[str], states: Iterable[Any], note: Callable[[str], None]
) -> dict[str, str]:
    """Return what the kept columns are called in the output, where some names are taken."""
    taken = {*_TAKEN, *(f"P({state})" for state in states)}
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(keep):
        output = name
        while output in taken:
            output += " (data)"
        if output != name:
            note(f"the kept column {name!r} is called {output!r} in the output")
        taken.add(output)
        chosen[name] = output
    return chosen


def csv_writer(file: "IO[str]") -> Callable[[Predictions], None]:
    """Write predictions as CSV: kept columns, the prediction, and a probability per class.

    Texts that a spreadsheet would take for formulas get an apostrophe before them.
    """
    from solah.data.spreadsheets import guarded, table_writer

    rows = table_writer(file)
    is_first = True

    def write(found: Predictions) -> None:
        nonlocal is_first
        texts = found.kept | found.predicted
        if _REASONS in texts:
            texts[_REASONS] = [", ".join(one) for one in texts[_REASONS]]
        columns = {guarded(name): [*map(guarded, cells)] for name, cells in texts.items()}
        columns |= {f"P({name})": cells for name, cells in found.probabilities.items()}
        if found.completeness is not None:
            columns["completeness"] = found.completeness
        if is_first:
            rows.writerow(columns)
            is_first = False
        rows.writerows(zip(*columns.values(), strict=True))

    return write


def _json_writer(file: "IO[str]") -> Callable[[Predictions], None]:
    """Write predictions as JSON lines, one a row."""

    def write(found: Predictions) -> None:
        made = dict(found.predicted)
        if found.completeness is not None:
            made["completeness"] = found.completeness
        for place in range(len(made["prediction"])):
            line = {name: cells[place] for name, cells in made.items()}
            for name, columns in (("probabilities", found.probabilities), ("kept", found.kept)):
                if columns:
                    line[name] = {one: cells[place] for one, cells in columns.items()}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
