"""The live page of a network: complete, safe whatever things are called, usable by everyone."""

import asyncio
import json
import re
import socket
import threading
from dataclasses import replace

import httpx
import numpy as np
import pytest
from processes import PATIENCE
from watched_site import START, Site, feed, make_bundle

from random_models import random_model
from solah.site import web
from solah.site.alerts import Alert, encode_alerts
from solah.site.bundle import Bundle
from solah.site.messages import Decided, Decisions, Status, encode
from solah.site.observer import Observer
from solah.site.plan import make_plan
from solah.site.topics import Topics
from solah.site.web_server import Server

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

PHONE = {"width": 360, "height": 740}
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(1)>",
)


def watch(bundle, silent=(), n_rows=10):
    site = Site(bundle, silent)
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    feed(observer, site.messages(n_rows))
    return observer


def nasty_bundle():
    """Make a bundle of which classes, trees and the target are named by somebody who means harm."""
    model = random_model(np.random.default_rng(0), "three groups", 3)
    target = replace(model.target, name=NASTY[0], classes=NASTY, thresholds=())
    first, *others = model.root.groups
    groups = (replace(first, name=NASTY[1]), *others)
    model = replace(
        model, target=target, nodes=(replace(model.root, name=NASTY[2], groups=groups),)
    )
    features = [feature.name for feature in model.features]
    placement = {"attic": features[:2], "cellar": features[2:4], "kitchen": features[4:]}
    return Bundle(make_plan(model, placement, site="house"), model)


def ask(observer, path, host="127.0.0.1", **options):
    """Ask the application without a network; a stream ends after three steps."""
    app = web.make_app(observer, now=lambda: START + 3, **options)
    steps = iter(range(3))
    app.state.is_stopping = lambda: next(steps, None) is None

    async def get():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.get(path)

    return asyncio.run(get())


# --- what is answered ------------------------------------------------------------------------


def test_the_page_loads_nothing_and_allows_nothing_else():
    observer = watch(make_bundle())
    answers = [ask(observer, "/") for _ in range(2)]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        (nonce,) = set(re.findall("'nonce-([^']+)'", policy))
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert answer.text.count(f'nonce="{nonce}"') == 2
        assert not re.search(r"""\s(src|style|on\w+)=|@import|url\(""", answer.text)
        assert re.findall('<link [^>]*href="([^"]*)"', answer.text) == ["data:,"]
    policies = {answer.headers["content-security-policy"] for answer in answers}
    assert len(policies) == 2


def test_the_page_draws_the_hierarchy_for_both_widths():
    observer = watch(make_bundle())
    text = ask(observer, "/").text
    assert text.count('class="hierarchy wide"') == text.count('class="hierarchy narrow"') == 1
    assert text.count('data-letters="') == 2 * len(observer.bundle.model.parts)
    for place in range(len(observer.bundle.model.parts)):
        assert f'id="node-{place}"' in text


def test_names_are_escaped():
    text = ask(watch(nasty_bundle()), "/").text
    assert "alert(1)" in text
    for name in NASTY:
        assert name not in text


def test_the_server_tells_whether_it_is_ready():
    observer = watch(make_bundle())
    assert ask(observer, "/healthz").json() == {"status": "ok"}
    assert ask(observer, "/readyz").status_code == 200
    observer.note_link(False, START)
    assert ask(observer, "/healthz").status_code == 200
    assert ask(observer, "/readyz").status_code == 503


@pytest.mark.parametrize(
    ("host", "code"),
    [("localhost:8765", 200), ("127.0.0.1", 200), ("[::1]:8765", 200), ("evil.example", 400)],
)
def test_pages_from_elsewhere_cannot_ask(host, code):
    assert ask(Observer(Topics("house")), "/snapshot.json", host).status_code == code


# --- a real server ---------------------------------------------------------------------------


@pytest.fixture
def serve():
    """Return a function that serves what an observer sees, and says where."""
    running = []

    def start(observer):
        server = Server(web.make_app(observer, now=lambda: START + 3), port=0)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        return server.url

    yield start
    for server, thread in running:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_stream_does_not_keep_the_server_from_ending(serve):
    url = serve(watch(make_bundle()))
    assert url.startswith("http://127.0.0.1:")
    # The fixture stops the server while the stream is open.
    client = httpx.Client(timeout=PATIENCE)
    request = client.build_request("GET", f"{url}events")
    stream = client.send(request, stream=True)
    assert next(stream.iter_lines()).startswith("data: ")


