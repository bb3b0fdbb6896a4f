"""What goes over the wire for a decision is counted as it is written."""

import numpy as np
import pytest

from random_models import ADDITIVE_SHAPES, SHAPES, random_model
from simulated import Simulation
from solah.site.bundle import Bundle
from solah.site.messages import Measured, encode
from solah.site.plan import make_plan
from solah.site.traffic import Load, measure_traffic, publish_bytes, typical_reading

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
    assert traffic.beliefs.bytes == sum(node.beliefs.bytes for node in traffic.nodes)
    assert traffic.status.messages == len(traffic.nodes)


def test_a_reading_is_counted_in_the_message_that_would_carry_it():
    bundle = bundle_of("three groups", site="house")
    model = bundle.model
    traffic = measure_traffic(bundle)
    (z0,) = (node for node in traffic.nodes if node.node == "z0")
    readings = {one.name: typical_reading(one) for one in model.features[:2]}
    row = Measured(readings, 123_456, 1_763_293_226.123456)
    assert z0.readings.bytes == 2 * publish_bytes("solah/house/z0/in", encode(row))
    assert (z0.readings.messages, z0.single_readings.messages) == (2, 4)
    assert z0.single_readings.bytes > z0.readings.bytes


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
def test_beliefs_weigh_what_the_nodes_say_in_a_running_network(shape):
    bundle = bundle_of(shape)
    simulation = Simulation(bundle)
    readings = {one.name: typical_reading(one) for one in bundle.model.features}
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
    assert traffic.beliefs.bytes // 2 == overhead + simulation.sent_bytes


def test_what_a_node_says_in_two_steps_is_two_messages():
    low, middle, high = NAMES[:2], NAMES[2:4], NAMES[4:]
    own = {"a": [*low, *high], "b": middle, "d": ["y"]}
    assert n_messages("three groups", own) == {"d": 0, "a": 2, "b": 2}
    other = {"a": [*low, *high, "z1"], "b": middle, "d": ["y"]}  # z0 and z2 at once, z1 after b
    assert n_messages("three groups", other) == {"d": 0, "a": 4, "b": 2}


def n_messages(shape, placement):
    traffic = measure_traffic(bundle_of(shape, placement))
    return {node.node: node.beliefs.messages for node in traffic.nodes}
