"""Answer ``/healthz`` and ``/readyz`` for a process that has no page, with the standard library.

``/healthz`` is 200 as long as the process works, and 503 when it should be restarted; ``/readyz``
is 200 when it does what it is there for.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, shorten
from solah.site.logs import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LOOPBACK = "127.0.0.1"
_SECONDS_TO_ASK = 2.0


@dataclass(frozen=True)
class Health:
    """How a process is doing.

    Attributes
    ----------
    is_alive : whether it works
    is_ready : whether it can do what it is there for
    facts : what else there is to know, ready for JSON
    """

    is_alive: bool
    is_ready: bool
    facts: Mapping[str, Any] = field(default_factory=dict)


def find_address(text: str) -> tuple[str, int]:
    """Read ``PORT``, for this machine alone, or ``HOST:PORT``.

    Examples
    --------
    >>> find_address("8081"), find_address("0.0.0.0:8081"), find_address("[::]:8081")
    (('127.0.0.1', 8081), ('0.0.0.0', 8081), ('::', 8081))
    """
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ParameterError(f"health is served at PORT or HOST:PORT. Got {shorten(text)} instead.")
    return host.strip("[]") or _LOOPBACK, int(port)


@contextmanager
def serving_health(
    address: str | None, check: Callable[[], Health], log: Callable[[str], None] = lambda _: None
) -> Iterator[str]:
    """Answer at an address, in a thread of its own, as long as the context lasts.

    Parameters
    ----------
    address : str or None
        ``PORT`` or ``HOST:PORT``; the port 0 takes one that is free. None answers nowhere.
    check : callable
        Returns the health; called for each question.
    log : callable
        Called with where it is.

    Yields
    ------
    url : str
    """
    if address is None:
        yield ""
        return
    host, port = find_address(address)
    try:
        server = _make_server(host, port, check)
    except (OSError, OverflowError) as error:
        raise ParameterError(
            f"health cannot be served at {host!r}, port {port}: {error}; choose another"
        ) from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}/"
    log(Event(f"health is served at {url}healthz and {url}readyz", "health_served", url=url))
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_server(host: str, port: int, check: Callable[[], Health]) -> Any:
    import socket
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        """Answers two questions."""

        timeout = _SECONDS_TO_ASK
        server_version, sys_version = "solah", ""

        def do_GET(self) -> None:
            health = check()
            states = {"/healthz": health.is_alive, "/readyz": health.is_ready}
            if self.path not in states:
                self._answer(404, {"status": "there are /healthz and /readyz"})
            elif states[self.path]:
                self._answer(200, {"status": "ok", **health.facts})
            else:
                self._answer(503, {"status": "failing", **health.facts})

        def _answer(self, code: int, content: Mapping[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep questions out of the log."""

    class Server(HTTPServer):
        """One question at a time, so that nobody can take more than a moment of one thread."""

        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def handle_error(self, *_: Any) -> None:
            """Let a question that broke off go."""

    return Server((host, port), Handler)
