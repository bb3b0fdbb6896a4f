"""The estimator for classes that is one linguistic decision tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from solah.estimators.base import LinguisticClassifier
from solah.estimators.tree_base import LEAF_CONSTRAINTS, TREE_CONSTRAINTS, LinguisticTree
from solah.learn.growth import LeafSettings
from solah.sklearn_private import StrOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.growth import Criterion, Leaves, NullBranch
    from solah.learn.rows import Rows


class LinguisticTreeClassifier(LinguisticClassifier, LinguisticTree):
    """A decision tree whose branches are sentences.

    Attributes are described with overlapping words, and a row takes every branch to the degree
    that the branch's words describe it (LID3, with Jeffrey's rule for inference).

    Parameters
    ----------
    n_labels : int or mapping of column name to int, default=3
        How many words describe a continuous attribute.
    placement : {"quantile", "uniform"}, default="quantile"
        Where the words peak: at equal shares of the rows, or at equal distances over the range.
    words : mapping of column name to words, default=None
        Words by hand; see :class:`~solah.LinguisticLabeller`.
    kinds : mapping of column name to kind, default=None
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
        n_labels: int | Mapping[str, int] = 3,
        *,
        placement: Placement = "quantile",
        words: Mapping[str, WordsByHand] | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
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
        self.n_labels = n_labels
        self.placement = placement
        self.words = words
        self.kinds = kinds
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

    def _leaf_settings(self) -> LeafSettings:
        return LeafSettings(self.leaves, self.shrinkage, self.prior_weight)

    def _learn_from(self, rows: Rows) -> None:
        super()._learn_from(rows)
        self.classes_ = rows.facts.classes
