"""Sensors that lie, sleep and restart, nodes that are killed, a broker that goes.

    python benchmarks/site_chaos.py [--seconds 900] [--seed 0]

Is every decision explained by the readings that had arrived? Sensors send Zigbee2MQTT, Tasmota and
ESPHome at their own rates, go silent, send garbage, repeat themselves, set their clocks wrong and
restart their counts. A recorder notes what the broker passes on. Afterwards each decision is
compared with the model's own on what had arrived by then, as a plain second implementation reads
it. Prints what was found, and ends with code 1 if a decision is not explained.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime
from getpass import getuser
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from solah import RuleClassifier
from solah.model import save_document
from solah.model.predictor import Predictor
from solah.site.client import Client, find_broker
from solah.site.messages import Decided, Status, decode_decisions, decode_status
from solah.site.site_file import load_site
from solah.site.supervisor import Launcher, Supervisor
from solah.site.topics import Topics

if TYPE_CHECKING:
    from collections import Counter

CLIMATE, PLUG, DOOR = "zigbee2mqtt/kitchen", "tele/plug/SENSOR", "hall/binary_sensor/door/state"
TOPIC = {"temperature": CLIMATE, "humidity": CLIMATE, "power": PLUG, "door": DOOR}
NODE = {"temperature": "kitchen", "humidity": "kitchen", "power": "plug", "door": "hall"}
MAX_AGE = {"temperature": 4.0, "humidity": 4.0, "power": 5.0, "door": 3.0}
SITE = """
site: chaos
model: room.json
broker: {url}
nodes:
  kitchen: [temperature, humidity]
  plug: [power]
  hall: [door]
sensors:
  - template: zigbee2mqtt
    device: kitchen
    max_age: 4s
    features:
      temperature: {{from: temperature, range: [-40, 60]}}
      humidity: humidity
  - template: tasmota
    device: plug
    number: Count
    max_age: 5s
    features: {{power: ENERGY.Power}}
  - template: esphome
    device: hall
    max_age: 3s
    features: {{door: {{from: binary_sensor/door, states: {{ON: open, OFF: closed}}}}}}
decide: {{every: 1s, deadline: 500ms}}
"""
_WHILE_AWAY = 10.0  # seconds for which what was published may be held by a node that was away
_RECONNECTING = 6.0  # seconds in which a second connection is there, too
_SLACK = 0.3  # seconds by which the recorder and a node may differ in when a message came


def room_model(seed: int = 0):
    """Return a model that decides what happens in a room."""
    rng = np.random.default_rng(seed)
    n_rows = 600
    frame = pd.DataFrame(
        {
            "temperature": rng.normal(21.0, 3.0, n_rows),
            "humidity": rng.normal(45.0, 10.0, n_rows),
            "power": rng.choice([0.0, 60.0, 100.0], n_rows) + rng.normal(0.0, 2.0, n_rows),
            "door": rng.choice(["open", "closed"], n_rows),
        }
    )
    score = (frame["temperature"] - 21.0) / 3.0 + (frame["humidity"] - 45.0) / 10.0
    score = score + (frame["power"] > 30.0) * 2.0 - 1.0
    state = np.where(score > 0.0, "busy", np.where(frame["door"] == "open", "airing", "empty"))
    learner = RuleClassifier(interactions=0, max_rules=40)
    return learner.fit(frame, pd.Series(state, name="state")).model_


def write_site(folder: Path, url: str) -> Path:
    """Write the model and the site file."""
    save_document(room_model(), folder / "room.json")
    (folder / "site.yaml").write_text(SITE.format(url=url), encoding="utf-8")
    return folder / "site.yaml"


# --- sensors -------------------------------------------------------------------------------------


class Publisher(Client):
    """Publishes at most once, as most firmware does."""

    def publish_once(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Publish a message that is lost if the broker is."""
        self._paho.publish(topic, payload, qos=0, retain=retain)


