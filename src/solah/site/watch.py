"""Connect an observer to a site."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from solah.site.alerts import Alarms, encode_alert, encode_alerts
from solah.site.client import Client
from solah.site.logs import Event
from solah.site.webhook import find_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.site.alerts import Alerting
    from solah.site.client import Broker
    from solah.site.logs import Level
    from solah.site.observer import Observer
    from solah.site.topics import Topics
    from solah.site.web_server import Server

_FIRST_LOOK = 1.5
_LOOK_EVERY = 0.5


@contextmanager
def subscribed(
    broker: Broker,
    topics: Topics,
    observer: Observer,
    also: Callable[[str, bytes], None] | None = None,
    log: Callable[[str], None] = lambda _: None,
    *,
    is_patient: bool = False,
) -> Iterator[Client]:
    """Give an observer, and ``also``, the messages of a site as long as the context lasts."""
    is_over = False

    def note_link(is_connected: bool) -> None:
        if is_over:
            return  # what was seen last stays as it was
        observer.note_link(is_connected, time.time())
        if not is_connected:
            text = "the connection to the broker is lost"
            log(Event(text, "connection_lost", "warning", site=topics.site))
        else:
            log(Event(f"connected to {broker!r}", "connected", site=topics.site))

    def take(topic: str, payload: bytes, *, is_retained: bool = False) -> None:
        observer.take(topic, payload, time.time(), is_retained=is_retained)
        if also is not None:
            also(topic, payload)

    client = Client(
        broker,
        f"solah-{uuid4().hex[:12]}",
        take,
        on_connect=partial(note_link, True),
        on_lost=partial(note_link, False),
        on_retained=partial(take, is_retained=True),
        is_kept=False,
    )
    client.subscribe([f"{topics.root}/{topics.site}/#"])
    client.start(is_patient=is_patient)
    try:
        yield client
    finally:
        is_over = True
        client.stop()


@contextmanager
def alerting(
    observer: Observer,
    settings: Alerting,
    client: Client,
    topics: Topics,
    log: Callable[[str], None],
) -> Iterator[None]:
    """Raise and clear the alerts of a site as long as the context lasts."""
    stopping = threading.Event()
    posts: list[threading.Thread] = []
    if settings.webhook is not None and settings.webhook.token:
        find_secret(settings.webhook.token)  # a missing one is an error at the start
    alarms = Alarms(settings.rules)

    def step() -> None:
        changes = alarms.update(observer.snapshot(time.time()))
        for alert in changes:
            payload = encode_alert(alert, topics.site)
            client.publish(topics.alert, payload)
            level: Level = "warning" if alert.state == "raised" else "info"
            text = f"alert {alert.name}: {alert.text}"
            log(Event(text, f"alert_{alert.state}", level, alert=alert.name, since=alert.since))
            if settings.webhook is not None:
                posts[:] = [post for post in posts if post.is_alive()]
                posts.append(settings.webhook.send(payload, log))
        if changes:
            client.publish(topics.alerts, encode_alerts(alarms.active), retain=True)

    def run() -> None:
        stopping.wait(_FIRST_LOOK)  # the broker tells first which alerts are raised already
        while not stopping.wait(_LOOK_EVERY):
            step()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
        for post in posts:
            post.join(5.0)


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
