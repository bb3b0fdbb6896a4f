"""The estimator whose hierarchy organises itself (SOLAH)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from solah.dependence import screen_attributes
from solah.estimators.additive import (
    ADDITIVE_CONSTRAINTS,
    label_settings,
    progress,
    recipe_of,
    with_attributes_as,
    without_identifiers,
)
from solah.estimators.fitting import fit_scan
from solah.estimators.goals import read_class_goal
from solah.estimators.hierarchy_base import HierarchyClassifier
from solah.estimators.inputs import read_features
from solah.estimators.tree_classifier import LinguisticTreeClassifier
from solah.estimators.tree_fusion import StackedTrees, TreeFusion
from solah.exceptions import ParameterError
from solah.kernels.choose import count_threads
from solah.labels.describe import describe_table
from solah.learn.learning import learn
from solah.learn.memory import MemoryRows, is_large
from solah.learn.nodes import EstimatorNode, TreeNode
from solah.learn.passed import PassedRows
from solah.scale import is_scan
from solah.sklearn_private import HasMethods, StrOptions, fit_context, validate_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from solah.data import Table
    from solah.dependence import Dependence, Screening
    from solah.labels.describe import LabelSettings
    from solah.labels.goals import ClassGoal
    from solah.labels.words import WordsByHand
    from solah.learn.additive import PathStep
    from solah.learn.organising import Candidate
    from solah.learn.recipe import AdditiveRecipe, WordKind
    from solah.learn.rows import Rows
    from solah.scale.profile import Profile


class SelfOrganisedHierarchyClassifier(HierarchyClassifier):
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
    n_clusters : int, "each" or "auto", default="auto"
        The paper's k: the larger, the smaller the groups. "each" makes none.
    groups : mapping of name to columns, or list of lists of columns, default=None
        Groups by hand.
    fusion : {"add", "tree"} or TreeFusion, default="add"
        "add" is the model above. "tree" stacks trees, as the paper does; a
        :class:`~solah.TreeFusion` says how.
    kinds : mapping of column to kind or states, default=None
        What columns are, where their values do not tell.
    screen : int or float, default=None
        With very many attributes, go on with those that depend on the goal most: so many, or, for
        a float, those with at least this dependence.
    class_weight, thresholds, n_jobs
        As in :class:`~solah.LinguisticTreeClassifier`.
    verbose : bool, default=False
        Show what is compared.

    Attributes
    ----------
    model_ : Model
        The model document.
    path_ : tuple of PathStep
        The numbers of rules that were compared: ``max_rules``, ``n_rules``, ``n_attributes``,
        ``loss``, ``accuracy`` out of fold, and which was chosen. Empty where there was no choice.
    selection_reason_ : str
        Why it was this one, in a sentence.
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
    12
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ADDITIVE_CONSTRAINTS,
        "fusion": [StrOptions({"add", "tree"}), HasMethods(["flat", "get_params"])],
        "class_weight": LinguisticTreeClassifier._parameter_constraints["class_weight"],
        "thresholds": LinguisticTreeClassifier._parameter_constraints["thresholds"],
    }

    def __init__(
        self,
        words: WordKind | Mapping[str, WordsByHand] = "auto",
        *,
        interactions: int | Literal["auto"] | Sequence[tuple[str, str]] = "auto",
        max_rules: int | Literal["auto"] | None = "auto",
        max_attributes: int | None = None,
        attribute_costs: Mapping[str, float] | None = None,
        n_clusters: int | Literal["auto", "each"] | Sequence[int] = "auto",
        groups: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None,
        fusion: Literal["add", "tree"] | TreeFusion = "add",
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
        self.n_clusters = n_clusters
        self.groups = groups
        self.fusion = fusion
        self.kinds = kinds
        self.screen = screen
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.verbose = verbose
        self.n_jobs = n_jobs

    @classmethod
    def with_settings(cls, settings: Mapping[str, Any], **parameters: Any) -> Self:
        """Make an estimator with those of the settings that it knows, such as ``PAPER``.

        Parameters
        ----------
        settings : mapping of parameter name to value
        **parameters
            Further parameters, which win over the settings; those of a
            :class:`~solah.TreeFusion` or of its tree may be among them.

        Returns
        -------
        estimator
        """
        own = set(cls._get_param_names())
        stacked = parameters.get("fusion", settings.get("fusion", "add"))
        if stacked != "add":  # words and numbers of rules are those of the trees
            own -= set(TreeFusion().flat())
        nested = {name: value for name, value in parameters.items() if name not in own}
        if not nested or stacked == "add":
            return super().with_settings(settings, **parameters)
        fusion = TreeFusion() if isinstance(stacked, str) else clone(stacked)
        tree = LinguisticTreeClassifier() if fusion.tree is None else fusion.tree
        of_fusion = set(TreeFusion._get_param_names())
        for name, value in nested.items():
            target = fusion if name in of_fusion else tree
            if name not in target.get_params(deep=False):
                return super().with_settings(settings, **parameters)
            target.set_params(**{name: value})
        fusion.tree = tree
        others = {name: value for name, value in parameters.items() if name in own}
        return super().with_settings(settings, **(others | {"fusion": fusion}))

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn words, rules and groups.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
            NaN and None are missing values; strings are categories. Or files, frames or a cluster,
            with y as the name of the column of classes.
        y : array of shape (n_rows,)
            The classes.
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        if self._stacked is not None:
            self._refuse_additive_settings(self._stacked)
        if is_scan(X):
            fit_scan(self, X, y, sample_weight)
            return self
        table = read_features(self, X, reset=True)
        goal = read_class_goal(self, y, sample_weight, table.n_rows)
        self._learn_from(self._rows(table, goal))
        return self

    @property
    def _sorts_columns(self) -> bool:  # type: ignore[override]
        """Whether the order of the columns is not to matter."""
        return self._stacked is None

    @property
    def _stacked(self) -> TreeFusion | None:
        """How trees are stacked; None where evidence is added up."""
        if self.fusion == "add":
            return None
        return TreeFusion() if self.fusion == "tree" else self.fusion

    def _refuse_additive_settings(self, stacked: TreeFusion) -> None:
        """Refuse parameters of the additive model where trees are stacked."""
        validate_parameters(
            TreeFusion.parameter_constraints,
            stacked.get_params(deep=False),
            caller_name="TreeFusion",
        )
        if stacked.tree is not None:
            stacked.tree._validate_params()
        without = {
            "words": "auto",
            "interactions": "auto",
            "max_rules": "auto",
            "max_attributes": None,
            "attribute_costs": None,
        }
        for name, unset in without.items():
            if getattr(self, name) != unset:
                raise ParameterError(
                    f"{name!r} is for fusion='add'; give the trees of a hierarchy their settings "
                    f"by fusion=TreeFusion(LinguisticTreeClassifier(…))"
                )

    def _label_settings(self) -> LabelSettings:
        return label_settings(self) if self._stacked is None else self._trees()._label_settings()

    def _trees(self) -> StackedTrees:
        groups = self.groups.values() if isinstance(self.groups, Mapping) else self.groups
        assert self._stacked is not None
        return StackedTrees(
            self._stacked,
            self.n_clusters,
            None if groups is None else list(groups),
            {
                "kinds": self.kinds,
                "class_weight": self.class_weight,
                "thresholds": self.thresholds,
                "n_jobs": self.n_jobs,
            },
        )

    def _rows(self, table: Table, goal: ClassGoal) -> MemoryRows:
        """Describe rows in memory, columns by name: their order is not to matter."""
        if self._stacked is None:
            if hasattr(self, "feature_names_in_"):
                table = without_identifiers(table, self.kinds)
            table = table.select(sorted(table.names))
        settings = self._label_settings().only(table.names)
        n_threads = count_threads(self.n_jobs)
        described = describe_table(table, settings, goal.weights, n_threads)
        is_threaded = is_large(table.n_rows, len(table.columns))
        return MemoryRows(described, goal, n_threads if is_threaded else 1, limits=self._limits)

    def _fit_profile(self, profile: Profile) -> None:
        settings = self._label_settings().only(profile.names)
        self._learn_from(PassedRows.describe(profile, settings, count_threads(self.n_jobs)))

    def _learn_from(self, rows: Rows) -> None:
        names = self._columns(rows)
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
            rows = rows.only(self.screening_.kept)
        if stacked is None:
            recipe = recipe_of(self, names)
            dependence = rows.draw(recipe.groups.max_rows).dependence()
            self._learn_additive(rows, recipe, names)
        else:
            dependence = rows.dependence(bias_corrected=bias_corrected)
            self._learn_stacked(rows, dependence)
        self._keep_dependence(rows.names, dependence.matrix, dependence.relevance, relevance, names)

    def _learn_additive(self, rows: Rows, recipe: AdditiveRecipe, names: Sequence[str]) -> None:
        with progress(self.verbose) as tell:
            learnt = learn(rows, recipe, tell)
        self._take(with_attributes_as(learnt.model, names))
        self.hierarchy_, self.classes_ = self.model_.hierarchy, rows.facts.classes
        self.goal_ = self.model_.goal
        self.path_, self.selection_reason_ = learnt.choice.path, learnt.choice.reason
        self.clusters_ = learnt.clusters

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

    def _columns(self, rows: Rows) -> list[str]:
        """Name the columns in the order in which they came."""
        known = getattr(self, "feature_names_in_", None)
        return sorted(rows.names, key=_natural) if known is None else list(known)

    def _keep_dependence(
        self,
        kept: Sequence[str],
        matrix: Any,
        of_goal: Any,
        screened: Mapping[str, float] | None,
        names: Sequence[str],
    ) -> None:
        """Keep what is known of dependence, in the order in which the columns came."""
        place_of = {name: place for place, name in enumerate(kept)}
        there = [place for place, name in enumerate(names) if name in place_of]
        places = [place_of[names[place]] for place in there]
        self.dependence_ = np.full((len(names), len(names)), np.nan)
        self.dependence_[np.ix_(there, there)] = matrix[np.ix_(places, places)]
        self.relevance_ = np.full(len(names), np.nan)
        self.relevance_[there] = of_goal[places]
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


def _natural(name: str) -> tuple[str, int]:
    """Sort x2 before x10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)
