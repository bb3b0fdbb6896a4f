"""A site on mosquitto whose sensors publish samples decides as its model does on them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from mixers import RATE, SLOW, TOPICS, WINDOW, machine_model, placement, write_machine
from processes import PATIENCE, Listener, pids, until

from solah.model.predictor import Predictor
from solah.site.client import Client, find_broker
from solah.site.messages import decode_status

pytestmark = pytest.mark.slow

BATCH, HEAT = 5, 41.5


class Mixer(threading.Thread):
    """An accelerometer that publishes batches with their time, and a slow temperature.

    Batches say when they were measured, so that it does not matter when they arrive. Rows do not
    wait for single numbers, so the temperature stays as it is.
    """

    def __init__(self, url):
        super().__init__(daemon=True)
        self.samples = {}  # of each tick the axes
        self.status = {}
        self._rng = np.random.default_rng(0)
        self._ending = threading.Event()
        self._client = Client(find_broker(url), "mixer", self._take, is_kept=False)
        self._client.subscribe(["solah/plant/+/status"])
        self._client.start()

    def _take(self, _topic, payload):
        status = decode_status(payload)
        self.status[status.node] = status

    def run(self):
        tick = int(time.time() * RATE) // BATCH * BATCH
        while not self._ending.wait(max(0.0, (tick + BATCH) / RATE - time.time())):
            self._measure(range(tick, tick + BATCH))
            tick += BATCH

    def _measure(self, ticks):
        size = 2.0 if (ticks[0] // 100) % 2 else 0.5
        axes = self._rng.normal(0.0, size, (BATCH, 3)).round(3)
        self.samples |= dict(zip(ticks, axes, strict=True))
        batch = {axis: axes[:, place].tolist() for place, axis in enumerate("xyz")}
        self._publish("acceleration", ticks[-1] / RATE, {"axes": batch})
        if ticks[0] % SLOW == 0:
            self._publish("temperature", ticks[0] / RATE, {"value": HEAT})

    def _publish(self, what, at, content):
        self._client.publish(TOPICS[what], json.dumps({"at": at, **content}).encode())

    def stop(self):
        self._ending.set()
        self.join()
        self._client.stop()

    def decided(self, row):
        """Let the model decide on the window of a row."""
        start = row * WINDOW // 2
        stream = Predictor(machine_model()).stream()
        for tick in range(start, start + WINDOW):
            values = {**dict(zip("xyz", self.samples[tick], strict=True)), "temperature": HEAT}
            found = stream.push([values[one.name] for one in stream.signals.measured])
        return found


@pytest.fixture
def running(tmp_path):
    """Run ``solah up`` on a site file; it is stopped in the end."""
    processes = []

    def start(file):
        command = [sys.executable, "-m", "solah.cli.main", "site", "run", str(file), "--json"]
        with (tmp_path / "up.log").open("wb") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    yield start
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)


def with_times(file):
    """Let messages say when they were measured, and wait for them however slow the machine is."""
    text = file.read_text(encoding="utf-8").replace(
        "    features:", "    time: {path: at, as: s}\n    features:"
    )
    text = text.replace("{temperature: }", "{temperature: value}")
    file.write_text(text, encoding="utf-8")
    return file


def test_a_site_decides_on_windows_as_its_model_does(broker, running, tmp_path):
    """Also when a node dies: windows that lack samples are named, all others are the model's."""
    file = write_machine(tmp_path, broker.url, decide="{every: 1s, deadline: 30s}", max_age="60s")
    listener, mixer = Listener(broker.url, "plant"), Mixer(broker.url)
    running(with_times(file))
    mixer.start()
    try:

        def whole():
            rows = {number: row for number, (_, row) in listener.rows.copy().items()}
            return {number: row for number, row in rows.items() if not row.missing}

        until(lambda: len(whole()) >= 4)
        newest, state = max(whole()), tmp_path / "plant.state" / "shaker.state"
        os.kill(pids(state)[0], signal.SIGKILL)
        until(lambda: max(whole()) > newest + 3)
        until(lambda: {*placement(), "gateway"} <= mixer.status.keys())
        until(lambda: mixer.status["shaker"].sensors.get("x") is not None)
    finally:
        mixer.stop()
        listener.stop()
    assert listener.contradictions == []
    rows = whole()
    for number, row in rows.items():
        expected = mixer.decided(number)
        assert row.decision == expected.decision
        assert tuple(row.beliefs.values()) == tuple(expected.beliefs)
        end = (number * WINDOW // 2 + WINDOW) / RATE
        assert row.time == end
        assert row.oldest < end
    counts = mixer.status["shaker"].sensors["x"].counts
    assert counts.keys() <= {"taken", "dropped_samples"}
    assert mixer.status["heater"].sensors.keys() == {"temperature"}
