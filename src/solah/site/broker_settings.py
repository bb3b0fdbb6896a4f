"""Read where the brokers of a site are, and how to come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solah.site.client import find_broker, is_kafka
from solah.site.field_readers import checked, file_in, one_of
from solah.site.kafka import MECHANISMS, kafka_hosts
from solah.site.sensor_mapping import pattern_of
from solah.site.settings import BrokerAccess, Credentials, KafkaAccess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from solah.data.json_reader import Reader

_MOST_NODES = 10_000


def read_broker(broker: Reader, folder: Path) -> BrokerAccess:
    """Read where the broker of the nodes is; names of files are meant from a folder."""
    if isinstance(broker.value, str):
        return BrokerAccess(checked(broker, _check_url))
    fields = _read_access(broker)
    return BrokerAccess(
        url=checked(fields["url"], _check_url),
        **_read_secrets(fields, folder),
    )


def _read_sensor_broker(broker: Reader, folder: Path) -> BrokerAccess | KafkaAccess:
    """Read where sensors publish: on a broker of MQTT, or on Kafka."""
    url = broker.value.get("url") if isinstance(broker.value, dict) else broker.value
    if not isinstance(url, str) or not is_kafka(url):
        return read_broker(broker, folder)
    if isinstance(broker.value, str):
        return KafkaAccess(checked(broker, _check_kafka_url))
    fields = _read_access(broker, "mechanism")
    secrets = _read_secrets(fields, folder)
    if not url.lower().startswith("kafkas:") and fields.keys() & {"ca", "cert", "key"}:
        raise broker.error(f"{broker.place}: certificates are for kafkas:// brokers")
    if "mechanism" in fields and "credentials" not in fields:
        raise broker.error(f"{broker.place} has a 'mechanism', which goes with 'credentials'")
    return KafkaAccess(
        url=checked(fields["url"], _check_kafka_url),
        **secrets,
        mechanism=one_of(fields["mechanism"], MECHANISMS) if "mechanism" in fields else "PLAIN",
    )


def _read_access(broker: Reader, *own: str) -> dict[str, Reader]:
    """Read the parts of a broker that has an object; a password is none of them."""
    for secret in ("username", "password"):
        if isinstance(broker.value, dict) and secret in broker.value:
            raise broker.error(
                f"{broker.place} has a {secret}, which does not belong into a file that is shared; "
                "use 'credentials' with a 'file', or with 'username_variable' and "
                "'password_variable' of the environment"
            )
    return broker.record(("url",), ("credentials", "ca", "cert", "key", *own))


def _read_secrets(fields: Mapping[str, Reader], folder: Path) -> dict[str, Any]:
    """Read where what we come in with is found."""
    known = fields.get("credentials")
    return {
        "credentials": None if known is None else _read_credentials(known, folder),
        "authority": file_in(fields.get("ca"), folder),
        "certificate": file_in(fields.get("cert"), folder),
        "key": file_in(fields.get("key"), folder),
    }


def _check_url(url: str) -> str:
    find_broker(url)
    return url


def _check_kafka_url(url: str) -> str:
    kafka_hosts(url)
    return url


def _read_credentials(credentials: Reader, folder: Path) -> Credentials:
    variables = ("username_variable", "password_variable")
    fields = credentials.record((), ("file", *variables))
    if fields.keys() not in ({"file"}, set(variables)):
        raise credentials.fail(
            "a 'file' with the lines username=… and password=…, or 'username_variable' and "
            "'password_variable', names of the environment"
        )
    if "file" in fields:
        return Credentials(file_in(fields["file"], folder))
    return Credentials(None, *(fields[name].text(1, 200) for name in variables))


def read_brokers(brokers: Reader | None, folder: Path) -> dict[str, BrokerAccess | KafkaAccess]:
    """Read where sensors of nodes publish that have a broker of their own."""
    if brokers is None:
        return {}
    named = brokers.named(_MOST_NODES, 64)
    return {name: _read_sensor_broker(one, folder) for name, one in named.items()}


@dataclass(frozen=True)
class OnKafka:
    """Which sensors publish on Kafka: those of the nodes that have such a broker."""

    nodes: Mapping[str, tuple[str, ...]]
    gateway: str
    brokers: Mapping[str, BrokerAccess | KafkaAccess]

    def __call__(self, feature: str) -> bool:
        """Whether readings of a feature, or of one that its placeholders stand for, do."""
        pattern = pattern_of(feature)
        homes = [node for node, names in self.nodes.items() if any(map(pattern.fullmatch, names))]
        homes = homes or [self.gateway]
        return any(isinstance(self.brokers.get(node), KafkaAccess) for node in homes)