class Sensors:
    """Publish as three kinds of firmware do, at their own rates, and misbehave."""

    def __init__(self, url: str, seed: int, recorder: Recorder, record: Record) -> None:
        self._rng = random.Random(seed)
        self._recorder, self._record = recorder, record
        self._client = Publisher(find_broker(url), "sensors", lambda *_: None, is_kept=False)
        self._stopping = threading.Event()
        self._silent_until = {CLIMATE: 0.0, PLUG: 0.0, DOOR: 0.0}
        self._count = 0

    def start(self) -> None:
        """Begin to publish."""
        self._client.start()
        for topic, every, payload in (
            (CLIMATE, 0.7, self._climate),
            (PLUG, 1.1, self._power),
            (DOOR, 0.9, self._door),
        ):
            threading.Thread(target=self._run, args=(topic, every, payload), daemon=True).start()

    def stop(self) -> None:
        """End it."""
        self._stopping.set()
        self._client.stop()

    def _run(self, topic, every, payload) -> None:
        while not self._stopping.wait(every * self._rng.uniform(0.6, 1.4)):
            if self._rng.random() < 0.03:
                self._silent_until[topic] = time.time() + self._rng.uniform(3.0, 9.0)
            # What the recorder cannot get, nobody gets, or it could not be explained.
            if time.time() >= self._silent_until[topic] and self._recorder.is_connected:
                message = payload()
                self._record.published.append((time.time(), topic, message))
                self._client.publish_once(topic, message, retain=topic == DOOR)

    def _climate(self) -> bytes:
        rng = self._rng
        clock = time.time() + (rng.choice([-20.0, 300.0]) if rng.random() < 0.1 else 0.0)
        message = {
            "temperature": round(rng.gauss(21.0, 3.0), 2),
            "humidity": round(rng.gauss(45.0, 10.0), 1),
            "linkquality": rng.randrange(255),
            "last_seen": datetime.fromtimestamp(clock, UTC).isoformat(),
        }
        if rng.random() < 0.15:
            message["temperature"] = rng.choice(["ON", None, 900.0, "nan"])
        if rng.random() < 0.1:
            del message["humidity"]
        whole = json.dumps(message).encode()
        return whole[: len(whole) // 2] if rng.random() < 0.05 else whole

    def _power(self) -> bytes:
        rng = self._rng
        self._count += rng.choice([0, 1, 1, 1, 1, -2]) if self._count > 5 else 1
        if rng.random() < 0.04:
            self._count = 0
        power = rng.choice([0.0, 60.0, 100.0]) if rng.random() > 0.1 else rng.choice(["", None, []])
        energy = {"Power": power, "Voltage": 230}
        return json.dumps(
            {"Time": "1970-01-01T00:00:00", "ENERGY": energy, "Count": self._count}
        ).encode()

    def _door(self) -> bytes:
        return self._rng.choice([b"ON", b"OFF", b"ON", b"OFF", b"ajar", b"\xff\xfe"])


# --- the second implementation -------------------------------------------------------------------


@dataclass
class Held:
    """What a plain reader holds of one feature."""

    value: object = None
    time: float | None = None
    count: float | None = None
    below: float | None = None


def take(held: Held, feature: str, payload: bytes, now: float, is_retained: bool) -> None:
    """Process a message by the site file and the documentation."""
    if feature == "door":
        if not is_retained:
            held.value = {b"ON": "open", b"OFF": "closed"}.get(payload)
            held.time = now if held.value is not None else held.time
        return
    try:
        message = json.loads(payload)
    except ValueError:
        held.value = None
        return
    time_sent = None
    if feature == "power":
        if _is_old_count(held, message["Count"]):
            return
        value = message["ENERGY"]["Power"]
        number = value if isinstance(value, float) else None
    else:
        time_sent = datetime.fromisoformat(message["last_seen"]).timestamp()
        if held.time is not None and time_sent <= held.time:
            return
        if feature not in message:
            return
        value = message[feature]
        number = value if isinstance(value, float) and value >= -40.0 else None
        number = None if feature == "temperature" and number and number > 60.0 else number
    held.value = number
    if number is not None:
        is_believed = time_sent is not None and time_sent <= now + 60.0
        held.time = time_sent if is_believed else now


def _is_old_count(held: Held, count: float) -> bool:
    """Whether a count is repeated or late; two rising ones below the last are a restart."""
    if held.count is None or count > held.count:
        held.count, held.below = count, None
        return False
    if held.below is not None and count > held.below and count != held.count:
        held.count, held.below, held.time = count, None, None
        return False
    if count < held.count:
        held.below = count
    return True


# --- watching ------------------------------------------------------------------------------------


@dataclass
class Disturbance:
    """A time in which a node may miss messages: from a kill until it is back."""

    node: str
    start: float
    end: float = math.inf


@dataclass
class Record:
    """What was published, decided and disturbed."""

    messages: list[tuple[float, str, bytes, bool]] = field(default_factory=list)
    published: list[tuple[float, str, bytes]] = field(default_factory=list)
    decisions: dict[int, Decided] = field(default_factory=dict)
    disturbances: list[Disturbance] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)

    def disturb(self, *nodes: str) -> None:
        """Note that nodes may miss messages from now on."""
        for node in nodes:
            self.disturbances.append(Disturbance(node, time.time() - 1.0))

    def note(self, status: Status) -> None:
        """Note how a node is doing, and whether it is back."""
        self.statuses[status.node] = status
        for one in self.disturbances:
            is_after = one.node == status.node and time.time() > one.start + 1.5
            if is_after and one.end == math.inf and status.state == "online":
                one.end = time.time() + _RECONNECTING + max(MAX_AGE.values())

    def of(self, feature: str) -> list[Disturbance]:
        """Return when the node of a feature may have missed messages."""
        return [one for one in self.disturbances if one.node == NODE[feature]]


