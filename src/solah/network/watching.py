"""Connect an observer to a site."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.network.client import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.network.client import Broker
    from solah.network.observing import Observer
    from solah.network.topics import Topics
    from solah.network.web import Server


@contextmanager
def subscribed(
    broker: Broker,
    topics: Topics,
    observer: Observer,
    also: Callable[[str, bytes], None] | None = None,
    *,
    is_patient: bool = False,
) -> Iterator[None]:
    """Give an observer, and ``also``, the messages of a site as long as the context lasts."""

    def take(topic: str, payload: bytes) -> None:
        observer.take(topic, payload, time.time())
        if also is not None:
            also(topic, payload)

    client = Client(broker, f"solah-{uuid4().hex[:12]}", take, is_kept=False)
    client.subscribe([f"{topics.root}/{topics.site}/#"])
    client.start(is_patient=is_patient)
    try:
        yield
    finally:
        client.stop()


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """Let a server answer in a thread of its own, as long as the context lasts."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.stop()
        thread.join(5.0)
