"""Log what an operator should know, as text for people or as JSON lines for machines."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from solah.exceptions import cut
from solah.safe_text import harmless

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

Level = Literal["info", "warning", "error"]
Fact = str | int | float | None


class Event(str):
    """A line of a log: its text, with a stable name, a level, and facts for machines.

    Parameters
    ----------
    text : str
        What happened, for people.
    name : str, default="note"
        What kind of event it is; it stays when the text is worded in another way.
    level : {"info", "warning", "error"}, default="info"
    **facts : text or number
        What it is about.

    Examples
    --------
    >>> event = Event("node cellar is connected", "connected", node="cellar")
    >>> print(event)
    node cellar is connected
    >>> event.name, event.level, event.facts
    ('connected', 'info', {'node': 'cellar'})
    """

    name: str
    level: Level
    facts: dict[str, Fact]

    def __new__(cls, text: str, name: str = "note", level: Level = "info", **facts: Fact) -> Event:
        """Make an event."""
        event = super().__new__(cls, text)
        event.name, event.level, event.facts = name, level, facts
        return event


def quietly(log: Callable[[str], None], counters: Counter[str]) -> Callable[[str], None]:
    """Return a log that stops nothing where it cannot be written, as on a full disk, but counts."""

    def write(text: str) -> None:
        try:
            log(text)
        except OSError:
            counters["unlogged"] += 1

    return write


def stderr_log(kind: Literal["text", "json"], *, is_quiet: bool = False) -> Callable[[str], None]:
    """Return a log on stderr: lines with the time for people, or JSON lines for machines.

    Parameters
    ----------
    kind : {"text", "json"}
    is_quiet : bool, default=False
        Whether to drop text, and JSON that is neither a warning nor an error.
    """

    def write(line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    def note(text: str) -> None:
        if not is_quiet:
            time = datetime.now().astimezone().isoformat(" ", "seconds")
            write(cut(harmless(f"solah: note: {time} {text}")) + "\n")

    return note if kind == "text" else json_log(write, quiet=is_quiet)


def json_log(write: Callable[[str], object], *, quiet: bool = False) -> Callable[[str], None]:
    r"""Return a log that writes one JSON object per line.

    Parameters
    ----------
    write : callable
        Called with each line, which ends with a line break.
    quiet : bool, default=False
        Whether to drop what is neither a warning nor an error.

    Examples
    --------
    >>> import json
    >>> lines = []
    >>> json_log(lines.append)(Event("node cellar is connected", "connected", node="cellar"))
    >>> line = json.loads(lines[0])
    >>> line["level"], line["event"], line["node"]
    ('info', 'connected', 'cellar')
    """

    def log(text: str) -> None:
        event = text if isinstance(text, Event) else Event(text)
        if quiet and event.level == "info":
            return
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": event.level,
            "event": event.name,
            "message": str(event),
            **event.facts,
        }
        write(json.dumps(line, ensure_ascii=True) + "\n")

    return log
