"""Whoever is killed, and whatever cannot be written, no row is lost or decided with less."""

import errno
import json
import threading
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE, Listener, until
from test_core import expected, network
from test_hostile import Threads

from random_models import random_rows
from simulated import named
from solah.exceptions import ParameterError
from solah.site import position, state_file
from solah.site.bundle import save_bundle
from solah.site.client import Client, find_broker
from solah.site.core import NodeCore, Settings
from solah.site.journal import LineFile
from solah.site.messages import (
    MAX_SEQUENCE,
    Decided,
    Decisions,
    Measured,
    decode_status,
    encode,
)
from solah.site.node import Node, NodeOptions
from solah.site.publication import publish_bundle
from solah.site.state_file import Memory, OpenRow, StateFile
from solah.site.supervisor import Launcher
from solah.site.topics import Topics

pytestmark = pytest.mark.slow

TOPICS = Topics("site")


class Sensors:
    """Say readings on the nodes' topics, as things that know nothing of solah do."""

    def __init__(self, bundle, url, name):
        self._bundle = bundle
        online = set()
        self._client = Client(
            find_broker(url), name, lambda topic, _: online.add(topic), is_kept=False
        )
        statuses = {TOPICS.status(node.name) for node in bundle.plan.nodes}
        self._client.subscribe(statuses)
        self._client.start()
        until(lambda: online == statuses)  # the broker knows what the nodes want to hear

    def say(self, rows, first=0, pause=0.002):
        for place, row in enumerate(rows):
            readings = named(self._bundle.model, row)
            for node in self._bundle.plan.nodes:
                if node.reads:
                    own = {name: readings[name] for name in node.reads}
                    payload = encode(Measured(own, first + place))
                    self._client.publish(TOPICS.readings(node.name), payload)
            time.sleep(pause)

    def flood(self, name, numbers):
        rows = [{"readings": {}, "seq": number} for number in numbers]
        self._client.publish(TOPICS.readings(name), json.dumps(rows).encode())

    def stop(self):
        until(lambda: not self._client.in_flight)
        self._client.stop()


@pytest.fixture
def sensors(broker):
    made = []

    def make(bundle):
        made.append(Sensors(bundle, broker.url, f"sensors-{len(made)}"))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def check(bundle, rows, listener, first=0):
    """Every row is decided, as the model decides it, and never otherwise."""
    beliefs = expected(bundle.model, rows)
    for place in range(len(rows)):
        _, row = listener.rows[first + place]
        assert row.missing == ()
        assert tuple(row.probabilities.values()) == tuple(beliefs[place])
    assert not listener.contradictions


# --- nodes and brokers that are killed -----------------------------------------------------------


def test_readings_of_a_killed_node_are_not_lost(broker, sensors, tmp_path):
    bundle = network("masses")
    deciding = bundle.plan.nodes[0]
    assert deciding.reads  # what is said to it, nobody else knows
    rows = random_rows(np.random.default_rng(0), bundle.model, 500)
    plan = tmp_path / "plan.json"
    save_bundle(bundle, plan)
    listener = Listener(broker.url)
    nodes = Launcher(bundle, plan, broker.url, tmp_path, deadline=60)
    name = deciding.name
    nodes.start()
    try:
        speaking = threading.Thread(target=sensors(bundle).say, args=(rows,))
        speaking.start()
        for n_decided in (100, 300):
            listener.wait(n_decided)
            nodes.kill(name)
            nodes.start(name)
        speaking.join()
        listener.wait(len(rows))
    finally:
        nodes.stop()
        listener.stop()
    check(bundle, rows, listener)


def test_a_killed_broker_loses_no_decision(make_broker, tmp_path):
    broker = make_broker("allow_anonymous true", "autosave_interval 1")
    bundle = network("three groups")
    rows = random_rows(np.random.default_rng(1), bundle.model, 900)
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows)
    nodes.start()
    for n_decided in (200, 700):
        listener.wait(n_decided)
        broker.kill()
        broker.start()
    listener.wait(len(rows))
    nodes.stop()
    listener.stop()
    check(bundle, rows, listener)


# --- remembering ---------------------------------------------------------------------------------


def state_of(path, log=print):
    return StateFile(path, Counter(), log)


def message(*sequences):
    rows = tuple(Decided(one, 0.0, "wet", {"wet": 1.0}) for one in sequences)
    return encode(Decisions("hub", "1f", rows))


