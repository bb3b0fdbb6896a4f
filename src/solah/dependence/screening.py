"""Choose the features that depend most on the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Dependences that differ by less are equal: rounding must not choose between features.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Screening:
    """Which features are kept, and which are dropped.

    Attributes
    ----------
    kept : names of the features that are kept, in their order
    places : their places among all features
    least_kept : the smallest dependence on the target among them
    left_out : names of the others, the most dependent first
    left_out_relevance : how far each of those depends on the target
    """

    kept: tuple[str, ...]
    places: tuple[int, ...]
    least_kept: float
    left_out: tuple[str, ...]
    left_out_relevance: tuple[float, ...]

    def __str__(self) -> str:
        n_all = len(self.kept) + len(self.left_out)
        if not self.left_out:
            return f"all {n_all:,} features are kept; the least dependence is {self.least_kept:.3f}"
        return (
            f"{len(self.kept):,} of {n_all:,} features are kept, down to a dependence on the "
            f"target of {self.least_kept:.3f}; the next is {self.left_out[0]!r} "
            f"({self.left_out_relevance[0]:.3f})"
        )


def screen_features(
    relevance: Sequence[float], names: Sequence[str], keep: int | float
) -> Screening:
    """Choose the features that depend on the target most.

    Parameters
    ----------
    relevance : sequence of float
        How far each feature depends on the target.
    names : sequence of str
        The features' names.
    keep : int or float
        A whole number is how many features to keep, all where there are no more; of equally
        dependent ones, the first. A float is the least dependence of those to keep.

    Raises
    ------
    ParameterError
        If ``keep`` makes no sense, or if nothing depends on the target that much.

    Examples
    --------
    >>> found = screen_features([0.2, 0.7, 0.1, 0.7], ["a", "b", "c", "d"], 3)
    >>> found.kept, found.left_out
    (('a', 'b', 'd'), ('c',))
    >>> print(screen_features([0.2, 0.7, 0.1, 0.7], ["a", "b", "c", "d"], 0.5))
    2 of 4 features are kept, down to a dependence on the target of 0.700; the next is 'a' (0.200)
    """
    _check(relevance, names)
    ranked = sorted(range(len(names)), key=lambda at: -round(relevance[at] / _ROUNDING))
    n_kept = _count(keep, [relevance[at] for at in ranked], names[ranked[0]])
    places, others = sorted(ranked[:n_kept]), ranked[n_kept:]
    return Screening(
        kept=tuple(names[at] for at in places),
        places=tuple(places),
        least_kept=float(min(relevance[at] for at in places)),
        left_out=tuple(names[at] for at in others),
        left_out_relevance=tuple(float(relevance[at]) for at in others),
    )


def _check(relevance: Sequence[float], names: Sequence[str]) -> None:
    if len(relevance) != len(names) or not len(names):
        raise ParameterError(
            f"'relevance' must have one number for each of at least one feature. "
            f"Got {len(relevance)} for {len(names)} names."
        )
    for value, name in zip(relevance, names, strict=True):
        if not math.isfinite(value):
            raise ParameterError(f"the relevance of {name!r} must be a number. Got {value!r}.")


def _count(keep: int | float, ranked: Sequence[float], most_dependent: str) -> int:
    """Return how many features to keep of those that come most dependent first."""
    if isinstance(keep, Integral) and not isinstance(keep, bool) and keep >= 1:
        return min(int(keep), len(ranked))
    if isinstance(keep, Integral) or not isinstance(keep, Real) or not -1.0 <= keep <= 1.0:
        raise ParameterError(
            f"'keep' must be a whole number of features, 1 or more, or a float from -1 to 1, "
            f"the least dependence on the target. Got {keep!r}."
        )
    n_kept = sum(value >= keep - _ROUNDING for value in ranked)
    if n_kept == 0:
        raise ParameterError(
            f"no feature depends on the target by {keep!r} or more; {most_dependent!r} does most, "
            f"by {ranked[0]:.3f}: take a smaller 'keep', or a number of features"
        )
    return n_kept
