"""Who may publish and subscribe to what: the ACL file, and what a real broker makes of it."""

import subprocess
import threading

import numpy as np
import pytest
from processes import PATIENCE

from random_models import random_model
from solah.exceptions import ParameterError
from solah.site.acl import acl_text
from solah.site.plan import NodePlan, Plan, make_plan
from solah.site.send_on_change import Sending
from solah.site.topics import Topics

TOPICS = Topics("house")
NODES = ("hub", "f", "z2")


@pytest.fixture(scope="module")
def plan():
    """Return a plan in which the hub hears f and z2, and decides."""
    model = random_model(np.random.default_rng(0), "three groups", 3)
    placement = {"f": [f"x{i}" for i in range(4)], "z2": ["x4", "x5"]}
    return make_plan(model, placement, gateway="hub", site="house")


def all_topics():
    of_nodes = [f"solah/house/{node}/{what}" for node in NODES for what in OF_A_NODE]
    return {HISTORY, *of_nodes, *(f"solah/house/{what}" for what in OF_THE_SITE)}


OF_A_NODE = ("status", "in", "out", "ask", "shadow-out", "shadow-ask")
OF_THE_SITE = (
    *("decision", "progress", "model", "shadow-model", "shadow-decision"),
    *("alert", "alerts"),
)
SAID = ("status", "out", "shadow-out")
OF_HUB = {f"solah/house/hub/{what}" for what in SAID}
ALERTS = {"solah/house/alert", "solah/house/alerts"}
HISTORY = "solah-history/house/17"
MAY_SAY = {
    "hub": {
        *OF_HUB,
        *("solah/house/decision", "solah/house/progress", "solah/house/shadow-decision", HISTORY),
        *("solah/house/f/ask", "solah/house/z2/ask"),
        *("solah/house/f/shadow-ask", "solah/house/z2/shadow-ask"),
    },
    "f": {f"solah/house/f/{what}" for what in SAID},
    "z2": {f"solah/house/z2/{what}" for what in SAID},
    "operator": {"solah/house/model", "solah/house/shadow-model", HISTORY, *ALERTS},
    "watcher": ALERTS,
}
FOR_ALL_NODES = {"solah/house/model", "solah/house/progress", "solah/house/shadow-model"}
MAY_HEAR = {
    "hub": {
        *FOR_ALL_NODES,
        *(f"solah/house/hub/{what}" for what in ("in", "ask", "shadow-ask")),
        *(f"solah/house/{node}/{what}" for node in ("f", "z2") for what in ("out", "shadow-out")),
    },
    "f": {*FOR_ALL_NODES, *(f"solah/house/f/{what}" for what in ("in", "ask", "shadow-ask"))},
    "z2": {*FOR_ALL_NODES, *(f"solah/house/z2/{what}" for what in ("in", "ask", "shadow-ask"))},
    "operator": all_topics(),
    "watcher": {topic for topic in all_topics() - {HISTORY} if not topic.endswith("/in")},
}


def test_the_file_says_just_that(plan):
    said, heard, user = {}, {}, ""
    for line in acl_text(plan, TOPICS).splitlines():
        words = line.split()
        if line.startswith("user "):
            user = words[1]
        elif line.startswith("topic "):
            rights = {"write": said, "read": heard}[words[1]]
            rights.setdefault(user, set()).add(words[2].replace("house/+", "house/17"))
        else:
            assert line == "" or line.startswith("#")
    assert {user: said.get(user, set()) for user in MAY_SAY} == MAY_SAY
    for node in NODES:
        assert heard[node] == MAY_HEAR[node]
    assert said.keys() | heard.keys() == MAY_SAY.keys()


@pytest.mark.parametrize("name", ["operator", "watcher"])
def test_a_node_cannot_get_the_rights_of_another_user_by_its_name(name):
    model = random_model(np.random.default_rng(0), "three groups", 3)
    plan = make_plan(model, gateway=name)
    with pytest.raises(ParameterError, match=f"two users of the broker would be called '{name}'"):
        acl_text(plan, TOPICS)


EVIL = "x\nuser x\ntopic readwrite #"


