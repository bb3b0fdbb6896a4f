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
from solah.network.bundle import Bundle, BundleError, read_bundle
from solah.network.core import NodeCore, Settings
from solah.network.holding import Holding, Lead
from solah.network.messages import Ask, Measured, Said, Terms
from solah.network.plan import make_plan, with_sending
from solah.network.reporting import MOST_SILENT, Reporter
from solah.network.sending import Sending, TermsBook

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
    return [str(model.goal.states[place]) for place in model.goal.decide(expected(model, rows))]


@settings(max_examples=40, deadline=None)
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


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_evidence_on_change_is_the_models_bit_for_bit(shape):
    bundle = on_change(shape, EXACT)
    rows = walk(np.random.default_rng(1), bundle.model, 80)
    simulation = Simulation(bundle)
    replay(simulation, bundle, rows)
    beliefs = expected(bundle.model, rows)
    decisions = simulation.run()
    assert len(decisions) > 20
    for one in decisions:
        assert tuple(one.beliefs.values()) == tuple(beliefs[one.sequence])


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
    assert all(parts & set(one.missing) and one.known < 1.0 for one in late)
    by_row = {one.sequence: one.decision for one in late}
    blind = rows.copy()
    reads = bundle.plan.node(lost).reads
    blind[:, [one.name in reads for one in bundle.model.attributes]] = np.nan
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
            simulation.nodes[node.name].repeat(Ask(since=memory.settled + 1))
            simulation._advance(node.name)

    replay(simulation, bundle, rows, step=5.0)
    simulation._at(101.0, restart)
    decisions = simulation.run()
    assert decided_by_row(decisions, len(rows)) == decided_alone(bundle.model, rows)


# --- which rows are sent -------------------------------------------------------------------------


def said(sequence, *evidence, **about):
    return Said(sequence, 0.0, {"z": evidence}, **about)


def test_a_row_is_compared_with_what_was_sent_last():
    reporter = Reporter(Sending(slack=0.5, unit=0.25), keep=100)
    (first,) = reporter.take(said(0, 1.1, 0.0), now=0.0)
    assert first.signals == {"z": (1.0, 0.0)}
    assert (first.previous, first.is_exact) == (None, False)
    assert not [*reporter.take(said(1, 1.2, 0.0), now=1.0)]
    (second,) = reporter.take(said(2, 1.3, 0.0), now=2.0)
    assert (second.signals["z"], second.previous) == ((1.25, 0.0), 0)


def test_terms_that_allow_less_bring_out_what_silence_hid():
    reporter = Reporter(Sending(slack=0.5, unit=0.25), keep=100)
    [*reporter.take_terms(Terms("m", 0, 0, (0.0, 2.0)))]
    [*reporter.take(said(0, 3.0, 0.0), now=0.0)]
    for sequence, evidence in ((1, 9.0), (2, 1.0), (3, 3.0)):
        assert not [*reporter.take(said(sequence, evidence, 0.0), now=1.0)]
    (hidden,) = reporter.take_terms(Terms("m", 1, 0, (0.0, 1.0)))
    assert (hidden.sequence, hidden.signals["z"]) == (2, (1.0, 0.0))
    exact = [one.sequence for one in reporter.take_terms(Terms("m", 2, 0, ()))]
    assert exact == [2, 3]  # more exactly than before, and the one that differs from it


def test_a_row_is_sent_now_and_then_though_nothing_changed():
    reporter = Reporter(Sending(keep_alive=10.0), keep=10_000)
    sent = [one.sequence for row in range(40) for one in reporter.take(said(row, 0.0, 0.0), row)]
    assert sent == [0, 10, 20, 30]
    still = Reporter(Sending(keep_alive=10.0), keep=10_000)
    sent = [one.sequence for row in range(600) for one in still.take(said(row, 0.0, 0.0), 0.0)]
    assert sent == [0, MOST_SILENT + 1, 2 * (MOST_SILENT + 1)]


@pytest.mark.parametrize(
    "about",
    [
        {"unknown": {"z": (0.5, 1.0)}},
        {"doubts": (1, 0)},
        {"missing": ("t",)},
        {"readings": {"t": 1.0}},
    ],
)
def test_what_is_unknown_or_doubtful_is_sent_when_it_changes(about):
    reporter = Reporter(Sending(), keep=100)
    before = {"readings": {"t": 0.0}} if "readings" in about else {}
    [*reporter.take(said(0, 0.0, 0.0, **before), 0.0)]
    (row,) = reporter.take(said(1, 0.0, 0.0, **about), 0.0)
    assert {name: getattr(row, name) for name in about} == about


def test_a_row_that_did_not_come_is_asked_for():
    holding = Holding(Sending(), {"a"})
    assert holding.take("a", said(3, 1.0, 0.0), 0.0) == ()
    assert holding.take("a", said(9, 1.0, 0.0, previous=6), 0.0) == (6, 9)
    assert holding.take("a", said(6, 2.0, 0.0), 0.0) == ()
    assert holding.take("a", said(9, 1.0, 0.0, previous=6), 0.0) == ()
    assert holding.row_of("a", 8, 0.0).sequence == 6
    assert holding.row_of("a", 8, 61.0) is None
    assert holding.row_of("a", 2, 0.0) is None


