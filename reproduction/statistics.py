"""Wins, ranks and significance tests of several models over several data sets."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

if TYPE_CHECKING:
    from solah.kernels.arrays import Float

LEVEL = 0.05


@dataclass(frozen=True)
class Ranking:
    """Ranks and wins of models over data sets.

    Attributes
    ----------
    wins : on how many data sets each model is the best; a tie counts for each that shares it
    ranks : the mean rank of each model, 1 the best; a tie shares the mean of its ranks
    p_value : of Friedman's test that all models perform alike; None if there are too few models
        or data sets to test
    critical_difference : Nemenyi's: mean ranks that differ by less do not differ significantly,
        at the level of 0.05
    """

    wins: tuple[int, ...]
    ranks: tuple[float, ...]
    p_value: float | None
    critical_difference: float | None


def compare(scores: Float) -> Ranking:
    """Compare models by their scores.

    Parameters
    ----------
    scores : ndarray of shape (n_data_sets, n_models)
        Larger is better.

    Returns
    -------
    ranking : Ranking

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5], [0.9, 0.9, 0.1]])
    >>> ranking = compare(scores)
    >>> ranking.wins, [round(rank, 2) for rank in ranking.ranks]
    ((3, 1, 0), [1.17, 2.0, 2.83])
    """
    n_sets, n_models = scores.shape
    rounded = scores.round(9)  # means that differ by their rounding alone are equal
    ranks = rankdata(-rounded, axis=1)
    wins = (rounded == rounded.max(axis=1, keepdims=True)).sum(axis=0)
    testable = n_models > 2 and n_sets > 1 and bool((np.ptp(ranks, axis=1) > 0).any())
    p_value = float(friedmanchisquare(*rounded.T).pvalue) if testable else None
    return Ranking(
        tuple(int(n) for n in wins),
        tuple(float(rank) for rank in ranks.mean(axis=0)),
        p_value,
        _critical_difference(n_models, n_sets) if testable else None,
    )


def _critical_difference(n_models: int, n_sets: int) -> float:
    quantile = float(studentized_range.ppf(1 - LEVEL, n_models, np.inf)) / sqrt(2)
    return quantile * sqrt(n_models * (n_models + 1) / (6 * n_sets))
