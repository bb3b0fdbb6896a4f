"""Kinds of values in a site file: how each is read, and the same as JSON schema.

A kind is the metadata of a dataclass field (:mod:`solah.model.json_fields`), and :func:`setting`
makes the field. So a site file is described once, by the dataclasses that it is read as.
"""

from __future__ import annotations

from dataclasses import MISSING, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError
from solah.model.json_fields import described_fields, read_record
from solah.site.units import seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from solah.data.json_reader import Reader

    Kind = Mapping[str, Any]

MOST_NUMBER = 1e300
_DURATION = r"^\d+(\.\d+)? ?(ms|s|min|h|d)$"


def kind(read: Callable[[Reader], Any], **schema: Any) -> Kind:
    """Return a kind: what reads a value, and keywords of JSON schema."""
    return {"read": read, "schema": schema}


def setting(of: Kind, default: Any = MISSING, key: str = "") -> Any:
    """Return a dataclass field that the file has under a key, by default the field's name."""
    metadata = {**of, "key": key} if key else of
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def schema_of(record: Any) -> dict[str, Any]:
    """Return the JSON schema of the object that a dataclass is read from."""
    described = described_fields(record)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [
            key
            for key, one in described.items()
            if one.default is MISSING and one.default_factory is MISSING
        ],
        "properties": {key: one.metadata["schema"] for key, one in described.items()},
    }


def text(check: Callable[[str], Any] = str, most: int = 1_000, pattern: str = "") -> Kind:
    """Return the kind of a text, as a function returns it whose errors lack the position."""

    def read(reader: Reader) -> Any:
        found = reader.text(1, most)
        try:
            return check(found)
        except ParameterError as error:
            raise reader.error(f"{reader.place}: {error}") from None

    return kind(read, type="string", minLength=1, maxLength=most, pattern=pattern)


def path() -> Kind:
    """Return the kind of a file's name."""
    return text(Path, 4_096)


def duration(least: float = 0.0) -> Kind:
    """Return the kind of a duration, in seconds."""
    return text(lambda written: seconds_of(written, least), pattern=_DURATION)


def number(least: float = -MOST_NUMBER, most: float = MOST_NUMBER) -> Kind:
    """Return the field type of a number within a range."""
    return kind(
        lambda reader: reader.number(least, most), type="number", minimum=least, maximum=most
    )


def choice(*values: str) -> Kind:
    """Return the kind of one of several texts."""

    def read(reader: Reader) -> Any:
        if reader.value not in values:
            raise reader.fail(" or ".join(map(repr, values)))
        return reader.value

    return kind(read, enum=list(values))


def flag() -> Kind:
    """Return the kind of a boolean."""

    def read(reader: Reader) -> bool:
        if not isinstance(reader.value, bool):
            raise reader.fail("true or false")
        return reader.value

    return kind(read, type="boolean")


def texts(least: int, most: int) -> Kind:
    """Return the kind of a list of different texts."""
    bounds = {"minItems": least, "maxItems": most, "uniqueItems": True}
    return kind(
        lambda reader: reader.texts(least, most),
        type="array",
        items={"type": "string", "minLength": 1},
        **bounds,
    )


def items(of: Kind, least: int, most: int) -> Kind:
    """Return the kind of a list."""
    return kind(
        lambda reader: tuple(map(of["read"], reader.items(least, most))),
        type="array",
        items=of["schema"],
        minItems=least,
        maxItems=most,
    )


def named(of: Kind, least: int, most: int) -> Kind:
    """Return the kind of an object with names of the user's for keys."""

    def read(reader: Reader) -> dict[str, Any]:
        if not least <= len(parts := reader.named(most, 500)):
            raise reader.fail("an object with a name at least")
        return {name: of["read"](part) for name, part in parts.items()}

    bounds = {"minProperties": least, "maxProperties": most}
    return kind(read, type="object", additionalProperties=of["schema"], **bounds)


def record(of: Any) -> Kind:
    """Return the kind of an object that is read as a dataclass."""
    return kind(lambda reader: read_record(reader, of), **schema_of(of))


def either(*known: tuple[type | tuple[type, ...], Kind], otherwise: Kind) -> Kind:
    """Return the kind of a value that is of another kind if it has another type."""

    def read(reader: Reader) -> Any:
        found = (of for types, of in known if isinstance(reader.value, types))
        return next(found, otherwise)["read"](reader)

    return kind(read, anyOf=[of["schema"] for of in (*(of for _, of in known), otherwise)])
