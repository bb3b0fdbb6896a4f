"""Read JSON from untrusted sources.

Size, number of lists and objects, and depth are bounded before anything is parsed, so that memory
stays in proportion to the bytes and the depth does not depend on the interpreter's recursion limit.
What two parsers could read differently is refused: a key that an object has twice, NaN and
Infinity. Every error names the place in the document.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import SolahError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_DEPTH = 32
BYTES_PER_CONTAINER = 16

_MARK = "\ufeff".encode()  # which some editors put before a text in UTF-8
_QUOTE = 2
_STEPS = bytes.maketrans(b'[{]}"', bytes([1, 1, 0xFF, 0xFF, _QUOTE]))  # 1 and -1 as int8
_OTHERS = bytes(set(range(256)) - set(b'[{]}"'))
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class JsonParser:
    """Parses documents of one kind.

    Attributes
    ----------
    what : the name of the document in errors
    error : the class of all errors
    max_bytes : the maximum size; the default is for files that only this machine writes
    max_containers : the maximum number of lists and objects; None for one per 16 bytes of a
        document of the largest size
    remedy : the end of the error about a document that is too large
    """

    what: str
    error: type[SolahError]
    max_bytes: int = 2**30
    max_containers: int | None = None
    remedy: str = ""

    def read(self, data: bytes, *, allow_nan: bool = False) -> Reader:
        """Parse a document in UTF-8; ``allow_nan`` takes NaN and Infinity, as Python writes them.

        Examples
        --------
        >>> from solah.exceptions import DataError
        >>> parser = JsonParser("the order", DataError, max_bytes=1000)
        >>> order = parser.read(b'{"drinks": [{"name": "tea", "cups": 2.5}]}').record(["drinks"])
        >>> for drink in order["drinks"].items(1, 9):
        ...     drink.record(["name", "cups"])["cups"].integer(1, 12)
        Traceback (most recent call last):
        solah.exceptions.DataError: the order.drinks[0].cups must be an integer from 1 to 12. Got \
