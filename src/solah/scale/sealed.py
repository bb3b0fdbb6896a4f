"""Keep arrays in a file under a checksum, so that an altered file is never used.

The checksum is over all bytes of the arrays and over what the file is of, so that a whole file in
the place of another is not believed either.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.atomic import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC = b"solah-arrays-1\n"
_SEAL_BYTES = 32


def write_sealed(path: Path, arrays: Mapping[str, NDArray[Any]], of: str) -> None:
    """Write arrays, whole or not at all; ``of`` says what they are, and is not written."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    packed = content.getvalue()
    write_whole(path, _MAGIC + _seal(packed, of) + packed)


def read_sealed(path: Path, of: str) -> dict[str, NDArray[Any]] | None:
    """Read arrays; None where there are none, or, with a warning, where they were altered."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    packed = content[len(_MAGIC) + _SEAL_BYTES :]
    if content != _MAGIC + _seal(packed, of) + packed:
        warnings.warn(
            f"{path} was altered or cut short since it was written; what it held is computed again",
            stacklevel=2,
        )
        return None
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _seal(packed: bytes, of: str) -> bytes:
    key = blake2b(of.encode()).digest()
    return blake2b(packed, key=key, digest_size=_SEAL_BYTES).digest()
