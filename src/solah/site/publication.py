"""Publish plans on a broker, which keeps them for all nodes, with a history to go back in."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.exceptions import ParameterError, SolahError, shorten
from solah.site.bundle import BundleError, read_bundle
from solah.site.client import BrokerError, Client
from solah.site.messages import MAX_SEQUENCE, MessageError, decode_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.site.bundle import Bundle
    from solah.site.client import Broker
    from solah.site.topics import Topics
    from solah.site.trust import Trust

_WAIT = 5.0
_CONFIRM = 10.0
_QUIET = 0.5
_MOST_KEPT = 20
_LEAST_HASH = 6


@dataclass(frozen=True)
class Publication:
    """A plan that was published.

    Attributes
    ----------
    time : when, in milliseconds since 1970
    bundle : the plan and its model
    document : its bytes
    signer : whose key signed it: an owner's name, ``""`` where nobody signed, ``"unknown"`` where
        the key is not among those given
    """

    time: int
    bundle: Bundle
    document: bytes
    signer: str


def newest_row(broker: Broker, topics: Topics) -> int:
    """Return the last row up to which a network has decided; 0 where there is none."""
    return max((row for _, row in _progress(broker, topics, _WAIT, 1)), default=0)


def row_at(broker: Broker, topics: Topics, when: float, seconds: float = 10.0) -> int:
    """Estimate which row a network will be at, by its pace.

    Parameters
    ----------
    broker, topics : where the network is
    when : float
        The time, in seconds since 1970; must be to come.
    seconds : float, default=10.0
        How long the pace is measured.

    Raises
    ------
    ParameterError
        The time has passed, or the network decides nothing, so that it has no pace.
    """
    if when <= time.time():
        raise ParameterError("the time from which the plan decides has passed already")
    seen = list(_progress(broker, topics, seconds, None))
    if len(seen) < 2 or seen[-1][1] <= seen[0][1]:
        raise ParameterError(
            f"the site decided no rows within {seconds:g} s, so that nobody knows its row at a "
            "time; give the row with --at, or the length of rows with --window"
        )
    (first, first_row), (last, last_row) = seen[0], seen[-1]
    pace = (last_row - first_row) / (last - first)
    return min(last_row + round(pace * (when - last)), MAX_SEQUENCE)


def _progress(
    broker: Broker, topics: Topics, seconds: float, most: int | None
) -> Iterator[tuple[float, int]]:
    """Yield how far a network is and when that was told, for some seconds or so many times."""
    rows: list[tuple[float, int]] = []
    is_enough = threading.Event()

    def take(_topic: str, payload: bytes) -> None:
        try:
            rows.append((time.time(), decode_progress(payload)))
        except MessageError:
            return
        if len(rows) == most:
            is_enough.set()

    with _connected(broker, take, [topics.progress]):
        is_enough.wait(seconds)
    yield from rows


def publish_bundle(broker: Broker, topics: Topics, bundle: Bundle) -> None:
    """Let the broker keep a bundle, and tell it to all nodes; return when it is seen there.

    One that is a shadow goes to the topic of shadows. A copy goes into the history.
    """
    document, kept = bundle.to_bytes(), threading.Event()
    topic = (topics.shadow if bundle.is_shadow else topics).model

    def take(_topic: str, payload: bytes) -> None:
        if payload == document:
            kept.set()

    with _connected(broker, take, [topic]) as client:
        client.publish(topic, document, retain=True)
        is_kept = kept.wait(_CONFIRM)
        if is_kept:
            client.publish(f"{topics.history}/{time.time_ns() // 1_000_000}", document, retain=True)
            _flush(client)
    if not is_kept:
        raise BrokerError(f"the broker {broker!r} did not take the model; it may not be allowed")
    _shorten_history(broker, topics)


def end_shadow(broker: Broker, topics: Topics) -> None:
    """Let the broker forget the model that is tried out, which ends it on all nodes."""
    with _connected(broker, lambda *_: None, []) as client:
        client.publish(topics.shadow.model, b"", retain=True)
        _flush(client)


def read_history(broker: Broker, topics: Topics, trust: Trust | None = None) -> list[Publication]:
    """Return the plans that the broker keeps in its history, the newest first.

    Parameters
    ----------
    broker, topics : where the network is
    trust : Trust, default=None
        The keys by which signers are named.
    """
    found = []
    for when, document in _kept_history(broker, topics):
        try:
            found.append(Publication(when, read_bundle(document), document, _name(document, trust)))
        except (SolahError, RecursionError):
            continue  # somebody else put it there
    return found


def find_published(history: list[Publication], beginning: str) -> Publication:
    """Return the newest plan of a history whose hash begins so.

    Raises
    ------
    ParameterError
        There is none, or several plans begin so.
    """
    found = [one for one in history if one.bundle.hash.startswith(beginning)]
    if len(beginning) < _LEAST_HASH or not found:
        raise ParameterError(
            f"the history has no plan whose hash begins with {shorten(beginning)}; "
            "solah site publish --history lists them"
        )
    if len({one.bundle.hash for one in found}) > 1:
        raise ParameterError(f"the hashes of several plans begin with {shorten(beginning)}")
    return found[0]


def _name(document: bytes, trust: Trust | None) -> str:
    try:
        signer = None if trust is None else trust.signer(document)
    except BundleError:
        return ""
    if signer is not None:
        return signer.owner
    return "unknown" if read_bundle(document).signature else ""


def _kept_history(broker: Broker, topics: Topics) -> list[tuple[int, bytes]]:
    """Return the times and documents of the history, the newest first."""
    kept: dict[int, bytes] = {}
    arrived = time.monotonic()

    def take(topic: str, payload: bytes) -> None:
        nonlocal arrived
        arrived = time.monotonic()
        when = topic.rpartition("/")[2]
        if when.isascii() and when.isdigit() and payload:
            kept[int(when)] = payload

    with _connected(broker, take, [f"{topics.history}/+"]):
        # Nobody tells the end of what is kept, so that a pause must do.
        while time.monotonic() < arrived + _QUIET:
            time.sleep(0.02)
    return sorted(kept.items(), reverse=True)


def _shorten_history(broker: Broker, topics: Topics) -> None:
    old = [when for when, _ in _kept_history(broker, topics)[_MOST_KEPT:]]
    if not old:
        return
    with _connected(broker, lambda *_: None, []) as client:
        for when in old:
            client.publish(f"{topics.history}/{when}", b"", retain=True)
        _flush(client)


@contextmanager
def _connected(
    broker: Broker, take: Callable[[str, bytes], None], topics: list[str]
) -> Iterator[Client]:
    client = Client(broker, f"solah-{uuid4().hex[:12]}", take, is_kept=False)
    client.subscribe(topics)
    client.start()
    try:
        yield client
    finally:
        client.stop()


def _flush(client: Client) -> None:
    """Wait until the broker has what was published."""
    give_up = time.monotonic() + _CONFIRM
    while client.in_flight and time.monotonic() < give_up:
        time.sleep(0.01)