def test_what_is_remembered_survives_the_file(tmp_path):
    row = OpenRow(7, 0.1, "ab", {"x": 0.1, "y": "hot", "z": None}, {"t": (0.1, 0.2)}, ("f",))
    state = state_of(tmp_path / "state")
    state.keep_plans([b'{"a": "\xc3\xa4"}\n'])
    for payload in (message(1, 2), message(3, 5), message(4), message(9)):
        state.keep_decided(payload)
    state.keep_memory(Memory(3, 9, (row, replace(row, sequence=9))))
    again = state_of(tmp_path / "state")
    # What is behind the position may not have reached others, and does not wait any more.
    assert again.decided == [message(3, 5), message(4), message(9)]
    assert again.memory == Memory(3, 9, (row,), frozenset((4, 5, 9)))
    assert again.plans == [b'{"a": "\xc3\xa4"}\n']


@pytest.mark.parametrize("size", [1, 5, 14, 60])
def test_a_first_line_that_was_cut_short_stops_no_restart(tmp_path, size):
    """As a full disk leaves it."""
    path = tmp_path / "hub.state"
    state_of(path).keep_decided(message(1))
    path.write_bytes(path.read_bytes()[:size])
    again = state_of(path)
    assert (again.memory, again.decided) == (Memory(), [])
    again.keep_decided(message(2))
    assert state_of(path).decided == [message(2)]


@given(cut=st.integers(0, 400), junk=st.binary(max_size=20))
def test_a_file_that_was_cut_short_is_read_up_to_there(tmp_path_factory, cut, junk):
    path = tmp_path_factory.mktemp("log") / "hub.state"
    state = state_of(path)
    state.keep_decided(message(1))
    whole = path.stat().st_size
    state.keep_decided(message(2))
    path.write_bytes(path.read_bytes()[: whole + cut] + junk.replace(b"\n", b""))
    state_of(path).keep_decided(message(3))
    found = state_of(path).decided
    assert found[0] == message(1)
    assert found[-1] == message(3)


