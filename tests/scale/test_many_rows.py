"""Rows that truly are many: more than are ever fitted in memory as they are."""

import numpy as np
import pytest
from scale_rows import cut, document, document_in_memory, plant
from sklearn.base import clone

from solah import LinguisticTreeClassifier, RuleClassifier, SelfOrganisedHierarchyClassifier
from solah.labels.drawing import LIMITS
from solah.scale.engines import LocalEngine, Portions


@pytest.fixture(scope="module")
def rows():
    return plant(LIMITS.many_rows + 1_000)


@pytest.mark.parametrize(
    "estimator",
    [
        LinguisticTreeClassifier(max_depth=2, leaves="refitted", n_words=5),
        RuleClassifier(max_rules=30, interactions=2, n_jobs=2),
    ],
    ids=["tree", "hierarchy"],
)
def test_the_model_is_that_of_all_rows_in_memory(rows, estimator):
    assert document(estimator, cut(rows, 3), "y") == document_in_memory(estimator, rows)


@pytest.mark.parametrize("room", ["tables", "codes", "neither"])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_dependence_does_not_depend_on_the_room_for_it(rows, monkeypatch, room, weight):
    sizes = {"tables": 2**30, "codes": 2**20, "neither": 2**17}
    portions = Portions(statistics=sizes[room])
    monkeypatch.setattr("solah.scale.scanning.Portions", lambda: portions)
    passes = []
    run = LocalEngine.run
    monkeypatch.setattr(
        LocalEngine, "run", lambda self, one: passes.append(type(one).__name__) or run(self, one)
    )
    estimator = SelfOrganisedHierarchyClassifier.with_settings(
        {}, n_words=3, min_support=0.05, class_weight=weight
    )
    found = clone(estimator).fit(cut(rows, 3), "y")
    X, y = rows.drop(columns="y"), rows["y"]
    np.testing.assert_array_equal(found.dependence_, clone(estimator).fit(X, y).dependence_)
    assert ("GatherCodes" in passes) == (room == "codes")
    assert (passes.count("CountPairs") > 1) == (room == "neither")
