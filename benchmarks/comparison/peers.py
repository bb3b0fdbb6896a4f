"""A table's columns in, scikit-learn's models that learn from such tables out.

States become indicators and missing numbers the training mean, except where a model takes them as
they are.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from comparison.sizes import Size, size_of_boosting, size_of_trees
from reproduction.peers import MixedNaiveBayes, Peer


class MeasuredPeer(Peer):
    """A peer whose last step is a model that can be measured."""

    def size(self) -> Size:
        """Measure what was learned."""
        return self._size(self._model[-1])

    def _make(self) -> Any:
        return make_pipeline(self._columns(self._numbers()), self._learner())

    def _numbers(self) -> Any:
        """Return the transformer of numbers."""
        return SimpleImputer(keep_empty_features=True)

    def _learner(self) -> Any:
        raise NotImplementedError

    def _size(self, learned: Any) -> Size:
        raise NotImplementedError


class Tree(MeasuredPeer):
    """scikit-learn's tree as it comes; missing numbers are sent where they gain most."""

    def _numbers(self) -> Any:
        return "passthrough"

    def _learner(self) -> Any:
        return DecisionTreeClassifier(random_state=self.random_state)

    def _size(self, learned: Any) -> Size:
        return size_of_trees([learned])


class PrunedTree(Tree):
    """The same, pruned by cross-validation on the training rows."""

    def _learner(self) -> Any:
        return PrunedTreeClassifier(random_state=self.random_state)

    def _size(self, learned: Any) -> Size:
        return size_of_trees([learned.tree_])


class LogisticModel(MeasuredPeer):
    """Logistic regression on scaled numbers; its terms are the coefficients."""

    def _numbers(self) -> Any:
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())

    def _learner(self) -> Any:
        return LogisticRegression(max_iter=1_000)

    def _size(self, learned: Any) -> Size:
        return Size(learned.coef_.size)


class NaiveBayes(MixedNaiveBayes):
    """Naive Bayes; its terms are the distributions, one for each feature and class."""

    def size(self) -> Size:
        """Measure what was learned."""
        return Size(len(self.states) * len(self.classes_))


class Forest(MeasuredPeer):
    """A random forest of 100 trees; missing numbers are sent where they gain most."""

    def _numbers(self) -> Any:
        return "passthrough"

    def _learner(self) -> Any:
        return RandomForestClassifier(n_estimators=100, random_state=self.random_state, n_jobs=1)

    def _size(self, learned: Any) -> Size:
        return size_of_trees(learned.estimators_)


class Boosting(MeasuredPeer):
    """Histogram gradient boosting, which takes states and missing values as they are."""

    def _make(self) -> Any:
        return make_pipeline(
            HistGradientBoostingClassifier(
                categorical_features=self._discrete or None, random_state=self.random_state
            )
        )

    def _size(self, learned: Any) -> Size:
        return size_of_boosting(learned)


class PrunedTreeClassifier(ClassifierMixin, BaseEstimator):
    """A tree whose ``ccp_alpha`` is chosen by accuracy on inner folds; the largest of equals."""

    def __init__(
        self, n_alphas: int = 10, n_folds: int = 5, random_state: int | None = None
    ) -> None:
        self.n_alphas = n_alphas
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> PrunedTreeClassifier:
        """Choose on the training rows, then learn from all of them."""
        alphas = self._candidates(X, y)
        scores = [self._score(alpha, X, y) for alpha in alphas]
        best = max(zip(scores, alphas, strict=True))[1]
        self.tree_ = self._tree(best).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Return the most probable class."""
        return self.tree_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities."""
        return self.tree_.predict_proba(X)

    def _candidates(self, X: Any, y: Any) -> np.ndarray:
        """Take alphas at which the tree on all rows loses a branch: small trees closely."""
        path = self._tree(0.0).cost_complexity_pruning_path(X, y).ccp_alphas
        # From the root alone to the whole tree, in steps that double.
        steps = np.array([0, *(2**j for j in range(self.n_alphas - 2))])
        alphas = path[-1 - steps[steps < len(path)]]
        return np.unique([0.0, *np.maximum(alphas, 0.0)])  # rounding errors may be below 0

    def _score(self, alpha: float, X: Any, y: Any) -> float:
        folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            scores = cross_val_score(self._tree(alpha), X, y, cv=folds)
        return round(float(scores.mean()), 9)  # means that differ by rounding alone are equal

    def _tree(self, alpha: float) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(ccp_alpha=alpha, random_state=self.random_state)
