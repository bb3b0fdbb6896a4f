"""What a monotonic model promises holds on devices, and while they learn."""

import numpy as np
import pandas as pd
import pytest
from c_programs import build, decide, estimate
from hypothesis import given, settings
from hypothesis import strategies as st
from test_learning import LEARN, run

from solah import SelfOrganisedHierarchyClassifier, SelfOrganisedHierarchyRegressor
from solah.data import from_frame
from solah.export import export_c
from solah.export.learning import Learner, Pace
from solah.model.encode import encode
from solah.model.format import from_json, to_json
from solah.model.monotone import broken_promises

FAST = {"interactions": 3, "max_rules": 40}
DIRECTIONS = {"a": 1, "b": -1}


def crossed(seed, n_rows=250):
    """Make rows in which the goal goes up and down along attributes that are to be monotonic."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc")).round(3)
    return X, X["a"] * X["c"] + X["b"] * X["a"] + np.sin(3 * X["a"]) + rng.normal(size=n_rows)


def classifier(seed, n_classes):
    X, hidden = crossed(seed)
    y = np.argsort(np.argsort(hidden)) * n_classes // len(X)
    wanted = DIRECTIONS if n_classes == 2 else {n_classes - 1: DIRECTIONS, 0: {"a": -1}}
    return SelfOrganisedHierarchyClassifier(monotonic_cst=wanted, **FAST).fit(X, y)


def rising(seed, attribute, n_rows=400):
    """Make rows that differ in one reading, which rises; the others may be unknown."""
    rng = np.random.default_rng(seed)
    row = np.where(rng.random(3) < 0.2, np.nan, rng.normal(size=3))
    rows = pd.DataFrame(np.tile(row, (n_rows, 1)), columns=list("abc"))
    rows[attribute] = np.sort(np.concatenate([rng.normal(size=n_rows - 2), [-9.0, 9.0]]))
    return rows


def least_step(numbers, direction):
    return float((direction * np.diff(np.asarray(numbers, dtype=np.float64))).min())


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(["float", "q15"]))
def test_beliefs_go_one_way_on_devices(seed, n_classes, numbers):
    model = classifier(seed, n_classes).model_
    twin = export_c(model, numbers=numbers).twin
    # Each part of a sum is rounded by itself: by one unit of evidence, which is 2^-10 at the finest.
    allowed = 1e-5 if numbers == "float" else 2.0**-10 * (2 if n_classes == 2 else 4)
    for promise in model.monotonic:
        rows = encode(from_frame(rising(seed, promise.attribute)), model.attributes)
        beliefs = twin.decide(rows)[1][:, promise.state] * twin.belief_unit
        assert least_step(beliefs, promise.direction) >= -allowed
