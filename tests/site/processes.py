"""Wait for a network, and listen to its decisions, for tests."""

import threading
import time
from contextlib import suppress
from pathlib import Path

from solah.site.client import Client, find_broker
from solah.site.messages import decode_decisions
from solah.site.topics import Topics

PATIENCE = 180.0  # seconds; only a failure, or a very slow machine, takes that long


def until(is_so, seconds=PATIENCE):
    """Wait for something, generously."""
    give_up = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up, "it did not come to be"
        time.sleep(0.02)


def pids(state_file):
    """Return the processes that work with a state file."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f'"{state_file}"'.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


class Listener:
    """Gathers the decisions of a site; a row that is decided again must be decided alike."""

    def __init__(self, url, site="site"):
        self.rows = {}
        self.contradictions = []
        self.times = {}
        self._lock = threading.Lock()
        self._client = Client(find_broker(url), "listener", self._take)
        self._client.subscribe([Topics(site).decisions])
        self._client.start()

    def _take(self, _topic, payload):
        decisions = decode_decisions(payload)
        with self._lock:
            for row in decisions.rows:
                known = self.rows.setdefault(row.sequence, (decisions.model, row))
                self.times.setdefault(row.sequence, time.time())
                if known[1].probabilities != row.probabilities:
                    self.contradictions.append((known, row))

    def wait(self, n_rows, seconds=PATIENCE):
        """Wait until so many rows are decided."""
        give_up = time.monotonic() + seconds
        while len(self.rows) < n_rows and time.monotonic() < give_up:
            time.sleep(0.02)
        assert len(self.rows) >= n_rows, f"{len(self.rows)} of {n_rows} rows were decided"

    def wait_for(self, sequences):
        """Wait until these rows are decided."""
        until(lambda: self.rows.keys() >= set(sequences))

    def stop(self):
        self._client.stop()
