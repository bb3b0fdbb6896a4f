"""Whatever a stranger says on the broker, nothing crashes, nothing is accepted, all is counted."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from processes import PATIENCE, Listener, until
from test_core import expected, network

from random_models import random_rows
from simulated import readings_of
from solah.keys import make_keys
from solah.site.client import Client, find_broker
from solah.site.core import NodeCore, Settings
from solah.site.messages import MAX_BYTES, Ask, Beliefs, Measured, NodeOutput, encode
from solah.site.node import Node, NodeOptions
from solah.site.topics import Topics
from solah.site.trust import load_trust

N_MESSAGES = 3_000


@pytest.fixture
def keys(tmp_path):
    return make_keys(tmp_path / "operator")


class Threads:
    """The nodes of a plan in threads, so that tests can look into them; states go to a folder."""

    def __init__(self, bundle, url, rows, *, deadline=60.0, folder=None, **options):
        self.nodes = {}
        self._threads, self._subscribed = [], []
        for plan in bundle.plan.nodes:
            core = NodeCore(bundle, plan.name, Settings(deadline=deadline))
            state = folder and folder / f"{plan.name}.state"
            node = Node(core, find_broker(url), NodeOptions(state=state, **options))
            own = [
                Measured({name: readings[name] for name in plan.reads}, sequence)
                for sequence, readings in enumerate(readings_of(bundle.model, rows))
            ]
            self.nodes[plan.name] = node
            self._subscribed.append(threading.Event())
            node._client._paho.on_subscribe = lambda *_, one=self._subscribed[-1]: one.set()
            source = partial(replayed, own) if plan.reads else None
            self._threads.append(threading.Thread(target=node.run, args=(source,), daemon=True))

    def start(self):
        for thread in self._threads:
            thread.start()
        for subscribed in self._subscribed:
            assert subscribed.wait(PATIENCE)

    def stop(self):
        for node in self.nodes.values():
            node.stop()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def counters(self, name):
        node = self.nodes[name]
        return {**node.core.counters, **node.counters}


def replayed(rows, first):
    """Yield rows from one on, slowly."""
    return slowly(rows[first:])


def slowly(rows):
    for row in rows:
        time.sleep(0.002)
        yield row


def hostile_messages(rng, bundle, topics):
    """Yield what strangers may say to the node that decides, with the counter that must tell."""
    garbage = (
        bytes(rng.integers(0, 256, rng.integers(0, 200), dtype=np.uint8)) for _ in iter(int, 1)
    )
    heard = dict(bundle.plan.nodes[0].hears)
    part, node = next(iter(heard.items()))
    size = bundle.model.target.size
    good = NodeOutput(5, 0.0, {part: (9.0,) * size})
    while True:
        yield topics.said(node), next(garbage), "malformed"
        yield topics.said(node), b'{"v":1,"node":"' + node.encode() + b'"}', "malformed"
        yield topics.said(node), b"[" * 5000, "malformed"
        yield topics.said(node), encode(Beliefs("stranger", bundle.hash, (good,))), "malformed"
        yield topics.said(node), encode(Beliefs(node, "f" * 16, (good,))), "other_model"
        wrong = NodeOutput(5, 0.0, {part: (1.0,) * (size + 1)})
        yield topics.said(node), encode(Beliefs(node, bundle.hash, (wrong,))), "refused"
        blind = NodeOutput(5, 0.0, {part: (1.0,) * size}, unknown={part: (1.0, 1e6)})
        yield topics.said(node), encode(Beliefs(node, bundle.hash, (blind,))), "refused"
        spied = NodeOutput(5, 0.0, {}, readings={"x0": 1.0})
        yield topics.said(node), encode(Beliefs(node, bundle.hash, (spied,))), "refused"
        stolen = NodeOutput(5, 0.0, {bundle.model.root.name: (1.0,) * size})
        yield topics.said(node), encode(Beliefs(node, bundle.hash, (stolen,))), "refused"
        yield topics.asked("gateway"), next(garbage) or b"x", "malformed"
        yield topics.asked("gateway"), encode(Ask((2**53 - 1,))), "forgotten"
        yield topics.readings("gateway"), b'{"readings": 5, "seq": "x"}', "unnumbered"
        yield topics.model, bundle.to_bytes(), "refused_models"
        yield topics.model, b"{}", "refused_models"


def test_nothing_that_strangers_say_is_accepted(broker, keys):
    bundle = network("groups")
    rows = random_rows(np.random.default_rng(0), bundle.model, 600)
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows, trust=load_trust([keys[1]]))
    nodes.start()
    listener.wait(20)  # what comes first would be taken: rows that are not yet decided
    stranger = Client(find_broker(broker.url), "stranger", lambda *_: None, is_kept=False)
    stranger.start()
    topics = Topics("site")
    expected_counts = {}
    messages = hostile_messages(np.random.default_rng(1), bundle, topics)
    for _ in range(N_MESSAGES):
        topic, payload, counter = next(messages)
        expected_counts[counter] = expected_counts.get(counter, 0) + 1
        while stranger.in_flight > 300:
            time.sleep(0.001)
        stranger.publish(topic, payload)
    for _ in range(20):
        stranger.publish(topics.said(bundle.plan.nodes[0].hears[0][1]), b" " * (MAX_BYTES + 1))
        expected_counts["malformed"] += 1
    listener.wait(len(rows))
    give_up = time.monotonic() + PATIENCE
    counts = {}
    while counts != expected_counts and time.monotonic() < give_up:
        time.sleep(0.05)
        counts = {name: nodes.counters("gateway").get(name, 0) for name in expected_counts}
    nodes.stop()
    stranger.stop()
    listener.stop()
    assert counts == expected_counts
    beliefs = expected(bundle.model, rows)
    for sequence, (model, row) in listener.rows.items():
        assert model == bundle.hash
        assert tuple(row.probabilities.values()) == tuple(beliefs[sequence])
    assert not listener.contradictions


def test_rows_that_were_decided_are_not_decided_again(broker):
    bundle = network("three groups")
    rows = random_rows(np.random.default_rng(2), bundle.model, 100)
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows)
    nodes.start()
    listener.wait(len(rows))
    stranger = Client(find_broker(broker.url), "stranger", lambda *_: None, is_kept=False)
    stranger.start()
    size = bundle.model.target.size
    old = tuple(NodeOutput(sequence, 0.0, {"z0": (5.0,) * size}) for sequence in range(100))
    stranger.publish(Topics("site").said("z0"), encode(Beliefs("z0", bundle.hash, old)))
    until(lambda: nodes.counters("gateway").get("late", 0) >= 100)
    nodes.stop()
    stranger.stop()
    listener.stop()
    assert nodes.counters("gateway")["decisions"] == 100
    assert not listener.contradictions
