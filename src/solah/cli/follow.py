"""``solah fit --follow``: learn from a source of rows that does not end."""

import json
import signal
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.model_options import ModelOptions, OneModel
from solah.cli.options import ColumnOptions, Data, Jobs, OutputFile, ReadingOptions
from solah.cli.screen import Screen, console
from solah.cli.stopping import catch_ctrl_c, stop_signals
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import RenderableType

    from solah.cli.models import Estimator
    from solah.model import Task
    from solah.stream import Event, Metrics, StreamLearner
    from solah.stream.tail import NewRows

_follow_option = options_in("Following a stream")
_STDIN = "-"
_PIECE_ROWS = 1000
_LINE_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class FollowOptions:
    """How rows without end are followed; an option group."""

    follow: Annotated[
        bool,
        _follow_option(
            "--follow",
            help="Learn row by row, and organise again when the data have changed. DATA may be '-' "
            "for CSV or JSON lines on stdin. An empty target is a row without a class.",
        ),
    ] = False
    growing: Annotated[
        bool, _follow_option("--growing", help="Wait for more lines at the end of the file.")
    ] = False
    state: Annotated[
        Path | None,
        _follow_option(
            "--state",
            metavar="FILE",
            help="State file: written with the model, and resumed after a restart.",
            dir_okay=False,
        ),
    ] = None
    save_every: Annotated[
        float,
        _follow_option("--save-every", min=0.0, help="Seconds between two savings of the model."),
    ] = 10.0
    window_rows: Annotated[
        int, _follow_option("--window-rows", help="Rows kept to learn from again.")
    ] = 2000
    min_rows: Annotated[
        int,
        _follow_option(
            "--min-rows", help="Rows for the first model, and for the answer to a change."
        ),
    ] = 200
    check_every: Annotated[
        int,
        _follow_option("--check-every", help="Rows between two looks at dependences; 0 for none."),
    ] = 1000
    refit_every: Annotated[
        int,
        _follow_option(
            "--refit-every", help="Rows between fits without drift. Default: 0, for drifts only."
        ),
    ] = 0
    pace: Annotated[
        float, _follow_option("--pace", help="How fast rules move with each row; 'adapt' has 1.")
    ] = 1 / 32
    forgetting: Annotated[
        float,
        _follow_option(
            "--forgetting", help="The share of what was learnt that a row takes back; 0 for none."
        ),
    ] = 0.0

    def given(self) -> list[str]:
        """Return the flags that the user set to something else than their default."""
        changed = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
        return [f"--{name.replace('_', '-')}" for name in changed]

    def files(self) -> list[Path]:
        """Return the state file, if there is one."""
        return [] if self.state is None else [self.state]

    def parameters(self) -> dict[str, Any]:
        """Return those of a stream learner."""
        return {
            "window": self.window_rows,
            "min_rows": self.min_rows,
            "check_every": self.check_every or None,
            "refit_every": self.refit_every or None,
            "pace": self.pace,
            "forgetting": self.forgetting,
        }


def follow(
    data: Data,
    columns: ColumnOptions,
    choice: OneModel,
    options: ModelOptions,
    following: FollowOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    jobs: Jobs = None,
) -> None:
    """Learn from rows as they come, until they end or somebody stops it.

    The model document is written when there is a first model, whenever another takes over, every
    few seconds, and in the end.
    """
    from solah.cli.problems import declared_kinds, refuse_overlap, split_names
    from solah.stream.tail import feed

    catch_ctrl_c()
    target, declared = _target(data, columns), declared_kinds(columns, ())
    refuse_overlap(declared, [target])
    dropped = split_names(columns.gone, ())
    estimator = _estimator(declared, choice, options, jobs)
    service = _Service(screen, output, following)
    learner = service.begin(estimator)
    pieces = _pieces(data, learner.position, following, reading, screen.note)
    with _stop_signals() as has_stopped, service.running():
        for piece in pieces:
            if piece.table is not None:
                piece.table.select([target, *dropped, *declared])  # refuses names not there
                feed(learner, piece.table, target, drop=dropped, on_skipped=screen.note)
                learner.position = piece.position
            service.refresh()
            if has_stopped():
                break


