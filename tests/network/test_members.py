"""Several processes share the readings of one node, on a real broker."""

import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from processes import PATIENCE, Listener, until
from test_core import expected, network

from random_models import random_rows
from simulated import readings_of
from solah.cli import main as program
from solah.model.policy import Policy
from solah.network.bundle import Bundle, BundleError, save_bundle
from solah.network.client import Client, find_broker
from solah.network.members import check_shareable
from solah.network.messages import Measured, Status, decode_status, encode
from solah.network.observing import Observer
from solah.network.plan import make_plan
from solah.network.publishing import publish_bundle
from solah.network.topics import Topics
from solah.network.watched import MOST_MEMBERS

TOPICS = Topics("site")


def alone(seed=0):
    """Return the plan of a model that one node runs."""
    model = network("three groups", seed).model
    names = [one.name for one in model.attributes]
    return Bundle(make_plan(model, {"hub": names}, gateway="hub"), model)


class Members:
    """Processes that share the node hub, and what they count."""

    def __init__(self, url, folder):
        self._url, self._folder = url, folder
        self._processes = {}
        self.observer = Observer(TOPICS)
        self.seen = set()
        self._client = Client(find_broker(url), "watcher", self._take)
        self._client.subscribe([TOPICS.status("hub")])
        self._client.start()

    def _take(self, topic, payload):
        self.seen.add(decode_status(payload).member)
        self.observer.take(topic, payload, now=0.0)

    def start(self, name):
        plan, state = self._folder / "plan.json", self._folder / f"{name}.state"
        words = ["--plan", plan, "--name", "hub", "--member", name, "--state", state]
        words += ["--mqtt", "5", "--broker", self._url, "-q"]
        command = [sys.executable, "-m", "solah.cli.main", "node", *map(str, words)]
        self.seen.discard(name)
        self._processes[name] = subprocess.Popen(command)
        until(lambda: name in self.seen)

    def end(self, name, number=signal.SIGTERM):
        self._processes[name].send_signal(number)
        return self._processes[name].wait(PATIENCE)

    @property
    def counters(self):
        (hub,) = self.observer.snapshot(now=0.0)["nodes"]
        return hub["counters"]

    def stop(self):
        for process in self._processes.values():
            process.kill()
            process.wait(PATIENCE)
        self._client.stop()


@pytest.fixture
def members(broker, tmp_path):
    save_bundle(alone(), tmp_path / "plan.json")
    running = Members(broker.url, tmp_path)
    yield running
    running.stop()


@pytest.fixture
def sender(broker):
    client = Client(find_broker(broker.url), "sender", lambda *_: None)
    client.start()
    yield client
    client.stop()


def send(sender, rows, first, last):
    readings = list(readings_of(alone().model, rows))
    for sequence in range(first, last):
        sender.publish(TOPICS.readings("hub"), encode(Measured(readings[sequence], sequence)))


def test_members_share_rows_hand_over_and_come_back(broker, members, sender):
    rows = random_rows(np.random.default_rng(0), alone().model, 600)
    listener = Listener(broker.url)
    members.start("one")
    members.start("two")
    send(sender, rows, 0, 200)
    listener.wait(200)
    until(lambda: members.counters.get("readings") == 200)
    shares = [one["readings"] for one in members.observer._nodes["hub"].counted.values()]
    assert min(shares) > 50  # the broker takes turns

    send(sender, rows, 200, 250)
    assert members.end("one") == 0  # it hands over in order
    send(sender, rows, 250, 400)
    listener.wait(400)

    members.end("two", signal.SIGKILL)
    send(sender, rows, 400, 600)
    members.start("two")  # what was for it has waited
    listener.wait(600)
    listener.stop()
    beliefs = expected(alone().model, rows)
    assert not listener.contradictions
    for sequence, (_, row) in listener.rows.items():
        assert tuple(row.beliefs.values()) == tuple(beliefs[sequence])


def test_members_take_a_new_model_that_can_be_shared_and_no_other(broker, members):
    members.start("one")
    publish_bundle(find_broker(broker.url), TOPICS, network("three groups", seed=1))
    until(lambda: members.counters.get("refused_models"))
    publish_bundle(find_broker(broker.url), TOPICS, alone(seed=1).starting_at(5))
    until(lambda: members.counters.get("adopted"))


def test_what_needs_the_rows_of_others_is_refused():
    bundle = alone()
    check_shareable(bundle)
    with pytest.raises(BundleError, match="all parts of a row must meet"):
        check_shareable(network("three groups"))
    settling = replace(bundle.model, policy=Policy(votes=2, window=3))
    with pytest.raises(BundleError, match="by the rows before"):
        check_shareable(replace(bundle, model=settling))


def test_counters_of_members_are_added_up_and_bounded():
    observer = Observer(TOPICS)

    def tell(count, member=""):
        status = Status("hub", "online", counters={"readings": count}, member=member)
        observer.take(TOPICS.status("hub"), encode(status), now=0.0)

    def counted():
        (hub,) = observer.snapshot(now=0.0)["nodes"]
        return hub["counters"]["readings"]

    tell(5)
    tell(2, "one")
    tell(3, "two")
    tell(4, "one")
    assert counted() == 7
    for number in range(2 * MOST_MEMBERS):
        tell(1, f"m{number}")
    assert len(observer._nodes["hub"].counted) <= MOST_MEMBERS + 1
    assert counted() == 7 + 2 * MOST_MEMBERS  # those that are gone have counted, too
    (hub,) = observer.snapshot(now=1.0)["nodes"]
    assert hub["state"] == "online"
    tell(9)
    assert counted() == 9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--member", "a/b", "--mqtt", "5"], "letters, digits"),
        (["--member", "one", "--window", "5"], "--window does not go with --member"),
        (["--member", "one", "--stdin"], "--stdin does not go with --member"),
    ],
)
def test_wrong_options_of_members_are_one_line(tmp_path, capsys, words, message):
    save_bundle(alone(), tmp_path / "plan.json")
    plan = ["--plan", str(tmp_path / "plan.json"), "--name", "hub"]
    assert program.main(["node", *plan, *words]) == 2
    assert message in capsys.readouterr().err
