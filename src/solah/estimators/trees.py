"""The estimators that are one linguistic decision tree, and the paper's settings of it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, vstack

from solah.estimators.base import LinguisticEstimator
from solah.estimators.classifier import LinguisticClassifier
from solah.estimators.inputs import read_features
from solah.estimators.labeller import LABEL_CONSTRAINTS
from solah.estimators.regressor import LinguisticRegressor
from solah.explain.traversal import traced_blocks
from solah.kernels.arrays import FocalSets
from solah.kernels.choose import count_threads, kernel
from solah.labels.describe import LabelSettings, describe_table
from solah.labels.goals import NumberGoal
from solah.labels.placement import place_peaks
from solah.labels.weights import split_weights
from solah.labels.words import MAX_WORDS, default_names
from solah.learn.growth import LEAVES, LeafSettings, TreeSettings
from solah.learn.memory import MemoryRows
from solah.learn.trees import TreeTask, learn_trees
from solah.model import Goal, Model
from solah.model.encode import warn_of_unseen
from solah.model.structure import fresh_name
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.estimators.regressor import NumberColumn
    from solah.kernels.arrays import Float, Int64, Labels
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.growth import Criterion, Leaves, NullBranch

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
LEAF_CONSTRAINTS: dict[str, list[Any]] = {
    "leaves": [StrOptions(set(LEAVES))],
    "shrinkage": [Interval(Real, 0.0, None, closed="left")],
    "prior_weight": [Interval(Real, 0.0, None, closed="neither")],
}


class TreeEstimator(LinguisticEstimator):
    """Base of the tree estimators; not for use by itself."""

    def _word_settings(self) -> LabelSettings:
        return LabelSettings(self.n_words, self.placement, self.words, self.feature_types)

    def _growth(
        self, weights: Int64, weight_unit: float, leaves: LeafSettings | None = None
    ) -> TreeSettings:
        one_row = 1 / weight_unit
        whole = float(weights.sum()) if self.min_support < 1 else one_row
        return TreeSettings(
            criterion=self.criterion,
            purity=self.purity,
            min_support=self.min_support * whole,
            min_gain=self.min_gain,
            max_depth=self.max_depth,
            null_branch=self.null_branch,
            leaves=leaves or LeafSettings(),
            max_rules=self.max_rules,
            rule_cost=self.rule_cost,
        )

    def _grow(self, rows: MemoryRows, settings: TreeSettings) -> None:
        """Grow a tree, and keep it as a model document."""
        goal = rows.facts.goal
        name = fresh_name(goal.name, rows.names)
        (tree,) = learn_trees([TreeTask(name, rows.attributes, settings)], rows)
        self.model_ = Model(goal, rows.attributes, (tree.node(),))

    def decision_path(self, X: ArrayLike) -> csr_array:
        """Return the branches that rows take, and how much of each row takes them.

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
        warn_of_unseen(table, model.attributes)
        (term,) = model.program.stages[0].terms
        return vstack([csr_array(rows.rule_weights(term)) for rows in traced_blocks(model, table)])


