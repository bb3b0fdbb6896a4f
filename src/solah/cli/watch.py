"""``solah watch``: a broker in, how a running network is doing out, until it is interrupted."""

import json
import sys
import time
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from solah.cli.broker_options import BrokerOptions, Root, TrustFiles, trusted
from solah.cli.log_options import LogKind, log_of
from solah.cli.node import SiteFile, refuse_beside_site
from solah.cli.overwriting import READ
from solah.cli.screen import Screen, console
from solah.cli.stopping import catch_ctrl_c
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.observing import Observer
    from solah.network.topics import Topics
    from solah.network.trust import Trust

_network_option = options_in("The network")
_view_option = options_in("The view")
_REFRESH = 0.25
_WHEN_IDLE = 2.0
_JSON_EVERY = 1.0
_PAGE = 100  # columns, where there is no terminal

Site = Annotated[
    str | None,
    _network_option(
        "--site",
        metavar="NAME",
        help="The name of the network; by default that of --plan, or site.",
    ),
]
LocalPlan = Annotated[
    Path | None,
    _network_option(
        "--plan",
        metavar="FILE",
        help="Read messages by this plan, until the broker has a newer one.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Bind = Annotated[
    str,
    _view_option(
        "--bind",
        metavar="ADDRESS",
        help="Where the page listens. It asks for no password: put something before it that does.",
    ),
]
Hosts = Annotated[
    list[str] | None,
    _view_option(
        "--host",
        metavar="NAME",
        help="A name under which the page may be asked for, beside those of this machine; may be "
        "given several times.",
    ),
]
StaleAfter = Annotated[
    float | None,
    _view_option(
        "--stale-after",
        min=0.1,
        help="Seconds without a decision after which the site is stale; by default five times the "
        "usual time between decisions, and half a minute at least.",
    ),
]
AlertsFile = Annotated[
    Path | None,
    _view_option(
        "--alerts",
        metavar="FILE",
        help="Raise the alerts of this YAML or JSON file, on the broker and by webhook.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Otel = Annotated[
    bool,
    _view_option(
        "--otel",
        help="Send metrics by OpenTelemetry, to where OTEL_EXPORTER_OTLP_ENDPOINT says.",
    ),
]
Web = Annotated[
    int | None,
    _view_option(
        "--web",
        metavar="PORT",
        min=0,
        max=65535,
        help="Serve a live page on this port of this machine; 0 takes one that is free.",
    ),
]
Seconds = Annotated[
    float | None,
    _view_option("--seconds", min=0.0, help="End after so long; by default when interrupted."),
]


@many_options(
    *("broker", "site", "plan", "credentials", "web", "alerts", "stale_after", "otel", "seconds"),
    *("log", "json"),
)
def watch(
    broker: BrokerOptions,
    screen: Screen,
    file: SiteFile = None,
    site: Site = None,
    plan: LocalPlan = None,
    root: Root = "solah",
    trust: TrustFiles = None,
    web: Web = None,
    bind: Bind = "127.0.0.1",
    hosts: Hosts = None,
    stale_after: StaleAfter = None,
    alerts: AlertsFile = None,
    otel: Otel = False,
    seconds: Seconds = None,
    log: LogKind = "text",
) -> None:
    """Watch a running network: nodes, beliefs, decisions, rates, and what is missing.

    In a terminal the view is live. With --web there is a page, too, with the same, server-sent
    events (/events), and figures for Prometheus (/metrics). With --json a line is printed a second.
    With --alerts it raises alerts, once each, and clears them; else it publishes nothing. A site
    file says which broker, site and plan it is.

    Example: solah watch site.yaml --web 8765
    """
    from solah.network.alerting import load_alerting
    from solah.network.observing import Observer
    from solah.network.watching import alerting, subscribed

    catch_ctrl_c()
    write = log_of(screen, log)
    rules = None if alerts is None else load_alerting(alerts)
    if file is not None:
        own = {"site": site, "plan": plan, "trust": trust, "root": root != "solah"}
        refuse_beside_site({**own, **broker.given()})
        watched = _of_file(file)
    else:
        watched = _of_options(broker, site, plan, root, trust)
    observer = Observer(watched.topics, watched.trust, stale_after)
    if watched.bundle is not None:
        _adopt(observer, watched.bundle)
    topics = watched.topics
    with ExitStack() as stack:
        told = write if log == "json" else _ignore  # people see it in the view
        client = stack.enter_context(subscribed(watched.broker, topics, observer, log=told))
        stack.enter_context(page(observer, web, screen, write, bind, hosts))
        if otel:
            from solah.network.telemetry import exporting

            stack.enter_context(exporting(observer, write))
        if rules is not None:
            stack.enter_context(alerting(observer, rules, client, topics, write))
        end = None if seconds is None else time.monotonic() + seconds

        def is_over() -> bool:
            return end is not None and time.monotonic() >= end

        show(observer, screen, is_over, in_lines=True)
    if not screen.json and not sys.stdout.isatty():
        from solah.network.terminal import render

        screen.result(render(observer.snapshot(time.time()), _PAGE))


@dataclass(frozen=True)
class _Watched:
    """Which network is watched: where it is, by which plan, and whose plans are taken."""

    topics: "Topics"
    broker: "Broker"
    bundle: "Bundle | None"
    trust: "Trust | None"


def _of_file(file: Path) -> _Watched:
    from solah.network.site import load_site
    from solah.network.topics import Topics

    site = load_site(file)
    keys = trusted(list(site.trust))
    return _Watched(Topics(site.name, site.root), site.hub.find(), site.bundle(keys), keys)


def _of_options(
    broker: BrokerOptions, site: str | None, plan: Path | None, root: str, trust: list[Path] | None
) -> _Watched:
    from solah.network.bundle import load_bundle
    from solah.network.plan import SITE, check_name
    from solah.network.topics import Topics

    keys = trusted(trust)
    bundle = None if plan is None else load_bundle(plan, keys)
    name = check_name(site or (SITE if bundle is None else bundle.plan.site))
    return _Watched(Topics(name, root), broker.find(), bundle, keys)


def _ignore(_: str) -> None:
    """Log nothing."""


def _adopt(observer: "Observer", bundle: "Bundle") -> None:
    from solah.exceptions import ParameterError

    if bundle.plan.site != observer.site:
        raise ParameterError(f"the plan is of the site {bundle.plan.site!r}, not {observer.site!r}")
    observer.adopt(bundle)


def page(
    observer: "Observer",
    port: int | None,
    screen: Screen,
    log: "Callable[[str], None] | None" = None,
    bind: str = "127.0.0.1",
    hosts: list[str] | None = None,
) -> AbstractContextManager[object]:
    """Serve the live page, if there is a port for it."""
    if port is None:
        return nullcontext()
    from solah.network.logs import Event
    from solah.network.watching import serving
    from solah.network.web import LOOPBACK, Server, make_app

    server = Server(make_app(observer, [*LOOPBACK, *(hosts or ())]), bind, port)
    text = f"the page is at {server.url}"
    (log or screen.note)(Event(text, "page_served", url=server.url))
    return serving(server)


def show(
    observer: "Observer", screen: Screen, is_over: "Callable[[], bool]", *, in_lines: bool = False
) -> None:
    """Show what an observer sees until it is over, or the user interrupts; as JSON, in lines."""
    is_steady = in_lines and screen.json
    with ExitStack() as stack:
        update = stack.enter_context(_view(screen, in_lines))
        changes, shown_at = -1, 0.0
        try:
            while not is_over():
                # Where nothing came only ages are new, which need no haste.
                is_due = time.monotonic() - shown_at >= _WHEN_IDLE
                if is_steady or is_due or changes != observer.changes:
                    changes, shown_at = observer.changes, time.monotonic()
                    update(observer)
                time.sleep(_JSON_EVERY if is_steady else _REFRESH)
        except KeyboardInterrupt:
            screen.note("ended")
        update(observer)


def _view(screen: Screen, in_lines: bool) -> "AbstractContextManager[Callable[[Observer], None]]":
    if screen.json and in_lines:
        return nullcontext(_print_line)
    if screen.json or screen.quiet or not sys.stdout.isatty():
        return nullcontext(lambda _: None)
    return _live()


def _print_line(observer: "Observer") -> None:
    snapshot = observer.snapshot(time.time(), last=1)
    sys.stdout.write(json.dumps(snapshot, ensure_ascii=False) + "\n")
    sys.stdout.flush()


@contextmanager
def _live() -> "Iterator[Callable[[Observer], None]]":
    from rich.live import Live

    from solah.network.terminal import render

    screen = console()
    with Live(console=screen, auto_refresh=False) as view:

        def update(observer: "Observer") -> None:
            view.update(render(observer.snapshot(time.time()), screen.width), refresh=True)

        yield update
