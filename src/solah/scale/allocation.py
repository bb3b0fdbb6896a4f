"""Keep freed memory for the next array while a pass runs.

Dask tells the C library of its workers to give freed memory back to the system at once, so that
they look small. A pass makes and frees an array for every column of every table, and each would be
fetched from the system again, which takes as long as the work itself. So it is kept during a pass,
and given back after it.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# From glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_KEPT = 2**25
_MOST_KEPT = 2**28


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed memory for a while, where the C library can be told to."""
    library = _glibc()
    if library is None:
        yield
        return
    library.mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
    library.mallopt(_TRIM_THRESHOLD, _MOST_KEPT)
    try:
        yield
    finally:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library if it is GNU's."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # as on Windows
        return None
    known = ("gnu_get_libc_version", "mallopt", "malloc_trim")
    return library if all(hasattr(library, name) for name in known) else None
