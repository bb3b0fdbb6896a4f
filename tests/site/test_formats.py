"""What other programs read: Prometheus and Home Assistant get what they understand."""

import json
import re

import jinja2.sandbox
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched_site import START, Site, feed, make_bundle

from random_models import random_model
from solah.site.bundle import Bundle
from solah.site.home_assistant import discovery
from solah.site.messages import Decided, Decisions, Status, encode
from solah.site.observer import Observer
from solah.site.plan import make_plan
from solah.site.prometheus import metrics
from solah.site.topics import Topics

BUNDLE = make_bundle()

# --- Prometheus ------------------------------------------------------------------------------

LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"([a-z_]+)\{{({LABEL}(?:,{LABEL})*)\}} (-?[0-9][0-9.e+-]*)")


def collected(text):
    """Read metrics as Prometheus does: a name and its labels are there once, after their type."""
    kinds, values = {}, {}
    for one in text.removesuffix("\n").split("\n"):
        if one.startswith("# TYPE "):
            _, _, name, kind = one.split(" ")
            assert name not in kinds
            kinds[name] = kind
        elif not one.startswith("# HELP "):
            name, labels, value = SAMPLE.fullmatch(one).groups()
            assert name in kinds
            assert kinds[name] == ("counter" if name.endswith("_total") else "gauge")
            assert (name, labels) not in values
            values[name, labels] = float(value)
    return values


def test_prometheus_collects_what_happened():
    site = Site(make_bundle(), silent=("attic",))
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    feed(observer, site.messages(10))
    status = Status("cellar", "online", site.bundle.hash, {"late": 4})
    observer.take(site.topics.status("cellar"), encode(status), START)
    values = collected(metrics(observer.snapshot(START + 3)))
    assert values["solah_decisions_total", 'site="house"'] == 10
    assert values["solah_decisions_incomplete_total", 'site="house"'] == 10
    known = observer.snapshot(START + 3)["decisions"]["last"][0]["completeness"]
    assert values["solah_decision_completeness_ratio", 'site="house"'] == pytest.approx(known)
    assert 0 < known < 1
    assert values["solah_missing_total", 'site="house",part="z0"'] == 10
    assert values["solah_node_online", 'site="house",node="attic"'] == 0
    assert values["solah_node_online", 'site="house",node="cellar"'] == 1
    assert values["solah_node_events_total", 'site="house",node="cellar",event="late"'] == 4
    beliefs = [v for (name, labels), v in values.items() if "belief" in name and '"y"' in labels]
    assert sum(beliefs) == pytest.approx(1, abs=1e-3)


def with_plan():
    """Return the picture of a site of which only the plan is known."""
    observer = Observer(Topics("house"))
    observer.adopt(BUNDLE)
    return observer.snapshot(START)


@given(name=st.text(max_size=200), other=st.text(max_size=200))
def test_prometheus_reads_any_name(name, other):
    picture = with_plan()
    for part, called in zip(picture["parts"], (name, other), strict=False):
        part |= {"name": called, "belief": [0.2, 0.3, 0.5]}
    picture["decisions"]["by_missing"] = {name: 1, other: 2}
    assert collected(metrics(picture))


# --- Home Assistant --------------------------------------------------------------------------


def rendered(template, payload):
    """Render a template as Home Assistant does."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(value_json=json.loads(payload))


def announced(bundle, **options):
    announcements = discovery(Topics(bundle.plan.site), bundle, **options)
    return {topic: json.loads(payload) for topic, payload in announcements}


def test_home_assistant_finds_the_decision():
    bundle = make_bundle()
    found = announced(bundle)
    sensor = found["homeassistant/sensor/solah_house/decision/config"]
    rows = (
        Decided(1, START, "c0", {"c0": 0.9, "c1": 0.1, "c2": 0.0}),
        Decided(2, START, "c1", {"c0": 0.2, "c1": 0.6254, "c2": 0.1746}, ("z0",), 0.5),
    )
    payload = encode(Decisions("gateway", bundle.hash, rows))
    assert sensor["state_topic"] == "solah/house/decision"
    assert sensor["options"] == ["c0", "c1", "c2", "don't know"]
    assert rendered(sensor["value_template"], payload) == "c1"
    features = json.loads(rendered(sensor["json_attributes_template"], payload))
    assert features["missing"] == ["z0"]
    assert features["probabilities"]["c1"] == 0.6254
    others = {"sensor/{}/probability": "62.5", "sensor/{}/completeness": "50.0"}
    others |= {"sensor/{}/missing": "z0", "binary_sensor/{}/problem": "ON"}
    entities = [sensor]
    for topic, state in others.items():
        entities.append(found[f"homeassistant/{topic.format('solah_house')}/config"])
        assert rendered(entities[-1]["value_template"], payload) == state
    whole = encode(Decisions("gateway", bundle.hash, rows[:1]))
    assert rendered(entities[-1]["value_template"], whole) == "OFF"
    assert rendered(entities[-2]["value_template"], whole) == "none"
    for one in entities:
        (availability,) = one["availability"]
        assert availability["topic"] == "solah/house/gateway/status"
        status = encode(Status("gateway", "offline"))
        assert rendered(availability["value_template"], status) == "offline"


@pytest.mark.parametrize(
    ("stable", "state", "certainty"),
    [("", "c1", "60.0"), ("c1", "c1", "60.0"), ("c0", "c0", "30.0"), (None, "don't know", "None")],
)
def test_home_assistant_shows_what_stands(stable, state, certainty):
    bundle = make_bundle()
    found = announced(bundle)
    beliefs = {"c0": 0.3, "c1": 0.6, "c2": 0.1}
    row = Decided(2, START, "c1", beliefs, stable=stable, abstain_reasons=("low probability",))
    payload = encode(Decisions("gateway", bundle.hash, (row,)))
    sensor = found["homeassistant/sensor/solah_house/decision/config"]
    assert rendered(sensor["value_template"], payload) == state
    features = json.loads(rendered(sensor["json_attributes_template"], payload))
    assert features["abstain_reasons"] == ["low probability"]
    belief = found["homeassistant/sensor/solah_house/probability/config"]
    assert rendered(belief["value_template"], payload) == certainty
    problem = found["homeassistant/binary_sensor/solah_house/problem/config"]
    assert rendered(problem["value_template"], payload) == ("ON" if stable is None else "OFF")


def test_every_sensor_is_told_apart():
    model = random_model(np.random.default_rng(0), "three groups", 3)
    names = [feature.name for feature in model.features]
    placement = {"a.b": names[:2], "a_b": names[2:4], "a_2eb": names[4:]}
    found = announced(Bundle(make_plan(model, placement), model))
    assert len(found) == 5 + 4
    assert len({one["unique_id"] for one in found.values()}) == len(found)
    assert all(re.fullmatch(r"[\w/-]+", topic, re.ASCII) for topic in found)
    assert len({json.dumps(one["device"]) for one in found.values()}) == 1
