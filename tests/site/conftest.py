"""A real broker for tests: mosquitto on a port of the loopback."""

import random
import socket
import subprocess
import sys
import time
from getpass import getuser

import pytest
from processes import PATIENCE


def free_port():
    """Return a port that is free, and that no outgoing connection takes while a broker is away."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Mosquitto:
    """A broker that can be stopped and started again; it keeps what it was told to keep."""

    def __init__(self, program, folder, *lines):
        self.folder = folder
        self.port = free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        config = [
            f"listener {self.port} 127.0.0.1",
            f"user {getuser()}",  # who else could read what tests write
            "persistence true",
            f"persistence_location {folder}/",
            "max_queued_messages 100000",
            *(lines or ("allow_anonymous true",)),
        ]
        (folder / "mosquitto.conf").write_text("\n".join(config) + "\n", encoding="utf-8")
        self._command = [program, "-c", str(folder / "mosquitto.conf")]
        self._process = None

    def start(self):
        with (self.folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        give_up = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < give_up:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return self
            except OSError:
                time.sleep(0.02)
        raise RuntimeError((self.folder / "mosquitto.log").read_text(encoding="utf-8"))

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def kill(self):
        """End it without a warning, as a power cut does."""
        self._process.kill()
        self._process.wait(PATIENCE)


@pytest.fixture
def make_broker(find_tool, tmp_path):
    """Make brokers with further lines of configuration."""
    brokers = []
    program = find_tool("mosquitto")

    def make(*lines):
        folder = tmp_path / f"broker{len(brokers)}"
        folder.mkdir()
        brokers.append(Mosquitto(program, folder, *lines))
        return brokers[-1].start()

    yield make
    for broker in brokers:
        broker.stop()


@pytest.fixture
def broker(make_broker):
    return make_broker()


@pytest.fixture
def run_cli():
    """Run the command line in a process of its own; return what it prints."""

    def run(*words):
        command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run
