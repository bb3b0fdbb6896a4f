"""What decisions can stand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_rows
from solah import LinguisticTreeRegressor, RuleClassifier, load_model
from solah.exceptions import DataError, ParameterError
from solah.explain import stress
from solah.explain.robustness import n_steps
from solah.model.evaluate import run


def decide(model, rows):
    return model.target.decide(run(model.program, rows))


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=6)
def test_each_figure_is_what_its_name_tells(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 3)
    rows = random_rows(rng, model, 40)
    truth = rng.integers(0, 3, 40)
    found = stress(model, rows, truth, noise=0.0, budget=0.0)
    base = decide(model, rows)
    assert (
        found.accuracy == found.noisy == found.adversarial == pytest.approx((base == truth).mean())
    )
    for place, one in enumerate(found.features):
        missing = rows.copy()
        missing[:, place] = np.nan
        assert one.missing == pytest.approx((decide(model, missing) == truth).mean())
        assert one.noisy == one.adversarial == found.accuracy


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_flips_are_those_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "words and pairs", 2)
    rows = random_rows(rng, model, 15, missing=0.0)
    found = stress(model, rows, np.zeros(15, dtype=np.intp))
    base = decide(model, rows)
    for place, (feature, one) in enumerate(zip(model.features, found.features, strict=True)):
        ends = feature.low, feature.high
        grid = np.array(feature.peaks)  # where what is decided on bends
        if feature.is_continuous:
            within = (grid >= feature.low) & (grid <= feature.high)
            grid = np.concatenate([np.linspace(*ends, 301), grid[within]])
        flips = np.zeros(15, dtype=bool)
        for value in grid:
            moved = rows.copy()
            moved[:, place] = value
            flips |= decide(model, moved) != base
        assert one.flips == pytest.approx(flips.mean())


def test_an_adversary_does_what_noise_of_that_size_may_do():
    X, y = load_wine(return_X_y=True)
    model = RuleClassifier(max_rules=20).fit(X, y).model_
    found = stress(model, X[:, [int(a.name[1:]) for a in model.features]], y, budget=0.2)
    assert found.adversarial <= min(one.adversarial for one in found.features) <= found.accuracy
    assert all(one.adversarial <= found.accuracy for one in found.features)
    more = stress(model, X[:, [int(a.name[1:]) for a in model.features]], y, budget=0.4)
    assert more.adversarial <= found.adversarial


def test_an_adversary_moves_on_from_readings_that_stay():
    rng = np.random.default_rng(1)
    model = random_model(rng, "words", 3)
    rows = random_rows(rng, model, 6, missing=0.25)
    assert stress(model, rows, np.arange(6) % 3).adversarial == pytest.approx(1 / 6)


def test_noise_is_drawn_from_the_seed():
    rng = np.random.default_rng(0)
    model = random_model(rng, "words and pairs", 2)
    rows, truth = random_rows(rng, model, 200), rng.integers(0, 2, 200)
    again = [stress(model, rows, truth, noise=0.3, seed=seed) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_progress_is_told_to_the_end(monkeypatch):
    monkeypatch.setattr("solah.explain.robustness._BLOCK_ROWS", 8)
    rng = np.random.default_rng(0)
    model = random_model(rng, "tree", 2)
    rows = random_rows(rng, model, 20)
    steps = []
    stress(model, rows, np.zeros(20, dtype=np.intp), advance=steps.append)
    assert sum(steps) == n_steps(model, 20)


def test_the_estimator_that_was_saved_is_stressed(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    RuleClassifier(max_rules=12).fit(X, y).save(tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    found = model.stress(X, y)
    assert found.accuracy == pytest.approx((model.predict(X) == y).mean())
    assert found.n_rows == 178
    with pytest.raises(DataError, match="y has 3 classes for 178 rows"):
        model.stress(X, y[:3])
    with pytest.raises(DataError, match="missing values"):
        model.stress(X, [None, *y[1:]])


@pytest.mark.parametrize(("name", "value"), [("noise", -0.1), ("noise", 1.5), ("budget", 2.0)])
def test_shares_must_be_shares(name, value):
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(ParameterError, match=f"'{name}' must be between 0 and 1"):
        stress(model, np.zeros((1, 6)), np.zeros(1, dtype=np.intp), **{name: value})


def test_nothing_cannot_be_stressed():
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(DataError, match="no row"):
        stress(model, np.zeros((0, 6)), np.zeros(0, dtype=np.intp))
    number = LinguisticTreeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(DataError, match="only decisions between classes"):
        stress(number.model_, np.ones((1, 1)), np.zeros(1, dtype=np.intp))
