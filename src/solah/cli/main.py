"""Run the command that the user asks for, and report errors in one line."""

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, TextIO

import typer
from typer.main import get_command

from solah.cli.adapt import adapt
from solah.cli.command import CommandGroup, CommandPage, command
from solah.cli.datasets import datasets
from solah.cli.demo import demo
from solah.cli.diff import diff
from solah.cli.evaluate import evaluate
from solah.cli.explain import explain
from solah.cli.export import export
from solah.cli.fit import fit
from solah.cli.follow import follow
from solah.cli.info import info
from solah.cli.policy import policy
from solah.cli.predict import predict
from solah.cli.report import report
from solah.cli.rules import build, edit, print_rules
from solah.cli.screen import Quiet, Terminal, Verbose
from solah.cli.serve import serve
from solah.cli.site import check, learn
from solah.cli.site_node import node
from solah.cli.site_plan import plan
from solah.cli.site_publish import publish
from solah.cli.site_run import run
from solah.cli.site_watch import watch
from solah.cli.stopping import signals_as_interrupt
from solah.cli.stress import stress
from solah.exceptions import SolahError, UnseenCategoryWarning, cut
from solah.safe_text import harmless

_FAILED = 2
_CLOSED = 1
_INTERRUPTED = 130
_SIGNALLED = 128  # plus the number of the signal
# What an installation without dependencies may lack (requirements-node.txt), by module.
_LEARNING = {
    "joblib": "joblib",
    "pyarrow": "PyArrow",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "threadpoolctl": "threadpoolctl",
}
_LINE_BREAK = re.compile(r"\s*\n\s*")

_COMMANDS = {
    "Start here": (demo, datasets),
    "Train and predict": (fit, evaluate, predict, serve, follow),
    "Understand": ("rules", explain, report, diff, stress),
    "Use in production": (policy, export, adapt, "site"),
    "About": (info,),
}
_GROUPS: dict[str, tuple[str, tuple[Callable[..., None], ...]]] = {
    "rules": ("Print, edit or build the rules of a model.", (print_rules, edit, build)),
    "site": (
        "Run a model on sensor nodes over MQTT: plan, run, publish, watch.",
        (check, learn, plan, run, node, publish, watch),
    ),
}

_START = """solah: rule-based classifiers you can read and run on a sensor

  See it work                solah demo
  Train on a table           solah fit data.csv --target COLUMN
  Read the rules             solah rules model.json
  Predict rows               solah predict model.json data.csv
  See why, in the browser    solah report model.json data.csv
  Export to a board          solah export model.json data.csv --to arduino
  Spread over sensor nodes   solah site plan model.json
  All commands; one of them  solah --help; solah fit --help"""

app = typer.Typer(
    name="solah",
    help="Rule-based classifiers you can read, check by hand and run on a microcontroller.",
    epilog="Example: solah fit train.csv --target state -o pump.json",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    cls=CommandGroup,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from solah import __version__

        print(f"solah {__version__}")
        raise typer.Exit


@app.callback()
def _flags(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Take the flags that hold for every command; they keep themselves in the context."""


for _panel, _members in _COMMANDS.items():
    for _member in _members:
        if not isinstance(_member, str):
            app.command(cls=CommandPage, rich_help_panel=_panel)(command(_member))
            continue
        _text, _functions = _GROUPS[_member]
        _group = typer.Typer(help=_text, cls=CommandGroup, rich_markup_mode=None)
        for _function in _functions:
            _name = _function.__name__.partition("_")[0]
            _group.command(_name, cls=CommandPage)(command(_function))
        app.add_typer(_group, name=_member, rich_help_panel=_panel)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words behind ``solah``; None takes those of the process.

    Returns
    -------
    code : int
        0 if all went well, 1 if models differ or nobody reads the output any more, 2 for an error,
        130 if the user interrupted, 143 if SIGTERM stopped it, 129 if SIGHUP did.
    """
    _prepare_streams()
    flags: dict[str, bool] = {}
    words = list(sys.argv[1:] if arguments is None else arguments)
    with signals_as_interrupt() as stopped_by, _warnings_in_one_line(flags), _safe_path():
        code = _attempt(lambda: _run(words, flags), flags)
        # What is still on its way to a pipe may fail too, and must not do so at the end.
        code = _attempt(sys.stdout.flush, flags) or code
        return _SIGNALLED + stopped_by() if code == _INTERRUPTED and stopped_by() else code


def _run(words: list[str], flags: dict[str, bool]) -> int:
    if not words:
        print(_START)
        return 0
    outcome = get_command(app).main(words, prog_name="solah", standalone_mode=False, obj=flags)
    if outcome == _INTERRUPTED:  # Typer has caught it
        raise KeyboardInterrupt
    return outcome if isinstance(outcome, int) else 0


def _attempt(work: Callable[[], int | None], flags: dict[str, bool]) -> int:
    """Do some work; return the exit code, after reporting an error in one line."""
    try:
        return work() or 0
    except SystemExit as leaving:  # Rich, Typer: stdout was closed, or the shell completes a word
        return leaving.code if isinstance(leaving.code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        print("solah: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        _let_go(sys.stdout)
        return _CLOSED
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        if flags.get("verbose"):
            print(harmless(traceback.format_exc()), end="", file=sys.stderr)
        line = cut(harmless(_LINE_BREAK.sub(" ", f"solah: error: {message}")))
        print(line, file=sys.stderr)
        _let_go(sys.stdout)
        return _FAILED


def _message(error: Exception) -> str | None:
    """Return what the user can do about an error; None for those that are our own fault."""
    # Known by their looks: Typer has renamed the first, and importing scikit-learn takes a second.
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f" (see '{' '.join(context.command_path.split())} --help')" if context else ""
        return str(error.format_message()).replace("Value error, ", "") + hint
    if isinstance(error, OSError) and not isinstance(error, SolahError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ModuleNotFoundError) and error.name in _LEARNING:
        return f"this needs {_LEARNING[error.name]}, which is not installed: pip install solah"
    is_parameter = type(error).__name__ == "InvalidParameterError"
    return str(error) if is_parameter or isinstance(error, (SolahError, OSError)) else None


@contextmanager
def _warnings_in_one_line(flags: Mapping[str, bool]) -> Iterator[None]:
    """Print Python's warnings in one line, without lines of source.

    Those of unseen categories come last, one per column, though each piece of the rows warns.
    """
    unseen: dict[str, UnseenCategoryWarning] = {}

    def show(message: Any, *_: Any, **__: Any) -> None:
        if isinstance(message, UnseenCategoryWarning):
            before = unseen.get(message.column)
            unseen[message.column] = before.with_more(message) if before else message
        else:
            print(f"solah: warning: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UnseenCategoryWarning)
        warnings.showwarning = show
        try:
            yield
        finally:
            for one in () if flags.get("quiet") else unseen.values():
                print(f"solah: warning: {' '.join(str(one).split())}", file=sys.stderr)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let workers of Dask and joblib, which are started without -P, ignore the current folder."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)


def _prepare_streams() -> None:
    """Make sure that there are streams, and that no character of a name stops or commands them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell, with >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            if stream.isatty():
                setattr(sys, name, Terminal(stream))


def _let_go(stream: TextIO) -> None:
    """Drop what a stream still holds if it cannot be written."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
