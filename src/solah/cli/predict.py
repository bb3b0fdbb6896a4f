"""``solah predict``: predict every row; the rows are streamed."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import option
from solah.cli.options import Data, Jobs, ModelFile, OutputFileOrStdout, ReadingOptions
from solah.cli.screen import STDOUT, Screen, opened, plural, row_progress
from solah.cli.signals import WHERE, rows_of_recordings

if TYPE_CHECKING:
    from typing import IO

    from solah.data import Table
    from solah.model.predictor import Predictor

_LISTED = "abstain_reasons"
_TAKEN = ("prediction", "completeness", "settled", _LISTED)

Keep = Annotated[
    list[str] | None, option("Column of DATA to copy to the output. Repeatable.", metavar="COL")
]
Completeness = Annotated[
    bool, option("--completeness", "Add the share of importance whose features have a value.")
]

# The columns of some rows, by name, and the names of those with probabilities.
_Predictions = tuple[dict[str, list[Any]], dict[str, list[float]], dict[str, list[Any]]]


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
    """Predict every row of a table as CSV: 'prediction', and for classes 'P(yes)', 'P(no)'.

    Rows are streamed, so the file may be larger than memory. With --json a line is a row. Of
    recordings, a row is a window. With a policy, 'prediction' is empty where the model abstains,
    'settled' is the stable decision after the row, and 'abstain_reasons' has the reasons.

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
        for table, predictions in _predicted(
            predictor, tables, kept, screen.note, completeness, recordings
        ):
            write(*predictions)
            advance(table.n_rows)
            n_rows += table.n_rows
    if output != STDOUT:
        screen.say(f"{plural(n_rows, 'row')} written to {output}")


def _predicted(
    predictor: "Predictor",
    tables: "Iterator[Table]",
    keep: Iterable[str],
    note: Callable[[str], None],
    with_completeness: bool,
    recordings: str | None,
) -> "Iterator[tuple[Table, _Predictions]]":
    """Yield each table with the columns that are written for it.

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
    from solah.explain.novelty import name_doubts
    from solah.model import Task
    from solah.model.decide import PolicyDecider

    model, target = predictor.model_, predictor.model_.target
    is_judged = model.policy is not None or (model.domain is not None and target.classes)
    judge = PolicyDecider(model, predictor.n_threads) if is_judged else None
    names: dict[str, str] | None = None
    for table in tables:
        if names is None:
            names = _output_names(split_names(keep, table.names), target.classes, note)
        kept = {out: to_text(table.column(name)).values.tolist() for name, out in names.items()}
        beliefs: dict[str, list[float]] = {}
        more: dict[str, list[Any]] = {}
        if target.task is Task.REGRESSION:
            chosen = predictor.predict(table).tolist()
        elif judge is None:
            found = predictor.beliefs(table)
            chosen = [target.classes[place] for place in target.decide(found).tolist()]
            beliefs = dict(zip(map(str, target.classes), found.T.tolist(), strict=True))
        else:
            groups = recordings and table.column(recordings).values.tolist()
            judged = judge.take(table, groups)
            chosen = judged.decisions
            beliefs = dict(zip(map(str, judged.states), judged.beliefs.T.tolist(), strict=True))
            if model.policy is not None:
                more["settled"] = judged.settled
            more[_LISTED] = [*map(name_doubts, judged.abstain_reasons.tolist())]
        if with_completeness:
            more["completeness"] = predictor.evidence(table).tolist()
        yield table, (kept, beliefs, {"prediction": chosen, **more})


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


_Writer = Callable[[dict[str, list[Any]], dict[str, list[float]], dict[str, list[Any]]], None]


def csv_writer(file: "IO[str]") -> _Writer:
    """Write predictions as CSV: kept columns, the prediction, and a probability per class.

    Texts that a spreadsheet would take for formulas get an apostrophe before them.
    """
    from solah.data.spreadsheets import guarded, table_writer

    rows = table_writer(file)
    is_first = True

    def write(kept: Any, beliefs: Any, made: Any) -> None:
        nonlocal is_first
        made = dict(made)
        numbers = {name: made.pop(name) for name in ("completeness",) if name in made}
        if _LISTED in made:
            made[_LISTED] = [", ".join(one) for one in made[_LISTED]]
        texts = {**kept, **made}
        columns = {guarded(name): [*map(guarded, cells)] for name, cells in texts.items()}
        columns |= {f"P({state})": cells for state, cells in beliefs.items()} | numbers
        if is_first:
            rows.writerow(columns)
            is_first = False
        rows.writerows(zip(*columns.values(), strict=True))

    return write


def _json_writer(file: "IO[str]") -> _Writer:
    """Write predictions as JSON lines, one a row."""

    def write(kept: Any, beliefs: Any, made: Any) -> None:
        for place in range(len(made["prediction"])):
            line = {name: cells[place] for name, cells in made.items()}
            if beliefs:
                line["probabilities"] = {name: cells[place] for name, cells in beliefs.items()}
            if kept:
                line["kept"] = {name: cells[place] for name, cells in kept.items()}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
