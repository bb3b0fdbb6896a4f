"""The paper's way to put trees together: trees that split on what other trees believe."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sklearn.base import BaseEstimator

from solah.estimators.comparing import SCORINGS
from solah.estimators.hierarchy_base import HIERARCHY_CONSTRAINTS, HierarchyClassifier
from solah.exceptions import ParameterError
from solah.learn.organising import Organiser
from solah.sklearn_private import Interval, StrOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.dependence import Dependence
    from solah.estimators.comparing import Scoring
    from solah.learn.organising import Candidate
    from solah.learn.rows import Rows

_SEVERAL = (list, tuple, range)


class TreeFusion(BaseEstimator):  # type: ignore[misc]
    """How trees are stacked: a tree splits on what those below it believe, as in the paper.

    Given as ``fusion`` to :class:`~solah.SelfOrganisedHierarchyClassifier`, whose ``tree`` says how
    trees are grown. Clusters of attributes feed a tree each; trees whose attributes tell more about
    the goal stand above others.

    Parameters
    ----------
    level_gap : float, "auto", or list of these, default="auto"
        The paper's theta: clusters whose mean dependence with the goal differs by less share a
        level. "auto" is the span of these means over ``1 + ceil(sqrt(K))``, at least 0.02. Of
        several, the best is chosen.
    top : {"fuse", "merge"}, default="fuse"
        What to do with several trees on the last level: add a tree over their outputs, or make one
        tree of their attributes and the outputs below.
    node, belief_labels, cross_fit
        As in :class:`~solah.LinguisticHierarchyClassifier`.
    bias_corrected : bool, default=False
        Use the bias-corrected distance correlation, which is fairer with few rows.
    scoring : {"log_loss", "auc", "accuracy"}, default="log_loss"
        What the best of several ``n_clusters`` or ``level_gap`` has most of (log-loss: least).
    n_folds : int, default=5
        The folds in which they are compared.
    max_inputs : int, default=None
        Of several hierarchies, leave out those with a tree of more inputs, unless all have one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from solah import LinguisticTreeClassifier, SelfOrganisedHierarchyClassifier, TreeFusion
    >>> tree, fusion = LinguisticTreeClassifier(max_depth=2), TreeFusion(level_gap=0.1)
    >>> model = SelfOrganisedHierarchyClassifier(tree=tree, fusion=fusion, n_clusters=2)
    >>> model.fit(*load_iris(return_X_y=True)).n_levels_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "level_gap": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"}), *_SEVERAL],
        "top": [StrOptions({"fuse", "merge"})],
        **{name: HIERARCHY_CONSTRAINTS[name] for name in ("node", "belief_labels", "cross_fit")},
        "bias_corrected": ["boolean"],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "max_inputs": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        level_gap: float | Literal["auto"] | Sequence[float | Literal["auto"]] = "auto",
        top: Literal["fuse", "merge"] = "fuse",
        node: Any = "tree",
        belief_labels: int | None = None,
        cross_fit: int | None = None,
        bias_corrected: bool = False,
        scoring: Scoring = "log_loss",
        n_folds: int = 5,
        max_inputs: int | None = None,
    ) -> None:
        self.level_gap = level_gap
        self.top = top
        self.node = node
        self.belief_labels = belief_labels
        self.cross_fit = cross_fit
        self.bias_corrected = bias_corrected
        self.scoring = scoring
        self.n_folds = n_folds
        self.max_inputs = max_inputs


class StackedTrees(HierarchyClassifier):
    """Trains trees that are stacked, for the estimator whose hierarchy organises itself.

    Parameters
    ----------
    fusion : TreeFusion
    n_clusters : int, "auto", "each" or several of these
    clusters : clusters by hand, or None
    of_model : what else the model has: tree, kinds, class_weight, thresholds and n_jobs
    """

    def __init__(
        self,
        fusion: TreeFusion,
        n_clusters: Any,
        clusters: Sequence[Sequence[str]] | None,
        of_model: Mapping[str, Any],
    ) -> None:
        self.n_clusters, self.clusters = n_clusters, clusters
        for name, value in (fusion.get_params(deep=False) | dict(of_model)).items():
            setattr(self, name, value)

    def learn(self, rows: Rows, dependence: Dependence) -> Candidate:
        """Choose a hierarchy, and train its trees."""
        organiser = Organiser(dependence, rows.names, rows.facts.goal.name, self.top, self.clusters)
        candidates = organiser.candidates(
            _each("n_clusters", self.n_clusters),
            _each("level_gap", self.level_gap),
            self.max_inputs,
        )
        self.selection_: tuple[Candidate, ...] = ()
        best, start = candidates[0], perf_counter()
        fitness = None
        if len(candidates) > 1:
            fitness = self._fitness(rows, self.scoring, self.n_folds)
        if fitness is not None:
            self.selection_ = tuple(
                replace(one, score=fitness.score(one.hierarchy)) for one in candidates
            )
            best = max(self.selection_, key=lambda one: one.score)
        self.selection_seconds_ = perf_counter() - start if self.selection_ else 0.0
        self._train(best.hierarchy, rows)
        return best


def _each(name: str, given: Any) -> list[Any]:
    """List what was asked for, whether it is one thing or several."""
    if not isinstance(given, _SEVERAL):
        return [given]
    if not len(given):
        raise ParameterError(f"{name!r} is an empty list; give one value at least, or 'auto'")
    return list(given)
