"""Pack rows of plain values into arrays that need no pickling, and back, exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.stream.values import Reading

_MISSING, _FLOAT, _INT, _BOOL, _TEXT = range(5)
_TYPES = {type(None): _MISSING, float: _FLOAT, int: _INT, bool: _BOOL, str: _TEXT}


def pack_rows(name: str, rows: Sequence[Sequence[Reading]]) -> dict[str, NDArray[Any]]:
    """Pack rows into arrays: what type each cell has, numbers, integers and texts.

    Examples
    --------
    >>> unpack_rows("a", pack_rows("a", [(1.5, None, "red"), (2, True, "")]))
    [(1.5, None, 'red'), (2, True, '')]
    """
    cells = [cell for row in rows for cell in row]
    types = np.array([_TYPES[type(cell)] for cell in cells], dtype=np.uint8)
    texts = json.dumps([cell for cell in cells if isinstance(cell, str)]).encode()
    return {
        f"{name}_types": types.reshape(len(rows), -1) if rows else types.reshape(0, 0),
        f"{name}_floats": np.array([cell for cell in cells if type(cell) is float]),
        f"{name}_ints": np.array([cell for cell in cells if isinstance(cell, int)], dtype=np.int64),
        f"{name}_texts": np.frombuffer(texts, dtype=np.uint8),
    }


def unpack_rows(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[tuple[Reading, ...]]:
    """Make rows of what :func:`pack_rows` returned."""
    types = arrays[f"{name}_types"]
    floats = iter(arrays[f"{name}_floats"].tolist())
    ints = iter(arrays[f"{name}_ints"].tolist())
    texts = iter(json.loads(arrays[f"{name}_texts"].tobytes()))
    take: dict[int, Callable[[], Reading]] = {
        _MISSING: lambda: None,
        _FLOAT: lambda: float(next(floats)),
        _INT: lambda: int(next(ints)),
        _BOOL: lambda: bool(next(ints)),
        _TEXT: lambda: str(next(texts)),
    }
    return [tuple(take[kind]() for kind in row) for row in types.tolist()]
