"""A watcher sees what the nodes said, and nothing that is put on the broker can harm it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched_site import START, Site, feed, make_bundle

from random_models import ADDITIVE_SHAPES, random_rows
from solah.explain.traversal import TracedRows
from solah.keys import make_keys
from solah.site.messages import (
    Beliefs,
    Decided,
    Decisions,
    NodeOutput,
    Status,
    decode_beliefs,
    decode_decisions,
    encode,
)
from solah.site.observer import MOST_DECISIONS, MOST_STRANGERS, Observer
from solah.site.site_state import standing
from solah.site.topics import Topics
from solah.site.trust import load_trust

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
            place = model.target.decide(belief[None, :])[0]
            assert part["says"] == model.target.classes[place]
            assert part["certainty"] == part["belief"][place]


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
    """Give an observer decisions of a model with a policy: the stable class, and reasons."""
    beliefs = {"c0": 0.2, "c1": 0.6, "c2": 0.2}
    bundle = observer.bundle
    decided = tuple(
        Decided(1000 + place, START, "c1", beliefs, stable=settled, abstain_reasons=abstain_reasons)
        for place, (settled, abstain_reasons) in enumerate(rows)
    )
    message = encode(Decisions("gateway", bundle.hash, decided))
    observer.take(Topics("house").decisions, message, START + 100)
    return observer.snapshot(START + 101)["decisions"]


def test_what_stands_and_why_it_does_not_is_shown():
    observer = watch(Site(make_bundle()))
    decisions = judged(observer, ("c0", ()), (None, ("low probability", "unseen")))
    last, before = decisions["last"][:2]
    assert (last["stable"], last["abstain_reasons"]) == (None, ["low probability", "unseen"])
    assert (before["stable"], before["abstain_reasons"]) == ("c0", [])
    assert decisions["last"][2]["stable"] == ""
    assert [standing(one) for one in decisions["last"][:3]] == [
        None,
        "c0",
        decisions["last"][2]["decision"],
    ]
    assert decisions["held_back_total"] == 1
    assert decisions["by_doubt"] == {"low probability": 1, "unseen": 1}


def test_what_was_missing_is_named():
    picture = watch(Site(make_bundle(), silent=("attic",))).snapshot(START + 4)
    decisions = picture["decisions"]
    assert decisions["incomplete"] == 1
    assert decisions["incomplete_total"] == 10
    assert decisions["missing"] == [{"part": "z0", "times": 10}]
    assert decisions["by_missing"] == {"z0": 10}
    assert decisions["last"][0]["missing"] == ["z0"]
    assert 0 < decisions["last"][0]["completeness"] < 1
    assert by_name(picture["parts"])["z0"]["state"] == "missing"
    assert by_name(picture["nodes"])["attic"]["state"] == "offline"


# --- what is not taken -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda said: replace(said, node="cellar"), "unfit"),
        (lambda said: replace(said, model="0" * 16), "other_model"),
        (
            lambda said: replace(said, rows=(NodeOutput(1, START, {"z1": (0.0, 0.0, 0.0)}),)),
            "unfit",
        ),
        (lambda said: replace(said, rows=(NodeOutput(1, START, {"z0": (0.0, 0.0)}),)), "unfit"),
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


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "c9"},
        {"probabilities": {"c0": 1.0}},
        {"probabilities": {"c0": -0.5, "c1": 1.0, "c2": 0.5}},
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
        said = Beliefs("attic", bundle.hash, (NodeOutput(1, START, {"z0": (0.0, 0.0, 0.0)}),))
        observer.take("solah/house/attic/out", encode(said), START)
    assert observer.snapshot(START)["messages"]["other_model"] == 2


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


def test_a_plan_of_another_site_is_not_taken():
    observer = Observer(Topics("house"))
    observer.take("solah/house/model", make_bundle(site="shed").to_bytes(), START)
    assert observer.bundle is None
    assert observer.snapshot(START)["messages"]["unfit"] == 1
