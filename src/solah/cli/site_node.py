"""``solah site node``: run one node of a site until it is stopped."""

from pathlib import Path
from typing import Annotated

from solah.cli.command import READ, WRITTEN, option, read_file
from solah.cli.node_process import NodeSettings, become
from solah.cli.options import ReadingOptions
from solah.cli.screen import Screen
from solah.cli.site import (
    BrokerOptions,
    Deadline,
    HealthAddress,
    LogKind,
    PlanFile,
    ReplayRate,
    Root,
    SiteFile,
    TrustFiles,
    refuse_beside_site,
    refuse_without,
)
from solah.exceptions import ParameterError

EXPIRE_AFTER = 300

Name = Annotated[str, option("Name of the node in the plan.", metavar="NAME")]
AllowRollback = Annotated[
    bool,
    option("--allow-rollback", "With --trust: also accept plans signed before the one in use."),
]
State = Annotated[
    Path | None,
    option(
        "State file, resumed after a restart; accepted plans are kept in it, too.", metavar="FILE"
    ),
    WRITTEN,
]
HomeAssistant = Annotated[
    bool, option("--home-assistant", "Announce the decision to Home Assistant.")
]
ExpireAfter = Annotated[
    int,
    option(
        "Seconds without a decision until Home Assistant shows it as unavailable.",
        metavar="SECONDS",
        min=1,
    ),
]
Replay = Annotated[Path | None, read_file("Table whose rows are replayed as readings."), READ]


def node(
    reading: ReadingOptions,
    broker: BrokerOptions,
    screen: Screen,
    name: Name,
    site: SiteFile = None,
    plan: PlanFile = None,
    root: Root = "solah",
    deadline: Deadline = 2.0,
    trust: TrustFiles = None,
    allow_rollback: AllowRollback = False,
    state: State = None,
    home_assistant: HomeAssistant = False,
    expire_after: ExpireAfter = EXPIRE_AFTER,
    health: HealthAddress = None,
    log: LogKind = "text",
    replay: Replay = None,
    replay_rate: ReplayRate = None,
) -> None:
    """Run one node of a site: measure, evaluate its part of the model, and send the scores.

    With a site file, readings come from its sensors. With --plan they come from the node's topic
    (ROOT/SITE/NAME/in) as JSON, {"readings": {"hum": 41.5}, "seq": 7}, or from --replay. A value
    that has not arrived by the row's deadline is missing. SIGINT and SIGTERM stop it.

    Example: solah site node site.yaml --name kitchen
    """
    own: dict[str, object] = {
        "replay": replay,
        "replay_rate": replay_rate,
        "trust": trust,
        "root": root != "solah",
        "deadline": deadline != 2.0,
        "read": reading.read,
    }
    if (site is None) == (plan is None):
        raise ParameterError("pass a site file, or --plan")
    if site is not None:
        refuse_beside_site({**own, **broker.given()})
    if replay is None:
        refuse_without("--replay", {"replay_rate": replay_rate, "read": reading.read})
    if not home_assistant:
        refuse_without("--home-assistant", {"expire_after": expire_after != EXPIRE_AFTER})
    if allow_rollback and site is None and not trust:
        raise ParameterError("--allow-rollback requires --trust")
    found = vars(reading.read_options()) if replay else {}
    become(
        NodeSettings(
            name=name,
            site=_text(site),
            plan=_text(plan),
            broker=broker.words(),
            root=root,
            deadline=deadline,
            trust=tuple(map(str, trust or ())),
            allow_rollback=allow_rollback,
            state=_text(state),
            home_assistant=home_assistant,
            expire_after=expire_after,
            health=health,
            log=log,
            is_quiet=screen.quiet,
            replay=_text(replay),
            replay_rate=replay_rate,
            reading={**found, "missing": sorted(found.get("missing", ()))},
        )
    )


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
