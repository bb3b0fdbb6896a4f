"""The estimator whose hierarchy organises itself (SOLAH)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from solah.data import Kind
from solah.dependence import screen_attributes
from solah.estimators.comparing import SCORINGS
from solah.estimators.fitting import fit_scan
from solah.estimators.goals import read_class_goal
from solah.estimators.hierarchy_base import (
    FUSION_CONSTRAINTS,
    HIERARCHY_CONSTRAINTS,
    HierarchyClassifier,
)
from solah.estimators.inputs import read_features
from solah.estimators.nodes import linguistic_kinds, node_kinds
from solah.exceptions import ParameterError
from solah.learn.fusion import WeighSettings, kinds_of_trees
from solah.learn.memory import MemoryRows
from solah.learn.nodes import EstimatorNode, TreeNode
from solah.learn.organising import Organiser
from solah.learn.selection import (
    AUTO,
    TREE_SETTING,
    WEIGH_SETTING,
    Choice,
    Search,
)
from solah.progress import show_progress
from solah.scale import is_scan
from solah.sklearn_private import Interval, RealNotInt, StrOptions, fit_context

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from solah.dependence import Screening
    from solah.estimators.comparing import Scoring
    from solah.labels.describe import LabelSettings
    from solah.labels.placement import Placement
    from solah.labels.words import WordsByHand
    from solah.learn.growth import Criterion, Leaves, NullBranch
    from solah.learn.organising import ClusterPlaces
    from solah.learn.rows import Rows
    from solah.learn.selection import Setting, Trial
    from solah.model import Attribute
    from solah.model.structure import Hierarchy

Auto = Literal["auto"]
NumberOfClusters = int | Literal["auto", "each"]
FloatOrAuto = float | Auto
_SEVERAL = (list, tuple, range)


@dataclass(frozen=True)
class Candidate:
    """A hierarchy that was considered.

    Attributes
    ----------
    n_clusters, level_gap : the k and theta that led to it
    clusters : the clusters, as places of columns
    hierarchy : the wiring
    score : how well it decides on rows that it did not learn from; larger is better
    """

    n_clusters: int | str
    level_gap: float | str
    clusters: ClusterPlaces
    hierarchy: Hierarchy
    score: float


class SelfOrganisedHierarchyClassifier(HierarchyClassifier):
    """A hierarchy of linguistic trees that wires itself from the data (SOLAH).

    Attributes that depend on each other (distance correlation) are clustered, and each cluster
    feeds a tree. The trees' evidence is weighed; or, as in the paper, trees whose attributes tell
    more about the goal stand above others and take their beliefs as inputs. What is "auto" is
    chosen on the training rows alone, by the log-loss on rows not learnt from, with a preference
    for fewer rules where the rows cannot tell two settings apart.

    Parameters
    ----------
    n_clusters : int, "each", "auto", or list of these, default="auto"
        The paper's k: the larger, the narrower the clusters. How many there are in the end (K) may
        differ. "each" gives every attribute a tree of its own. "auto" compares "each", one tree
        for all, and the smallest k from 2 on that leaves no cluster with more than
        ``max(6, sqrt(n_attributes))`` attributes; with ``fusion="tree"`` it compares the last of
        these with 2, 4 and 8, or just takes it where nothing else is "auto". Of several, the best
        is chosen.
    level_gap : float, "auto", or list of these, default="auto"
        The paper's theta: clusters whose mean dependence with the goal differs by less share a
        level. "auto" puts all trees that are weighed on one level; with ``fusion="tree"`` it is
        the span of these means over ``1 + ceil(sqrt(K))``, at least 0.02: about as many levels as
        the paper's own hierarchies have. Of several, the best is chosen.
    fusion : {"weigh", "tree", "auto"}, default="weigh"
        What happens where trees come together. "weigh": their evidence is added up, each with a
        weight of its own. "tree": a tree splits on what those below believe, as in the paper.
    penalty : float or "auto", default="auto"
        With "weigh", how strongly evidence is held back: what evidence of 1 costs, in rows.
    n_labels : int, mapping of column name to int, or "auto", default="auto"
        How many words describe a continuous attribute. "auto" is 3, and with 2,000 rows or more
        the best of 3, 5 and 7.
    placement : {"quantile", "uniform", "auto"}, default="quantile"
        Words at equal shares of the rows, or at equal distances.
    min_support : float or "auto", default="auto"
        Branches with fewer rows, or with a smaller share of them if less than 1, are not split.
    shrinkage : float or "auto", default=0.0
        How many rows of its parent's belief a branch takes on; not where branches are weighed.
    belief_labels : int, "auto" or None, default=None
        Describe what trees believe with so many words, from unlikely to likely (2 to 5), to the
        trees above them. None takes a tree's whole distribution as masses.
    rule_cost : float or "auto", default=0.0
        What a rule must be worth to stay, in nats of log-likelihood; 0 keeps all.
    max_rules : int, default=None
        The most rules that the model may have: branches with nearly the same scores are joined,
        those first that lose least. With ``fusion="tree"`` the trees share them evenly.
    n_folds : int, default=5
        The folds in which settings are compared.
    time_budget : float, default=None
        Try no further setting after so many seconds.
    scoring : {"log_loss", "auc", "accuracy"}, default="log_loss"
        What the best of several ``n_clusters`` or ``level_gap`` has most of (log-loss: least).
        Others than the log-loss need everything else to be given.
    max_inputs : int, default=None
        Of several hierarchies, leave out those with a tree of more inputs, unless all have one:
        trees with many inputs take long to grow.
    top : {"fuse", "merge"}, default="fuse"
        With "tree", what to do with several trees on the last level: add a tree over their
        outputs, or make one tree of their attributes and the outputs below.
    clusters : sequence of sequences of column names, default=None
        Clusters by hand; then only the rest organises itself.
    bias_corrected : bool, default=False
        Use the bias-corrected distance correlation, which is fairer with few rows.
    screen : int, float or None, default=None
        With very many attributes, go on with those that depend on the goal most: so many of them,
        or, for a float, those with at least this dependence. The others are left out before
        attributes are compared with each other.
    verbose : bool, default=False
        Show what is tried.
    node, cross_fit, words, kinds, criterion, purity, min_gain, max_depth, null_branch, leaves,
    prior_weight, class_weight, thresholds, n_jobs
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
        The distance correlations between the attributes; NaN for those that were screened out.
    relevance_ : ndarray of shape (n_features,)
        The distance correlations with the goal.
    screening_ : Screening or None
        Which attributes were kept, and which were not; ``print`` shows it as a sentence.
    left_out_ : dict of str to float
        The attributes that no rule uses, with their relevance.
    settings_ : Setting
        The settings that were used, chosen ones included.
    selection_ : tuple of Trial, or of Candidate
        What was compared, each with its ``setting``, ``log_loss`` and ``n_rules``; of several
        hierarchies with all else given, each with its ``hierarchy`` and ``score``. Empty where
        there was no choice.
    selection_reason_ : str
        Why it was this one, in a sentence.
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
    >>> model = SelfOrganisedHierarchyClassifier(max_rules=12).fit(X, y)
    >>> model.n_rules_
    12
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HIERARCHY_CONSTRAINTS,
        **{
            name: [*constraints, StrOptions({AUTO})]
            for name, constraints in {**HIERARCHY_CONSTRAINTS, **FUSION_CONSTRAINTS}.items()
            if name in vars(WEIGH_SETTING)
        },
        "n_clusters": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "each"}),
            *_SEVERAL,
        ],
        "level_gap": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"}), *_SEVERAL],
        "scoring": [StrOptions(set(SCORINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
        "max_inputs": [Interval(Integral, 1, None, closed="left"), None],
        "top": [StrOptions({"fuse", "merge"})],
        "clusters": [Sequence, None],
        "bias_corrected": ["boolean"],
        "screen": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, -1.0, 1.0, closed="both"),
            None,
        ],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters | Sequence[NumberOfClusters] = "auto",
        *,
        level_gap: FloatOrAuto | Sequence[FloatOrAuto] = "auto",
        fusion: Literal["weigh", "tree", "auto"] = "weigh",
        penalty: FloatOrAuto = "auto",
        n_labels: int | Mapping[str, int] | Auto = "auto",
        placement: Placement | Auto = "quantile",
        min_support: FloatOrAuto = "auto",
        shrinkage: FloatOrAuto = 0.0,
        belief_labels: int | Auto | None = None,
        rule_cost: FloatOrAuto = 0.0,
        max_rules: int | None = None,
        n_folds: int = 5,
        time_budget: float | None = None,
        scoring: Scoring = "log_loss",
        max_inputs: int | None = None,
        top: Literal["fuse", "merge"] = "fuse",
        clusters: Sequence[Sequence[str]] | None = None,
        bias_corrected: bool = False,
        screen: float | None = None,
        verbose: bool = False,
        node: Any = "tree",
        cross_fit: int | None = None,
        words: Mapping[str, WordsByHand] | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        criterion: Criterion = "information_gain",
        purity: float = 1.0,
        min_gain: float | None = 0.0,
        max_depth: int | None = None,
        null_branch: NullBranch = "parent",
        leaves: Leaves = "counted",
        prior_weight: float = 2.0,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level_gap = level_gap
        self.fusion = fusion
        self.penalty = penalty
        self.n_labels = n_labels
        self.placement = placement
        self.min_support = min_support
        self.shrinkage = shrinkage
        self.belief_labels = belief_labels
        self.rule_cost = rule_cost
        self.max_rules = max_rules
        self.n_folds = n_folds
        self.time_budget = time_budget
        self.scoring = scoring
        self.max_inputs = max_inputs
        self.top = top
        self.clusters = clusters
        self.bias_corrected = bias_corrected
        self.screen = screen
        self.verbose = verbose
        self.node = node
        self.cross_fit = cross_fit
        self.words = words
        self.kinds = kinds
        self.criterion = criterion
        self.purity = purity
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.null_branch = null_branch
        self.leaves = leaves
        self.prior_weight = prior_weight
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
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
        self._refuse_unused()
        if self.clusters is not None and self.n_clusters != AUTO:
            raise ParameterError(
                "'clusters' gives the clusters, so 'n_clusters' has nothing to say; leave one out"
            )
        self.screening_: Screening | None = None
        if (self.fusion, self.level_gap, self.top) == ("weigh", AUTO, "merge"):
            raise ParameterError(
                "top='merge' is for levels, and with fusion='weigh' there is one only, unless "
                "'level_gap' is a number; leave it out, or use fusion='tree'"
            )
        if is_scan(X):
            fit_scan(self, X, y, sample_weight)
            return self
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, table.n_rows)
        self._learn_from(self._rows(table, goal))
        return self

    def _first_words(self) -> LabelSettings:
        return self._with(self._first_setting())._label_settings()

    def _label_settings(self) -> LabelSettings:
        settings = super()._label_settings()
        kept = None if self.screening_ is None else self.screening_.kept
        return settings if kept is None else settings.only(kept)

    def _learn_from(self, data: Rows) -> None:
        names = data.names
        if self.screen is not None:
            relevance = data.relevance(bias_corrected=self.bias_corrected)
            self.screening_ = screen_attributes(relevance.tolist(), names, self.screen)
            data = data.only(self.screening_.kept)
        first = self._first_setting()
        dependence = data.dependence(bias_corrected=self.bias_corrected)
        organiser = Organiser(dependence, data.names, data.facts.goal.name, self.top, self.clusters)
        start = perf_counter()
        choice = self._choose(organiser, first, data)
        self.selection_seconds_ = perf_counter() - start if choice.trials else 0.0
        self.settings_, self.selection_ = choice.setting, choice.trials
        self.selection_reason_ = choice.reason
        self._learn(organiser.hierarchy(choice.setting), data, first)
        self.clusters_ = organiser.named_clusters(choice.setting)
        self.dependence_, self.relevance_ = dependence.matrix, dependence.relevance
        if self.screening_ is not None:
            places = np.array(self.screening_.places)
            self.dependence_ = np.full((len(names), len(names)), np.nan)
            self.dependence_[np.ix_(places, places)] = dependence.matrix
            self.relevance_ = relevance
        asked = self._asked_for()
        of_goal = dict(zip(names, self.relevance_.tolist(), strict=True))
        self.left_out_ = {name: of_goal[name] for name in names if name not in asked}

    @property
    def n_clusters_(self) -> int:
        """How many clusters there are (the paper's K)."""
        return len(self.clusters_)

    def _asked_for(self) -> set[str]:
        """Name the attributes that rules use; those of other models count as well."""
        asked: set[str] = set()
        for node in self.nodes_:
            if isinstance(node, TreeNode):
                splits = np.unique(node.tree.split[node.tree.split >= 0])
                asked |= {node.inputs[j].name for j in splits.tolist()}
            elif isinstance(node, EstimatorNode):
                asked |= {attribute.name for attribute in node.inputs}
        return asked

    def _with(self, setting: Setting, n_jobs: int | None = None) -> Self:
        """Return a twin that has these settings."""
        twin = copy(self)
        for name, value in vars(setting).items():
            setattr(twin, name, value)
        twin.n_jobs = self.n_jobs if n_jobs is None else n_jobs
        return twin

    def _first_setting(self) -> Setting:
        """Settle what is given, and begin with the first of what is open."""
        begin = TREE_SETTING if self.fusion == "tree" else WEIGH_SETTING
        given = {name: _each(name, getattr(self, name))[0] for name in vars(begin)}
        return replace(begin, **{name: value for name, value in given.items() if value != AUTO})

    def _open(self) -> frozenset[str]:
        """Name the settings that are to be chosen; k alone is no choice to a tree on top."""
        names = {name for name in vars(WEIGH_SETTING) if getattr(self, name) == AUTO}
        if self.max_rules is not None:
            names -= {"rule_cost"}
        if self.clusters is not None:
            names -= {"n_clusters"}
        if self.fusion == "tree":
            names -= {"penalty"}
            return frozenset(names if names - {"n_clusters", "level_gap"} else ())
        return frozenset(names - {"level_gap"})

    def _choose(self, organiser: Organiser, first: Setting, data: Rows) -> Choice:
        """Choose what is open, and the best of several k and theta."""
        open_ = self._open()
        settings = organiser.distinct(
            [
                replace(first, n_clusters=n_clusters, level_gap=level_gap)
                for n_clusters in _each("n_clusters", self.n_clusters, first.n_clusters)
                for level_gap in _each("level_gap", self.level_gap, first.level_gap)
            ],
            self.max_inputs,
        )
        if not open_ and first.fusion == "tree":
            return self._select(organiser, settings, data)
        if self.scoring != "log_loss":
            raise ParameterError(
                f"scoring={self.scoring!r} chooses between several 'n_clusters' or 'level_gap' "
                "with fusion='tree' and all else given; leave it out, or set fusion='tree' and "
                f"{', '.join(sorted(open_ - {'fusion', 'penalty'})) or 'nothing else'}"
            )
        if not open_ and len(settings) == 1:
            return Choice(settings[0])
        describing = copy(self)
        if data.is_many:  # a sample must not be taken for something else than all rows are
            describing.kinds = {one.name: _declared_kind(one) for one in data.attributes}
            data = data.draw(data.limits.rows_to_select_by(len(data.names), data.facts.goal.size))
        assert isinstance(data, MemoryRows)
        search = Search(
            describe=lambda setting, *rows: describing._with(setting, n_jobs=1)._describe(*rows),
            wire=organiser.wired,
            growth=lambda setting, *rows: self._with(setting)._tree_settings(*rows),
            kinds=self._kinds,
            admits=partial(organiser.admits, max_inputs=self.max_inputs),
            cross_fit=self.cross_fit,
            n_folds=self.n_folds,
            time_budget=self.time_budget,
            n_jobs=self.n_jobs,
        )
        with self._progress() as tried, threadpool_limits(1, user_api="blas"):
            choice = search.choose(settings, open_, data, tried)
        if self.max_rules is not None and choice.trials:
            return replace(choice, reason=f"{choice.reason}; then joined to {self.max_rules} rules")
        return choice

    def _kinds(self, setting: Setting, wired: Hierarchy) -> dict[str, Any]:
        """Settle the kinds of nodes; only linguistic ones can be weighed."""
        if setting.fusion == "tree":
            return node_kinds(self.node, wired)
        return kinds_of_trees(linguistic_kinds(self.node, wired), wired)

    def _select(self, organiser: Organiser, settings: Sequence[Setting], data: Rows) -> Choice:
        """Choose the best of several hierarchies on unseen rows, the first of equals."""
        fitness = None
        if len(settings) > 1:
            twin = self._with(settings[0])
            fitness = twin._fitness(data, self.scoring, self.n_folds)
        if fitness is None:
            return Choice(settings[0])
        scored = tuple(
            Candidate(
                setting.n_clusters,
                setting.level_gap,
                organiser.clusters(setting),
                organiser.hierarchy(setting),
                fitness.score(organiser.hierarchy(setting)),
            )
            for setting in settings
        )
        best = max(range(len(scored)), key=lambda i: scored[i].score)
        reason = f"it has the best {self.scoring} of {len(scored)} hierarchies on unseen rows"
        return Choice(settings[best], scored, reason)

    def _learn(self, hierarchy: Hierarchy, data: Rows, first: Setting) -> None:
        """Learn with the settings that were chosen, from rows described as at first."""
        setting, goal = self.settings_, data.facts
        twin = self._with(setting)
        if (setting.n_labels, setting.placement) != (first.n_labels, first.placement):
            data = data.described_as(twin._label_settings())
        growth = twin._tree_settings(goal.sums, goal.weight_unit)
        settings = WeighSettings(setting.penalty, self.max_rules, setting.rule_cost)
        is_weighing = setting.fusion == "weigh"
        self._train_fused(hierarchy, data, growth, settings if is_weighing else None)

    @contextmanager
    def _progress(self) -> Iterator[Callable[[Trial], None]]:
        """Yield what is told of every trial, shown as a bar to those who want to see it."""
        if not self.verbose:
            yield lambda _: None
            return
        with show_progress(Console(stderr=True), None, "settings") as advance:
            yield lambda trial: advance(1, str(trial))


def _declared_kind(attribute: Attribute) -> Any:
    """Declare what an attribute is, so that some of its rows are taken as all are."""
    if attribute.kind is Kind.ORDINAL and attribute.is_coded:
        return list(attribute.states)
    return attribute.kind.value


def _each(name: str, given: Any, instead: Any = AUTO) -> list[Any]:
    """List what was asked for, whether it is one thing or several; ``instead`` for "auto"."""
    if not isinstance(given, _SEVERAL):
        return [instead if given == AUTO else given]
    if not len(given):
        raise ParameterError(f"{name!r} is an empty list; give one value at least, or 'auto'")
    return list(given)
