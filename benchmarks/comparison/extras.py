"""A table's columns in, models of packages that need not be installed out.

A package is imported when a model of it is made, before anything is timed. Each model has the
settings it comes with.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline

from comparison.peers import MeasuredPeer
from comparison.sizes import Size, mean_length, size_of_trees


class Extra(MeasuredPeer):
    """A peer of another package; what it warns of is its own affair."""

    place: ClassVar[tuple[str, str]]
    """The module and the name of the estimator."""

    def __init__(self, *arguments: Any, **parameters: Any) -> None:
        super().__init__(*arguments, **parameters)
        module, name = self.place
        self._kind = getattr(import_module(module), name)

    def _learner(self) -> Any:
        return self._kind(random_state=self.random_state)

    def fit(self, table: Any, target: np.ndarray) -> Extra:
        """Learn from the rows of a table."""
        np.random.seed(self.random_state)  # FIGS draws from here, whatever its own seed is
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(table, target)

    def predict_proba(self, table: Any) -> np.ndarray:
        """Return class probabilities; rows sum to 1, whatever the package returns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            beliefs = np.clip(np.asarray(super().predict_proba(table), dtype=float), 0.0, None)
        sums = beliefs.sum(axis=1, keepdims=True)
        even = np.full_like(beliefs, 1 / beliefs.shape[1])
        return np.divide(beliefs, sums, out=even, where=sums > 0)


class Figs(Extra):
    """imodels' sum of small trees; it calls its splits rules."""

    place = ("imodels", "FIGSClassifier")

    def _size(self, learned: Any) -> Size:
        return Size(
            learned.complexity_, mean_length([d for t in learned.trees_ for d in _depths(t)])
        )


class ShrunkTree(Extra):
    """imodels' tree with hierarchical shrinkage."""

    place = ("imodels", "HSTreeClassifier")

    def _learner(self) -> Any:
        return self._kind(max_leaf_nodes=20, random_state=self.random_state)

    def _size(self, learned: Any) -> Size:
        return size_of_trees([learned.estimator_])


class ExplainableBoosting(Extra):
    """interpret's EBM; its terms are shape functions, of one feature or of two."""

    place = ("interpret.glassbox", "ExplainableBoostingClassifier")

    def _make(self) -> Any:
        kinds = ["nominal" if states else "continuous" for states in self.states]
        return make_pipeline(
            self._kind(feature_types=kinds, random_state=self.random_state, n_jobs=1)
        )

    def _size(self, learned: Any) -> Size:
        return Size(len(learned.term_features_))


class Ripper(Extra):
    """wittgenstein's RIPPER; for several classes a rule set for each."""

    place = ("wittgenstein", "RIPPER")

    def _learner(self) -> Any:
        return RipperClassifier(self._kind, self.random_state)

    def _size(self, learned: Any) -> Size:
        lengths = [len(rule.conds) for model in learned.models_ for rule in model.ruleset_.rules]
        return Size(len(lengths), mean_length(lengths))


class Ferl(Extra):
    """ex-fuzzy's FERL: fuzzy rules from a fuzzy tree."""

    place = ("ex_fuzzy", "FERL")

    def _size(self, learned: Any) -> Size:
        stats = learned.get_tree_stats()
        return Size(stats["leaves"], stats.get("mean_leaf_depth"))


class DeepFerl(Ferl):
    """ex-fuzzy's DeepFERL: the same with deeper trees."""

    place = ("ex_fuzzy", "DeepFERL")


class Farc(Extra):
    """ex-fuzzy's fuzzy association rules, in the manner of FARC-HD."""

    place = ("ex_fuzzy", "FuzzyRulesClassifier")

    def _size(self, learned: Any) -> Size:
        # An antecedent below 0 marks a feature that the rule does not use.
        rules = [np.asarray(rule.antecedents) for rule in learned.rule_base_.get_rules()]
        return Size(len(rules), mean_length([(rule >= 0).sum() for rule in rules]))


class FuzzyTree(Extra):
    """fuzzytree's decision tree with fuzzy splits."""

    place = ("fuzzytree", "FuzzyDecisionTreeClassifier")

    def _learner(self) -> Any:
        learner = self._kind()
        # What it reads weights with does not run with scikit-learn 1.9; they are all 1 here.
        learner._get_sample_weight = lambda X, _=None: (np.arange(len(X)), np.ones(len(X)))
        return learner

    def _size(self, learned: Any) -> Size:
        depths = _fuzzy_depths(learned.tree_)
        return Size(len(depths), mean_length(depths))


class RipperClassifier(ClassifierMixin, BaseEstimator):
    """RIPPER for any number of classes: of two, the rarer one has rules; of more, each has."""

    def __init__(self, kind: Any, random_state: int | None = None) -> None:
        self.kind = kind
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> RipperClassifier:
        """Learn a rule set for each class that needs one."""
        self.classes_, counts = np.unique(y, return_counts=True)
        is_binary = len(self.classes_) == 2
        self.targets_ = [int(np.argmin(counts))] if is_binary else range(len(self.classes_))
        self.models_ = []
        for target in self.targets_:
            model = self.kind(random_state=self.random_state)
            model.fit(X, y == self.classes_[target], pos_class=True)
            self.models_.append(model)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the rule sets; of several classes they need not sum to 1."""
        beliefs = np.zeros((len(X), len(self.classes_)))
        for target, model in zip(self.targets_, self.models_, strict=True):
            beliefs[:, target] = model.predict_proba(X)[:, 1]
        if len(self.classes_) == 2:
            beliefs[:, 1 - self.targets_[0]] = 1 - beliefs[:, self.targets_[0]]
        return beliefs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def _depths(node: Any, depth: int = 0) -> list[int]:
    """List the depths of the leaves below a node of imodels."""
    below = [child for child in (node.left, node.right) if child is not None]
    return [d for child in below for d in _depths(child, depth + 1)] if below else [depth]


def _fuzzy_depths(node: Any) -> list[int]:
    """List the depths of the leaves below a node of fuzzytree."""
    if node.is_leaf:
        return [node.level]
    return _fuzzy_depths(node.true_branch) + _fuzzy_depths(node.false_branch)
