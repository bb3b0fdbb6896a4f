"""What a site sends for a decision, beside what its readings would take, by the broker's counters.

    SOLAH_DATA=… python benchmarks/traffic.py [--sets room gas hapt robot] [--rows 6000] [--lost]

A model is fitted with a group for each device (``solah fit --placement``), on ten of twenty blocks
of the rows in file order, at most 3,000 of them; the rows of the other blocks are replayed in file
order through mosquitto, at QoS 1, row by row: every message is delivered before the next row. Four
ways, with the same nodes and the same compact messages:

- readings: nodes send the readings that the model asks, those that changed alone, to one place;
- scores, exact: nodes send one vector of scores, exactly, when it changed;
- scores, in units: the same, written in steps of 1/32 nat;
- on change: besides, nodes are silent while they cannot change the decision (slack 0.5).

Rows come once a second, and every node sends a row at least once a minute. In the ways that spread
a model, each node also sends its status once a minute, with its counters and sensors. Bytes are
$SYS/broker/bytes/received and sent: packets with their headers and acknowledgements, to the broker
and on to the nodes, without TCP. The decision itself, which is the same wherever it is made, is not
sent. Then, on paper, airtime and energy of a
LoRa link for the payloads that were sent; and the log-loss when nodes are lost, beside that of the
class shares: for the model, and for one that was fitted as if nothing could be lost. With --lost
only that, and for each node that is left alone the same on the rows learned from, beside a model of
that node's features alone.
"""

from __future__ import annotations

import argparse
import itertools
import math
import shutil
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import TYPE_CHECKING, Any

import numpy as np
import paho.mqtt.client as paho
from comparison.sets import load_rows
from nodes import free_port, start_mosquitto

from solah import RuleClassifier
from solah.evaluation.scores import log_loss
from solah.exceptions import DatasetError
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle
from solah.site.compact_messages import (
    decode_rows,
    decode_terms,
    encode_rows,
    encode_terms,
)
from solah.site.core import NodeCore, Settings
from solah.site.messages import Measured, SensorReport, Status, decode_ask, encode
from solah.site.plan import make_plan, plan_of_homes, with_sending
from solah.site.send_on_change import Sending
from solah.site.topics import Topics
from solah.site.traffic import publish_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from solah.model import Model
    from solah.site.core import Outbox

ALL = 1_000_000
LEARNT = 3_000
PERIOD = 1.0  # virtual seconds from row to row
STATUS_EVERY = 60.0  # virtual seconds
DEADLINE = 0.4  # a row is decided before the next
GATEWAY = "gateway"
EXACT = Sending(slack=0.0, unit=0.0)
UNITS = Sending(slack=0.0)
ON_CHANGE = Sending()


# --- devices -------------------------------------------------------------------------------------


def by_prefix(*prefixes: str) -> Callable[[list[str]], dict[str, list[str]]]:
    """Give each prefix of a column's name a device."""

    def devices(names: list[str]) -> dict[str, list[str]]:
        return {
            one.strip("_").lower(): [name for name in names if name.startswith(one)]
            for one in prefixes
        }

    return devices


