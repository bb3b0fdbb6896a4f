"""Options of the verbs that run for long: how they log, and where they tell their health."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Literal

from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.network.health import Health

_log_option = options_in("Operations")

LogKind = Annotated[
    Literal["text", "json"],
    _log_option("--log", help="Log as text for people, or as JSON lines with names of events."),
]
HealthAddress = Annotated[
    str | None,
    _log_option(
        "--health",
        metavar="[HOST:]PORT",
        help="Answer /healthz and /readyz there; for this machine alone, unless a host is given.",
    ),
]


def log_of(screen: Screen, kind: str) -> "Callable[[str], None]":
    """Return what writes the log, to stderr."""
    if kind == "text":
        return screen.note
    from solah.network.logs import json_log

    def write(line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    return json_log(write, quiet=screen.quiet)


def health_at(
    address: str | None, check: "Callable[[], Health]", log: "Callable[[str], None]"
) -> AbstractContextManager[object]:
    """Tell the health of a process, if there is an address for it."""
    if address is None:
        return nullcontext()
    from solah.network.health import serving_health

    return serving_health(address, check, log)
