"""Nodes that send on change: every decision is the one that all evidence would give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import Simulation
from test_core import expected, network, replay

from random_models import random_rows
from solah.network.bundle import Bundle
from solah.network.plan import with_sending
from solah.network.sending import Sending

SHAPES = ("flat fusion", "words and pairs", "groups")
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


@settings(max_examples=60, deadline=None)
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
