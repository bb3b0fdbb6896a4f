"""A network of real processes for tests, and who listens to its decisions."""

import subprocess
import sys
import threading
import time

from solah.network.client import Client, find_broker
from solah.network.messages import decode_decisions
from solah.network.topics import Topics


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
                if known[1].beliefs != row.beliefs:
                    self.contradictions.append((known, row))

    def wait(self, n_rows, seconds=60.0):
        """Wait until so many rows are decided."""
        give_up = time.monotonic() + seconds
        while len(self.rows) < n_rows and time.monotonic() < give_up:
            time.sleep(0.02)
        assert len(self.rows) >= n_rows, f"{len(self.rows)} of {n_rows} rows were decided"

    def stop(self):
        self._client.stop()


class Processes:
    """The nodes of a plan, each a process of its own."""

    def __init__(self, bundle, plan_file, url, folder, *words):
        self.bundle, self.folder = bundle, folder
        self._words = ["--plan", str(plan_file), "--broker", url, *map(str, words)]
        self._processes = {}

    def start(self, *names, replay=None, rate=None):
        """Start nodes, all of them in the plan's order by default."""
        for node in self.bundle.plan.nodes:
            if not names or node.name in names:
                self._start(node, replay, rate)

    def _start(self, node, replay, rate):
        words = ["--name", node.name, "--state", str(self.folder / f"{node.name}.state")]
        if replay is not None and node.reads:
            words += ["--replay", str(replay)]
        if rate is not None and node.reads:
            words += ["--rate", str(rate)]
        command = [sys.executable, "-m", "solah.cli.main", "node", *self._words, *words]
        with (self.folder / f"{node.name}.log").open("ab") as log:
            self._processes[node.name] = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self, name):
        """Kill a node without a warning (-9)."""
        self._processes[name].kill()
        self._processes[name].wait()

    def pid(self, name):
        return self._processes[name].pid

    def stop(self):
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait(20)

    def logs(self):
        return {file.stem: file.read_text(encoding="utf-8") for file in self.folder.glob("*.log")}
