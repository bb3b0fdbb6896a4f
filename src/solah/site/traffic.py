"""Count the bytes that one decision and the statuses of nodes send over the network.

The nodes of the plan decide one row, and their messages are counted as they are written. A message
costs an MQTT 3.1.1 PUBLISH at QoS 1: the fixed header, the topic, the packet's number and the
message itself; once on its way to the broker, and once to every node that subscribes to it. A node
sends a status once a minute, to the broker. The acknowledgements (4 bytes each), TCP, models and
the decision itself are not counted.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.site.compact_messages import encode_rows
from solah.site.core import NodeCore
from solah.site.messages import Measured, SensorReport, Status, encode
from solah.site.topics import ROOT, Topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.model.features import Feature
    from solah.site.bundle import Bundle
    from solah.site.messages import Beliefs, Reading

# A row some way into the life of a network: short numbers would flatter the messages.
_SEQUENCE = 123_456
_TIME = 1_763_293_226.123456
_PLACE_IN_RANGE = 0.37
_DIGITS = 4
_AGE = 12.3


@dataclass(frozen=True)
class Load:
    """The cost of some messages.

    Attributes
    ----------
    messages : how often the wire is used: to the broker, and from it to each subscriber
    bytes : the size of these messages
    """

    messages: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Traffic:
    """The messages for one decision.

    Attributes
    ----------
    beliefs : the messages of the nodes
    readings : instead, all readings to the deciding node, in a message per node
    status : the statuses of all nodes, once a minute
    """

    beliefs: Load
    readings: Load
    status: Load


def measure_traffic(bundle: Bundle, root: str = ROOT) -> Traffic:
    """Measure what goes over the wire for one decision.

    Parameters
    ----------
    bundle : Bundle
        The plan and its model.
    root : str, default="solah"
        The first part of topics.

    Returns
    -------
    traffic : Traffic

    Examples
    --------
    >>> from solah import LinguisticHierarchyClassifier, datasets
    >>> from solah.site.bundle import Bundle
    >>> from solah.site.plan import make_plan
    >>> wine = datasets.load("wine")
    >>> user_defined = LinguisticHierarchyClassifier("z <- alcohol, hue; y <- z, proline")
    >>> model = user_defined.fit(wine.table, wine.target).model_
    >>> plan = make_plan(model, {"cellar": ["alcohol", "hue"], "office": ["proline"]})
    >>> traffic = measure_traffic(Bundle(plan, model))
    >>> traffic.beliefs.messages, traffic.readings.messages, traffic.status.messages
    (2, 2, 2)
    """
    topics, plan = Topics(bundle.plan.site, root), bundle.plan
    typical = {one.name: typical_reading(one) for one in bundle.model.features}
    beliefs = readings = status = Load()
    for message in _sent(bundle, typical):
        n_subscribers = len(_subscribers(bundle, message.node))
        payload = encode_rows(message, bundle)
        beliefs = _plus(beliefs, topics.said(message.node), payload, 1 + n_subscribers)
    counters = dict.fromkeys(("readings", "heard", "decisions", "sensor_messages"), _SEQUENCE)
    for node in plan.nodes:
        if node.reads and node.name != plan.home[bundle.model.root.name]:
            row = _row({name: typical[name] for name in node.reads})
            readings = _plus(readings, topics.readings(node.name), encode(row), 2)
        sensors = {
            name: SensorReport(_AGE, _AGE, True, {"taken": _SEQUENCE}) for name in node.reads
        }
        payload = encode(Status(node.name, "online", bundle.hash, counters, sensors))
        status = _plus(status, topics.status(node.name), payload, 1)
    return Traffic(beliefs, readings, status)


def typical_reading(feature: Feature) -> Reading:
    """Return a reading as a sensor would send it: a category, or a number with few digits."""
    if feature.is_continuous:
        low, high = feature.low or 0.0, feature.high or 0.0
        return float(f"{low + _PLACE_IN_RANGE * (high - low):.{_DIGITS}g}")
    if not feature.categories:
        return None
    category = feature.categories[len(feature.categories) // 2]
    return category if isinstance(category, str) else float(category)


def publish_bytes(topic: str, payload: bytes) -> int:
    """Return the size of an MQTT 3.1.1 PUBLISH at QoS 1.

    Examples
    --------
    >>> publish_bytes("solah/house/kitchen/out", b"hello")  # 2, 2 + 23, 2 and 5
    34
    """
    rest = 2 + len(topic.encode()) + 2 + len(payload)
    n_length_bytes = max(1, -(-rest.bit_length() // 7))
    return 1 + n_length_bytes + rest


def _plus(load: Load, topic: str, payload: bytes, times: int) -> Load:
    """Return the cost with one more message, which uses the wire several times."""
    return Load(load.messages + times, load.bytes + times * publish_bytes(topic, payload))


def _sent(bundle: Bundle, readings: dict[str, Reading]) -> Iterator[Beliefs]:
    """Let the nodes decide a row; yield what they send."""
    cores = {node.name: NodeCore(bundle, node.name) for node in bundle.plan.nodes}
    for node in bundle.plan.nodes:
        if node.reads:
            row = _row({name: readings[name] for name in node.reads})
            cores[node.name].read([row], 0.0, _TIME)
    waiting = deque(cores)
    while waiting:
        for message in cores[waiting.popleft()].advance(0.0).beliefs:
            yield message
            for name in _subscribers(bundle, message.node):
                cores[name].hear(message, 0.0)
                waiting.append(name)


def _row(readings: dict[str, Reading]) -> Measured:
    return Measured(readings, _SEQUENCE, _TIME)


def _subscribers(bundle: Bundle, name: str) -> list[str]:
    return [node.name for node in bundle.plan.nodes if name in dict(node.hears).values()]
