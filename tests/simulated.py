"""A network of nodes in one process, with a clock and a broker that tests control."""

import heapq
from itertools import count

import numpy as np

from solah.site.compact_messages import decode_rows, decode_terms, encode_rows, encode_terms
from solah.site.core import NodeCore, Settings
from solah.site.messages import Measured, decode_ask, decode_decisions, encode


def named(model, row):
    """Name the readings of a row, as a sensor does."""
    readings = {}
    for one, value in zip(model.features, row, strict=True):
        is_text = one.is_coded and isinstance(one.categories[0], str)
        known = one.categories[int(value)] if is_text and value == value else float(value)
        readings[one.name] = known if value == value else None
    return readings


def readings_of(model, rows):
    """Name the readings of rows."""
    return [named(model, row) for row in rows]


class Simulation:
    """Nodes that talk through a broker which delays, repeats, reorders and loses messages."""

    def __init__(self, bundle, *, seed=0, delay=0.0, twice=0.0, lost=0.0, **settings):
        self.rng = np.random.default_rng(seed)
        self.delay, self.twice, self.lost = delay, twice, lost
        self.settings = Settings(**settings)
        self.nodes = {
            node.name: NodeCore(bundle, node.name, self.settings) for node in bundle.plan.nodes
        }
        self.now = 0.0
        self.events = []
        self.order = count()
        self.decisions = []
        self.dead = set()
        self.sent_bytes = 0
        self.ordered = {}  # when the last message of a topic arrives

    def measure(self, name, sequence, readings, at):
        row = Measured(readings, sequence, 1000.0 + at)
        self._at(at, lambda: self._read(name, [row]))

    def flood(self, name, sequences, at):
        """Let a stranger write to a node's input, all in one message."""
        rows = [Measured({}, sequence, 1000.0 + at) for sequence in sequences]
        self._at(at, lambda: self._read(name, rows))

    def _read(self, name, rows):
        if name not in self.dead:
            self.nodes[name].read(rows, self.now, 1000.0 + self.now)
            self._advance(name)

    def adopt(self, name, bundle, at):
        def take():
            self.nodes[name].adopt(bundle)
            self._advance(name)

        self._at(at, take)

    def run(self):
        """Let everything happen that will."""
        while True:
            self._wake()
            if not self.events:
                return self.decisions
            self.now, _, event = heapq.heappop(self.events)
            event()

    def _wake(self):
        """Wake nodes whose deadline comes before the next event."""
        while True:
            times = [
                (time, name)
                for name, node in self.nodes.items()
                if name not in self.dead and (time := node.next_deadline()) is not None
            ]
            if not times or (self.events and self.events[0][0] < min(times)[0]):
                return
            time, name = min(times)
            self.now = max(self.now, time) + 1e-6
            self._advance(name)
            if self.events:
                return

    def _advance(self, name):
        outbox = self.nodes[name].advance(self.now)
        bundles = self.nodes[name].bundles
        by_hash = {bundle.hash: bundle for bundle in bundles}
        for said in outbox.beliefs:
            payload = encode_rows(said, by_hash[said.model])
            if by_hash[said.model].plan.sending is not None:
                self._in_order(name, lambda payload=payload: self._hear(name, payload))
                continue
            self._publish(payload, lambda payload: self._hear(name, payload))
        for terms in outbox.terms:
            payload = encode_terms(terms, by_hash[terms.model])
            for other in self.nodes:
                self._in_order(
                    ("terms", other),
                    lambda payload=payload, node=other: self._take_terms(node, payload),
                )
        for node, ask in outbox.asks:
            payload = encode(ask)
            self._publish(payload, lambda payload, node=node: self._repeat(node, payload))
        for decided in outbox.decisions:
            self.decisions += decode_decisions(encode(decided)).rows

    def _hear(self, sender, payload):
        for name, node in self.nodes.items():
            if name not in self.dead and sender in dict(node.plan.hears).values():
                node.hear(decode_rows(payload, sender, node.bundles), self.now)
                self._advance(name)

    def _take_terms(self, name, payload):
        node = self.nodes[name]
        if name not in self.dead and node.plan.sends:
            node.take_terms(decode_terms(payload, node.bundles))
            self._advance(name)

    def _repeat(self, name, payload):
        if name not in self.dead:
            self.nodes[name].repeat(decode_ask(payload))
            self._advance(name)

    def _in_order(self, topic, event):
        """Deliver late, but in the order in which it was sent, as brokers do for one topic."""
        late = self.rng.exponential(self.delay) if self.delay else 0.0
        self.ordered[topic] = max(self.ordered.get(topic, 0.0), self.now + late)
        self._at(self.ordered[topic], event)

    def _publish(self, payload, deliver):
        self.sent_bytes += len(payload)
        for _ in range(1 + (self.rng.random() < self.twice)):
            if self.rng.random() >= self.lost:
                late = self.rng.exponential(self.delay) if self.delay else 0.0
                self._at(self.now + late, lambda: deliver(payload))

    def _at(self, time, event):
        heapq.heappush(self.events, (time, next(self.order), event))
