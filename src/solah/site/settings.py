"""The content of a site file: what it is read as, and what follows from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data.json_reader import Reader
from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.document import Task
from solah.model.policy import Policy, read_policy
from solah.site.alerts import Alerting
from solah.site.bundle import Bundle, load_bundle
from solah.site.client import Broker, find_broker, is_kafka, read_credentials
from solah.site.fields import (
    choice,
    duration,
    either,
    items,
    kind,
    named,
    path,
    record,
    setting,
    text,
)
from solah.site.kafka import MECHANISMS, KafkaBroker, kafka_hosts
from solah.site.placement import read_nodes
from solah.site.plan import GATEWAY, SITE, check_name, make_plan, with_sending
from solah.site.send_on_change import Sending
from solah.site.sensor_mapping import pattern_of
from solah.site.sensors import SENSORS, Sensor
from solah.site.units import bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.model.document import Model
    from solah.site.trust import Trust

EVERY = 10.0
"""Default of the seconds between two rows."""
MIN_COMPLETENESS = 0.5
"""Completeness below which a site abstains if neither its file nor its model has a policy."""
_MOST_NODES = 10_000


def _refuse_secret(reader: Reader) -> None:
    raise reader.error(
        f"{reader.place} does not belong into a file that is shared; use 'credentials' with a "
        "'file', or with 'username_variable' and 'password_variable' of the environment"
    )


def _check_url(url: str) -> str:
    kafka_hosts(url) if is_kafka(url) else find_broker(url)
    return url


def _check_root(root: str) -> str:
    if any(sign in root for sign in "+#\0") or not all(root.split("/")):
        raise ParameterError(
            f"must be the beginning of a topic, without wildcards. Got {shorten(root)} instead."
        )
    return root


def _read_nodes(reader: Reader) -> dict[str, tuple[str, ...]]:
    try:
        return read_nodes(reader.value)
    except ParameterError as error:
        raise reader.error(f"{reader.place}: {error}") from None


def _read_policy_keys(reader: Reader) -> dict[str, Any]:
    """Read the names of a policy; its values are checked with the model."""
    parts = reader.record((), _POLICY)
    return {name: part.value for name, part in parts.items()}


_SECRET = kind(_refuse_secret, **{"not": {}})
_NAME = text(check_name, 64)
_POLICY = [one.name for one in fields(Policy)]
_NODES = kind(_read_nodes, type="object", minProperties=1, additionalProperties={"type": "array"})
_NAMES = {"propertyNames": {"enum": _POLICY}}


@dataclass(frozen=True)
class Credentials:
    """Where a name and a password are found, a file or two variables; never in the site file."""

    file: Path | None = setting(path(), None)
    username_variable: str = setting(text(most=200), "")
    password_variable: str = setting(text(most=200), "")

    def __post_init__(self) -> None:
        if (self.file is None) != bool(self.username_variable and self.password_variable) or (
            bool(self.username_variable) != bool(self.password_variable)
        ):
            raise ParameterError(
                "credentials are a 'file' with the lines username=… and password=…, or "
                "'username_variable' and 'password_variable', names of the environment"
            )

    def find(self) -> tuple[str, str]:
        """Return the user's name and password.

        Raises
        ------
        ParameterError
            A variable of the environment is not set, or a file is not as it must be.
        """
        if self.file is not None:
            return read_credentials(self.file)
        for name in (self.username_variable, self.password_variable):
            if name not in os.environ:
                raise ParameterError(
                    f"the environment has no variable {name}, and the site file refers to it; "
                    "set it"
                )
        return os.environ[self.username_variable], os.environ[self.password_variable]


@dataclass(frozen=True)
class Access:
    """Where a broker is, or a Kafka cluster on which sensors publish, and who we are there."""

    url: str = setting(text(_check_url))
    credentials: Credentials | None = setting(record(Credentials), None)
    authority: Path | None = setting(path(), None, "ca")
    certificate: Path | None = setting(path(), None, "cert")
    key: Path | None = setting(path(), None)
    mechanism: Any = setting(choice(*MECHANISMS), None)
    username: None = setting(_SECRET, None)
    password: None = setting(_SECRET, None)

    def __post_init__(self) -> None:
        is_open = self.is_kafka and not self.url.lower().startswith("kafkas:")
        if is_open and (self.authority or self.certificate or self.key):
            raise ParameterError("certificates are for kafkas:// brokers")
        if self.mechanism and not (self.credentials and self.is_kafka):
            raise ParameterError("'mechanism' goes with a Kafka cluster and 'credentials'")

    @property
    def is_kafka(self) -> bool:
        """Whether it is a Kafka cluster."""
        return is_kafka(self.url)

    def find(self) -> Broker:
        """Return the MQTT broker, with the user's name and password.

        Raises
        ------
        ParameterError
            A variable of the environment is not set, or a file is not as it must be.
        """
        broker = find_broker(self.url, **self._files())
        if self.credentials is None:
            return broker
        username, password = self.credentials.find()
        return replace(broker, username=username, password=password)

    def find_kafka(self) -> KafkaBroker:
        """Return the Kafka cluster, as :meth:`find` returns a broker."""
        username, password = self.credentials.find() if self.credentials else (None, None)
        return KafkaBroker(
            kafka_hosts(self.url),
            is_secret=self.url.lower().startswith("kafkas:"),
            username=username,
            password=password,
            mechanism=self.mechanism or "PLAIN",
            **self._files(),
        )

    def _files(self) -> dict[str, str | None]:
        files = {"authority": self.authority, "certificate": self.certificate, "key": self.key}
        return {name: None if file is None else str(file) for name, file in files.items()}


_ACCESS = either(
    (str, kind(lambda reader: Access(text(_check_url)["read"](reader)), type="string")),
    otherwise=record(Access),
)


@dataclass(frozen=True)
class Deciding:
    """When rows are made and decided: seconds between two rows, and a row's deadline."""

    every: float = setting(duration(0.01), EVERY)
    when: str = setting(choice("always", "changed"), "always")
    deadline: float = setting(duration(), 2.0)

    @property
    def on_change(self) -> bool:
        """Whether a row is dropped while no reading changes, ages or comes back."""
        return self.when == "changed"