def gas_boards(names: list[str]) -> dict[str, list[str]]:
    """Put sixteen gas sensors on four boards, eight features each."""
    return {f"board{b}": [n for n in names if (int(n[1:3]) - 1) // 4 == b] for b in range(4)}


def quarters(names: list[str]) -> dict[str, list[str]]:
    """Give each quarter of the robot's ring of distance sensors a device."""
    return {f"ring{q}": names[6 * q : 6 * q + 6] for q in range(4)}


SETS = {
    "room": ("iot_room_occupancy", by_prefix(*(f"S{i}_" for i in range(1, 8)))),
    "gas": ("iot_gas_sensor_drift_part", gas_boards),
    "hapt": ("iot_hapt_windows", by_prefix("acc_", "gyro_")),
    "robot": ("iot_wall_following_robot", quarters),
}


@dataclass(frozen=True)
class Case:
    """A model on its devices, and rows that it has not seen."""

    bundle: Bundle
    careless: Model
    devices: dict[str, list[str]]
    learned: tuple[Any, np.ndarray]
    rows: Any
    truth: np.ndarray
    free_accuracy: float


def made(name: str, n_rows: int) -> Case:
    source, devices_of = SETS[name]
    material = load_rows(source, ALL)
    devices = devices_of([column.name for column in material.table.columns])
    block = np.arange(material.table.n_rows) * 20 // material.table.n_rows
    learned = np.flatnonzero(block % 2 == 0)
    drawn = np.random.default_rng(0).choice(learned, min(LEARNT, len(learned)), replace=False)
    tested = np.flatnonzero(block % 2 == 1)[:n_rows]
    table = material.table.take(np.sort(drawn))
    target = material.target[np.sort(drawn)]
    rows, truth = material.table.take(tested), material.target[tested]
    free = RuleClassifier().fit(table, target)
    model, careless = (
        RuleClassifier(
            feature_groups=devices,
            interaction_cst=[list(one) for one in devices.values()],
            robust_to=robust_to,
        )
        .fit(table, target)
        .model_
        for robust_to in ("groups", None)
    )
    asked = {one.name for one in model.features}
    devices = {node: [n for n in names if n in asked] for node, names in devices.items()}
    devices = {node: names for node, names in devices.items() if names}
    plan = make_plan(model, devices, gateway=GATEWAY, site=name)
    accuracy = free.score(rows, truth)
    return Case(Bundle(plan, model), careless, devices, (table, target), rows, truth, accuracy)


def with_way(case: Case, way: str, sending: Sending) -> Bundle:
    """Plan a way to send."""
    model, plan = case.bundle.model, case.bundle.plan
    if way == "readings":
        measured = {name: node for node, names in case.devices.items() for name in names}
        homes = dict.fromkeys((part.name for part in model.parts), GATEWAY)
        plan = plan_of_homes(model, homes, plan.site, measured)
    return Bundle(with_sending(plan, model, sending), model)


# --- over the broker -----------------------------------------------------------------------------


@dataclass
class Sent:
    """What was published: how often, and payload bytes, to the deciding node and from it."""

    up: list[int] = field(default_factory=list)
    down: list[int] = field(default_factory=list)


class Site:
    """The nodes of a plan, with a clock of their own, on a real broker."""

    def __init__(self, bundle: Bundle, port: int, has_status: bool) -> None:
        self.status_bytes = 0
        self._next_status = 0.0 if has_status else math.inf
        self.topics, self.sent = Topics(bundle.plan.site), Sent()
        self.decided: dict[int, str] = {}
        self._bundle, self._clock = bundle, 0.0
        self._cores = {
            node.name: NodeCore(bundle, node.name, Settings(deadline=DEADLINE))
            for node in bundle.plan.nodes
        }
        self._decider = bundle.plan.nodes[0].name
        self._arrived: list[tuple[str, str, bytes]] = []
        self._n_expected = self._n_arrived = 0
        self._lock = threading.Condition()
        self._clients = {name: self._connected(name, port) for name in self._cores}

    def _connected(self, name: str, port: int) -> paho.Client:
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, clean_session=True)
        subscribed = threading.Event()
        client.on_subscribe = lambda *_: subscribed.set()
        client.on_socket_open = lambda _c, _d, sock: sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        client.on_message = lambda _c, _d, message: self._receive(name, message)
        client.connect("127.0.0.1", port, keepalive=3600)
        client.loop_start()
        if name == self._decider:
            others = [one for one in self._cores if one != name]
            topics = [self.topics.said(one) for one in others]
        else:
            topics = [self.topics.asked(name), self.topics.terms]
        client.subscribe([(topic, 1) for topic in topics])
        subscribed.wait(30)
        return client

    def _receive(self, name: str, message: Any) -> None:
        with self._lock:
            self._arrived.append((name, message.topic, message.payload))
            self._n_arrived += 1
            self._lock.notify_all()

    def replay(self, readings: list[dict[str, float]]) -> None:
        """Let every node measure its part of every row, and decide all rows."""
        for sequence, row in enumerate(readings):
            now = self._clock = sequence * PERIOD
            if now >= self._next_status:
                self._next_status = now + STATUS_EVERY
                self._publish_statuses(sequence)
            for node in self._bundle.plan.nodes:
                if node.reads:
                    own = Measured({name: row[name] for name in node.reads}, sequence, now)
                    self._cores[node.name].read([own], now, now)
                    self._advance(node.name)
            self._deliver()
            decider = self._cores[self._decider]
            while (due := decider.next_deadline()) is not None and due < now + PERIOD:
                self._clock = max(self._clock, due) + 1e-6
                self._advance(self._decider)
                self._deliver()

    def _publish_statuses(self, n_rows: int) -> None:
        """Publish how each node is doing, as running nodes do."""
        for node in self._bundle.plan.nodes:
            core = self._cores[node.name]
            sensors = {
                name: SensorReport(PERIOD, 600.0, True, {"taken": n_rows}) for name in node.reads
            }
            counters = {**core.counters, "sensor_messages": n_rows * len(node.reads)}
            counters = {name: times for name, times in counters.items() if times}
            status = Status(node.name, "online", self._bundle.hash, counters, sensors)
            payload = encode(status)
            self.status_bytes += publish_bytes(self.topics.status(node.name), payload) + 4
            self._clients[node.name].publish(self.topics.status(node.name), payload, 1, retain=True)

    def _advance(self, name: str) -> None:
        outbox: Outbox = self._cores[name].advance(self._clock)
        bundle, n_nodes = self._bundle, len(self._cores) - 1
        for said in outbox.beliefs:
            self._publish(name, self.topics.said(name), encode_rows(said, bundle), 1)
        for node, ask in outbox.asks:
            self._publish(name, self.topics.asked(node), encode(ask), 1)
        for terms in outbox.terms:
            self._publish(name, self.topics.terms, encode_terms(terms, bundle), n_nodes)
        for decisions in outbox.decisions:
            self.decided |= {row.sequence: row.decision for row in decisions.rows}

    def _publish(self, name: str, topic: str, payload: bytes, n_receivers: int) -> None:
        self._n_expected += n_receivers
        (self.sent.down if name == self._decider else self.sent.up).append(len(payload))
        self._clients[name].publish(topic, payload, qos=1)

    def _deliver(self) -> None:
        """Wait for all messages, and let their receivers work, until nothing is under way."""
        while True:
            with self._lock:
                done = self._lock.wait_for(lambda: self._n_arrived >= self._n_expected, 30)
                arrived, self._arrived = self._arrived, []
            if not done:
                raise SystemExit("the broker does not deliver")
            if not arrived:
                return
            for name, topic, payload in arrived:
                self._take(name, topic, payload)
            for name in {name for name, _, _ in arrived}:
                self._advance(name)

    def _take(self, name: str, topic: str, payload: bytes) -> None:
        core, address = self._cores[name], self.topics.parse(topic)
        if address is None:
            return
        if address.what == "out":
            core.hear(decode_rows(payload, address.node, core.bundles), self._clock)
        elif address.what == "ask":
            core.repeat(decode_ask(payload))
        elif (terms := decode_terms(payload, core.bundles)) is not None:
            core.take_terms(terms)

    def stop(self) -> None:
        """Leave the broker."""
        for client in self._clients.values():
            client.disconnect()
            client.loop_stop()


def counted_bytes(port: int) -> int:
    """Return what the broker received and sent so far, by its own counters."""
    time.sleep(2.5)  # it counts every second
    found: dict[str, int] = {}
    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    client.on_message = lambda _c, _d, m: found.setdefault(m.topic, int(m.payload))
    client.connect("127.0.0.1", port)
    client.loop_start()
    client.subscribe([(f"$SYS/broker/bytes/{way}", 0) for way in ("received", "sent")])
    for _ in range(200):
        if len(found) == 2:
            break
        time.sleep(0.02)
    client.disconnect()
    client.loop_stop()
    return sum(found.values())


def replayed(
    bundle: Bundle, readings: list[dict[str, float]], *, has_status: bool = True
) -> tuple[float, Site]:
    """Return the bytes for each row, and the site."""
    folder, port = Path(tempfile.mkdtemp()), free_port()
    folder.chmod(0o777)
    broker = start_mosquitto(folder, port, "sys_interval 1")
    site = Site(bundle, port, has_status)
    before = counted_bytes(port)
    site.replay(readings)
    n_bytes = counted_bytes(port) - before
    site.stop()
    broker.terminate()
    broker.wait()
    shutil.rmtree(folder)
    return n_bytes / len(readings), site


def measure(name: str, case: Case) -> None:
    model = case.bundle.model
    names = [one.name for one in model.features]
    columns = {one: case.rows.column(one).values for one in names}
    readings = [{one: float(columns[one][row]) for one in names} for row in range(case.rows.n_rows)]
    alone = [str(one) for one in Predictor(model).predict(case.rows)]
    right = np.mean([one == str(truth) for one, truth in zip(alone, case.truth, strict=True)])
    print(f"\n{name}: {len(readings):,} rows, {len(case.devices)} devices, {len(names)} features,")
    print(
        f"  {model.n_rules} rules; accuracy {right:.4f} (groups that organise themselves and ",
        end="",
    )
    print(f"interactions across devices: {case.free_accuracy:.4f})")
    heads = ("bytes/decision", "of readings", "statuses", "up/row", "down/row", "same")
    print(f"  {'':<20}" + "".join(map(str.rjust, heads, (15, 13, 10, 8, 9, 9))))
    baseline = 0.0
    ways = {
        "readings": EXACT,
        "scores, exact": EXACT,
        "scores, in units": UNITS,
        "on change": ON_CHANGE,
    }
    for way, sending in ways.items():
        bundle = with_way(case, way, sending)
        n_bytes, site = replayed(bundle, readings, has_status=way != "readings")
        baseline = baseline or n_bytes
        same = np.mean([one == two for one, two in zip(held(site, readings), alone, strict=True)])
        up, down = (len(one) / len(readings) for one in (site.sent.up, site.sent.down))
        print(
            f"  {way:<20}{n_bytes:>15.1f}{n_bytes / baseline:>13.3f}"
            f"{site.status_bytes / len(readings):>10.1f}{up:>8.2f}{down:>9.2f}"
            f"{100 * same:>8.2f}%",
            flush=True,
        )
        if way in ("readings", "on change"):
            print_airtime(site.sent, len(readings))
    print_losses(case)


def held(site: Site, readings: list[Any]) -> Iterator[str | None]:
    """Yield for every row the last decision up to it."""
    last = None
    for sequence in range(len(readings)):
        last = site.decided.get(sequence, last)
        yield last


# --- LoRa, on paper ------------------------------------------------------------------------------

BANDWIDTH, SPREADING, PREAMBLE, CODING = 125_000, 9, 8, 1
HEADER = 13  # LoRaWAN's, with the integrity code
WATTS = 0.145  # 44 mA at 3.3 V, sending at 14 dBm


def airtime(payload: int) -> float:
    """Return the seconds that a LoRa packet takes (Semtech AN1200.13, explicit header, CRC)."""
    symbol = 2**SPREADING / BANDWIDTH
    bits = 8 * (payload + HEADER) - 4 * SPREADING + 28 + 16
    n_symbols = 8 + max(math.ceil(bits / (4 * SPREADING)) * (CODING + 4), 0)
    return (PREAMBLE + 4.25 + n_symbols) * symbol


def print_airtime(sent: Sent, n_rows: int) -> None:
    seconds = sum(map(airtime, sent.up)) / n_rows
    back = sum(map(airtime, sent.down)) / n_rows
    print(
        f"    LoRa, SF{SPREADING}: {1000 * seconds:.0f} ms and {1000 * WATTS * seconds:.1f} mJ to "
        f"send for a decision, {1000 * back:.0f} ms of terms to receive"
    )


# --- nodes that are lost -------------------------------------------------------------------------


def print_losses(case: Case) -> None:
    """Print the log-loss for 0 to all nodes lost: the mean over all choices, and the worst."""
    for what, model in (("", case.bundle.model), (", fitted to none lost", case.careless)):
        shares = loss_of_shares(model, case.truth)
        right = np.mean(Predictor(model).predict(case.rows) == case.truth.astype(object))
        print(f"  nodes lost{what}: log-loss, mean (worst) of all choices; class shares ", end="")
        print(f"{shares:.3f}; with all nodes, {right:.4f} are decided rightly")
        told = []
        for n_lost in range(len(case.devices) + 1):
            losses = [
                loss_without(model, case.rows, case.truth, columns_of(case, lost))
                for lost in itertools.combinations(case.devices, n_lost)
            ]
            told.append(f"{n_lost}: {np.mean(losses):.3f} ({max(losses):.3f})")
        print("    " + ", ".join(told), flush=True)


def print_left_alone(case: Case) -> None:
    """Print the log-loss where one node is left, beside a model of its features alone."""
    heads = ("model", "none lost", "alone", "class shares")
    print(
        f"  {'left alone':<20}" + "".join(f"{head:>16}" for head in heads) + "  (learned, tested)"
    )
    sides = (case.learned, (case.rows, case.truth))
    for left, names in case.devices.items():
        table, target = case.learned
        alone = RuleClassifier().fit(table.select(names), target).model_
        lost = columns_of(case, [node for node in case.devices if node != left])
        models = ((case.bundle.model, lost), (case.careless, lost), (alone, frozenset()))
        found = [[loss_without(model, *side, gone) for side in sides] for model, gone in models]
        found.append([loss_of_shares(case.bundle.model, truth) for _, truth in sides])
        print(
            f"  {left:<20}" + "".join(f"{one:>8.3f}{two:>8.3f}" for one, two in found), flush=True
        )


def columns_of(case: Case, nodes: Iterable[str]) -> frozenset[str]:
    return frozenset(name for node in nodes for name in case.devices[node])


def loss_without(model: Model, rows: Any, truth: np.ndarray, gone: frozenset[str]) -> float:
    """Return the log-loss with some columns lost, of the rows whose class the model knows."""
    columns = [
        np.full(rows.n_rows, np.nan)
        if one.name in gone
        else rows.column(one.name).values.astype(float)
        for one in model.features
    ]
    beliefs = Predictor(model).predict_proba(np.column_stack(columns))
    return known_loss(model, truth, beliefs)


def loss_of_shares(model: Model, truth: np.ndarray) -> float:
    return known_loss(model, truth, np.tile(np.array(model.target.shares), (len(truth), 1)))


def known_loss(model: Model, truth: np.ndarray, beliefs: np.ndarray) -> float:
    classes = np.array(model.target.classes, dtype=object).astype(str)
    spelt = truth.astype(object).astype(str)
    is_known = np.isin(spelt, classes)
    return log_loss(spelt[is_known], beliefs[is_known], classes)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=SETS, default=tuple(SETS))
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--lost", action="store_true", help="only what lost nodes cost")
    options = parser.parse_args(words)
    warnings.simplefilter("ignore")  # classes that only tested rows have
    for name in options.sets:
        try:
            case = made(name, options.rows)
        except DatasetError as error:
            print(f"{name}: skipped: {error}")
            continue
        if options.lost:
            print(f"\n{name}")
            print_losses(case)
            print_left_alone(case)
        else:
            measure(name, case)


if __name__ == "__main__":
    main()
