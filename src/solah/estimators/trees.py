"""The estimators of a single linguistic tree, and the paper's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, vstack

from solah.estimators.base import LinguisticClassifier, LinguisticRegressor
from solah.estimators.inputs import read_features
from solah.estimators.labeller import LABEL_CONSTRAINTS
from solah.explain.traversal import traced_blocks
from solah.kernels.arrays import FocalSets
from solah.kernels.choose import kernel
from solah.labels.describe import LabelSettings
from solah.labels.targets import NumberTarget, split_weights
from solah.labels.words import MAX_WORDS, default_names, place_peaks
from solah.learn.growth import LEAVES, LeafSettings, TreeSettings, learn_tree
from solah.model import Model, Target
from solah.model.encode import warn_of_unseen
from solah.model.structure import fresh_name
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.estimators.base import NumberColumn
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.words import Placement, WordsByHand
    from solah.learn.growth import Criterion, Leaves, NullBranch
    from solah.learn.memory import MemoryRows

TREE_CONSTRAINTS: dict[str, list[Any]] = {
    **LABEL_CONSTRAINTS,
    "criterion": [StrOptions({"information_gain", "gain_ratio"})],
    "purity": [Interval(Real, 0.0, 1.0, closed="right")],
    "min_support": [Interval(Real, 0.0, None, closed="left")],
    "min_gain": [Interval(Real, 0.0, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "null_branch": [StrOptions({"parent", "uniform"})],
    "max_rules": [Interval(Integral, 1, None, closed="left"), None],
    "rule_cost": [Interval(Real, 0.0, None, closed="left")],
    "n_jobs": [Integral, None],
}


class BranchMixin:
    """Mixin of the models of linguistic trees, for their branches."""

    _model: Callable[[], Model]  # a method of all estimators

    @property
    def n_branches_(self) -> int:
        """The paper's branch number (beta): every edge of a split, empty ones too."""
        return self._model().n_branches


@dataclass(eq=False, repr=False)
class TreeMixin(BranchMixin):
    """Methods of both tree estimators: growing a tree, and finding the branches of rows."""

    n_words: int | Mapping[str, int] = 3
    _: KW_ONLY
    placement: Placement = "quantile"
    words: Mapping[str, WordsByHand] | None = None
    feature_types: Mapping[str, str | Sequence[str]] | None = None
    criterion: Criterion = "information_gain"
    purity: float = 1.0
    min_support: float = 0.01
    min_gain: float | None = 0.0
    max_depth: int | None = None
    null_branch: NullBranch = "parent"
    max_rules: int | None = None
    rule_cost: float = 0.0
    n_jobs: int | None = None

    def _word_settings(self: Any) -> LabelSettings:
        return LabelSettings(self.n_words, self.placement, self.words, self.feature_types)

    def _tree_settings(self: Any, weights: Int64, weight_unit: float) -> TreeSettings:
        leaves = LeafSettings()
        if isinstance(self, LinguisticTreeClassifier):
            leaves = LeafSettings(self.leaves, self.shrinkage, self.prior_weight)
        whole = float(weights.sum()) if self.min_support < 1 else 1 / weight_unit
        return TreeSettings(
            criterion=self.criterion,
            purity=self.purity,
            min_support=self.min_support * whole,
            min_gain=self.min_gain,
            max_depth=self.max_depth,
            null_branch=self.null_branch,
            leaves=leaves,
            max_rules=self.max_rules,
            rule_cost=self.rule_cost,
        )

    def _learn(self, rows: MemoryRows) -> None:
        """Grow a tree, and store its model."""
        facts = rows.facts
        settings = self._tree_settings(facts.sums, facts.weight_unit)
        name = fresh_name(facts.target.name, rows.names)
        tree = learn_tree(name, rows.features, settings, rows)
        self.model_ = Model(facts.target, rows.features, (tree.node(),)).compiled()
        if isinstance(self, LinguisticClassifier):
            self.classes_ = facts.classes

    def decision_path(self, X: ArrayLike) -> csr_array:
        """Return the branches that rows take, with the weight of each row in each branch.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        weights : sparse array of shape (n_rows, n_branches)
            Rows sum to 1; the columns are the branches of ``model_.trees[0]``.
        """
        model = self._model()
        table = read_features(self, X, reset=False)
        warn_of_unseen(table, model.features)
        (term,) = model.program.stages[0].terms
        return vstack([csr_array(rows.rule_weights(term)) for rows in traced_blocks(model, table)])


