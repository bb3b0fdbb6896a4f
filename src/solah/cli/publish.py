"""``solah publish``: send a plan to every node of a running network, or look at those sent."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.broker_options import BrokerOptions, Root, TrustFiles, trusted
from solah.cli.node import refuse_beside_site
from solah.cli.overwriting import READ
from solah.cli.screen import Screen
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.site.document import Site
    from solah.network.topics import Topics

_network_option = options_in("The network")
_when_option = options_in("From when on")

SiteFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="SITE…",
        help="Site files: model, broker and the name of the network.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
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
Share = Annotated[
    float | None,
    _network_option(
        "--share",
        min=0.001,
        max=1.0,
        help="Publish at this share of the sites whose files are given; a larger one adds to them.",
    ),
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
    *("at_time", "ahead", "share", "sign", "json"),
)
def publish(
    broker: BrokerOptions,
    screen: Screen,
    files: SiteFiles = None,
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
    share: Share = None,
    sign: Sign = None,
    trust: TrustFiles = None,
    root: Root = "solah",
) -> None:
    """Send a new plan and model to all nodes of a running network, which take it over together.

    The broker keeps it, so that nodes which start later get it too. All nodes decide rows from one
    number on with the new model, and none is decided by both. With --shadow they try it out beside
    the one in use; --history lists the last plans, and --rollback goes back to one of them. A site
    file says which broker and site it is, and is what is published where nothing else is said;
    of several, --share publishes at some first.

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
    if sum(asked.values()) > 1 or (not files and not any(asked.values())):
        raise ParameterError(f"give a site file, or one of {', '.join(asked)}")
    if files:
        own = {"site": site, "window": window, "trust": trust, "root": root != "solah"}
        refuse_beside_site({**own, **broker.given()})
    when = _When(at, at_time, window, ahead)
    if files and not any(asked.values()):
        _publish_sites(screen, _sites_of(files, share), when, sign, is_shadow=shadow)
        return
    if len(files or ()) > 1 or share is not None:
        raise ParameterError(
            "several site files, and --share of them, are for publishing what these files say; "
            f"with {' or '.join(asked)} give one"
        )
    bundle = None if plan is None else load_bundle(plan)
    if files:
        described = _of_file(files[0])
        topics, where = described.topics, described.broker
        trust, when = list(described.site.trust), described.in_rows(when)
    else:
        topics, where = _of_options(broker, site, bundle, root)
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
    source = str(plan or rollback)
    published = _publish(where, topics, bundle, source, when, sign, is_shadow=shadow)
    if screen.json:
        screen.document(_plain(published))
    screen.say(_told(published))


