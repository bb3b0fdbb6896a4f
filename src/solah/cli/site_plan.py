"""``solah site plan``: assign the parts of a model to the nodes of a site."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from solah.cli.command import READ, WRITTEN, option, read_file, refuse_overwriting
from solah.cli.options import ModelFile, OutputFile
from solah.cli.screen import Screen
from solah.cli.site import Root, SiteName

if TYPE_CHECKING:
    from solah.model import Model
    from solah.site.bundle import Bundle
    from solah.site.placement import Placement
    from solah.site.plan import NodePlan, Plan
    from solah.site.send_on_change import Sending
    from solah.site.traffic import Traffic

_MEGABYTES = 52  # resident memory of a node, with a site file, as Linux reports it

PlacementFile = Annotated[
    Path | None,
    read_file(
        "Node file: YAML or JSON that maps nodes to features, or a site file. Default: a node per "
        "feature group."
    ),
    READ,
]
Gateway = Annotated[
    str | None,
    option(
        "Node of all parts that are placed nowhere else. Default: the placement's, or gateway.",
        metavar="NAME",
    ),
]
Sign = Annotated[Path | None, read_file("Sign the plan with this Ed25519 private key (PEM)."), READ]
NewKey = Annotated[
    Path | None,
    option(
        "Create a key and sign with it: NAME.pem, which is secret, and NAME.pub.pem for the nodes.",
        metavar="NAME",
    ),
]
Acl = Annotated[
    Path | None,
    option("Write access rights for mosquitto too.", metavar="FILE", dir_okay=False),
    WRITTEN,
]


@dataclass(frozen=True)
class SendingOptions:
    """When nodes send."""

    panel: ClassVar[str] = "Sending on change"

    on_change: Annotated[
        bool,
        option("--on-change", "Send only rows that could change the prediction, in few bytes."),
    ] = False
    slack: Annotated[
        float | None,
        option(
            "Share of the lead that changes not sent may hide; 0 sends every change. Default: 0.5.",
            metavar="SHARE",
        ),
    ] = None
    unit: Annotated[
        float | None,
        option("Step of the scores that are sent; 0 for exact. Default: 0.03125.", metavar="NATS"),
    ] = None
    keep_alive: Annotated[
        float | None, option("Send an unchanged row after SECONDS. Default: 60.", metavar="SECONDS")
    ] = None

    def read(self) -> "Sending | None":
        """Check them; None where every row is sent."""
        from solah.exceptions import ParameterError
        from solah.site.send_on_change import Sending

        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given.pop("on_change") and given:
            raise ParameterError(f"--{next(iter(given)).replace('_', '-')} requires --on-change")
        return Sending(**given) if self.on_change else None


def plan(
    model: ModelFile,
    sending_options: SendingOptions,
    screen: Screen,
    placement: PlacementFile = None,
    gateway: Gateway = None,
    site: SiteName = None,
    root: Root = "solah",
    sign: Sign = None,
    new_key: NewKey = None,
    acl: Acl = None,
    output: OutputFile = Path("plan.json"),
) -> None:
    """Assign the parts of a model to the nodes of a site.

    A part runs on the node that measures its features. Nodes send scores, and readings only where a
    tree uses features of several nodes. The plan contains the model, and is all that a node needs.
    solah measures the traffic per prediction.

    Example: solah site plan model.json --placement placement.yaml -o plan.json
    """
    from solah.atomic import write_whole
    from solah.exceptions import ParameterError
    from solah.keys import key_files, make_keys
    from solah.model import load_document
    from solah.site.acl import acl_text
    from solah.site.bundle import Bundle, save_bundle
    from solah.site.feed import sensor_commands, sensor_topics
    from solah.site.placement import Placement, load_placement
    from solah.site.plan import make_plan
    from solah.site.site_file import load_site
    from solah.site.topics import Topics
    from solah.site.traffic import measure_traffic

    if sign is not None and new_key is not None:
        raise ParameterError("--new-key makes a key and signs with it; drop --sign")
    if new_key is not None:
        refuse_overwriting(filter(None, (output, acl, *key_files(new_key))), ())
    document = load_document(model)
    given = Placement({}) if placement is None else load_placement(placement)
    sending = sending_options.read()
    sensors = commands = None
    if placement is not None and given.is_site:
        described = load_site(placement)
        described = replace(
            described,
            name=site or described.name,
            gateway=gateway or described.gateway,
            model=model,
            plan=None,
            sending=sending or described.sending,
        )
        bundle = described.bundle()
        root = described.root if root == "solah" else root
        sensors = sensor_topics(described, bundle)
        commands = sensor_commands(described, bundle)
    else:
        made = make_plan(
            document,
            None if placement is None else given.nodes,
            gateway=gateway or given.gateway,
            site=site or given.site,
            sending=sending,
        )
        bundle = Bundle(made, document)
    traffic = measure_traffic(bundle, root)
    topics = Topics(bundle.plan.site, root)
    rights = acl_text(bundle.plan, topics, sensors=sensors, commands=commands) if acl else ""
    keys = () if new_key is None else make_keys(new_key)
    key = keys[0] if keys else sign
    bundle = bundle if key is None else bundle.signed(key)
    save_bundle(bundle, output)
    if acl is not None:
        write_whole(acl, rights)
    written = [str(path) for path in (output, acl, *keys) if path is not None]
    if screen.json:
        screen.document({"written": written, **_as_json(bundle, traffic)})
    _show(screen, written, bundle, traffic)
    if unused := _unused(document, given):
        screen.note(f"measured, but not used by the model: {', '.join(unused)}")


def _unused(model: "Model", placement: "Placement") -> list[str]:
    """Return what nodes measure and the model does not use."""
    known = {one.name for one in model.features} | {part.name for part in model.parts}
    return [name for names in placement.nodes.values() for name in names if name not in known]


def _as_json(bundle: "Bundle", traffic: "Traffic") -> dict[str, Any]:
    return {
        "site": bundle.plan.site,
        "hash": bundle.hash,
        "signed": bool(bundle.signature),
        "sending": None if bundle.plan.sending is None else asdict(bundle.plan.sending),
        "nodes": [asdict(node) | {"hears": dict(node.hears)} for node in bundle.plan.nodes],
        "traffic": asdict(traffic),
    }


def _show(screen: Screen, written: list[str], bundle: "Bundle", traffic: "Traffic") -> None:
    from solah.cli.views import columns_of, heading

    home = bundle.plan.home
    screen.say(heading("Written"), *(f"  {file}" for file in written))
    screen.say("", heading("The hierarchy, and the node that runs each part"))
    screen.result(bundle.model.hierarchy.draw(home, width=screen.width))
    screen.say("", heading("The nodes, in the order in which they start"))
    for number, node in enumerate(bundle.plan.nodes, start=1):
        screen.result(f"{number}. {node.name}", *_duties(node, home))
    screen.say("", heading("Traffic for one prediction"))
    loads = {
        "what the nodes send": traffic.beliefs,
        "instead, all readings to one node": traffic.readings,
    }
    lines = [(name, f"{load.messages:,}", f"{load.bytes:,}") for name, load in loads.items()]
    screen.result(columns_of(("", "messages", "bytes"), lines))
    screen.say("", *_comment(bundle.plan, traffic))


def _duties(node: "NodePlan", home: Any) -> list[str]:
    """Describe what a node does, one line per kind; what travels is a part, or a reading."""

    def named(part: str) -> str:
        return part if part in home else f"{part} (a reading)"

    duties = {
        "reads": node.reads,
        "runs": node.runs,
        "gets": [f"{named(part)} of {source}" for part, source in node.hears],
        "sends": [named(part) for part in node.sends],
    }
    return [f"   {duty:<5}  {', '.join(names)}" for duty, names in duties.items() if names]


def _comment(plan: "Plan", traffic: "Traffic") -> list[str]:
    """Describe what was counted, and whether the plan saves bytes."""
    sent, readings = traffic.beliefs, traffic.readings
    if sent.messages == 0:
        return ["No traffic: one node does it all."]
    counted = [
        "MQTT packets, to the broker and on to each subscriber; without acknowledgements, TCP and",
        "the prediction itself.",
    ]
    if plan.sending is not None:
        counted += ["Nodes send on change: this is for a row in which everything changed."]
    n_nodes, status = len(plan.nodes), traffic.status
    counted += [
        f"Each node also sends a status once a minute: {status.bytes:,} bytes for {n_nodes} nodes.",
        f"One node for all would take 1 process instead of {n_nodes}, about {_MEGABYTES} MB of",
        f"memory instead of {n_nodes * _MEGABYTES}, and send no messages between nodes.",
    ]
    if sent.bytes > readings.bytes:
        travels = any(part not in plan.home for node in plan.nodes for part in node.sends)
        kept = "." if travels else ", but readings stay where they are measured."
        counted += [
            "What the nodes send is larger than their readings in one message: the plan saves no",
            f"bytes{kept}",
        ]
    return counted