class LinguisticTreeClassifier(TreeEstimator, LinguisticClassifier):
    """A decision tree whose branches are sentences.

    Attributes are described with overlapping words, and a row takes every branch to the degree
    that the branch's words describe it (LID3, with Jeffrey's rule for inference).

    Parameters
    ----------
    n_words : int or mapping of column name to int, default=3
        How many words describe a continuous attribute.
    placement : {"quantile", "uniform"}, default="quantile"
        Where the words peak: at equal shares of the rows, or at equal distances over the range.
    words : mapping of column name to words, default=None
        Words by hand; see :class:`~solah.LinguisticLabeller`.
    feature_types : mapping of column name to kind, default=None
        Columns that are not what they seem; see :class:`~solah.LinguisticLabeller`.
    criterion : {"information_gain", "gain_ratio"}, default="information_gain"
        What the attribute that extends a branch has most of.
    purity : float, default=1.0
        A branch that believes in one class this much is not extended.
    min_support : float, default=0.01
        A branch of less weight is not extended: a share of the rows if below 1, else rows.
    min_gain : float or None, default=0.0
        An attribute must gain more than this, in bits, to extend a branch. None extends every
        branch while attributes are left.
    max_depth : int or None, default=None
        The most conditions a rule may have.
    null_branch : {"parent", "uniform"}, default="parent"
        What a branch that no training row took believes.
    leaves : {"counted", "refitted"}, default="counted"
        What the end of a branch believes: the classes of the rows that took it, as they were
        counted, or what makes the classes of all rows most likely. A row takes several branches,
        so counting blurs: refitted leaves decide better, above all where rules are few.
    shrinkage : float, default=0.0
        How many rows of its parent's belief a branch takes on; more where rows are few.
    prior_weight : float, default=2.0
        How many rows the counted belief weighs where leaves are refitted.
    class_weight : "balanced", mapping of class to weight, or None, default=None
    thresholds : mapping of class to number, default=None
        The belief from which on to decide for a class, such as ``{"sick": 0.2}`` for one that is
        rare and must not be missed. Classes that are not named share the rest of 1; of several
        classes, the one whose belief is the largest multiple of its threshold is decided for.
    max_rules : int, default=None
        The most rules that the model may have: branches with nearly the same scores are joined
        (``hue is at least medium-or-high``), those first that lose least.
    rule_cost : float, default=0.0
        What a rule must be worth to stay, in nats of log-likelihood of the training rows. 0 keeps
        all.
    n_jobs : int or None, default=None
        How many threads to use; -1 for all processors. The tree does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : Model
        The model document: words, tree and all.
    n_branches_ : int
        The paper's branch number (beta): every edge of a split counted, empty ones too.
    n_rules_ : int
        The number of branches that carry weight.
    feature_importances_ : ndarray of shape (n_features,)
        Each attribute's share of the information gained by all splits.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import LinguisticTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = LinguisticTreeClassifier(max_depth=1).fit(X, y)
    >>> print(tree.rules()[0])
    if x3 is low then class 0 (1.00), support 19.5
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TREE_CONSTRAINTS,
        **LEAF_CONSTRAINTS,
        "class_weight": [StrOptions({"balanced"}), Mapping, None],
        "thresholds": [Mapping, None],
    }

    def __init__(
        self,
        n_words: int | Mapping[str, int] = 3,
        *,
        placement: Placement = "quantile",
        words: Mapping[str, WordsByHand] | None = None,
        feature_types: Mapping[str, str | Sequence[str]] | None = None,
        criterion: Criterion = "information_gain",
        purity: float = 1.0,
        min_support: float = 0.01,
        min_gain: float | None = 0.0,
        max_depth: int | None = None,
        null_branch: NullBranch = "parent",
        leaves: Leaves = "counted",
        shrinkage: float = 0.0,
        prior_weight: float = 2.0,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        max_rules: int | None = None,
        rule_cost: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_words = n_words
        self.placement = placement
        self.words = words
        self.feature_types = feature_types
        self.criterion = criterion
        self.purity = purity
        self.min_support = min_support
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.null_branch = null_branch
        self.leaves = leaves
        self.shrinkage = shrinkage
        self.prior_weight = prior_weight
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.max_rules = max_rules
        self.rule_cost = rule_cost
        self.n_jobs = n_jobs

    def _tree_settings(self, weights: Int64, weight_unit: float) -> TreeSettings:
        leaves = LeafSettings(self.leaves, self.shrinkage, self.prior_weight)
        return self._growth(weights, weight_unit, leaves)

    def _learn(self, rows: MemoryRows) -> None:
        self._grow(rows, self._tree_settings(rows.facts.sums, rows.facts.weight_unit))
        self.classes_ = rows.facts.classes


class LinguisticTreeRegressor(TreeEstimator, LinguisticRegressor):
    """A decision tree whose branches are sentences about a number.

    The goal is described by words like any continuous attribute. A branch keeps the distribution
    over the goal's focal sets, and the estimate is the mean of the focal sets' mean goal values.

    Parameters
    ----------
    n_words, placement, words, feature_types, criterion, purity, min_support, min_gain, max_depth,
    null_branch, max_rules, rule_cost, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    target_words : int, default=5
        How many words describe the goal.

    Attributes
    ----------
    model_ : Model
        The model document: words, tree and all.
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

    def __init__(
        self,
        n_words: int | Mapping[str, int] = 3,
        *,
        target_words: int = 5,
        placement: Placement = "quantile",
        words: Mapping[str, WordsByHand] | None = None,
        feature_types: Mapping[str, str | Sequence[str]] | None = None,
        criterion: Criterion = "information_gain",
        purity: float = 1.0,
        min_support: float = 0.01,
        min_gain: float | None = 0.0,
        max_depth: int | None = None,
        null_branch: NullBranch = "parent",
        max_rules: int | None = None,
        rule_cost: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_words = n_words
        self.target_words = target_words
        self.placement = placement
        self.words = words
        self.feature_types = feature_types
        self.criterion = criterion
        self.purity = purity
        self.min_support = min_support
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.null_branch = null_branch
        self.max_rules = max_rules
        self.rule_cost = rule_cost
        self.n_jobs = n_jobs

    def _learn_numbers(self, table: Table, numbers: NumberColumn) -> None:
        peaks = place_peaks(numbers.counted, self.target_words, self.placement)
        labels, weights = _label_goal(numbers.values, peaks), numbers.weights
        goal = Goal(
            numbers.name,
            words=default_names((len(peaks) + 1) // 2),
            peaks=peaks,
            centres=_centres(labels, weights, peaks),
        )
        n_threads = count_threads(self.n_jobs)
        described = describe_table(table, self._word_settings(), weights, n_threads)
        target = NumberGoal.of(goal, labels, weights, numbers.weight_unit)
        rows = MemoryRows(described, target, n_threads, limits=self._limits)
        self._grow(rows, self._growth(rows.facts.sums, rows.facts.weight_unit))


def _label_goal(numbers: Float, peaks: tuple[float, ...]) -> Labels:
    sets = FocalSets(
        peaks=np.array(peaks),
        ignorance=np.full(len(peaks), 1 / len(peaks)),
        offsets=np.array([0, len(peaks)], dtype=np.int32),
    )
    labels = np.empty((len(numbers), 1), dtype=np.uint32)
    kernel().label(np.ascontiguousarray(numbers[:, None]), sets, labels)
    return labels[:, 0].copy()


def _centres(goals: Labels, weights: Int64, peaks: tuple[float, ...]) -> tuple[float, ...]:
    """Return E(y|F): the mean number of each focal set; its peak where it has no weight.

    Between two peaks the mass of the upper set gives where a number stands, so that only integers
    are summed, and the result does not depend on the order of the rows.
    """
    lower, shares = split_weights(goals, weights)
    weight_of = np.zeros(len(peaks) + 1, dtype=np.int64)
    sum_of = np.zeros(len(peaks) + 1)
    gaps = np.append(np.diff(peaks), 0.0)
    for place, share in enumerate(shares):
        _, (_, above) = split_weights(goals, share)
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

How trees become a hierarchy is the paper's by default. ``LinguisticTreeClassifier`` and the
regressor take what they have of it by ``with_settings(PAPER)``.
"""
