"""The estimator of the paper's self-organised hierarchy (SOLAH)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from solah.dependence import screen_features
from solah.estimators.base import LinguisticClassifier
from solah.estimators.hierarchy import HIERARCHY_CONSTRAINTS, SCORINGS, HierarchyEstimator
from solah.estimators.inputs import known_names
from solah.exceptions import ParameterError
from solah.learn.organisation import Organiser
from solah.learn.tree import Tree
from solah.sklearn_private import Interval, RealNotInt, StrOptions

if TYPE_CHECKING:
    from solah.dependence import Screening
    from solah.estimators.hierarchy import Scoring
    from solah.learn.memory import MemoryRows
    from solah.learn.organisation import Candidate

_SEVERAL = (list, tuple, range)


@dataclass(eq=False, repr=False)
class SelfOrganisedHierarchyClassifier(HierarchyEstimator, LinguisticClassifier):
    """The paper's self-organised hierarchy (SOLAH), with a rule model at each node.

    Features that depend on each other (distance correlation) form clusters. Each cluster feeds one
    node (Algorithm 1). Nodes whose features depend more on the target are placed above others
    (Algorithm 2). The probabilities that a node predicts are features of the node above it, which
    has rules on them: ``if z1(sick) is likely: sick +1.2``. ``PAPER`` has the paper's settings,
    with trees.

    :class:`~solah.RuleClassifier` sums the same kind of rules without levels. It is usually more
    accurate, with fewer rules.

    Parameters
    ----------
    n_clusters : int, "auto", "each" or list of these, default="auto"
        The paper's k: the larger, the smaller the clusters. "each" makes one per feature. From a
        list, the best is chosen.
    clusters : mapping of name to columns, or list of lists of columns, default=None
        User-defined clusters, instead of ``n_clusters``.
    level_gap : float, "auto", or list of these, default="auto"
        The paper's theta: clusters whose mean dependence with the target differs by less share a
        level. "auto" is the span of these means over ``1 + ceil(sqrt(K))``, at least 0.02. From a
        list, the best is chosen.
    top : {"fuse", "merge"}, default="fuse"
        How to join several nodes on the last level: add a node over their outputs, or merge them
        into one node with their features and the outputs below.
    node : {"rules", "tree", "cmac"}, classifier, dict of node name to one of these, or None, \
            default=None
        The model at each node, as in :class:`~solah.LinguisticHierarchyClassifier`. None is
        "tree" if ``tree`` is given, and "rules" otherwise.
    tree, belief_words, cross_fit
        As in :class:`~solah.LinguisticHierarchyClassifier`.
    bias_corrected : bool, default=False
        Whether to use the bias-corrected distance correlation, which is more reliable with few
        rows.
    scoring : {"log_loss", "auc", "accuracy"}, default="log_loss"
        The metric by which the best of several hierarchies is chosen.
    n_folds : int, default=5
        The number of cross-validation folds to compare them.
    max_inputs : int, default=None
        The maximum number of inputs of a node, if several hierarchies are compared. Hierarchies
        with larger nodes are dropped, unless all have one.
    screen : int or float, default=None
        With very many features, use those that depend on the target most: this many or, for a
        float, those with at least this dependence.
    feature_types, class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`, for the whole model.

    Attributes
    ----------
    clusters_ : tuple of tuples of str
        The clusters, as column names.
    n_clusters_ : int
        The number of clusters (the paper's K).
    dependence_ : ndarray of shape (n_features, n_features)
        The distance correlations between the features; NaN for those that were screened out.
    relevance_ : ndarray of shape (n_features,)
        The distance correlations with the target.
    screening_ : Screening or None
        The kept and dropped features; ``print`` shows a sentence.
    dropped_features_ : dict of str to float
        The features that no node uses, with their relevance.
    candidates_, selection_seconds_ : tuple of Candidate, float
        The compared hierarchies, if several, and the time in seconds.
    selection_reason_ : str
        A sentence with the reason for this hierarchy.
    hierarchy_, nodes_, model_, n_levels_, classes_, n_branches_, n_rules_, feature_importances_,
    n_features_in_, feature_names_in_
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import SelfOrganisedHierarchyClassifier
    >>> model = SelfOrganisedHierarchyClassifier(n_clusters=2, level_gap=0.1)
    >>> print(model.fit(*load_iris(return_X_y=True)).hierarchy_)
    z1 <- x1; class <- z1, x2, x3, x0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        "n_clusters": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "each"}),
            *_SEVERAL,
        ],
        "clusters": [Mapping, list, tuple, None],
        "level_gap": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"}), *_SEVERAL],
        "top": [StrOptions({"fuse", "merge"})],
        "bias_corrected": ["boolean"],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "max_inputs": [Interval(Integral, 1, None, closed="left"), None],
        "screen": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, -1.0, 1.0, closed="both"),
            None,
        ],
    }

    n_clusters: int | Literal["auto", "each"] | Sequence[int | str] = "auto"
    _: KW_ONLY
    node: Any = None
    clusters: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None
    level_gap: float | Literal["auto"] | Sequence[float | Literal["auto"]] = "auto"
    top: Literal["fuse", "merge"] = "fuse"
    bias_corrected: bool = False
    scoring: Scoring = "log_loss"
    n_folds: int = 5
    max_inputs: int | None = None
    screen: float | None = None

    def _learn(self, rows: MemoryRows) -> None:
        names = known_names(self)
        relevance: list[float] | None = None
        self.screening_: Screening | None = None
        columns = rows.names
        if self.screen is not None:
            relevance = rows.relevance(bias_corrected=self.bias_corrected).tolist()
            self.screening_ = screen_features(relevance, columns, self.screen)
            kept = {*self.screening_.kept}
            rows = rows.only([name for name in columns if name in kept])
        dependence = rows.dependence(bias_corrected=self.bias_corrected)
        clusters = self.clusters.values() if isinstance(self.clusters, Mapping) else self.clusters
        by_hand = None if clusters is None else list(clusters)
        organiser = Organiser(dependence, rows.names, rows.facts.target.name, self.top, by_hand)
        best = self._best(organiser, rows)
        self._train(best.hierarchy, rows)
        self.clusters_ = tuple(tuple(rows.names[j] for j in one) for one in best.clusters)
        self.n_clusters_ = len(self.clusters_)
        self.dependence_ = dependence.matrix_of(names)
        measured = dependence.relevance.tolist() if relevance is None else relevance
        relevance_of = dict(zip(columns, measured, strict=True))
        self.relevance_ = np.array([relevance_of[name] for name in names])
        used: set[str] = set()  # the features that trees split on, and all inputs of other nodes
        for node in self.nodes_:
            inputs = [feature.name for feature in node.inputs]
            if isinstance(node, Tree):
                inputs = [inputs[j] for j in np.unique(node.split[node.split >= 0])]
            used.update(inputs)
        self.dropped_features_ = {name: relevance_of[name] for name in names if name not in used}

    def _best(self, organiser: Organiser, rows: MemoryRows) -> Candidate:
        """Return the best of several hierarchies on held-out rows."""
        several: dict[str, list[Any]] = {}
        for name in ("n_clusters", "level_gap"):
            given = getattr(self, name)
            several[name] = list(given) if isinstance(given, _SEVERAL) else [given]
            if not several[name]:
                raise ParameterError(
                    f"{name!r} is an empty list; pass at least one value, or 'auto'"
                )
        candidates = organiser.candidates(
            several["n_clusters"], several["level_gap"], self.max_inputs
        )
        self.candidates_: tuple[Candidate, ...] = ()
        self.selection_seconds_, self.selection_reason_ = 0.0, ""
        start = perf_counter()
        fitness = None
        if len(candidates) > 1:
            fitness = self._fitness(rows, self.scoring, self.n_folds)
        if fitness is None:
            return candidates[0]
        self.candidates_ = tuple(
            replace(one, score=fitness.score(one.hierarchy)) for one in candidates
        )
        self.selection_seconds_ = perf_counter() - start
        self.selection_reason_ = (
            f"it has the best {self.scoring} of {len(self.candidates_)} hierarchies on unseen rows"
        )
        return max(self.candidates_, key=lambda one: one.score)
