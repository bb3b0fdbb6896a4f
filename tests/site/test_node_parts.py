"""What a node is made of, without a broker: its name, what waits, and what it complains of."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import until
from test_core import network

from solah.site import client as client_module
from solah.site import node as node_module
from solah.site.backlog import Backlog, Complaints, Item
from solah.site.bundle import read_bundle
from solah.site.client import Client, Receipt, find_broker
from solah.site.core import NodeCore
from solah.site.messages import Measured
from solah.site.node import Node, NodeOptions, client_id
from solah.site.topics import Topics

NAMES = st.text("ab.-_", min_size=1, max_size=6)
ROOTS = st.text("ab.-_:/", min_size=1, max_size=6)


@given(one=st.tuples(ROOTS, NAMES, NAMES), other=st.tuples(ROOTS, NAMES, NAMES))
def test_no_two_nodes_have_one_name_at_the_broker(one, other):
    ids = [client_id(Topics(site, root), node) for root, site, node in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


# --- what waits ----------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(0, 40), max_size=60),
    most_items=st.integers(1, 10),
    most_bytes=st.integers(1, 100),
)
def test_what_waits_has_bounds_and_nothing_goes_uncounted(sizes, most_items, most_bytes):
    backlog, gone = Backlog(most_items, most_bytes), []
    for place, size in enumerate(sizes):
        gone += [item.size for item in backlog.put(Item("kind", place, size))]
        waiting = sizes[len(gone) : place + 1]
        assert gone == sizes[: len(gone)]
        assert len(backlog) == len(waiting) <= most_items
        assert sum(waiting) <= most_bytes or len(waiting) == 1
    left = [item.content for item in backlog.take(0.0, 1_000)]
    assert left == list(range(len(gone), len(sizes)))
    assert len(backlog) == 0


def test_receipts_outlast_messages_that_had_to_go(monkeypatch, tmp_path):
    monkeypatch.setattr(node_module, "_MOST_WAITING", 3)
    bundle = network("three groups")
    options = NodeOptions(state=tmp_path / "gateway.state")
    node = Node(NodeCore(bundle, "gateway"), find_broker("mqtt://127.0.0.1"), options)
    topic = Topics("site").readings("gateway")
    receipts = [Receipt(1, number) for number in range(3)]
    for receipt in receipts:
        node._receive(topic, b"{}", receipt)
    for _ in range(3):
        node._receive(topic, b"{}")
    assert [*node._receipts] == receipts
    assert node.counters["overflow"] == 3


def take(node, topic, payload):
    node._take(topic, [Item(topic, payload, len(payload))])


def test_a_plan_waits_for_room():
    bundle = network("three groups")
    node = Node(NodeCore(bundle, "gateway"), find_broker("mqtt://127.0.0.1"))
    topic = Topics("site").model
    for number in range(1, 8):
        take(node, topic, bundle.starting_at(1_000 * number).to_bytes())
    for start in (9_000, 8_500):
        take(node, topic, bundle.starting_at(start).to_bytes())
    assert node.counters["refused_models"] == 2
    assert "to wait" in node._refused[1]
    assert [read_bundle(one).starts for one in node._adoption.documents[-2:]] == [9_000, 8_500]
    node.core._position.floor = node.core._position.reached = 6_000
    for _ in range(2):
        node._next_look = 0.0
        node._step()
    assert not node._adoption.waiting
    assert node.core.bundle.starts == 8_500


def node_without_a_broker(told=None):
    log = (lambda _: None) if told is None else told.append
    core = NodeCore(network("three groups"), "gateway")
    return Node(core, find_broker("mqtt://127.0.0.1"), NodeOptions(log=log))


def test_a_flood_of_large_messages_takes_no_memory_without_end():
    node = node_without_a_broker()
    large = bytes(256 * 1024)
    for _ in range(300):
        node._receive("solah/site/z0/out", large)
    waiting = len(node._backlog)
    assert waiting * len(large) <= 64 * 1024 * 1024
    assert node.counters["overflow"] == 300 - waiting
    assert node.counters["overflow_bytes"] == (300 - waiting) * len(large)


def test_rows_do_not_wait_for_the_next_one(monkeypatch):
    """A source that pauses, as a feed does, holds back none of the rows that it gave."""
    node, paused = node_without_a_broker(), threading.Event()
    monkeypatch.setattr(node._reader, "_is_ahead", lambda _: False)

    def rows(first):
        yield from (Measured({}, number) for number in range(first, 250))
        paused.wait()

    node._reader.start(rows, 0, on_problem=lambda _: None)
    until(lambda: node._reader._at == 250)
    items = node._backlog.take(0.0, 1_000)
    paused.set()
    assert [item.content.sequence for item in items if item.kind == "row"] == list(range(250))


class Paho:
    """Takes messages, and confirms them when it is told to, or before it says their number."""

    def __init__(self, client, is_quick):
        self.client, self.is_quick = client, is_quick
        self.number = 0

    def publish(self, *_args, **_options):
        self.number += 1
        if self.is_quick:
            self.client._confirmed(None, None, self.number)
        return type("Info", (), {"rc": 0, "mid": self.number})


@pytest.fixture
def make_client(monkeypatch):
    monkeypatch.setattr(client_module, "_MOST_QUEUED_BYTES", 100)

    def make(*, is_quick):
        client = Client(find_broker("mqtt://127.0.0.1"), "us", lambda *_: None)
        client._paho = Paho(client, is_quick)
        return client

    return make


def test_what_waits_for_the_broker_has_a_bound_in_bytes(make_client):
    client = make_client(is_quick=False)
    assert client.publish("there", bytes(500))  # alone, whatever its size
    assert not client.publish("there", b"x")
    client._confirmed(None, None, 1)
    assert [client.publish("there", bytes(40)) for _ in range(3)] == [True, True, False]
    assert client.in_flight == 2
    client._confirmed(None, None, 2)
    assert client.publish("there", bytes(60))


# --- complaints ----------------------------------------------------------------------------------


def test_many_bad_messages_make_few_lines():
    told = []
    node = node_without_a_broker(told)
    for number in range(5_000):
        take(node, "solah/site/z0/out", f"not JSON {number}".encode())
        take(node, "solah/site/model", b"{}")
    assert node.counters["malformed"] == node.counters["refused_models"] == 5_000
    assert len(told) <= 4  # on a machine so slow that this takes a minute
    assert told[0].startswith("solah/site/z0/out: the message is not valid JSON")


def test_the_first_is_told_at_once_and_the_others_are_counted():
    told = []
    complaints = Complaints(told.append, every=60.0)
    for second in range(200):
        complaints.add("a", f"number {second}", now=float(second))
    assert told == [
        "a: number 0",
        "a: 60 more like that in 60 s, the last: number 60",
        "a: 60 more like that in 60 s, the last: number 120",
        "a: 60 more like that in 60 s, the last: number 180",
    ]
    complaints.report(now=200.0, all_of_it=True)
    assert told[-1] == "a: 19 more like that in 20 s, the last: number 199"
    complaints.report(now=260.0)
    complaints.add("a", "after a quiet minute", now=261.0)
    assert told[5:] == ["a: after a quiet minute"]
