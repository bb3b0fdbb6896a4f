"""Ranks pairs of attributes by what they could add to the words of single attributes.

Every attribute is parted into low and high at a few places. The score statistic of a product of two
high parts, each less its mean, tells how much of what is left unexplained it would explain (as the
FAST of Lou et al. does for boosted trees).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.learn.terms import PairTerm, high_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.recipe import InteractionSettings
    from solah.learn.terms import SingleTerm

# Parts with a smaller share of the rows tell nothing of an interaction.
_LEAST_PART = 0.03


class _Part(NamedTuple):
    term: int
    boundary: int
    values: Float


def rank_pairs(
    terms: Sequence[SingleTerm],
    memberships: Sequence[Float],
    means: Sequence[Float],
    weights: Float,
    slope: Float,
    bend: Float,
    settings: InteractionSettings,
) -> list[PairTerm]:
    """Rank pairs, those first that explain most.

    Parameters
    ----------
    terms : the single terms
    memberships, means : of each, those of all rows and their means
    weights : (n_rows,) what rows weigh
    slope, bend : (n_rows, n_outputs) how the loss of rows grows with their totals, and bends
    settings : InteractionSettings
    """
    parts = [
        part
        for number, term in enumerate(terms)
        for part in _parts(number, term, memberships[number], means[number], weights, settings)
    ]
    if len(parts) < 2:
        return []
    high = np.column_stack([part.values for part in parts])
    statistic = np.zeros((len(parts), len(parts)))
    for of_slope, of_bend in zip(slope.T, bend.T, strict=True):
        score = high.T @ (high * (weights * of_slope)[:, None])
        spread = (high**2).T @ (high**2 * (weights * of_bend)[:, None])
        statistic += score**2 / (spread + 1.0)
    chosen = []
    given = None if settings.pairs is None else {frozenset(pair) for pair in settings.pairs}
    counts: dict[tuple[int, int], int] = {}
    first, second = np.triu_indices(len(parts), 1)
    order = np.argsort(-statistic[first, second], kind="stable")
    for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
        one, other = parts[i], parts[j]
        key = (one.term, other.term)
        if one.term == other.term or counts.get(key, 0) >= settings.per_pair:
            continue
        low, top = terms[one.term], terms[other.term]
        names = frozenset((low.vocabulary.attribute.name, top.vocabulary.attribute.name))
        if given is not None and names not in given:
            continue
        counts[key] = counts.get(key, 0) + 1
        chosen.append(PairTerm(low, top, (one.boundary, other.boundary)))
    return chosen


def _parts(
    number: int,
    term: SingleTerm,
    masses: Float,
    mean: Float,
    weights: Float,
    settings: InteractionSettings,
) -> Iterator[_Part]:
    """Part an attribute at its strongest cuts, then at even shares of the rows."""
    vocabulary = term.vocabulary
    known = np.nan_to_num(masses)
    shares = weights @ known / max(float(weights @ known.sum(axis=1)), 1e-300)
    if vocabulary.is_ordered:
        below = np.cumsum(shares)[:-1]
        wanted = [at for at, _ in sorted(vocabulary.cuts, key=lambda cut: (-cut[1], cut[0]))]
        even = np.arange(1, settings.n_boundaries + 1) / (settings.n_boundaries + 1)
        wanted += [int(np.argmin(np.abs(below - share))) for share in even]
        sizes = np.minimum(below, 1.0 - below)
    else:
        wanted = np.argsort(-shares, kind="stable").tolist()
        sizes = np.minimum(shares, 1.0 - shares)
        if vocabulary.size == 2:
            wanted = wanted[1:]
    wanted = [at for at in dict.fromkeys(wanted) if sizes[at] >= _LEAST_PART]
    for boundary in wanted[: settings.n_boundaries]:
        yield _Part(number, boundary, high_part(vocabulary, boundary, masses, mean))
