"""An HTTP server with deadlines: uvicorn, which itself waits for ever for a slow request."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, require

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PORT = 8765
MAX_WAITING = 64
"""Connections that may wait for the rest of a request; the oldest is closed for the newest."""
SECONDS_TO_ASK = 10.0
"""Seconds in which a client must send a whole request."""
SECONDS_TO_READ = 30.0
"""Seconds after which a client that reads nothing is cut off."""


class Server:
    """Serves an application; listens at once, answers once it runs.

    Parameters
    ----------
    app : Starlette
    host : str, default="127.0.0.1"
        The address to listen at; the default is for this machine alone.
    port : int, default=8765
        0 takes a free one.

    Raises
    ------
    ParameterError
        Nothing can listen at this address.
    """

    def __init__(self, app: Starlette, host: str = "127.0.0.1", port: int = PORT) -> None:
        uvicorn = require("uvicorn", "site", "the live page")
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family)
        except (OSError, OverflowError) as error:
            raise ParameterError(
                f"the page cannot be served at {host!r}, port {port}: {error}; choose another"
            ) from None
        config = uvicorn.Config(
            app,
            access_log=False,
            http="h11",
            lifespan="off",
            log_level="warning",
            server_header=False,
            ws="none",
        )
        waiting: dict[Any, float] = {}  # since when a connection has no whole request
        unread: dict[Any, float] = {}  # since when a client reads nothing

        class Limited(uvicorn.Server):  # type: ignore[misc, name-defined]
            async def on_tick(self, counter: int) -> bool:
                _limit(self.server_state.connections, waiting, unread)
                return bool(await super().on_tick(counter))

        self._server: Any = Limited(config)
        # An open stream would keep the server from ending.
        app.state.is_stopping = lambda: self._server.should_exit

    @property
    def url(self) -> str:
        """The address of the page."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def run(self) -> None:
        """Answer until it is interrupted, or stopped."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End the answering, from any thread."""
        self._server.should_exit = True


def _limit(connections: set[Any], waiting: dict[Any, float], unread: dict[Any, float]) -> None:
    """Close the connections that send no whole request in time, or do not read the answer."""
    now = time.monotonic()
    for since, is_so, seconds in (
        (waiting, _has_no_request, SECONDS_TO_ASK),
        (unread, _reads_nothing, SECONDS_TO_READ),
    ):
        slow = {one for one in connections if is_so(one)}
        for one in [*since]:
            if one not in slow:
                del since[one]
        for one in slow:
            since.setdefault(one, now)
        n_spare = len(since) - MAX_WAITING
        for place, (one, begun) in enumerate(sorted(since.items(), key=lambda item: item[1])):
            if now - begun > seconds or place < n_spare:
                one.transport.abort()


def _has_no_request(connection: Any) -> bool:
    cycle = connection.cycle
    return cycle is None or cycle.response_complete or cycle.more_body


def _reads_nothing(connection: Any) -> bool:
    return bool(connection.flow is not None and connection.flow.write_paused)
