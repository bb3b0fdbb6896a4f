"""Every setting of the additive model, nested and frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

WordKind = Literal["auto", "learnt", "quantile", "uniform"]
WORD_KINDS: tuple[WordKind, ...] = ("auto", "learnt", "quantile", "uniform")


@dataclass(frozen=True)
class BoostingSettings:
    """The small boosted ensemble whose splits tell where the goal changes.

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
    """Where the words of continuous attributes are placed.

    Attributes
    ----------
    kind : ``"quantile"`` and ``"uniform"`` place them blindly, ``"learnt"`` where the goal
        changes; ``"auto"`` offers learnt and quantile ones together
    n_knots : how many are placed blindly
    outermost : the share of rows beyond the outermost quantile, so that outliers move no word
    max_cuts : how many places are learnt at the most
    window : cuts whose ranks differ by less are one
    least_share : a cut has at least this share of what all cuts of its attribute gain
    ramp, ramp_of_few : the share of rows on either side of a cut to whom both words apply; the
        second where rows are fewer than ``few_rows``
    apart : blind knots that are nearer to a cut, in ranks, are left out
    max_attributes : with more attributes, those whose splits gain least are left out
    by_hand : the attributes whose words were given, and stay
    boosting : how cuts are found
    """

    kind: WordKind = "auto"
    n_knots: int = 5
    outermost: float = 0.02
    max_cuts: int = 4
    window: float = 0.02
    least_share: float = 0.03
    ramp: float = 0.02
    ramp_of_few: float = 0.05
    few_rows: int = 1_500
    apart: float = 0.04
    max_attributes: int = 64
    by_hand: frozenset[str] = frozenset()
    boosting: BoostingSettings = BoostingSettings()


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
        """The price of the square of an interaction."""
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
    """Which pairs of attributes get rules of two conditions.

    Attributes
    ----------
    n_pairs : how many; None compares those of ``tried`` out of fold
    pairs : the pairs by name, where they are given
    tried : numbers of pairs that are compared
    errors : how many standard errors a number of pairs must gain to be taken
    n_boundaries : at how many places each attribute is parted into low and high
    per_pair : how often the same two attributes may be paired
    """

    n_pairs: int | None = None
    pairs: tuple[tuple[str, str], ...] | None = None
    tried: tuple[int, ...] = (2, 4, 8, 16)
    errors: float = 1.5
    n_boundaries: int = 3
    per_pair: int = 2


@dataclass(frozen=True)
class BudgetSettings:
    """How many rules and attributes a model may have.

    Attributes
    ----------
    max_rules : the most rules; None takes the fewest that rows cannot tell from the best
    max_attributes : the most attributes; None for any number
    costs : what attributes cost, by name; 1 where nothing is said
    errors : how many standard errors fewer rules may lose
    tolerance : the share of what is explained that fewer rules may lose in any case
    steps : the numbers of rules that are compared
    """

    max_rules: int | None = None
    max_attributes: int | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
    errors: float = 1.0
    tolerance: float = 0.005
    steps: tuple[int, ...] = (200, 150, 110, 80, 60, 45, 34, 25, 20, 14, 10, 7, 5, 3)


@dataclass(frozen=True)
class GroupSettings:
    """Which attributes are added up first.

    Attributes
    ----------
    n_clusters : the paper's k: the larger, the smaller the groups; None for none
    by_hand : groups that were given: their names, None for one without, and their members
    max_rows : so many rows tell how attributes depend on each other
    """

    n_clusters: int | None = 2
    by_hand: tuple[tuple[str | None, tuple[str, ...]], ...] | None = None
    max_rows: int = 2_000


@dataclass(frozen=True)
class AdditiveRecipe:
    """How an additive model of word memberships is learnt.

    Attributes
    ----------
    words, interactions, budget, groups : what to settle
    strengths : what is compared out of fold; one alone is taken
    n_folds, n_folds_of_many : the folds to compare on; the second from ``many_rows`` rows on
    many_rows : so many rows tell settings apart with fewer folds
    max_rows : a sample of so many different rows settles words and rules
    compared_rows : so many of them are enough to compare strengths, pairs and numbers of rules
    max_numbers : the sample is smaller where its memberships would be more numbers
    missing_statistic : how far a missing reading must move the goal to get a rule of its own
    """

    words: WordSettings = WordSettings()
    interactions: InteractionSettings = InteractionSettings()
    budget: BudgetSettings = BudgetSettings()
    groups: GroupSettings = GroupSettings()
    strengths: tuple[Strength, ...] = STRENGTHS
    n_folds: int = 5
    n_folds_of_many: int = 3
    many_rows: int = 1_500
    max_rows: int = 20_000
    compared_rows: int = 6_000
    max_numbers: int = 8_000_000
    missing_statistic: float = 12.0

    def most_rows(self, n_attributes: int) -> int:
        """Return how many different rows the sample may have."""
        width = min(n_attributes, self.words.max_attributes) * (
            self.words.n_knots + 2 * self.words.max_cuts
        )
        return min(self.max_rows, max(self.max_numbers // max(width, 1), 2_000))
