"""What a site file says."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from solah.data.json_reader import Reader
from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.document import Task
from solah.model.policy import read_policy
from solah.site.bundle import Bundle, load_bundle
from solah.site.client import Broker, find_broker, read_credentials
from solah.site.kafka import KafkaBroker, kafka_hosts
from solah.site.plan import GATEWAY, SITE, make_plan
from solah.site.units import UNCHANGED, Linear

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.model.document import Model
    from solah.site.alerts import Alerting
    from solah.site.kafka import Mechanism
    from solah.site.send_on_change import Sending
    from solah.site.trust import Trust

Steps = tuple[str | int, ...]
"""The way to a value in a JSON document: keys of objects, and places in lists."""

EVERY = 10.0
"""Default of the seconds between two rows."""
MIN_COMPLETENESS = 0.5
"""Completeness below which a site abstains if neither its file nor its model has a policy."""

TimeFormat = Literal["iso", "s", "ms"]


@dataclass(frozen=True)
class Credentials:
    """Where a user's name and password are found; they never stand in the site file.

    Attributes
    ----------
    file : with the lines ``username=…`` and ``password=…``; None for the environment
    username, password : the environment's variables
    """

    file: Path | None = None
    username: str = ""
    password: str = ""

    def find(self) -> tuple[str, str]:
        """Return the user's name and password.

        Raises
        ------
        ParameterError
            A variable of the environment is not set, or a file is not as it must be.
        """
        if self.file is not None:
            return read_credentials(self.file)
        return _variable(self.username), _variable(self.password)


@dataclass(frozen=True)
class BrokerAccess:
    """Where a broker is, and how we come in."""

    url: str
    credentials: Credentials | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def find(self) -> Broker:
        """Return the broker with the user's name and password.

        Raises
        ------
        ParameterError
            A variable of the environment is not set, or a file is not as it must be.
        """
        broker = find_broker(
            self.url,
            authority=_text(self.authority),
            certificate=_text(self.certificate),
            key=_text(self.key),
        )
        if self.credentials is None:
            return broker
        username, password = self.credentials.find()
        return replace(broker, username=username, password=password)


@dataclass(frozen=True)
class KafkaAccess:
    """Where a Kafka cluster is on which sensors publish, and how we come in."""

    url: str
    credentials: Credentials | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    mechanism: Mechanism = "PLAIN"

    def find(self) -> KafkaBroker:
        """Return the cluster with the user's name and password, as :meth:`BrokerAccess.find`."""
        known = self.credentials
        username, password = (None, None) if known is None else known.find()
        return KafkaBroker(
            kafka_hosts(self.url),
            is_secret=self.url.lower().startswith("kafkas:"),
            authority=_text(self.authority),
            certificate=_text(self.certificate),
            key=_text(self.key),
            username=username,
            password=password,
            mechanism=self.mechanism,
        )


