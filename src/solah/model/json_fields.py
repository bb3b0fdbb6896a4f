"""Records of a model file that are written and read alike in all its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar

from solah.exceptions import ModelFormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solah.data.json_reader import Reader

_Record = TypeVar("_Record")


def record_of(part: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not as by default, ready for JSON."""
    found: dict[str, Any] = {}
    for one in fields(part):
        value = getattr(part, one.name)
        make = one.default_factory
        if value != (one.default if make is MISSING else make()):
            plain = list(value) if isinstance(value, tuple) else value
            found[one.name] = dict(plain) if isinstance(plain, Mapping) else plain
    return found


def read_record(
    reader: Reader, kind: Callable[..., _Record], readers: Mapping[str, Callable[[Reader], Any]]
) -> _Record:
    """Read an object as a dataclass.

    Parameters
    ----------
    reader : Reader
    kind : dataclass
        A field without a default is a required key.
    readers : mapping of key to callable
        What reads the value of each key.
    """
    required = [
        one.name
        for one in fields(kind)  # type: ignore[arg-type]
        if one.name in readers and one.default is MISSING and one.default_factory is MISSING
    ]
    parts = reader.record(required, readers)
    values = {key: readers[key](part) for key, part in parts.items()}
    try:
        return kind(**values)
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None


def read_mark(reader: Reader) -> bool:
    """Read a mark, which is true or absent."""
    if reader.value is not True:
        raise reader.fail("true, or left out")
    return True


def read_choice(reader: Reader, choices: Sequence[str]) -> str:
    """Read one of several texts."""
    text = reader.text()
    if text not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return text
