"""Nodes that send on change, on a real broker."""

import cbor2
import numpy as np
import pytest
from processes import Listener, until
from test_hostile import Threads
from test_send_on_change import decided_alone, decided_by_row, on_change, walk

from solah.site.backlog import Item
from solah.site.client import find_broker
from solah.site.core import NodeCore
from solah.site.node import Node
from solah.site.send_on_change import Sending
from solah.site.topics import Topics


def test_nodes_on_a_broker_decide_as_all_evidence_would(broker):
    bundle = on_change("groups", Sending())
    rows = walk(np.random.default_rng(1), bundle.model, 12, missing=0.0)
    rows[-1] = rows[0]
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows, deadline=2.0)
    nodes.start()
    gateway = nodes.nodes[bundle.plan.nodes[0].name]
    senders = [one for one in bundle.plan.nodes if one.sends]
    until(lambda: all(nodes.counters(one.name).get("readings", 0) == 12 for one in senders))
    until(lambda: gateway.core.reached >= 0 and not gateway.core.n_open and not gateway._backlog)
    listener.wait(nodes.counters(bundle.plan.nodes[0].name)["decisions"])
    nodes.stop()
    listener.stop()
    counters = nodes.counters(bundle.plan.nodes[0].name)
    assert not any(counters.get(one) for one in ("malformed", "refused", "other_model", "unsure"))
    assert sum(nodes.counters(one.name).get("silent", 0) for one in senders) > 0
    decisions = [row for _, row in listener.rows.values()]
    assert decided_by_row(decisions, len(rows)) == decided_alone(bundle.model, rows)


BUNDLE = on_change("groups", Sending())
SHORT = int(BUNDLE.hash[:8], 16)
SENDER = next(node for node in BUNDLE.plan.nodes if node.sends)


@pytest.mark.parametrize(
    ("what", "plain", "counter"),
    [
        ("out", [SHORT, {0: 1, 2: 0, 3: [["x", 1]]}], "malformed"),
        ("out", [SHORT, {0: 1, 2: 0, 3: [[1, 2]], 9: 1}], "malformed"),
        ("out", [SHORT ^ 1, {0: 1, 2: 0, 3: [[1, 2]]}], "other_model"),
        ("out", [SHORT, {0: 1, 2: 0, 3: [[1, 2]], 4: {0: [1.0, 1e9]}}], "refused"),
        ("ask", [-1], "malformed"),
        ("ask", [[]], "malformed"),
    ],
)
def test_what_strangers_say_in_few_bytes_is_counted(what, plain, counter):
    gateway = BUNDLE.plan.nodes[0].name
    node = Node(NodeCore(BUNDLE, gateway), find_broker("mqtt://localhost"))
    topics = Topics("site")
    topic = topics.said(SENDER.name) if what == "out" else topics.asked(gateway)
    node._take(topic, [Item(topic, cbor2.dumps(plain), 0)])
    assert {**node.core.counters, **node.counters} == {counter: 1}
    assert node.core.n_open == 0
