"""A watcher sees what the nodes said, and nothing that is put on the broker can harm it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched_site import START, Site, feed, make_bundle

from random_models import ADDITIVE_SHAPES, random_model, random_number_model, random_rows
from solah.explain.traversal import TracedRows
from solah.keys import make_keys
from solah.model import Goal
from solah.network.bundle import Bundle
from solah.network.messages import (
    Beliefs,
    Decided,
    Decisions,
    Said,
    Status,
    decode_beliefs,
    decode_decisions,
    encode,
)
from solah.network.observing import MOST_DECISIONS, MOST_STRANGERS, Observer
from solah.network.plan import make_plan
from solah.network.topics import Topics
from solah.network.trust import load_trust
from solah.network.watched import Rate, standing

SHAPES = ("three groups", "masses", "words", "over a sum", *ADDITIVE_SHAPES)


def node_beliefs(model, n_rows):
    """Return what each node believes of the rows that sites send."""
    readings = random_rows(np.random.default_rng(0), model, n_rows, missing=0.0)
    rows = TracedRows(model.program, readings)
    return {node.name: rows.outputs(node.name) for node in model.parts}


def watch(site, n_rows=10):
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    feed(observer, site.messages(n_rows))
    return observer


def by_name(described):
    return {one["name"]: one for one in described}


@pytest.mark.parametrize("shape", SHAPES)
def test_beliefs_are_shown_as_the_model_has_them(shape):
    bundle = make_bundle(shape)
    model = bundle.model
    picture = watch(Site(bundle)).snapshot(START + 1)
    expected = node_beliefs(model, 10)
    said = {part for node in bundle.plan.nodes for part in node.sends} | {model.root.name}
    for part in picture["parts"]:
        assert part["state"] == ("heard" if part["name"] in said else "inside")
        if part["name"] in said:
            belief = expected[part["name"]][9]
            assert part["row"] == 9
            np.testing.assert_allclose(part["belief"], belief, atol=1e-4)
            place = model.goal.decide(belief[None, :])[0]
            assert part["says"] == model.goal.states[place]
            assert part["certainty"] == part["belief"][place]


def test_the_hierarchy_can_be_walked_from_the_root():
    bundle = make_bundle("three groups")
    parts = watch(Site(bundle), 1).snapshot(START)["parts"]
    heard = [place for part in parts for place in part["hears"]]
    assert sorted(heard) == list(range(len(parts) - 1))
    assert [part["place"] for part in parts] == list(range(len(parts)))
    assert {part["node"] for part in parts} == {node.name for node in bundle.plan.nodes}
    assert [part["kind"] for part in parts] == ["term"] * 6 + ["group"] * 3 + ["sum"]
    assert sorted(name for part in parts for name in part["asks"]) == [f"x{i}" for i in range(6)]


def test_nodes_are_shown_with_their_pace():
    site = Site(make_bundle())
    picture = watch(site, 40).snapshot(START + 4.0)
    nodes = by_name(picture["nodes"])
    assert [node["name"] for node in picture["nodes"]] == [*site.nodes]
    assert nodes["gateway"]["decides"]
    assert nodes["attic"]["runs"] == ["rules on x0", "rules on x1", "z0"]
    for node in nodes.values():
        assert node["state"] == "online"
        assert node["has_newest"]
        assert node["rows"] == 40
        assert node["rate"] == pytest.approx(10, abs=1)
        assert node["heard"] == pytest.approx(START + 3.92)
    late = watch(site, 0).snapshot(START + 60)
    assert {node["rate"] for node in late["nodes"]} == {0.0}


def test_decisions_are_counted_and_the_last_kept():
    site = Site(make_bundle())
    observer = watch(site, MOST_DECISIONS + 30)
    decisions = observer.snapshot(START + 23)["decisions"]
    assert decisions["total"] == sum(decisions["by_decision"].values()) == MOST_DECISIONS + 30
    assert decisions["kept"] == len(decisions["last"]) == MOST_DECISIONS
    assert [one["row"] for one in decisions["last"][:2]] == [
        MOST_DECISIONS + 29,
        MOST_DECISIONS + 28,
    ]
    assert decisions["latency"] == {"p50": pytest.approx(0.02), "p99": pytest.approx(0.02)}
    assert decisions["incomplete"] == 0
    assert decisions["rate"] == pytest.approx(10, abs=1)
    assert len(observer.snapshot(START, last=3)["decisions"]["last"]) == 3


def judged(observer, *rows):
    """Give an observer decisions of a model with a policy: the class that stands, and doubts."""
    beliefs = {"c0": 0.2, "c1": 0.6, "c2": 0.2}
    bundle = observer.bundle
    decided = tuple(
        Decided(1000 + place, START, "c1", beliefs, settled=settled, doubts=doubts)
        for place, (settled, doubts) in enumerate(rows)
    )
    message = encode(Decisions("gateway", bundle.hash, decided))
    observer.take(Topics("house").decisions, message, START + 100)
    return observer.snapshot(START + 101)["decisions"]


def test_what_stands_and_why_it_does_not_is_shown():
    observer = watch(Site(make_bundle()))
    decisions = judged(observer, ("c0", ()), (None, ("low belief", "unseen")))
    last, before = decisions["last"][:2]
    assert (last["settled"], last["doubts"]) == (None, ["low belief", "unseen"])
    assert (before["settled"], before["doubts"]) == ("c0", [])
    assert decisions["last"][2]["settled"] == ""
    assert [standing(one) for one in decisions["last"][:3]] == [
        None,
        "c0",
        decisions["last"][2]["decision"],
    ]
    assert decisions["held_back_total"] == 1
    assert decisions["by_doubt"] == {"low belief": 1, "unseen": 1}


def test_doubts_that_do_not_exist_are_refused():
    observer = watch(Site(make_bundle()))
    before = observer.snapshot(START + 99)["messages"]["unfit"]
    judged(observer, (None, ("made up",)))
    assert observer.snapshot(START + 102)["messages"]["unfit"] == before + 1


def test_what_was_missing_is_named():
    picture = watch(Site(make_bundle(), silent=("attic",))).snapshot(START + 4)
    decisions = picture["decisions"]
    assert decisions["incomplete"] == 1
    assert decisions["incomplete_total"] == 10
    assert decisions["missing"] == [{"part": "z0", "times": 10}]
    assert decisions["by_missing"] == {"z0": 10}
    assert decisions["last"][0]["missing"] == ["z0"]
    assert 0 < decisions["last"][0]["known"] < 1
    assert by_name(picture["parts"])["z0"]["state"] == "missing"
    assert by_name(picture["nodes"])["attic"]["state"] == "offline"


def test_a_message_that_comes_twice_is_one_decision():
    site = Site(make_bundle())
    messages = site.messages(5)
    observer = Observer(site.topics)
    observer.adopt(site.bundle)
    feed(observer, messages + messages)
    assert observer.snapshot(START)["decisions"]["total"] == 5


def test_an_old_row_that_is_said_again_does_not_come_back():
    site = Site(make_bundle())
    observer = Observer(site.topics)
    observer.adopt(site.bundle)
    messages = site.messages(5)
    feed(observer, messages)
    first = next(payload for topic, payload, _ in messages if topic == site.topics.said("attic"))
    for later, row in ((1.0, 4), (30.0, 0)):
        observer.take(site.topics.said("attic"), first, START + later)
        assert by_name(observer.snapshot(START)["parts"])["z0"]["row"] == row


def test_a_last_will_keeps_the_counters():
    topics = Topics("house")
    observer = Observer(topics)
    observer.take(topics.status("a"), encode(Status("a", "online", "1f", {"late": 3})), START)
    observer.take(topics.status("a"), encode(Status("a", "offline", "1f")), START + 1)
    (node,) = observer.snapshot(START + 1)["nodes"]
    assert (node["state"], node["counters"], node["is_planned"]) == ("offline", {"late": 3}, False)


def test_decisions_are_shown_without_a_plan():
    site = Site(make_bundle())
    observer = Observer(site.topics)
    feed(observer, site.messages(3))
    picture = observer.snapshot(START + 1)
    assert picture["model"] is None
    assert picture["decisions"]["total"] == 3
    assert picture["decisions"]["by_decision"] == {}
    assert picture["messages"]["other_model"] == 9


def test_a_new_model_is_drawn_and_the_old_one_still_read():
    old, new = make_bundle(seed=0), make_bundle(seed=1)
    site = Site(old)
    observer = watch(site, 2)
    observer.take(site.topics.model, new.to_bytes(), START)
    assert observer.snapshot(START)["model"]["hash"] == new.hash
    assert {part["state"] for part in observer.snapshot(START)["parts"]} == {"waiting", "inside"}
    feed(observer, site.messages(2, first=2))
    picture = observer.snapshot(START + 1)
    assert picture["decisions"]["total"] == 4
    assert picture["messages"]["other_model"] == 0
    assert not any(node["has_newest"] for node in picture["nodes"])


def test_numbers_are_decided_too():
    model = random_model(np.random.default_rng(0), "tree", n_classes=3)
    goal = Goal("load", words=("low", "high"), peaks=(0.0, 1.0, 2.0), centres=(0.0, 5.0, 10.0))
    model = replace(model, goal=goal)
    placement = {"attic": [attribute.name for attribute in model.attributes]}
    site = Site(Bundle(make_plan(model, placement, site="house"), model))
    picture = watch(site, 3).snapshot(START)
    (part,), (last, *_) = picture["parts"], picture["decisions"]["last"]
    assert picture["model"]["task"] == "regression"
    assert picture["decisions"]["by_decision"] == {}
    assert (last["row"], last["certainty"], last["place"]) == (2, None, None)
    assert (part["state"], part["belief"]) == ("heard", [])
    assert part["says"] == f"about {float(last['decision']):.4g}"


def test_numbers_that_are_added_up_are_shown():
    model = random_number_model(np.random.default_rng(0))
    site = Site(Bundle(make_plan(model, site="house"), model))
    picture = watch(site, 3).snapshot(START)
    expected = node_beliefs(model, 3)
    parts = by_name(picture["parts"])
    assert picture["messages"]["unfit"] == 0
    for name in ("first", "second", "rules on x4", "rules on x5", "y"):
        assert parts[name]["says"] == f"about {expected[name][2, 0]:.4g}"
        assert parts[name]["belief"] == []
    assert picture["decisions"]["known"] == 1.0


def test_readings_that_go_to_another_node_are_no_beliefs():
    bundle = make_bundle("words and pairs")
    assert {"x0", "x1"} & {name for node in bundle.plan.nodes for name in node.sends}
    picture = watch(Site(bundle, silent=("attic",))).snapshot(START + 3)
    assert [one["name"] for one in picture["parts"]] == [part.name for part in bundle.model.parts]
    assert picture["messages"]["unfit"] == 0
    assert {one["part"] for one in picture["decisions"]["missing"]} >= {"rules on x0", "x1"}
    assert 0 < picture["decisions"]["known"] < 1


# --- what is not taken -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda said: replace(said, node="cellar"), "unfit"),
        (lambda said: replace(said, model="0" * 16), "other_model"),
        (lambda said: replace(said, rows=(Said(1, START, {"z1": (0.0, 0.0, 0.0)}),)), "unfit"),
        (lambda said: replace(said, rows=(Said(1, START, {"z0": (0.0, 0.0)}),)), "unfit"),
        (lambda said: replace(said, rows=(replace(said.rows[0], missing=("no such",)),)), "unfit"),
        (
            lambda said: replace(said, rows=(replace(said.rows[0], unknown={"z0": (1, 1)}),)),
            "unfit",
        ),
        (lambda said: replace(said, rows=(replace(said.rows[0], readings={"x0": 1.0}),)), "unfit"),
    ],
)
def test_beliefs_that_do_not_fit_are_counted(change, why):
    site = Site(make_bundle())
    observer = Observer(site.topics)
    observer.adopt(site.bundle)
    topic = site.topics.said("attic")
    said = next(decode_beliefs(payload) for where, payload, _ in site.messages(1) if where == topic)
    observer.take(topic, encode(said), START)
    before = observer.snapshot(START)
    assert before["messages"][why] == 0
    observer.take(topic, encode(change(said)), START)
    after = observer.snapshot(START)
    assert after["messages"][why] == 1
    assert after["parts"] == before["parts"]
    assert after["nodes"] == before["nodes"]


def test_a_belief_beyond_one_is_no_belief():
    bundle = make_bundle("masses")
    topics = Topics("house")
    observer = Observer(topics)
    observer.adopt(bundle)
    said = Beliefs("attic", bundle.hash, (Said(1, START, {"z0": (2.0, -1.0, 0.0)}),))
    observer.take(topics.said("attic"), encode(said), START)
    assert observer.snapshot(START)["messages"]["unfit"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "c9"},
        {"beliefs": {"c0": 1.0}},
        {"beliefs": {"c0": -0.5, "c1": 1.0, "c2": 0.5}},
        {"missing": ("no such",)},
    ],
)
def test_decisions_that_do_not_fit_are_counted(change):
    site = Site(make_bundle())
    observer = Observer(site.topics)
    observer.adopt(site.bundle)
    topic, payload, _ = site.messages(1)[-1]
    said = decode_decisions(payload)
    wrong = replace(said, rows=(replace(said.rows[0], **change),))
    observer.take(topic, encode(wrong), START)
    observer.take(topic, encode(replace(said, node="attic")), START)
    picture = observer.snapshot(START)
    assert picture["messages"]["unfit"] + picture["messages"]["unreadable"] == 2
    assert picture["decisions"]["total"] == 0
    observer.take(topic, payload, START)
    assert observer.snapshot(START)["decisions"]["total"] == 1


def test_a_plan_of_another_site_is_not_taken():
    observer = Observer(Topics("house"))
    observer.take("solah/house/model", make_bundle(site="shed").to_bytes(), START)
    assert observer.bundle is None
    assert observer.snapshot(START)["messages"]["unfit"] == 1


def test_only_plans_of_those_who_are_trusted_are_taken(tmp_path):
    private, public = make_keys(tmp_path / "operator")
    bundle = make_bundle()
    observer = Observer(Topics("house"), trust=load_trust([public]))
    observer.take("solah/house/model", bundle.to_bytes(), START)
    assert observer.bundle is None
    observer.take("solah/house/model", bundle.signed(private).to_bytes(), START)
    assert observer.bundle.hash == bundle.hash


def test_names_can_be_shown_on_a_terminal():
    observer = Observer(Topics("house"))
    nasty = "\x1b[2Jgone\u202e\x9b" + "x" * 400
    row = Decided(1, START, nasty, {nasty: 1.0}, (nasty,))
    observer.take("solah/house/decision", encode(Decisions("a", nasty, (row,))), START)
    status = Status("a", "online", nasty, {nasty: 3})
    observer.take("solah/house/a/status", encode(status), START)
    text = json.dumps(observer.snapshot(START), ensure_ascii=False)
    assert text.count("\N{REPLACEMENT CHARACTER}[2Jgone") == 7
    assert text.isprintable()
    assert len(text) < 3000


# --- bounds ----------------------------------------------------------------------------------


def test_strangers_do_not_fill_the_memory():
    observer = Observer(Topics("house"))
    for i in range(3 * MOST_STRANGERS):
        status = encode(Status(f"n{i}", "online"))
        observer.take(f"solah/house/n{i}/status", status, START)
    assert len(observer.snapshot(START)["nodes"]) == MOST_STRANGERS
    assert observer.snapshot(START)["messages"]["unfit"] == 2 * MOST_STRANGERS
    observer.adopt(make_bundle())
    planned = encode(Status("attic", "online"))
    observer.take("solah/house/attic/status", planned, START)
    assert by_name(observer.snapshot(START)["nodes"])["attic"]["state"] == "online"


def test_models_do_not_fill_the_memory():
    observer = Observer(Topics("house"))
    bundles = [make_bundle(seed=seed) for seed in range(6)]
    for bundle in bundles:
        observer.take("solah/house/model", bundle.to_bytes(), START)
    for bundle in bundles:
        said = Beliefs("attic", bundle.hash, (Said(1, START, {"z0": (0.0, 0.0, 0.0)}),))
        observer.take("solah/house/attic/out", encode(said), START)
    assert observer.snapshot(START)["messages"]["other_model"] == 2


@given(steps=st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 100)), max_size=200))
def test_a_rate_is_bounded_whatever_the_clock_does(steps):
    rate, now = Rate(), START
    for step, some in steps:
        now += step
        rate.add(some, now)
        assert 0 <= rate.at(now) <= rate.total
    assert rate.total == sum(some for _, some in steps)
    assert len(rate.buckets) <= 21


SITE = Site(make_bundle())
MESSAGES = [*SITE.beginning(), *SITE.messages(4)]
TOPICS = sorted({topic for topic, _, _ in MESSAGES} | {"solah/house/a/ask", "solah/house/progress"})
BAD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)


@st.composite
def strange_messages(draw):
    """Draw bytes, JSON, and messages of ours of which a part is something else."""
    topic = draw(st.sampled_from(TOPICS) | st.text(max_size=30).map("solah/house/{}".format))
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return topic, draw(st.binary(max_size=60))
    if kind == 1:
        return topic, json.dumps(draw(BAD_VALUES)).encode()
    topic, payload, _ = draw(st.sampled_from(MESSAGES))
    content = json.loads(payload)
    content[draw(st.sampled_from(sorted(content)))] = draw(BAD_VALUES)
    return topic, json.dumps(content).encode()


@given(messages=st.lists(strange_messages(), max_size=8), with_plan=st.booleans())
def test_nothing_on_the_broker_can_do_harm(messages, with_plan):
    observer = Observer(SITE.topics)
    if with_plan:
        observer.adopt(SITE.bundle)
    for topic, payload in messages:
        observer.take(topic, payload, START)
    picture = observer.snapshot(START)
    json.dumps(picture, allow_nan=False, ensure_ascii=False).encode("utf-8")
    counted = picture["messages"]
    assert counted["messages"] == len(messages)
    assert sum(counted.values()) <= 2 * len(messages)
    assert len(picture["nodes"]) <= len(messages) + len(SITE.nodes)


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("solah/house/model", b"[" * 100_000),
        ("solah/house/decision", b'{"rows":' * 50_000),
        ("solah/house/progress", b"[" * 100_000),
        ("solah/house/a/status", b"\xbf" * 1000),
        ("solah/house/../status", b"{}"),
        ("solah/house/a/in", b"{}" * 10),
    ],
)
def test_hostile_nesting_is_unreadable(topic, payload):
    observer = Observer(Topics("house"))
    observer.take(topic, payload, START)
    assert observer.snapshot(START)["messages"]["unreadable"] == 1


def test_what_is_said_elsewhere_is_no_fault():
    observer = Observer(Topics("house"))
    for topic in ("solah/shed/model", "solah/house/a/b/c", "solah/house/a/explain", "other"):
        observer.take(topic, b"{}", START)
    observer.take("solah/house/model", b"", START)
    observer.take("solah/house/progress", b"17", START)
    observer.take("solah/house/a/in", b'[{"x0": 1.5}, {"x0": null}]', START)
    picture = observer.snapshot(START)
    assert picture["messages"]["elsewhere"] == 4
    assert picture["messages"]["unreadable"] == 0
    assert picture["progress"] == 17
    assert picture["nodes"][0]["readings"] == 2
