"""The connection to the MQTT broker on which sensors publish."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from solah.site.client import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solah.site.client import Broker


class SensorClient(Client):
    """A connection to the MQTT broker on which sensors publish.

    Parameters
    ----------
    broker : Broker
    name : str
        What the broker knows us by.
    filters : iterable of str
        The topics to subscribe to.
    take : callable of topic, payload, is_retained
        Called in a thread of its own; whether the broker had kept the message, nobody knows for
        how long.
    on_connect, on_lost : callable, default=None
        Called in that thread whenever a connection is made or lost.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        filters: Iterable[str],
        take: Callable[[str, bytes, bool], None],
        *,
        on_connect: Callable[[], None] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        # What a broker kept for us while we were away would come as if it were measured now.
        super().__init__(broker, name, take, on_connect=on_connect, on_lost=on_lost, is_kept=False)
        self.counters: Counter[str] = Counter()
        self.subscribe(filters)

    def start(self, timeout: float = 10.0, *, is_patient: bool = True) -> None:
        """Connect, and stay so until :meth:`stop`; by default also to one that starts later."""
        super().start(timeout, is_patient=is_patient)

    def command(self, topic: str, payload: bytes) -> None:
        """Publish a command to a device, once at most, as Sparkplug wants it."""
        self._paho.publish(topic, payload, qos=0)

    def _received(self, _client: Any, _data: Any, message: Any) -> None:
        self._on_message(message.topic, message.payload, bool(message.retain))
