"""Run a small broker beside this process, to try things on one machine.

python -m solah.site.embedded_broker PORT
"""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
import time
from typing import Any

from solah.exceptions import require
from solah.site.client import BrokerError

_START = 60.0
_PURPOSE = "a broker of our own"


class EmbeddedBroker:
    """A broker on the loopback, in a process of its own.

    Parameters
    ----------
    port : int, default=0
        0 takes one that is free.
    """

    def __init__(self, port: int = 0) -> None:
        require("amqtt.broker", "site", _PURPOSE)
        self.port = port or _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is found."""
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> EmbeddedBroker:
        """Start it; return when it listens."""
        # -P: no file of the current folder may replace a module.
        command = [sys.executable, "-P", "-m", "solah.site.embedded_broker", str(self.port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        give_up = time.monotonic() + _START
        while not self._listens():
            if time.monotonic() > give_up or self._process.poll() is not None:
                self.stop()
                raise BrokerError(f"no broker can be started on port {self.port}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 0.2).close()
        except OSError:
            return False
        return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _settings(port: int) -> dict[str, Any]:
    return {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }


async def _run(port: int) -> None:
    module = require("amqtt.broker", "site", _PURPOSE)
    await module.Broker(_settings(port)).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    logging.disable()
    asyncio.run(_run(int(sys.argv[1])))