@pytest.mark.parametrize(
    ("site", "node", "home", "topics"),
    [
        (EVIL, "hub", "hub", TOPICS),
        ("house", EVIL, "hub", TOPICS),
        ("house", "hub", EVIL, TOPICS),
        ("house", "hub", "hub", Topics(EVIL)),
        ("house", "+", "hub", TOPICS),
    ],
)
def test_no_name_of_a_plan_brings_lines_or_topics_of_its_own(site, node, home, topics):
    by_hand = NodePlan(node, runs=("y",), reads=(), hears=(("z", home),), sends=())
    with pytest.raises(ParameterError, match="a node or site is named with letters"):
        acl_text(Plan(site, (by_hand,)), topics)


@pytest.mark.parametrize("root", ["", "#", "a/+", "a\ntopic readwrite #\ntopic read x"])
def test_a_root_cannot_bring_more_rights(plan, root):
    with pytest.raises(ParameterError, match="the first part of topics"):
        acl_text(plan, Topics("house", root))


# --- a real broker -------------------------------------------------------------------------------


class Person:
    """A user of the broker who gathers what arrives."""

    def __init__(self, name, port):
        from paho.mqtt.client import CallbackAPIVersion, Client

        self.name = name
        self.heard = []
        self._connected, self._subscribed = threading.Event(), threading.Event()
        self._arrived = threading.Condition()
        self._client = Client(CallbackAPIVersion.VERSION2, client_id=f"{name}-client")
        self._client.username_pw_set(name, f"secret of {name}")
        self._client.on_connect = lambda *_: self._connected.set()
        self._client.on_subscribe = lambda *_: self._subscribed.set()
        self._client.on_message = self._take
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        assert self._connected.wait(PATIENCE)

    def _take(self, _client, _data, message):
        with self._arrived:
            self.heard.append((message.topic, message.payload.decode()))
            self._arrived.notify_all()

    def subscribe(self, topic="#"):
        self._client.subscribe(topic, qos=1)
        assert self._subscribed.wait(PATIENCE)

    def say(self, topic):
        self._client.publish(topic, self.name, qos=1).wait_for_publish(PATIENCE)

    def wait_for(self, topic):
        with self._arrived:
            heard = self._arrived.wait_for(
                lambda: any(one == topic for one, _ in self.heard), PATIENCE
            )
        assert heard

    def leave(self):
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def people(plan, make_broker, find_tool, tmp_path):
    """Return all users of a broker with the ACL, and a tester who may do everything."""
    names = [*MAY_SAY, "tester"]
    acl, passwords = tmp_path / "acl.txt", tmp_path / "passwords.txt"
    acl.write_text(f"{acl_text(plan, TOPICS)}\nuser tester\ntopic readwrite #\n", encoding="utf-8")
    passwords.write_text("".join(f"{name}:secret of {name}\n" for name in names), encoding="utf-8")
    subprocess.run([find_tool("mosquitto_passwd"), "-U", passwords], check=True)
    broker = make_broker(
        "allow_anonymous false",
        f"password_file {passwords}",
        f"acl_file {acl}",
    )
    people = {name: Person(name, broker.port) for name in names}
    yield people
    for person in people.values():
        person.leave()


def test_a_broker_lets_everyone_say_and_hear_just_that(people):
    tester = people.pop("tester")
    tester.subscribe()
    strange = {"solah/other/model", "solah/house/f/more", "solah/house", "else"}
    for person in people.values():
        for topic in sorted(all_topics() | strange):
            person.say(topic)
    tester.say("done")
    tester.wait_for("done")
    for name in people:
        assert {topic for topic, said_by in tester.heard if said_by == name} == MAY_SAY[name]

    for person in people.values():
        person.subscribe()
    for topic in sorted((all_topics() | strange) - {"solah/house/model"}):
        tester.say(topic)
    tester.say("solah/house/model")  # which all may hear
    for name, person in people.items():
        person.wait_for("solah/house/model")
        assert {topic for topic, _ in person.heard} == MAY_HEAR[name]
    people["tester"] = tester


def test_those_who_send_on_change_know_the_terms():
    model = random_model(np.random.default_rng(0), "groups", 3)
    plan = make_plan(model, gateway="hub", site="house", sending=Sending())
    users = acl_text(plan, Topics("house")).split("user ")[1:]
    rights = {text.partition("\n")[0]: text for text in users}
    assert "topic write solah/house/terms" in rights.pop("hub")
    assert "operator" in rights
    for text in rights.values():
        assert "topic read solah/house/terms" in text
        assert "topic write solah/house/terms" not in text
