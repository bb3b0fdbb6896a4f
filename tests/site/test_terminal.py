"""What a terminal shows of a network: complete, within its width, and readable without colour."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from watched_site import START, Site, feed, make_bundle

from solah.site.messages import Decided, Decisions, encode
from solah.site.observer import Observer
from solah.site.terminal import render
from solah.site.topics import Topics

GOLDEN = """\
site house: degraded; attic is offline, the last decision lacked z0
20 decisions, the last now, 5.0 a second, latency 1.0 s (p50), 2.9 s (p99)
100.0 % of the last 20 decisions lacked values of z0 (20)
messages not taken: 1 unreadable

Nodes
name     state    rows/s  readings/s  seen       model
gateway  online      5.0         0.0  now        7f376970
kitchen  online      6.7         0.0  1.1 s ago  7f376970
cellar   online      6.7         0.0  1.1 s ago  7f376970
attic    offline     0.0         0.0  3.0 s ago  7f376970

Last decisions
row  decision  probability  latency  completeness  missing
 19  c0               0.94    2.1 s          70 %  z0
 18  c0               0.72    2.2 s          70 %  z0
 17  c0               0.56    2.3 s          70 %  z0
 16  c1               0.58    2.4 s          70 %  z0
 15  c0               0.94    2.5 s          70 %  z0
 14  c1               0.51    2.6 s          70 %  z0
 13  c1               0.67    2.7 s          70 %  z0
 12  c0               0.46    2.8 s          70 %  z0
"""


def picture_of(bundle, silent=(), n_rows=20):
    site = Site(bundle, silent)
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    feed(observer, site.messages(n_rows))
    observer.take("solah/house/attic/out", b"garbage", START)
    return observer.snapshot(START + 3)


def printed(snapshot, width=80, **options):
    page = io.StringIO()
    console = Console(file=page, width=width, highlight=False, **options)
    console.print(render(snapshot, width))
    return page.getvalue()


def without_trailing_blanks(text):
    return re.sub(" +$", "", text, flags=re.MULTILINE)


def test_all_there_is_to_know_stands_on_one_page():
    picture = picture_of(make_bundle(), silent=("attic",))
    picture["model"]["hash"] = "7f376970"
    for node in picture["nodes"]:
        node["model"] = "7f376970"
    assert without_trailing_blanks(printed(picture)) == GOLDEN


def test_what_is_held_back_is_not_shown_as_decided():
    bundle = make_bundle()
    site = Site(bundle)
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    beliefs = {"c0": 0.2, "c1": 0.6, "c2": 0.2}
    rows = (
        Decided(1, START, "c1", beliefs, stable="c0"),
        Decided(
            2, START, "c1", beliefs, ("z0",), 0.4, stable=None, abstain_reasons=("few readings",)
        ),
    )
    message = encode(Decisions("gateway", bundle.hash, rows))
    observer.take(site.topics.decisions, message, START)
    lines = printed(observer.snapshot(START + 1)).splitlines()
    start = [line.strip() for line in lines].index("Last decisions")
    table = [" ".join(line.split()) for line in lines[start + 1 : start + 4]]
    assert table == [
        "row stable decision probability latency completeness missing; reasons",
        "2 don't know c1 0.60 0 ms 40 % z0; few readings",
        "1 c0 c1 0.60 0 ms 100 %",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("shape", ["three groups", "groups", "words", "words and pairs"])
def test_nothing_is_wider_than_the_terminal(shape, width):
    text = printed(picture_of(make_bundle(shape), silent=("attic",)), width)
    assert max(map(len, text.splitlines())) <= width


@given(name=st.text(max_size=100))
def test_any_name_fits(name):
    observer = Observer(Topics("house"))
    row = Decided(1, START, name, {name: 0.5}, (name, name))
    message = Decisions("attic", "0", (row,))
    observer.take("solah/house/decision", encode(message), START)
    snapshot = observer.snapshot(START)
    assert "\x1b" not in printed(snapshot)
    assert "No plan was received yet" in printed(snapshot)
