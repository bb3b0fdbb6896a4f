"""A network of nodes decides as the model alone, whatever the way of its messages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import (
    ADDITIVE_SHAPES,
    random_model,
    random_rows,
)
from simulated import Simulation, named
from solah.explain.importance import feature_importances
from solah.model import Target
from solah.model.evaluate import completeness, missing_share, run
from solah.site.bundle import Bundle
from solah.site.core import NodeCore, Settings
from solah.site.messages import MAX_BYTES, Ask, Beliefs, Measured, NodeOutput, encode
from solah.site.plan import make_plan
from solah.site.traffic import typical_reading

SHAPES = ("three groups", "masses", "words", "over a sum", *ADDITIVE_SHAPES)


def network(shape, seed=0, n_classes=3):
    """Make a model of some shape, and a plan for it."""
    model = random_model(np.random.default_rng(seed), shape, n_classes)
    placement = {}
    if shape in ("masses", "words", "over a sum"):
        names = [feature.name for feature in model.features]
        placement = {"a": names[:2], "b": names[2:4], "c": names[4:]}
    return Bundle(make_plan(model, placement or None), model)


def replay(simulation, bundle, rows, step=0.01):
    """Let each node measure its part of every row."""
    for sequence, row in enumerate(rows):
        readings = named(bundle.model, row)
        for node in bundle.plan.nodes:
            if node.reads:
                own = {name: readings[name] for name in node.reads}
                simulation.measure(node.name, sequence, own, sequence * step)


def expected(model, rows):
    """Return what the model believes of rows in one process."""
    return run(model.program, rows)


def known_shares(model, rows):
    """Return what is known of rows in one process, where terms tell how much they matter."""
    return completeness(missing_share(model.program, rows))


def has_variances(model):
    return model.program.has_variances


def without(model, rows, names):
    """Return rows in which these readings are missing."""
    blind = rows.copy()
    blind[:, [one.name in names for one in model.features]] = np.nan
    return blind


def check(bundle, rows, decisions):
    model = bundle.model
    beliefs = expected(model, rows)
    known = known_shares(model, rows) if has_variances(model) else np.ones(len(rows))
    assert sorted(one.sequence for one in decisions) == list(range(len(rows)))
    for one in decisions:
        assert tuple(one.probabilities.values()) == tuple(beliefs[one.sequence])
        assert one.decision == str(model.target.classes[model.target.decide(beliefs)[one.sequence]])
        assert one.missing == ()
        assert one.completeness == max(0.0, known[one.sequence])


@settings(max_examples=15)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 1000),
    delay=st.sampled_from([0.0, 0.01, 0.1]),
    twice=st.sampled_from([0.0, 0.5]),
    lost=st.sampled_from([0.0, 0.3]),
)
def test_delayed_repeated_reordered_and_lost_messages_change_nothing(
    shape, seed, delay, twice, lost
):
    bundle = network(shape)
    rows = random_rows(np.random.default_rng(seed), bundle.model, 40)
    chaos = {"delay": delay, "twice": twice, "lost": lost}
    simulation = Simulation(bundle, seed=seed, deadline=60.0, patience=0.3, **chaos)
    replay(simulation, bundle, rows)
    check(bundle, rows, simulation.run())


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_dead_node_would_say_is_taken_for_unknown(shape):
    bundle = network(shape)
    model = bundle.model
    rows = random_rows(np.random.default_rng(2), model, 20, missing=0.0)
    dead = next(node for node in bundle.plan.nodes if node.reads and node.sends)
    simulation = Simulation(bundle, deadline=1.0)
    simulation.dead.add(dead.name)
    replay(simulation, bundle, rows)
    decisions = simulation.run()
    blind = without(model, rows, dead.reads)
    beliefs = expected(model, blind)
    assert len(decisions) == len(rows)
    for one in decisions:
        assert tuple(one.probabilities.values()) == tuple(beliefs[one.sequence])
        assert set(one.missing) <= {*dead.sends, *(part for part, _ in bundle.plan.nodes[0].hears)}
        assert one.missing
        if has_variances(model):
            assert one.completeness == known_shares(model, blind)[one.sequence]
        else:
            places = [place for place, a in enumerate(model.features) if a.name in dead.reads]
            lost = sum(feature_importances(model)[place] for place in places)
            assert one.completeness == pytest.approx(1.0 - lost)


@st.composite
def scattered(draw):
    """Draw a model and a plan that measures its features anywhere."""
    shape = draw(st.sampled_from(("three groups", *ADDITIVE_SHAPES)))
    model = random_model(np.random.default_rng(draw(st.integers(0, 100))), shape, 3)
    if draw(st.booleans()):
        return Bundle(make_plan(model), model)
    nodes = st.sampled_from(["a", "b", "c", "gateway"])
    if shape in ADDITIVE_SHAPES:
        homes = {one.name: draw(nodes) for one in model.features}
    else:
        homes = {
            f"x{place}": home
            for i in range(3)
            for home in [draw(nodes)]
            for place in (2 * i, 2 * i + 1)
        }
    placement = {}
    for name, home in homes.items():
        placement.setdefault(home, []).append(name)
    return Bundle(make_plan(model, placement), model)


@settings(max_examples=25)
@given(bundle=scattered(), seed=st.integers(0, 1000), data=st.data())
def test_lost_nodes_and_unknown_readings_count_as_in_the_model(bundle, seed, data):
    model, plan = bundle.model, bundle.plan
    rows = random_rows(np.random.default_rng(seed), model, 8, missing=0.2)
    mortal = [node for node in plan.nodes[1:] if not node.hears]
    dead = [node for node in mortal if data.draw(st.booleans())]
    simulation = Simulation(bundle, deadline=1.0)
    simulation.dead |= {node.name for node in dead}
    replay(simulation, bundle, rows)
    decisions = simulation.run()
    if len(dead) == len([node for node in plan.nodes if node.reads]):
        assert not decisions  # nothing came in
        return
    blind = without(model, rows, {name for node in dead for name in node.reads})
    beliefs = expected(model, blind)
    assert len(decisions) == len(rows)
    for one in decisions:
        assert tuple(one.probabilities.values()) == tuple(beliefs[one.sequence])
        assert bool(one.missing) == bool(dead)
        if has_variances(model):
            assert one.completeness == max(0.0, known_shares(model, blind)[one.sequence])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_if_all_is_lost_the_belief_is_the_shares_of_the_classes(n_classes):
    bundle = network("words and pairs", n_classes=n_classes)
    core = NodeCore(bundle, "gateway", Settings(deadline=1.0))
    row = NodeOutput(1, 0.0, {}, readings={"x0": None})
    core.hear(Beliefs("rules-on-x0", bundle.hash, (row,)), now=0.0)
    ((decided,),) = (one.rows for one in core.advance(5.0).decisions)
    assert tuple(decided.probabilities.values()) == pytest.approx(
        bundle.model.target.shares, abs=1e-12
    )
    assert decided.completeness == pytest.approx(0.0, abs=1e-12)


def test_a_restarted_node_remembers_what_is_unknown():
    bundle = network("groups")
    model = bundle.model
    rows = random_rows(np.random.default_rng(6), model, 1, missing=0.5)
    messages = []
    for node in bundle.plan.nodes[1:]:
        core = NodeCore(bundle, node.name)
        own = {name: named(model, rows[0])[name] for name in node.reads}
        core.read([Measured(own, 0)], now=0.0, wall=0.0)
        messages += core.advance(0.0).beliefs
    first = NodeCore(bundle, "gateway")
    for message in messages[:-1]:
        first.hear(message, now=0.0)
    first.advance(0.0)
    again = NodeCore(bundle, "gateway")
    again.resume(first.memory())
    again.hear(messages[-1], now=0.0)
    ((decided,),) = (one.rows for one in again.advance(0.0).decisions)
    assert tuple(decided.probabilities.values()) == tuple(expected(model, rows)[0])


def test_a_swap_under_way_mixes_no_models():
    old = network("three groups", seed=0)
    new = network("three groups", seed=0)
    changed = replace(new.model, target=replace(new.model.target, thresholds=(0.2, 0.2, 0.6)))
    new = Bundle(make_plan(changed), changed, starts=30)
    assert new.hash != old.hash
    rows = random_rows(np.random.default_rng(3), old.model, 60)
    simulation = Simulation(old, delay=0.05, twice=0.2, deadline=60.0, patience=0.3)
    replay(simulation, old, rows)
    rng = np.random.default_rng(0)
    for name in simulation.nodes:  # some hear of it early, some late
        simulation.adopt(name, new, at=float(rng.uniform(0.1, 0.5)))
    decisions = simulation.run()
    assert sorted(one.sequence for one in decisions) == list(range(60))
    before, after = expected(old.model, rows), expected(new.model, rows)
    for one in decisions:
        target = (old if one.sequence < 30 else new).model.target
        beliefs = (before if one.sequence < 30 else after)[one.sequence]
        assert tuple(one.probabilities.values()) == tuple(beliefs)
        assert one.decision == str(target.classes[target.decide(beliefs[None])[0]])


def gateway(**settings):
    bundle = network("three groups")
    return bundle, NodeCore(bundle, "gateway", Settings(**settings))


def said(bundle, sequence, node="z0", model=None, part=None, signal=(0.0, 0.0, 0.0), **more):
    rows = (NodeOutput(sequence, 0.0, {part or node: signal}, **more),)
    return Beliefs(node, model or bundle.hash, rows)


@pytest.mark.parametrize(
    ("message", "counter"),
    [
        ({"model": "0" * 16}, "other_model"),
        ({"node": "stranger"}, "refused"),
        ({"part": "z1"}, "refused"),
        ({"signal": (0.0, 0.0)}, "refused"),
        ({"unknown": {"z0": (1.1, 0.0)}}, "refused"),  # more than all
        ({"unknown": {"z1": (0.0, 0.0)}}, "refused"),
        ({"readings": {"x0": 1.0}}, "refused"),  # no tree elsewhere asks it
    ],
)
def test_what_is_not_expected_is_counted_and_changes_nothing(message, counter):
    bundle, core = gateway()
    core.hear(said(bundle, 5, **message), now=0.0)
    assert core.counters == {counter: 1}
    assert core.n_open == 0


@pytest.mark.parametrize(
    ("unknown", "is_taken"), [((1.0, 1.0), True), ((1.01, 1.0), False), ((1.0, 1.01), False)]
)
def test_no_more_is_unknown_than_there_is(unknown, is_taken):
    bundle = network("groups")
    core = NodeCore(bundle, "gateway")
    (part, home), *_ = core.plan.hears
    most = core._versions.newest.lost[part]
    told = {part: tuple(share * bound for share, bound in zip(unknown, most, strict=True))}
    core.hear(said(bundle, 1, home, part=part, unknown=told), now=0.0)
    assert core.counters == {"heard" if is_taken else "refused": 1}


@pytest.mark.parametrize(
    ("readings", "is_taken"),
    [
        ({"x2": 1.0}, True),
        ({"x2": None}, True),
        ({"x2": 3.0}, False),  # there are three states
        ({"x2": 0.5}, False),
        ({"x1": 1.0}, False),  # measured elsewhere
        ({"stranger": 1.0}, False),
    ],
)
def test_readings_of_other_nodes_are_those_that_are_asked(readings, is_taken):
    bundle = network("words and pairs")
    core = NodeCore(bundle, "gateway")
    rows = (NodeOutput(1, 0.0, {}, readings=readings),)
    core.hear(Beliefs("rules-on-x2", bundle.hash, rows), now=0.0)
    assert core.counters == {"heard" if is_taken else "refused": 1}


def node_that_said(n_rows, now=0.0):
    core = NodeCore(network("three groups"), "z0")
    readings = dict.fromkeys(core.plan.reads, 1.0)
    core.read([Measured(readings, sequence) for sequence in range(n_rows)], now, 0.0)
    assert sum(len(said.rows) for said in core.advance(now).beliefs) == n_rows
    return core


def said_again(core, now):
    return [row.sequence for said in core.advance(now).beliefs for row in said.rows]


def test_a_small_question_has_a_bounded_answer():
    core = node_that_said(4_096)
    core.repeat(Ask(since=0))
    said = core.advance(1.0).beliefs
    assert [len(one.rows) for one in said] == [200] * 5
    assert [row.sequence for one in said for row in one.rows] == [*range(3_096, 4_096)]
    assert sum(len(encode(one)) for one in said) < 128 * 1024
    assert core.counters["unanswered"] == 3_096
    assert core.next_deadline() is None


@given(
    since=st.integers(0, 3_000) | st.none(),
    sequences=st.lists(st.integers(0, 3_000), max_size=500),
)
@settings(max_examples=25)
def test_an_answer_is_what_was_asked_and_is_held(since, sequences):
    core = node_that_said(2_000)
    core.repeat(Ask(tuple(sequences), since))
    held = {one for one in sequences if one < 2_000}
    held |= set() if since is None else set(range(since, 2_000))
    assert said_again(core, 1.0) == sorted(held)[-1_000:]


def test_however_often_it_is_asked_a_node_answers_a_few_times_a_second():
    core = node_that_said(4_096)
    rows = 0
    for step in range(1_000):
        core.repeat(Ask(since=0))
        rows += len(said_again(core, 1.0 + step / 1_000))
    assert rows <= 2 * 5 * 200  # what was saved up, and what came to it in a second


def test_all_that_is_missing_is_had_again():
    bundle = network("three groups")
    cores = {node.name: NodeCore(bundle, node.name) for node in bundle.plan.nodes}
    gateway, now = cores["gateway"], 0.0
    for node in bundle.plan.nodes[1:]:
        features = (one for one in bundle.model.features if one.name in node.reads)
        readings = {one.name: typical_reading(one) for one in features}
        cores[node.name].read([Measured(readings, one) for one in range(3_000)], now, 0.0)
        cores[node.name].advance(now)  # all of which is lost
        cores[node.name].repeat(Ask(since=0))
    decided = set()
    for _ in range(40):
        now += 0.1
        for core in cores.values():
            outbox = core.advance(now)
            for said in outbox.beliefs:
                gateway.hear(said, now)
            for asked, ask in outbox.asks:
                cores[asked].repeat(ask)
            decided |= {row.sequence for one in outbox.decisions for row in one.rows}
    assert decided == set(range(2_000, 3_000))
    assert gateway.counters["incomplete"] == 0


def test_what_a_tree_hears_must_be_a_belief():
    bundle = network("masses")
    hearing = next(node for node in bundle.plan.nodes if node.hears)
    core = NodeCore(bundle, hearing.name)
    part, home = hearing.hears[0]
    for signal in ((50.0, -10.0, 0.0), (0.0, 0.0, 0.0), (0.6, 0.6, 0.6)):
        core.hear(said(bundle, 1, home, part=part, signal=signal), now=0.0)
    assert core.counters["refused"] == 3
    core.hear(said(bundle, 1, home, part=part, signal=(0.2, 0.3, 0.5)), now=0.0)
    assert core.counters["heard"] == 1


def test_messages_of_many_classes_are_not_too_large():
    states = tuple(f"class number {place} of a long name" for place in range(120))
    model = random_model(np.random.default_rng(0), "three groups", len(states))
    model = replace(model, target=Target("y", states))
    bundle = Bundle(make_plan(model), model)
    rows = random_rows(np.random.default_rng(1), model, 400)
    cores = {node.name: NodeCore(bundle, node.name) for node in bundle.plan.nodes}
    for node in bundle.plan.nodes[1:]:
        own = [
            Measured({one: readings[one] for one in node.reads}, sequence)
            for sequence, readings in enumerate(named(model, row) for row in rows)
        ]
        cores[node.name].read(own, now=0.0, wall=0.0)
        for message in cores[node.name].advance(0.0).beliefs:
            assert len(encode(message)) <= MAX_BYTES
            cores["gateway"].hear(message, now=0.0)
    decisions = cores["gateway"].advance(0.0).decisions
    assert sum(len(one.rows) for one in decisions) == len(rows)
    assert all(len(encode(one)) <= MAX_BYTES for one in decisions)
