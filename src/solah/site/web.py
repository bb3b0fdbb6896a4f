"""Serve a small live web page about a network, and the same for machines.

``/`` is the page, ``/events`` a stream of snapshots, ``/snapshot.json`` one of them, ``/metrics``
is for Prometheus, and ``/healthz`` and ``/readyz`` are for what restarts services.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from solah.data.spelling import count, spell
from solah.exceptions import require
from solah.metrics_text import CONTENT_TYPE
from solah.report.charts import N_COLOURS, belief_bar, colour_class
from solah.report.hierarchy_drawing import draw_hierarchy
from solah.report.node_cards import describe_nodes
from solah.site.prometheus import metrics
from solah.site.web_server import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.applications import Starlette

    from solah.site.bundle import Bundle
    from solah.site.observer import Observer

_PURPOSE = "the live page"
_PERIOD = 0.25
_LOOK_EVERY = 2.0
_HEARTBEAT = 10.0
_SHOWN = 20
_MOST_STREAMS = 32  # so that there is always room for other questions
_WIDE, _NARROW = 1060, 354
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def make_app(
    observer: Observer,
    hosts: Sequence[str] = LOOPBACK,
    now: Callable[[], float] = time.time,
) -> Starlette:
    """Make the application that shows what an observer sees.

    Parameters
    ----------
    observer : Observer
    hosts : sequence of str, default=("localhost", "127.0.0.1", "[::1]")
        The names under which it may be asked for; ``["*"]`` for any. Others are refused, so that
        no page from elsewhere can read it through the user's browser.
    now : callable, default=time.time
        Returns the time on the wall, in seconds.

    Returns
    -------
    app : Starlette
    """
    applications = require("starlette.applications", "site", _PURPOSE)
    trustedhost = require("starlette.middleware.trustedhost", "site", _PURPOSE)
    middleware = require("starlette.middleware", "site", _PURPOSE)
    routing = require("starlette.routing", "site", _PURPOSE)
    answers = _Answers(observer, now)
    app: Starlette = applications.Starlette(
        routes=[
            routing.Route("/", answers.page),
            routing.Route("/events", answers.events),
            routing.Route("/snapshot.json", answers.snapshot),
            routing.Route("/metrics", answers.metrics),
            routing.Route("/healthz", answers.health),
            routing.Route("/readyz", answers.readiness),
        ],
        middleware=[
            middleware.Middleware(trustedhost.TrustedHostMiddleware, allowed_hosts=[*hosts])
        ],
    )
    app.state.is_stopping = lambda: False
    return app


class _Answers:
    """Answers the requests to the application."""

    def __init__(self, observer: Observer, now: Callable[[], float]) -> None:
        self._observer, self._now = observer, now
        self._n_streams = 0
        self._responses = require("starlette.responses", "site", _PURPOSE)

    def _json(self, content: Any, code: int = 200) -> Any:
        return self._responses.JSONResponse(content, code, headers={**_HEADERS})

    async def page(self, _request: Any) -> Any:
        nonce = secrets.token_urlsafe(16)
        headers = {**_HEADERS, "Content-Security-Policy": _policy(nonce)}
        return self._responses.HTMLResponse(_render(self._observer, nonce), headers=headers)

    async def snapshot(self, _request: Any) -> Any:
        return self._json(self._observer.snapshot(self._now()))

    async def metrics(self, _request: Any) -> Any:
        text = metrics(self._observer.snapshot(self._now()))
        return self._responses.Response(text, media_type=CONTENT_TYPE, headers={**_HEADERS})

    async def health(self, _request: Any) -> Any:
        return self._json({"status": "ok"})

    async def readiness(self, _request: Any) -> Any:
        """Whether the broker is connected, whatever the state of the site."""
        if self._observer.is_connected is False:
            return self._json({"status": "not connected to the broker"}, 503)
        return self._json({"status": "ok"})

    async def events(self, request: Any) -> Any:
        if self._n_streams >= _MOST_STREAMS:
            words = f"{_MOST_STREAMS} are watching already\n"
            headers = {**_HEADERS, "Retry-After": "10"}
            return self._responses.PlainTextResponse(words, 503, headers=headers)
        stream = self._stream(request.app.state)
        return self._responses.StreamingResponse(
            stream, media_type="text/event-stream", headers={**_HEADERS}
        )

    async def _stream(self, state: Any) -> AsyncIterator[str]:
        """Send changes, and now and then that nothing changed, so that lost links are found."""
        before, said_at, looked_at, changes = "", 0.0, -_LOOK_EVERY, -1
        self._n_streams += 1
        try:
            while not state.is_stopping():
                now = self._now()
                told = before
                # Silence changes the snapshot too, but slowly.
                if changes != self._observer.changes or now - looked_at >= _LOOK_EVERY:
                    changes, looked_at = self._observer.changes, now
                    picture = self._observer.snapshot(now, _SHOWN)
                    told = json.dumps({**picture, "now": None})
                if told != before:
                    yield f"data: {json.dumps(picture)}\n\n"
                    before, said_at = told, now
                elif now - said_at >= _HEARTBEAT:
                    yield ": nothing new\n\n"
                    said_at = now
                await asyncio.sleep(_PERIOD)
        finally:
            self._n_streams -= 1


# --- the page --------------------------------------------------------------------------------


def _policy(nonce: str) -> str:
    """Allow the content of the page and its requests to us, and forbid all else."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _render(observer: Observer, nonce: str) -> str:
    bundle = observer.bundle
    return (
        _environment()
        .get_template("watch.html.j2")
        .render(
            **(_of_model(bundle) if bundle else {"target": None}),
            site=observer.site,
            model=bundle.hash if bundle else "",
            nonce=nonce,
            colours=N_COLOURS,
            script=Markup(
                _read("solah.report", "templates/numbers.js")
                + _read("solah.site", "pages/watch.js")
            ),
            style=Markup(
                _read("solah.report", "templates/report.css")
                + _read("solah.site", "pages/watch.css")
            ),
        )
    )


def _of_model(bundle: Bundle) -> dict[str, Any]:
    """Gather what the page shows of a model before any message comes."""
    model = bundle.model
    labels = [spell(state) for state in model.target.classes]
    target = {"name": model.target.name, "classes": labels}
    nothing = [0.0] * model.target.size
    origins = {part.name: part.origins for part in model.parts}
    nodes = [
        {
            **node,
            "home": bundle.plan.home[node["name"]],
            "hint": f"at {bundle.plan.home[node['name']]}",
            "input_names": _inputs(origins[node["name"]]),
            "belief": nothing,
            "result": "",
        }
        for node in describe_nodes(model, 0)
    ]
    return {
        "target": target,
        "nothing": nothing,
        "nodes": nodes,
        "wide": draw_hierarchy(nodes, target, _WIDE, "wide"),
        "narrow": draw_hierarchy(nodes, target, _NARROW, "narrow"),
    }


def _inputs(origins: Sequence[str]) -> str:
    """Name the first of the inputs of a part."""
    more = len(origins) - 6
    return ", ".join(origins[:6]) + (f" and {count(more, 'other')}" if more > 0 else "")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("solah.site", "pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.globals.update(belief_bar=belief_bar, colour_class=colour_class)
    return environment


@lru_cache
def _read(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")
