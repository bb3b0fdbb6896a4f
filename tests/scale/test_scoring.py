"""Scores of rows that are passed over equal those of rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from solah import LinguisticTreeClassifier
from solah.estimators.out_of_core import score_rows
from solah.evaluation.scores import score_beliefs
from solah.exceptions import ColumnError, DataError, ParameterError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    heat = rng.normal(40, 8, 900)
    kind = np.where(heat > 45, "hot", np.where(heat < 35, "cold", "mild"))
    return pd.DataFrame({"heat": heat + rng.normal(0, 3, 900), "kind": kind})


@pytest.fixture(scope="module")
def tree(frame):
    return LinguisticTreeClassifier().fit(frame[["heat"]], frame["kind"])


@pytest.mark.parametrize("n_parts", [1, 7])
def test_scores_are_those_of_all_rows(tree, frame, n_parts):
    parts = [frame.iloc[start::n_parts] for start in range(n_parts)]
    found = score_rows(tree, parts, "kind")
    X, y = frame[["heat"]], frame["kind"].to_numpy()
    expected = score_beliefs(y, tree.predict_proba(X), tree.classes_)
    assert found.n_rows == 900
    assert found.accuracy == tree.score(X, y) == tree.score(parts, "kind")
    assert found.log_loss == pytest.approx(expected.log_loss, abs=1e-6)
    assert found.brier == pytest.approx(expected.brier, abs=1e-6)
    matrix = confusion_matrix(y, tree.predict(X), labels=tree.classes_)
    np.testing.assert_array_equal(found.confusion, matrix)


def test_partition_leaves_no_trace(tree, frame):
    whole = score_rows(tree, [frame], "kind")
    parts = score_rows(tree, [frame.iloc[j::13] for j in range(13)], "kind")
    assert (whole.log_loss, whole.brier) == (parts.log_loss, parts.brier)


def test_wrong_columns_and_classes_are_named(tree, frame):
    with pytest.raises(ColumnError, match="knid"):
        tree.score([frame], "knid")
    with pytest.raises(ColumnError, match="heat"):
        tree.score([frame.rename(columns={"heat": "warmth"})], "kind")
    with pytest.raises(ParameterError, match="name of the column"):
        tree.score([frame], frame["kind"])
    strange = frame.assign(kind=frame["kind"].where(frame.index != 41, "wet"))
    with pytest.raises(DataError, match="row 42 of 'kind' is 'wet'"):
        tree.score([strange], "kind")
