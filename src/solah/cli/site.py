"""``solah site``: check a site file, propose one, and list the templates."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.broker_options import BrokerOptions
from solah.cli.options import STDOUT, OutputFileOrStdout
from solah.cli.overwriting import READ
from solah.cli.screen import Screen
from solah.cli.streaming import opened
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.network.bundle import Bundle
    from solah.network.site.document import Sensor, Site
    from solah.network.site.learning import Learner, Proposal
    from solah.network.site.source import SensorMessage

_learning_option = options_in("Listening")
_MOST_LISTED = 30

SiteFile = Annotated[
    Path, typer.Argument(metavar="SITE", help="The site file.", exists=True, dir_okay=False), READ
]
Model = Annotated[
    Path,
    _learning_option(
        "--model", metavar="MODEL", help="A model to feed.", exists=True, dir_okay=False
    ),
    READ,
]
Seconds = Annotated[float, _learning_option("--seconds", min=0.1, help="How long to listen.")]
SiteName = Annotated[str, _learning_option("--site", metavar="NAME", help="The name of the site.")]


def check(site: SiteFile, screen: Screen) -> None:
    """Check a site file: its form, its model and plan, and that sensors feed each attribute.

    Nothing is connected to. What is wrong is told with its line, and the exit code is 2.

    Example: solah site check site.yaml
    """
    from solah.cli.views import facts, heading
    from solah.network.site import load_site
    from solah.network.site.feeding import check_sensors, unasked, unfed

    found = load_site(site)
    bundle = found.bundle()
    check_sensors(found, bundle)
    if found.sensor_brokers:
        for node in found.sensor_brokers:
            bundle.plan.node(node)
    blind, spare = unfed(found, bundle), unasked(found, bundle)
    if screen.json:
        screen.document(_described(found, bundle, blind, spare))
    screen.say(heading(f"The site {found.name}"))
    screen.result(facts(_facts(found, bundle)))
    if blind:
        screen.result(f"\nNo sensor feeds: {', '.join(blind)}. They will be unknown.")
    if spare:
        screen.result(f"\nMeasured, and not asked by the model: {', '.join(spare)}")
    screen.say("\nRun it with: solah up " + str(site))


def learn(
    model: Model,
    broker: BrokerOptions,
    screen: Screen,
    output: OutputFileOrStdout = STDOUT,
    seconds: Seconds = 60.0,
    site: SiteName = "site",
) -> None:
    """Listen to what sensors publish, and propose a site file for a model.

    Shows which values are readings of which attribute by their names, those that match none, and
    attributes for which nothing was published. Read the proposal before it is run.

    Example: solah site learn --model model.json --broker mqtt://hub --seconds 300 -o site.yaml
    """
    from solah.model import load_document
    from solah.network.plan import check_name
    from solah.network.site.learning import Learner

    check_name(site)
    described = load_document(model)
    learner = Learner()
    _listen(broker, learner, seconds, screen)
    folder = Path() if output == STDOUT else output.parent
    proposal = learner.propose(
        described, broker=broker.broker, model_file=os.path.relpath(model, folder), site=site
    )
    if screen.json:
        screen.document(vars(proposal))
        return
    with opened(output) as out:
        out.write(proposal.text)
    _tell(screen, learner, proposal)


def templates(screen: Screen) -> None:
    """List the firmware whose messages are known.

    Example: solah site templates
    """
    from solah.network.site.templates import TEMPLATES

    if screen.json:
        screen.document({name: vars(one) | {"time": None} for name, one in TEMPLATES.items()})
        return
    for name, one in TEMPLATES.items():
        screen.result(f"{name}: {one.about}")
        screen.result(f"  topic {one.topic}, an attribute is at, for example, {one.example}")


def _listen(broker: BrokerOptions, learner: "Learner", seconds: float, screen: Screen) -> None:
    from uuid import uuid4

    from solah.network.site.source import SensorClient

    def take(message: "SensorMessage") -> None:
        payload = message.payload or b""
        learner.take(message.topic, payload, time.time(), is_retained=message.is_retained)

    client = SensorClient(broker.find(), f"solah-{uuid4().hex[:12]}", ["#"], take)
    client.start(is_patient=False)
    try:
        with screen.working(f"listening for {seconds:g} seconds"):
            time.sleep(seconds)
    except KeyboardInterrupt:
        screen.note("listened for less, since it was interrupted")
    finally:
        client.stop()


def _tell(screen: Screen, learner: "Learner", proposal: "Proposal") -> None:
    screen.note(f"{learner.n_messages:,} messages, {len(learner.sources):,} values")
    for what, names in (
        ("mapped", [f"{name} ← {source}" for name, source in proposal.mapped.items()]),
        ("fit equally", [f"{name}: {', '.join(of)}" for name, of in proposal.ambiguous.items()]),
        ("match no attribute", proposal.unmatched),
        ("attributes that got nothing", proposal.silent),
        ("topics that cannot be read", sorted(learner.unreadable)),
    ):
        shown = [*names[:_MOST_LISTED], *(["…"] if len(names) > _MOST_LISTED else [])]
        if shown:
            screen.note(f"{what} ({len(names)}): {'; '.join(shown)}")


def _facts(site: "Site", bundle: "Bundle") -> dict[str, str]:
    deciding = site.deciding
    every, signals = site.every(bundle.model), bundle.model.signals
    when = f"every {every:g} s{' if a reading changed' if deciding.on_change else ''}"
    if signals is not None:
        when += f" on windows of {signals.window_seconds:g} s at {signals.rate:g} Hz"
    sending = bundle.plan.sending
    brokers = ", ".join(f"{node} {access.url}" for node, access in site.sensor_brokers.items())
    more = {
        "sends": "" if sending is None else f"on change, and every {sending.keep_alive:g} s",
        "alerts": "" if site.alerts is None else ", ".join(one.name for one in site.alerts.rules),
    }
    return {
        "model": str(site.model or site.plan),
        "broker": site.broker.url if site.broker else "none: 'solah up' needs one",
        "nodes": ", ".join(node.name for node in bundle.plan.nodes),
        "sensors": f"{len(site.sensors)} on {len({one.topic for one in site.sensors})} topics",
        **({"sensor brokers": brokers} if brokers else {}),
        "decides": f"{bundle.model.goal.name} {when}, {deciding.deadline:g} s for what is missing",
        **{name: text for name, text in more.items() if text},
        "state": str(site.state),
    }


def _described(
    site: "Site", bundle: "Bundle", blind: list[str], spare: list[str]
) -> dict[str, Any]:
    return {
        "site": site.name,
        "nodes": {node.name: list(node.reads) for node in bundle.plan.nodes},
        "sensors": [_sensor(one) for one in site.sensors],
        "sensor_brokers": {node: access.url for node, access in site.sensor_brokers.items()},
        "unfed": blind,
        "unasked": spare,
    }


def _sensor(sensor: "Sensor") -> dict[str, Any]:
    path = None if sensor.path is None else list(sensor.path)
    return {"attribute": sensor.attribute, "topic": sensor.topic, "path": path}
