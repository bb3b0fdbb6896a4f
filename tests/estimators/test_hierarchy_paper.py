"""The paper's hierarchies on its 14 features of text messages (they need the real data)."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from solah import PAPER, LinguisticHierarchyClassifier

pytestmark = pytest.mark.shared

CASES = [
    (
        "z14 <- x6, x11; z15 <- z14, x9, x4, x8, x10;z16 <- z15, x5, x0, x1, x2, x3, x7, x12, x13",
        339,
        0.9555,
    ),
    (
        "z14 <- x6, x11; z15 <- x2, x1, x4, x7, x8; z16 <- z15, z14, x5, x0, x3, x13;"
        "z17 <- z16, x9, x10, x12",
        154,
        0.9356,
    ),
]


@pytest.mark.parametrize(("wiring", "n_branches", "accuracy"), CASES, ids=["339", "154"])
def test_branches_and_accuracy_are_the_papers(sms_14, wiring, n_branches, accuracy):
    X, y = sms_14
    model = LinguisticHierarchyClassifier(wiring, **PAPER)
    assert model.fit(X, y).n_branches_ == n_branches
    assert model.n_levels_ == 4
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, X, y, cv=folds)
    assert np.mean(predicted == y) == pytest.approx(accuracy, abs=0.003)
