"""Rows that truly are many: more than are ever fitted in memory as they are."""

import pytest
from scale_rows import cut, document, document_in_memory, plant

from solah import LinguisticTreeClassifier, SelfOrganisedHierarchyClassifier
from solah.labels.drawing import MANY_ROWS


@pytest.fixture(scope="module")
def rows():
    return plant(MANY_ROWS + 1_000)


@pytest.mark.parametrize(
    "estimator",
    [
        LinguisticTreeClassifier(max_depth=2, leaves="refitted", n_labels=5),
        SelfOrganisedHierarchyClassifier("each", n_labels=3, penalty=2.0, n_jobs=2),
    ],
    ids=["tree", "hierarchy"],
)
def test_the_model_is_that_of_all_rows_in_memory(rows, estimator):
    assert document(estimator, cut(rows, 3), "y") == document_in_memory(estimator, rows)
