"""Map work over threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_S = TypeVar("_S")
_T = TypeVar("_T")


def map_threads(work: Callable[[_S], _T], items: Iterable[_S], n_threads: int) -> Iterator[_T]:
    """Map over items on threads; results keep their order."""
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, items)
