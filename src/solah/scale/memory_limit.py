"""Limits of memory: how many rows are read at a time, and how large the sample is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError
from solah.scale.sources import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_PREFIXES = "kmgt"
_STATM = Path("/proc/self/statm")
_PAGE = 4096
_WITHOUT_SIGHT = 220 * 2**20
# What reading takes beside batches: pages of each column, and what Arrow and NumPy keep of them.
_READING, _BYTES_A_COLUMN = 24 * 2**20, 2 * 2**20
_BYTES_A_VALUE = 96  # in a batch: as it is read, as a number, its digest or its label
_BYTES_DRAWN = 8 * 5  # of a value in the sample: held, joined with new rows, and described
# Choosing takes this beside its rows: SciPy's optimizers, and copies of a membership. Settings are
# compared on a part of the rows, whose memberships have more copies.
_CHOOSING, _BYTES_A_MEMBERSHIP, _BYTES_COMPARED = 44 * 2**20, 9, 30
_COMPARED = 6_000
_BYTES_CURVATURE = 24  # of a pair of parameters
_WORDS, _FEATURES = 15, 64  # a continuous feature begins with this many; this many are compared
_LEAST_BATCH, _LEAST_SAMPLE = 2_048, 500


def read_size(size: int | str) -> int:
    """Read a number of bytes, such as ``"1GB"`` (a thousand million) or ``"512MiB"``.

    Examples
    --------
    >>> read_size("1.5 GB"), read_size("1GiB")
    (1500000000, 1073741824)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"'memory' must be a size such as '1GB' or '512MB'. Got {size!r}.")
    power = _PREFIXES.index(found[2].lower()) + 1 if found[2] else 0
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


def resident() -> int:
    """Return the bytes that this process holds now; a guess on other systems."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return _WITHOUT_SIGHT


def batch_within(memory: int, n_columns: int, n_threads: int) -> int:
    """Return how many rows are read at a time, so that reading takes a quarter of what is free."""
    free = memory - resident() - _READING - n_columns * _BYTES_A_COLUMN * n_threads
    rows = free // (4 * n_threads * n_columns * _BYTES_A_VALUE)
    if rows < _LEAST_BATCH:
        raise _too_little(memory, free - 4 * n_threads * n_columns * _BYTES_A_VALUE * _LEAST_BATCH)
    return min(rows, BATCH_ROWS)


def sample_within(memory: int, sizes: Sequence[int], n_classes: int, most_rows: int) -> int:
    """Return how many rows choose words and rules, at most ``most_rows``.

    Parameters
    ----------
    memory : int
        The limit, in bytes, for all that the process holds.
    sizes : sequence of int
        The number of categories of each feature; 0 for a continuous one.
    n_classes : int
        How many classes there are.
    most_rows : int
        How many rows are taken where there is room for them.
    """
    width = sum(sorted((size or _WORDS for size in sizes), reverse=True)[:_FEATURES])
    n_outputs = n_classes if n_classes > 2 else 1
    per_row = width * _BYTES_A_MEMBERSHIP + 3 * len(sizes) * _BYTES_DRAWN + 24 * n_classes
    compared = per_row + width * _BYTES_COMPARED
    free = memory - resident() - _CHOOSING - (width * n_outputs) ** 2 * _BYTES_CURVATURE
    if free < compared * _LEAST_SAMPLE:
        raise _too_little(memory, free - compared * _LEAST_SAMPLE)
    rows = free // compared
    if rows > _COMPARED:
        rows = _COMPARED + (free - compared * _COMPARED) // per_row
    return min(rows, most_rows)


def _too_little(memory: int, missing: int) -> ParameterError:
    needed = -(-(memory - missing) // 10**6)
    return ParameterError(
        f"memory={memory // 10**6} MB is too little for these columns and threads, which take "
        f"about {needed} MB; allow more, or use fewer threads or columns"
    )
