"""Rules that learn in C learn as those in Python, integer by integer."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_rows
from solah import RuleClassifier
from solah.data import from_frame
from solah.export.online import Learner
from solah.kernels import native
from solah.kernels.native import ENVIRONMENT_VARIABLE
from solah.model.encode import encode

pytestmark = pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")


@given(
    shape=st.sampled_from([*SHAPES, *ADDITIVE_SHAPES]),
    n_classes=st.integers(2, 5),
    pace=st.sampled_from([1 / 32, 1.0, 64.0]),
    forgetting=st.sampled_from([0.0, 1 / 64]),
    missing=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 2**32 - 1),
)
def test_both_kernels_believe_and_learn_the_same(shape, n_classes, pace, forgetting, missing, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    rows = random_rows(rng, model, 40, missing=missing)
    places = rng.integers(-1, n_classes + 1, len(rows))
    found = {}
    for kernel in ("native", "reference"):
        learner = Learner(model, pace=pace, forgetting=forgetting)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(ENVIRONMENT_VARIABLE, kernel)
            found[kernel] = learner.learn(rows, places), learner.simulator.learned
    for ours, oracle in zip(found["native"], found["reference"], strict=True):
        np.testing.assert_array_equal(ours, oracle)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_kernels_keep_what_is_promised(n_classes, monkeypatch):
    X, y = crossed(n_classes)
    wanted = {"a": 1} if n_classes == 2 else {2: {"a": 1}, 0: {"a": -1}}
    settings = {"interactions": 2, "max_rules": 30, "monotonic_cst": wanted}
    model = RuleClassifier(**settings).fit(X, y).model_
    rows = encode(from_frame(X), model.features)
    rows[::5, 0] = np.nan
    found = []
    for kernel in ("native", "reference"):
        monkeypatch.setenv(ENVIRONMENT_VARIABLE, kernel)
        learner = Learner(model, pace=16.0)
        assert learner.tables.bounds
        # What is observed asks for the contrary of what is promised.
        found.append((learner.learn(rows, n_classes - 1 - y), learner.simulator.learned))
    for ours, oracle in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, oracle)


def crossed(n_classes):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    hidden = X["a"] + X["a"] * X["b"] + 0.3 * rng.normal(size=120)
    return X, np.argsort(np.argsort(hidden)) * n_classes // 120
