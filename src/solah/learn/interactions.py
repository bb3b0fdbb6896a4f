"""Ranks products of attributes by what they could add to the words of single attributes.

Every attribute is parted into low and high at a few places. The score statistic of a product of two
high parts, each less its mean, tells how much of what is left unexplained it would explain (as the
FAST of Lou et al. does for boosted trees).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.learn.terms import high_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.kernels.arrays import Float
    from solah.learn.terms import SingleTerm

# Parts with a smaller share of the rows tell nothing of an interaction.
_LEAST_PART = 0.03


class Part(NamedTuple):
    """The high part of an attribute.

    Attributes
    ----------
    term : the number of the attribute's single term
    boundary : where it is parted
    values : (n_rows,) how far readings are in the high part, less the mean
    """

    term: int
    boundary: int
    values: Float


class Product(NamedTuple):
    """Two attributes by the numbers of their single terms, and where both are parted."""

    terms: tuple[int, int]
    boundaries: tuple[int, int]


def parts_of(
    terms: Sequence[SingleTerm],
    memberships: Sequence[Float],
    means: Sequence[Float],
    weights: Float,
    n_boundaries: int,
) -> list[Part]:
    """Part every attribute at its strongest cuts, then at even shares of the rows."""
    return [
        part
        for number, term in enumerate(terms)
        for part in _parts(number, term, memberships[number], means[number], weights, n_boundaries)
    ]


def rank_products(
    parts: Sequence[Part], weights: Float, slope: Float, bend: Float
) -> Iterator[Product]:
    """Rank products of parts, those first that explain most.

    Parameters
    ----------
    parts : those of all attributes
    weights : (n_rows,) what rows weigh
    slope, bend : (n_rows, n_outputs) how the loss of rows grows with their totals, and bends
    """
    if len(parts) < 2:
        return
    high = np.column_stack([part.values for part in parts])
    statistic = np.zeros((len(parts), len(parts)))
    for of_slope, of_bend in zip(slope.T, bend.T, strict=True):
        score = high.T @ (high * (weights * of_slope)[:, None])
        spread = (high**2).T @ (high**2 * (weights * of_bend)[:, None])
        statistic += score**2 / (spread + 1.0)
    first, second = np.triu_indices(len(parts), 1)
    order = np.argsort(-statistic[first, second], kind="stable")
    for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
        one, other = parts[i], parts[j]
        if one.term != other.term:
            yield Product((one.term, other.term), (one.boundary, other.boundary))


def _parts(
    number: int,
    term: SingleTerm,
    masses: Float,
    mean: Float,
    weights: Float,
    n_boundaries: int,
) -> Iterator[Part]:
    vocabulary = term.vocabulary
    known = np.nan_to_num(masses)
    shares = weights @ known / max(float(weights @ known.sum(axis=1)), 1e-300)
    if vocabulary.is_ordered:
        below = np.cumsum(shares)[:-1]
        wanted = [at for at, _ in sorted(vocabulary.cuts, key=lambda cut: (-cut[1], cut[0]))]
        even = np.arange(1, n_boundaries + 1) / (n_boundaries + 1)
        wanted += [int(np.argmin(np.abs(below - share))) for share in even]
        sizes = np.minimum(below, 1.0 - below)
    else:
        wanted = np.argsort(-shares, kind="stable").tolist()
        sizes = np.minimum(shares, 1.0 - shares)
        if vocabulary.size == 2:
            wanted = wanted[1:]
    wanted = [at for at in dict.fromkeys(wanted) if sizes[at] >= _LEAST_PART]
    for boundary in wanted[:n_boundaries]:
        yield Part(number, boundary, high_part(vocabulary, boundary, masses, mean))
