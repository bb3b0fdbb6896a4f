"""The estimator whose hierarchy organises itself (SOLAH)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from solah.dependence import screen_attributes
from solah.estimators.additive import (
    ADDITIVE_CONSTRAINTS,
    label_settings,
    named_columns,
    progress,
    recipe_of,
    with_attributes_as,
    without_identifiers,
)
from solah.estimators.hierarchy_base import (
    HIERARCHY_CONSTRAINTS,
    OF_THE_MODEL,
    HierarchyClassifier,
)
from solah.estimators.inputs import known_names
from solah.estimators.rule_path import RulePath
from solah.estimators.rules_by_hand import RefitMixin
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.estimators.tree_fusion import StackedTrees, TreeFusion
from solah.exceptions import ParameterError
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.learn.learning import learn
from solah.learn.nodes import EstimatorNode, TreeNode
from solah.sklearn_private import StrOptions

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from solah.data import Table
    from solah.dependence import Dependence, Screening
    from solah.estimators.constraints import InteractionConstraints, MonotonicConstraints
    from solah.kernels.arrays import Int64
    from solah.labels.describe import Description, LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.labels.words import WordsByHand
    from solah.learn.memory import MemoryRows
    from solah.learn.objective import PathStep
    from solah.learn.organising import Candidate
    from solah.learn.recipe import AdditiveRecipe, Part, WordKind
    from solah.learn.rows import Rows
    from solah.learn.selection import Choice

_OF_ADDING = {
    "words": "auto",
    "interactions": "auto",
    "max_rules": "auto",
    "max_attributes": None,
    "attribute_costs": None,
    "required": None,
    "monotonic_cst": None,
    "interaction_cst": None,
    "may_lose": None,
}


class SelfOrganisedHierarchyClassifier(RefitMixin, HierarchyClassifier):
    """A classifier of few rules in words, in groups that it finds by itself (SOLAH).

    The default is an additive model: a penalised multinomial logistic model on the memberships of
    words. Every rule adds evidence (log-odds) for the classes: rules of one condition, and rules
    of two where attributes interact. Words stand where the goal changes; rules that the rows
    cannot tell apart are joined; attributes that depend on each other (distance correlation) form
    groups whose evidence is added up first. All is settled on the training rows alone, by the
    log-loss on rows not learnt from.

    Parameters
    ----------
    words : {"auto", "learnt", "quantile", "uniform"} or mapping, default="auto"
        Where words stand: where the goal changes, at equal shares of the rows, at equal distances.
        "auto" is "quantile", and adds learnt words where these are clearly better out of fold. A
        mapping gives some columns words by hand.
    interactions : "auto", int or list of pairs of columns, default="auto"
        How many pairs of attributes may have rules of two conditions, or which.
    max_rules : int, "auto" or None, default="auto"
        The most rules; "auto" takes the fewest that rows cannot tell from the best, None all.
    max_attributes : int, default=None
        The most attributes (sensors) that rules may ask for.
    attribute_costs : mapping of column to float, default=None
        What attributes cost (power, price); those without are 1. Dear ones are left out first.
    required : list of columns, default=None
        The attributes that stay, with two rules at least, whatever the budget is.
    monotonic_cst : array or mapping of column to {-1, 0, 1}, default=None
        1 where the belief in the second class must not fall as the column rises, -1 where it must
        not rise, as in :class:`~sklearn.ensemble.HistGradientBoostingClassifier`. For several
        classes, a mapping from classes to such constraints.
    interaction_cst : {"pairwise", "no_interactions"} or list of sets of columns, default=None
        Which columns may have rules of two conditions, as scikit-learn has it: those of one set;
        columns that no set names are a set of their own.
    n_clusters : int, "each" or "auto", default="auto"
        The paper's k: the larger, the smaller the groups. "each" makes none.
    groups : mapping of name to columns, or list of lists of columns, default=None
        Groups by hand.
    may_lose : {"groups", "attributes"} or None, default=None
        What may be lost when the model decides: all readings of a group, such as those of one
        device, or of single attributes. Scores are then fitted to such rows, too, so that what is
        left still tells what it can; and a missing reading, which is nothing but lost, never gets a
        rule. With all readings known, it may cost a little accuracy.
    fusion : {"auto", "add", "tree"} or TreeFusion, default="auto"
        "add" is the model above. "tree" stacks trees, as the paper does; a
        :class:`~solah.TreeFusion` says how. "auto" stacks them if ``tree`` is given.
    tree : LinguisticTreeClassifier, default=None
        How stacked trees are grown, as in :class:`~solah.LinguisticHierarchyClassifier`.
    kinds : mapping of column to kind or states, default=None
        What columns are, where their values do not tell.
    screen : int or float, default=None
        With very many attributes, go on with those that depend on the goal most: so many, or, for
        a float, those with at least this dependence.
    class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    verbose : bool, default=False
        Show what is compared: a bar in a terminal; lines on stderr in a notebook or a log.

    Attributes
    ----------
    model_ : Model
        The model document.
    path_ : RulePath
        The numbers of rules that were compared: ``max_rules``, ``n_rules``, ``n_attributes``,
        ``loss``, ``accuracy`` out of fold, and which was chosen. Empty where there was no choice.
    selection_reason_ : str
        Why it was this one, in a sentence.
    word_kind_ : {"learnt", "quantile", "uniform"}
        Where the words stand that are not given by hand; stacked trees have their own.
    choice_ : Choice
        All that was settled out of fold, for :meth:`fit_settled`; stacked trees have none.
    hierarchy_ : Hierarchy
        The wiring; ``print(model.hierarchy_.draw())`` shows it.
    clusters_ : tuple of tuples of str
        The groups, as column names.
    dependence_ : ndarray of shape (n_features, n_features)
        The distance correlations between the attributes, of at most 2,000 rows; NaN for those that
        were left out before.
    relevance_ : ndarray of shape (n_features,)
        The distance correlations with the goal.
    screening_ : Screening or None
        Which attributes were kept, and which were not; ``print`` shows it as a sentence.
    left_out_ : dict of str to float
        The attributes that no rule uses, with their relevance.
    selection_, selection_seconds_ : tuple of Candidate, float
        With trees that are stacked, the hierarchies that were compared, and how long it took.
    nodes_, n_levels_, classes_, n_branches_, n_rules_, feature_importances_, n_features_in_,
    feature_names_in_
        As in :class:`~solah.LinguisticHierarchyClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from solah import SelfOrganisedHierarchyClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SelfOrganisedHierarchyClassifier(max_rules=12).fit(X, y)
    >>> model.n_rules_
    11
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ADDITIVE_CONSTRAINTS,
        "may_lose": [StrOptions({"groups", "attributes"}), None],
        "fusion": [StrOptions({"auto", "add", "tree"}), TreeFusion],
        **{name: HIERARCHY_CONSTRAINTS[name] for name in ("tree", "class_weight", "thresholds")},
    }
    _settled: Choice | None = None
    _parts: ClassVar[Mapping[str, type[BaseEstimator]]] = {
        "fusion": TreeFusion,
        "tree": LinguisticTreeClassifier,
    }

    def __init__(
        self,
        words: WordKind | Mapping[str, WordsByHand] = "auto",
        *,
        interactions: int | Literal["auto"] | Sequence[tuple[str, str]] = "auto",
        max_rules: int | Literal["auto"] | None = "auto",
        max_attributes: int | None = None,
        attribute_costs: Mapping[str, float] | None = None,
        required: Sequence[str] | None = None,
        monotonic_cst: MonotonicConstraints | None = None,
        interaction_cst: InteractionConstraints | None = None,
        n_clusters: int | Literal["auto", "each"] | Sequence[int] = "auto",
        groups: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        may_lose: Part | None = None,
        fusion: Literal["auto", "add", "tree"] | TreeFusion = "auto",
        tree: LinguisticTreeClassifier | None = None,
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        screen: float | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        thresholds: Mapping[Any, float] | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.words = words
        self.interactions = interactions
        self.max_rules = max_rules
        self.max_attributes = max_attributes
        self.attribute_costs = attribute_costs
        self.required = required
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_clusters = n_clusters
        self.groups = groups
        self.may_lose = may_lose
        self.fusion = fusion
        self.tree = tree
        self.kinds = kinds
        self.screen = screen
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit_settled(self, X: Any, y: Any, choice: Choice) -> Self:
        """Learn as ``fit`` does, with what another fit has settled; nothing is compared again.

        ``dependence_`` and ``relevance_`` are those of the attributes that rules use.

        Parameters
        ----------
        X, y
            As in ``fit``.
        choice : Choice
            The ``choice_`` of a fit to similar rows.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from solah import SelfOrganisedHierarchyClassifier
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> first = SelfOrganisedHierarchyClassifier(max_rules=12).fit(X[::2], y[::2])
        >>> again = SelfOrganisedHierarchyClassifier(max_rules=12)
        >>> again.fit_settled(X, y, first.choice_).choice_.strength == first.choice_.strength
        True
        """
        self._settled = choice
        try:
            return self.fit(X, y)
        finally:
            del self._settled

    @classmethod
    def _part_with(cls, name: str, given: Mapping[str, Any]) -> str | None:
        # Where trees are stacked, words and the number of rules are those of the trees.
        if name in ("words", "max_rules"):
            others = given.keys() - {*cls._get_param_names()}
            if others or "tree" in given or given.get("fusion", "auto") not in ("auto", "add"):
                return "tree"
        return super()._part_with(name, given)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self._stacked is not None:
            self._by_hand.refuse("stacked trees")
            for name, unset in _OF_ADDING.items():
                given = getattr(self, name)
                if not (given is unset or (isinstance(given, str) and given == unset)):
                    raise ParameterError(
                        f"{name!r} is for rules that add up; give stacked trees their settings by "
                        "tree=LinguisticTreeClassifier(…)"
                    )
        elif self.tree is not None:
            raise ParameterError(
                "'tree' is for stacked trees, and fusion='add' has none; leave one of them out"
            )

    @property
    def _sorts_columns(self) -> bool:  # type: ignore[override]
        """Whether the order of the columns is not to matter."""
        return self._stacked is None

    @property
    def _stacked(self) -> TreeFusion | None:
        """How trees are stacked; None where evidence is added up."""
        if isinstance(self.fusion, TreeFusion):
            return self.fusion
        is_stacked = self.fusion == "tree" or (self.fusion == "auto" and self.tree is not None)
        return TreeFusion() if is_stacked else None

    def _label_settings(self) -> LabelSettings:
        return label_settings(self) if self._stacked is None else self._trees()._label_settings()

    def _trees(self) -> StackedTrees:
        groups = self.groups.values() if isinstance(self.groups, Mapping) else self.groups
        assert self._stacked is not None
        return StackedTrees(
            self._stacked,
            self.n_clusters,
            None if groups is None else list(groups),
            {name: getattr(self, name) for name in ("tree", *OF_THE_MODEL)},
        )

    def _rows(self, table: Table, goal: ClassGoal) -> MemoryRows:
        """Describe rows in memory; where rules add up, the order of columns is not to matter."""
        if self._stacked is None:
            if hasattr(self, "feature_names_in_"):
                table = without_identifiers(table, named_columns(self))
            table = table.select(sorted(table.names))
        return super()._rows(table, goal)

    def _describe(self, table: Table, weights: Int64) -> Description:
        settings = self._label_settings()
        if self._stacked is None:  # columns may be left out; the recipe checks names
            settings = settings.only(table.names)
        return describe_table(table, settings, weights, count_threads(self.n_jobs))

    def _learn_from(self, rows: Rows) -> None:
        names = known_names(self)
        self.screening_: Screening | None = None
        self.path_: tuple[PathStep, ...] = ()
        self.selection_: tuple[Candidate, ...] = ()
        self.selection_seconds_ = 0.0
        stacked = self._stacked
        bias_corrected = stacked is not None and stacked.bias_corrected
        relevance = None
        if self.screen is not None:
            found = rows.relevance(bias_corrected=bias_corrected).tolist()
            self.screening_ = screen_attributes(found, rows.names, self.screen)
            relevance = dict(zip(rows.names, found, strict=True))
            kept = {*self.screening_.kept, *(self.required or ())}
            rows = rows.only([name for name in rows.names if name in kept])
        if stacked is None:
            recipe = recipe_of(self, names, rows.attributes, list(rows.facts.classes))
            if self.may_lose is not None:
                recipe = recipe.losing(self.may_lose)
            dependence = self._learn_additive(rows, recipe, names)
        else:
            dependence = rows.dependence(bias_corrected=bias_corrected)
            self._learn_stacked(rows, dependence)
        self._keep_dependence(dependence, relevance, names)

    def _learn_additive(
        self, rows: Rows, recipe: AdditiveRecipe, names: Sequence[str]
    ) -> Dependence:
        """Learn rules that add up; return how the columns depend on each other."""
        with progress(self.verbose) as tell:
            learnt = learn(rows, recipe, tell, self._settled)
        self._take(with_attributes_as(learnt.model, names))
        self.hierarchy_, self.classes_ = self.model_.hierarchy, rows.facts.classes
        self.goal_ = self.model_.goal
        self.choice_ = learnt.choice
        self.path_, self.selection_reason_ = RulePath(learnt.choice.path), learnt.choice.reason
        self.word_kind_ = learnt.choice.word_kind
        self.clusters_ = learnt.clusters
        return learnt.dependence

    def _learn_stacked(self, rows: Rows, dependence: Dependence) -> None:
        """Train trees that are stacked, and take what they have learnt."""
        trees = self._trees()
        best = trees.learn(rows, dependence)
        self.selection_, self.selection_seconds_ = trees.selection_, trees.selection_seconds_
        compared = f"{trees.scoring} of {len(self.selection_)} hierarchies on unseen rows"
        self.selection_reason_ = f"it has the best {compared}" if self.selection_ else ""
        self.clusters_ = tuple(tuple(rows.names[j] for j in one) for one in best.clusters)
        self.__dict__.pop("model_", None)
        for name in ("model_", "nodes_", "hierarchy_", "classes_", "goal_"):
            if hasattr(trees, name):
                setattr(self, name, getattr(trees, name))

    def _keep_dependence(
        self, found: Dependence, screened: Mapping[str, float] | None, names: Sequence[str]
    ) -> None:
        """Keep what is known of dependence, in the order in which the columns came."""
        place_of = {name: place for place, name in enumerate(found.names)}
        there = [place for place, name in enumerate(names) if name in place_of]
        places = [place_of[names[place]] for place in there]
        self.dependence_ = np.full((len(names), len(names)), np.nan)
        self.dependence_[np.ix_(there, there)] = found.matrix[np.ix_(places, places)]
        self.relevance_ = np.full(len(names), np.nan)
        self.relevance_[there] = found.relevance[places]
        if screened is not None:
            self.relevance_ = np.array([screened.get(name, np.nan) for name in names])
        asked = self._asked_for()
        of_names = dict(zip(names, self.relevance_.tolist(), strict=True))
        self.left_out_ = {name: of_names[name] for name in names if name not in asked}

    @property
    def n_clusters_(self) -> int:
        """How many groups or clusters there are (the paper's K)."""
        check_is_fitted(self)
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
