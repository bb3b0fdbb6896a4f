"""``solah site publish``: send a plan to every node of a running site, or list those sent."""

import math
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import READ, option, read_file
from solah.cli.screen import Screen
from solah.cli.site import (
    BrokerOptions,
    Place,
    PlanFile,
    Root,
    SiteFile,
    SiteName,
    TrustFiles,
    refuse_beside_site,
    trusted,
)

if TYPE_CHECKING:
    from solah.site.bundle import Bundle

_AHEAD = 500  # rows
_SOON = 30.0  # seconds

Rollback = Annotated[str | None, option("Publish this plan of the history again.", metavar="HASH")]
Shadow = Annotated[
    bool, option("--shadow", "Only compare its decisions with those in use; nobody acts on them.")
]
EndShadow = Annotated[bool, option("--end-shadow", "End the comparison with a shadow.")]
History = Annotated[
    bool, option("--history", "List the plans published so far; with --trust, who signed them.")
]
At = Annotated[
    int | None,
    option(
        "First row of the new model. Default: --ahead rows after the newest.",
        metavar="ROW",
        min=0,
    ),
]
AtTime = Annotated[
    datetime | None,
    option(
        "Start time of the new model, with a site file; in local time unless it has a zone.",
        formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"],
        metavar="TIME",
    ),
]
Ahead = Annotated[
    int | None,
    option(
        "Rows before the nodes switch to the new model. Default: those of 30 s with a site file, "
        "else 500.",
        metavar="ROWS",
        min=0,
    ),
]
Wait = Annotated[
    float, option("Seconds to wait for the nodes' answers.", metavar="SECONDS", min=0.0)
]
Sign = Annotated[Path | None, read_file("Sign the plan with this Ed25519 private key (PEM)."), READ]


def publish(
    broker: BrokerOptions,
    screen: Screen,
    file: SiteFile = None,
    plan: PlanFile = None,
    rollback: Rollback = None,
    site: SiteName = None,
    shadow: Shadow = False,
    end_shadow: EndShadow = False,
    history: History = False,
    at: At = None,
    at_time: AtTime = None,
    ahead: Ahead = None,
    wait: Wait = 10.0,
    sign: Sign = None,
    trust: TrustFiles = None,
    root: Root = "solah",
) -> None:
    """Send a new plan and model to all nodes of a running site, which switch together.

    The broker keeps it for nodes that start later. All nodes switch to the new model at the same
    row. With --shadow they run it beside the one in use. A site file names the broker and the site.
    Its plan is published unless another option is given.

    Example: solah site publish --plan new.json --broker mqtt://hub --sign operator.pem
    """
    from solah.exceptions import ParameterError, SolahError
    from solah.site import publication
    from solah.site.bundle import load_bundle

    asked = {
        "--plan": plan is not None,
        "--rollback": rollback is not None,
        "--end-shadow": end_shadow,
        "--history": history,
    }
    if sum(asked.values()) > 1 or (file is None and not any(asked.values())):
        raise ParameterError(f"pass a site file, or one of {', '.join(asked)}")
    bundle = None if plan is None else load_bundle(plan)
    place = _place(file, plan, bundle, broker, site, root, trust)
    topics, where = place.topics, place.broker
    if history:
        _list(screen, publication.read_history(where, topics, place.trust))
        return
    if end_shadow:
        publication.end_shadow(where, topics)
        screen.say(f"no shadow is compared at {topics.site} any more")
        return
    if rollback is not None:
        bundle = publication.find_published(
            publication.read_history(where, topics), rollback
        ).bundle
    elif bundle is None:
        assert place.site is not None
        bundle = place.site.bundle()
    if bundle.signature and sign is None:
        raise ParameterError(
            f"{plan or rollback or file} is signed, and its start row is part of the signature; "
            f"pass --sign to sign it again"
        )
    bundle = bundle.starting_at(_first_row(place, at, at_time, ahead))
    bundle = bundle.as_shadow() if shadow else bundle.to_use()
    bundle = bundle if sign is None else bundle.signed(sign)
    seconds = None
    if place.site is not None:
        seconds = max(bundle.starts * place.site.deciding.every - time.time(), 0.0)
    with screen.working("waiting for the nodes"):
        answers = publication.publish_bundle(where, topics, bundle, wait)
    if screen.json:
        about = {"site": bundle.plan.site, "model": bundle.hash, "from": bundle.starts}
        screen.document({**about, "shadow": bundle.is_shadow, "seconds": seconds, "nodes": answers})
    does = "compared" if bundle.is_shadow else "used"
    when = "" if seconds is None else f", in {seconds:,.0f} s"
    screen.say(f"model {bundle.hash} is {does} from row {bundle.starts:,}{when}")
    for name, why in answers.items():
        screen.say(f"  {name}: {f'not taken: {why}' if why else 'taken'}")
    if refused := [name for name, why in answers.items() if why not in publication.NO_REFUSALS]:
        raise SolahError(f"nodes refused the plan: {', '.join(refused)}")


def _place(
    file: Path | None,
    plan: Path | None,
    bundle: "Bundle | None",
    broker: BrokerOptions,
    site: str | None,
    root: str,
    trust: list[Path] | None,
) -> Place:
    """Find the site and its broker: in the site file, or by options."""
    from solah.exceptions import ParameterError

    if file is not None:
        own = {"site": site, "trust": trust, "root": root != "solah"}
        refuse_beside_site({**own, **broker.given()})
        place = Place.of_file(file, with_bundle=False)
    elif site is None and bundle is None:
        raise ParameterError("no site; pass --site")
    else:
        place = Place.of_options(broker, site, bundle, root, trusted(trust))
    if bundle is not None and bundle.plan.site != place.topics.site:
        found, name = bundle.plan.site, place.topics.site
        raise ParameterError(f"{plan} is of the site {found!r}, not {name!r}")
    return place


def _first_row(place: Place, at: int | None, at_time: datetime | None, ahead: int | None) -> int:
    """Find the row from which a plan is used: by the clock with a site file, else by progress."""
    from solah.exceptions import ParameterError
    from solah.site.publication import newest_row

    if at is not None and at_time is not None:
        raise ParameterError("a plan starts at a row or at a time; pass --at or --at-time")
    if at is not None:
        return at
    if place.site is None:
        if at_time is not None:
            raise ParameterError("--at-time requires a site file, whose rows are numbered by time")
        return newest_row(place.broker, place.topics) + (_AHEAD if ahead is None else ahead)
    every = place.site.deciding.every
    if at_time is None:
        soon = math.ceil(max(_SOON / every, 3)) if ahead is None else ahead
        return int(time.time() // every) + soon
    try:
        moment = at_time.timestamp()
    except (ValueError, OverflowError, OSError):
        raise ParameterError(f"--at-time cannot be {at_time.isoformat()} on this machine") from None
    if moment <= time.time():
        raise ParameterError(f"--at-time {at_time.isoformat()} is in the past; choose a later time")
    return int(moment // every)


def _list(screen: Screen, history: list[Any]) -> None:
    from solah.cli.views import columns_of

    found = [
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
        screen.document(found)
        return
    if not found:
        screen.say("the broker keeps no history of this site")
        return
    lines = [
        (one["time"], one["model"], f"{one['from']:,}", one["use"], one["signed_by"] or "nobody")
        for one in found
    ]
    screen.result(columns_of(("published", "model", "from row", "use", "signed by"), lines))
