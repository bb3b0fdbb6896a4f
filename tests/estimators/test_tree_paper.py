"""Figures of the paper that the single tree reproduces (they need the real data)."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from solah import PAPER, LinguisticTreeClassifier, datasets

pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("shared_data")]


def test_the_tree_on_sms_14_has_591_branches(sms_14):
    tree = LinguisticTreeClassifier.with_settings(PAPER).fit(*sms_14)
    assert tree.n_branches_ == 591


def test_the_tree_on_sms_14_is_right_for_961_messages_of_1000(sms_14):
    X, y = sms_14
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    predicted = cross_val_predict(LinguisticTreeClassifier.with_settings(PAPER), X, y, cv=folds)
    assert np.mean(predicted == y) == pytest.approx(0.961, abs=0.002)


@pytest.mark.parametrize(
    ("name", "n_branches"),
    [("liver", 1949), ("glass", 12705), ("pima", 20585), ("ecoli", 4053)],
)
def test_uniform_words_give_the_known_branch_numbers(name, n_branches):
    data = datasets.load(name)
    types = dict.fromkeys(data.feature_names, "continuous")
    tree = LinguisticTreeClassifier.with_settings(PAPER, feature_types=types).fit(
        data.table, data.target
    )
    assert tree.n_branches_ == n_branches
