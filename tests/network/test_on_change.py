"""Nodes that send on change, on a real broker."""

import numpy as np
from processes import Listener, until
from test_hostile import Threads
from test_sending import decided_alone, decided_by_row, on_change, walk

from solah.network.sending import Sending


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
