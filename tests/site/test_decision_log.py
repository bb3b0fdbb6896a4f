"""A row that was decided is not decided again otherwise, whenever its node is killed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_core import network

from random_models import random_rows
from simulated import named
from solah.site.client import find_broker
from solah.site.core import NodeCore, Settings
from solah.site.decision_log import _MOST_BYTES, DecidedLog
from solah.site.messages import Decided, Decisions, Measured, decode_decisions, encode
from solah.site.node import Node, NodeOptions
from solah.site.state_file import Memory, OpenRow

BUNDLE = network("groups")
GATEWAY = BUNDLE.plan.nodes[0].name
ROW = random_rows(np.random.default_rng(0), BUNDLE.model, 1, missing=0.0)[0]


def begun(state):
    """Return a node that decides, as it is after a start; there is no broker."""
    core = NodeCore(BUNDLE, GATEWAY, Settings(deadline=1.0))
    node = Node(core, find_broker("mqtt://localhost"), NodeOptions(state=state))
    node._remember()
    return node


def said_by(names, sequence):
    """Return what some nodes say of a row."""
    readings = named(BUNDLE.model, ROW)
    for name in names:
        core = NodeCore(BUNDLE, name)
        own = {one: readings[one] for one in core.plan.reads}
        core.read([Measured(own, sequence, 1.0)], now=0.0, wall=1.0)
        yield from core.advance(0.0).beliefs


def decided(node, names, sequence, now=0.0):
    """Let nodes say something of a row, and its deadline pass; return what is told others."""
    for message in said_by(names, sequence):
        node.core.hear(message, now)
    node._publish(node.core.advance(now))
    node._publish(node.core.advance(now + 5.0))
    return [payload for _, payload in node._decided]


SENDERS = [node.name for node in BUNDLE.plan.nodes if node.sends]


@pytest.mark.parametrize("before", [SENDERS[:1], SENDERS])
@pytest.mark.parametrize("after", [SENDERS[1:], SENDERS, []])
def test_a_killed_node_repeats_what_it_decided(tmp_path, before, after):
    """It was killed when others had its decision, and before its memory was written."""
    state = tmp_path / "node.state"
    (told,) = decided(begun(state), before, 7)
    again = begun(state)
    assert decided(again, after, 7) == [told]
    assert again.core.counters["decisions"] == 0
    # And what is decided next is not lost.
    assert len(decided(again, SENDERS, 8, now=10.0)) == 2


def test_without_a_file_a_row_may_be_decided_again():
    (told,) = decided(begun(None), SENDERS[:1], 7)
    (again,) = decided(begun(None), SENDERS, 7)
    assert told != again


def message(*sequences):
    rows = tuple(Decided(one, 0.0, "wet", {"wet": 1.0}) for one in sequences)
    return encode(Decisions("hub", "1f", rows))


def test_what_the_memory_has_is_not_repeated(tmp_path):
    state = tmp_path / "hub.state"
    log = DecidedLog(state)
    for payload in (message(1, 2), message(3, 5), message(4), message(9)):
        log.append(payload)
    waiting = tuple(OpenRow(one, 0.0, "1f") for one in (4, 6))
    memory = Memory(settled=3, over=((5, 5), (9, 12)), rows=waiting)
    resumed, unknown = DecidedLog(state).resume(memory)
    assert unknown == [message(4)]
    assert resumed == replace(memory, over=((4, 5), (9, 12)), rows=waiting[1:])
    assert DecidedLog(state).resume(memory)[1] == unknown


@given(cut=st.integers(0, 400), junk=st.binary(max_size=20))
def test_a_file_that_was_cut_short_is_read_up_to_there(tmp_path_factory, cut, junk):
    state = tmp_path_factory.mktemp("log") / "hub.state"
    log, file = DecidedLog(state), state.with_name("hub.state.decided")
    log.append(message(1))
    whole = file.stat().st_size
    log.append(message(2))
    file.write_bytes(file.read_bytes()[: whole + cut] + junk.replace(b"\n", b""))
    DecidedLog(state).append(message(3))
    _, found = DecidedLog(state).resume(Memory())
    rows = [decode_decisions(one).rows[0].sequence for one in found]
    assert rows[0] == 1
    assert rows[-1] == 3


def test_the_file_does_not_grow_without_end(tmp_path):
    state = tmp_path / "hub.state"
    log, last = DecidedLog(state), 0
    many = message(*range(2_000))
    for _ in range(_MOST_BYTES // len(many) + 1):
        log.append(many)
    log.append(message(5_000))
    log.forget(Memory(settled=4_000))
    last = state.with_name("hub.state.decided").stat().st_size
    assert last < 1_000
    assert DecidedLog(state).resume(Memory())[1] == [message(5_000)]
