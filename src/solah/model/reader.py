"""A value of a parsed JSON file together with its place, for checks whose errors name both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from solah.exceptions import ModelFormatError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable


class Reader:
    """One value, where it stands, and what it may be."""

    def __init__(self, value: Any, place: str = "the document") -> None:
        self.value = value
        self.place = place

    def fail(self, wish: str) -> ModelFormatError:
        """Return the error that says what the value must be."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}…"
        return ModelFormatError(f"{self.place} must be {wish}. Got {shown} instead.")

    def record(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Reader]:
        """Read an object that has all required keys and no unknown ones."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        required = tuple(required)
        known = (*required, *optional)
        for key in self.value:
            if key not in known:
                raise ModelFormatError(f"{self.place} has {key!r}{did_you_mean(key, known)}")
        for key in required:
            if key not in self.value:
                raise ModelFormatError(f"{self.place} has no {key!r}")
        return {key: Reader(value, f"{self.place}.{key}") for key, value in self.value.items()}

    def items(self, least: int = 0, most: int | None = None) -> list[Reader]:
        """Read a list of a bounded length."""
        if not isinstance(self.value, list):
            raise self.fail("a list")
        if len(self.value) < least or (most is not None and len(self.value) > most):
            length = f"{least}" if least == most else f"at least {least}"
            length = f"between {least} and {most}" if most not in (None, least) else length
            raise ModelFormatError(
                f"{self.place} must have {length} items. Got {len(self.value)} instead."
            )
        return [Reader(value, f"{self.place}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        """Read a string."""
        if not isinstance(self.value, str):
            raise self.fail("a text")
        return self.value

    def integer(self, least: int, most: int) -> int:
        """Read an integer between two others."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.fail(f"an integer from {least} to {most}")
        return value

    def number(self, least: float = -math.inf, most: float = math.inf) -> float:
        """Read a finite number between two others."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail("a number")
        try:
            number = float(value)
        except OverflowError:
            raise self.fail("a number of at most 1.8e308") from None
        if not math.isfinite(number) or not least <= number <= most:
            raise self.fail(f"a finite number from {least:g} to {most:g}")
        return number

    def numbers(self, count: int | None = None, least: float = -math.inf) -> tuple[float, ...]:
        """Read a list of finite numbers."""
        return tuple(item.number(least) for item in self.items(count or 0, count))

    def shares(self, count: int) -> tuple[float, ...]:
        """Read non-negative numbers that sum to one."""
        shares = self.numbers(count, least=0.0)
        if not math.isclose(math.fsum(shares), 1.0, abs_tol=1e-6):
            raise self.fail("numbers that sum to 1")
        return shares

    def texts(self, least: int = 0) -> tuple[str, ...]:
        """Read a list of strings, none of them twice."""
        texts = tuple(item.text() for item in self.items(least))
        if len(set(texts)) != len(texts):
            raise self.fail("a list without repetition")
        return texts

    def state(self) -> str | int | float | bool:
        """Read a state: a text, a finite number, or true or false."""
        if isinstance(self.value, bool | str):
            return self.value
        if isinstance(self.value, int):
            return self.value
        return self.number()
