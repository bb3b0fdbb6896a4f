"""Split a limit of memory into what may be read and held at a time."""

from __future__ import annotations

import re
from pathlib import Path

from solah.data.spelling import count
from solah.exceptions import ParameterError
from solah.scale.engines import Portions

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_PREFIXES = "kmgt"
_STATM = Path("/proc/self/statm")
_PAGE = 4096
_WITHOUT_SIGHT = 220 * 2**20
# What a value of a table takes while a pass looks at it: as it was read, as a number, its digest
# or its label, and what NumPy makes of them in between.
_BYTES_A_VALUE = 64
# Training holds a sample of the rows, and fits it; choosing settings takes some more.
_SAMPLE = 65_536
_BYTES_OF_SAMPLE = 80
_CHOOSING = 72 * 2**20
_ROWS = (2_048, 32_768)
_LEAST_STATISTICS = 4 * 2**20


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


def portions_within(memory: int, n_columns: int, n_threads: int) -> Portions:
    """Settle how much is read and held at a time, so that a process stays within a limit.

    Parameters
    ----------
    memory : int
        The limit, in bytes, for all that the process holds.
    n_columns : int
        How many columns the rows have.
    n_threads : int
        How many threads read.

    Raises
    ------
    ParameterError
        If the limit is too small for the columns.
    """
    held = _resident() + _CHOOSING + n_columns * _SAMPLE * _BYTES_OF_SAMPLE
    least = n_threads * (n_columns * _ROWS[0] * _BYTES_A_VALUE + _LEAST_STATISTICS)
    free = memory - held
    if free < least:
        needed = -(-(held + least) // 10**6)
        raise ParameterError(
            f"memory={memory // 10**6} MB is too little for {count(n_columns, 'column')} and "
            f"{count(n_threads, 'thread')}, which take {needed} MB at the least; allow more, or "
            "use fewer threads"
        )
    for_rows = free // (3 * n_threads)
    rows = max(_ROWS[0], min(_ROWS[1], for_rows // (n_columns * _BYTES_A_VALUE)))
    statistics = free // n_threads - rows * n_columns * _BYTES_A_VALUE
    return Portions(rows=rows, statistics=max(_LEAST_STATISTICS, statistics // 2))


def _resident() -> int:
    """Return what this process holds now; a guess where the system does not tell."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return _WITHOUT_SIGHT
