"""Model documents on disk: written whole or not at all, read with checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from solah.atomic import write_whole
from solah.exceptions import ModelFormatError
from solah.model.format import MAX_BYTES, from_json, to_json

if TYPE_CHECKING:
    import os

    from solah.model.document import Model


def save_document(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model document."""
    write_whole(path, to_json(model))


def load_document(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Model:
    """Read a model document; the error of a broken one names the file."""
    place = Path(path)
    with place.open("rb") as file:
        # One byte more than allowed is enough to know: a giant file is never read whole.
        data = file.read(max_bytes + 1)
    try:
        return from_json(data, max_bytes)
    except ModelFormatError as error:
        raise type(error)(f"{place.name}: {error}") from None
