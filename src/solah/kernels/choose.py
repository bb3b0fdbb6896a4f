"""Choose the kernel, and spread rows over threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar, cast

from solah.exceptions import ParameterError
from solah.kernels import native, reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.kernels.arrays import Kernel

_T = TypeVar("_T")


def kernel() -> Kernel:
    """Return the kernel in use: native where it was compiled, else NumPy.

    The environment variable ``SOLAH_KERNEL`` (``native`` or ``reference``) decides otherwise.
    """
    return cast("Kernel", native if native.is_used() else reference)


def available_threads() -> int:
    """Count the processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_threads(n_jobs: int | None) -> int:
    """Read scikit-learn's ``n_jobs``: None is one thread, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParameterError("'n_jobs' must not be 0; None is one thread, -1 all of them")
    return n_jobs if n_jobs > 0 else max(1, available_threads() + 1 + n_jobs)


def map_slices(work: Callable[[slice], _T], n_rows: int, n_threads: int) -> list[_T]:
    """Call ``work`` on slices that cover the rows, one a thread; results keep their order."""
    n_slices = max(1, min(n_threads, n_rows))
    bounds = [n_rows * i // n_slices for i in range(n_slices + 1)]
    slices = [slice(start, stop) for start, stop in pairwise(bounds)]
    if n_slices == 1:
        return [work(slices[0])]
    with ThreadPoolExecutor(n_slices) as pool:
        return list(pool.map(work, slices))
