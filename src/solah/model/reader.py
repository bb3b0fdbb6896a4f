"""A value of a parsed JSON file together with its place, for checks whose errors name both."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from solah.exceptions import ModelFormatError, did_you_mean, shorten
from solah.model.limits import EXACT_SUM, LEAST_INTEGER, MOST_INTEGER, MOST_NUMBER, ROUGH_SUM

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Reader:
    """One value, where it stands, and what it may be."""

    def __init__(self, value: Any, place: str = "the document") -> None:
        self.value = value
        self.place = place

    def fail(self, wish: str) -> ModelFormatError:
        """Return the error that says what the value must be."""
        return ModelFormatError(f"{self.place} must be {wish}. Got {self._shown()} instead.")

    def _shown(self) -> str:
        if isinstance(self.value, dict | list):
            return (
                f"{'an object' if isinstance(self.value, dict) else 'a list'} of {len(self.value)}"
            )
        return shorten(self.value)

    def record(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Reader]:
        """Read an object that has all required keys and no unknown ones."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        required = tuple(required)
        known = (*required, *optional)
        for key in self.value:
            if key not in known:
                raise ModelFormatError(f"{self.place} has {shorten(key)}{did_you_mean(key, known)}")
        for key in required:
            if key not in self.value:
                raise ModelFormatError(f"{self.place} has no {key!r}")
        return {key: Reader(value, f"{self.place}.{key}") for key, value in self.value.items()}

    def items(self, least: int, most: int) -> list[Reader]:
        """Read a list of a bounded length."""
        if not isinstance(self.value, list):
            raise self.fail("a list")
        if not least <= len(self.value) <= most:
            length = f"{least}" if least == most else f"between {least} and {most}"
            raise ModelFormatError(
                f"{self.place} must have {length} items. Got {len(self.value)} instead."
            )
        return [Reader(value, f"{self.place}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        """Read a string that is not empty and can be written again."""
        if not isinstance(self.value, str) or not self.value:
            raise self.fail("a text")
        if not self.value.isascii() and _LONE_SURROGATE.search(self.value):
            raise self.fail("a text of whole characters")
        return self.value

    def integer(self, least: int, most: int) -> int:
        """Read an integer between two others."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.fail(f"an integer from {least} to {most}")
        return value

    def number(self, least: float, most: float) -> float:
        """Read a finite number between two others."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail("a number")
        if not least <= value <= most:  # which NaN is neither
            raise self.fail(f"a finite number from {least:g} to {most:g}")
        return float(value)

    def numbers(self, count: int, least: float, most: float) -> tuple[float, ...]:
        """Read a list of finite numbers."""
        return tuple(item.number(least, most) for item in self.items(count, count))

    def shares(self, count: int, least: float = 0.0) -> tuple[float, ...]:
        """Read numbers from 0 to 1 that sum to one; those that were rounded are scaled to do so."""
        shares = self.numbers(count, least, 1.0)
        total = math.fsum(shares)
        if abs(total - 1.0) > ROUGH_SUM:
            raise self.fail("numbers that sum to 1")
        if abs(total - 1.0) <= EXACT_SUM:
            return shares
        return tuple(share / total for share in shares)

    def texts(self, least: int, most: int) -> tuple[str, ...]:
        """Read a list of strings, none of them twice."""
        texts = tuple(item.text() for item in self.items(least, most))
        if len(set(texts)) != len(texts):
            raise self.fail("a list without repetition")
        return texts

    def state(self) -> str | int | float | bool:
        """Read a state: a text, a finite number, or true or false."""
        if isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, str):
            return self.text()
        if isinstance(self.value, int):
            return self.integer(LEAST_INTEGER, MOST_INTEGER)
        return self.number(-MOST_NUMBER, MOST_NUMBER)
