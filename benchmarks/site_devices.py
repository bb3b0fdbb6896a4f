"""Check every decision of a site with six kinds of devices, through restarts.

    python benchmarks/site_devices.py [--ticks 106] [--seed 0]

A site of one node, as `solah site run` starts it, with devices as their firmware publishes:
Zigbee2MQTT on change, Tasmota in Fahrenheit, ESPHome, Shelly Gen2, ChirpStack and a motion sensor.
In each tick devices change, send garbage, fall silent or go offline; the node is killed, or the
broker restarted, while they go on. Then the newest decision must be the model's on the readings
that count by docs/site.md, which a plain second reader keeps. Prints how many ticks were right, and
ends with code 1 if a decision was wrong, or a class was decided on less than half of the readings.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from site_chaos import Mosquitto, Publisher

from solah import RuleClassifier
from solah.model import save_document
from solah.model.predictor import Predictor
from solah.site.client import Client, find_broker
from solah.site.messages import decode_decisions
from solah.site.site_file import load_site
from solah.site.supervisor import Launcher, Supervisor
from solah.site.topics import Topics

SITE = """
site: house
model: house.json
broker: {url}
sensors:
  - {{template: zigbee2mqtt, device: air, max_age: 12h, features: {{air: temperature}}}}
  - {{template: tasmota, device: out, max_age: 7s,
     features: {{outside: {{from: AM2301.Temperature, unit: degF to degC}}}}}}
  - {{template: esphome, device: hall, max_age: 12h, features: {{light: sensor/lux}}}}
  - {{template: shelly, device: plug, max_age: 12h, features: {{power: "switch:0/apower"}}}}
  - {{template: chirpstack, device: 0a1b, max_age: 10min, features: {{soil: moisture}}}}
  - template: zigbee2mqtt
    device: pir
    max_age: 12h
    features: {{motion: {{from: occupancy, states: {{true: moving, false: quiet}}}}}}
decide: {{every: 1s}}
"""
SHORT_LIVED = {"outside": 7.0}
PERIODIC = ("outside", "soil")  # which the broker does not keep
OFFLINE = {
    "air": ("zigbee2mqtt/air/availability", '{"state": "%s"}', ("online", "offline")),
    "outside": ("tele/out/LWT", "%s", ("Online", "Offline")),
    "light": ("hall/status", "%s", ("online", "offline")),
    "power": ("plug/online", "%s", ("true", "false")),
    "motion": ("zigbee2mqtt/pir/availability", '{"state": "%s"}', ("online", "offline")),
}


def house_model():
    """Return a model that decides what happens in a house."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "air": rng.normal(21.0, 3.0, 800),
            "outside": rng.normal(12.0, 8.0, 800),
            "light": rng.gamma(2.0, 150.0, 800),
            "power": rng.choice([5.0, 60.0, 900.0], 800) + rng.normal(0.0, 2.0, 800),
            "soil": rng.uniform(5.0, 60.0, 800),
            "motion": rng.choice(["moving", "quiet"], 800),
        }
    )
    warm = (rows["air"] - 21.0) / 3.0 + (rows["outside"] - 12.0) / 8.0
    busy = 1.5 * (rows["motion"] == "moving") + (rows["power"] > 30.0) + rows["light"] / 300.0
    score = np.stack([busy - 1.0, warm + 0.5, (30.0 - rows["soil"]) / 15.0])
    state = np.array(["busy", "airing", "watering"])[score.argmax(axis=0)]
    fitted = RuleClassifier(interactions=0, max_rules=40).fit(rows, pd.Series(state, name="state"))
    return fitted.model_


def payload(feature: str, value: object) -> tuple[str, str]:
    """Return the topic and the message in which a device sends a value."""
    now = datetime.now(UTC).isoformat()
    return {
        "air": lambda: ("zigbee2mqtt/air", json.dumps({"temperature": value, "battery": 90})),
        "outside": lambda: ("tele/out/SENSOR", json.dumps({"AM2301": {"Temperature": value}})),
        "light": lambda: ("hall/sensor/lux/state", str(value)),
        "power": lambda: ("plug/status/switch:0", json.dumps({"apower": value, "output": True})),
        "soil": lambda: (
            "application/1/device/0a1b/event/up",
            json.dumps({"time": now, "object": {"moisture": value}}),
        ),
        "motion": lambda: ("zigbee2mqtt/pir", json.dumps({"occupancy": value})),
    }[feature]()


@dataclass
class Reading:
    """What counts of one feature: its value, and when it was sent."""

    value: object = None
    time: float = 0.0
    is_offline: bool = False