def test_the_file_does_not_grow_without_end(tmp_path):
    path, many = tmp_path / "hub.state", message(*range(2_000))
    state = state_of(path)
    for _ in range(3 * state_file._MAX_BYTES // len(many)):
        state.keep_memory(Memory(-1))
        state.keep_decided(many)
        state.keep_memory(Memory(1_999))
    state.keep_decided(message(5_000))
    assert path.stat().st_size < 1.2 * state_file._MAX_BYTES
    assert state_of(path).decided == [message(5_000)]


@pytest.mark.parametrize("text", ["[]", "{}\n", '{"position": {"done": -2}}', "[" * 100_000])
def test_a_broken_state_is_named(tmp_path, text):
    (tmp_path / "state").write_text(text)
    with pytest.raises(ParameterError, match=r"state is not the state of a node; delete it"):
        state_of(tmp_path / "state")


def test_a_deciding_node_goes_on_with_the_rows_that_waited():
    bundle = network("masses")
    rows = random_rows(np.random.default_rng(2), bundle.model, 4, missing=0.0)
    name = bundle.plan.nodes[0].name
    cores = {node.name: NodeCore(bundle, node.name) for node in bundle.plan.nodes}
    said = []
    for sequence, row in enumerate(rows):
        readings = named(bundle.model, row)
        for node in bundle.plan.nodes:
            own = {one: readings[one] for one in node.reads}
            if node.name != name or sequence != 2:  # the reading of one row is late
                cores[node.name].read([Measured(own, sequence)], 0.0, 0.0)
            said += cores[node.name].advance(0.0).beliefs if node.name != name else []
    late = {one: named(bundle.model, rows[2])[one] for one in bundle.plan.nodes[0].reads}
    for one in said:
        cores[name].hear(one, 0.0)
    (decided,) = cores[name].advance(0.0).decisions
    assert [row.sequence for row in decided.rows] == [0, 1, 3]
    again = NodeCore(bundle, name)
    again.resume(cores[name].memory(), now=0.0)
    for one in said:  # the broker says everything again
        again.hear(one, 0.1)
    again.read([Measured(late, 2)], 0.2, 0.0)
    (decided,) = again.advance(0.2).decisions
    (row,) = decided.rows
    assert (row.sequence, row.missing) == (2, ())
    assert tuple(row.probabilities.values()) == tuple(expected(bundle.model, rows)[2])
    assert again.done == 3


# --- decisions that are repeated ----------------------------------------------------------------

BUNDLE = network("groups")
GATEWAY = BUNDLE.plan.nodes[0].name
ROW = random_rows(np.random.default_rng(0), BUNDLE.model, 1, missing=0.0)[0]
SENDERS = [node.name for node in BUNDLE.plan.nodes if node.sends]


def begun(state):
    """Return a node that decides, as it is after a start; there is no broker."""
    core = NodeCore(BUNDLE, GATEWAY, Settings(deadline=1.0))
    node = Node(core, find_broker("mqtt://localhost"), NodeOptions(state=state))
    node._resume()
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


# --- disks that are full -------------------------------------------------------------------------


def test_a_full_disk_stops_nothing_and_is_told(broker, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    bundle = network("three groups")
    rows = random_rows(np.random.default_rng(3), bundle.model, 300)
    monkeypatch.setattr(state_file, "_TRY_AGAIN", 0.1)
    state, told, statuses = tmp_path / "gateway.state", [], {}

    def log(text):
        told.append(text)
        full()  # the log is on that disk, too

    watching = Client(
        find_broker(broker.url),
        "watching",
        lambda topic, payload: statuses.update({topic: decode_status(payload)}),
        is_kept=False,
    )
    watching.subscribe([TOPICS.status(node.name) for node in bundle.plan.nodes])
    watching.start()
    listener = Listener(broker.url)
    nodes = Threads(bundle, broker.url, rows, folder=tmp_path, log=log)
    with monkeypatch.context() as disk:
        disk.setattr(LineFile, "append", full)
        disk.setattr(LineFile, "replace", full)
        nodes.start()
        listener.wait(len(rows))
        gateway = TOPICS.status("gateway")
        until(lambda: gateway in statuses and statuses[gateway].counters.get("unsaved"))
        assert not state.exists()
    until(lambda: state.exists() and state_of(state).memory.done == len(rows) - 1)
    nodes.stop()
    listener.stop()
    watching.stop()
    check(bundle, rows, listener)
    assert any("cannot write" in text and "No space left" in text for text in told)
    assert any("is written again" in text for text in told)
    assert nodes.counters("gateway")["unlogged"] >= 2


# --- floods --------------------------------------------------------------------------------------


def test_three_messages_silence_nothing(broker, sensors, tmp_path, monkeypatch):
    bundle = network("three groups")
    rows = random_rows(np.random.default_rng(4), bundle.model, 600)
    listener = Listener(broker.url)
    for node in bundle.plan.nodes:  # what a flood left behind once
        state_of(tmp_path / f"{node.name}.state").keep_memory(Memory(MAX_SEQUENCE, MAX_SEQUENCE))
    nodes = Threads(bundle, broker.url, [], deadline=20.0, folder=tmp_path)
    nodes.start()
    saying, attacking = sensors(bundle), sensors(bundle)
    first = 1_000

    def say_until(is_so):
        nonlocal first
        give_up = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < give_up
            saying.say(rows[:20], first)
            first += 20

    def settled():
        return state_of(tmp_path / "gateway.state").memory.done

    with monkeypatch.context() as patience:
        patience.setattr(position, "SILENCE", 2.0)  # until the gateway leaves where it was left
        say_until(lambda: len(listener.rows) >= 100)
    # Of the first rows there, the gateway has refused what came before, and asks for it again.
    # That must be answered before the flood: it is larger than what z0 keeps to answer with.
    until(lambda: settled() == first - 1)
    for part in range(3):
        begin = MAX_SEQUENCE - 4_200 + part * 1_400
        attacking.flood("z0", range(begin, begin + 1_400))
    say_until(lambda: nodes.counters("gateway").get("far_ahead_z0", 0) >= 4_200)
    begun = first
    saying.say(rows, begun)
    last = begun + len(rows) - 1
    until(lambda: settled() == last)
    listener.wait_for(range(begun, last + 1))
    nodes.stop()
    listener.stop()
    check(bundle, rows, listener, begun)
    assert settled() == last


# --- plans ---------------------------------------------------------------------------------------


def test_a_node_that_restarts_between_two_publishes_has_the_plans_of_its_peers(broker, tmp_path):
    bundle = network("three groups")
    target = find_broker(broker.url)

    def run(name):
        node = Node(NodeCore(bundle, name), target, NodeOptions(state=tmp_path / f"{name}.state"))
        thread = threading.Thread(target=node.run, daemon=True)
        thread.start()
        return node, thread

    def starts(node):
        return [one.starts for one in node.core.bundles]

    peer, stays = run("z1")
    node, thread = run("z0")
    publish_bundle(target, TOPICS, bundle.starting_at(100))
    until(lambda: starts(node) == starts(peer) == [0, 100])
    node.stop()
    thread.join(20)
    publish_bundle(target, TOPICS, bundle.starting_at(200))
    until(lambda: starts(peer) == [0, 100, 200])
    node, thread = run("z0")
    until(lambda: starts(node) == [0, 100, 200])
    for one in (node, peer):
        one.stop()
    thread.join(20)
    stays.join(20)