@dataclass(frozen=True)
class Store:
    """What a node keeps on disk for a broker that is away, at most: bytes, and seconds."""

    size: int = setting(text(bytes_of), 64_000_000)
    age: float = setting(duration(1.0), 86_400.0)

    def __post_init__(self) -> None:
        if self.size < 100_000:
            raise ParameterError(f"'size' must be at least 100kB. Got {self.size} bytes instead.")


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

    name: str = setting(_NAME, SITE, "site")
    nodes: Mapping[str, tuple[str, ...]] = setting(_NODES, {})
    gateway: str = setting(_NAME, GATEWAY)
    model: Path | None = setting(path(), None)
    plan: Path | None = setting(path(), None)
    broker: Access | None = setting(_ACCESS, None)
    sensor_brokers: Mapping[str, Access] = setting(named(_ACCESS, 0, _MOST_NODES), {})
    sensors: tuple[Sensor, ...] = setting(SENSORS, ())
    deciding: Deciding = setting(record(Deciding), Deciding(), "decide")
    policy: Mapping[str, Any] | None = setting(
        kind(_read_policy_keys, type="object", **_NAMES), None
    )
    sending: Sending | None = setting(record(Sending), None)
    alerts: Alerting | None = setting(record(Alerting), None)
    root: str = setting(text(_check_root, 200), "solah")
    state: Path = setting(path(), Path("site.state"))
    store: Store = setting(record(Store), Store())
    trust: tuple[Path, ...] = setting(items(path(), 1, 16), ())
    file: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.model is not None and self.plan is not None:
            raise ParameterError("'model' and 'plan' exclude each other; name what is run")
        for part in ("policy", "sending"):
            if getattr(self, part) is not None and self.plan is not None:
                raise ParameterError(f"'plan' has a {part!r} of its own; drop the one here")
        if self.broker is not None and self.broker.is_kafka:
            find_broker(self.broker.url)

    def error(self, message: str) -> ParameterError:
        """Return an error with the file and the line of the place that a message begins with."""
        named = [place for place in self.lines if message.startswith(place)]
        line = f"line {self.lines[max(named, key=len)]}: " if named else ""
        return ParameterError(f"{self.file}: {line}{message}" if self.file else message)

    def bundle(self, trust: Trust | None = None) -> Bundle:
        """Load the model and assign its parts to nodes, or load the plan that does.

        Raises
        ------
        ParameterError
            The file names neither, or the plan is of another site, or nodes, policy or sending do
            not fit the model; the error names the line.
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
        nodes, place = self.nodes, ""
        try:
            if policy is not None:
                model = _with_policy(model, policy)
            place = "site.nodes: "
            nodes = nodes or {self.gateway: tuple(one.name for one in model.features)}
            plan = make_plan(model, nodes, gateway=self.gateway, site=self.name)
            place = "site.sending: "
            return Bundle(with_sending(plan, model, self.sending), model)
        except ParameterError as error:
            raise self.error(f"{place}{error}") from None

    def broker_of(self, node: str) -> Access:
        """Return where the sensors of a node publish."""
        return self.sensor_brokers.get(node) or self.hub

    def is_on_kafka(self, feature: str) -> bool:
        """Whether readings of a feature, or of one that its placeholders represent, come so."""
        pattern = pattern_of(feature)
        homes = [node for node, names in self.nodes.items() if any(map(pattern.fullmatch, names))]
        brokers = [self.sensor_brokers.get(node) for node in homes or [self.gateway]]
        return any(one is not None and one.is_kafka for one in brokers)

    @property
    def hub(self) -> Access:
        """The broker of the nodes."""
        if self.broker is None:
            raise ParameterError("the site file names no broker; add 'broker: mqtt://host'")
        return self.broker


def _with_policy(model: Model, given: Mapping[str, Any]) -> Model:
    """Let a model decide by the policy of a site file."""
    names = [spell(state) for state in model.target.classes]
    least = given.get("min_probability")
    values = dict(given)
    if isinstance(least, dict):
        for name in least:
            if name not in names:
                raise ParameterError(
                    f"site.policy.min_probability has {shorten(name)}, which is not a class"
                    f"{did_you_mean(name, names)}"
                )
        values["min_probability"] = [least.get(name, 0.0) for name in names]
    elif isinstance(least, int | float):
        values["min_probability"] = [least] * len(names)
    policy = read_policy(Reader(values, "site.policy", ParameterError), model.domain, model.target)
    return replace(model, policy=policy)
