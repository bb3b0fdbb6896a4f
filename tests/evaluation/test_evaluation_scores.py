"""Scores against scikit-learn's and against what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score

from solah.evaluation import score_numbers, score_probabilities

CLASSES = np.array(["a", "b", "c"])


@st.composite
def beliefs_and_truth(draw, n_classes):
    n_rows = draw(st.integers(n_classes, 30))
    rng = np.random.default_rng(draw(st.integers(0, 1_000)))
    beliefs = rng.dirichlet(np.ones(n_classes), n_rows).round(2) + 0.01
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    truth = CLASSES[np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows)])]
    return beliefs, rng.permutation(truth[:n_rows])


@given(beliefs_and_truth(3))
def test_several_classes_are_scored_as_scikit_learn_does(case):
    beliefs, truth = case
    scores = score_probabilities(truth, beliefs, CLASSES)
    assert scores.auc == pytest.approx(roc_auc_score(truth, beliefs, multi_class="ovr"))
    assert scores.log_loss == pytest.approx(log_loss(truth, beliefs))
    assert scores.accuracy == np.mean(CLASSES[beliefs.argmax(axis=1)] == truth)


def test_the_auc_is_over_the_classes_that_appear():
    beliefs = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1]])
    assert score_probabilities(np.array(["a", "b", "a"]), beliefs, CLASSES).auc == 1.0
    assert np.isnan(score_probabilities(np.array(["a", "a", "a"]), beliefs, CLASSES).auc)


def test_what_was_thought_impossible_costs_a_finite_amount():
    scores = score_probabilities(
        np.array(["a", "b"]), np.array([[0.0, 1.0], [0.0, 1 + 1e-15]]), CLASSES[:2]
    )
    assert 15 < scores.log_loss < 20


def test_numbers():
    scores = score_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    assert scores.mae == pytest.approx(1 / 3)
    assert scores.r2 == pytest.approx(0.5)
    assert np.isnan(score_numbers(np.array([1.0]), np.array([2.0])).r2)
