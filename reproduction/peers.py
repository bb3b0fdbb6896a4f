"""The models that solah is compared with, made to take tables with numbers, states and gaps."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from solah.data import infer_types, states_of, to_numbers, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.data import Column, Declared, Table
    from solah.kernels.arrays import Float

States = tuple[tuple[Any, ...], ...]


class Peer(ABC):
    """Base of the peers: turns a table into numbers, with a code for each state.

    Parameters
    ----------
    states : tuple of tuples
        The states of each column in their order; empty for a continuous one.
    random_state : int, default=None
        The seed, for peers that draw numbers.
    """

    classes_: NDArray[Any]

    def __init__(self, states: States, random_state: int | None = None) -> None:
        self.states = states
        self.random_state = random_state

    @classmethod
    def for_table(cls, table: Table, declared: Declared, **parameters: Any) -> Self:
        """Make a peer that knows the states of the columns."""
        settled, kinds = infer_types(table, declared)
        return cls(tuple(map(states_of, settled.columns, kinds)), **parameters)

    def fit(self, table: Table, target: NDArray[Any]) -> Self:
        """Learn from the rows of a table."""
        self._model = self._make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(self._encode(table), target)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, table: Table) -> Float:
        """Return class probabilities, in the order of ``classes_``."""
        beliefs: Float = self._model.predict_proba(self._encode(table))
        return beliefs

    @abstractmethod
    def _make(self) -> Any:
        """Make the model that learns from the numbers."""

    @property
    def _continuous(self) -> list[int]:
        return [j for j, states in enumerate(self.states) if not states]

    @property
    def _discrete(self) -> list[int]:
        return [j for j, states in enumerate(self.states) if states]

    def _encode(self, table: Table) -> Float:
        columns = map(_numbers, table.columns, self.states)
        return np.column_stack(list(columns))

    def _columns(self, numbers: Any) -> ColumnTransformer:
        """Transform numbers as given, and make indicators of states."""
        indicators = ("states", self._one_hot(), self._discrete)
        return ColumnTransformer([("numbers", numbers, self._continuous), indicators])

    def _one_hot(self) -> OneHotEncoder:
        codes = [np.arange(len(self.states[j])) for j in self._discrete]
        return OneHotEncoder(categories=codes, handle_unknown="ignore", sparse_output=False)


class EntropyTree(Peer):
    """A crisp tree with entropy splits, in the manner of an unpruned C4.5.

    States become indicators; missing numbers are sent where they gain most, missing states have
    no indicator.
    """

    def _make(self) -> Any:
        return make_pipeline(
            self._columns("passthrough"),
            DecisionTreeClassifier(criterion="entropy", random_state=self.random_state),
        )


class NeuralNetwork(Peer):
    """One hidden layer of 100 neurons on scaled numbers and indicators of the states.

    Missing numbers are taken as the training mean. Training ends after 500 rounds at the latest,
    converged or not.
    """

    def _make(self) -> Any:
        numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        return make_pipeline(
            self._columns(numbers),
            MLPClassifier(max_iter=500, random_state=self.random_state),
        )


class MixedNaiveBayes(Peer):
    """Naive Bayes with a normal distribution for numbers and shares for states.

    Both of scikit-learn's models see the class's prior, which must count once: the logarithms of
    their joint probabilities are added, and the prior's is taken off. Missing numbers are taken as
    the training mean; a missing state is a state of its own.
    """

    def _make(self) -> Any:
        return _MixedBayes(self._continuous, self._discrete, self.states)


class _MixedBayes:
    def __init__(self, continuous: list[int], discrete: list[int], states: States) -> None:
        self.continuous = continuous
        self.discrete = discrete
        self.n_states = [len(states[j]) for j in discrete]

    def fit(self, X: Float, target: NDArray[Any]) -> None:
        self.classes_, counts = np.unique(target, return_counts=True)
        self._log_prior = np.log(counts / counts.sum())
        self._models: list[tuple[Any, Any]] = []
        if self.continuous:
            normal = make_pipeline(SimpleImputer(keep_empty_features=True), GaussianNB())
            self._models.append((normal.fit(X[:, self.continuous], target), self._numbers))
        if self.discrete:
            shares = CategoricalNB(min_categories=[n + 1 for n in self.n_states])
            self._models.append((shares.fit(self._states(X), target), self._states))

    def predict_proba(self, X: Float) -> Float:
        joint = self._log_prior * (1 - len(self._models))
        for model, columns in self._models:
            joint = joint + _joint_log_proba(model, columns(X))
        beliefs: Float = softmax(joint, axis=1)
        return beliefs

    def _numbers(self, X: Float) -> Float:
        return X[:, self.continuous]

    def _states(self, X: Float) -> NDArray[np.intp]:
        codes = X[:, self.discrete]
        return np.where(np.isnan(codes), self.n_states, codes).astype(np.intp)


def _joint_log_proba(model: Any, X: Any) -> Float:
    if isinstance(model, CategoricalNB):
        shares: Float = model.predict_joint_log_proba(X)
        return shares
    normal: Float = model[-1].predict_joint_log_proba(model[:-1].transform(X))
    return normal


def _numbers(column: Column, states: tuple[Any, ...]) -> Float:
    """Return a column as numbers, a state as its place; NaN if it is missing or unknown."""
    if not states:
        return to_numbers(column).values
    settled = to_text(column) if isinstance(states[0], str) else to_numbers(column)
    places = {state: float(place) for place, state in enumerate(states)}
    return np.array([places.get(value, np.nan) for value in settled.values.tolist()])
