"""Records of a model file that are read and written alike in all its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data.json_reader import Reader


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


def read_mark(reader: Reader) -> bool:
    """Read a mark, which is true or not there."""
    if reader.value is not True:
        raise reader.fail("true, or left out")
    return True


def read_choice(reader: Reader, choices: Sequence[str]) -> str:
    """Read one of several texts."""
    text = reader.text()
    if text not in choices:
        raise reader.fail("one of " + ", ".join(map(repr, choices)))
    return text
