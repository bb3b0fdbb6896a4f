"""What goes over the wire for a decision is counted as it is written."""

import numpy as np
import pytest

from random_models import ADDITIVE_SHAPES, SHAPES, random_model
from simulated import Simulation
from solah.network.bundle import Bundle
from solah.network.messages import Measured, encode
from solah.network.plan import make_plan
from solah.network.traffic import Load, measure_traffic, publish_bytes, typical_reading

NAMES = [f"x{i}" for i in range(6)]


def bundle_of(shape, placement=None, **about):
    model = random_model(np.random.default_rng(0), shape, 3)
    return Bundle(make_plan(model, placement, **about), model)


@pytest.mark.parametrize(
    ("rest", "n_length_bytes"),
    [(20, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (2_097_151, 3), (2_097_152, 4)],
)
def test_a_packet_says_its_length_as_the_standard_has_it(rest, n_length_bytes):
    """The boundaries are those of table 2.4 of MQTT 3.1.1."""
    topic = "solah/site/k/out"
    payload = b"x" * (rest - 2 - len(topic) - 2)
    assert publish_bytes(topic, payload) == 1 + n_length_bytes + rest


def test_what_is_said_is_counted_once_to_the_broker_and_once_to_each_who_hears():
    bundle = bundle_of("three groups")
    traffic = measure_traffic(bundle)
    by_node = {node.node: node for node in traffic.nodes}
    assert [node.node for node in traffic.nodes] == [node.name for node in bundle.plan.nodes]
    assert by_node["gateway"].beliefs == Load()
    assert [by_node[f"z{i}"].beliefs.messages for i in range(3)] == [2, 2, 2]
    assert traffic.beliefs.messages == 6
    assert traffic.beliefs.json == sum(node.beliefs.json for node in traffic.nodes)


def test_a_reading_is_counted_in_the_message_that_would_carry_it():
    bundle = bundle_of("three groups", site="house")
    model = bundle.model
    traffic = measure_traffic(bundle)
    (z0,) = (node for node in traffic.nodes if node.node == "z0")
    readings = {one.name: typical_reading(one) for one in model.attributes[:2]}
    row = Measured(readings, 123_456, 1_763_293_226.123456)
    for wire in ("json", "cbor"):
        size = publish_bytes("solah/house/z0/in", encode(row, wire))
        assert getattr(z0.readings, wire) == 2 * size
    assert (z0.readings.messages, z0.single_readings.messages) == (2, 4)
    assert z0.single_readings.json > z0.readings.json


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
def test_beliefs_weigh_what_the_nodes_say_in_a_running_network(shape):
    bundle = bundle_of(shape)
    simulation = Simulation(bundle)
    readings = {one.name: typical_reading(one) for one in bundle.model.attributes}
    for node in bundle.plan.nodes:
        if node.reads:
            own = {name: readings[name] for name in node.reads}
            simulation.measure(node.name, 123_456, own, 1_763_293_226.123456 - 1000.0)
    simulation.run()
    traffic = measure_traffic(bundle)
    # Every message here has one who hears it, and a length in two bytes.
    overhead = sum(
        node.beliefs.messages // 2 * (1 + 2 + 2 + len(f"solah/site/{node.node}/out") + 2)
        for node in traffic.nodes
    )
    assert traffic.beliefs.json // 2 == overhead + simulation.sent_bytes


def test_the_node_that_decides_needs_not_send_its_readings():
    traffic = measure_traffic(bundle_of("masses"))
    (decider, *others) = traffic.nodes
    assert decider.readings == decider.single_readings == Load()
    assert all(node.readings.messages == 2 for node in others)


def test_what_a_node_says_in_two_steps_is_two_messages():
    low, middle, high = NAMES[:2], NAMES[2:4], NAMES[4:]
    own = {"a": [*low, *high], "b": middle, "d": ["y"]}
    assert n_messages("three groups", own) == {"d": 0, "a": 2, "b": 2}
    other = {"a": [*low, *high, "z1"], "b": middle, "d": ["y"]}  # z0 and z2 at once, z1 after b
    assert n_messages("three groups", other) == {"d": 0, "a": 4, "b": 2}


def n_messages(shape, placement):
    traffic = measure_traffic(bundle_of(shape, placement))
    return {node.node: node.beliefs.messages for node in traffic.nodes}


def test_a_group_sends_its_own_sum_only():
    bundle = bundle_of("groups")
    first, alone = bundle.plan.node("first"), bundle.plan.node("rules-on-x5")
    assert (first.sends, alone.sends) == (("first",), ("rules on x5",))
    by_node = {node.node: node.beliefs for node in measure_traffic(bundle).nodes}
    assert by_node["first"].messages == by_node["rules-on-x5"].messages == 2
    # The names of the topic, the node and its part are in both packets.
    longer = 2 * 3 * (len("rules-on-x5") - len("first"))
    assert abs(by_node["rules-on-x5"].cbor - by_node["first"].cbor - longer) <= 2


def test_readings_that_another_node_needs_go_with_the_evidence():
    bundle = bundle_of("words and pairs")
    node = bundle.plan.node("rules-on-x0")
    assert node.sends == ("rules on x0", "x0")
    (of_node,) = (one for one in measure_traffic(bundle).nodes if one.node == "rules-on-x0")
    (alone,) = (one for one in measure_traffic(bundle).nodes if one.node == "rules-on-x5")
    assert of_node.beliefs.messages == alone.beliefs.messages == 2
    assert 0 < of_node.beliefs.cbor - alone.beliefs.cbor < 60


def test_one_node_says_nothing():
    traffic = measure_traffic(bundle_of("tree"))
    assert traffic.beliefs == traffic.readings == traffic.single_readings == Load()


def test_longer_topics_cost_more():
    bundle = bundle_of("three groups")
    short, long = measure_traffic(bundle), measure_traffic(bundle, "a/much/longer/root")
    assert long.beliefs.json - short.beliefs.json == 6 * (len("a/much/longer/root") - len("solah"))


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
def test_a_typical_reading_is_one_that_a_sensor_gives(shape):
    model = bundle_of(shape).model
    for one in model.attributes:
        reading = typical_reading(one)
        if one.is_continuous:
            assert one.low <= reading <= one.high
            assert len(repr(reading)) < 10
        else:
            assert reading in one.states
