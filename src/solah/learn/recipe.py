"""Every setting of the additive model, nested and frozen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.model import Feature, Monotonic

WordKind = Literal["auto", "both", "supervised", "quantile", "uniform"]
WORD_KINDS: tuple[WordKind, ...] = ("auto", "supervised", "quantile", "uniform")
"""Those that users may ask for."""

Part = Literal["groups", "features"]
"""What may be missing at once."""


@dataclass(frozen=True)
class FixedRule:
    """A user-defined rule, which stays as it is while the rest is trained.

    Attributes
    ----------
    feature : the feature of its condition
    word : one of the feature's words or categories
    scores : the weights (log-odds) by class, or the amount added to a number
    is_pinned : whether the model file marks it as fixed

    Examples
    --------
    >>> FixedRule("smoke", "high", {"alarm": 3.0})
    FixedRule(feature='smoke', word='high', scores={'alarm': 3.0}, is_pinned=True)
    """

    feature: str
    word: Any
    scores: Mapping[Any, float] | Sequence[float] | float
    is_pinned: bool = True


@dataclass(frozen=True)
class BoostingSettings:
    """The small boosted ensemble whose splits show where the target changes.

    Attributes
    ----------
    n_rounds, n_leaves, rate, ridge : as boosting has them
    least_rows : the fewest rows on either side of a split
    n_bins : the most bins of a column
    """

    n_rounds: int = 60
    n_leaves: int = 4
    rate: float = 0.2
    ridge: float = 1.0
    least_rows: float = 5.0
    n_bins: int = 128


@dataclass(frozen=True)
class WordSettings:
    """Where the words of continuous features are placed.

    Attributes
    ----------
    kind : ``"quantile"`` and ``"uniform"`` place them blindly, ``"supervised"`` where the target
        changes, ``"both"`` at quantiles too; ``"auto"`` compares ``"both"`` with ``"quantile"``
    errors : how many standard errors learned words must gain to be taken
    n_knots : how many are placed blindly
    few_knots : of few rows, as many are compared with ``n_knots``
    compared_rules : the numbers of rules to which models of few and of many words are reduced
    outermost : the share of rows beyond the outermost quantile, so that outliers move no word
    max_cuts : how many places are learned, at most
    window : cuts whose ranks differ by less are one
    least_share : a cut has at least this share of what all cuts of its feature gain
    ramp, ramp_of_few : the share of rows on either side of a cut to whom both words apply; the
        second where rows are fewer than ``few_rows``
    apart : blind knots that are nearer to a cut, in ranks, are dropped
    max_features : with more features, those whose splits gain least are dropped
    by_hand : the features with user-defined words
    kept : the features, by name, whose words with cores are kept from another model
    boosting : how cuts are found
    """

    kind: WordKind = "auto"
    errors: float = 1.0
    n_knots: int = 7
    few_knots: int = 3
    compared_rules: tuple[int, ...] = (60, 34, 20)
    outermost: float = 0.02
    max_cuts: int = 4
    window: float = 0.02
    least_share: float = 0.03
    ramp: float = 0.02
    ramp_of_few: float = 0.05
    few_rows: int = 1_500
    apart: float = 0.04
    max_features: int = 64
    by_hand: frozenset[str] = frozenset()
    kept: Mapping[str, Feature] = field(default_factory=dict)
    boosting: BoostingSettings = BoostingSettings()

    @property
    def is_learned(self) -> bool:
        """Whether words are placed where the target changes."""
        return self.kind in ("auto", "both", "supervised")


@dataclass(frozen=True)
class Strength:
    """How strongly weights are penalised.

    Attributes
    ----------
    ridge : the price of a score's square
    smooth : the price of the squared difference of neighbouring words
    """

    ridge: float
    smooth: float

    @property
    def of_pair(self) -> float:
        """The price of the square of a product's score."""
        return 3 * self.ridge + 0.15

    @property
    def of_cell(self) -> float:
        """The price of the square of what a cell of a pair adds."""
        return self.ridge + 0.1


STRENGTHS = (
    Strength(20.0, 25.0),
    Strength(8.0, 12.0),
    Strength(3.0, 5.0),
    Strength(1.2, 2.5),
    Strength(0.4, 1.2),
    Strength(0.15, 0.4),
    Strength(0.05, 0.1),
)
"""From cautious to bold, in rows."""


