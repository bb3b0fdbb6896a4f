"""Nodes that take raw samples decide as one process does, whatever becomes of the messages."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import MAKERS, random_cored
from simulated import Simulation
from solah.model import Model, Target
from solah.model.features import Kind
from solah.model.predictor import Predictor
from solah.signals import describe_signals
from solah.site.bundle import Bundle
from solah.site.core import NodeCore, Settings
from solah.site.messages import (
    MAX_SAMPLES,
    MAX_SEQUENCE,
    Measured,
    MessageError,
    Samples,
    decode_readings,
    encode,
)
from solah.site.plan import make_plan

CLASSES = ("a", "b", "c")
SHAPES = ("three groups", "words and pairs")
NODES = ("one", "two", "three")


def describe():
    return describe_signals(
        ["x", "y", "slow"],
        rate={"x": 20, "y": 20, "slow": 5},
        window=24,
        overlap=0.5,
        features=["mean", "range", "rms", "peaks", "correlation"],
        magnitudes={"size": ["x", "y"]},
        max_gap=4,
    )


def bundle_of(rng, shape="three groups"):
    """Make a model of six features, and spread them over nodes."""
    signals = describe()
    names = [str(name) for name in rng.choice(signals.names, 6, replace=False)]
    features = [random_cored(rng, name, Kind.CONTINUOUS) for name in names]
    target = Target("state", CLASSES, shares=(0.5, 0.3, 0.2))
    nodes = MAKERS[shape](rng, features, CLASSES)
    model = Model(target, tuple(features), nodes, signals=signals.only(names))
    placement = {node: names[2 * i : 2 * i + 2] for i, node in enumerate(NODES)}
    return Bundle(make_plan(model, placement), model)


def noise(rng, n_samples):
    samples = rng.normal(0.5, 1.0, (n_samples, 3)).round(2)
    samples[rng.random(samples.shape) < 0.03] = np.nan
    return dict(zip(("x", "y", "slow"), samples.T, strict=True))


def part_of(bundle, node, samples, start, end):
    """Return the message of a node with its channels' samples from a tick to another."""
    signals = bundle.model.signals.only(bundle.plan.node(node).reads)
    channels = {
        one.name: tuple(samples[one.name][-(-start // one.every) * one.every : end : one.every])
        for one in signals.measured
    }
    return Measured({}, samples=Samples(channels, start))


def decided_by_one(model, samples):
    stream = Predictor(model).stream()
    names = [one.name for one in stream.signals.measured]
    rows = zip(*(samples[name] for name in names), strict=True)
    return [found for found in map(stream.push, rows) if found is not None]


def decided_by_nodes(bundle, samples, cuts, lost=frozenset(), twice=False):
    """Let nodes take samples in messages that end at cuts; return decisions by row."""
    network = Simulation(bundle, deadline=5.0)
    for node in NODES:
        for place, (start, end) in enumerate(pairwise(cuts)):
            message = encode(part_of(bundle, node, samples, start, end))
            if (node, place) in lost:
                continue
            for _ in range(1 + twice):
                rows = decode_readings(message)
                at = 0.01 * place
                network._at(at, lambda node=node, rows=rows: network._read(node, rows))
    return {row.sequence: row for row in network.run()}, network


def cuts_of(rng, n_samples):
    """Cut ticks into messages; every one has a sample of the slow channel."""
    inner = 4 * np.sort(rng.choice(np.arange(1, n_samples // 4), 12, replace=False))
    return [0, *inner.tolist(), n_samples]


def check_same(found, expected):
    assert sorted(found) == list(range(len(expected)))
    for row, one in enumerate(expected):
        assert found[row].decision == one.decision
        assert tuple(found[row].beliefs.values()) == tuple(one.beliefs)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SHAPES), st.booleans())
def test_nodes_decide_on_samples_as_one_process_does(seed, shape, twice):
    rng = np.random.default_rng(seed)
    bundle, samples = bundle_of(rng, shape), noise(rng, 240)
    found, network = decided_by_nodes(bundle, samples, cuts_of(rng, 240), twice=twice)
    check_same(found, decided_by_one(bundle.model, samples))
    for node in NODES:
        assert network.nodes[node].counters["repeated_ticks"] == 240 * twice


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_lost_messages_are_missing_samples(seed):
    rng = np.random.default_rng(seed)
    bundle, samples = bundle_of(rng), noise(rng, 240)
    cuts = list(range(0, 241, 12))
    node, place = NODES[rng.integers(3)], int(rng.integers(1, 19))
    found, network = decided_by_nodes(bundle, samples, cuts, lost={(node, place)})
    assert network.nodes[node].counters["missing_ticks"] == 12
    holed = {name: of.copy() for name, of in samples.items()}
    for values in holed.values():
        values[cuts[place] : cuts[place + 1]] = np.nan
    names = [one.name for one in bundle.model.features]
    whole = [one.readings for one in decided_by_one(bundle.model, samples)]
    less = [one.readings for one in decided_by_one(bundle.model, holed)]
    own = [names.index(name) for name in bundle.plan.node(node).reads]
    rows = np.array(whole)
    rows[:, own] = np.array(less)[:, own]
    beliefs = Predictor(bundle.model).beliefs(rows)
    assert [tuple(found[row].beliefs.values()) for row in range(19)] == [*map(tuple, beliefs)]


@pytest.fixture
def core():
    """A node that measures all, of the mean of x and of the slow channel."""
    signals = describe()
    names = [name for name in signals.names if "mean" in name and name[0] in "xs"][:1]
    names += [name for name in signals.names if name.startswith("slow mean")]
    features = [random_cored(np.random.default_rng(0), name, Kind.CONTINUOUS) for name in names]
    nodes = MAKERS["tree"](np.random.default_rng(0), features, CLASSES)
    model = Model(Target("state", CLASSES), tuple(features), nodes, signals=signals.only(names))
    return NodeCore(Bundle(make_plan(model, {"all": names}), model), "all", Settings())


def take(core, tick=None, n_ticks=24, value=1.0, **changes):
    channels = {"x": (value,) * n_ticks, "slow": (value,) * (n_ticks // 4), **changes}
    return core.read([Measured({}, samples=Samples(channels, tick))], 0.0, 1000.0)


def readings(core, row):
    return list(core._rows.get(row).readings.values())


def test_a_long_gap_begins_again(core):
    take(core, 0)
    assert take(core, 12_000) == [999, 1000]
    assert readings(core, 999) == [None, None]
    assert readings(core, 1000) == [1.0, 1.0]
    assert core.counters["restarted_ticks"] == 1


def test_repeated_ticks_are_left_out(core):
    take(core, 0, 48)
    assert take(core, 0, 48, value=9.0) == []
    assert take(core, 36, 24, value=2.0) == [3]  # twelve of them are new
    assert core.counters["repeated_ticks"] == 48 + 12
    assert readings(core, 3) == [1.5, 1.5]


@pytest.mark.parametrize(
    ("channels", "tick"),
    [
        ({"x": (1.0,) * 24, "slow": (1.0,) * 7}, 0),
        ({"x": (1.0,) * 24, "slow": ()}, 0),
        ({"x": ()}, 0),
        ({}, 0),
        ({"z": (1.0,) * 24}, 0),
        ({"x": (1.0,) * 24}, MAX_SEQUENCE),
        ({"x": (1.0,) * 24}, MAX_SEQUENCE - 1),
    ],
)
def test_samples_that_do_not_fit_are_counted_and_change_nothing(core, channels, tick):
    take(core, 0, 12)
    assert core.read([Measured({}, samples=Samples(channels, tick))], 0.0, 1000.0) == []
    assert core.counters["unfit_samples"] == 1
    assert core.counters["unknown_channels"] == ("z" in channels)
    assert take(core, n_ticks=12) == [0]


def test_the_next_model_knows_the_samples_before_it(core):
    take(core, 0, 36)
    target = replace(core.bundle.model.target, name="other")
    (tree,) = core.bundle.model.nodes
    model = replace(core.bundle.model, target=target, nodes=(replace(tree, name="other"),))
    assert core.adopt(Bundle(make_plan(model, {"all": core.plan.reads}), model, 4))
    assert take(core, 36, 48) == [2, 3, 4, 5]
    assert readings(core, 2) == readings(core, 4) == [1.0, 1.0]


@pytest.mark.parametrize(
    "payload",
    [
        b'{"samples": {"x": 1}}',
        b'{"samples": {"x": ["1"]}}',
        b'{"samples": {"x": [true]}}',
        b'{"samples": {"x": [[1]]}}',
        b'{"samples": {"x": [1]}, "tick": -1}',
        b'{"samples": {"x": [1]}, "tick": 1.5}',
        b'{"samples": {"x": [1]}, "tick": true}',
        b'{"samples": {"x": [1]}, "tick": 9007199254740992}',
        b'{"samples": {"x": [1]}, "seq": 1}',
        b'{"samples": {"x": [1]}, "readings": {}}',
        b'[{"samples": {"x": [1]}}]',
        b'{"samples": {"x": [' + b"1," * MAX_SAMPLES + b"1]}}",
        b'{"samples": {' + b",".join(b'"%d": []' % i for i in range(256)) + b"}}",
    ],
)
def test_hostile_samples_are_refused(payload):
    with pytest.raises(MessageError):
        decode_readings(payload)
