"""Scores within linear inequalities: the optimum there, and nothing outside."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from solah.learn.cone import Cone, Faces
from solah.learn.objective import ClassObjective, NumberObjective, Problem


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 20))
def test_the_nearest_point_is_inside_and_none_is_nearer(seed, width, n_bounds):
    rng = np.random.default_rng(seed)
    bounds = rng.integers(-2, 3, size=(n_bounds, width)).astype(float)
    bounds[-1] = bounds[0]  # what is said twice must do no harm
    faces = Faces(bounds)
    for _ in range(3):  # each time from the guess before
        point = 10 * rng.normal(size=width)
        nearest = faces.nearest(point)
        assert (bounds @ nearest >= -1e-7).all()
        # The way back to the point must not lead into the cone: for any x inside it,
        # (point - nearest) @ x <= 0, and = 0 for the nearest itself.
        assert (point - nearest) @ nearest == pytest.approx(0.0, abs=1e-6)
        inside = [faces.nearest(one) for one in rng.normal(size=(10, width))]
        assert all((point - nearest) @ one <= 1e-6 for one in inside)


def cases(seed, n_outputs, n_rows=60, width=5):
    """Make columns, an objective, a price, and a cone in which the first scores rise."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, width))
    hidden = columns @ np.array([1.0, -1.0, 2.0, 0.5, 0.0]) + rng.normal(size=n_rows)
    if n_outputs == 1:
        objective, signs = NumberObjective(hidden / hidden.std()), np.array([[1.0]])
    else:
        codes = np.argsort(np.argsort(hidden)) * n_outputs // n_rows
        objective = ClassObjective(codes, n_outputs)
        own = (np.arange(n_outputs) == 1) * 1.0
        signs = np.array([own - (np.arange(n_outputs) == k) for k in range(n_outputs) if k != 1])
    steps = np.diff(np.eye(width), axis=0)[:3]
    cone = Cone(np.repeat(steps, len(signs), axis=0), np.tile(signs, (len(steps), 1)))
    return columns, objective, 0.7 * np.eye(width), cone


def cost_of(flat, columns, objective, penalty):
    width = columns.shape[1]
    values = flat.reshape(width + 1, objective.n_outputs)
    loss = objective.losses(columns @ values[:width] + values[width]).sum()
    return loss + 0.5 * np.einsum("ik,ij,jk->", values[:width], penalty, values[:width])


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_the_constrained_optimum(seed, n_outputs):
    columns, objective, penalty, cone = cases(seed, n_outputs)
    weights = np.ones(len(columns))
    found = objective.fit(Problem(columns, weights, penalty, cone=cone))
    inside = np.einsum("ij,jk,ik->i", cone.steps, found.weights, cone.signs)
    assert inside.min() > -1e-9
    flat = np.vstack([found.weights, found.bias]).ravel()
    ours = cost_of(flat, columns, objective, penalty)
    free = objective.fit(Problem(columns, weights, penalty))
    of_free = np.vstack([free.weights, free.bias]).ravel()
    assert ours > cost_of(of_free, columns, objective, penalty) + 1e-3  # the cone matters
    width = columns.shape[1]
    least = minimize(
        cost_of,
        np.zeros_like(flat),
        (columns, objective, penalty),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda flat: np.einsum(
                "ij,jk,ik->i",
                cone.steps,
                flat.reshape(width + 1, -1)[:width],
                cone.signs,
            ),
        },
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert ours == pytest.approx(least.fun, rel=1e-5)


def test_a_start_outside_leads_inside():
    columns, objective, penalty, cone = cases(0, 2)
    problem = Problem(columns, np.ones(len(columns)), penalty)
    free = objective.fit(problem)
    from_free = objective.fit(replace(problem, start=free, cone=cone))
    from_nothing = objective.fit(replace(problem, cone=cone))
    np.testing.assert_allclose(from_free.weights, from_nothing.weights, atol=1e-4)


def test_fixed_rules_are_an_offset():
    columns, objective, penalty, _ = cases(0, 3)
    offset = np.random.default_rng(0).normal(size=(len(columns), 3))
    moved = ClassObjective(objective.codes, 3, offset)
    totals = np.random.default_rng(1).normal(size=(len(columns), 3))
    np.testing.assert_allclose(moved.losses(totals), objective.losses(totals + offset))
    found = moved.fit(Problem(columns, np.ones(len(columns)), penalty))
    slope, _ = moved.gradient(found.of(columns))
    np.testing.assert_allclose(columns.T @ slope + penalty @ found.weights, 0.0, atol=2e-2)