@dataclass(frozen=True)
class InteractionSettings:
    """Which pairs of features get rules of two conditions.

    Attributes
    ----------
    least : how many pairs there are in any case
    tried : numbers of pairs that are compared by cross-validation
    pairs : the pairs by name, where they are given
    together : sets of names; two features may be a pair if one set has both. None for any two
    errors : how many standard errors a number of pairs must gain to be taken
    n_parts, n_fine_parts : the maximum number of parts of a feature in a pair, and in the
        ``n_fine`` best pairs
    ranked_parts : the number of parts of all features together where pairs are ranked; each has
        at least 3
    max_products : the maximum number of products of all pairs; each has a parameter
    max_rows : about this many rows rank the pairs
    """

    least: int = 0
    tried: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    pairs: tuple[tuple[str, str], ...] | None = None
    together: tuple[frozenset[str], ...] | None = None
    errors: float = 1.5
    n_parts: int = 5
    n_fine_parts: int = 8
    n_fine: int = 4
    ranked_parts: int = 128
    max_products: int = 640
    max_rows: int = 6_000

    def n_ranked_parts(self, n_features: int) -> int:
        """Return the number of parts of each of ``n_features`` features where pairs are ranked."""
        return min(max(self.ranked_parts // max(n_features, 1), 3), self.n_fine_parts)

    def stages(self, n_pairs: int) -> list[int]:
        """Return the numbers of pairs on the way to one: each is chosen by what is left."""
        return [number for number in (self.least, *self.tried) if 0 < number <= n_pairs]

    def may_be(self, first: str, second: str) -> bool:
        """Whether two features may interact."""
        both = {first, second}
        is_given = self.pairs is None or any(both == set(pair) for pair in self.pairs)
        return is_given and (self.together is None or any(both <= one for one in self.together))


@dataclass(frozen=True)
class BudgetSettings:
    """How many rules and features a model may have.

    Attributes
    ----------
    max_rules : the maximum number of rules; None takes the fewest within tolerance of the best
    max_features : the maximum number of features; None for any number
    costs : what features cost, by name; 1 by default
    required : the features that stay, with two rules at least
    errors : how many standard errors fewer rules may lose
    errors_of_any : how many standard errors rules must gain for there to be any
    tolerance, tolerance_of_loss : the share of what is explained, and of the loss that is left,
        that fewer rules may lose in any case; the smaller counts
    steps : the numbers of rules that are compared
    """

    max_rules: int | None = None
    max_features: int | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    errors: float = 0.5
    errors_of_any: float = 2.0
    tolerance: float = 0.005
    tolerance_of_loss: float = 0.1
    steps: tuple[int, ...] = (200, 150, 110, 80, 60, 45, 34, 25, 20, 14, 10, 7, 5, 3, 0)


@dataclass(frozen=True)
class GroupSettings:
    """Which features are summed first.

    Attributes
    ----------
    n_clusters : the paper's k: the larger, the smaller the groups; None for none
    by_hand : user-defined groups: their names, None for one without, and their features
    max_rows : the number of rows that dependence is measured on
    max_columns : with more columns, the dependence of those that rules use is measured alone
    """

    n_clusters: int | None = 2
    by_hand: tuple[tuple[str | None, tuple[str, ...]], ...] | None = None
    max_rows: int = 2_000
    max_columns: int = 256


@dataclass(frozen=True)
class AdditiveRecipe:
    """How an additive model of word memberships is learned.

    Attributes
    ----------
    words, interactions, budget, groups : the settings of each choice
    monotonic : the features along which scores only rise or only fall
    rules : user-defined rules, with a weight for each output
    strengths : the penalties compared by cross-validation; a single one is taken
    n_folds, n_folds_of_many : the folds to compare on; the second from ``many_rows`` rows on
    many_rows : from this many rows on, fewer folds are enough to compare settings
    max_rows : the size of the sample of distinct rows that words and rules are selected on
    compared_rows : how many of them strengths, pairs and numbers of rules are compared on
    least_tested : how many rows are held out from all choices, to measure the result
    max_numbers : the maximum number of memberships in the sample
    missing_statistic : how far a missing value must move the target to get a rule of its own
    robust_to : what may be missing when the model predicts, so that weights are fitted to that, too
    """

    words: WordSettings = WordSettings()
    interactions: InteractionSettings = InteractionSettings()
    budget: BudgetSettings = BudgetSettings()
    groups: GroupSettings = GroupSettings()
    monotonic: tuple[Monotonic, ...] = ()
    rules: tuple[FixedRule, ...] = ()
    strengths: tuple[Strength, ...] = STRENGTHS
    n_folds: int = 5
    n_folds_of_many: int = 3
    many_rows: int = 3_000
    max_rows: int = 20_000
    compared_rows: int = 6_000
    least_tested: int = 1_000
    max_numbers: int = 8_000_000
    missing_statistic: float = 12.0
    robust_to: Part | None = None

    def with_words(self, kind: WordKind, n_words: int) -> AdditiveRecipe:
        """Return the recipe with a kind of words, and a number of words that are placed blindly."""
        return replace(self, words=replace(self.words, kind=kind, n_knots=n_words))

    def losing(self, part: Part) -> AdditiveRecipe:
        """Return the recipe of a model that values may be missing from, without missing rules."""
        return replace(self, robust_to=part, missing_statistic=math.inf)

    def most_rows(self, n_features: int) -> int:
        """Return the maximum number of distinct rows in the sample."""
        width = min(n_features, self.words.max_features) * (
            self.words.n_knots + 2 * self.words.max_cuts
        )
        return min(self.max_rows, max(self.max_numbers // max(width, 1), 2_000))
