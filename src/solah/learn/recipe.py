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
"""What may be lost at once."""


@dataclass(frozen=True)
class FixedRule:
    """A rule by hand, which is kept as it is while the rest is learned.

    Attributes
    ----------
    feature : the feature that it asks for
    word : one of its words or states
    scores : what the rule adds: evidence (log-odds) by class, for a number an amount
    is_pinned : whether it is marked in the document

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
    """The small boosted ensemble whose splits tell where the target changes.

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
    outermost : the share of rows beyond the outermost quantile, so that outliers move no word
    max_cuts : how many places are learned at the most
    window : cuts whose ranks differ by less are one
    least_share : a cut has at least this share of what all cuts of its feature gain
    ramp, ramp_of_few : the share of rows on either side of a cut to whom both words apply; the
        second where rows are fewer than ``few_rows``
    apart : blind knots that are nearer to a cut, in ranks, are left out
    max_features : with more features, those whose splits gain least are left out
    by_hand : the features whose words were given, and stay
    kept : the features, by name, whose words with cores are kept from another model
    boosting : how cuts are found
    """

    kind: WordKind = "auto"
    errors: float = 1.0
    n_knots: int = 7
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
        """Whether words stand where the target changes."""
        return self.kind in ("auto", "both", "supervised")


@dataclass(frozen=True)
class Strength:
    """How strongly scores are held back.

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
    least : how many products there are in any case
    tried : numbers of products that are compared out of fold
    max_pairs : how many different pairs there may be
    pairs : the pairs by name, where they are given
    together : sets of names; two features may be a pair if one set has both. None for any two
    errors : how many standard errors a number of products must gain to be taken
    max_boundaries, max_parts : at how many places each feature is parted into low and high, and
        all of them together; at least at ``least_boundaries``
    per_pair : how many products of the same two features there may be
    max_rows : about so many rows tell which products are best
    """

    least: int = 0
    tried: tuple[int, ...] = (2, 4, 8, 16, 32)
    max_pairs: int | None = None
    pairs: tuple[tuple[str, str], ...] | None = None
    together: tuple[frozenset[str], ...] | None = None
    errors: float = 1.5
    max_boundaries: int = 8
    least_boundaries: int = 3
    max_parts: int = 64
    per_pair: int = 16
    max_rows: int = 6_000

    def n_boundaries(self, n_features: int) -> int:
        """Return at how many places each of so many features is parted."""
        fair = self.max_parts // max(n_features, 1)
        return min(max(fair, self.least_boundaries), self.max_boundaries)

    def stages(self, n_products: int) -> list[int]:
        """Return the numbers of products on the way to one: each is chosen by what is left."""
        return [number for number in (self.least, *self.tried) if 0 < number <= n_products]

    def may_be(self, first: str, second: str) -> bool:
        """Tell whether two features may be a pair."""
        both = {first, second}
        is_given = self.pairs is None or any(both == set(pair) for pair in self.pairs)
        return is_given and (self.together is None or any(both <= one for one in self.together))


@dataclass(frozen=True)
class BudgetSettings:
    """How many rules and features a model may have.

    Attributes
    ----------
    max_rules : the most rules; None takes the fewest that rows cannot tell from the best
    max_features : the most features; None for any number
    costs : what features cost, by name; 1 where nothing is said
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
    tolerance: float = 0.01
    tolerance_of_loss: float = 0.1
    steps: tuple[int, ...] = (200, 150, 110, 80, 60, 45, 34, 25, 20, 14, 10, 7, 5, 3, 0)


@dataclass(frozen=True)
class GroupSettings:
    """Which features are added up first.

    Attributes
    ----------
    n_clusters : the paper's k: the larger, the smaller the groups; None for none
    by_hand : groups that were given: their names, None for one without, and their members
    max_rows : so many rows tell how features depend on each other
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
    words, interactions, budget, groups : what to settle
    monotonic : the features along which scores go one way only
    rules : rules by hand, with a score for each output
    strengths : what is compared out of fold; one alone is taken
    n_folds, n_folds_of_many : the folds to compare on; the second from ``many_rows`` rows on
    many_rows : so many rows tell settings apart with fewer folds
    max_rows : a sample of so many different rows settles words and rules
    compared_rows : so many of them are enough to compare strengths, pairs and numbers of rules
    least_tested : so many rows that no choice has seen are enough to measure it on
    max_numbers : the sample is smaller where its memberships would be more numbers
    missing_statistic : how far a missing reading must move the target to get a rule of its own
    robust_to : what may be lost when a model decides, so that scores are fitted to that, too
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

    def with_words(self, kind: WordKind) -> AdditiveRecipe:
        """Return the recipe with another kind of words."""
        return replace(self, words=replace(self.words, kind=kind))

    def losing(self, part: Part) -> AdditiveRecipe:
        """Return the recipe of a model that may lose readings: missing ones then tell nothing."""
        return replace(self, robust_to=part, missing_statistic=math.inf)

    def most_rows(self, n_features: int) -> int:
        """Return how many different rows the sample may have."""
        width = min(n_features, self.words.max_features) * (
            self.words.n_knots + 2 * self.words.max_cuts
        )
        return min(self.max_rows, max(self.max_numbers // max(width, 1), 2_000))