@dataclass(frozen=True)
class _When:
    """From when on a plan decides, as it was asked for."""

    at: int | None
    at_time: datetime | None
    window: float | None
    ahead: int

    def first_row(self, where: "Broker", topics: "Topics") -> int:
        """Find the row, by the progress of the site where it has to be asked."""
        from solah.exceptions import ParameterError
        from solah.network.publishing import newest_row, row_at

        if self.at is not None and self.at_time is not None:
            raise ParameterError(
                "a plan decides from a row or from a time on; give --at or --at-time"
            )
        if self.window is not None and self.at_time is None:
            raise ParameterError("--window is for --at-time")
        if self.at is not None:
            return self.at
        if self.at_time is None:
            return newest_row(where, topics) + self.ahead
        time = _seconds_of(self.at_time)
        return row_at(where, topics, time) if self.window is None else int(time // self.window)


def _seconds_of(time: datetime) -> float:
    """Return a time in seconds since 1970."""
    from solah.exceptions import ParameterError

    try:
        return time.timestamp()
    except (ValueError, OverflowError, OSError):
        raise ParameterError(f"--at-time cannot be {time.isoformat()} on this machine") from None


@dataclass(frozen=True)
class _Described:
    """A site file, and where its site is."""

    file: Path
    site: "Site"
    topics: "Topics"
    broker: "Broker"

    def in_rows(self, when: _When) -> _When:
        """Find the row of a time, as a site numbers them."""
        if when.at_time is None or when.at is not None:
            return when
        row = self.site.row_at(self.site.bundle().model, _seconds_of(when.at_time))
        return replace(when, at=row, at_time=None)


def _of_file(file: Path) -> _Described:
    from solah.network.site import load_site
    from solah.network.topics import Topics

    site = load_site(file)
    return _Described(file, site, Topics(site.name, site.root), site.hub.find())


def _sites_of(
    files: list[Path], share: float | None
) -> "tuple[list[tuple[_Described, Bundle]], list[str]]":
    """Return the sites at which to publish, with their plans, and the names of those left out."""
    from solah.exceptions import ParameterError
    from solah.network.publishing import chosen_first

    sites = [_of_file(file) for file in files]
    files_of = Counter((one.broker, one.topics) for one in sites)
    if any(times > 1 for times in files_of.values()):
        raise ParameterError("two of the files are of the same site; give each site once")
    planned = [(one, one.site.bundle()) for one in sites]
    if share is None:
        return planned, []
    if len(sites) == 1:
        raise ParameterError("--share is of several site files, and only one is given")
    is_first = chosen_first([bundle for _, bundle in planned], share)
    chosen = [one for one, is_chosen in zip(planned, is_first, strict=True) if is_chosen]
    names = [one.topics.site for one in sites]
    return chosen, [name for name, is_chosen in zip(names, is_first, strict=True) if not is_chosen]


def _publish_sites(
    screen: Screen,
    sites: "tuple[list[tuple[_Described, Bundle]], list[str]]",
    when: _When,
    sign: Path | None,
    *,
    is_shadow: bool,
) -> None:
    """Publish what site files say, at each that can be reached; tell which could not."""
    from solah.exceptions import SolahError
    from solah.network.client import BrokerError

    chosen, left_out = sites
    published, failed = [], []
    for one, bundle in chosen:
        try:
            done = _publish(
                one.broker,
                one.topics,
                bundle,
                str(one.file),
                one.in_rows(when),
                sign,
                is_shadow=is_shadow,
            )
        except SolahError as error:
            if len(chosen) == 1 and not left_out:
                raise
            failed.append(f"{one.topics.site} ({error})")
            continue
        published.append(_plain(done))
        where = f"{one.topics.site}: " if len(chosen) > 1 or left_out else ""
        screen.say(f"{where}{_told(done)}")
    if left_out:
        screen.say(f"not yet published at {', '.join(left_out)}")
    if screen.json:
        screen.document(published if len(chosen) > 1 or left_out else published[0])
    if failed:
        raise BrokerError(f"not published at {'; '.join(failed)}")


def _publish(
    where: "Broker",
    topics: "Topics",
    bundle: "Bundle",
    source: str,
    when: _When,
    sign: Path | None,
    *,
    is_shadow: bool,
) -> "Bundle":
    """Leave a plan with the broker of a site; return it as it was published."""
    from solah.exceptions import ParameterError
    from solah.network.publishing import publish_bundle

    if bundle.signature and sign is None:
        raise ParameterError(
            f"{source} is signed, and the row from which it decides is part of that; give --sign"
        )
    bundle = bundle.starting_at(when.first_row(where, topics))
    bundle = bundle.as_shadow() if is_shadow else bundle.to_use()
    if sign is not None:
        bundle = bundle.signed(sign)
    publish_bundle(where, topics, bundle)
    return bundle


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


def _plain(bundle: "Bundle") -> dict[str, Any]:
    return {
        "site": bundle.plan.site,
        "model": bundle.hash,
        "from": bundle.starts,
        "shadow": bundle.is_shadow,
    }


def _told(bundle: "Bundle") -> str:
    does = "it is compared" if bundle.is_shadow else "it decides"
    return f"model {bundle.hash} is with the broker; {does} from row {bundle.starts:,} on"


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
