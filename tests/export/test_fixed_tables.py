"""Tables of integers fit the types of the runtime, whatever the model; else it is refused."""

from dataclasses import replace

import numpy as np
import pytest
from c_programs import ESTIMATE, build, estimate
from export_shapes import ALL_SHAPES
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import random_model, with_features
from solah import LinguisticTreeRegressor
from solah.exceptions import ParameterError
from solah.export import export_blob, export_c, export_micropython
from solah.export.agreement import agreement_on, drawn_rows
from solah.export.fixed_tables import fixed_tables
from solah.export.layout import lay_out
from solah.export.units import REACH, choose_unit
from solah.model import Model

FINITE = st.floats(-1.7e308, 1.7e308)


def with_peaks(model, peaks_of):
    """Move the peaks of a model's measured features."""
    features = {
        one.name: replace(one, peaks=peaks_of(len(one.peaks)), low=None, high=None)
        if one.is_continuous
        else one
        for one in model.features
    }
    nodes = tuple(with_features(node, features) for node in model.nodes)
    return Model(model.target, tuple(features.values()), nodes)


def with_weights(model, factor=1.0, **changes):
    terms = tuple(replace(term, weights=factor * term.weights) for term in model.terms)
    return replace(model, nodes=(replace(model.root, terms=terms, **changes),))


def check_types(tables):
    """Assert that each table fits the type that it has in C."""
    for values, least, most in (
        (tables.knots, -(2**15), 2**15 - 1),
        (tables.values, -(2**15), 2**15 - 1),
        *((stage.start, -(2**29), 2**29) for stage in tables.stages),
        *((np.array([stage.value_bits]), -128, 127) for stage in tables.stages),
        *((walk.peaks, -(2**15), 2**15 - 1) for walk in tables.walks),
        *((walk.inverses, 0, 2**16 - 1) for walk in tables.walks),
        *((walk.shifts, 0, 31) for walk in tables.walks),
        *((walk.mean_masses, 0, 2**15) for walk in tables.walks),
        *((walk.values, -(2**15) + 1, 2**15 - 1) for walk in tables.walks),
        *((np.diff(walk.offsets), 1, 255) for walk in tables.walks),
    ):
        if len(values):
            assert least <= values.min()
            assert values.max() <= most
    for walk in tables.walks:
        for first, end in zip(walk.offsets[:-1], walk.offsets[1:], strict=True):
            assert (np.diff(walk.peaks[first:end]) > 0).all()
    for curve in tables.curves:
        knots = tables.knots[curve.knot : curve.knot + curve.n_knots]
        assert (np.diff(knots) > 0).all()


@given(st.lists(FINITE, min_size=1, max_size=9, unique=True), st.data())
def test_a_unit_reaches_all_words_but_ends(peaks, data):
    masses = data.draw(st.lists(st.floats(0, 1), min_size=len(peaks), max_size=len(peaks)))
    places = np.sort(np.array(peaks))
    unit = choose_unit(places, np.array(masses))
    reached = unit.reaches(places)
    assert reached[1:-1].all()
    assert reached.sum() >= min(2, len(peaks))
    assert np.abs(unit.relative(places[reached])).max() <= REACH
    assert abs(unit.zero) <= 2**30
    assert abs(unit.bits) < 1024


@given(
    st.sampled_from(ALL_SHAPES),
    st.integers(0, 5),
    st.lists(FINITE, min_size=8, max_size=8, unique=True),
)
@settings(max_examples=40)
def test_tables_fit_their_types(shape, seed, peaks):
    model = random_model(np.random.default_rng(seed), shape, 3)
    spread = with_peaks(model, lambda n: tuple(sorted(peaks)[:n]))
    check_types(fixed_tables(lay_out(spread)))
    check_types(fixed_tables(lay_out(spread, only_walks=True), learns=True))


@pytest.mark.parametrize("ends", [(0.0, 1e-7), (-1e9, 1e-9), (1e6, 1e6 + 1e-9), (0.0, 1e308)])
@pytest.mark.parametrize("shape", ["tree", "words and pairs"])
def test_words_that_become_one_keep_their_order(shape, ends):
    model = random_model(np.random.default_rng(2), shape, 2)
    near = with_peaks(model, lambda n: (*np.linspace(0, ends[1], n - 1), 2.0 + ends[1] * 1.5))
    check_types(fixed_tables(lay_out(near)))


@pytest.mark.parametrize(
    "to", [lambda m: export_c(m, numbers="q15"), export_micropython, export_blob]
)
@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"factor": 1e5}, "its largest value is "),
        ({"factor": 1e300}, "its largest value is "),
        ({"baseline": (0.0, 1e9, -1e9)}, "starts with 1e\\+09"),
        ({"baseline": (0.0, 1e300, 0.0)}, "starts with 1e\\+300"),
    ],
)
def test_evidence_that_integers_cannot_hold_is_refused(to, changes, what):
    model = with_weights(random_model(np.random.default_rng(0), "words and pairs", 3), **changes)
    with pytest.raises(ParameterError, match=f"'y' adds up is too large for integers.*{what}"):
        to(model)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("max_rules", [1, 20])
def test_a_number_keeps_its_resolution_far_from_zero(scale, max_rules, tmp_path, find_tool):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = scale * (150 + X[:, 0])
    model = LinguisticTreeRegressor(max_rules=max_rules).fit(X, y).model_
    for numbers in ("float", "q15"):
        export = export_c(model, name="m", numbers=numbers)
        assert agreement_on(model, export.simulator, drawn_rows(model)).share == 1.0
    found = estimate(build(export, tmp_path, find_tool("cc"), ESTIMATE), export, X)
    np.testing.assert_array_equal(found, export.simulator.estimate(X))
    assert np.abs(found * export.unit - y).max() < 5 * scale


def test_a_number_too_large_for_integers_is_refused():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = LinguisticTreeRegressor(max_depth=2).fit(X, 1e35 * X[:, 0]).model_
    with pytest.raises(ParameterError, match="'y' adds up is too large for integers"):
        export_c(model, numbers="q15")