@pytest.fixture
def connect():
    """Return a function that opens connections to a server, which are closed in the end."""
    opened = []

    def make(url, n_times, said=b""):
        where = (httpx.URL(url).host, httpx.URL(url).port)
        made = [socket.create_connection(where, PATIENCE) for _ in range(n_times)]
        opened.extend(made)
        for one in made:
            one.sendall(said)
        return made

    yield make
    for one in opened:
        one.close()


HALF = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "


@pytest.mark.parametrize("said", [b"", HALF], ids=["nothing", "half a request"])
def test_connections_that_ask_nothing_keep_nobody_out(serve, connect, said):
    url = serve(watch(make_bundle()))
    connect(url, 200, said)
    for path in ("metrics", "", "snapshot.json"):
        assert httpx.get(f"{url}{path}", timeout=PATIENCE).status_code == 200


def test_whoever_asked_once_waits_no_longer_than_others(serve, connect):
    url = serve(watch(make_bundle()))
    for _ in range(200):
        (one,) = connect(url, 1, HALF + b"x\r\n\r\n")
        assert one.recv(12) == b"HTTP/1.1 200"
    assert httpx.get(f"{url}metrics", timeout=PATIENCE).status_code == 200


def test_a_connection_without_a_request_is_closed(serve, connect, monkeypatch):
    monkeypatch.setattr("solah.site.web_server.SECONDS_TO_ASK", 0.05)
    url = serve(watch(make_bundle()))
    idle, half = *connect(url, 1), *connect(url, 1, HALF)
    assert is_closed(idle)
    assert is_closed(half)


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_streams_leave_room_for_other_questions(serve, connect):
    url = serve(watch(make_bundle()))
    question = b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for one in connect(url, web._MOST_STREAMS, question):
        assert b"data: " in b"".join(iter(lambda one=one: one.recv(1), b"{"))
    (refused,) = connect(url, 1, question)
    assert refused.recv(12) == b"HTTP/1.1 503"
    assert httpx.get(f"{url}metrics", timeout=PATIENCE).status_code == 200


# --- a real browser --------------------------------------------------------------------------


@pytest.fixture
def open_page(browser, serve):
    """Return a function that opens the page of an observer; it must not complain of anything."""
    complaints, contexts = [], []

    def open_it(observer, **options):
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(1_000 * PATIENCE)
        page = contexts[-1].new_page()
        url = serve(observer)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.on(
            "request", lambda one: one.url.startswith((url, "data:")) or complaints.append(one.url)
        )
        page.goto(url)
        page.locator("#nodes td").first.wait_for()
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


CARDS = """cards => cards.map(card => [
    Number(card.dataset.node),
    card.querySelector(".result").textContent,
    [...card.querySelectorAll("rect:not(.card)")].map(bar => Number(bar.getAttribute("width"))),
])"""


def test_the_page_follows_the_network(open_page):
    site = Site(make_bundle())
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    page = open_page(observer)
    cards = page.locator(".hierarchy.wide .node")
    before = {words for _, words, _ in cards.evaluate_all(CARDS)}
    assert before == {"no message yet", "stays in its node"}
    feed(observer, site.messages(10))
    page.locator("#total", has_text="10").wait_for()
    picture = observer.snapshot(START + 3)
    shown = {place: (words, bars) for place, words, bars in cards.evaluate_all(CARDS)}
    rows = page.locator("#parts tbody tr").all_text_contents()
    for part, row in zip(picture["parts"], reversed(rows), strict=True):
        words, bars = shown[part["place"]]
        if part["state"] == "heard":
            assert words == f"{part['says']} {part['certainty']:.2f}"
            assert bars == pytest.approx([100 * share for share in part["belief"]])
            assert f"{part['says']}{part['certainty']:.2f}{part['row']}" in row
    last = picture["decisions"]["last"][0]
    assert page.locator("#verdict").text_content() == last["decision"]
    assert (
        page.locator("#certainty").text_content()
        == f"{100 * last['certainty']:.1f}\N{NO-BREAK SPACE}%"
    )
    assert page.locator("#link-state").text_content() == "Live"
    page.locator("#announcer", has_text=last["decision"]).wait_for(state="attached")


