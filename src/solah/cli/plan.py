"""``solah plan``: decide which node of a network runs which part of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.broker_options import Root
from solah.cli.options import ModelFile, OutputFile
from solah.cli.overwriting import READ, WRITTEN, refuse_overwriting
from solah.cli.screen import Screen, output_option
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType
    from rich.table import Table as Grid

    from solah.model import Model
    from solah.network.bundle import Bundle
    from solah.network.placement import Placement
    from solah.network.plan import NodePlan, Plan
    from solah.network.sending import Sending
    from solah.network.site.document import Site as SiteDocument
    from solah.network.traffic import Traffic

_network_option = options_in("The network")
_change_option = options_in("Less traffic")
_trust_option = options_in("Trust")

PlacementFile = Annotated[
    Path | None,
    _network_option(
        "--placement",
        metavar="FILE",
        help="What is measured where: YAML or JSON that maps nodes to lists of attributes. By "
        "default each group of attributes has a node of its own.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Gateway = Annotated[
    str | None,
    _network_option(
        "--gateway",
        metavar="NAME",
        help="The node of all that is placed nowhere else; by default the placement's, or gateway.",
    ),
]
Site = Annotated[
    str | None,
    _network_option(
        "--site",
        metavar="NAME",
        help="The name of the network; by default the placement's, or site.",
    ),
]
OnChange = Annotated[
    bool,
    _change_option(
        "--on-change",
        help="Let nodes send only rows that could change the decision, in few bytes.",
    ),
]
Slack = Annotated[
    float | None,
    _change_option(
        "--slack",
        metavar="SHARE",
        help="The share of the decision's lead that silence may hide; 0.5 by default, 0 to send "
        "every change.",
    ),
]
Unit = Annotated[
    float | None,
    _change_option(
        "--unit",
        metavar="NATS",
        help="The steps in which evidence is written; 0.03125 by default, 0 for exact numbers.",
    ),
]
KeepAlive = Annotated[
    float | None,
    _change_option(
        "--keep-alive",
        metavar="SECONDS",
        help="Send a row after so long though nothing changed, so that silence is not taken for "
        "loss; 60 by default.",
    ),
]
Acl = Annotated[
    Path | None,
    output_option(
        "--acl",
        metavar="FILE",
        help="Write who may say what, too, for the broker mosquitto.",
        dir_okay=False,
    ),
    WRITTEN,
]
Sign = Annotated[
    Path | None,
    _trust_option(
        "--sign",
        metavar="FILE",
        help="Sign the plan with this Ed25519 private key (PEM).",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
NewKey = Annotated[
    Path | None,
    _trust_option(
        "--new-key",
        metavar="NAME",
        help="Make a key to sign with: NAME.pem, to be kept secret, and NAME.pub.pem for the "
        "nodes.",
    ),
]


def plan(
    model: ModelFile,
    screen: Screen,
    placement: PlacementFile = None,
    gateway: Gateway = None,
    site: Site = None,
    root: Root = "solah",
    on_change: OnChange = False,
    slack: Slack = None,
    unit: Unit = None,
    keep_alive: KeepAlive = None,
    sign: Sign = None,
    new_key: NewKey = None,
    acl: Acl = None,
    output: OutputFile = Path("plan.json"),
) -> None:
    """Spread a model over the nodes of a network: say which node runs what.

    Trees run where their attributes are measured, and groups of trees send one sum. What trees
    believe travels; a reading does only where a tree asks attributes of several nodes. The plan
    holds the model, and is all that a node needs to start. What goes over the wire for a decision
    is measured, beside what it would take to send all readings to one place. Where the placement is
    a site file, its policy and sending hold, and --acl lets nodes read its sensors' topics.

    Example: solah plan model.json --placement placement.yaml -o plan.json
    """
    from solah.atomic import write_whole
    from solah.exceptions import ParameterError
    from solah.keys import key_files, make_keys
    from solah.model import load_document
    from solah.network.access import acl_text
    from solah.network.bundle import Bundle, save_bundle
    from solah.network.site.feeding import sensor_commands, sensor_topics
    from solah.network.topics import Topics
    from solah.network.traffic import measure_traffic

    if sign is not None and new_key is not None:
        raise ParameterError("--new-key makes a key and signs with it; leave --sign out")
    if new_key is not None:
        refuse_overwriting(filter(None, (output, acl, *key_files(new_key))), ())
    document = load_document(model)
    given = _read_placement(placement)
    sending = _sending(on_change, slack, unit, keep_alive)
    described = _read_site(placement, given)
    if described is None:
        bundle = Bundle(_planned(document, given, gateway, site, sending), document)
    else:
        bundle = _of_site(described, model, gateway, site, sending)
        root = described.root if root == "solah" else root
    traffic = measure_traffic(bundle, root)
    sensors = None if described is None else sensor_topics(described, bundle)
    commands = None if described is None else sensor_commands(described, bundle)
    topics = Topics(bundle.plan.site, root)
    rights = (
        None if acl is None else acl_text(bundle.plan, topics, sensors=sensors, commands=commands)
    )
    keys = () if new_key is None else make_keys(new_key)
    key = keys[0] if keys else sign
    bundle = bundle if key is None else bundle.signed(key)
    save_bundle(bundle, output)
    if acl is not None and rights is not None:
        write_whole(acl, rights)
    written = [str(path) for path in (output, acl, *keys) if path is not None]
    if screen.json:
        screen.document({"written": written, **_as_json(bundle, traffic)})
    _show(screen, written, bundle, traffic)
    if unasked := _unasked(document, given):
        screen.note(f"measured, but not asked by the model: {', '.join(unasked)}")


def _read_placement(file: Path | None) -> "Placement | None":
    from solah.network.placement import load_placement

    return None if file is None else load_placement(file)


def _read_site(file: Path | None, placement: "Placement | None") -> "SiteDocument | None":
    """Read a placement as the site file that it is; None for one that is none."""
    from solah.network.site import load_site

    return None if file is None or placement is None or not placement.is_site else load_site(file)


def _of_site(
    described: "SiteDocument",
    model: Path,
    gateway: str | None,
    site: str | None,
    sending: "Sending | None",
) -> "Bundle":
    """Spread a model over the nodes of a site file, as it says."""
    from dataclasses import replace

    return replace(
        described,
        name=site or described.name,
        gateway=gateway or described.gateway,
        model=model,
        plan=None,
        sending=sending or described.sending,
    ).bundle()


def _sending(
    on_change: bool, slack: float | None, unit: float | None, keep_alive: float | None
) -> "Sending | None":
    from solah.exceptions import ParameterError
    from solah.network.sending import Sending

    options = {"slack": slack, "unit": unit, "keep_alive": keep_alive}
    given = {name: value for name, value in options.items() if value is not None}
    if given and not on_change:
        flag = next(iter(given)).replace("_", "-")
        raise ParameterError(f"--{flag} is about sending on change; add --on-change")
    return Sending(**given) if on_change else None


def _planned(
    model: "Model",
    placement: "Placement | None",
    gateway: str | None,
    site: str | None,
    sending: "Sending | None",
) -> "Plan":
    from solah.network.placement import Placement
    from solah.network.plan import make_plan

    given = placement or Placement({})
    nodes = None if placement is None else given.nodes
    return make_plan(
        model,
        nodes,
        gateway=gateway or given.gateway,
        site=site or given.site,
        sending=sending,
    )


def _unasked(model: "Model", placement: "Placement | None") -> list[str]:
    """Name what a placement has and the model does not ask."""
    known = {one.name for one in model.attributes} | {part.name for part in model.parts}
    nodes = {} if placement is None else placement.nodes
    return [name for names in nodes.values() for name in names if name not in known]


def _as_json(bundle: "Bundle", traffic: "Traffic") -> dict[str, Any]:
    from dataclasses import asdict

    totals = ("beliefs", "readings", "single_readings")
    return {
        "site": bundle.plan.site,
        "hash": bundle.hash,
        "signed": bool(bundle.signature),
        "sending": None if bundle.plan.sending is None else asdict(bundle.plan.sending),
        "nodes": [asdict(node) | {"hears": dict(node.hears)} for node in bundle.plan.nodes],
        "traffic": {
            **{name: asdict(getattr(traffic, name)) for name in totals},
            "nodes": [asdict(node) for node in traffic.nodes],
        },
    }


def _show(screen: Screen, written: list[str], bundle: "Bundle", traffic: "Traffic") -> None:
    from solah.cli.views import heading

    hierarchy = bundle.model.hierarchy
    screen.say(heading("Written"), *(f"  {file}" for file in written))
    screen.say("", heading("The hierarchy, and the node that runs each part"))
    screen.result(hierarchy.draw(bundle.plan.home, width=screen.width))
    screen.say("", heading("The nodes, in the order in which they start"))
    for number, node in enumerate(bundle.plan.nodes, start=1):
        screen.result(f"{number}. {node.name}", _duties(node, bundle.plan.home))
    screen.say("", heading("Over the wire for one decision"))
    screen.result(_loads(traffic))
    screen.say("", *_verdict(bundle.plan, traffic))


def _duties(node: "NodePlan", home: "Mapping[str, str]") -> "RenderableType":
    """Show what a node does, one line per kind."""
    from rich.padding import Padding

    from solah.cli.views import facts

    inputs = [f"{_spelt(part, home)} of {source}" for part, source in node.hears]
    sends = [_spelt(part, home) for part in node.sends]
    duties = {"reads": node.reads, "runs": node.runs, "gets": inputs, "sends": sends}
    lines = {duty: ", ".join(names) for duty, names in duties.items() if names}
    return Padding(facts(lines), (0, 0, 0, 3))


def _spelt(part: str, home: "Mapping[str, str]") -> str:
    """Name what travels: a part of the model, or a reading."""
    return part if part in home else f"{part} (a reading)"


def _loads(traffic: "Traffic") -> "Grid":
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2))
    grid.add_column()
    for _ in range(3):
        grid.add_column(justify="right")
    grid.add_row("", *(Text(name, "dim") for name in ("messages", "bytes as JSON", "as CBOR")))
    loads = {
        "what the nodes send": traffic.beliefs,
        "instead, all readings to one place, a message per node": traffic.readings,
        "instead, all readings to one place, a message per reading": traffic.single_readings,
    }
    for name, load in loads.items():
        grid.add_row(name, *(f"{x:,}" for x in (load.messages, load.json, load.cbor)))
    return grid


def _verdict(plan: "Plan", traffic: "Traffic") -> list[str]:
    """Tell what was counted, and whether the plan saves bytes."""
    beliefs, readings = traffic.beliefs, traffic.readings
    if beliefs.messages == 0:
        return ["Nothing goes over the wire: one node does it all."]
    counted = [
        "MQTT packets, to the broker and on to each subscriber; acknowledgements, TCP and the",
        "decision itself are left out.",
    ]
    if plan.sending is not None:
        counted += ["Nodes send on change: this is for a row in which everything changed."]
    is_larger = {"JSON": beliefs.json > readings.json, "CBOR": beliefs.cbor > readings.cbor}
    if not any(is_larger.values()):
        return counted
    wires = " and as ".join(wire for wire, larger in is_larger.items() if larger)
    travels = any(part not in plan.home for node in plan.nodes for part in node.sends)
    return [
        *counted,
        f"What the nodes send is larger than their readings in one message, as {wires}: the plan",
        "saves no bytes."
        if travels
        else "saves no bytes, but readings stay where they are measured.",
    ]
