"""An export is compared with its model, and refused where it decides otherwise."""

from dataclasses import replace

import numpy as np
import pytest
from export_shapes import ALL_SHAPES
from judged_models import STEADY, judged_model
from sklearn.datasets import load_diabetes, load_wine

from random_models import as_table, random_model, random_rows
from solah import (
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
)
from solah.data import from_array
from solah.exceptions import AgreementError, DataError
from solah.export import (
    agreement,
    export_blob,
    export_c,
    export_micropython,
    require_agreement,
)
from solah.export.agreement import agreement_on, drawn_rows
from solah.export.fixed_simulator import FixedSimulator
from solah.model import Target


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return RuleClassifier(max_rules=20).fit(X, y).model_, table_of(X)


def table_of(X):
    return from_array(X, [f"x{place}" for place in range(X.shape[1])])


def with_large_start(n_classes=3, start=20.0):
    """Make a model of small evidence, and a bias far beyond what its values need."""
    rng = np.random.default_rng(0)
    small = random_model(rng, "words and pairs", n_classes)
    terms = tuple(replace(term, weights=1e-3 * term.weights) for term in small.terms)
    root = replace(small.root, baseline=tuple(np.linspace(0, start, n_classes)), terms=terms)
    target = Target("y", small.target.classes, shares=small.target.shares)
    return replace(small, target=target, nodes=(root,))


def clipped(export):
    """Return what an export decided when starts had 16 bits."""
    tables = export.simulator._tables
    stages = tuple(
        replace(stage, start=np.clip(stage.start, -32767, 32767)) for stage in tables.stages
    )
    return replace(export, simulator=FixedSimulator(replace(tables, stages=stages)))


@pytest.mark.parametrize(
    "to", [lambda m: export_c(m, numbers="q15"), export_micropython, export_blob]
)
def test_a_start_may_have_more_than_16_bits(to):
    model = with_large_start()
    export = to(model)
    (stage,) = export.simulator._tables.stages
    assert np.abs(stage.start).max() > 32767
    assert require_agreement(model, export).share == 1.0
    with pytest.raises(
        AgreementError, match=r"decides as the model does on 36.6 % of 2,000 drawn rows"
    ):
        require_agreement(model, clipped(export))


def test_the_rows_of_a_table_are_compared(wine):
    model, table = wine
    export = export_c(model, numbers="q15")
    found = agreement(model, export.simulator, table)
    assert (found.n_rows, found.share) == (178, 1.0)
    assert 0 < found.largest_difference < 0.01
    assert require_agreement(model, export, table, 1.0).share == 1.0
    with pytest.raises(DataError, match="no rows to compare"):
        agreement(model, export.simulator, table.take(np.arange(0)))


def test_an_estimated_number_agrees_when_it_is_near():
    X, y = load_diabetes(return_X_y=True)
    model = LinguisticTreeRegressor(max_depth=3).fit(X, y).model_
    export = export_c(model, numbers="q15")
    found = require_agreement(model, export, table_of(X))
    assert found.share == 1.0
    assert np.abs(found.expected - found.found).max() == found.largest_difference
    tables = export.simulator._tables
    (stage,) = tables.stages
    off = replace(tables, stages=(replace(stage, start=stage.start + 2**stage.value_bits * 9),))
    with pytest.raises(AgreementError, match="on 0 % of 442 rows, and 99.5 % are asked for"):
        require_agreement(model, replace(export, simulator=FixedSimulator(off)), table_of(X))


def test_a_refusal_says_what_was_clipped():
    X, y = load_wine(return_X_y=True)
    X[3] = -1e9
    model = LinguisticTreeClassifier(max_rules=20).fit(X, y).model_
    export = export_c(model, numbers="q15")
    with pytest.raises(AgreementError) as refused:
        require_agreement(model, export, least=0.9999)
    message = str(refused.value)
    assert "'x12' is clipped to 500 … 1680: steps that reach its word at -1e+09" in message
    assert message.endswith("rows are clipped; export it as C with --arithmetic float")


def test_rows_with_clipped_readings_are_counted():
    X, y = load_wine(return_X_y=True)
    X[3] = -1e9
    X[5, 0] = np.nan
    model = LinguisticTreeClassifier(max_rules=20).fit(X, y).model_
    export = export_c(model, numbers="q15")
    found = agreement(model, export.simulator, table_of(X))
    names = {text.split("'")[1] for text in export.warnings if "is clipped to" in text}
    assert set(found.clipped) == names
    assert found.clipped["x1"] == 1
    assert found.n_clipped == max(found.clipped.values()) < 10
    drawn = agreement_on(model, export.simulator, drawn_rows(model))
    assert max(drawn.clipped.values()) <= drawn.n_clipped <= sum(drawn.clipped.values())
    assert agreement(model, export_c(model).simulator, table_of(X)).n_clipped == 0


@pytest.mark.parametrize("shape", ALL_SHAPES)
@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_settled_decisions_are_compared_in_the_order_of_time(shape, numbers):
    rng = np.random.default_rng(5)
    model = replace(judged_model(rng, shape), policy=STEADY)
    rows = random_rows(rng, model, 60).repeat(5, axis=0)
    found = agreement_on(model, export_c(model, numbers=numbers).simulator, rows)
    assert found.settled_share >= (1.0 if numbers == "float" else 0.97)
    hasty = replace(model, policy=replace(STEADY, votes=1, smoothing=1, min_hold=1))
    other = agreement_on(model, export_c(hasty, numbers=numbers).simulator, rows)
    assert other.share == found.share
    assert other.settled_share < 0.95 * found.settled_share
    assert other.least_share == other.settled_share
    message = r"rows, and has the same stable decision on [\d.]+ % of them, and"
    with pytest.raises(AgreementError, match=message):
        require_agreement(model, export_c(hasty, numbers=numbers), as_table(model, rows), 0.96)


@pytest.mark.parametrize("estimator", [RuleClassifier, LinguisticTreeClassifier])
@pytest.mark.parametrize("end", [1e9, -1e9])
def test_an_outlier_costs_no_resolution(estimator, end):
    X, y = load_wine(return_X_y=True)
    X[3, :] = end
    fitted = estimator(max_rules=40).fit(X, y)
    table = table_of(X)
    for export in (
        export_c(fitted.model_, numbers="q15"),
        export_micropython(fitted.model_),
        export_blob(fitted.model_),
    ):
        assert agreement(fitted.model_, export.simulator, table).share > 0.99
        for feature, unit in zip(fitted.model_.features, export.simulator.units, strict=True):
            peaks = np.array(feature.peaks)
            assert unit.step < np.diff(peaks[peaks != end], prepend=-np.inf).min() / 16
            warning = f"{feature.name!r} is clipped to "
            is_clipped = any(one.startswith(warning) for one in export.warnings)
            assert is_clipped == (end in feature.peaks)
