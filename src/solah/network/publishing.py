"""A bundle and a broker in, the bundle kept there for all nodes out."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.network.client import BrokerError, Client

if TYPE_CHECKING:
    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.topics import Topics

_LISTEN = 1.0
_CONFIRM = 10.0


def newest_row(broker: Broker, topics: Topics) -> int:
    """Return the last row up to which a network has decided; 0 where none is heard of."""
    rows = [0]
    heard = threading.Event()

    def take(_topic: str, payload: bytes) -> None:
        try:
            rows.append(int(json.loads(payload)))
        except (ValueError, TypeError):
            return
        heard.set()

    client = Client(broker, f"solah-{uuid4().hex[:12]}", take, is_kept=False)
    client.subscribe([topics.progress])
    client.start()
    heard.wait(_LISTEN)
    client.stop()
    return max(rows)


def publish_bundle(broker: Broker, topics: Topics, bundle: Bundle) -> None:
    """Let the broker keep a bundle, and tell it to all nodes; return when that is confirmed."""
    client = Client(broker, f"solah-{uuid4().hex[:12]}", lambda *_: None, is_kept=False)
    client.start()
    client.publish(topics.model, bundle.to_bytes(), retain=True)
    give_up = time.monotonic() + _CONFIRM
    while client.in_flight and time.monotonic() < give_up:
        time.sleep(0.01)
    is_confirmed = not client.in_flight
    client.stop()
    if not is_confirmed:
        raise BrokerError(f"the broker {broker!r} did not confirm the model; it may not be allowed")
