"""``solah site watch``: show how a running site is doing, until it is interrupted."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

from solah.cli.command import option
from solah.cli.screen import Screen, console
from solah.cli.site import (
    BrokerOptions,
    LogKind,
    Place,
    PlanFile,
    Root,
    Seconds,
    SiteFile,
    SiteName,
    TrustFiles,
    refuse_beside_site,
    refuse_without,
    trusted,
)
from solah.cli.stopping import catch_ctrl_c

if TYPE_CHECKING:
    from solah.site.observer import Observer

_REFRESH = 0.25
_WHEN_IDLE = 2.0
_JSON_EVERY = 1.0
_HOST = "127.0.0.1"
_PAGE = 100  # columns, where there is no terminal

Web = Annotated[
    int | None,
    option("Serve a live page on this port; 0 picks a free one.", metavar="PORT", min=0, max=65535),
]
Host = Annotated[
    str,
    option(
        "Address of the page. The page has no password; put a proxy with one before it.",
        metavar="ADDRESS",
    ),
]
AllowHost = Annotated[
    list[str] | None,
    option("Additional host name that requests may use. Repeatable.", metavar="NAME"),
]
StaleAfter = Annotated[
    float | None,
    option(
        "Seconds without a decision until the site is stale. Default: five times the usual time, "
        "and at least 30.",
        metavar="SECONDS",
        min=0.1,
    ),
]
Alerts = Annotated[
    bool, option("--alerts", "Raise the alerts of SITE, on the broker and by webhook.")
]


def watch(
    broker: BrokerOptions,
    screen: Screen,
    file: SiteFile = None,
    site: SiteName = None,
    plan: PlanFile = None,
    root: Root = "solah",
    trust: TrustFiles = None,
    web: Web = None,
    host: Host = "127.0.0.1",
    allow_host: AllowHost = None,
    stale_after: StaleAfter = None,
    alerts: Alerts = False,
    seconds: Seconds = None,
    log: LogKind = "text",
) -> None:
    """Watch a running site: nodes, scores, decisions, rates, and what is missing.

    In a terminal the view is live. --web serves it as a page, with server-sent events (/events)
    and Prometheus metrics (/metrics). With --json, solah prints a line each second. With --alerts
    it raises and clears alerts; otherwise it publishes nothing.

    Example: solah site watch site.yaml --web 8765
    """
    from solah.exceptions import ParameterError
    from solah.site.bundle import load_bundle
    from solah.site.logs import stderr_log
    from solah.site.observer import Observer
    from solah.site.site_check import check_site
    from solah.site.terminal import render
    from solah.site.watch import alerting, subscribed

    catch_ctrl_c()
    refuse_without_page(web, host, allow_host)
    write = stderr_log(log, is_quiet=screen.quiet)
    if file is not None:
        own = {"site": site, "plan": plan, "trust": trust, "root": root != "solah"}
        refuse_beside_site({**own, **broker.given()})
        place = Place.of_file(file)
        if place.site is not None and place.bundle is not None:
            check_site(place.site, place.bundle)
    else:
        keys = trusted(trust)
        bundle = None if plan is None else load_bundle(plan, keys)
        place = Place.of_options(broker, site, bundle, root, keys)
    topics, observer = place.topics, Observer(place.topics, place.trust, stale_after)
    if place.bundle is not None:
        if (of := place.bundle.plan.site) != observer.site:
            raise ParameterError(f"the plan is of the site {of!r}, not {observer.site!r}")
        observer.adopt(place.bundle)
    rules = place.site.alerts if alerts and place.site is not None else None
    if alerts and rules is None:
        raise ParameterError("--alerts requires a site file with 'alerts'")
    with ExitStack() as stack:
        told = write if log == "json" else lambda _: None  # people see it in the view
        client = stack.enter_context(subscribed(place.broker, topics, observer, log=told))
        stack.enter_context(page(observer, web, screen, write, host, allow_host))
        if rules is not None:
            stack.enter_context(alerting(observer, rules, client, topics, write))
        end = None if seconds is None else time.monotonic() + seconds
        show(observer, screen, lambda: end is not None and time.monotonic() >= end, in_lines=True)
    if not screen.json and not sys.stdout.isatty():
        screen.result(render(observer.snapshot(time.time()), _PAGE))


def refuse_without_page(port: int | None, host: str, allowed: list[str] | None) -> None:
    """Refuse options of the live page that were given without a port for it."""
    if port is None:
        refuse_without("--web", {"host": host != _HOST, "allow_host": allowed})


def page(
    observer: "Observer",
    port: int | None,
    screen: Screen,
    log: Callable[[str], None] | None = None,
    host: str = "127.0.0.1",
    allowed: list[str] | None = None,
) -> AbstractContextManager[object]:
    """Serve the live page, if there is a port for it."""
    if port is None:
        return nullcontext()
    from solah.site.logs import Event
    from solah.site.watch import serving
    from solah.site.web import make_app
    from solah.site.web_server import LOOPBACK, Server

    server = Server(make_app(observer, [*LOOPBACK, *(allowed or ())]), host, port)
    text = f"the page is at {server.url}"
    (log or screen.note)(Event(text, "page_served", url=server.url))
    return serving(server)


def show(
    observer: "Observer", screen: Screen, is_over: Callable[[], bool], *, in_lines: bool = False
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

    from solah.site.terminal import render

    screen = console()
    with Live(console=screen, auto_refresh=False) as view:

        def update(observer: "Observer") -> None:
            view.update(render(observer.snapshot(time.time()), screen.width), refresh=True)

        yield update
