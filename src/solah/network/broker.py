"""A port in, a small broker in this process out: for trying things on one machine."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from typing import Any

from solah.exceptions import require
from solah.network.client import BrokerError

_START = 10.0


class EmbeddedBroker:
    """A broker on the loopback, in a thread of its own.

    Parameters
    ----------
    port : int, default=0
        0 takes one that is free.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port or _free_port()
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._problem: BaseException | None = None
        self._broker: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        """Where it is found."""
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> EmbeddedBroker:
        """Start it; return when it listens."""
        module = require("amqtt.broker", "broker", "a broker of our own")
        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._broker = module.Broker(self._settings(), loop=self._loop)
        self._thread.start()
        self._started.wait(_START)
        if self._problem is not None:
            raise BrokerError(f"no broker can be started on port {self.port}: {self._problem}")
        return self

    def stop(self) -> None:
        """Stop it."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._broker.shutdown(), self._loop).result(_START)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_START)

    def _settings(self) -> dict[str, Any]:
        return {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{self.port}"}},
            "plugins": {
                "amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}
            },
        }

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._broker.start())
        except BaseException as problem:  # whatever it is, it is told to who started us
            self._problem = problem
            return
        finally:
            self._started.set()
        self._loop.run_forever()
        self._loop.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
