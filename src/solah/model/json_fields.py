"""Fields of a model file: described beside the attributes, and read and written by that alone.

The metadata of a dataclass field set how its value is read: ``field(metadata=integer(1, 32))``. A
field with a default is an optional key, which is written only if the value is another one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from enum import StrEnum

    from solah.data.json_reader import Reader

    Form = Mapping[str, Any]

_Record = TypeVar("_Record")
_Choice = TypeVar("_Choice", bound="StrEnum")


def form(read: Callable[[Reader], Any], write: Callable[[Any], Any] | None = None) -> Form:
    """Return the metadata of a field; without ``write``, values are written as they are."""
    return {"read": read, "write": write or _plain}


def text(most: float = math.inf) -> Form:
    """Return the metadata of a text."""
    return form(lambda part: part.text(most=most))


def texts(least: int, most: int) -> Form:
    """Return the metadata of a list of different texts."""
    return form(lambda part: part.texts(least, most))


def integer(least: int, most: int) -> Form:
    """Return the metadata of an integer."""
    return {**form(lambda part: part.integer(least, most)), "bounds": (least, most)}


def number(least: float, most: float) -> Form:
    """Return the metadata of a number."""
    return {**form(lambda part: part.number(least, most)), "bounds": (least, most)}


def numbers(most_count: int, least: float, most: float) -> Form:
    """Return the metadata of a list of numbers."""
    return form(lambda part: part.numbers(1, most_count, least, most))


def flag() -> Form:
    """Return the metadata of a boolean."""
    return form(_read_flag)


def choice(kind: type[StrEnum]) -> Form:
    """Return the field metadata of a text with several allowed values."""
    return form(lambda part: read_choice(part, kind))


def records(kind: Callable[..., Any], most: int) -> Form:
    """Return the metadata of a list of objects."""
    return form(lambda part: tuple(read_record(one, kind) for one in part.items(1, most)))


def read_record(reader: Reader, kind: Callable[..., _Record]) -> _Record:
    """Read an object as a dataclass, by the fields that have metadata."""
    described = described_fields(kind)
    required = [
        key
        for key, one in described.items()
        if one.default is MISSING and one.default_factory is MISSING
    ]
    parts = reader.record(required, described)
    values = {described[key].name: described[key].metadata["read"](parts[key]) for key in parts}
    with errors_at(reader):
        return kind(**values)


def described_fields(kind: Any) -> dict[str, Field[Any]]:
    """Return the fields of a dataclass to read, by JSON key."""
    found = (one for one in fields(kind) if "read" in one.metadata)
    return {one.metadata.get("key", one.name): one for one in found}


@contextmanager
def errors_at(reader: Reader) -> Iterator[None]:
    """Name the place of a value in the error about it."""
    try:
        yield
    except ParameterError as error:
        raise reader.error(f"{reader.place}: {error}") from None


def record_of(part: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not as by default, ready for JSON."""
    found: dict[str, Any] = {}
    for one in fields(part):
        value = getattr(part, one.name)
        make = one.default_factory
        if value != (one.default if make is MISSING else make()):
            found[one.name] = one.metadata.get("write", _plain)(value)
    return found


def check_bounds(part: Any) -> None:
    """Raise a ParameterError if a number of a dataclass is out of its bounds."""
    for one in fields(part):
        value = getattr(part, one.name)
        if "bounds" in one.metadata and value is not None:
            least, most = one.metadata["bounds"]
            if not least <= value <= most:
                raise ParameterError(
                    f"{one.name!r} must be from {least:g} to {most:g}. Got {value!r} instead."
                )


def _read_flag(reader: Reader) -> bool:
    if not isinstance(reader.value, bool):
        raise reader.fail("true or false")
    return reader.value


def read_mark(reader: Reader) -> bool:
    """Read a mark, which is true or absent."""
    if reader.value is not True:
        raise reader.fail("true, or absent")
    return True


def read_choice(reader: Reader, kind: type[_Choice]) -> _Choice:
    """Read one of several texts."""
    choices = [one.value for one in kind]
    if reader.text() not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return kind(reader.value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return dict(value)
    return record_of(value) if is_dataclass(value) else value
