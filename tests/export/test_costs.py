"""What a model is estimated to cost, beside what it costs when it is compiled and run."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from devices import with_tools
from export_shapes import ALL_SHAPES
from judged_models import STEADY, judged_model

from random_models import random_model, random_number_model, random_rows, with_features
from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    datasets,
)
from solah.export import export_c
from solah.export.costs import model_costs
from solah.export.footprint import footprint, sample_rows
from solah.export.layout import lay_out
from solah.export.prices import Q15
from solah.model import Model


@cache
def made(name):
    return (CURVES | TREES)[name]()


def fitted(name, estimator):
    data = datasets.load(name)
    return estimator.fit(data.table, data.target).model_


def with_variances(model):
    return model.with_terms(replace(term, variance=0.5) for term in model.terms)


CURVES = {
    "wine in 20 rules": lambda: fitted("wine", RuleClassifier(max_rules=20)),
    "wdbc": lambda: fitted("wdbc", RuleClassifier(max_rules=150)),
    "wine that may be unknown": lambda: with_variances(made("wine in 20 rules")),
}
TREES = {
    "a tree of iris": lambda: fitted("iris", LinguisticTreeClassifier(max_rules=30)),
    "a number added up": lambda: random_number_model(np.random.default_rng(1), "groups"),
    "words and pairs": lambda: random_model(np.random.default_rng(3), "words and pairs", 2),
    "trees above trees": lambda: random_model(np.random.default_rng(3), "words", 4),
}


def costly_rows(model):
    """Draw rows, and add those that cost most: all above the last knot, all unknown, and both."""
    walks = [walk for stage in lay_out(model).stages for walk in stage.walks]
    walked = [axis.source for walk in walks for axis in walk.axes if axis.is_read]
    highest = np.array([one.peaks[-1] + 1.0 for one in model.features])
    unknown = np.full(len(highest), np.nan)
    is_walked = np.isin(np.arange(len(highest)), walked)
    both = np.where(is_walked, unknown, highest)
    return np.vstack([sample_rows(model, 20), highest, unknown, both])


@pytest.fixture(params=["float", "q15"])
def numbers(request):
    return request.param


@pytest.mark.parametrize("name", [*CURVES, *TREES])
def test_the_estimate_is_near_what_is_measured(name, numbers, find_tool):
    platform = with_tools("cortex-m0plus", find_tool)
    model = made(name)
    estimated = model_costs(model, numbers)
    measured = footprint(
        export_c(model, numbers=numbers, style="tables"), platform, costly_rows(model)
    )
    tolerance = 0.10 if numbers == "float" else 0.05
    assert abs(estimated.flash - measured.flash) <= max(tolerance * measured.flash, 96)
    assert measured.stack <= estimated.stack <= 1.25 * measured.stack + 64
    ratio = estimated.instructions / measured.instructions
    assert (0.8 < ratio < 1.2) if name in CURVES else (1 / 1.5 < ratio < 1.5)


@pytest.mark.parametrize("shape", ["groups", "tree", "words and pairs"])
def test_judging_is_estimated_too(shape, numbers, find_tool):
    platform = with_tools("cortex-m0plus", find_tool)
    model = judged_model(np.random.default_rng(4), shape)
    model = replace(model, policy=replace(STEADY, stays_in_range=True))
    without = replace(model, policy=None, domain=None)
    estimated = [model_costs(one, numbers) for one in (model, without)]
    measured = [
        footprint(export_c(one, numbers=numbers, style="tables"), platform, costly_rows(one))
        for one in (model, without)
    ]
    assert abs(more(estimated, "flash") - more(measured, "flash")) <= 128
    assert estimated[0].stack >= measured[0].stack
    assert 1 / 1.6 < estimated[0].instructions / measured[0].instructions < 1.6
    assert measured[0].ram <= 48


def more(costs, what):
    """Return how much more the first costs."""
    return getattr(costs[0], what) - getattr(costs[1], what)


def test_tables_are_counted_to_the_byte():
    model = made("wine in 20 rules")
    (stage,) = lay_out(model).stages
    n_knots = sum(len(curve.knots) for curve in stage.curves)
    n_pieces = n_knots - len(stage.curves)
    # Two values a piece and slopes for them, a shift with integers, and two of an unknown reading;
    # a line of the table of curves, and the share that is lost with it.
    n_curves = len(stage.curves)
    n_prior = 4  # two of the classes' shares, and two of the bias
    assert model_costs(model, "float").table_bytes == (
        4 * n_knots + 4 * (4 * n_pieces + 2 * n_curves) + (4 + 4) * n_curves + 4 * n_prior
    )
    n_zeros = n_curves
    assert model_costs(model, "q15").table_bytes == (
        2 * n_knots
        + 2 * (5 * n_pieces + 2 * n_curves)
        + (4 + 2) * n_curves
        + 4 * n_prior
        + 4 * n_zeros
    )


def skewed(model, rng, concentration):
    """Let most training rows have had one word, as sensors that are mostly idle do."""
    features = {
        one.name: replace(
            one, mean_masses=tuple(rng.dirichlet(np.full(len(one.peaks), concentration)))
        )
        for one in model.features
    }
    nodes = [with_features(node, features) for node in model.nodes]
    return Model(model.target, tuple(features.values()), tuple(nodes))


@pytest.mark.parametrize("concentration", [1.0, 0.2, 0.05])
@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_no_readings_take_more_branches_than_the_worst_ones(shape, concentration):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = skewed(random_model(rng, shape, 3), rng, concentration)
        rows = random_rows(rng, model, 1_000, missing=0.5)
        simulator = export_c(model, numbers="q15").simulator
        x = simulator._read(rows)
        _, beliefs = simulator._believe(x)
        n_taken = np.zeros(len(rows), dtype=int)
        for walk in simulator._tables.walks:
            for _, weight, _ in simulator._branches(walk, x, beliefs):
                n_taken += weight > 0
        time = Q15.time
        least = (time.leaf + time.weighed * simulator._n_values) * n_taken.max()
        assert model_costs(model, "q15").instructions > least
