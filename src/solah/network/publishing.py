"""Publish a bundle on a broker, which keeps it for all nodes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.network.client import BrokerError, Client
from solah.network.messages import MessageError, decode_progress

if TYPE_CHECKING:
    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.topics import Topics

_WAIT = 5.0
_CONFIRM = 10.0


def newest_row(broker: Broker, topics: Topics) -> int:
    """Return the last row up to which a network has decided; 0 where there is none."""
    rows = [0]
    received = threading.Event()

    def take(_topic: str, payload: bytes) -> None:
        try:
            rows.append(decode_progress(payload))
        except MessageError:
            return
        received.set()

    client = Client(broker, f"solah-{uuid4().hex[:12]}", take, is_kept=False)
    client.subscribe([topics.progress])
    client.start()
    received.wait(_WAIT)
    client.stop()
    return max(rows)


def publish_bundle(broker: Broker, topics: Topics, bundle: Bundle) -> None:
    """Let the broker keep a bundle, and tell it to all nodes; return when it is seen there."""
    document, kept = bundle.to_bytes(), threading.Event()

    def take(_topic: str, payload: bytes) -> None:
        if payload == document:
            kept.set()

    client = Client(broker, f"solah-{uuid4().hex[:12]}", take, is_kept=False)
    client.subscribe([topics.model])
    client.start()
    client.publish(topics.model, document, retain=True)
    is_kept = kept.wait(_CONFIRM)
    client.stop()
    if not is_kept:
        raise BrokerError(f"the broker {broker!r} did not take the model; it may not be allowed")
