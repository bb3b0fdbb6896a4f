"""Model documents on disk: written whole or not at all, read with checks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from solah.atomic import write_whole
from solah.exceptions import ModelFormatError
from solah.model.format import MAX_BYTES, from_json, to_json

if TYPE_CHECKING:
    import os

    from solah.model.document import Model


def save_document(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model document; warn about one that is larger than what is read by default."""
    text = to_json(model)
    size = len(text.encode())
    if size > MAX_BYTES:
        warnings.warn(
            f"the model has {size:,} bytes: load_model needs max_bytes={size}; a higher "
            "min_support or a max_depth makes it smaller",
            stacklevel=2,
        )
    write_whole(path, text)


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