def _variable(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise ParameterError(
            f"the environment has no variable {name}, and the site file refers to it; set it"
        ) from None


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


@dataclass(frozen=True)
class TimeField:
    """Where a message says when it was measured.

    Attributes
    ----------
    path : where in the message
    format : ISO 8601, or seconds or milliseconds since 1970
    zone : the time zone of ISO times that name none, such as ``Europe/Berlin``
    is_optional : whether messages without it count as measured when they arrive
    """

    path: Steps
    format: TimeFormat = "iso"
    zone: str = "UTC"
    is_optional: bool = False


@dataclass(frozen=True)
class Sensor:
    """Where the readings of a feature come from.

    Attributes
    ----------
    feature : its name, or that of a channel; ``{1}`` stands for what the first wildcard of the
        topic matches
    topic : an MQTT topic filter
    path : where the value is in a JSON document; None where it is all of the message
    convert : from the number that is sent to what the model was trained on
    states : what stands for each text that is sent
    unknown : texts by which the sensor says that it knows nothing
    low, high : beyond these, a number cannot be, and counts as unknown
    per : seconds, where a counter is sent and the feature is its increase in that time
    time : where the message says when it was measured; ``"arrival"`` for when it arrives; None for
        when the source says that it was published, or else when it arrives
    number : where the sensor's own count of messages is; None where there is none
    max_age : seconds after which a reading is unknown; None to learn it, infinity for one that is
        held until the device says that it is gone
    takes_retained : whether what the broker had kept counts as measured when it arrives
    availability : topics on which the device, or what speaks for it, says whether it is there
    place : where the site file has it, for errors
    is_sparkplug : whether messages are Sparkplug B; the topic is then the place of a device, as
        :func:`solah.site.sparkplug.place_of` writes it, and the path begins with a metric
    """

    feature: str
    topic: str
    path: Steps | None = None
    convert: Linear = UNCHANGED
    states: Mapping[str, str | float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    per: float | None = None
    time: TimeField | Literal["arrival"] | None = None
    number: Steps | None = None
    max_age: float | None = None
    takes_retained: bool = False
    availability: tuple[str, ...] = ()
    place: str = ""
    is_sparkplug: bool = False


@dataclass(frozen=True)
class Deciding:
    """When rows are made and decided.

    Attributes
    ----------
    every : seconds between two rows
    on_change : whether a row is left out while no reading changes, ages or comes back
    deadline : seconds after which a row is decided with what is there
    """

    every: float = EVERY
    on_change: bool = False
    deadline: float = 2.0


@dataclass(frozen=True)
class Store:
    """How much a node keeps on disk for a broker that is away: bytes, and seconds."""

    size: int = 64_000_000
    age: float = 86_400.0


@dataclass(frozen=True)
class Site:
    """A site: devices, sensors, model, broker, and how it decides.

    Attributes
    ----------
    name : the name of the network
    nodes : the features that are measured at each node; empty for one node, the gateway, that
        measures all
    gateway : the node of all that is placed nowhere else
    model, plan : the file of the model, or of a plan that was made of it; None for the other
    broker : None where the file names none
    sensor_brokers : of each node whose sensors publish elsewhere, where
    sensors : where readings come from
    deciding : when rows are made
    policy : when the site abstains, and when a stable decision changes, instead of the model's
        policy; ``min_probability`` may be one number, or by class
    sending : how nodes send on change; None where they send every row
    alerts : what ``solah site run`` raises alerts of; None for nothing
    root : what the topics of the site begin with
    state : the folder of what nodes remember
    store : what they keep for a broker that is away
    trust : files of the keys whose plans are taken
    file, lines : where it was read, and the line of each place in it, for errors
    """

    name: str = SITE
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gateway: str = GATEWAY
    model: Path | None = None
    plan: Path | None = None
    broker: BrokerAccess | None = None
    sensor_brokers: Mapping[str, BrokerAccess | KafkaAccess] = field(default_factory=dict)
    sensors: tuple[Sensor, ...] = ()
    deciding: Deciding = Deciding()
    policy: Mapping[str, Any] | None = None
    sending: Sending | None = None
    alerts: Alerting | None = None
    root: str = "solah"
    state: Path = Path("solah.state")
    store: Store = Store()
    trust: tuple[Path, ...] = ()
    file: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def error(self, message: str) -> ParameterError:
        """Return an error with the file and the line of the place that a message begins with."""
        named = [place for place in self.lines if message.startswith(place)]
        line = f"line {self.lines[max(named, key=len)]}: " if named else ""
        return ParameterError(f"{self.file}: {line}{message}" if self.file else message)

    def bundle(self, trust: Trust | None = None) -> Bundle:
        """Load the model and say which node runs what, or load the plan that does.

        Raises
        ------
        ParameterError
            The file names neither, or the plan is of another site.
        """
        from solah.model import load_document

        if self.plan is not None:
            bundle = load_bundle(self.plan, trust)
            if bundle.plan.site != self.name:
                raise ParameterError(
                    f"the plan {self.plan} is of the site {bundle.plan.site!r}, and the site file "
                    f"of {self.name!r}"
                )
            return bundle
        if self.model is None:
            raise ParameterError("the site file names no model; add a line 'model: FILE'")
        model = load_document(self.model)
        policy = self.policy
        if policy is None and model.policy is None and model.target.task is Task.CLASSIFICATION:
            policy = {"min_completeness": MIN_COMPLETENESS}
        if policy is not None:
            model = _with_policy(model, policy)
        plan = make_plan(
            model,
            self.nodes or {self.gateway: tuple(one.name for one in model.features)},
            gateway=self.gateway,
            site=self.name,
            sending=self.sending,
        )
        return Bundle(plan, model)

    def broker_of(self, node: str) -> BrokerAccess | KafkaAccess:
        """Return the broker on which a node's sensors publish."""
        return self.sensor_brokers.get(node) or self.hub

    @property
    def hub(self) -> BrokerAccess:
        """The broker of the nodes."""
        if self.broker is None:
            raise ParameterError("the site file names no broker; add 'broker: mqtt://host'")
        return self.broker


def _with_policy(model: Model, given: Mapping[str, Any]) -> Model:
    """Let a model decide by the policy of a site file."""
    names = [spell(state) for state in model.target.classes]
    belief = given.get("min_probability")
    values = dict(given)
    if isinstance(belief, dict):
        for name in belief:
            if name not in names:
                raise ParameterError(
                    f"site.policy.min_probability has {shorten(name)}, which is no class"
                    f"{did_you_mean(name, names)}"
                )
        values["min_probability"] = [belief.get(name, 0.0) for name in names]
    elif isinstance(belief, int | float):
        values["min_probability"] = [belief] * len(names)
    policy = read_policy(Reader(values, "site.policy", ParameterError), model.domain, model.target)
    return replace(model, policy=policy)
