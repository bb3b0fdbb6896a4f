"""Run the verb that the user asks for, and report errors in one line."""

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

import typer
from typer.main import get_command

from solah.cli.adapt import adapt
from solah.cli.build import build
from solah.cli.card import card
from solah.cli.datasets import datasets
from solah.cli.demo import demo
from solah.cli.diff import diff
from solah.cli.edit import edit
from solah.cli.evaluate import evaluate
from solah.cli.explain import explain
from solah.cli.export import export
from solah.cli.fit import fit
from solah.cli.footprint import footprint
from solah.cli.helptext import VerbCommand, VerbGroup
from solah.cli.info import info
from solah.cli.node import node
from solah.cli.plan import plan
from solah.cli.policy import policy
from solah.cli.predict import predict
from solah.cli.publish import publish
from solah.cli.report import report
from solah.cli.rules import rules
from solah.cli.screen import Quiet, Terminal, Verbose
from solah.cli.serve import serve
from solah.cli.site import check, learn, templates
from solah.cli.start import start_text
from solah.cli.stopping import signals_as_interrupt
from solah.cli.stress import stress
from solah.cli.up import up
from solah.cli.verb import verb
from solah.cli.warned import unseen_states_told
from solah.cli.watch import watch
from solah.exceptions import SolahError, cut
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

_VERBS = {
    "Start here": (demo, datasets),
    "Learn and decide": (fit, evaluate, predict, serve),
    "See and understand": (rules, explain, report, card, diff, stress),
    "Correct": (edit, build, policy),
    "Bring to a device": (export, footprint, adapt),
    "Spread over sensor nodes": (plan, up, node, publish, watch),
    "About": (info,),
}

_OF_SITES = (check, learn, templates)

app = typer.Typer(
    name="solah",
    help="Classifiers a person can read and a sensor can run.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    cls=VerbGroup,
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
    """Take the flags that hold for every verb; they keep themselves in the context."""


for _panel, _functions in _VERBS.items():
    for _function in _functions:
        app.command(cls=VerbCommand, rich_help_panel=_panel)(verb(_function))

_sites = typer.Typer(
    help="Check a site file, or propose one.",
    epilog="Example: solah site check site.yaml",
    cls=VerbGroup,
    rich_markup_mode=None,
)
for _function in _OF_SITES:
    _sites.command(cls=VerbCommand)(verb(_function))
app.add_typer(_sites, name="site", rich_help_panel="Spread over sensor nodes")


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
    with signals_as_interrupt() as stopped_by, _warnings_in_one_line(), _safe_path():
        code = _attempt(lambda: _run(words, flags) if words else _start(), flags)
        # What is still on its way to a pipe may fail too, and must not do so at the end.
        code = _attempt(sys.stdout.flush, flags) or code
        return _SIGNALLED + stopped_by() if code == _INTERRUPTED and stopped_by() else code


def _start() -> int:
    print(harmless(start_text(Path.cwd())))
    return 0


def _run(words: list[str], flags: dict[str, bool]) -> int:
    with unseen_states_told(flags):
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
    """Say what the user can do about an error; None for those that are our own fault."""
    # Known by their looks: Typer has renamed the first, and importing scikit-learn takes a second.
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f" (see '{context.command_path} --help')" if context else ""
        return str(error.format_message()).replace("Value error, ", "") + hint
    if isinstance(error, OSError) and not isinstance(error, SolahError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ModuleNotFoundError) and error.name in _LEARNING:
        return f"this needs {_LEARNING[error.name]}, which is not installed: pip install solah"
    is_parameter = type(error).__name__ == "InvalidParameterError"
    return str(error) if is_parameter or isinstance(error, (SolahError, OSError)) else None


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print Python's warnings in one line, without lines of source."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(
            f"solah: warning: {_LINE_BREAK.sub(' ', str(message))}", file=sys.stderr
        )
        yield


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
