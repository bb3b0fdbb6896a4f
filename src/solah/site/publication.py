"""Publish plans on a broker, which keeps them for all nodes, with a history for rollbacks."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.exceptions import ParameterError, SolahError, shorten
from solah.site.bundle import read_bundle
from solah.site.client import BrokerError, Client
from solah.site.messages import (
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
NO_REFUSALS = ("", "no answer", "it is offline")
"""Answers of a node that do not refuse a plan."""


@dataclass(frozen=True)
class Publication:
    """A plan that was published.

    Attributes
    ----------
    time : when, in milliseconds since 1970
    bundle : the plan and its model
    document : its bytes
    signer : the owner of the key that signed it, ``""`` without a signature, ``"unknown"`` if the
        key is not among those given
    """

    time: int
    bundle: Bundle
    document: bytes
    signer: str


def newest_row(broker: Broker, topics: Topics) -> int:
    """Return the last row up to which a network has decided; 0 if there is none."""
    rows: list[int] = []
    has_come = threading.Event()

    def take(_topic: str, payload: bytes) -> None:
        with suppress(MessageError):
            rows.append(decode_progress(payload))
            has_come.set()

    with _connected(broker, take, [topics.progress]):
        has_come.wait(_WAIT)
    return max(rows, default=0)


def publish_bundle(
    broker: Broker, topics: Topics, bundle: Bundle, seconds: float = 0.0
) -> dict[str, str]:
    """Let the broker keep a bundle, and wait for the answers of its nodes.

    A shadow goes to the topic of shadows; a bundle for use ends the shadow of the same plan. A
    copy goes into the history.

    Parameters
    ----------
    broker, topics : where the network is
    bundle : Bundle
    seconds : float, default=0.0
        How long to wait for nodes.

    Returns
    -------
    answers : dict
        Why each node of the plan did not take it; empty for one that did.
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
    if old := [when for when, _ in _kept_history(broker, topics)[_MOST_KEPT:]]:
        _forget(broker, [f"{topics.history}/{when}" for when in old])
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
    """Let the broker forget the shadow, which ends it on all nodes."""
    _forget(broker, [topics.shadow.model])


def read_history(broker: Broker, topics: Topics, trust: Trust | None = None) -> list[Publication]:
    """Return the plans that the broker keeps in its history, the newest first.

    Parameters
    ----------
    broker, topics : where the network is
    trust : Trust, default=None
        The keys that name signers.
    """
    found = []
    for when, document in _kept_history(broker, topics):
        with suppress(SolahError, RecursionError):  # somebody else put it there
            bundle, signer = read_bundle(document), ""
            if bundle.signature:
                signer = (trust.signer(document) if trust else None) or "unknown"
            found.append(Publication(when, bundle, document, signer))
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
        # Nothing marks the end of retained messages, so a pause must do.
        while time.monotonic() < arrived + _QUIET:
            time.sleep(0.02)
    return sorted(kept.items(), reverse=True)


def _forget(broker: Broker, topics: list[str]) -> None:
    with _connected(broker, lambda *_: None, []) as client:
        for topic in topics:
            client.publish(topic, b"", retain=True)
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
