"""Fault injection in a network: whether the readings that had arrived explain every decision.

    python benchmarks/chaos.py [--minutes 15] [--rate 10] [--seed 0]

The network of benchmarks/nodes.py (five processes, mosquitto), and sensors that publish readings on
the topics of the nodes. Every few seconds something drawn at random happens: a node is killed and
started again, the broker is killed and started again, the sensors of a node fall silent, their
clock is days off, they send missing values, repeat rows, or somebody publishes garbage. Every
decision is computed again from the readings that were sent for its row, without those that the
decision names as missing, and must be the same, bit for bit. A reading that was never sent must be
named or missing; a decision without any reading may not be surer than the model is without
readings. A watcher is polled twice a second, and may never report live while the broker is away.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from nodes import free_port, made, start_mosquitto

from solah.model.predictor import Predictor
from solah.site.bundle import save_bundle
from solah.site.client import Client, find_broker
from solah.site.messages import Measured, decode_decisions, encode
from solah.site.observer import Observer
from solah.site.supervisor import Launcher
from solah.site.topics import Topics
from solah.site.watch import subscribed

if TYPE_CHECKING:
    from solah.site.bundle import Bundle
    from solah.site.messages import Decided
    from solah.site.plan import NodePlan

DEADLINE = 1.5
PATIENCE = 180.0  # seconds that a site may take until it decides
SETTLE = 10.0
FAULTS = ("node", "broker", "silence", "clock", "unknown", "repeats", "garbage")
DAY = 86_400.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = run(60.0 * options.minutes, options.rate, options.seed)
    for line in found.lines():
        print(line)
    raise SystemExit(bool(found.problems))


@dataclass
class Found:
    """What came of it."""

    faults: Counter[str]
    n_sent: int
    n_decided: int = 0
    n_incomplete: int = 0
    n_blind: int = 0
    least_known: float = 1.0
    conditions: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        faults = ", ".join(f"{name} {times}" for name, times in sorted(self.faults.items()))
        states = ", ".join(f"{name} {times}" for name, times in self.conditions.most_common())
        return [
            f"faults: {faults}",
            f"{self.n_sent:,} rows sent, {self.n_decided:,} decided, {self.n_incomplete:,} with "
            f"something missing, {self.n_blind:,} without a reading; least known "
            f"{self.least_known:.2f}",
            f"the watcher reported: {states}",
            f"{len(self.problems):,} decisions or states not explained",
            *self.problems[:20],
        ]


def run(seconds: float, rate: float, seed: int) -> Found:
    """Let chaos reign for some seconds; return what came of it."""
    bundle, rows, _ = made(4_000)
    site = Site(bundle)
    try:
        sensors = Sensors(site, rows, np.random.default_rng(seed))
        faults = sensors.run(seconds, rate)
        site.settle(sensors.sent)
        found = Found(faults, len(sensors.sent), conditions=site.conditions)
        found.problems += site.problems
        explain(bundle, sensors.sent, site.decided, found)
        return found
    finally:
        site.stop()


class Site:
    """A broker and nodes that can be killed, who keeps their decisions, and a watcher."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.topics = Topics(bundle.plan.site)
        self.decided: dict[int, Decided] = {}
        self.problems: list[str] = []
        self.conditions: Counter[str] = Counter()
        self._folder = Path(tempfile.mkdtemp())
        self._folder.chmod(0o777)
        self._port = free_port()
        self.url = f"mqtt://127.0.0.1:{self._port}"
        self._broker = start_mosquitto(self._folder, self._port)
        self._away_since = math.inf
        self._listener = Client(find_broker(self.url), "listener", self._take)
        self._listener.subscribe([self.topics.decisions])
        self._listener.start()
        plan_file = self._folder / "plan.json"
        save_bundle(bundle, plan_file)
        self.nodes = Launcher(bundle, plan_file, self.url, self._folder, deadline=DEADLINE)
        self.nodes.start()
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def restart_node(self, name: str, pause: float) -> None:
        """Kill a node, and start it again after a pause."""
        self.nodes.kill(name)
        time.sleep(pause)
        self.nodes.start(name)

    def restart_broker(self, pause: float) -> None:
        """Kill the broker, and start it again after a pause."""
        self._broker.kill()
        self._broker.wait()
        self._away_since = time.monotonic()
        time.sleep(pause)
        self._away_since = math.inf
        self._broker = start_mosquitto(self._folder, self._port)

    def settle(self, sent: dict[int, dict[str, float | None]]) -> None:
        """Wait until the rows that were sent are decided, or nothing more comes."""
        before, changed = -1, time.monotonic()
        while len(self.decided) < len(sent) and time.monotonic() < changed + SETTLE:
            if len(self.decided) != before:
                before, changed = len(self.decided), time.monotonic()
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop everything."""
        self._stopping.set()
        self._watcher.join()
        self.nodes.stop()
        self._listener.stop()
        self._broker.terminate()
        self._broker.wait()
        shutil.rmtree(self._folder)

    def _take(self, _topic: str, payload: bytes) -> None:
        try:
            rows = decode_decisions(payload).rows
        except ValueError:
            return  # garbage
        for row in rows:
            known = self.decided.setdefault(row.sequence, row)
            if known.probabilities != row.probabilities:
                self.problems.append(f"row {row.sequence} was decided twice, and otherwise")

    def _watch(self) -> None:
        observer = Observer(self.topics)
        observer.adopt(self.bundle)
        with subscribed(find_broker(self.url), self.topics, observer):
            while not self._stopping.wait(0.5):
                is_away = time.monotonic() > self._away_since + 1.0
                state = observer.snapshot(time.time(), 1)["condition"]["state"]
                self.conditions[state] += 1
                if is_away and state == "live" and math.isfinite(self._away_since):
                    self.problems.append("the watcher reported live while the broker was away")


class Sensors:
    """Publishes readings, and lets things go wrong."""

    def __init__(self, site: Site, rows: pd.DataFrame, rng: np.random.Generator) -> None:
        self._site, self._rng = site, rng
        names = [feature.name for feature in site.bundle.model.features]
        self._rows = rows[names].to_dict("records")
        self._measuring = [node for node in site.bundle.plan.nodes if node.reads]
        self._client = Client(find_broker(site.url), "sensors", lambda *_: None)
        self._client.start()
        self._now: dict[str, tuple[str, float]] = {}  # what is wrong with sensors, and till when
        self.sent: dict[int, dict[str, float | None]] = {}
        self._killing: threading.Thread | None = None

    def run(self, seconds: float, rate: float) -> Counter[str]:
        """Publish rows, from the first decision on for some seconds; return what went wrong."""
        faults: Counter[str] = Counter()
        started = time.monotonic()
        end, next_fault = started + PATIENCE, math.inf
        row = 0
        while (now := time.monotonic()) < end:
            if math.isinf(next_fault) and self._site.decided:
                end, next_fault = now + seconds, now + min(5.0, seconds / 4)
            self._publish(row)
            row += 1
            if now >= next_fault:
                faults[self._go_wrong(str(self._rng.choice(FAULTS)))] += 1
                next_fault = time.monotonic() + float(self._rng.uniform(1.0, 4.0))
            time.sleep(max(started + row / rate - time.monotonic(), 0.0))
        if self._killing is not None:
            self._killing.join()
        self._client.stop()
        return faults

    def _publish(self, row: int) -> None:
        sent = self.sent.setdefault(row, {})
        for node in self._measuring:
            fault, until = self._now.get(node.name, ("", 0.0))
            fault = fault if time.monotonic() < until else ""
            if fault == "silence":
                continue
            readings = self._readings(node, row, fault)
            sent |= readings
            at = time.time() + (3 * DAY if fault == "clock" else 0.0)
            payload = encode(Measured(readings, row, at))
            for _ in range(2 if fault == "repeats" else 1):
                self._client.publish(self._site.topics.readings(node.name), payload)

    def _readings(self, node: NodePlan, row: int, fault: str) -> dict[str, float | None]:
        known = self._rows[row % len(self._rows)]
        is_unknown = self._rng.random(len(node.reads)) < (0.5 if fault == "unknown" else 0.0)
        return {
            name: None if gone else float(known[name])
            for name, gone in zip(node.reads, is_unknown, strict=True)
        }

    def _go_wrong(self, fault: str) -> str:
        node = self._measuring[int(self._rng.integers(len(self._measuring)))].name
        if fault == "garbage":
            self._publish_garbage(node)
        elif fault in ("node", "broker"):
            if self._killing is not None and self._killing.is_alive():
                return "nothing"  # one of them is away already
            pause = float(self._rng.uniform(0.5, 4.0))
            names = [one.name for one in self._site.bundle.plan.nodes]
            victim = names[int(self._rng.integers(len(names)))]
            work = (
                (self._site.restart_node, (victim, pause))
                if fault == "node"
                else (self._site.restart_broker, (pause,))
            )
            self._killing = threading.Thread(target=work[0], args=work[1], daemon=True)
            self._killing.start()
        else:
            self._now[node] = (fault, time.monotonic() + float(self._rng.uniform(2.0, 6.0)))
        return fault

    def _publish_garbage(self, node: str) -> None:
        topics = self._site.topics
        targets = (
            *(topics.readings(node), topics.said(node), topics.asked(node), topics.status(node)),
            *(topics.decisions, topics.progress, topics.model, topics.shadow.model),
        )
        odd = (
            bytes(self._rng.integers(0, 256, 60, dtype=np.uint8)),
            json.dumps({"v": 1, "rows": [[[]]]}).encode(),
            b'{"readings": {"mean_radius": "ON", "no_such": 7}, "seq": "x"}',
        )
        for topic in targets:
            self._client.publish(topic, odd[int(self._rng.integers(len(odd)))])


def explain(
    bundle: Bundle,
    sent: dict[int, dict[str, float | None]],
    decided: dict[int, Decided],
    found: Found,
) -> None:
    """Compute every decision again from what was sent for it."""
    names = [feature.name for feature in bundle.model.features]
    numbers = sorted(decided.keys() & sent.keys())
    strange = decided.keys() - sent.keys()
    found.problems += [f"row {row} was decided and never sent" for row in sorted(strange)]
    blind = {row: features_below(bundle, decided[row].missing) for row in numbers}
    values = pd.DataFrame(
        [
            [math.nan if name in blind[row] else _number(sent[row].get(name)) for name in names]
            for row in numbers
        ],
        columns=names,
        dtype=float,
    )
    predictor = Predictor(bundle.model)
    expected = predictor.predict_proba(values)
    prior = predictor.predict_proba(pd.DataFrame([[math.nan] * len(names)], columns=names))[0]
    for place, row in enumerate(numbers):
        one, readings = decided[row], values.iloc[place]
        unsent = {name for name in names if name not in sent[row]} - blind[row]
        if unsent:
            found.problems.append(f"row {row} was decided with {sorted(unsent)}, which never came")
        if tuple(one.probabilities.values()) != tuple(expected[place]):
            found.problems.append(f"row {row} does not follow from its readings")
        if readings.isna().any() and one.completeness >= 1.0:
            found.problems.append(f"row {row} claims that nothing is missing")
        if readings.isna().all() and max(one.probabilities.values()) > prior.max() + 1e-12:
            found.problems.append(f"row {row} is surer than nothing allows")
        found.n_incomplete += bool(one.missing)
        found.n_blind += bool(readings.isna().all())
        found.least_known = min(found.least_known, one.completeness)
    found.n_decided = len(numbers)


def _number(reading: float | None) -> float:
    return math.nan if reading is None else reading


def features_below(bundle: Bundle, missing: tuple[str, ...]) -> set[str]:
    """Name the features that are asked for some parts."""
    origins = {part.name: part.origins for part in bundle.model.parts}
    asked, waiting = set(), list(missing)
    while waiting:
        name = waiting.pop()
        waiting += origins.get(name, ())
        asked |= {name} - origins.keys()
    return asked


if __name__ == "__main__":
    main()
