"""A row is decided by the plan that is in force for it, however many plans wait."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import network

from solah.site.bundle import Bundle
from solah.site.plan_versions import NoRoomError, Versions


def plans(n, starts):
    """Make plans that differ in how they decide."""
    first = network("three groups")
    for number, start in zip(range(n), starts, strict=True):
        threshold = 0.1 + 0.001 * number
        target = replace(first.model.target, thresholds=(threshold, 0.3, 0.7 - threshold))
        yield Bundle(first.plan, replace(first.model, target=target), start)


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
