"""A simulated edge node of Sparkplug B with a device, for tests."""

import time

from solah.site.client import Client, find_broker
from solah.site.sparkplug import REBIRTH, _parse, _payload_type

INT64, DOUBLE, BOOLEAN, STRING = 4, 10, 11, 12
_FIELDS = {INT64: "long_value", DOUBLE: "double_value", BOOLEAN: "boolean_value"}


def message(*metrics, timestamp=None, seq=None):
    """Write a message; each metric is a mapping of its fields."""
    payload = _payload_type()()
    if timestamp is not None:
        payload.timestamp = timestamp
    if seq is not None:
        payload.seq = seq
    for one in metrics:
        payload.metrics.add(**one)
    return payload.SerializeToString()


def metric(name, alias, datatype, value, **more):
    """Return a metric as births have it."""
    found = {"name": name, "alias": alias, "datatype": datatype, **more}
    return found | {_FIELDS.get(datatype, "string_value"): value}


class EdgeNode:
    """Publishes births, data by alias and deaths, and answers requests for a birth."""

    def __init__(self, url, group="plant", edge="line1", device="room"):
        self.values = {"Climate/Temperature": 23.5, "Climate/Humidity": 50.0}
        self.n_requests = 0
        self._topic = f"spBv1.0/{group}/{{}}/{edge}"
        self._device, self._session, self._seq = device, 0, -1
        self._client = Client(find_broker(url), "edge", self._command, is_kept=False)
        self._client.subscribe([self._topic.format("NCMD")])
        self._client.start()

    def begin(self):
        """Publish the births of the node and of its device."""
        self._seq = -1
        session = {"name": "bdSeq", "datatype": INT64, "long_value": self._session}
        self._publish("NBIRTH", session, metric(REBIRTH, 0, BOOLEAN, False))
        metrics = [
            metric(name, alias, DOUBLE, value)
            for alias, (name, value) in enumerate(self.values.items(), 1)
        ]
        self._publish("DBIRTH", *metrics)

    def change(self, name, value):
        """Publish a new value, by its alias alone."""
        self.values[name] = value
        self._publish("DDATA", {"alias": [*self.values].index(name) + 1, "double_value": value})

    def end(self):
        """Publish the death of the node, as its last will."""
        session = {"name": "bdSeq", "datatype": INT64, "long_value": self._session}
        self._client.publish(self._topic.format("NDEATH"), message(session))
        self._session += 1

    def stop(self):
        self._client.stop()

    def _publish(self, kind, *metrics):
        self._seq = (self._seq + 1) % 256
        topic = self._topic.format(kind) + (f"/{self._device}" if kind[0] == "D" else "")
        now = int(1000 * time.time())
        self._client.publish(topic, message(*metrics, timestamp=now, seq=self._seq))

    def _command(self, _topic, payload):
        (asked,) = _parse(payload).metrics
        if asked.name == REBIRTH and asked.boolean_value:
            self.n_requests += 1
            self.begin()