def test_names_are_text_and_nothing_else(open_page):
    observer = watch(nasty_bundle(), silent=("attic",))
    status = encode(Status("stranger", "online", NASTY[1], {NASTY[0]: 3}))
    observer.take("solah/house/stranger/status", status, START)
    page = open_page(observer)
    assert page.locator("#verdict").text_content() in NASTY
    assert page.locator("#verdict-missing").text_content() == f"Missing: {NASTY[1]}."
    assert page.evaluate("document.querySelectorAll('img, [onload], [onerror]').length") == 0
    assert page.evaluate("document.scripts.length") == 1


def test_what_is_missing_is_said_in_words_and_to_everyone(open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(watch(make_bundle(), silent=("attic",)), viewport=PHONE, bypass_csp=True)
    card = page.locator(".hierarchy.narrow .node.is-missing")
    assert card.locator(".result").text_content() == "missing"
    assert page.locator("#verdict-missing").text_content() == "Missing: z0."
    assert "lacked values of z0 (10)" in page.locator("#lacking").text_content()
    assert "offline" in page.locator("#nodes tr", has_text="attic").text_content()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.run(page).response["violations"]
        serious = {
            one["id"]: [node["html"][:120] for node in one["nodes"][:3]]
            for one in found
            if one["impact"] in ("serious", "critical")
        }
        assert not serious, json.dumps({scheme: serious}, indent=1)


# --- what is old, dead or tried out ----------------------------------------------------------


def test_the_page_is_not_live_without_the_broker(open_page):
    observer = watch(make_bundle())
    page = open_page(observer)
    state = page.locator("#link-state")
    assert state.get_attribute("class") == "fine is-on"
    observer.note_link(False, START + 2)
    page.locator("#link-state", has_text="Not connected to the broker").wait_for()
    assert state.get_attribute("class") == "fine is-off"
    assert page.locator("#now-word").text_content() == "as last decided"
    assert page.locator(".now.is-old").count() == 1
    assert "The last decision came" in page.locator("#decision-age").text_content()


def test_the_page_shows_alerts_and_the_shadow(open_page):
    observer = watch(make_bundle())
    topics, shadow = Topics("house"), make_bundle(seed=1).as_shadow()
    observer.take(topics.alerts, encode_alerts([Alert(NASTY[0], "wet is decided", START)]), START)
    observer.take(topics.shadow.model, shadow.to_bytes(), START)
    beliefs = {"c0": 0.5, "c1": 0.25, "c2": 0.25}
    for hash_, topic, decision in (
        (observer.bundle.hash, topics.decisions, "c1"),
        (shadow.hash, topics.shadow.decisions, "c0"),
    ):
        row = Decided(99, START, decision, beliefs)
        observer.take(topic, encode(Decisions("gateway", hash_, (row,))), START)
    page = open_page(observer)
    assert NASTY[0] in page.locator("#alerts li").text_content()
    assert "agrees on 0 of 1 rows" in page.locator("#shadow-counts").text_content()
    assert page.locator("#differing td").all_text_contents() == ["c1", "c0", "1"]


DONT_KNOW = "don\N{RIGHT SINGLE QUOTATION MARK}t know"


def test_the_page_shows_what_stands(open_page):
    observer = watch(make_bundle())
    beliefs = {"c0": 0.2, "c1": 0.6, "c2": 0.2}

    def decide(sequence, settled, *abstain_reasons):
        row = Decided(
            sequence, START, "c1", beliefs, stable=settled, abstain_reasons=abstain_reasons
        )
        message = encode(Decisions("gateway", observer.bundle.hash, (row,)))
        observer.take(Topics("house").decisions, message, START)

    decide(99, None, "low probability")
    page = open_page(observer)
    assert page.locator("#verdict").text_content() == DONT_KNOW
    assert page.locator("#certainty").text_content() == ""
    held_back = (
        "Don\N{RIGHT SINGLE QUOTATION MARK}t know (low probability). "
        "The leading class is c1, 60.0\N{NO-BREAK SPACE}%."
    )
    assert page.locator("#verdict-abstain_reasons").text_content() == held_back
    assert page.locator("#beliefs li.is-decided").count() == 0
    first = page.locator("#last tbody tr").first
    assert first.locator("td").all_text_contents()[-2:] == [
        DONT_KNOW,
        "low probability",
    ]
    decide(100, "c0")
    page.locator("#verdict", has_text="c0").wait_for()
    assert "c0" in page.locator("#beliefs li.is-decided").text_content()
    decide(101, "c1")
    page.locator("#certainty", has_text="60.0").wait_for()
    assert page.locator("#verdict-abstain_reasons").is_hidden()
