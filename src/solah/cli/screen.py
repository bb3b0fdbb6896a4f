"""Print results on stdout and everything else on stderr; JSON if asked for."""

import json
import re
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, TextIO

import typer

from solah.cli.command import option
from solah.exceptions import ParameterError, cut
from solah.safe_text import CONTROL, harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import Console, RenderableType
    from rich.segment import Segment

    from solah.progress import Advance

# Nothing that is not a terminal has a width; Rich would cut at 80 columns.
_ENDLESS = 100_000
_PAGE = 80
_TRAILING_BLANKS = re.compile(r" +$", re.MULTILINE)
STDOUT = Path("-")


def _inherit(context: typer.Context, parameter: typer.CallbackParam, value: bool) -> bool:
    """Let a flag hold for the command, before or behind its name."""
    flags = context.ensure_object(dict)
    name = str(parameter.name)
    flags[name] = flags.get(name, False) or value
    return bool(flags[name])


Quiet = Annotated[bool, option("-q --quiet", "Print only results and errors.", callback=_inherit)]
Verbose = Annotated[
    bool, option("-v --verbose", "Print more, and a traceback after an error.", callback=_inherit)
]


@dataclass(frozen=True)
class Screen:
    """Where a command prints to; an option group, so its fields are the user's flags."""

    panel: ClassVar[str] = "Options"

    json: Annotated[bool, option("--json", "Print JSON.")] = False
    quiet: Quiet = False
    verbose: Verbose = False

    @property
    def width(self) -> int:
        """How wide a drawing may be."""
        return min(console().width, _PAGE)

    @property
    def is_watched(self) -> bool:
        """Whether somebody is there to see how the work goes on."""
        return not self.quiet and console(stderr=True).is_terminal

    def result(self, *lines: "RenderableType") -> None:
        """Print what the user asked for, unless it is asked for as JSON."""
        if not self.json:
            _print(console(), lines)

    def say(self, *lines: "RenderableType") -> None:
        """Print what is good to know beside the result."""
        if not self.quiet:
            self.result(*lines)

    def note(self, text: str) -> None:
        """Print a note for the user on stderr."""
        if not self.quiet:
            _print(console(stderr=True), [cut(f"solah: note: {text}")])

    def document(self, content: Any) -> None:
        """Print a JSON document."""
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        sys.stdout.write(f"{text}\n")

    def progress(self, total: int | None, unit: str) -> "AbstractContextManager[Advance]":
        """Show on stderr how far the work is, if somebody is there to see it."""
        if not self.is_watched:
            return nullcontext(lambda steps, news="": None)
        from solah.progress import show_progress

        return show_progress(console(stderr=True), total, unit)

    def working(self, what: str) -> AbstractContextManager[object]:
        """Show on stderr what takes a while, if somebody is there to see it."""
        return console(stderr=True).status(f"{what} …") if self.is_watched else nullcontext()


class Terminal:
    """A terminal to which only harmless text goes; the rest is as the stream below has it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write what can do no harm of a text."""
        return self.stream.write(harmless(text))

    def writelines(self, lines: "Iterable[str]") -> None:
        """Write what can do no harm of texts."""
        self.stream.writelines(map(harmless, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def console(*, stderr: bool = False) -> "Console":
    """Make a console that neither cuts nor decorates what goes into a pipe."""
    stream: Any = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _ENDLESS
    # Below what guards it: what Rich writes for colours is its own, and its text is harmless.
    stream = getattr(stream, "rich_proxied_file", stream)
    file = stream.stream if isinstance(stream, Terminal) else stream
    return _harmless_console()(
        file=file, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False
    )


@lru_cache(maxsize=1)
def _harmless_console() -> "type[Console]":
    from rich.console import Console

    class HarmlessConsole(Console):
        """Lays out whatever it is given, and lets no text through that a terminal obeys."""

        def render(self, renderable: Any, options: Any = None) -> "Iterable[Segment]":
            for segment in super().render(renderable, options):
                is_text = not segment.control and CONTROL.search(segment.text)
                yield segment._replace(text=harmless(segment.text)) if is_text else segment

    return HarmlessConsole


def _print(screen: "Console", lines: "Iterable[RenderableType]") -> None:
    """Print text as it is, never broken, and the rest as Rich lays it out."""
    from rich.text import Text

    for line in lines:
        is_text = isinstance(line, (str, Text))
        if screen.is_terminal:
            screen.print(line, soft_wrap=is_text)
        elif is_text:  # Rich would take its time, and a model may have many thousand rules
            screen.file.write(f"{harmless(str(line))}\n")
        else:
            with screen.capture() as laid_out:
                screen.print(line)
            screen.file.write(_TRAILING_BLANKS.sub("", laid_out.get()))


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Write a number with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def choose_format(
    chosen: str | None, output: Path, by_suffix: "Mapping[str, str]", *, as_json: bool
) -> str:
    """Return the output's format: ``--format``, or by the file's suffix; text on the screen."""
    if as_json and chosen not in (None, "json"):
        raise ParameterError(f"--json and --format {chosen} are two formats; choose one")
    if as_json or chosen is not None:
        return chosen or "json"
    if output == STDOUT:
        return "text"
    if (suffix := output.suffix.lower()) not in by_suffix:
        raise ParameterError(
            f"{output} does not end in {', '.join(by_suffix)}; choose the format with --format"
        )
    return by_suffix[suffix]


def opened(output: Path) -> AbstractContextManager[IO[str]]:
    """Open stdout, or a file that takes its name only when all is written."""
    from solah.atomic import whole_file

    return nullcontext(sys.stdout) if output == STDOUT else whole_file(output)


@contextmanager
def printed_to(output: Path) -> "Iterator[None]":
    """Let what is printed go to stdout, or to a file that takes its name only at the end."""
    if output == STDOUT:
        yield
        return
    with opened(output) as file, redirect_stdout(file):
        yield


def row_progress(screen: Screen, output: Path) -> "AbstractContextManager[Advance]":
    """Show the rows that are done, except among the rows themselves."""
    if output == STDOUT:
        return nullcontext(lambda steps, news="": None)
    return screen.progress(None, "rows")
