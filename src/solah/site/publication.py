"""Publish plans on a broker, which keeps them for all nodes, with a history to go back in."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.exceptions import ParameterError, SolahError, shorten
from solah.site.bundle import BundleError, read_bundle
from solah.site.client import BrokerError, Client
from solah.site.messages import (
    MAX_SEQUENCE,
    MessageError,
    decode_progress,
    decode_status,
    document_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.site.bundle import Bundle
    from solah.site.client import Broker
    from solah.site.messages import Status
    from solah.site.topics import Topics
    from solah.site.trust import Trust

_WAIT = 5.0
_CONFIRM = 10.0
_QUIET = 0.5
_MOST_KEPT = 20
_LEAST_HASH = 6
UNTOLD = ("", "no answer", "it is offline")
"""What a node may answer that does not refuse a plan."""


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


def publish_bundle(
    broker: Broker, topics: Topics, bundle: Bundle, seconds: float = 0.0
) -> dict[str, str]:
    """Let the broker keep a bundle, and wait for what its nodes answer.

    One that is a shadow goes to the topic of shadows; one that is put to use ends the shadow of
    the same plan. A copy goes into the history.

    Parameters
    ----------
    broker, topics : where the network is
    bundle : Bundle
    seconds : float, default=0.0
        How long nodes are waited for.

    Returns
    -------
    answers : dict
        Of each node of the plan, why it did not take it; empty for one that did.
    """
    document, kept = bundle.to_bytes(), threading.Event()
    topic = (topics.shadow if bundle.is_shadow else topics).model
    answers = {node.name: "no answer" for node in bundle.plan.nodes}
    shadows: list[bytes] = []

    def take(where: str, payload: bytes) -> None:
        if where == topic:
            if payload == document:
                kept.set()
        elif where == topics.shadow.model:
            shadows.append(payload)
        else:
            with suppress(MessageError):
                status = decode_status(payload)
                if status.node in answers:
                    answers[status.node] = _answer(status, bundle, document)

    statuses = [topics.status(name) for name in answers]
    with _connected(broker, take, [topic, topics.shadow.model, *statuses]) as client:
        client.publish(topic, document, retain=True)
        if not kept.wait(_CONFIRM):
            raise BrokerError(
                f"the broker {broker!r} did not take the model; it may not be allowed"
            )
        client.publish(f"{topics.history}/{time.time_ns() // 1_000_000}", document, retain=True)
        if not bundle.is_shadow and shadows and _is_shadow_of(shadows[-1], bundle):
            client.publish(topics.shadow.model, b"", retain=True)
        _flush(client)
        give_up = time.monotonic() + seconds
        while "no answer" in answers.values() and time.monotonic() < give_up:
            time.sleep(0.05)
    _shorten_history(broker, topics)
    return answers


def _answer(status: Status, bundle: Bundle, document: bytes) -> str:
    """Return why a node did not take a plan; nothing where it did."""
    took = status.shadow if bundle.is_shadow else status.model
    if took == bundle.hash and (bundle.is_shadow or status.starts == bundle.starts):
        return "" if status.state == "online" else "it is offline"
    plan, why = status.refused
    return why if plan == document_id(document) else "no answer"


def _is_shadow_of(payload: bytes, bundle: Bundle) -> bool:
    try:
        return read_bundle(payload).hash == bundle.as_shadow().hash
    except (SolahError, RecursionError):
        return False


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