def test_a_decision_stands_if_silence_cannot_turn_it():
    holding = Holding(Sending(slack=0.5, unit=0.25), {"a", "b"})
    for name in ("a", "b"):
        holding.take(name, said(0, 1.0, 0.0, is_exact=False), 0.0)
    clear, close = Lead(0, np.array([np.inf, 2.0])), Lead(0, np.array([np.inf, 0.4]))
    assert holding.stands(0, clear, ())
    assert not holding.stands(0, close, ())
    assert holding.stands(0, close, ("a",))
    terms = holding.tighten("m", 1, clear, 0.0, 0)
    assert terms == Terms("m", 1, 0, (0.0, 0.5))
    assert holding.stands(1, clear, ())  # 2.0 > 2 * (0.25 + 0.5)
    assert not holding.stands(1, Lead(0, np.array([np.inf, 1.5])), ())
    assert not holding.stands(1, Lead(1, np.array([9.0, np.inf])), ())
    assert holding.tighten("m", 1, close, 0.0, 0).allowed == ()
    assert holding.stands(1, close, ())


def test_terms_are_those_of_the_last_row_up_to_one():
    book = TermsBook()
    assert book.of(5) is None
    first, second = Terms("m", 3, 0, (0.0, 1.0)), Terms("m", 7, 1, (1.0, 0.0))
    for one in (first, second):
        book.add(one)
    assert [book.of(row) for row in (2, 3, 6, 7, 99)] == [None, first, first, second, second]
    book.add(replace(first, row=5))
    assert book.newest.row == 5


# --- what cannot be done -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"slack": 1.0}, "'slack' must be from 0 to 0.9. Got 1.0"),
        ({"slack": float("nan")}, "'slack' must be"),
        ({"unit": -1.0}, "'unit' must be from 0 to 1. Got -1.0"),
        ({"keep_alive": 0.0}, "'keep_alive' must be a number of seconds above 0"),
        ({"keep_alive": float("inf")}, "'keep_alive' must be"),
    ],
)
def test_settings_out_of_bounds_are_refused(about, words):
    with pytest.raises(ParameterError, match=words.replace(".", r"\.")):
        Sending(**about)


def test_plans_in_which_nodes_pass_on_are_refused():
    bundle = network("over a sum")
    with pytest.raises(ParameterError, match="passes on what it gets from others"):
        with_sending(bundle.plan, bundle.model, EXACT)


def test_trees_of_trees_can_only_be_exact():
    model = random_model(np.random.default_rng(0), "masses", 3)
    names = [one.name for one in model.attributes]
    root = model.root.name
    placement = {"a": names[:2], "b": names[2:4], "c": [*names[4:], root]}
    with pytest.raises(ParameterError, match="for models that add up evidence"):
        make_plan(model, placement, sending=Sending())
    bundle = Bundle(make_plan(model, placement, sending=EXACT), model)
    rows = walk(np.random.default_rng(1), model, 40)
    simulation = Simulation(bundle)
    replay(simulation, bundle, rows)
    assert decided_by_row(simulation.run(), len(rows)) == decided_alone(model, rows)


def test_a_number_has_no_lead():
    model = random_number_model(np.random.default_rng(0))
    with pytest.raises(ParameterError, match="an estimated number has none"):
        make_plan(model, sending=Sending())


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


def test_with_all_nodes_lost_the_class_shares_are_believed():
    bundle = network("words and pairs")
    core = NodeCore(bundle, bundle.plan.nodes[0].name, Settings(deadline=1.0))
    version = core._versions.newest
    case = core._open(0, 0.0, 0.0)
    version.lose(case, list(version.sources))
    version.run([case], is_windowed=False)
    (decided,) = version.decide([case])
    assert np.allclose(list(decided.beliefs.values()), bundle.model.goal.prior)
    assert decided.known == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("sending", [None, EXACT, Sending()])
def test_unknown_readings_inside_a_live_node_show(sending):
    bundle = network("groups") if sending is None else on_change("groups", sending)
    rows = random_rows(np.random.default_rng(7), bundle.model, 2, missing=0.0)
    rows[1, :2] = np.nan
    simulation = Simulation(bundle, deadline=1.0)
    replay(simulation, bundle, rows, step=10.0)
    known = [one.known for one in simulation.run()]
    assert known[0] == 1.0
    assert known[1] < 1.0


def test_readings_that_travel_arrive_though_repeats_are_left_out():
    """Of the attributes that trees on the deciding node ask, only those that changed are sent."""
    bundle = on_change("words and pairs", EXACT)
    rows = walk(np.random.default_rng(8), bundle.model, 50, missing=0.2)
    node = next(one for one in bundle.plan.nodes if any(x in one.sends for x in one.reads))
    core = NodeCore(bundle, node.name)
    place = [one.name for one in bundle.model.attributes].index(node.reads[0])
    lengths = set()
    for sequence, row in enumerate(rows):
        value = None if np.isnan(row[place]) else float(row[place])
        core.read([Measured({node.reads[0]: value}, sequence)], 0.0, 0.0)
        for message in core.advance(0.0).beliefs:
            lengths |= {len(one.readings) for one in message.rows}
    assert lengths <= {0, 1}
