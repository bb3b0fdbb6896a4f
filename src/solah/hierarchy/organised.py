"""The hierarchy that organises itself (SOLAH), in scikit-learn's clothes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from solah.exceptions import ColumnError, ParameterError
from solah.hierarchy.base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.hierarchy.dependence import dependence_of
from solah.hierarchy.grouping import group_attributes
from solah.hierarchy.training import TrainingSet
from solah.hierarchy.wiring import wire_hierarchy
from solah.labels.inputs import read_features
from solah.tree.goals import read_class_goal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from solah.hierarchy.dependence import Dependence
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.tree.growth import Criterion, NullBranch

Clusters = tuple[tuple[int, ...], ...]


class SelfOrganisedHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees that wires itself from the data (SOLAH).

    Attributes that depend on each other (distance correlation) are clustered, each cluster feeds a
    tree, and the trees whose attributes tell most about the goal stand on top.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The paper's k: the larger, the narrower the clusters. How many there are in the end (K) may
        differ. "auto" takes the smallest k from 2 on that leaves no cluster with more than
        ``max(6, sqrt(n_attributes))`` attributes.
    level_gap : float or "auto", default="auto"
        The paper's theta: clusters whose mean dependence with the goal differs by less share a
        level. "auto" takes the span of these means over ``1 + ceil(sqrt(K))``, at least 0.02:
        about as many levels as the paper's own hierarchies have.
    top : {"fuse", "merge"}, default="fuse"
        What to do with several trees on the last level: add a tree over their outputs, or make one
        tree of their attributes and the outputs below.
    clusters : sequence of sequences of column names, default=None
        Clusters by hand; then only the wiring organises itself.
    bias_corrected : bool, default=False
        Use the bias-corrected distance correlation, which is fairer with few rows.
    node, n_labels, placement, words, kinds, criterion, purity, min_support, min_gain, max_depth,
    null_branch, class_weight, n_jobs
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The wiring that was found; ``print(model.hierarchy_.draw())`` shows it.
    clusters_ : tuple of tuples of str
        The clusters, as column names.
    n_clusters_ : int
        How many there are (K).
    dependence_ : ndarray of shape (n_features, n_features)
        The distance correlations between the attributes.
    relevance_ : ndarray of shape (n_features,)
        The distance correlations with the goal.
    nodes_, model_, n_levels_, classes_, n_branches_, n_rules_, feature_importances_,
    n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from solah import SelfOrganisedHierarchyClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SelfOrganisedHierarchyClassifier().fit(X, y)
    >>> model.n_clusters_, model.n_levels_
    (5, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "level_gap": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"})],
        "top": [StrOptions({"fuse", "merge"})],
        "clusters": [Sequence, None],
        "bias_corrected": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        level_gap: float | Literal["auto"] = "auto",
        top: Literal["fuse", "merge"] = "fuse",
        clusters: Sequence[Sequence[str]] | None = None,
        bias_corrected: bool = False,
        node: Any = "tree",
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
        class_weight: str | Mapping[Any, float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level_gap = level_gap
        self.top = top
        self.clusters = clusters
        self.bias_corrected = bias_corrected
        self.node = node
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
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Measure dependence, cluster, wire, and learn the trees from bottom to top.

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
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, self.class_weight, table.n_rows)
        data = TrainingSet(self._describe(table, goal.weights), goal)
        dependence = self._measure(data)
        clusters = self._cluster(dependence, table.names)
        hierarchy = wire_hierarchy(
            dependence.relevance.tolist(),
            clusters,
            table.names,
            level_gap=self.level_gap,
            top=self.top,
            goal=goal.goal.name,
        )
        self._train(hierarchy, data)
        self.dependence_, self.relevance_ = dependence.matrix, dependence.relevance
        self.clusters_ = tuple(tuple(table.names[j] for j in cluster) for cluster in clusters)
        return self

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are (the paper's K)."""
        return len(self.clusters_)

    def _measure(self, data: TrainingSet) -> Dependence:
        weights = data.goal.weights * data.goal.weight_unit
        unweighted = bool((weights == 1.0).all())
        return dependence_of(
            data.table,
            [attribute.kind for attribute in data.attributes],
            data.goal.codes,
            nominal_goal=True,
            bias_corrected=self.bias_corrected,
            sample_weight=None if unweighted else weights,
            n_jobs=self.n_jobs,
        )

    def _cluster(self, dependence: Dependence, names: tuple[str, ...]) -> Clusters:
        if self.clusters is None:
            return group_attributes(dependence.matrix, self.n_clusters)
        return _clusters_by_hand(self.clusters, names)


def _clusters_by_hand(clusters: Sequence[Sequence[str]], names: tuple[str, ...]) -> Clusters:
    """Find the columns of clusters that were given by name; each column once at the most."""
    places = {name: j for j, name in enumerate(names)}
    settled: list[tuple[int, ...]] = []
    used: set[str] = set()
    for cluster in clusters:
        if isinstance(cluster, str | Mapping | Set) or not isinstance(cluster, Iterable):
            raise ParameterError(f"a cluster must be a list of column names. Got {cluster!r}.")
        members = list(cluster)
        for name in members:
            if not isinstance(name, str) or name not in places:
                raise ColumnError.unknown(name, names)
            if name in used:
                raise ParameterError(f"column {name!r} is in the clusters twice")
            used.add(name)
        if not members:
            raise ParameterError("a cluster must be a list of column names. Got an empty one.")
        settled.append(tuple(places[name] for name in members))
    return tuple(settled)
