"""The models of other kinds, on columns of every kind."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from reproduction.peers import EntropyTree, MixedNaiveBayes, NeuralNetwork
from solah import datasets
from solah.data import Column, Table

PEERS = [EntropyTree, MixedNaiveBayes, NeuralNetwork]
MIXED = Table(
    (
        Column("size", np.array([1.5, 2.5, np.nan, 4.5, 5.5, 6.5, 7.25, 8.5])),
        Column(
            "colour",
            np.array(["red", "red", None, "blue", "green", "blue", "red", "green"], object),
        ),
        Column("doors", np.array([2.0, 2, 2, 4, 4, 4, np.nan, 4])),
    ),
    8,
)
TARGET = np.array(list("aaaabbbb"))


@pytest.mark.parametrize("peer", PEERS)
def test_numbers_states_and_gaps(peer):
    model = peer.for_table(MIXED, {}, random_state=0).fit(MIXED, TARGET)
    beliefs = model.predict_proba(MIXED)
    assert beliefs.shape == (8, 2)
    assert np.allclose(beliefs.sum(axis=1), 1)
    assert (model.classes_[beliefs.argmax(axis=1)] == TARGET).mean() >= 0.75


def test_naive_bayes_of_numbers_alone_is_scikit_learns():
    iris = datasets.load("iris")
    ours = MixedNaiveBayes.for_table(iris.table, {}).fit(iris.table, iris.target)
    theirs = GaussianNB().fit(iris.X, iris.target)
    assert np.allclose(ours.predict_proba(iris.table), theirs.predict_proba(iris.X))


def test_naive_bayes_counts_the_prior_once():
    numbers = Column("x", np.array([1.25, 2.5, 1.5, 2.25, 7.5, 8.25]))
    states = Column("s", np.array(["p", "q", "p", "q", "p", "q"], object))
    target = np.array(list("aaaabb"))
    table = Table((numbers, states), 6)
    beliefs = MixedNaiveBayes.for_table(table, {}).fit(table, target).predict_proba(table)
    normal = (
        GaussianNB()
        .fit(numbers.values[:, None], target)
        .predict_joint_log_proba(numbers.values[:, None])
    )
    codes = np.array([[0], [1]] * 3)
    shares = CategoricalNB(min_categories=3).fit(codes, target).predict_joint_log_proba(codes)
    joint = np.exp(normal + shares - np.log([4 / 6, 2 / 6]))
    assert np.allclose(beliefs, joint / joint.sum(axis=1, keepdims=True))
