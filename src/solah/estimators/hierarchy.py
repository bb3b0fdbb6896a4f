"""The estimator whose hierarchy of linguistic trees the user wires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from solah.estimators.fitting import fit_scan
from solah.estimators.goals import read_class_goal
from solah.estimators.hierarchy_base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.estimators.inputs import read_features
from solah.exceptions import ColumnError, ParameterError
from solah.model.structure import Hierarchy, HierarchyNode, fresh_name
from solah.scale import is_scan
from solah.sklearn_private import fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.growth import Criterion, Leaves, NullBranch
    from solah.learn.rows import Rows


class LinguisticHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees, wired by hand.

    Each tree decides on a few attributes and on what the trees below it believe; what the top
    tree believes is the decision.

    Parameters
    ----------
    hierarchy : Hierarchy, str or mapping, default=None
        The wiring, as a :class:`~solah.Hierarchy`, as text (``"z1 <- a, b; y <- z1, c"``) or as a
        mapping of node name to input names. None is a single tree on all attributes.
    node : {"tree", "cmac"}, classifier, or dict of node name to one of these, default="tree"
        What stands at the nodes: a linguistic tree; a linguistic CMAC (a table of all word
        combinations, at most 400,000); or any scikit-learn classifier with
        ``predict_proba``, with which the model can be used but not saved.
    belief_labels : int, default=None
        Describe what trees believe with so many words, from unlikely to likely (2 to 5). None
        takes a tree's whole distribution as masses, as the paper does: it shrinks towards the
        classes' shares with every level.
    cross_fit : int, default=None
        Let trees learn from what those below believe of rows that they have not learnt from: the
        rows are put into so many folds, and each fold is judged by a tree of the others. None
        takes what they believe of the rows they have learnt, which is too sure.
    n_labels, placement, words, kinds, criterion, purity, min_support, min_gain, max_depth,
    null_branch, leaves, shrinkage, prior_weight, class_weight, thresholds, max_rules,
    rule_cost, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`, for every tree.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The wiring.
    nodes_ : tuple
        What was trained, from bottom to top.
    model_ : Model
        The model document, where all nodes are linguistic.
    n_levels_ : int
        The paper's number of levels (iota): levels of trees, and one for the attributes.
    classes_, n_branches_, n_rules_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticTreeClassifier`, summed over the trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import LinguisticHierarchyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinguisticHierarchyClassifier("sepal <- x0, x1; y <- sepal, x2, x3").fit(X, y)
    >>> print(model.hierarchy_)
    sepal <- x0, x1; y <- sepal, x2, x3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "hierarchy": [Hierarchy, str, Mapping, None],
    }

    def __init__(
        self,
        hierarchy: Hierarchy | str | Mapping[str, Sequence[str]] | None = None,
        *,
        node: Any = "tree",
        belief_labels: int | None = None,
        cross_fit: int | None = None,
        n_labels: int | Mapping[str, int] = 3,
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
        self.hierarchy = hierarchy
        self.node = node
        self.belief_labels = belief_labels
        self.cross_fit = cross_fit
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

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the words, then the trees from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories.
        y : array of shape (n_rows,)
            The classes.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        if is_scan(X):
            fit_scan(self, X, y, sample_weight)
            return self
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, table.n_rows)
        self._learn_from(self._rows(table, goal))
        return self

    def _learn_from(self, data: Rows) -> None:
        goal = data.facts
        hierarchy = settle_hierarchy(self.hierarchy, data.names, goal.goal.name)
        growth = self._tree_settings(goal.sums, goal.weight_unit)
        self._train(hierarchy, data, growth)


def settle_hierarchy(
    given: Hierarchy | str | Mapping[str, Sequence[str]] | None,
    names: tuple[str, ...],
    goal: str,
) -> Hierarchy:
    """Read the wiring, and check that its columns are there."""
    if given is None:
        return Hierarchy((HierarchyNode(fresh_name(goal, names), names),))
    hierarchy = given
    if isinstance(given, str):
        hierarchy = Hierarchy.parse(given)
    elif isinstance(given, Mapping):
        hierarchy = Hierarchy.from_dict(given)
    assert isinstance(hierarchy, Hierarchy)
    hierarchy.each_once()
    for name in hierarchy.attributes:
        if name not in names:
            raise ColumnError.unknown(name, names)
    for node in hierarchy.nodes:
        if node.name in names:
            raise ParameterError(
                f"the hierarchy's node {node.name!r} has the name of a column; rename the node"
            )
    return hierarchy