class Devices:
    """Publish as devices do, and keep which readings count."""

    def __init__(self, url: str, seed: int) -> None:
        self._rng = random.Random(seed)
        self.readings = {name: Reading() for name in ("air", "outside", "light", "power", "soil")}
        self.readings["motion"] = Reading()
        self._client = Publisher(find_broker(url), "devices", lambda *_: None, is_kept=False)
        self._client.start()

    def step(self) -> None:
        """Let devices change, or fail."""
        rng = self._rng
        for name, reading in self.readings.items():
            if name in OFFLINE and rng.random() < (0.4 if reading.is_offline else 0.05):
                self._turn(name, reading)
            if not reading.is_offline and rng.random() < (0.75 if name == "outside" else 0.4):
                self._send(name, reading)

    def _turn(self, name: str, reading: Reading) -> None:
        reading.is_offline = not reading.is_offline
        topic, form, words = OFFLINE[name]
        self._client.publish_once(topic, (form % words[reading.is_offline]).encode(), retain=True)
        if reading.is_offline:
            reading.value = None
        else:
            self._send(name, reading)

    def _send(self, name: str, reading: Reading) -> None:
        rng = self._rng
        value = {
            "air": round(rng.gauss(21.0, 3.0), 1),
            "outside": round(rng.gauss(54.0, 14.0), 1),
            "light": round(rng.gammavariate(2.0, 150.0), 1),
            "power": round(rng.choice([5.0, 60.0, 900.0]), 1),
            "soil": round(rng.uniform(5.0, 60.0), 1),
            "motion": rng.random() < 0.5,
        }[name]
        sent = None if rng.random() < 0.1 else value
        topic, message = payload(name, "nan" if sent is None and name == "light" else sent)
        self._client.publish_once(topic, message.encode(), retain=name not in PERIODIC)
        reading.value, reading.time = sent, time.time()
        if sent is not None and name == "outside":
            reading.value = 5 / 9 * sent - 160 / 9
        if sent is not None and name == "motion":
            reading.value = "moving" if sent else "quiet"

    def lose(self) -> None:
        """Note that the node lost its connection: only what the broker keeps counts."""
        for name in PERIODIC:
            self.readings[name].value = None

    def rows(self, now: float) -> pd.DataFrame:
        """Return the readings that count: one row, or two while one is about to be too old."""
        rows = [{name: one.value for name, one in self.readings.items()}]
        for name, limit in SHORT_LIVED.items():
            age = now - self.readings[name].time
            if age > limit - 0.5:
                aged = {**rows[0], name: None}
                rows = [aged] if age > limit + 0.5 else [*rows, aged]
        return pd.DataFrame(rows).astype({"motion": object})

    def stop(self) -> None:
        """Stop publishing."""
        self._client.stop()


def run(broker, folder: Path, ticks: int, seed: int = 0) -> tuple[int, list[str], float]:
    """Let a site run among devices; return the ticks, what was wrong, and the node's megabytes."""
    model = house_model()
    save_document(model, folder / "house.json")
    file = folder / "site.yaml"
    file.write_text(SITE.format(url=broker.url), encoding="utf-8")
    site, rng, predictor = load_site(file), random.Random(seed), Predictor(model)
    site.state.mkdir(exist_ok=True)
    nodes = Launcher.of_site(site.bundle(), file, site.state)
    nodes.start()
    supervisor, found = Supervisor(nodes, time.monotonic(), lambda _: None), []
    listener = Client(find_broker(broker.url), "oracle", lambda _, data: found.append(data))
    listener.subscribe([Topics("house").decisions])
    listener.start()
    devices, wrong = Devices(broker.url, seed), []

    def await_decision(after: float):
        give_up = time.monotonic() + 180.0  # a node that is killed often waits up to 60 s
        while time.monotonic() < give_up:
            supervisor.look(time.monotonic())
            rows = [row for data in found[-3:] for row in decode_decisions(data).rows]
            if rows and rows[-1].time > after:
                return rows[-1]
            time.sleep(0.05)
        raise RuntimeError("no decision within three minutes")

    try:
        for tick in range(ticks):
            event = rng.choice(["node", "broker"]) if tick % 8 == 5 else ""
            if event == "node":
                nodes.kill("gateway")
                devices.lose()
            if event == "broker":
                broker.stop()
                devices.lose()
                broker.start()
                time.sleep(6.0)  # all find it again
            if tick == 0 or event:
                await_decision(time.time() + 1.0)
            devices.step()
            decided = await_decision(time.time() + 1.5)
            rows = devices.rows(decided.time)
            expected = predictor.predict_proba(rows)
            is_right = np.isclose(expected, list(decided.probabilities.values()), atol=1e-6).all(
                axis=1
            )
            if not is_right.any():
                wrong.append(
                    f"tick {tick}: {decided.missing} {decided.probabilities}, not {rows.T}"
                )
            if decided.completeness < 0.5 and decided.stable is not None:
                wrong.append(
                    f"tick {tick}: {decided.stable} on {decided.completeness:.0%} of the values"
                )
        status = Path(f"/proc/{nodes.ids()['gateway']}/status").read_text(encoding="utf-8")
        (resident,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    finally:
        devices.stop()
        listener.stop()
        nodes.stop()
    return ticks, wrong, int(resident.split()[1]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=106)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        broker = Mosquitto(Path(name)).start()
        try:
            n_ticks, wrong, megabytes = run(broker, Path(name), options.ticks, options.seed)
        finally:
            broker.stop()
    print(
        f"{n_ticks - len(wrong)} of {n_ticks} ticks right; the node takes {megabytes:.0f} MB (RSS)"
    )
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
