"""Nodes that send on change: every decision is the one that all evidence would give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import expected, network, replay

from random_models import random_model, random_number_model, random_rows
from simulated import Simulation, readings_of
from solah.exceptions import ParameterError
from solah.site.bundle import Bundle, BundleError, read_bundle
from solah.site.change_filter import MOST_SILENT, Reporter
from solah.site.core import NodeCore, Settings
from solah.site.messages import Ask, Measured, NodeOutput
from solah.site.plan import make_plan, with_sending
from solah.site.send_on_change import Sending

SHAPES = ("three groups", "words and pairs", "groups")
EXACT = Sending(slack=0.0, unit=0.0)


def on_change(shape, sending, seed=0, n_classes=3):
    """Make a model of some shape, and a plan whose nodes send on change."""
    bundle = network(shape, seed, n_classes)
    return replace(bundle, plan=with_sending(bundle.plan, bundle.model, sending))


def walk(rng, model, n_rows, changes=0.15, missing=0.1):
    """Make rows in which most readings are those of the row before."""
    fresh = random_rows(rng, model, n_rows, missing)
    rows = fresh.copy()
    for place in range(1, n_rows):
        stays = rng.random(rows.shape[1]) >= changes
        rows[place, stays] = rows[place - 1, stays]
    return rows


def decided_by_row(decisions, n_rows):
    """Return for every row the last decision up to it."""
    by_row = {one.sequence: one for one in decisions}
    held, last = [], None
    for sequence in range(n_rows):
        last = by_row.get(sequence, last)
        held.append(last.decision)
    return held


def decided_alone(model, rows):
    return [
        str(model.target.classes[place]) for place in model.target.decide(expected(model, rows))
    ]


@settings(max_examples=20)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 10_000),
    slack=st.sampled_from([0.0, 0.3, 0.5, 0.9]),
    unit=st.sampled_from([0.0, 2.0**-5, 0.25]),
    delay=st.sampled_from([0.0, 0.05]),
    n_classes=st.integers(2, 4),
)
def test_every_decision_is_that_of_all_evidence(shape, seed, slack, unit, delay, n_classes):
    bundle = on_change(shape, Sending(slack, unit), seed % 7, n_classes)
    rows = walk(np.random.default_rng(seed), bundle.model, 60)
    simulation = Simulation(bundle, seed=seed, delay=delay, deadline=5.0)
    replay(simulation, bundle, rows)
    decisions = simulation.run()
    assert decided_by_row(decisions, len(rows)) == decided_alone(bundle.model, rows)
    assert all(node.counters["unsure"] == 0 for node in simulation.nodes.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_fewer_rows_are_sent_the_more_silence_may_hide(shape):
    sent = []
    for sending in (EXACT, Sending(slack=0.0), Sending(slack=0.5)):
        bundle = on_change(shape, sending)
        rows = walk(np.random.default_rng(5), bundle.model, 200, missing=0.0)
        simulation = Simulation(bundle, deadline=1.0)
        replay(simulation, bundle, rows)
        simulation.run()
        senders = [node for node in simulation.nodes.values() if node.plan.sends]
        sent.append(len(senders) * len(rows) - sum(one.counters["silent"] for one in senders))
    assert sent[0] > sent[2]
    assert sent[0] >= sent[1]
    assert sent[0] < 3 * 200


def test_a_number_is_estimated_within_the_units_of_all_nodes():
    model = random_number_model(np.random.default_rng(0))
    unit = 0.125
    sending = Sending(slack=0.0, unit=unit)
    bundle = Bundle(make_plan(model, sending=sending), model)
    rows = walk(np.random.default_rng(2), model, 80)
    simulation = Simulation(bundle)
    replay(simulation, bundle, rows)
    by_row = {one.sequence: float(one.decision) for one in simulation.run()}
    n_nodes = len(bundle.plan.nodes) - 1
    last = None
    for sequence, truth in enumerate(expected(model, rows)[:, 0].tolist()):
        last = by_row.get(sequence, last)
        assert abs(last - truth) <= n_nodes * 1.5 * unit


def test_a_node_that_is_silent_for_too_long_is_missing():
    """Its evidence counts until the keep-alive has passed, and is unknown from then on."""
    bundle = on_change("words and pairs", Sending(keep_alive=10.0))
    rows = walk(np.random.default_rng(3), bundle.model, 60, missing=0.0)
    simulation = Simulation(bundle, deadline=1.0)
    lost = next(node.name for node in bundle.plan.nodes if node.reads)
    simulation._at(4.9, lambda: simulation.dead.add(lost))
    replay(simulation, bundle, rows, step=1.0)
    decisions = simulation.run()
    parts = set(bundle.plan.node(lost).sends)
    early = [one for one in decisions if one.sequence <= 10]
    late = [one for one in decisions if one.sequence > 16]
    assert early
    assert late
    assert all(not parts & set(one.missing) for one in early)
    assert all(parts & set(one.missing) and one.completeness < 1.0 for one in late)
    by_row = {one.sequence: one.decision for one in late}
    blind = rows.copy()
    reads = bundle.plan.node(lost).reads
    blind[:, [one.name in reads for one in bundle.model.features]] = np.nan
    alone = decided_alone(bundle.model, blind)
    assert all(alone[sequence] == decision for sequence, decision in by_row.items())


def test_the_age_of_readings_and_what_is_too_old_travel():
    """Silence hides neither: what is told is as old as it is, or older, and names are whole."""
    bundle = on_change("groups", Sending())
    model = bundle.model
    rows = walk(np.random.default_rng(6), model, 60, changes=0.05, missing=0.0)
    simulation = Simulation(bundle, deadline=1.0)
    readers = [node for node in bundle.plan.nodes if node.reads]
    true, stale = {}, readers[0].reads[0]
    for sequence, row in enumerate(readings_of(model, rows)):
        for place, node in enumerate(readers):
            # Each node's oldest reading is renewed now and then; one is too old from row 30 on.
            oldest = 1000.0 + sequence - sequence % (5 + place) - 0.5
            missing = (stale,) if sequence >= 30 and node is readers[0] else ()
            known = {name: None if name in missing else row[name] for name in node.reads}
            measured = Measured(known, sequence, 1000.0 + sequence, oldest, missing)
            simulation._at(
                sequence, lambda name=node.name, one=measured: simulation._read(name, [one])
            )
            true[sequence] = min(true.get(sequence, oldest), oldest)
    decisions = simulation.run()
    assert len(decisions) < len(rows)
    for one in decisions:
        assert one.missing == ((stale,) if one.sequence >= 30 else ())
        assert one.oldest <= true[one.sequence]
        last_sent = 1000.0 + one.sequence - MOST_SILENT
        assert one.oldest >= last_sent
    assert any(true[one.sequence] - one.oldest <= 1.0 for one in decisions)


def test_a_deciding_node_that_begins_again_asks_what_it_does_not_know():
    bundle = on_change("groups", Sending())
    rows = walk(np.random.default_rng(4), bundle.model, 40, missing=0.0)
    simulation = Simulation(bundle, deadline=1.0)
    gateway = bundle.plan.nodes[0].name

    def restart():
        memory = simulation.nodes[gateway].memory()
        core = NodeCore(bundle, gateway, Settings(deadline=1.0))
        core.resume(memory, simulation.now)
        simulation.nodes[gateway] = core
        for node in bundle.plan.nodes[1:]:
            simulation.nodes[node.name].repeat(Ask(since=memory.done + 1))
            simulation._advance(node.name)

    replay(simulation, bundle, rows, step=5.0)
    simulation._at(101.0, restart)
    decisions = simulation.run()
    assert decided_by_row(decisions, len(rows)) == decided_alone(bundle.model, rows)


# --- which rows are sent -------------------------------------------------------------------------


def said(sequence, *evidence, **about):
    return NodeOutput(sequence, 0.0, {"z": evidence}, **about)


def test_a_row_is_sent_now_and_then_though_nothing_changed():
    reporter = Reporter(Sending(keep_alive=10.0), keep=10_000)
    sent = [one.sequence for row in range(40) for one in reporter.take(said(row, 0.0, 0.0), row)]
    assert sent == [0, 10, 20, 30]
    still = Reporter(Sending(keep_alive=10.0), keep=10_000)
    sent = [one.sequence for row in range(600) for one in still.take(said(row, 0.0, 0.0), 0.0)]
    assert sent == [0, MOST_SILENT + 1, 2 * (MOST_SILENT + 1)]


# --- what cannot be done -------------------------------------------------------------------------


def test_trees_of_trees_can_only_be_exact():
    model = random_model(np.random.default_rng(0), "masses", 3)
    names = [one.name for one in model.features]
    root = model.root.name
    placement = {"a": names[:2], "b": names[2:4], "c": [*names[4:], root]}
    with pytest.raises(ParameterError, match="for additive models"):
        make_plan(model, placement, sending=Sending())
    bundle = Bundle(make_plan(model, placement, sending=EXACT), model)
    rows = walk(np.random.default_rng(1), model, 40)
    simulation = Simulation(bundle)
    replay(simulation, bundle, rows)
    assert decided_by_row(simulation.run(), len(rows)) == decided_alone(model, rows)


def test_a_bundle_says_how_nodes_send():
    bundle = on_change("groups", Sending(0.3, 0.25, 5.0))
    again = read_bundle(bundle.to_bytes())
    assert again == bundle
    assert again.plan.sending == Sending(0.3, 0.25, 5.0)
    assert again.hash != network("groups").hash
    wrong = bundle.to_bytes().replace(b'"slack": 0.3', b'"slack": 3.0')
    with pytest.raises(ParameterError, match="'slack' must be"):
        read_bundle(wrong)
    wrong = bundle.to_bytes().replace(b'"slack": 0.3', b'"slack": "x"')
    with pytest.raises(BundleError, match="slack must be a number"):
        read_bundle(wrong)


# --- honest beliefs ------------------------------------------------------------------------------