class Recorder(Client):
    """Notes all messages with the time at which they came."""

    def __init__(self, url: str, record: Record) -> None:
        super().__init__(find_broker(url), "recorder", lambda *_: None, is_kept=False)
        self._record, self._topics_of = record, Topics("chaos")
        self.subscribe([*set(TOPIC.values()), "solah/chaos/#"])

    def _received(self, _client, _data, message) -> None:
        now, topic = time.time(), message.topic
        if topic in TOPIC.values():
            self._record.messages.append((now, topic, message.payload, bool(message.retain)))
        elif topic == self._topics_of.decisions:
            for row in decode_decisions(message.payload).rows:
                self._record.decisions.setdefault(row.sequence, row)
        elif topic.endswith("/status") and not message.retain:
            self._record.note(decode_status(message.payload))


class Judge:
    """Explains decisions by what had arrived."""

    def __init__(self, model, record: Record) -> None:
        self._record = record
        self._messages = {topic: [] for topic in TOPIC.values()}
        for arrived, topic, payload, is_retained in record.messages:
            self._messages[topic].append((arrived, payload, is_retained))
        self._histories: dict[tuple[str, float], tuple[list, list]] = {}
        self._predictor = Predictor(model)
        self._asked = [one.name for one in model.features]
        self._below: dict[str, set[str]] = {one: {one} for one in self._asked}
        for node in model.parts:
            self._below[node.name] = set().union(*(self._below[one] for one in node.origins))

    def unexplained(self) -> list[str]:
        """Return what is wrong with each decision that is not explained."""
        problems = (self._problem(row) for row in self._record.decisions.values())
        return [problem for problem in problems if problem]

    def _problem(self, row) -> str:
        unknown = set().union(*(self._below[part] for part in row.missing))
        if row.completeness == 0.0 and max(row.probabilities.values()) > 0.99:
            return f"row {row.sequence} has a probability near 1 without any value"
        choices = {}
        for name in self._asked:
            possible = self._possible(name, row.time)
            # A feature named itself was missing at its node; a lost part has no readings.
            if name in row.missing and None not in possible:
                return f"row {row.sequence}: {name} is called missing, and was {possible}"
            known = [one for one in possible if one is not None]
            choices[name] = [None] if name in unknown else known
            if not choices[name]:
                return f"row {row.sequence}: {name} is used, and nothing had arrived"
        frame = pd.DataFrame(list(product(*choices.values())), columns=list(choices))
        beliefs = self._predictor.predict_proba(frame)
        is_same = np.isclose(beliefs, list(row.probabilities.values()), rtol=0.0, atol=1e-9).all(
            axis=1
        )
        if is_same.any():
            return ""
        return (
            f"row {row.sequence}: {dict(row.probabilities)} is not the model's result for {choices}"
        )

    def _possible(self, feature: str, at: float) -> list[object]:
        """Return what a node may have held of a feature, about that time.

        A node that was away may have begun with any message of that time.
        """
        before = [one for one in self._record.of(feature) if one.start <= at]
        starts = {-math.inf}
        for one in before[-3:]:
            starts.update(self._arrivals(feature, one.start, min(one.end, at)))
        ends = [at - _SLACK, *self._arrivals(feature, at - _SLACK, at + _SLACK), at + _SLACK]
        found = {self._state(feature, start, end, at) for start in starts for end in ends}
        if any(at <= one.end for one in before):
            found |= self._alone(feature, at)
        return sorted(found, key=str)

    def _alone(self, feature: str, at: float) -> set[object]:
        """Return the value of each message that was published lately by itself, or None."""
        found: set[object] = {None}
        for sent, topic, payload in self._record.published:
            if topic == TOPIC[feature] and at - _WHILE_AWAY <= sent <= at + _SLACK:
                held = Held()
                take(held, feature, payload, sent, is_retained=False)
                found.add(held.value)
        return found

    def _arrivals(self, feature: str, start: float, end: float) -> list[float]:
        times = [arrived for arrived, *_ in self._messages[TOPIC[feature]]]
        return times[bisect_left(times, start) : bisect_right(times, end)]

    def _state(self, feature: str, start: float, end: float, at: float) -> object:
        """Return what is held that came from one time on, up to another."""
        times, states = self._history(feature, start)
        place = bisect_right(times, end)
        value, measured = states[place - 1] if place else (None, None)
        if value is None or measured is None:
            return None
        # About the limit either is right; ends differ, so that both are looked at.
        limit = MAX_AGE[feature] + (_SLACK if end > at else -_SLACK)
        return value if at - measured <= limit else None

    def _history(self, feature: str, start: float):
        """Return what is held after each message from one time on."""
        if (feature, start) not in self._histories:
            held, times, states = Held(), [], []
            for arrived, payload, is_retained in self._messages[TOPIC[feature]]:
                if arrived >= start:
                    take(held, feature, payload, arrived, is_retained)
                    times.append(arrived)
                    states.append((held.value, held.time))
            self._histories[feature, start] = times, states
        return self._histories[feature, start]


