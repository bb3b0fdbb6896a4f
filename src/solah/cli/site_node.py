"""``solah site node``: run one node of a site until it is stopped."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import READ, WRITTEN, option, read_file
from solah.cli.options import ReadingOptions
from solah.cli.screen import Screen
from solah.cli.site import (
    BrokerOptions,
    Deadline,
    HealthAddress,
    LogKind,
    Place,
    PlanFile,
    ReplayRate,
    Root,
    SiteFile,
    TrustFiles,
    health_at,
    log_of,
    refuse_beside_site,
    trusted,
)
from solah.cli.stopping import catch_ctrl_c, orderly_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solah.site.messages import Measured
    from solah.site.node import Node

    Rows = Iterable[Measured] | Callable[[int], Iterable[Measured]] | None

Name = Annotated[str, option("Name of the node in the plan.", metavar="NAME")]
RowSeconds = Annotated[
    float | None,
    option(
        "Number rows by time, one per SECONDS. Default: by their sequence number.",
        metavar="SECONDS",
        min=0.001,
    ),
]
AllowRollback = Annotated[
    bool, option("--allow-rollback", "With --trust: take plans signed before the one in use, too.")
]
State = Annotated[
    Path | None,
    option(
        "State file, resumed after a restart; the plans taken are kept beside it.", metavar="FILE"
    ),
    WRITTEN,
]
HomeAssistant = Annotated[
    bool, option("--home-assistant", "Announce the decision to Home Assistant.")
]
ExpireAfter = Annotated[
    int, option("Seconds without a decision until Home Assistant shows it as unavailable.", min=1)
]
Replay = Annotated[Path | None, read_file("Table whose rows are replayed as readings."), READ]
Stdin = Annotated[bool, option("--stdin", "Take readings from stdin, as lines of JSON.")]
Call = Annotated[
    str | None, option("Take readings from a function of yours.", metavar="MODULE:FUNCTION")
]


def node(
    reading: ReadingOptions,
    broker: BrokerOptions,
    screen: Screen,
    name: Name,
    site: SiteFile = None,
    plan: PlanFile = None,
    root: Root = "solah",
    deadline: Deadline = 2.0,
    row_seconds: RowSeconds = None,
    trust: TrustFiles = None,
    allow_rollback: AllowRollback = False,
    state: State = None,
    home_assistant: HomeAssistant = False,
    expire_after: ExpireAfter = 300,
    health: HealthAddress = None,
    log: LogKind = "text",
    replay: Replay = None,
    replay_rate: ReplayRate = None,
    stdin: Stdin = False,
    call: Call = None,
) -> None:
    """Run one node of a site: measure, evaluate its part of the model, and send the scores.

    With a site file, readings come from its sensors. With --plan they come by the node's topic
    (ROOT/SITE/NAME/in) as JSON: {"readings": {"hum": 41.5}, "seq": 7}; or by --replay, --stdin or
    --call. What lacks at the deadline of a row is missing. SIGINT and SIGTERM stop it.

    Example: solah site node site.yaml --name kitchen
    """
    catch_ctrl_c()
    from solah.exceptions import ParameterError
    from solah.site.bundle import load_bundle
    from solah.site.core import NodeCore, Settings
    from solah.site.feed import Feed
    from solah.site.home_assistant import discovery
    from solah.site.node import Node, NodeOptions, client_id

    if (site is None) == (plan is None):
        raise ParameterError("pass a site file, or --plan")
    keys = trusted(trust)
    if allow_rollback and keys is None:
        raise ParameterError("--allow-rollback requires --trust")
    own: dict[str, object] = {
        "row_seconds": row_seconds,
        "replay": replay,
        "replay_rate": replay_rate,
    }
    own |= {"stdin": stdin, "call": call, "trust": trust}
    feed: Feed | None = None
    if site is not None:
        changed = {"root": root != "solah", "deadline": deadline != 2.0}
        refuse_beside_site({**own, **changed, **broker.given()})
        place = Place.of_file(site)
        described = place.site
        assert described is not None
        described.state.mkdir(parents=True, exist_ok=True)
        state = state or described.state / f"{name}.state"
        root, keys = described.root, place.trust
    else:
        assert plan is not None
        bundle = load_bundle(plan, keys)
        place, described = Place.of_options(broker, None, bundle, root, keys), None
    assert place.bundle is not None
    if described is not None:
        deadline = described.deciding.deadline
    core = NodeCore(place.bundle, name, Settings(deadline=deadline, window=row_seconds))
    write = log_of(screen, log)
    if described is not None and core.plan.reads:
        feed = Feed(described, place.bundle, name, write)
    announced: tuple[tuple[str, bytes], ...] = ()
    if core.decides:
        # The plan that the site begins with, so that one can go back to it.
        files = [site, plan, None if described is None else described.model]
        written = max(one.stat().st_mtime_ns // 1_000_000 for one in files if one is not None)
        announced = ((f"{place.topics.history}/{written}", place.bundle.to_bytes()),)
        if home_assistant:
            found = discovery(place.topics, place.bundle, expire_after=expire_after)
            announced = (*announced, *found)
    options = NodeOptions(
        trust=keys,
        allow_rollback=allow_rollback,
        state=state,
        root=root,
        announcements=announced,
        log=write,
        is_patient=described is not None,
        feed=feed,
    )
    running = Node(core, place.broker, options)
    rows = None
    if described is None:
        rows = _rows(running, state, replay, replay_rate, stdin, call, reading, screen)
    with orderly_end(running.stop), health_at(health, lambda: running.health, write):
        if feed is None or described is None:
            running.run(rows)
            return
        feed.start(
            described.broker_of(name), f"{client_id(place.topics, name)}:sensors", running.fail
        )
        try:
            running.run(feed.rows_from)
        finally:
            feed.stop()


def _rows(
    running: "Node",
    state: Any,
    replay: Path | None,
    rate: float | None,
    stdin: bool,
    call: str | None,
    reading: ReadingOptions,
    screen: Screen,
) -> "Rows":
    """Return the rows of --replay, --stdin or --call; None where they come by the topic."""
    from solah.exceptions import ParameterError
    from solah.site.row_sources import at_rate, called, json_lines
    from solah.site.row_sources import replay as rows_of
    from solah.site.state_file import read_memory

    if sum((replay is not None, stdin, call is not None)) > 1:
        raise ParameterError("readings come from one of --replay, --stdin and --call")
    start = read_memory(state).brought + 1
    core, is_behind = running.core, running.is_behind
    if replay is not None:
        wanted = [one for one in core.bundle.model.features if one.name in core.plan.reads]
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
