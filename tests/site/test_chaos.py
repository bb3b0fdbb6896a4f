"""Nodes on a real broker, where messages are delayed and repeated, and everybody is killed."""

import threading

import chaos
import numpy as np
import pytest
from processes import Listener
from test_core import expected, network
from test_hostile import Threads

from random_models import random_rows
from solah.site import node
from solah.site.client import Client

pytestmark = pytest.mark.slow


class Unreliable(Client):
    """Says things late, twice, and in another order."""

    rng = np.random.default_rng(0)

    def publish(self, topic, payload, **options):
        if not topic.endswith("/out"):
            return super().publish(topic, payload, **options)
        for _ in range(1 + int(self.rng.random() < 0.3)):
            late = float(self.rng.exponential(0.05))
            say = threading.Timer(late, super().publish, (topic, payload))
            say.daemon = True
            say.start()
        return True


def test_no_decision_is_lost_or_changed(broker, monkeypatch):
    monkeypatch.setattr(node, "Client", Unreliable)
    bundle = network("words and pairs")
    rows = random_rows(np.random.default_rng(0), bundle.model, 400)
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows)
    nodes.start()
    listener.wait(len(rows))
    nodes.stop()
    listener.stop()
    beliefs = expected(bundle.model, rows)
    for sequence, (_, row) in listener.rows.items():
        assert tuple(row.probabilities.values()) == tuple(beliefs[sequence])
        assert row.missing == ()
    assert not listener.contradictions
    assert nodes.counters("gateway")["duplicates"] + nodes.counters("gateway")["late"] > 50


def test_every_decision_is_explained_by_what_had_arrived(find_tool, chaos_seconds):
    find_tool("mosquitto")
    found = chaos.run(seconds=chaos_seconds, rate=10.0, seed=3)
    assert not found.problems
    assert found.n_decided > 0
    assert sum(found.faults.values()) > 0
