"""What goes over the wire for a decision is counted as it is written."""

import numpy as np
import pytest

from random_models import random_model
from simulated import Simulation
from solah.site.bundle import Bundle
from solah.site.messages import Measured, encode
from solah.site.plan import make_plan
from solah.site.traffic import measure_traffic, publish_bytes, typical_reading

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


def test_a_message_is_counted_once_to_the_broker_and_once_to_each_subscriber():
    bundle = bundle_of("three groups", site="house")
    traffic = measure_traffic(bundle)
    assert traffic.beliefs.messages == 6
    assert traffic.status.messages == len(bundle.plan.nodes)
    assert traffic.readings.messages == 6
    features = {one.name: one for one in bundle.model.features}
    n_bytes = 0
    for node in bundle.plan.nodes[1:]:
        readings = {name: typical_reading(features[name]) for name in node.reads}
        payload = encode(Measured(readings, 123_456, 1_763_293_226.123456))
        n_bytes += 2 * publish_bytes(f"solah/house/{node.name}/in", payload)
    assert traffic.readings.bytes == n_bytes


@pytest.mark.parametrize("shape", ["three groups", "masses", "words"])
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
    # Every message here has one subscriber, and a length in two bytes.
    header = 1 + 2 + 2 + len("solah/site/z0/out") + 2
    sent = traffic.beliefs.messages // 2 * header + simulation.sent_bytes
    assert traffic.beliefs.bytes // 2 == sent


def test_what_a_node_says_in_two_steps_is_two_messages():
    low, middle, high = NAMES[:2], NAMES[2:4], NAMES[4:]
    own = {"a": [*low, *high], "b": middle, "d": ["y"]}
    assert n_messages(own) == 4
    other = {"a": [*low, *high, "z1"], "b": middle, "d": ["y"]}  # z0 and z2 at once, z1 after b
    assert n_messages(other) == 6


def n_messages(placement):
    return measure_traffic(bundle_of("three groups", placement)).beliefs.messages
