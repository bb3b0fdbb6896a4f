"""What the benchmarks share."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least of several wall-clock times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def print_growth(what: str, sizes: Sequence[int], times: Sequence[float]) -> None:
    """Print by how much the time grows from size to size."""
    steps = [f"{later / earlier:.2f}" for earlier, later in pairwise(times)]
    print(f"  {what:<11}{' -> '.join(f'{size:,}' for size in sizes):<34}{' and '.join(steps)}")
