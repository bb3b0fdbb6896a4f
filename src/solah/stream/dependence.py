"""Test whether the dependences of new rows differ from those of the rows learnt from.

A hierarchy is organised by the distance correlations of the attributes with each other and with the
goal, so when these move, another hierarchy may be due even before errors tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from solah.data import settle
from solah.dependence import TableColumns, dependence_of, relevance_of
from solah.exceptions import DataError
from solah.stream.values import as_goal, as_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import Column, Declared, Kind, Table
    from solah.kernels.arrays import Float
    from solah.stream.reservoir import KeptRow

_MOST_ROWS = 500
_MOST_ATTRIBUTES = 16
# After so many random divisions, a change that is so many standard deviations above what they show
# is certain: none of the others would be as large, but for one look in 500. (The largest of many
# changes has about the tail of Gumbel's distribution.)
_FEWEST_SHUFFLES, _CERTAIN = 19, 8.0


@dataclass(frozen=True)
class Shift:
    """A dependence that has moved.

    Attributes
    ----------
    between : the two columns
    before, after : their distance correlation
    """

    between: tuple[str, str]
    before: float
    after: float

    def __str__(self) -> str:
        first, second = self.between
        return (
            f"the dependence of {first} and {second} has moved from {self.before:.2f} "
            f"to {self.after:.2f}"
        )


@dataclass(frozen=True, eq=False)
class _Settled:
    table: Table
    kinds: tuple[Kind, ...]
    goal: Column


def find_shift(
    before: Sequence[KeptRow],
    after: Sequence[KeptRow],
    like: Sequence[Column],
    goal_name: str,
    *,
    kinds: Declared | None = None,
    n_shuffles: int = 99,
    seed: int = 0,
) -> Shift | None:
    """Find the dependence that has moved most, if more than chance explains.

    Of either side the last 500 rows are compared, and the 16 attributes that tell most about the
    goal. The largest change of a distance correlation is compared with the largest change between
    two random parts of the same rows, ``n_shuffles`` times: it is a shift only where it is larger
    than in all of them. So a stationary stream has a false alarm with a chance of at most
    ``1 / (n_shuffles + 1)``: 1 % a check. Shuffling ends with the first that is as large, and when
    none of those left could be, so that few checks cost all of them.

    Parameters
    ----------
    before, after : sequence of KeptRow
    like : sequence of Column
        The attributes.
    goal_name : str
    kinds : mapping, default=None
        Attributes that are not what they seem.
    n_shuffles : int, default=99
    seed : int, default=0

    Returns
    -------
    shift : Shift or None
    """
    before, after = list(before)[-_MOST_ROWS:], list(after)[-_MOST_ROWS:]
    n_before, n_all = len(before), len(before) + len(after)
    try:
        pooled = _most_telling(_settled([*before, *after], like, goal_name, kinds))
    except DataError:
        return None  # such rows cannot be learnt from either, and a new fit will say why
    order = np.arange(n_all)
    old, new = _correlations(pooled, order[:n_before]), _correlations(pooled, order[n_before:])
    largest = np.abs(new - old).max()
    rng = np.random.default_rng(seed)
    by_chance: list[float] = []
    while len(by_chance) < n_shuffles and not _is_certain(largest, by_chance):
        order = rng.permutation(n_all)
        first = _correlations(pooled, order[:n_before])
        second = _correlations(pooled, order[n_before:])
        by_chance.append(float(np.abs(second - first).max()))
        if by_chance[-1] >= largest:
            return None
    moved = int(np.abs(new - old).argmax())
    return Shift(_pairs(pooled)[moved], float(old[moved]), float(new[moved]))


def _is_certain(largest: float, by_chance: Sequence[float]) -> bool:
    """Tell whether no other random division would show as large a change."""
    if len(by_chance) < _FEWEST_SHUFFLES:
        return False
    return bool(largest > np.mean(by_chance) + _CERTAIN * np.std(by_chance))


def _settled(
    rows: Sequence[KeptRow], like: Sequence[Column], goal_name: str, kinds: Declared | None
) -> _Settled:
    table, settled = settle(as_table([row.readings for row in rows], like), kinds)
    return _Settled(table, settled, as_goal(goal_name, [row.label for row in rows]))


def _most_telling(pooled: _Settled) -> _Settled:
    """Keep the attributes that depend most on the goal: pairs are many, and each takes time."""
    if len(pooled.kinds) <= _MOST_ATTRIBUTES:
        return pooled
    found = relevance_of(
        TableColumns.of(pooled.table, pooled.kinds, pooled.goal.values, nominal_goal=True)
    )
    best = np.sort(np.argsort(-found, kind="stable")[:_MOST_ATTRIBUTES])
    table = pooled.table.select([pooled.table.names[place] for place in best])
    return _Settled(table, tuple(pooled.kinds[place] for place in best), pooled.goal)


def _correlations(pooled: _Settled, places: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Float:
    """Return the distance correlations of all pairs of attributes, then those with the goal."""
    table, goal = pooled.table.take(places), pooled.goal.values[places]
    found = dependence_of(TableColumns.of(table, pooled.kinds, goal, nominal_goal=True))
    return np.concatenate([found.matrix[np.triu_indices(len(found.names), 1)], found.relevance])


def _pairs(pooled: _Settled) -> list[tuple[str, str]]:
    names = pooled.table.names
    return [*combinations(names, 2), *((name, pooled.goal.name) for name in names)]
