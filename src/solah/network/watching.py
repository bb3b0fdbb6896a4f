"""Connect an observer to a site."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from functools import partial
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
) -> Iterator[None]:
    """Give an observer, and ``also``, the messages of a site as long as the context lasts."""

    def take(topic: str, payload: bytes, *, is_retained: bool = False) -> None:
        observer.take(topic, payload, time.time(), is_retained=is_retained)
        if also is not None:
            also(topic, payload)

    client = Client(
        broker,
        f"solah-{uuid4().hex[:12]}",
        take,
        on_connect=lambda: observer.note_link(True, time.time()),
        on_lost=lambda: observer.note_link(False, time.time()),
        on_retained=partial(take, is_retained=True),
        is_kept=False,
    )
    client.subscribe([f"{topics.root}/{topics.site}/#"])
    client.start()
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
