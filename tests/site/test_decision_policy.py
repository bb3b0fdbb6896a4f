"""Policies and domains in a network: what is held back, and what stands."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import expected, replay
from test_send_on_change import EXACT, walk

from policy_cases import policies
from random_models import as_table, random_model, random_rows
from simulated import Simulation
from solah.model import Target
from solah.model.decide import PolicyDecider
from solah.model.policy import Cells, Debouncer, Domain, Policy, SeenTogether, name_reasons
from solah.site.bundle import Bundle
from solah.site.decision_policy import Judging
from solah.site.plan import make_plan
from solah.site.send_on_change import Sending


def with_policy(policy=None, domain=None, sending=None, seed=0):
    model = random_model(np.random.default_rng(seed), "words and pairs", 3)
    model = replace(
        model, target=replace(model.target, thresholds=()), policy=policy, domain=domain
    )
    return Bundle(make_plan(model, sending=sending), model)


def decide(bundle, rows, **about):
    simulation = Simulation(bundle, deadline=1.0, **about)
    replay(simulation, bundle, rows)
    return {one.sequence: one for one in simulation.run()}


@settings(max_examples=20, deadline=None)
@given(policy=policies(3), seed=st.integers(0, 100), delay=st.sampled_from([0.0, 0.3]))
def test_a_network_judges_as_the_model_in_one_process(policy, seed, delay):
    """Whatever the order in which messages come, the policy takes rows one after the other."""
    domain = replace(domain_of(with_policy().model), pairs=())
    bundle = with_policy(policy, domain)
    rows = random_rows(np.random.default_rng(seed), bundle.model, 40)
    simulation = Simulation(bundle, seed=seed, delay=delay, deadline=60.0, patience=5.0)
    replay(simulation, bundle, rows)
    decided = sorted(simulation.run(), key=lambda one: one.sequence)
    judged = PolicyDecider(bundle.model).take(as_table(bundle.model, rows))
    assert [one.stable for one in decided] == judged.stable
    assert [list(one.abstain_reasons) for one in decided] == [
        name_reasons(one) for one in judged.abstain_reasons
    ]
    assert [tuple(one.probabilities.values()) for one in decided] == [
        *map(tuple, judged.probabilities)
    ]


@pytest.mark.parametrize("sending", [EXACT, Sending(0.0, 0.0, 2.0)])
def test_rows_about_which_all_are_silent_count_for_votes(sending):
    policy = Policy(votes=3, window=3)
    bundle = with_policy(policy, sending=sending)
    rows = walk(np.random.default_rng(4), bundle.model, 80, changes=0.03, missing=0.0)
    decided = decide(bundle, rows)
    assert len(decided) < 75
    debouncer = Debouncer(policy)
    names = bundle.model.target.classes
    for sequence, place in enumerate(expected(bundle.model, rows).argmax(axis=1).tolist()):
        stands = debouncer.take(place)
        if sequence in decided:
            assert decided[sequence].stable == (None if stands < 0 else names[stands])


def domain_of(model):
    """Make a domain of narrow ranges, and a pair of features that is never seen as it is."""
    continuous = [one for one in model.features if one.is_continuous]
    cells = tuple(
        Cells(one.name, one.low + 0.5, one.high - 0.5) if one.is_continuous else Cells(one.name)
        for one in model.features
    )
    pair = SeenTogether(continuous[0].name, continuous[1].name, ((False,),))
    return Domain(cells, (pair,))


@pytest.mark.parametrize("sending", [None, EXACT])
def test_readings_out_of_range_are_counted_where_they_are_measured(sending):
    model = with_policy().model
    domain = domain_of(model)
    bundle = with_policy(Policy(stays_in_range=True), domain, sending)
    rows = random_rows(np.random.default_rng(5), model, 60, 0.1)
    beyond = np.zeros(len(rows), dtype=bool)
    for place, cells in enumerate(domain.cells):
        if cells.low is not None:
            beyond |= (rows[:, place] < cells.low) | (rows[:, place] > cells.high)
    assert 5 < beyond.sum() < 60
    decided = decide(bundle, rows)
    for sequence, one in decided.items():
        assert ("out of range" in one.abstain_reasons) == beyond[sequence]
        assert (one.stable is None) == beyond[sequence]


def test_pairs_are_checked_within_a_node_only():
    model = with_policy().model
    policy, domain = Policy(max_unseen=0), domain_of(model)
    model = replace(model, policy=policy, domain=domain)
    names = [one.name for one in model.features]
    rows = random_rows(np.random.default_rng(6), model, 20, 0.0)
    first, second = domain.pairs[0].first, domain.pairs[0].second
    apart = {"a": [first], "b": [name for name in names if name != first]}
    together = {"a": [first, second], "b": [n for n in names if n not in (first, second)]}
    for placement, is_seen in ((apart, False), (together, True)):
        bundle = Bundle(make_plan(model, placement), model)
        decided = decide(bundle, rows)
        assert len(decided) == 20
        assert all(("unseen" in one.abstain_reasons) == is_seen for one in decided.values())


def test_beliefs_that_are_no_evidence_are_averaged_as_they_are():
    judging = Judging(Policy(smoothing=2), Target("y", ("a", "b")))
    judging.take(np.array([1.0, 0.0]), 1.0, (0, 0), is_evidence=False)
    judged = judging.take(np.array([0.0, 1.0]), 1.0, (0, 0), is_evidence=False)
    assert judged.belief == (0.5, 0.5)
