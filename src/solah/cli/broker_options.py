"""Options of the verbs that talk to a broker, declared once."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from solah.cli.overwriting import READ
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.network.client import Broker
    from solah.network.trust import Trust

_broker_option = options_in("The broker")

PlanFile = Annotated[
    Path,
    options_in("The network")(
        "--plan",
        metavar="FILE",
        help="A plan that 'solah plan' wrote.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
OptionalPlanFile = Annotated[
    Path | None,
    options_in("The network")(
        "--plan",
        metavar="FILE",
        help="A plan that 'solah plan' wrote.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Root = Annotated[
    str, options_in("The network")("--root", metavar="NAME", help="What all topics begin with.")
]
TrustFiles = Annotated[
    list[Path] | None,
    options_in("The network")(
        "--trust",
        metavar="FILE",
        help="Take plans only if they are signed with this public key, or with a key of this file; "
        "may be given several times.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]


def trusted(files: list[Path] | None) -> "Trust | None":
    """Read whose plans are taken; None where everyone's are."""
    from solah.network.trust import load_trust

    return load_trust(files) if files else None


@dataclass(frozen=True)
class BrokerOptions:
    """Where the broker is, and who we are there."""

    broker: Annotated[
        str,
        _broker_option(
            "--broker", metavar="URL", help="mqtt://host:port, or mqtts://host:port for TLS."
        ),
    ] = "mqtt://localhost"
    credentials: Annotated[
        Path | None,
        _broker_option(
            "--credentials",
            metavar="FILE",
            help="A file with the lines username=… and password=…; by default the environment's "
            "SOLAH_MQTT_USERNAME and SOLAH_MQTT_PASSWORD.",
            exists=True,
            dir_okay=False,
        ),
        READ,
    ] = None
    ca: Annotated[
        Path | None,
        _broker_option(
            "--ca",
            metavar="FILE",
            help="The certificates to trust, instead of the system's.",
            exists=True,
            dir_okay=False,
        ),
        READ,
    ] = None
    cert: Annotated[
        Path | None,
        _broker_option(
            "--cert", metavar="FILE", help="Our own certificate.", exists=True, dir_okay=False
        ),
        READ,
    ] = None
    key: Annotated[
        Path | None,
        _broker_option(
            "--key", metavar="FILE", help="The key of our certificate.", exists=True, dir_okay=False
        ),
        READ,
    ] = None

    mqtt: Annotated[
        Literal["3.1.1", "5"],
        _broker_option(
            "--mqtt", help="The version of MQTT; 5 falls back to 3.1.1 if the broker has only that."
        ),
    ] = "3.1.1"

    def given(self) -> dict[str, bool]:
        """Say which of them are not as they are by default."""
        return {name: value != getattr(type(self), name) for name, value in vars(self).items()}

    def find(self) -> "Broker":
        """Check them, and hand them over."""
        from solah.network.client import find_broker

        return find_broker(
            self.broker,
            credentials=self.credentials,
            authority=None if self.ca is None else str(self.ca),
            certificate=None if self.cert is None else str(self.cert),
            key=None if self.key is None else str(self.key),
            version=self.mqtt,
        )
