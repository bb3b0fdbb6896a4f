"""Read values of a site file that occur in several of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from solah.exceptions import ParameterError
from solah.site.units import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from solah.data.json_reader import Reader

Value = TypeVar("Value")
_MOST_SECONDS = 366 * 86_400.0


def checked(reader: Reader, check: Callable[[str], Value]) -> Value:
    """Read a text by a function whose errors lack the position."""
    text = reader.text(1)
    try:
        return check(text)
    except ParameterError as error:
        raise reader.error(f"{reader.place}: {error}") from None


def one_of(reader: Reader, known: tuple[str, ...]) -> Any:
    """Read one of a few texts."""
    if reader.value not in known:
        raise reader.fail(" or ".join(map(repr, known)))
    return reader.value


def duration(reader: Reader, least: float = 0.0) -> float:
    """Read a duration, in seconds."""
    seconds = checked(reader, seconds_of)
    if not least <= seconds <= _MOST_SECONDS:
        raise reader.fail(f"from {least:g}s to 366d")
    return seconds


def flag(reader: Reader) -> bool:
    """Read a boolean."""
    if not isinstance(reader.value, bool):
        raise reader.fail("true or false")
    return reader.value


def file_in(reader: Reader | None, folder: Path) -> Path | None:
    """Read the name of a file, which is meant from a folder."""
    return None if reader is None else folder / reader.text(1, 4_096)
