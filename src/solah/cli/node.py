"""``solah node``: run one node of a network until it is stopped."""

import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solah.cli.broker_options import BrokerOptions, OptionalPlanFile, Root, TrustFiles, trusted
from solah.cli.log_options import HealthAddress, LogKind, health_at, log_of
from solah.cli.options import ReadingOptions
from solah.cli.overwriting import READ, WRITTEN
from solah.cli.screen import Screen
from solah.cli.stopping import catch_ctrl_c, stop_signals
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from solah.network.bundle import Bundle
    from solah.network.messages import Measured
    from solah.network.node import Node, NodeOptions

_network_option = options_in("The network")
_source_option = options_in("Where readings come from, beside its topic")

SiteFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SITE",
        help="A site file: model, broker, sensors and how often to decide.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Name = Annotated[
    str, _network_option("--name", metavar="NAME", help="The node's name in the plan.")
]
Deadline = Annotated[
    float,
    _network_option(
        "--deadline", min=0.0, help="Seconds after which a row is decided with what is there."
    ),
]
Window = Annotated[
    float | None,
    _network_option(
        "--window",
        min=0.001,
        help="Tell rows apart by time, in windows of so many seconds, instead of by number.",
    ),
]
WireKind = Annotated[
    Literal["json", "cbor"], _network_option("--wire", help="How messages are written.")
]
AllowRollback = Annotated[
    bool,
    _network_option(
        "--allow-rollback",
        help="With --trust, take plans too that were signed before the one in use.",
    ),
]
State = Annotated[
    Path | None,
    _network_option(
        "--state",
        metavar="FILE",
        help="Remember here how far the work is, and go on from there after a restart; "
        "the plans taken are kept beside it.",
    ),
    WRITTEN,
]
Member = Annotated[
    str,
    _network_option(
        "--member",
        metavar="NAME",
        help="Share the node's readings with other processes; this one's name. Needs --mqtt 5.",
    ),
]
HomeAssistant = Annotated[
    bool, _network_option("--home-assistant", help="Announce the decision to Home Assistant.")
]
ExpireAfter = Annotated[
    int,
    _network_option(
        "--expire-after",
        min=1,
        help="Seconds without a decision after which Home Assistant shows it as unavailable.",
    ),
]
Influx = Annotated[
    bool, _network_option("--influx", help="Say decisions as lines for InfluxDB, too.")
]
Replay = Annotated[
    Path | None,
    _source_option(
        "--replay",
        metavar="FILE",
        help="Replay the rows of a table, as if they were measured.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Rate = Annotated[
    float | None, _source_option("--rate", min=0.001, help="Rows a second; by default all at once.")
]
Stdin = Annotated[bool, _source_option("--stdin", help="Readings as lines of JSON.")]
Call = Annotated[
    str | None,
    _source_option(
        "--call", metavar="MODULE:FUNCTION", help="A function of yours that returns readings."
    ),
]


@many_options(
    *("name", "plan", "state", "broker", "credentials", "deadline", "window", "trust"),
    *("replay", "rate", "stdin", "call", "home_assistant", "influx"),
)
def node(
    reading: ReadingOptions,
    broker: BrokerOptions,
    screen: Screen,
    name: Name,
    site: SiteFile = None,
    plan: OptionalPlanFile = None,
    root: Root = "solah",
    deadline: Deadline = 2.0,
    window: Window = None,
    wire: WireKind = "json",
    trust: TrustFiles = None,
    allow_rollback: AllowRollback = False,
    member: Member = "",
    state: State = None,
    home_assistant: HomeAssistant = False,
    expire_after: ExpireAfter = 300,
    influx: Influx = False,
    health: HealthAddress = None,
    log: LogKind = "text",
    replay: Replay = None,
    rate: Rate = None,
    stdin: Stdin = False,
    call: Call = None,
) -> None:
    """Run one node of a network: measure, evaluate its trees, and say what they believe.

    With a site file, readings come from the sensors that it names, and it says all else, too.
    With --plan they come by the node's topic (ROOT/SITE/NAME/in), as JSON: {"readings": {"hum":
    41.5}, "seq": 7}; and by --replay, --stdin or --call. What is missing when the deadline of a row
    passes is taken for unknown, and named. Interrupt it, or send SIGTERM, to stop it.

    Example: solah node site.yaml --name kitchen
    """
    catch_ctrl_c()
    from solah.exceptions import ParameterError
    from solah.network.bundle import load_bundle
    from solah.network.core import NodeCore, Settings
    from solah.network.node import Node, NodeOptions
    from solah.network.topics import Topics

    if (site is None) == (plan is None):
        raise ParameterError("a node is told what to do by a site file, or by --plan")
    keys = trusted(trust)
    if allow_rollback and keys is None:
        raise ParameterError("--allow-rollback is about signed plans; say with --trust whose")
    if site is not None:
        if member:
            raise ParameterError(
                "--member is for --plan: members share readings that come by the node's topic, and "
                "those of a site come from its sensors"
            )
        own = {"window": window, "replay": replay, "rate": rate, "stdin": stdin, "call": call}
        changed = {"root": root != "solah", "deadline": deadline != 2.0, "wire": wire != "json"}
        refuse_beside_site({**own, **changed, "trust": trust, **broker.given()})
        announced = expire_after if home_assistant else None
        tell = log_of(screen, log)
        with (
            _site_node(site, name, state, tell, announced, influx=influx) as (sensing, sensed),
            health_at(health, lambda: sensing.health, tell),
        ):
            sensing.run(sensed)
        return
    if member:
        own = {"window": window, "replay": replay, "stdin": stdin, "call": call}
        _refuse_beside_member(member, own)
    bundle = load_bundle(plan, keys)  # type: ignore[arg-type]
    core = NodeCore(bundle, name, Settings(deadline=deadline, window=window))
    topics = Topics(bundle.plan.site, root)
    options = NodeOptions(
        wire=wire,
        trust=keys,
        allow_rollback=allow_rollback,
        state=state,
        root=root,
        extras=_influx_lines(topics, name) if influx else None,
        announcements=(
            _announcements(bundle, topics, expire_after) if home_assistant and core.decides else ()
        ),
        log=log_of(screen, log),
        member=member,
    )
    running = Node(core, broker.find(), options)
    rows = _rows(running, options, replay, rate, stdin, call, reading, screen)
    with (
        _stopped_by_signals(running),
        health_at(health, lambda: running.health, options.log),
    ):
        running.run(rows)


def refuse_beside_site(options: "Mapping[str, object]") -> None:
    """Refuse options that were given, and whose place is the site file."""
    from solah.exceptions import ParameterError

    for name, is_given in options.items():
        if is_given:
            raise ParameterError(f"--{name} does not go with a site file, which says it itself")


def _refuse_beside_member(member: str, options: "Mapping[str, object]") -> None:
    """Refuse rows that cannot be shared: those measured by one process, or put together by time."""
    from solah.exceptions import ParameterError
    from solah.network.plan import check_name

    check_name(member)
    for name, is_given in options.items():
        if is_given:
            raise ParameterError(
                f"--{name} does not go with --member, whose readings come whole and numbered by "
                "the node's topic"
            )


@contextmanager
def _site_node(
    file: Path,
    name: str,
    state: Path | None,
    log: "Callable[[str], None]",
    expire_after: int | None,
    *,
    influx: bool,
) -> "Iterator[tuple[Node, Callable[[int], Iterable[Measured]] | None]]":
    """Make a node as a site file says, with the rows of its sensors, and end both in order."""
    from solah.network.core import NodeCore, Settings
    from solah.network.node import Node, NodeOptions, client_id
    from solah.network.site import load_site
    from solah.network.site.feeding import Feed
    from solah.network.topics import Topics

    site = load_site(file)
    keys = trusted(list(site.trust))
    bundle = site.bundle(keys)
    core = NodeCore(bundle, name, Settings(deadline=site.patience(bundle.model)))
    topics = Topics(site.name, site.root)
    site.state.mkdir(parents=True, exist_ok=True)
    feed = Feed(site, bundle, name, log) if core.plan.reads else None
    is_announced = expire_after is not None and core.decides
    options = NodeOptions(
        wire=site.wire,
        trust=keys,
        state=state or site.state / f"{name}.state",
        root=site.root,
        extras=_influx_lines(topics, name) if influx else None,
        announcements=_announcements(bundle, topics, expire_after or 0) if is_announced else (),
        log=log,
        is_patient=True,
        feed=feed,
    )
    running = Node(core, site.hub.find(), options)
    with _stopped_by_signals(running):
        if feed is not None:
            sensors = f"{client_id(topics, name)}:sensors"
            feed.start(site.broker_of(name), sensors, running.fail)
        try:
            yield running, None if feed is None else feed.rows_from
        finally:
            if feed is not None:
                feed.stop()


@contextmanager
def _stopped_by_signals(running: "Node") -> "Iterator[None]":
    """Let signals stop a node in order, as long as the context lasts."""
    numbers = stop_signals()
    before = [signal.signal(number, lambda *_: running.stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _influx_lines(topics: Any, name: str) -> Any:
    from solah.network.influx import line

    def lines(decisions: Any) -> "Iterable[tuple[str, bytes]]":
        text = "\n".join(line(row, topics.site, decisions.model) for row in decisions.rows)
        return [(topics.influx(name), text.encode())]

    return lines


def _announcements(
    bundle: "Bundle", topics: Any, expire_after: int
) -> tuple[tuple[str, bytes], ...]:
    from solah.network.home_assistant import discovery

    return tuple(discovery(topics, bundle, expire_after=expire_after))


def _rows(
    running: "Node",
    options: "NodeOptions",
    replay: Path | None,
    rate: float | None,
    stdin: bool,
    call: str | None,
    reading: ReadingOptions,
    screen: Screen,
) -> "Iterable[Measured] | Callable[[int], Iterable[Measured]] | None":
    from solah.exceptions import ParameterError
    from solah.network.remembering import read_memory
    from solah.network.sources import at_rate, called, json_lines
    from solah.network.sources import replay as rows_of

    if sum((replay is not None, stdin, call is not None)) > 1:
        raise ParameterError("readings come from one of --replay, --stdin and --call")
    start = read_memory(options.state).brought + 1
    core, is_behind = running.core, running.is_behind
    if replay is not None:
        wanted = [one for one in core.bundle.model.attributes if one.name in core.plan.reads]
        read_options = reading.read_options()

        def rows_from(first: int) -> "Iterable[Measured]":
            rows = rows_of(replay, wanted, start=first, options=read_options)
            return at_rate(rows, rate, is_behind)

        return rows_from if wanted else None
    if stdin:
        return at_rate(json_lines(sys.stdin, screen.note), rate, is_behind)
    if call is None:
        return None
    return at_rate(called(call, start, lambda: running.wanted), rate, is_behind)
