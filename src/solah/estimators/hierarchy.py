"""The estimator whose hierarchy of linguistic trees the user wires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from solah.estimators.hierarchy_base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.exceptions import ColumnError, ParameterError
from solah.model.structure import Hierarchy, HierarchyNode, fresh_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.estimators.tree_classifier import LinguisticTreeClassifier
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
    tree : LinguisticTreeClassifier, default=None
        How trees are grown, and how attributes are described with words. What the whole model has
        (``kinds``, ``class_weight``, ``thresholds``, ``n_jobs``) is not given here but below.
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
    kinds, class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`, for the whole model.

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
    >>> model.set_params(tree__max_depth=1).fit(X, y).n_rules_
    10
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "hierarchy": [Hierarchy, str, Mapping, None],
    }

    def __init__(
        self,
        hierarchy: Hierarchy | str | Mapping[str, Sequence[str]] | None = None,
        *,
        tree: LinguisticTreeClassifier | None = None,
        node: Any = "tree",
        belief_labels: int | None = None,
        cross_fit: int | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.tree = tree
        self.node = node
        self.belief_labels = belief_labels
        self.cross_fit = cross_fit
        self.kinds = kinds
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.n_jobs = n_jobs

    def _learn_from(self, rows: Rows) -> None:
        self._train(settle_hierarchy(self.hierarchy, rows.names, rows.facts.goal.name), rows)


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
