"""Compute the sums of many pairs of coded columns, on threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from solah.dependence.sums import PairSums
from solah.kernels.coded import N_SUMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded

Progress: TypeAlias = "Callable[[int, int], object]"

_PAIRS_AT_ONCE = 16
_S = TypeVar("_S")
_T = TypeVar("_T")


def sums_of_pairs(
    columns: Sequence[Coded],
    pairs: Sequence[tuple[int, int]],
    weights: Int64 | None,
    n_threads: int,
    on_progress: Progress | None = None,
) -> Float:
    """Sum up pairs of columns, ``(n_pairs, 9)``; tell ``on_progress`` how many are done."""
    pair_sums = PairSums(dict(enumerate(columns)), weights)
    numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    sums = np.empty((len(pairs), N_SUMS))

    def work(start: int) -> int:
        stop = min(start + _PAIRS_AT_ONCE, len(pairs))
        sums[start:stop] = pair_sums.of(*numbers[start:stop].T)
        return stop

    for done in map_threads(work, range(0, len(pairs), _PAIRS_AT_ONCE), n_threads):
        if on_progress is not None:
            on_progress(done, len(pairs))
    return sums


def map_threads(work: Callable[[_S], _T], items: Iterable[_S], n_threads: int) -> Iterator[_T]:
    """Map over items on threads; results keep their order."""
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, items)
