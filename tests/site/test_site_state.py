"""Whatever is dead, unknown or old is never shown as live."""

import json

from hypothesis import given
from hypothesis import strategies as st
from watched_site import START, Site, feed, make_bundle

from solah.site.messages import Status, encode
from solah.site.observer import Observer
from solah.site.prometheus import metrics
from solah.site.site_state import SILENT_AFTER, STATES, condition_of


def watched(silent=(), n_rows=10, **options):
    site = Site(make_bundle(), silent)
    observer = Observer(site.topics, **options)
    feed(observer, site.beginning())
    feed(observer, site.messages(n_rows))
    return site, observer


def condition(observer, now):
    return observer.snapshot(now)["condition"]


def keep_alive(site, observer, now, silent=()):
    for name in site.nodes:
        if name not in silent:
            observer.take(site.topics.status(name), encode(Status(name, "online")), now)


def test_a_site_that_decides_is_live():
    _, observer = watched()
    assert condition(observer, START + 1) == {"state": "live", "reasons": []}


def test_a_node_that_falls_silent_is_told():
    site, observer = watched(stale_after=2 * SILENT_AFTER)
    later = START + SILENT_AFTER + 5
    keep_alive(site, observer, later, silent=("attic",))
    found = observer.snapshot(later)
    assert found["condition"] == {"state": "degraded", "reasons": ["attic is silent"]}
    text = metrics(found)
    assert 'solah_node_state{site="house",node="attic",state="silent"} 1' in text
    assert 'solah_node_online{site="house",node="attic"} 0' in text
    assert 'solah_site_state{site="house",state="live"} 0' in text


def test_nothing_is_known_without_the_broker():
    _, observer = watched()
    observer.note_link(True, START)
    assert condition(observer, START + 1)["state"] == "live"
    observer.note_link(False, START + 2)
    found = observer.snapshot(START + 3)
    assert found["condition"]["state"] == "disconnected"
    assert found["link"] == {"is_connected": False, "since": START + 2}
    assert 'solah_broker_connected{site="house"} 0' in metrics(found)


def test_what_the_broker_kept_does_not_make_a_dead_node_live():
    site = Site(make_bundle())
    observer = Observer(site.topics)
    for topic, payload, now in site.beginning():
        observer.take(topic, payload, now, is_retained=True)
    (node, *_) = observer.snapshot(START + 1)["nodes"]
    assert node["heard"] is None
    assert condition(observer, START + SILENT_AFTER + 1)["state"] == "offline"


NODE = st.fixed_dictionaries(
    {
        "name": st.sampled_from("abc"),
        "state": st.sampled_from(["online", "silent", "offline", "unknown"]),
        "is_planned": st.booleans(),
        "decides": st.booleans(),
    }
)


@given(
    nodes=st.lists(NODE, max_size=20),
    last_at=st.none() | st.just(7.0),
    is_stale=st.booleans(),
    missing=st.lists(st.text(max_size=3), max_size=3),
    is_connected=st.none() | st.booleans(),
)
def test_live_means_that_nothing_is_wrong(nodes, last_at, is_stale, missing, is_connected):
    decisions = {"last_at": last_at, "is_stale": is_stale, "last_missing": missing}
    found = condition_of(nodes, decisions, is_connected)
    assert found.state in STATES
    assert bool(found.reasons) == (found.state != "live")
    planned = [one for one in nodes if one["is_planned"]] or nodes
    if found.state == "live":
        assert all(one["state"] == "online" for one in planned)
        assert last_at is not None
        assert not is_stale
        assert not missing
        assert is_connected is not False
    json.dumps(found.describe())
