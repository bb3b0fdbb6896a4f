"""The hierarchy that organises itself (SOLAH), in scikit-learn's clothes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import nan
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from solah.exceptions import ColumnError, ParameterError
from solah.hierarchy.base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.hierarchy.dependence import dependence_of
from solah.hierarchy.fitness import SCORINGS
from solah.hierarchy.grouping import group_attributes
from solah.hierarchy.training import TrainingSet
from solah.hierarchy.wiring import wire_hierarchy
from solah.labels.inputs import read_features
from solah.tree.goals import read_class_goal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from solah.hierarchy.dependence import Dependence
    from solah.hierarchy.fitness import Scoring
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.model.structure import Hierarchy
    from solah.tree.growth import Criterion, NullBranch
    from solah.tree.leaves import Leaves

Clusters = tuple[tuple[int, ...], ...]
IntOrAuto = int | Literal["auto"]
FloatOrAuto = float | Literal["auto"]
_SEVERAL = (list, tuple, range)


@dataclass(frozen=True)
class Candidate:
    """A hierarchy that was considered.

    Attributes
    ----------
    n_clusters, level_gap : the k and theta that led to it
    clusters : the clusters, as places of columns
    hierarchy : the wiring
    score : how well it decides on rows that it did not learn from; larger is better, and NaN
        where that was not measured
    """

    n_clusters: IntOrAuto
    level_gap: FloatOrAuto
    clusters: Clusters
    hierarchy: Hierarchy
    score: float = nan


class SelfOrganisedHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees that wires itself from the data (SOLAH).

    Attributes that depend on each other (distance correlation) are clustered, each cluster feeds a
    tree, and the trees whose attributes tell most about the goal stand on top.

    Parameters
    ----------
    n_clusters : int, "auto", or list of these, default="auto"
        The paper's k: the larger, the narrower the clusters. How many there are in the end (K) may
        differ. "auto" takes the smallest k from 2 on that leaves no cluster with more than
        ``max(6, sqrt(n_attributes))`` attributes. Of several, the best is chosen.
    level_gap : float, "auto", or list of these, default="auto"
        The paper's theta: clusters whose mean dependence with the goal differs by less share a
        level. "auto" takes the span of these means over ``1 + ceil(sqrt(K))``, at least 0.02:
        about as many levels as the paper's own hierarchies have. Of several, the best is chosen.
    scoring : {"auc", "accuracy", "log_loss"}, default="auc"
        What the best of several hierarchies has most of (log-loss: least), in a cross-validation
        on the training rows alone.
    n_folds : int, default=3
        The folds of that cross-validation.
    max_inputs : int, default=None
        Of several hierarchies, leave out those with a tree of more inputs, unless all have one:
        trees with many inputs take long to grow.
    top : {"fuse", "merge"}, default="fuse"
        What to do with several trees on the last level: add a tree over their outputs, or make one
        tree of their attributes and the outputs below.
    clusters : sequence of sequences of column names, default=None
        Clusters by hand; then only the wiring organises itself.
    bias_corrected : bool, default=False
        Use the bias-corrected distance correlation, which is fairer with few rows.
    node, belief_labels, cross_fit, n_labels, placement, words, kinds, criterion, purity,
    min_support, min_gain, max_depth, null_branch, leaves, shrinkage, prior_weight, class_weight,
    n_jobs
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
    selection_ : tuple of Candidate
        What was compared where several k or theta were given, each with its ``n_clusters``,
        ``level_gap``, ``hierarchy`` and ``score``; empty where there was no choice.
    selection_seconds_ : float
        How long the comparison took.
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
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), *_SEVERAL],
        "level_gap": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"}), *_SEVERAL],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "max_inputs": [Interval(Integral, 1, None, closed="left"), None],
        "top": [StrOptions({"fuse", "merge"})],
        "clusters": [Sequence, None],
        "bias_corrected": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: IntOrAuto | Sequence[IntOrAuto] = "auto",
        *,
        level_gap: FloatOrAuto | Sequence[FloatOrAuto] = "auto",
        scoring: Scoring = "auc",
        n_folds: int = 3,
        max_inputs: int | None = None,
        top: Literal["fuse", "merge"] = "fuse",
        clusters: Sequence[Sequence[str]] | None = None,
        bias_corrected: bool = False,
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
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level_gap = level_gap
        self.scoring = scoring
        self.n_folds = n_folds
        self.max_inputs = max_inputs
        self.top = top
        self.clusters = clusters
        self.bias_corrected = bias_corrected
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
        data = TrainingSet.prepare(self._describe(table, goal.weights), goal, self.cross_fit)
        dependence = measure_dependence(
            data, bias_corrected=self.bias_corrected, n_jobs=self.n_jobs
        )
        candidates = self._wire(dependence, table.names, goal.goal.name)
        start = perf_counter()
        chosen, self.selection_ = self._select(candidates, data)
        self.selection_seconds_ = perf_counter() - start if self.selection_ else 0.0
        self._train(chosen.hierarchy, data)
        self.dependence_, self.relevance_ = dependence.matrix, dependence.relevance
        self.clusters_ = tuple(tuple(table.names[j] for j in one) for one in chosen.clusters)
        return self

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are (the paper's K)."""
        return len(self.clusters_)

    def _wire(
        self, dependence: Dependence, names: tuple[str, ...], goal: str
    ) -> dict[Hierarchy, Candidate]:
        """Wire a hierarchy for every k and theta; those that come out alike once."""
        candidates: dict[Hierarchy, Candidate] = {}
        for n_clusters in _each("n_clusters", self.n_clusters):
            clusters = (
                group_attributes(dependence.matrix, n_clusters)
                if self.clusters is None
                else _clusters_by_hand(self.clusters, names)
            )
            for level_gap in _each("level_gap", self.level_gap):
                hierarchy = wire_hierarchy(
                    dependence.relevance.tolist(),
                    clusters,
                    names,
                    level_gap=level_gap,
                    top=self.top,
                    goal=goal,
                )
                candidates.setdefault(
                    hierarchy, Candidate(n_clusters, level_gap, clusters, hierarchy)
                )
        narrow = {
            hierarchy: candidate
            for hierarchy, candidate in candidates.items()
            if self.max_inputs is None or _width(hierarchy) <= self.max_inputs
        }
        return narrow or candidates

    def _select(
        self, candidates: Mapping[Hierarchy, Candidate], data: TrainingSet
    ) -> tuple[Candidate, tuple[Candidate, ...]]:
        """Choose the best on unseen rows, the first of equals; return it and all with scores."""
        first = next(iter(candidates.values()))
        if len(candidates) == 1:
            return first, ()
        fitness = self._fitness(data, self.scoring, self.n_folds)
        if fitness is None:
            return first, ()
        scored = tuple(
            replace(candidate, score=fitness.score(candidate.hierarchy))
            for candidate in candidates.values()
        )
        return max(scored, key=lambda one: one.score), scored