@dataclass(eq=False, repr=False, kw_only=True)
class LinguisticTreeClassifier(TreeMixin, LinguisticClassifier):
    """A linguistic decision tree (LID3, with Jeffrey's rule for inference), as in the paper.

    Features are described with overlapping words. A row takes every branch to the degree that the
    branch's words fit its values.

    Parameters
    ----------
    n_words : int or mapping of column name to int, default=3
        The number of words of a continuous feature.
    placement : {"quantile", "uniform"}, default="quantile"
        Where the words peak: at equal shares of the rows, or at equal distances over the range.
    words : mapping of column name to words, default=None
        User-defined words; see :class:`~solah.LinguisticLabeller`.
    feature_types : mapping of column name to type, default=None
        The types of columns whose values do not show them; see
        :class:`~solah.LinguisticLabeller`.
    criterion : {"information_gain", "gain_ratio"}, default="information_gain"
        The criterion by which the feature that extends a branch is chosen.
    purity : float, default=1.0
        The belief in one class from which on a branch is not extended.
    min_support : float, default=0.01
        The weight below which a branch is not extended: a share of the rows if below 1, otherwise a
        number of rows.
    min_gain : float or None, default=0.0
        The information gain, in bits, that a feature must exceed to extend a branch. None extends
        every branch until all features are used.
    max_depth : int or None, default=None
        The maximum number of conditions of a rule.
    null_branch : {"parent", "uniform"}, default="parent"
        The belief of a branch that no training row took.
    leaves : {"counted", "refitted"}, default="counted"
        The beliefs of leaves: the class shares of the rows that took the branch, or those that
        maximise the likelihood of all rows. A row takes several branches, which blurs counts;
        refitted leaves predict better, above all with few rules.
    shrinkage : float, default=0.0
        The number of rows by which the parent's belief counts in a branch.
    prior_weight : float, default=2.0
        The number of rows by which the counted belief counts if leaves are refitted.
    class_weight : "balanced", mapping of class to weight, or None, default=None
    thresholds : mapping of class to number, or cost matrix, default=None
        The probability from which on a class is predicted, such as ``{"sick": 0.2}`` for a rare
        one that must not be missed. Classes that are not named share the rest of 1. The class with
        the largest multiple of its threshold is predicted. Or the cost of each error, by true
        (row) and predicted class (column), as in ``[[0, 1], [4, 0]]``: the expected cost is then
        lowest. With more than two classes, the costs off the diagonal must be equal in each row.
    max_rules : int, default=None
        The maximum number of rules: branches with nearly the same beliefs are joined
        (``hue is at least medium-or-high``), those with the smallest loss first.
    rule_cost : float, default=0.0
        The log-likelihood of the training rows, in nats, that a rule must add to be kept. 0 keeps
        all.
    n_jobs : int or None, default=None
        The number of threads; -1 for all processors. The model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : Model
        The model file.
    n_branches_ : int
        The paper's branch number (beta): every edge of a split, empty ones too.
    n_rules_ : int
        The number of branches that carry weight.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the information gained by all splits.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import LinguisticTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = LinguisticTreeClassifier(max_depth=1).fit(X, y)
    >>> print(tree.rules()[0])
    if x3 is low then class=0 100% | 20 rows
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        "leaves": [StrOptions(set(LEAVES))],
        "shrinkage": [Interval(Real, 0.0, None, closed="left")],
        "prior_weight": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), Mapping, None],
        "thresholds": [Mapping, "array-like", None],
    }

    leaves: Leaves = "counted"
    shrinkage: float = 0.0
    prior_weight: float = 2.0
    class_weight: str | Mapping[Any, float] | None = None
    thresholds: Mapping[Any, float] | ArrayLike | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class LinguisticTreeRegressor(TreeMixin, LinguisticRegressor):
    """A linguistic decision tree for numbers.

    The target is described with words like any continuous feature. A branch has a distribution
    over the target's focal sets, and the prediction is the mean of the focal sets' mean values.

    Parameters
    ----------
    n_words, placement, words, feature_types, criterion, purity, min_support, min_gain, max_depth,
    null_branch, max_rules, rule_cost, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    target_words : int, default=5
        The number of words of the target.

    Attributes
    ----------
    model_ : Model
        The model file.
    n_branches_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticTreeClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from solah import LinguisticTreeRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> tree = LinguisticTreeRegressor(n_words=5).fit(x, x[:, 0] ** 2)
    >>> tree.predict([[0.5]]).round(2)
    array([0.26])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        "target_words": [Interval(Integral, 2, MAX_WORDS, closed="both")],
    }

    target_words: int = 5

    def _learn_numbers(self, table: Table, numbers: NumberColumn) -> None:
        peaks = place_peaks(numbers.counted, self.target_words, self.placement)
        labels, weights = _label_target(numbers.values, peaks), numbers.weights
        target = Target(
            numbers.name,
            words=default_names((len(peaks) + 1) // 2),
            peaks=peaks,
            centres=_centres(labels, weights, peaks),
        )
        encoded = NumberTarget.of(target, labels, weights, numbers.weight_unit)
        self._learn(self._rows(table, encoded))


def _label_target(numbers: Float, peaks: tuple[float, ...]) -> Labels:
    sets = FocalSets(
        peaks=np.array(peaks),
        mean_masses=np.full(len(peaks), 1 / len(peaks)),
        offsets=np.array([0, len(peaks)], dtype=np.int32),
    )
    labels = np.empty((len(numbers), 1), dtype=np.uint32)
    kernel().label(np.ascontiguousarray(numbers[:, None]), sets, labels)
    return labels[:, 0].copy()


def _centres(targets: Labels, weights: Int64, peaks: tuple[float, ...]) -> tuple[float, ...]:
    """Return E(y|F): the mean number of each focal set; its peak if it has no weight.

    Between two peaks the mass of the upper set is the position of a number, so that only integers
    are summed, and the result does not depend on the order of the rows.
    """
    lower, shares = split_weights(targets, weights)
    weight_of = np.zeros(len(peaks) + 1, dtype=np.int64)
    sum_of = np.zeros(len(peaks) + 1)
    gaps = np.append(np.diff(peaks), 0.0)
    for place, share in enumerate(shares):
        _, (_, above) = split_weights(targets, share)
        weights_here, above_here = np.zeros((2, len(peaks)), dtype=np.int64)
        np.add.at(weights_here, lower, share)
        np.add.at(above_here, lower, above)
        weight_of[place : place + len(peaks)] += weights_here
        sum_of[place : place + len(peaks)] += weights_here * np.array(peaks) + above_here * gaps
    return tuple(
        float(total / weight) if weight else peak
        for peak, total, weight in zip(peaks, sum_of, weight_of, strict=False)
    )


PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "tree": LinguisticTreeClassifier(
            n_words=3,
            placement="uniform",
            criterion="information_gain",
            purity=1.0,
            min_support=0.0,
            min_gain=None,
            max_depth=None,
            null_branch="uniform",
            leaves="counted",
            shrinkage=0.0,
            max_rules=None,
            rule_cost=0.0,
        )
    }
)
"""The settings of the paper: ``SelfOrganisedHierarchyClassifier(**PAPER)``, and so the other two.

How trees become a hierarchy is the paper's by default. Single trees take the settings with
``with_settings(PAPER)``.
"""
