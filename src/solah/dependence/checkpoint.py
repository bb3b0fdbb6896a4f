"""Save finished tiles, so that a run that was stopped does not compute them again.

Every file holds the values of one tile, the fingerprint of what they were computed from, and a
phrase that says to people what that was.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.kernels.choose import kernel
from solah.scale.sealed import read_sealed, write_sealed

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from solah.dependence.tiles import Tile
    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded

# To be raised whenever the same columns and settings would give other values or other tiles.
_FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished tiles.

    Attributes
    ----------
    folder : where the files are
    fingerprint : what the values are computed from, as a digest
    about : the same as a phrase for people
    """

    folder: Path
    fingerprint: str
    about: str

    @classmethod
    def open(cls, folder: str | os.PathLike[str], fingerprint: str, about: str) -> Checkpoint:
        """Make the folder where there is none; refuse one with tiles of something else."""
        checkpoint = cls(_made_folder(folder), fingerprint, about)
        checkpoint._refuse_others()
        return checkpoint

    def load(self, tile: Tile) -> Float | None:
        """Return the values of a tile; None where they are not there, or altered."""
        found = _read(self._path(tile))
        if found is None or found.fingerprint != self.fingerprint:
            return None
        return found.values if found.values.shape == tile.shape else None

    def keep(self, tile: Tile, values: Float) -> None:
        """Write the values of a tile, whole or not at all."""
        about = {"fingerprint": np.array(self.fingerprint), "about": np.array(self.about)}
        write_sealed(self._path(tile), {**about, "values": values}, tile.name)

    def _path(self, tile: Tile) -> Path:
        return self.folder / f"{tile.name}.npz"

    def _refuse_others(self) -> None:
        for path in sorted(self.folder.glob("tile-*.npz")):
            found = _read(path)
            if found is not None and found.fingerprint != self.fingerprint:
                raise ParameterError(
                    f"the checkpoint {str(self.folder)!r} is of other data or settings: "
                    f"{path.name} is of {found.about}, and this is {self.about}; give another "
                    f"folder, or delete its files tile-*.npz to begin again"
                )


def fingerprint_of(columns: Sequence[Coded], weights: Int64 | None, *settings: object) -> str:
    """Digest all that the correlations of columns depend on."""
    digest = blake2b(digest_size=20)
    digest.update(repr((_FORMAT, kernel().name, len(columns), *settings)).encode())
    digest.update(b"" if weights is None else weights.tobytes())
    for column in columns:
        digest.update(repr((column.n_levels, column.values is None, column.codes.dtype)).encode())
        digest.update(b"" if column.values is None else column.values.tobytes())
        digest.update(column.codes.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class _Kept:
    fingerprint: str
    about: str
    values: Float


def _made_folder(folder: str | os.PathLike[str]) -> Path:
    try:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise ParameterError(
            f"'checkpoint' must be a folder's path or None. Got {folder!r}."
        ) from None
    except OSError as error:
        raise ParameterError(
            f"'checkpoint' must be a folder that can be written to. Got {str(folder)!r}: "
            f"{error.strerror}."
        ) from error
    return path


def _read(path: Path) -> _Kept | None:
    """Read a file that is as it was written; None where it is not there, or altered."""
    found = read_sealed(path, path.stem)
    if found is None:
        return None
    return _Kept(str(found["fingerprint"]), str(found["about"]), found["values"])
