"""Take values and times out of the messages of sensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from solah.data.json_reader import JsonParser
from solah.data.spelling import TRUTH, is_number
from solah.exceptions import ParameterError, shorten
from solah.site.fields import choice, either, flag, kind, setting, text
from solah.site.messages import MAX_BYTES, MAX_CONTAINERS, MessageError

if TYPE_CHECKING:
    from solah.data.json_reader import Reader

Steps = tuple[str | int, ...]
"""The way to a value in a JSON document: keys of objects, and indices of lists."""

_PARSER = JsonParser("the message", MessageError, MAX_BYTES, MAX_CONTAINERS)
_MOST_LETTERS = 500
_MOST_TIME = 1e11  # seconds since 1970; the year 5138
_AVAILABILITY = {"online": True, "true": True, "offline": False, "false": False}
ABSENT = object()
"""What is at a place that a document does not have."""
ARRIVAL: Literal["arrival"] = "arrival"
"""That a message counts as measured when it arrives, whatever time it has."""


def _read_steps(reader: Reader) -> Steps:
    return tuple(
        step.integer(0, 99_999) if isinstance(step.value, int) else step.text(1, 500)
        for step in reader.items(1, 32)
    )


STEPS = kind(_read_steps, type="array", items={"type": ["string", "integer"]}, minItems=1)


def _check_zone(name: str) -> str:
    try:
        return name if name == "UTC" else ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ParameterError(
            "must be a time zone that this system knows, such as Europe/Berlin (pip install tzdata "
            f"brings them all). Got {shorten(name)} instead."
        ) from None


def parse_path(written: str) -> Steps:
    """Read the way to a value: keys and indices of lists, with dots between them.

    Examples
    --------
    >>> parse_path("ENERGY.Power.0")
    ('ENERGY', 'Power', 0)
    """
    if not written or len(written) > _MOST_LETTERS or not all(written.split(".")):
        raise ParameterError(
            "a path has keys with dots between them, such as AM2301.Temperature; keys that have "
            f"dots themselves go in a list. Got {shorten(written)} instead."
        )
    return tuple(
        int(step) if step.isascii() and step.isdigit() and len(step) < 6 else step
        for step in written.split(".")
    )


@dataclass(frozen=True)
class TimeField:
    """Where a message has its time of measurement.

    Attributes
    ----------
    path : where in the message
    format : ISO 8601, or seconds or milliseconds since 1970
    zone : the time zone of ISO times that name none, such as ``Europe/Berlin``
    is_optional : whether messages without it count as measured when they arrive
    """

    path: Steps = setting(either((list, STEPS), otherwise=text(parse_path)))
    format: Literal["iso", "s", "ms"] = setting(choice("iso", "s", "ms"), "iso", "as")
    zone: str = setting(text(_check_zone, 100), "UTC")
    is_optional: bool = setting(flag(), False, "optional")


class Message:
    """A payload, parsed when it is asked for, and once.

    Parameters
    ----------
    payload : bytes or None
        None where there is nothing any more.
    time : float or None
        When it was published, where that is known without looking into it.
    begins : bool
        Whether its sensor begins again, or ended, so that what came before counts no more.
    """

    def __init__(
        self, payload: bytes | None, time: float | None = None, *, begins: bool = False
    ) -> None:
        self._payload, self.time, self.begins = payload, time, begins
        self._document: Any = ABSENT

    @classmethod
    def of(cls, document: Any, *, begins: bool = False) -> Message:
        """Return a message that was parsed already; None for one that cannot be."""
        message = cls(b"", begins=begins)
        message._document = ABSENT if document is None else document
        return message

    @property
    def is_empty(self) -> bool:
        """Whether it reports that there is no value any more."""
        return self._payload is None

    @property
    def document(self) -> Any:
        """The content as JSON."""
        if self._document is ABSENT:
            self._document = parse_json(self._payload or b"")
        return self._document

    @property
    def text(self) -> str:
        """The content as a bare value."""
        return parse_text(self._payload or b"")


def parse_json(payload: bytes) -> Any:
    """Parse a message that is JSON; NaN and Infinity are taken."""
    return _PARSER.read(payload, allow_nan=True).value


def parse_text(payload: bytes) -> str:
    """Read a message that is a bare value."""
    if len(payload) > _MOST_LETTERS:
        raise MessageError(f"the message has {len(payload):,} bytes, too many for a bare value")
    try:
        text = payload.decode().strip()
    except UnicodeDecodeError as error:
        raise MessageError(f"the message is not text in UTF-8 (byte {error.start})") from None
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def value_at(document: Any, path: Steps) -> Any:
    """Return the value at a path; ``ABSENT`` if there is none.

    A number in the path is a place in a list, or else a key.

    Examples
    --------
    >>> value_at({"ENERGY": {"Power": [12, 7]}}, ("ENERGY", "Power", 1))
    7
    """
    for step in path:
        if isinstance(document, dict):
            document = document.get(str(step), ABSENT)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return ABSENT
    return document


def read_availability(payload: bytes | None) -> bool | None:
    """Return whether a device reports that it is online; None if the message does not.

    Examples
    --------
    >>> [read_availability(one) for one in (b"Offline", b'{"state": "online"}', b"true", b"21.5")]
    [False, True, True, None]
    """
    try:
        document = parse_json(payload or b"")
    except MessageError:
        document = (payload or b"").decode(errors="replace")
    if isinstance(document, dict):
        document = document.get("state")
    return _AVAILABILITY.get(str(document).strip().lower())


def as_text(value: Any) -> str | None:
    """Return a single value as it is written; None for a list or an object.

    Examples
    --------
    >>> as_text(True), as_text(21.0), as_text("ON")
    ('true', '21.0', 'ON')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return value if isinstance(value, str) and len(value) <= _MOST_LETTERS else None


def as_number(value: Any) -> float | None:
    """Return a value as a finite number, else None. True is 1, and false 0."""
    if isinstance(value, str):
        text = TRUTH.get(value.strip(), value.strip())
        value = float(text) if is_number(text) else None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def read_time(document: Any, field: TimeField) -> float | None:
    """Return the time of measurement in a message, in seconds since 1970.

    Returns
    -------
    time : float or None
        None where the field is optional, and not there.

    Raises
    ------
    MessageError
        It is required and missing, or it is invalid.
    """
    value = value_at(document, field.path)
    if value is ABSENT or value is None:
        if field.is_optional:
            return None
        raise MessageError("the message has no time of measurement")
    if field.format != "iso":
        number = as_number(value)
        seconds = None if number is None else number / (1_000 if field.format == "ms" else 1)
        if seconds is None or abs(seconds) > _MOST_TIME:
            raise MessageError(f"{shorten(value)} is not a time since 1970")
        return seconds
    if not isinstance(value, str):
        raise MessageError(f"{shorten(value)} is not an ISO time")
    try:
        time = datetime.fromisoformat(value)
        return (time if time.tzinfo else time.replace(tzinfo=_zone(field.zone))).timestamp()
    except (ValueError, OverflowError, OSError):
        raise MessageError(f"{shorten(value)} is not an ISO time") from None


@lru_cache(maxsize=16)
def _zone(name: str) -> Any:
    return UTC if name == "UTC" else ZoneInfo(name)