class _Service:
    """A learner at work: says what happens, serves metrics, and saves."""

    def __init__(self, screen: Screen, output: Path, options: FollowOptions) -> None:
        self._screen, self._output, self._options = screen, output, options
        self._shows: list[Callable[[Metrics], None]] = []
        self._is_new = False
        self._saved_at = time.monotonic()

    def begin(self, estimator: "Estimator") -> "StreamLearner":
        """Make a learner, or go on with one that was saved."""
        from solah.stream import StreamLearner

        state = self._options.state
        if state is not None and state.exists():
            self._learner = StreamLearner.resume(state, estimator, on_event=self._note)
            rows = self._learner.metrics.rows
            self._screen.note(f"going on behind row {rows:,}, with the settings saved in {state}")
        else:
            parameters = self._options.parameters()
            self._learner = StreamLearner(estimator, on_event=self._note, **parameters)
        return self._learner

    @contextmanager
    def running(self) -> "Iterator[None]":
        """Show how it goes as long as the context lasts, and save in the end."""
        with ExitStack() as stack:
            if self._screen.is_watched and not self._screen.json:
                self._shows.append(stack.enter_context(_live_panel()))
            yield
            self._save()
            self.refresh()
        self._conclude()

    def refresh(self) -> None:
        """Show how it goes, and save where that is due."""
        metrics = self._learner.metrics
        for show in self._shows:
            show(metrics)
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

    def _conclude(self) -> None:
        metrics = self._learner.metrics
        self._screen.say("", _figures(metrics))
        if self._learner.model is None:
            self._screen.note(
                f"no model was written: {metrics.labelled:,} labelled rows came, and the first is "
                f"learnt from {self._learner.settings.min_rows:,} (--min-rows)"
            )


def _target(data: str, columns: ColumnOptions) -> str:
    from solah.datasets import load
    from solah.exceptions import ColumnError, DatasetError, ParameterError

    if columns.task == "regression":
        raise ParameterError("--follow is for classes, not for --task regression")
    if columns.target is not None:
        return columns.target
    try:
        return str(load(data).goal_name)
    except DatasetError:
        raise ColumnError("which column is to be decided on? Say it with --target") from None


@dataclass(frozen=True)
class _Aim:
    """What is known of rows that are still to come."""

    task: "Task"
    kinds: "Mapping[str, str]"
    names: tuple[str, ...] | None = None


def _estimator(
    declared: "Mapping[str, str]",
    choice: OneModel,
    options: ModelOptions,
    jobs: int | None,
) -> "Estimator":
    """Make the classifier that is fitted."""
    from solah.cli.models import make_models
    from solah.model import Task

    aim = _Aim(Task.CLASSIFICATION, declared)
    (estimator,) = make_models(aim, choice.wishes, options, jobs).values()
    return estimator


def _pieces(
    data: str,
    position: int,
    following: FollowOptions,
    reading: ReadingOptions,
    note: "Callable[[str], None]",
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
    from solah.cli.sources import iter_source
    from solah.stream.tail import NewRows

    n_before = 0
    for table in iter_source(data, reading.read_options()):
        for start in range(max(position - n_before, 0), table.n_rows, _PIECE_ROWS):
            rows = table.rows(start, start + _PIECE_ROWS)
            yield NewRows(rows, n_before + start + rows.n_rows)
        n_before += table.n_rows


@contextmanager
def _stop_signals() -> "Iterator[Callable[[], bool]]":
    """Let signals ask for an end in order, as long as the context lasts."""
    asked: list[int] = []

    def ask(number: int, _: object) -> None:
        asked.append(number)
        signal.signal(number, before[number])  # a second one ends it at once

    before = {number: signal.getsignal(number) for number in stop_signals()}
    for number in before:
        signal.signal(number, ask)
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _live_panel() -> "Iterator[Callable[[Metrics], None]]":
    from rich.live import Live
    from rich.panel import Panel

    redirects = sys.stdout.isatty()  # else results would leave their pipe for the terminal
    screen = console(stderr=True)
    with Live(
        console=screen, transient=True, redirect_stdout=redirects, auto_refresh=False
    ) as live:

        def show(metrics: "Metrics") -> None:
            live.update(Panel.fit(_figures(metrics), title="following"), refresh=True)

        yield show


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