def measure_dependence(
    data: TrainingSet, *, bias_corrected: bool = False, n_jobs: int | None = None
) -> Dependence:
    """Measure how attributes depend on each other and on the goal."""
    weights = data.goal.weights * data.goal.weight_unit
    unweighted = bool((weights == 1.0).all())
    return dependence_of(
        data.table,
        [attribute.kind for attribute in data.attributes],
        data.goal.codes,
        nominal_goal=True,
        bias_corrected=bias_corrected,
        sample_weight=None if unweighted else weights,
        n_jobs=n_jobs,
    )


def organise(data: TrainingSet, n_jobs: int | None = None) -> Hierarchy:
    """Wire a hierarchy from the data, with k and theta chosen by their rules of thumb."""
    dependence = measure_dependence(data, n_jobs=n_jobs)
    return wire_hierarchy(
        dependence.relevance.tolist(),
        group_attributes(dependence.matrix),
        data.table.names,
        goal=data.goal.goal.name,
    )


def _width(hierarchy: Hierarchy) -> int:
    """Return the most inputs that a tree has."""
    return max(len(node.inputs) for node in hierarchy.nodes)


def _each(name: str, wish: Any) -> list[Any]:
    """List what was asked for, whether it is one thing or several."""
    if not isinstance(wish, _SEVERAL):
        return [wish]
    if not len(wish):
        raise ParameterError(f"{name!r} is an empty list; give one value at least, or 'auto'")
    return list(wish)


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
