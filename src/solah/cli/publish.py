"""``solah publish``: send a plan to every node of a running network, or look at those sent."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.broker_options import BrokerOptions, Root, TrustFiles, trusted
from solah.cli.node import SiteFile, refuse_beside_site
from solah.cli.overwriting import READ
from solah.cli.screen import Screen
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.site.document import Site
    from solah.network.topics import Topics

_network_option = options_in("The network")
_when_option = options_in("From when on")

PublishedPlan = Annotated[
    Path | None,
    _network_option(
        "--plan",
        metavar="FILE",
        help="A plan that 'solah plan' wrote.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Rollback = Annotated[
    str | None,
    _network_option(
        "--rollback", metavar="HASH", help="Publish this plan of the history again instead."
    ),
]
SiteName = Annotated[
    str | None,
    _network_option(
        "--site", metavar="NAME", help="The name of the network; by default the plan's."
    ),
]
ShadowFlag = Annotated[
    bool,
    _network_option(
        "--shadow", help="Only compare its decisions with those in use; nobody acts on them."
    ),
]
EndShadow = Annotated[
    bool, _network_option("--end-shadow", help="End the comparison with a shadow.")
]
History = Annotated[
    bool,
    _network_option(
        "--history", help="List the plans published so far; with --trust, who signed them."
    ),
]
At = Annotated[
    int | None,
    _when_option(
        "--at",
        min=0,
        help="The first row that the new model decides; by default --ahead rows behind the newest.",
    ),
]
AtTime = Annotated[
    datetime | None,
    _when_option(
        "--at-time",
        formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"],
        help="The time from which it decides, of this machine if it has no zone: exact with "
        "--window, else estimated from the pace of the site.",
    ),
]
WindowLength = Annotated[
    float | None,
    _when_option(
        "--window", min=0.001, help="The nodes' --window, where they tell rows apart by time."
    ),
]
Ahead = Annotated[
    int,
    _when_option("--ahead", min=0, help="How many rows the nodes have to take the model over."),
]
Sign = Annotated[
    Path | None,
    _network_option(
        "--sign",
        metavar="FILE",
        help="Sign it with this Ed25519 private key.",
        exists=True,
        dir_okay=False,
    ),
]


@many_options(
    *("plan", "broker", "site", "credentials", "shadow", "end_shadow", "history", "rollback", "at"),
    *("at_time", "ahead", "sign", "json"),
)
def publish(
    broker: BrokerOptions,
    screen: Screen,
    file: SiteFile = None,
    plan: PublishedPlan = None,
    rollback: Rollback = None,
    site: SiteName = None,
    shadow: ShadowFlag = False,
    end_shadow: EndShadow = False,
    history: History = False,
    at: At = None,
    at_time: AtTime = None,
    window: WindowLength = None,
    ahead: Ahead = 500,
    sign: Sign = None,
    trust: TrustFiles = None,
    root: Root = "solah",
) -> None:
    """Send a new plan and model to all nodes of a running network, which take it over together.

    The broker keeps it, so that nodes which start later get it too. All nodes decide rows from one
    number on with the new model, and none is decided by both. With --shadow they try it out beside
    the one in use; --history lists the last plans, and --rollback goes back to one of them. A site
    file says which broker and site it is, and is what is published where nothing else is said.

    Example: solah publish --plan new.json --broker mqtt://hub --sign operator.pem
    """
    from solah.exceptions import ParameterError
    from solah.network import publishing
    from solah.network.bundle import load_bundle

    asked = {
        "--plan": plan is not None,
        "--rollback": rollback is not None,
        "--end-shadow": end_shadow,
        "--history": history,
    }
    if sum(asked.values()) > 1 or (file is None and not any(asked.values())):
        raise ParameterError(f"give a site file, or one of {', '.join(asked)}")
    bundle = None if plan is None else load_bundle(plan)
    row_of: Callable[[float], int] | None = None
    if file is not None:
        own = {"site": site, "window": window, "trust": trust, "root": root != "solah"}
        refuse_beside_site({**own, **broker.given()})
        described, topics, where = _of_file(file)
        trust = list(described.trust)
        bundle = bundle if any(asked.values()) else described.bundle()
        if at_time is not None:
            row_of = partial(described.row_at, described.bundle().model)
    else:
        topics, where = _of_options(broker, site, bundle, root)
        row_of = None if window is None else partial(_row_by_time, window)
    if bundle is not None and bundle.plan.site != topics.site:
        raise ParameterError(f"{plan} is of the site {bundle.plan.site!r}, not {topics.site!r}")
    if history:
        _list(screen, publishing.read_history(where, topics, trusted(trust)))
        return
    if end_shadow:
        publishing.end_shadow(where, topics)
        screen.say(f"no shadow is compared at {topics.site} any more")
        return
    if rollback is not None:
        kept = publishing.read_history(where, topics)
        bundle = publishing.find_published(kept, rollback).bundle
    assert bundle is not None
    if bundle.signature and sign is None:
        raise ParameterError(
            f"{plan or rollback or file} is signed, and the row from which it decides is part of "
            "that; give --sign"
        )
    bundle = bundle.starting_at(_first_row(where, topics, at, at_time, row_of, ahead))
    bundle = bundle.as_shadow() if shadow else bundle.to_use()
    if sign is not None:
        bundle = bundle.signed(sign)
    publishing.publish_bundle(where, topics, bundle)
    _tell(screen, topics, bundle)


def _row_by_time(window: float, when: float) -> int:
    return int(when // window)


def _of_file(file: Path) -> "tuple[Site, Topics, Broker]":
    from solah.network.site import load_site
    from solah.network.topics import Topics

    described = load_site(file)
    return described, Topics(described.name, described.root), described.hub.find()


def _of_options(
    broker: BrokerOptions, site: str | None, bundle: "Bundle | None", root: str
) -> "tuple[Topics, Broker]":
    from solah.exceptions import ParameterError
    from solah.network.plan import check_name
    from solah.network.topics import Topics

    named = site or (bundle.plan.site if bundle is not None else None)
    if named is None:
        raise ParameterError("say with --site which network it is")
    return Topics(check_name(named), root), broker.find()


def _first_row(
    where: "Broker",
    topics: "Topics",
    at: int | None,
    at_time: datetime | None,
    row_of: "Callable[[float], int] | None",
    ahead: int,
) -> int:
    from solah.exceptions import ParameterError
    from solah.network.publishing import newest_row, row_at

    if at is not None and at_time is not None:
        raise ParameterError("a plan decides from a row or from a time on; give --at or --at-time")
    if row_of is not None and at_time is None:
        raise ParameterError("--window is for --at-time")
    if at is not None:
        return at
    if at_time is None:
        return newest_row(where, topics) + ahead
    when = at_time.timestamp()
    return row_at(where, topics, when) if row_of is None else row_of(when)


def _tell(screen: Screen, topics: "Topics", bundle: "Bundle") -> None:
    if screen.json:
        screen.document(
            {
                "site": topics.site,
                "model": bundle.hash,
                "from": bundle.starts,
                "shadow": bundle.is_shadow,
            }
        )
    does = "it is compared" if bundle.is_shadow else "it decides"
    screen.say(f"model {bundle.hash} is with the broker; {does} from row {bundle.starts:,} on")


def _list(screen: Screen, history: list[Any]) -> None:
    from rich.table import Table

    plain = [
        {
            "time": datetime.fromtimestamp(one.time / 1000, UTC).isoformat(timespec="seconds"),
            "model": one.bundle.hash,
            "from": one.bundle.starts,
            "use": "shadow" if one.bundle.is_shadow else "in use",
            "signed_by": one.signer,
        }
        for one in history
    ]
    if screen.json:
        screen.document(plain)
        return
    if not plain:
        screen.say("the broker keeps no history of this site")
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row("published", "model", "from row", "use", "signed by")
    for one in plain:
        signer = one["signed_by"] or "nobody"
        table.add_row(one["time"], one["model"], f"{one['from']:,}", one["use"], signer)
    screen.result(table)
