"""``solah follow``: train on a source of rows that does not end."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from solah.cli.command import WRITTEN, option
from solah.cli.options import ColumnOptions, Data, Jobs, OutputFile, ReadingOptions
from solah.cli.parameters import ModelOptions
from solah.cli.screen import Screen
from solah.cli.stopping import catch_ctrl_c, orderly_end

if TYPE_CHECKING:
    from rich.console import RenderableType

    from solah.stream import Event, Metrics, StreamLearner
    from solah.stream.tail import NewRows

_STDIN = "-"
_PIECE_ROWS = 1000
_LINE_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class FollowOptions:
    """How rows without end are followed; an option group."""

    panel: ClassVar[str] = "The stream"

    growing: Annotated[bool, option("--growing", "Wait for more lines at the end of the file.")] = (
        False
    )
    state: Annotated[
        Path | None,
        option(
            "State file, to resume from after a restart.",
            metavar="FILE",
            dir_okay=False,
        ),
        WRITTEN,
    ] = None
    save_every: Annotated[
        float, option("Seconds between two saves of the model.", metavar="SECONDS", min=0.0)
    ] = 10.0


def follow(
    data: Data,
    columns: ColumnOptions,
    options: ModelOptions,
    following: FollowOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    jobs: Jobs = None,
) -> None:
    """Train on a stream: predict, learn row by row, detect drift, refit.

    DATA may be '-' for CSV or JSON lines on stdin. The model file is written with each new model,
    every few seconds, and at the end. --set also takes parameters of the stream, such as
    window=5000, the rows to refit on.

    Example: solah follow live.csv --growing --target fault --state fault.state
    """
    from solah.cli.parameters import make_model, read_settings
    from solah.cli.problem import declared_types, require_target, split_names
    from solah.datasets import load
    from solah.exceptions import DatasetError, ParameterError
    from solah.model import Task
    from solah.stream.loop import StreamSettings
    from solah.stream.tail import feed

    catch_ctrl_c()
    target = columns.target
    if target is None:
        try:
            target = str(load(data).target_name)
        except DatasetError:
            target = require_target(None)
    declared, task = declared_types(columns, (), target)
    if task is Task.REGRESSION:
        raise ParameterError(f"a stream is for classes, and {target!r} is declared continuous")
    dropped = split_names(columns.gone, ())
    settings = read_settings(options.set)
    of_stream = {one.name for one in fields(StreamSettings)} & settings.keys()
    for_stream = {name: settings.pop(name) for name in of_stream}
    _, estimator = make_model(options, Task.CLASSIFICATION, declared, jobs=jobs, settings=settings)
    service = _Service(screen, output, following)
    learner = service.begin(estimator, for_stream)
    pieces = _pieces(data, learner.position, following, reading, screen.note)
    ending = threading.Event()
    with orderly_end(ending.set), service.running():
        for piece in pieces:
            if piece.table is not None:
                piece.table.select([target, *dropped, *declared])  # refuses names not there
                feed(learner, piece.table, target, drop=dropped, on_skipped=screen.note)
                learner.position = piece.position
            service.refresh()
            if ending.is_set():
                break


class _Service:
    """A learner at work: prints events, and saves."""

    def __init__(self, screen: Screen, output: Path, options: FollowOptions) -> None:
        self._screen, self._output, self._options = screen, output, options
        self._is_new = False
        self._saved_at = time.monotonic()

    def begin(self, estimator: Any, settings: Mapping[str, Any]) -> "StreamLearner":
        """Make a learner, or go on with one that was saved."""
        from solah.stream import StreamLearner

        state = self._options.state
        if state is not None and state.exists():
            self._learner = StreamLearner.resume(state, estimator, on_event=self._note)
            rows = self._learner.metrics.rows
            self._screen.note(f"going on behind row {rows:,}, with the settings saved in {state}")
        else:
            self._learner = StreamLearner(estimator, on_event=self._note, **settings)
        return self._learner

    @contextmanager
    def running(self) -> "Iterator[None]":
        """Save in the end, and show the figures."""
        yield
        self._save()
        metrics = self._learner.metrics
        self._screen.say("", _figures(metrics))
        if self._learner.model is None:
            needed = self._learner.settings.min_rows
            self._screen.note(
                f"no model was written: {metrics.labelled:,} labelled rows came, and the first "
                f"model needs {needed:,} of two classes or more (--set min_rows={needed})"
            )

    def refresh(self) -> None:
        """Save where that is due."""
        if self._is_new or time.monotonic() - self._saved_at >= self._options.save_every:
            self._save()

    def _note(self, event: "Event") -> None:
        from solah.stream import EventKind

        self._is_new = self._is_new or event.kind is EventKind.SWAPPED
        if self._screen.json:
            print(json.dumps({"event": event.as_dict()}, ensure_ascii=False), flush=True)
        else:
            self._screen.say(str(event))
            sys.stdout.flush()

    def _save(self) -> None:
        from solah.model import save_document

        model = self._learner.model
        if model is not None:
            save_document(model, self._output)
        if self._options.state is not None:
            self._learner.save(self._options.state)
        if self._screen.json:
            metrics = {"metrics": self._learner.metrics.as_dict()}
            print(json.dumps(metrics, ensure_ascii=False), flush=True)
        self._is_new, self._saved_at = False, time.monotonic()


def _pieces(
    data: str,
    position: int,
    following: FollowOptions,
    reading: ReadingOptions,
    note: Callable[[str], None],
) -> "Iterator[NewRows]":
    """Yield rows as they come: of stdin, of a text file that may grow, or of a table that ends."""
    from solah.exceptions import ParameterError
    from solah.stream.tail import first_lines_of, lines_of_file, lines_of_pipe, rows_of

    options = reading.read_options()
    if data == _STDIN:
        return rows_of(lines_of_pipe(sys.stdin.fileno()), "stdin", options, on_skipped=note)
    path = Path(data)
    if path.suffix.lower() in _LINE_SUFFIXES:
        lines = lines_of_file(path, start=position, growing=following.growing)
        first = first_lines_of(path, options.encoding) if position else None
        return rows_of(lines, data, options, first=first, on_skipped=note)
    if following.growing:
        raise ParameterError(
            f"--growing is for text files ({', '.join(_LINE_SUFFIXES)}), not for {data}"
        )
    return _whole_pieces(data, position, reading)


def _whole_pieces(data: str, position: int, reading: ReadingOptions) -> "Iterator[NewRows]":
    """Yield the rows of a table behind some, a few at a time."""
    from solah.cli.problem import iter_source
    from solah.stream.tail import NewRows

    n_before = 0
    for table in iter_source(data, reading):
        for start in range(max(position - n_before, 0), table.n_rows, _PIECE_ROWS):
            rows = table.rows(start, start + _PIECE_ROWS)
            yield NewRows(rows, n_before + start + rows.n_rows)
        n_before += table.n_rows


def _figures(metrics: "Metrics") -> "RenderableType":
    from solah.cli.views import facts

    drifts = ", ".join(f"{n} by {cause}" for cause, n in metrics.drifts.items() if n)
    speed = metrics.rows_per_second
    shown = {
        "rows": f"{metrics.rows:,}, {metrics.labelled:,} with a class",
        "speed": None if speed is None else f"{speed:,.0f} rows/s",
        "accuracy": _pair(metrics.accuracy, metrics.accuracy_overall),
        "log-loss": _pair(metrics.log_loss, metrics.log_loss_overall),
        "drifts": drifts or "none",
        "new models": f"{metrics.swapped} swapped in, {metrics.rejected} rejected, "
        f"{metrics.failed} failed",
        "model": f"{metrics.n_rules:,} rules, {metrics.rows_since_swap:,} rows old",
    }
    return facts({name: value for name, value in shown.items() if value is not None})


def _pair(lately: float | None, overall: float | None) -> str | None:
    return None if lately is None else f"{lately:.3f} lately, {overall:.3f} overall"
