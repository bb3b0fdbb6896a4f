"""What a monotonic model promises holds on devices, and while they learn."""

import numpy as np
import pandas as pd
import pytest
from c_programs import build
from hypothesis import given, settings
from hypothesis import strategies as st
from test_learning import LEARN, run

from solah import RuleClassifier, RuleRegressor
from solah.data import from_frame
from solah.export import export_c
from solah.export.online import Learner, Pace, Trust
from solah.model.encode import encode
from solah.model.format import from_json, to_json

FAST = {"interactions": 3, "max_rules": 40}
DIRECTIONS = {"a": 1, "b": -1}


def crossed(seed, n_rows=250):
    """Make rows in which the target goes up and down along features that are to be monotonic."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc")).round(3)
    return X, X["a"] * X["c"] + X["b"] * X["a"] + np.sin(3 * X["a"]) + rng.normal(size=n_rows)


def classifier(seed, n_classes):
    X, hidden = crossed(seed)
    y = np.argsort(np.argsort(hidden)) * n_classes // len(X)
    wanted = DIRECTIONS if n_classes == 2 else {n_classes - 1: DIRECTIONS, 0: {"a": -1}}
    return RuleClassifier(monotonic_cst=wanted, **FAST).fit(X, y).model_


def regressor(seed):
    return RuleRegressor(monotonic_cst=DIRECTIONS, **FAST).fit(*crossed(seed))


def rising(seed, model, feature, n_rows=400):
    """Make rows that differ in one reading, which rises; the others may be unknown."""
    rng = np.random.default_rng(seed)
    row = np.where(rng.random(3) < 0.2, np.nan, rng.normal(size=3))
    rows = pd.DataFrame(np.tile(row, (n_rows, 1)), columns=list("abc"))
    rows[feature] = np.sort(np.concatenate([rng.normal(size=n_rows - 2), [-9.0, 9.0]]))
    return encode(from_frame(rows), model.features)


def least_step(numbers, direction):
    return float((direction * np.diff(np.asarray(numbers, dtype=np.float64))).min())


# With more than two classes, the scores of each are rounded by themselves: some units of evidence,
# which belief tells to 2^-10.
ALLOWED = {("float", 2): 1e-6, ("float", 3): 1e-6, ("q15", 2): 0.0, ("q15", 3): 2.0**-10}


@pytest.mark.parametrize(("numbers", "n_classes"), list(ALLOWED))
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_beliefs_go_one_way_on_devices(numbers, n_classes, seed):
    model = classifier(seed, n_classes)
    simulator = export_c(model, numbers=numbers).simulator
    assert model.monotonic
    for promise in model.monotonic:
        for more in range(5):
            _, beliefs = simulator.decide(rising(seed + more, model, promise.feature))
            of_class = beliefs[:, promise.state] * simulator.belief_unit
            assert least_step(of_class, promise.direction) >= -ALLOWED[numbers, n_classes]


@pytest.mark.parametrize("numbers", ["float", "q15"])
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_numbers_go_one_way_on_devices(numbers, seed):
    model = regressor(seed).model_
    simulator = export_c(model, numbers=numbers).simulator
    for promise in model.monotonic:
        estimated = simulator.estimate(rising(seed, model, promise.feature))
        allowed = 1e-6 if numbers == "float" else 0.0
        assert least_step(estimated, promise.direction) >= -allowed


@pytest.mark.parametrize(("n_classes", "pace"), [(2, Pace(16.0)), (3, Pace(4.0, forgetting=0.05))])
def test_a_device_that_learns_keeps_the_promise(n_classes, pace, tmp_path, find_tool):
    model = classifier(0, n_classes)
    rng = np.random.default_rng(0)
    rows = np.vstack([rising(seed, model, name)[::20] for seed in range(10) for name in "abc"])
    # What is observed asks for the contrary of what is promised.
    place = [feature.name for feature in model.features].index("a")
    turned = np.nan_to_num(-rows[:, place]) + 0.3 * rng.normal(size=len(rows))
    observed = np.argsort(np.argsort(turned)) * n_classes // len(rows)
    order = rng.permutation(len(rows))
    rows, observed = rows[order], observed[order]
    export = export_c(model, name="m", numbers="q15", learning=pace)
    program = build(export, tmp_path, find_tool("cc"), LEARN)
    learner = Learner(model, pace=pace.pace, forgetting=pace.forgetting)
    learner.learn(rows, observed)
    assert learner.simulator.learned.tolist() != learner.tables.learned.tolist()
    *_, saved = run(program, export, rows, observed, n_classes)
    assert saved == learner.save()
    learner.simulator.trust = Trust(is_earned=True)
    learned = from_json(to_json(learner.model()).encode())  # which checks the promise
    assert learned.monotonic == model.monotonic
