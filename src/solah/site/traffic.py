"""Count the bytes that one decision and the statuses of nodes send over the network.

The nodes of the plan decide one row, and their messages are counted as they are written. A message
costs an MQTT 3.1.1 PUBLISH at QoS 1: the fixed header, the topic, the packet's number and the
message itself; once on its way to the broker, and once to every node that subscribes to it. A node
sends a status once a minute, to the broker. The acknowledgements (4 bytes each), TCP and models are
left out; so is the decision itself, which is the same wherever it is made.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.site.compact_messages import encode_rows
from solah.site.core import NodeCore
from solah.site.messages import Beliefs, Measured, SensorReport, Status, encode
from solah.site.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from solah.model.features import Feature
    from solah.site.bundle import Bundle
    from solah.site.messages import Reading
    from solah.site.plan import NodePlan, Plan

# A row some way into the life of a network: short numbers would flatter the messages.
_SEQUENCE = 123_456
_TIME = 1_763_293_226.123456
_PLACE_IN_RANGE = 0.37
_DIGITS = 4
_AGE = 12.345


@dataclass(frozen=True)
class Load:
    """What some messages cost.

    Attributes
    ----------
    messages : how often the wire is used: to the broker, and from it to each subscriber
    bytes : what these messages have
    """

    messages: int = 0
    bytes: int = 0

    def __add__(self, other: Load) -> Load:
        return Load(self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class NodeTraffic:
    """What a node sends for one decision, and what it would send to a centre.

    Attributes
    ----------
    node : its name
    beliefs : what it sends by the plan
    readings : its readings to the node that decides, in one message; nothing for that node itself
    single_readings : the same, with a message per reading
    status : how it is doing, once a minute
    """

    node: str
    beliefs: Load
    readings: Load
    single_readings: Load
    status: Load


@dataclass(frozen=True)
class Traffic:
    """What goes over the wire for one decision.

    Attributes
    ----------
    nodes : by node, in the order of the plan
    """

    nodes: tuple[NodeTraffic, ...]

    @property
    def beliefs(self) -> Load:
        """What all nodes send."""
        return sum((node.beliefs for node in self.nodes), Load())

    @property
    def readings(self) -> Load:
        """What would go to the centre, with a message per node."""
        return sum((node.readings for node in self.nodes), Load())

    @property
    def single_readings(self) -> Load:
        """What would go to the centre, with a message per reading."""
        return sum((node.single_readings for node in self.nodes), Load())

    @property
    def status(self) -> Load:
        """What all nodes send once a minute, whatever is decided."""
        return sum((node.status for node in self.nodes), Load())


def measure_traffic(bundle: Bundle, root: str | None = None) -> Traffic:
    """Measure what goes over the wire for one decision.

    Parameters
    ----------
    bundle : Bundle
        The plan and its model.
    root : str, default=None
        What topics begin with; None for the usual.

    Returns
    -------
    traffic : Traffic

    Examples
    --------
    >>> from solah import LinguisticHierarchyClassifier, datasets
    >>> from solah.site.bundle import Bundle
    >>> from solah.site.plan import make_plan
    >>> wine = datasets.load("wine")
    >>> by_hand = LinguisticHierarchyClassifier("z <- alcohol, hue; y <- z, proline")
    >>> model = by_hand.fit(wine.table, wine.target).model_
    >>> plan = make_plan(model, {"cellar": ["alcohol", "hue"], "office": ["proline"]})
    >>> traffic = measure_traffic(Bundle(plan, model))
    >>> traffic.beliefs.messages, traffic.readings.messages, traffic.single_readings.messages
    (2, 2, 4)
    """
    topics = Topics(bundle.plan.site) if root is None else Topics(bundle.plan.site, root)
    readings = {one.name: typical_reading(one) for one in bundle.model.features}
    sent = list(_sent(bundle, readings))
    decider = bundle.plan.home[bundle.model.root.name]
    nodes = []
    for node in bundle.plan.nodes:
        own = {} if node.name == decider else {name: readings[name] for name in node.reads}
        single = [{name: reading} for name, reading in own.items()]
        way = topics.readings(node.name)
        n_subscribers = len(_subscribers(bundle.plan, node.name))
        beliefs = (message for message in sent if message.node == node.name)
        nodes.append(
            NodeTraffic(
                node.name,
                _load(beliefs, topics.said(node.name), n_subscribers, bundle),
                _load([_row(own)] if own else [], way, 1, bundle),
                _load(map(_row, single), way, 1, bundle),
                _status(bundle, node, topics),
            )
        )
    return Traffic(tuple(nodes))


def typical_reading(feature: Feature) -> Reading:
    """Return a reading as a sensor would give it: a state, or a number with few digits."""
    if feature.is_continuous:
        low, high = feature.low or 0.0, feature.high or 0.0
        return float(f"{low + _PLACE_IN_RANGE * (high - low):.{_DIGITS}g}")
    if not feature.categories:
        return None
    state = feature.categories[len(feature.categories) // 2]
    return state if isinstance(state, str) else float(state)


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


def _sent(bundle: Bundle, readings: Mapping[str, Reading]) -> Iterator[Beliefs]:
    """Let the nodes decide a row; yield what they send."""
    plan = bundle.plan
    cores = {node.name: NodeCore(bundle, node.name) for node in plan.nodes}
    for node in plan.nodes:
        if node.reads:
            own = {name: readings[name] for name in node.reads}
            cores[node.name].read([_row(own)], 0.0, _TIME)
    waiting = deque(cores)
    while waiting:
        for message in cores[waiting.popleft()].advance(0.0).beliefs:
            yield message
            for name in _subscribers(plan, message.node):
                cores[name].hear(message, 0.0)
                waiting.append(name)


def _row(readings: Mapping[str, Reading]) -> Measured:
    return Measured(readings, _SEQUENCE, _TIME)


def _subscribers(plan: Plan, name: str) -> list[str]:
    """Name the nodes that subscribe to this one."""
    return [node.name for node in plan.nodes if name in dict(node.hears).values()]


def _load(
    messages: Iterable[Beliefs | Measured], topic: str, n_subscribers: int, bundle: Bundle
) -> Load:
    load, times = Load(), 1 + n_subscribers
    for message in messages:
        payload = encode_rows(message, bundle) if isinstance(message, Beliefs) else encode(message)
        load += Load(times, times * publish_bytes(topic, payload))
    return load


def _status(bundle: Bundle, node: NodePlan, topics: Topics) -> Load:
    """Return the load of a status of a node that took some thousand messages of its sensors."""
    counters = dict.fromkeys(("readings", "heard", "decisions", "sensor_messages"), _SEQUENCE)
    sensors = {name: SensorReport(_AGE, _AGE, True, {"taken": _SEQUENCE}) for name in node.reads}
    status = Status(node.name, "online", bundle.hash, counters, sensors)
    return Load(1, publish_bytes(topics.status(node.name), encode(status)))