2.5 instead.
        """
        self.check_size(data)
        self._check_nesting(data)
        literals: list[str] = []

        def read_literal(text: str) -> float:
            literals.append(text)
            return float(text)

        try:
            value = json.loads(
                data.removeprefix(_MARK).decode(),
                object_pairs_hook=self._object,
                parse_constant=read_literal,
            )
        except UnicodeDecodeError as error:
            raise self.error(f"{self.what} is not text in UTF-8 (byte {error.start})") from None
        except json.JSONDecodeError as error:
            raise self.error(
                f"{self.what} is not valid JSON: {error.msg} at line {error.lineno}, "
                f"column {error.colno}"
            ) from None
        except self.error:
            raise
        except ValueError as error:  # an integer of thousands of digits
            raise self.error(f"{self.what} is not readable JSON: {error}") from None
        reader = Reader(value, self.what, self.error)
        if literals and not allow_nan:
            raise next(reader.not_finite()).fail("a finite number")
        return reader

    def check_size(self, data: bytes) -> None:
        """Refuse a document that is too large."""
        if len(data) > self.max_bytes:
            raise self.error(
                f"{self.what} has {len(data):,} bytes, more than the limit of {self.max_bytes:,}"
                f"{self.remedy}"
            )

    def check_containers(self, count: int) -> None:
        """Refuse a document that has too many lists and objects."""
        if count > self._most_containers:
            raise self.error(
                f"{self.what} has more than {self._most_containers:,} lists and objects"
            )

    @property
    def _most_containers(self) -> int:
        if self.max_containers is None:
            return self.max_bytes // BYTES_PER_CONTAINER
        return self.max_containers

    def _check_nesting(self, data: bytes) -> None:
        if data.count(b"[") + data.count(b"{") <= min(MAX_DEPTH, self._most_containers):
            return  # whatever their order; those in strings count here, too
        # A backslash is in strings only, where it escapes a quote or another backslash.
        without_escapes = data.replace(rb"\\", b"").replace(rb"\"", b"")
        signs = np.frombuffer(without_escapes.translate(_STEPS, _OTHERS), dtype=np.int8)
        is_quote = signs == _QUOTE
        steps = signs[~(is_quote | np.logical_xor.accumulate(is_quote))]  # those outside strings
        count = int(np.count_nonzero(steps > 0))
        self.check_containers(count)
        # What parses has an end for each beginning; a parser stops at the first end too many.
        if steps[: 2 * count].cumsum(dtype=np.int32).max(initial=0) > MAX_DEPTH:
            raise self.error(
                f"{self.what} is nested too deeply: more than {MAX_DEPTH} lists and objects in "
                "one another"
            )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) != len(pairs):
            ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise self.error(f"{self.what} has the key {shorten(key)} twice in one object")
        return record


class Reader:
    """A value of a parsed document and its place, for checks whose errors name both.

    Parameters
    ----------
    value : what ``json.loads`` returned, or a part of it
    place : what errors call it; for a part, its key or its number in ``above``
    error : the class of all errors
    above : the reader of the list or object that it is a part of
    """

    __slots__ = ("_above", "_step", "error", "value")

    def __init__(
        self, value: Any, place: str | int, error: type[SolahError], above: Reader | None = None
    ) -> None:
        self.value = value
        self.error = error
        self._step = place
        self._above = above

    @property
    def place(self) -> str:
        """The position of the value."""
        step = str(self._step)
        if self._above is None:
            return step
        return self._above.place + (
            f".{step[:60]}" if step.isidentifier() else f"[{shorten(self._step)}]"
        )

    def fail(self, requirement: str) -> SolahError:
        """Return the error for a value, with the expected one."""
        return self.error(f"{self.place} must be {requirement}. Got {shown(self.value)} instead.")

    def part(self, key: str) -> Reader:
        """Return what an object has under a key; None where it has nothing."""
        return self._part(self.value.get(key) if isinstance(self.value, dict) else None, key)

    def _part(self, value: Any, step: str | int) -> Reader:
        return Reader(value, step, self.error, self)

    def record(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Reader]:
        """Read an object that has all required keys and no unknown ones."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        required = tuple(required)
        known = (*required, *optional)
        for key in self.value:
            if key not in known:
                raise self.error(f"{self.place} has {shorten(key)}{did_you_mean(key, known)}")
        for key in required:
            if key not in self.value:
                raise self.error(f"{self.place} has no {key!r}")
        return {key: self._part(value, key) for key, value in self.value.items()}

    def named(self, most: int, most_characters: int) -> dict[str, Reader]:
        """Read an object with any names as keys."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        if len(self.value) > most:
            raise self.fail(f"an object with at most {most} names")
        for key in self.value:
            if (requirement := _text_must_be(key, 0, most_characters)) is not None:
                raise Reader(key, f"a name of {self.place}", self.error).fail(requirement)
        return {key: self._part(value, key) for key, value in self.value.items()}

    def items(self, least: int, most: int) -> list[Reader]:
        """Read a list of a bounded length."""
        return [self._part(value, i) for i, value in enumerate(self._list(least, most))]

    def _list(self, least: int, most: int) -> list[Any]:
        if not isinstance(self.value, list):
            raise self.fail("a list")
        if not least <= len(self.value) <= most:
            length = f"{least}" if least == most else f"between {least} and {most}"
            raise self.error(
                f"{self.place} must have {length} items. Got {len(self.value)} instead."
            )
        return self.value

    def text(self, least: int = 1, most: float = math.inf) -> str:
        """Read a string of a bounded length that can be written again."""
        if (requirement := _text_must_be(self.value, least, most)) is not None:
            raise self.fail(requirement)
        return str(self.value)

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

    def numbers(
        self, least_count: int, most_count: int, least: float, most: float
    ) -> tuple[float, ...]:
        """Read a list of a bounded length, of finite numbers between two others."""
        return tuple(
            value
            if type(value) is float and least <= value <= most
            else self._part(value, i).number(least, most)
            for i, value in enumerate(self._list(least_count, most_count))
        )

    def texts(self, least: int, most: int) -> tuple[str, ...]:
        """Read a list of strings, none of them twice."""
        texts = tuple(item.text() for item in self.items(least, most))
        if len(set(texts)) != len(texts):
            raise self.fail("a list without repetition")
        return texts

    def not_finite(self) -> Iterator[Reader]:
        """Yield every number in here that is NaN or infinite."""
        value = self.value
        if isinstance(value, float) and not math.isfinite(value):
            yield self
        if isinstance(value, dict | list):
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            for step, part in steps:
                yield from self._part(part, step).not_finite()


def _text_must_be(value: object, least: int, most: float) -> str | None:
    """Return the expected value if a text is invalid, else None."""
    if not isinstance(value, str) or len(value) < least:
        return "a text"
    if len(value) > most:
        return f"a text of at most {most} characters"
    is_whole = value.isascii() or not _LONE_SURROGATE.search(value)
    return None if is_whole else "a text of whole characters"


def shown(value: object) -> str:
    """Show a wrong value in an error, unless it could be deep or large."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    is_single = value is None or isinstance(value, str | int | float)
    return shorten(value) if is_single else f"a value of type {type(value).__name__}"
