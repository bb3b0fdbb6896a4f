"""No single source decides which rows a site is at, and a site comes back by itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import expected, network

from random_models import random_model, random_rows
from simulated import Simulation, named
from solah.model import Target
from solah.site.bundle import Bundle
from solah.site.messages import MAX_SEQUENCE
from solah.site.plan import make_plan
from solah.site.position import FAR, SILENCE, Position
from solah.site.state_file import Memory

N_ROWS = 60
STEP = 0.5


def single():
    """Make a site of one node."""
    model = random_model(np.random.default_rng(0), "tree", 3)
    model = replace(model, target=Target("y", model.target.classes))
    names = [feature.name for feature in model.features]
    return Bundle(make_plan(model, {"only": names}), model)


BUNDLES = {
    "one source": single(),
    "many": network("three groups"),
    "levels": network("three groups"),
    "its own readings": network("masses"),
}


def replay(simulation, bundle, rows, first=0, begin=0.0, step=STEP):
    """Let each node measure its part of every row, from some number and time on."""
    for place, row in enumerate(rows):
        readings = named(bundle.model, row)
        for node in bundle.plan.nodes:
            if node.reads:
                own = {name: readings[name] for name in node.reads}
                simulation.measure(node.name, first + place, own, begin + place * step)


def complete(bundle, rows, decisions, first=0):
    """Return which rows were decided as the model decides them, once and with nothing missing."""
    beliefs = expected(bundle.model, rows)
    known = {}
    for one in decisions:
        known.setdefault(one.sequence - first, []).append(one)
    return [
        place
        for place in range(len(rows))
        if len(known.get(place, ())) == 1
        and known[place][0].missing == ()
        and tuple(known[place][0].probabilities.values()) == tuple(beliefs[place])
    ]


def measuring(bundle):
    return [node.name for node in bundle.plan.nodes if node.reads]


# Where a stranger's rows may be: around the end of all numbers, far ahead, behind, and just ahead.
FLOODS = st.tuples(
    st.sampled_from([MAX_SEQUENCE - 5_000, 2**40, 50_000_000, 900_000, 5_000, N_ROWS + 10]),
    st.integers(1, 300),
    st.floats(0.0, N_ROWS * STEP),
)


@settings(max_examples=20)
@given(
    kind=st.sampled_from(sorted(BUNDLES)),
    seed=st.integers(0, 100),
    victim=st.integers(0, 10),
    floods=st.lists(FLOODS, min_size=1, max_size=8),
    keep=st.sampled_from([64, 256]),
)
def test_no_flood_at_one_input_costs_others_a_row(kind, seed, victim, floods, keep):
    bundle = BUNDLES[kind]
    rows = random_rows(np.random.default_rng(seed), bundle.model, N_ROWS)
    simulation = Simulation(bundle, seed=seed, delay=0.01, keep=keep)
    names = measuring(bundle)
    replay(simulation, bundle, rows, begin=1.0)
    for first, length, at in floods:
        # Who comes to the only source says where the site is, but cannot take it far away.
        if kind != "one source" or (at > 1.0 and first > FAR + N_ROWS):
            simulation.flood(names[victim % len(names)], range(first, first + length), at)
    assert complete(bundle, rows, simulation.run()) == list(range(N_ROWS))


@pytest.mark.parametrize("kind", sorted(BUNDLES))
def test_a_flood_is_refused_and_named(kind):
    bundle = BUNDLES[kind]
    rows = random_rows(np.random.default_rng(0), bundle.model, N_ROWS)
    simulation = Simulation(bundle)
    name = measuring(bundle)[0]
    replay(simulation, bundle, rows)
    for part in range(3):
        first = MAX_SEQUENCE - 4_200 + part * 1_400
        simulation.flood(name, range(first, first + 1_400), at=5.1 + part * STEP)
    decisions = simulation.run()
    assert complete(bundle, rows, decisions) == list(range(N_ROWS))
    assert len(decisions) == N_ROWS
    refused = sum(node.counters["far_ahead"] for node in simulation.nodes.values())
    assert refused >= 4_200
    assert any(node.counters[f"far_ahead_{name}"] for node in simulation.nodes.values())


@pytest.mark.parametrize("kind", sorted(BUNDLES))
@pytest.mark.parametrize("poison", [MAX_SEQUENCE, 10**9])
def test_a_site_comes_back_from_a_state_that_a_flood_left(kind, poison):
    bundle = BUNDLES[kind]
    n_rows = int(SILENCE) + 60
    rows = random_rows(np.random.default_rng(1), bundle.model, n_rows)
    simulation = Simulation(bundle)
    for node in simulation.nodes.values():
        node.resume(Memory(poison, poison))
    replay(simulation, bundle, rows, first=5_000, step=1.0)
    lost = int(SILENCE) + 1
    decided = complete(bundle, rows, simulation.run(), first=5_000)
    assert decided[-(n_rows - lost) :] == list(range(lost, n_rows))
    deciding = simulation.nodes[bundle.plan.nodes[0].name]
    assert deciding.done == 5_000 + n_rows - 1


@pytest.mark.parametrize("kind", sorted(BUNDLES))
def test_a_site_comes_back_when_a_flood_that_found_it_alone_ends(kind):
    bundle = BUNDLES[kind]
    n_rows = 8
    rows = random_rows(np.random.default_rng(2), bundle.model, n_rows)
    simulation = Simulation(bundle, keep=64)
    pause = 3 * SILENCE  # nothing is measured for so long between two rows
    replay(simulation, bundle, rows, step=pause)
    flood = range(MAX_SEQUENCE - 200, MAX_SEQUENCE)
    simulation.flood(measuring(bundle)[0], flood, at=2.5 * pause)
    decided = complete(bundle, rows, simulation.run())
    assert decided[-(n_rows - 4) :] == list(range(4, n_rows))


@pytest.mark.parametrize("kind", sorted(BUNDLES))
@pytest.mark.parametrize("first", [604_800, 604_800_000])
def test_a_site_that_was_off_for_a_week_loses_nothing(kind, first):
    bundle = BUNDLES[kind]
    rows = random_rows(np.random.default_rng(3), bundle.model, 2 * N_ROWS)
    simulation = Simulation(bundle)
    replay(simulation, bundle, rows[:N_ROWS])
    replay(simulation, bundle, rows[N_ROWS:], first=first, begin=604_800.0)
    decisions = simulation.run()
    assert complete(bundle, rows[:N_ROWS], decisions) == list(range(N_ROWS))
    assert complete(bundle, rows[N_ROWS:], decisions, first) == list(range(N_ROWS))


@pytest.mark.parametrize("kind", sorted(BUNDLES))
def test_numbers_may_begin_again(kind):
    bundle = BUNDLES[kind]
    rows = random_rows(np.random.default_rng(5), bundle.model, 2 * N_ROWS)
    simulation = Simulation(bundle, keep=32)
    replay(simulation, bundle, rows[:N_ROWS], first=50_000)
    replay(simulation, bundle, rows[N_ROWS:], begin=N_ROWS * STEP + 2 * SILENCE)
    decisions = simulation.run()
    assert complete(bundle, rows[:N_ROWS], decisions, 50_000) == list(range(N_ROWS))
    assert complete(bundle, rows[N_ROWS:], decisions) == list(range(N_ROWS))


def test_what_is_said_again_of_long_ago_moves_nothing():
    position = Position(keep=16, n_sources=2)
    for source in "ab":
        position.note(source, 1_000, now=0.0)
    position.update(0.0, patience=2.0)
    position.floor = 900
    for now in (0.5, 1.0, 1.5):
        assert not position.note_elsewhere("a", 10, now)
        assert not position.note_elsewhere("b", 10, now)
    assert position.reached == 1_000