# --- chaos ---------------------------------------------------------------------------------------


def run(broker, folder: Path, seconds: float, seed: int = 0) -> tuple[Record, list[str], Counter]:
    """Let a site run among sensors that misbehave; return what was recorded, and not explained.

    Parameters
    ----------
    broker : with a url, ``kill`` and ``start``
    folder : for the site
    seconds : how long
    seed : of what goes wrong
    """
    file = write_site(folder, broker.url)
    site = load_site(file)
    bundle = site.bundle()
    site.state.mkdir(exist_ok=True)
    record, rng = Record(), random.Random(seed)
    recorder = Recorder(broker.url, record)
    sensors = Sensors(broker.url, seed, recorder, record)
    nodes = Launcher.of_site(bundle, file, site.state)
    nodes.start()
    supervisor = Supervisor(nodes, time.monotonic(), lambda _: None)
    recorder.start()
    everything = sorted(set(NODE.values()))
    try:
        record.disturb(*everything)
        sensors.start()
        _wait_for_decisions(record, supervisor)
        pause = min(max(seconds / 4, 10.0), 30.0)
        end, harm_at = time.time() + seconds, time.time() + seconds / 4
        while time.time() < end:
            supervisor.look(time.monotonic())
            if time.time() >= harm_at:
                harm_at = time.time() + pause
                if rng.random() < 0.6:
                    victim = rng.choice([node.name for node in bundle.plan.nodes])
                    nodes.kill(victim)
                    record.disturb(*({victim} & set(everything)))
                else:
                    record.disturb(*everything)
                    broker.kill()
                    time.sleep(1.0)
                    broker.start()
            time.sleep(0.1)
    finally:
        sensors.stop()
        nodes.stop()
        recorder.stop()
    return record, Judge(bundle.model, record).unexplained(), supervisor.restarts


def _wait_for_decisions(record: Record, supervisor: Supervisor, seconds: float = 120.0) -> None:
    give_up = time.monotonic() + seconds
    while not record.decisions and time.monotonic() < give_up:
        supervisor.look(time.monotonic())
        time.sleep(0.1)


class Mosquitto:
    """A broker on the loopback that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"mqtt://127.0.0.1:{self._port}"
        self._file = folder / "mosquitto.conf"
        lines = [f"listener {self._port} 127.0.0.1", "allow_anonymous true", f"user {getuser()}"]
        lines += ["persistence true", f"persistence_location {folder}/"]
        self._file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._process: subprocess.Popen | None = None

    def start(self) -> Mosquitto:
        """Start it, and wait until it answers."""
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        command = [program, "-c", str(self._file)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(500):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), 0.2).close()
                return self
            time.sleep(0.02)
        raise RuntimeError("mosquitto does not start")

    def stop(self) -> None:
        """End it in order, so that it keeps what is retained."""
        self._process.terminate()
        self._process.wait()

    def kill(self) -> None:
        """End it without a warning."""
        self._process.kill()
        self._process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        broker = Mosquitto(Path(name)).start()
        try:
            record, problems, restarts = run(broker, Path(name), options.seconds, options.seed)
        finally:
            broker.kill()
    n_decisions = len(record.decisions)
    print(f"{len(record.messages):,} messages of sensors, {n_decisions:,} decisions")
    print(f"explained by what had arrived: {n_decisions - len(problems):,} of {n_decisions:,}")
    print(f"nodes started again: {dict(restarts) or 'none'}")
    for status in record.statuses.values():
        for feature, report in status.sensors.items():
            print(f"  {feature}: {', '.join(f'{n} {what}' for what, n in report.counts.items())}")
    for problem in problems[:20]:
        print(problem)
    return 1 if problems or not n_decisions else 0


if __name__ == "__main__":
    sys.exit(main())
