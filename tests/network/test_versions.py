"""A row is decided by the plan that is in force for it, however many plans wait."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import network
from test_position import single

from random_models import random_rows
from simulated import named
from solah.network.bundle import Bundle
from solah.network.core import NodeCore
from solah.network.messages import Measured
from solah.network.versions import NoRoomError, Versions


def plans(n, starts):
    """Make plans that differ in how they decide."""
    first = network("three groups")
    for number, start in zip(range(n), starts, strict=True):
        threshold = 0.1 + 0.001 * number
        goal = replace(first.model.goal, thresholds=(threshold, 0.3, 0.7 - threshold))
        yield Bundle(first.plan, replace(first.model, goal=goal), start)


PLANS = list(plans(30, [0] * 30))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(-100, 60)), max_size=29))
def test_the_last_plan_that_has_begun_is_in_force(steps):
    versions = Versions(PLANS[0], "gateway")
    adopted = [PLANS[0]]
    for plan, (start, first_needed) in zip(PLANS[1:], steps, strict=False):
        new = replace(plan, starts=start)
        needed = max(first_needed, versions.first)
        try:
            versions.adopt(new, needed)
            adopted.append(new)
        except NoRoomError:
            assert len(versions.bundles) == 8
        assert len(versions.bundles) <= 8
        for row in range(versions.first, 62):
            begun = [one for one in adopted if one.starts <= row]
            assert versions.of(row).hash == begun[-1].hash
        assert versions.first <= max(needed, 0)


def test_a_plan_for_which_there_is_no_room_comes_later():
    bundle = single()
    core = NodeCore(bundle, "only")
    rows = random_rows(np.random.default_rng(0), bundle.model, 60)
    starts = [2_000 * (one + 1) for one in range(9)]
    for start in starts[:7]:
        assert core.adopt(bundle.starting_at(start))
    with pytest.raises(NoRoomError, match="from row 16000 on has to wait"):
        core.adopt(bundle.starting_at(starts[7]))
    assert len(core.bundles) == 8
    readings = [named(bundle.model, row) for row in rows]
    for place, one in enumerate(readings):
        core.read([Measured(one, 5_000 + place)], 0.0, 0.0)
    core.advance(0.0)
    assert core.adopt(bundle.starting_at(starts[7]))
    assert [one.starts for one in core.bundles] == starts[1:8]  # that before is over


def test_six_plans_that_wait_change_no_row_before_them():
    old, *new = plans(7, [0, 50, 60, 70, 80, 90, 95])
    core = NodeCore(old, "z0")
    for plan in new:
        assert core.adopt(plan)
    (one, *_) = core.plan.reads
    core.read([Measured({one: 1.0}, row) for row in range(100)], 0.0, 0.0)
    hashes = {row.sequence: said.model for said in core.advance(0.0).beliefs for row in said.rows}
    for row in range(100):
        begun = [plan for plan in (old, *new) if plan.starts <= row]
        assert hashes[row] == begun[-1].hash
