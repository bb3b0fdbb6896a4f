"""``solah site``: check a site file, or propose one; and the options of all its commands."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from solah.cli.command import READ, argument, option, read_file
from solah.cli.options import ModelFile, OutputFileOrStdout
from solah.cli.screen import STDOUT, Screen, opened

if TYPE_CHECKING:
    from solah.site.bundle import Bundle
    from solah.site.client import Broker
    from solah.site.proposal import Learner
    from solah.site.settings import Site
    from solah.site.topics import Topics
    from solah.site.trust import Trust

_MOST_LISTED = 30
_SITE = argument("SITE", "A site file: model, broker and sensors.", exists=True, dir_okay=False)

SiteFile = Annotated[Path | None, _SITE, READ]
PlanFile = Annotated[Path | None, read_file("Plan that 'solah site plan' wrote."), READ]
SiteName = Annotated[
    str | None, option("Name of the site. Default: the file's, or site.", metavar="NAME")
]
Root = Annotated[str, option("First part of all topics.", metavar="NAME")]
TrustFiles = Annotated[
    list[Path] | None,
    read_file("Accept only plans signed with this public key (PEM). Repeatable."),
    READ,
]
Deadline = Annotated[
    float,
    option(
        "Seconds after which a row is predicted without its missing values.",
        metavar="SECONDS",
        min=0.0,
    ),
]
ReplayRate = Annotated[
    float | None,
    option("Rows per second of --replay. Default: all at once.", metavar="ROWS", min=0.001),
]
Seconds = Annotated[
    float | None,
    option("Stop after SECONDS. Default: run until interrupted.", metavar="SECONDS", min=0.0),
]
LogKind = Annotated[
    Literal["text", "json"], option("Log format: text, or JSON lines with event names.")
]
HealthAddress = Annotated[
    str | None,
    option(
        "Address of /healthz and /readyz; this machine only, unless a host is given.",
        metavar="[HOST:]PORT",
    ),
]


@dataclass(frozen=True)
class BrokerOptions:
    """The address of the broker, and the credentials to use there."""

    panel: ClassVar[str] = "The broker"

    broker: Annotated[
        str, option("mqtt://host:port, or mqtts://host:port for TLS.", metavar="URL")
    ] = "mqtt://localhost"
    credentials: Annotated[
        Path | None,
        read_file(
            "Credentials file with username=… and password=…. Default: the environment's "
            "SOLAH_MQTT_USERNAME and SOLAH_MQTT_PASSWORD."
        ),
        READ,
    ] = None
    ca: Annotated[Path | None, read_file("Certificates to trust. Default: the system's."), READ] = (
        None
    )
    cert: Annotated[Path | None, read_file("Client certificate."), READ] = None
    key: Annotated[Path | None, read_file("Key of the client certificate."), READ] = None

    def given(self) -> dict[str, bool]:
        """Return whether each option differs from its default."""
        return {name: value != getattr(type(self), name) for name, value in vars(self).items()}

    def words(self) -> dict[str, str | None]:
        """Return the options as keywords of :func:`solah.site.client.find_broker`."""
        files = {
            "credentials": self.credentials,
            "authority": self.ca,
            "certificate": self.cert,
            "key": self.key,
        }
        paths = {name: None if one is None else str(one) for name, one in files.items()}
        return {"url": self.broker, **paths}

    def find(self) -> "Broker":
        """Return the broker, after checking the options."""
        from solah.site.client import find_broker

        return find_broker(**self.words())  # type: ignore[arg-type]


@dataclass(frozen=True)
class Place:
    """A site: its topics, its broker, and its plan and keys if available."""

    topics: "Topics"
    broker: "Broker"
    bundle: "Bundle | None" = None
    trust: "Trust | None" = None
    site: "Site | None" = None

    @classmethod
    def of_file(cls, file: Path, *, with_bundle: bool = True) -> "Place":
        """Read a site file."""
        from solah.site.site_file import load_site
        from solah.site.topics import Topics

        site = load_site(file)
        keys = trusted(list(site.trust))
        bundle = site.bundle(keys) if with_bundle else None
        return cls(Topics(site.name, site.root), site.hub.find(), bundle, keys, site)

    @classmethod
    def of_options(
        cls,
        broker: BrokerOptions,
        name: str | None,
        bundle: "Bundle | None",
        root: str,
        keys: "Trust | None" = None,
    ) -> "Place":
        """Read options; the plan gives the name of the site if no option does."""
        from solah.site.plan import SITE, check_name
        from solah.site.topics import Topics

        site = check_name(name or (SITE if bundle is None else bundle.plan.site))
        return cls(Topics(site, root), broker.find(), bundle, keys)


def trusted(files: list[Path] | None) -> "Trust | None":
    """Return the keys that may sign plans; None to accept all plans."""
    from solah.site.trust import load_trust

    return load_trust(files) if files else None


def refuse_beside_site(options: Mapping[str, object]) -> None:
    """Raise an error for options that belong in the site file."""
    from solah.exceptions import ParameterError

    for name, is_given in options.items():
        if is_given:
            flag = name.replace("_", "-")
            raise ParameterError(
                f"--{flag} cannot be combined with a site file, which sets it; drop one of them"
            )


def refuse_without(needed: str, options: Mapping[str, object]) -> None:
    """Refuse options that were given, and do nothing without something else."""
    from solah.exceptions import ParameterError

    for name, is_given in options.items():
        if is_given:
            raise ParameterError(f"--{name.replace('_', '-')} requires {needed}")


def check(site: Annotated[Path, _SITE, READ], screen: Screen) -> None:
    """Check a site file: its form, its model and plan, and that sensors feed each feature.

    solah connects to nothing. An error names its line, and the exit code is then 2.

    Example: solah site check site.yaml
    """
    from solah.cli.views import facts, heading
    from solah.site.site_check import check_site, unfed, unseen_categories, unused
    from solah.site.site_file import load_site

    found = load_site(site)
    bundle = found.bundle()
    check_site(found, bundle)
    blind, spare = unfed(found, bundle), unused(found, bundle)
    unseen = unseen_categories(found, bundle)
    if screen.json:
        sensors = [
            {
                "feature": one.feature,
                "topic": one.topic,
                "path": None if one.path is None else list(one.path),
            }
            for one in found.sensors
        ]
        brokers = {node: access.url for node, access in found.sensor_brokers.items()}
        screen.document(
            {
                "site": found.name,
                "nodes": {node.name: list(node.reads) for node in bundle.plan.nodes},
                "sensors": sensors,
                "sensor_brokers": brokers,
                "unfed": blind,
                "unused": spare,
                "unseen_categories": unseen,
            }
        )
    screen.say(heading(f"The site {found.name}"))
    screen.result(facts(_facts(found, bundle)))
    if blind:
        screen.result(f"\nNo sensor feeds: {', '.join(blind)}. They will be missing.")
    if spare:
        screen.result(f"\nMeasured, but not used by the model: {', '.join(spare)}")
    for name, categories in unseen.items():
        screen.result(
            f"\nThe model has no category {', '.join(categories)} of {name}: such readings will be "
            "missing."
        )
    screen.say(f"\nRun it with: solah site run {site}")


def _facts(site: "Site", bundle: "Bundle") -> dict[str, str]:
    deciding = site.deciding
    when = f"every {deciding.every:g} s{' if a reading changed' if deciding.on_change else ''}"
    sending = bundle.plan.sending
    brokers = ", ".join(f"{node} {access.url}" for node, access in site.sensor_brokers.items())
    found = {
        "model": str(site.model or site.plan),
        "broker": site.broker.url if site.broker else "none: 'solah site run' needs one",
        "nodes": ", ".join(node.name for node in bundle.plan.nodes),
        "sensors": f"{len(site.sensors)} on {len({one.topic for one in site.sensors})} topics",
        "sensor brokers": brokers,
        "predicts": f"{bundle.model.target.name} {when}; waits {deciding.deadline:g} s for values",
        "sends": "" if sending is None else f"on change, and every {sending.keep_alive:g} s",
        "alerts": "" if site.alerts is None else ", ".join(one.name for one in site.alerts.rules),
        "state": str(site.state),
    }
    return {name: text for name, text in found.items() if text}


def learn(
    model: ModelFile,
    broker: BrokerOptions,
    screen: Screen,
    output: OutputFileOrStdout = STDOUT,
    seconds: Annotated[float, option("Stop after SECONDS.", metavar="SECONDS", min=0.1)] = 60.0,
    site: Annotated[str, option("Name of the site.", metavar="NAME")] = "site",
    root: Root = "solah",
) -> None:
    """Listen to what sensors publish, and propose a site file for a model.

    Shows which values match a feature by name, those that match none, and features for which
    nothing was published. Read the proposal before you run it.

    Example: solah site learn model.json --broker mqtt://hub --seconds 300 -o site.yaml
    """
    from uuid import uuid4

    from solah.model import load_document
    from solah.site.plan import check_name
    from solah.site.proposal import Learner
    from solah.site.sensor_source import SensorClient

    check_name(site)
    described = load_document(model)
    learner = Learner(root)

    def take(topic: str, payload: bytes, is_retained: bool) -> None:
        learner.take(topic, payload, time.time(), is_retained=is_retained)

    client = SensorClient(broker.find(), f"solah-{uuid4().hex[:12]}", ["#"], take)
    client.start(is_patient=False)
    try:
        with screen.working(f"listening for {seconds:g} seconds"):
            time.sleep(seconds)
    except KeyboardInterrupt:
        screen.note("listened for less, since it was interrupted")
    finally:
        client.stop()
    folder = Path() if output == STDOUT else output.parent
    proposal = learner.propose(
        described, broker=broker.broker, model_file=os.path.relpath(model, folder), site=site
    )
    if screen.json:
        screen.document(vars(proposal))
        return
    with opened(output) as out:
        out.write(proposal.text if root == "solah" else f"{proposal.text}root: {root}\n")
    _show_proposal(screen, learner, proposal)
    if output != STDOUT:
        screen.note(f"read and correct {output}, then: solah site run {output}")


def _show_proposal(screen: Screen, learner: "Learner", proposal: Any) -> None:
    screen.note(f"{learner.n_messages:,} messages, {len(learner.sources):,} values")
    for what, names in (
        ("mapped", [f"{name} ← {source}" for name, source in proposal.mapped.items()]),
        ("fit equally", [f"{name}: {', '.join(of)}" for name, of in proposal.ambiguous.items()]),
        ("match no feature", proposal.unmatched),
        ("features that got nothing", proposal.silent),
        ("topics that cannot be read", sorted(learner.unreadable)),
    ):
        shown = [*names[:_MOST_LISTED], *(["…"] if len(names) > _MOST_LISTED else [])]
        if shown:
            screen.note(f"{what} ({len(names)}): {'; '.join(shown)}")
