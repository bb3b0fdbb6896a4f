"""A feed makes numbered rows of what sensors publish, and counts what it cannot use."""

import json

import pytest
from rooms import write_site

from solah.exceptions import ParameterError
from solah.site.core import NodeCore
from solah.site.feed import Feed
from solah.site.messages import Measured
from solah.site.site_check import check_site, unseen_categories
from solah.site.site_file import load_site

KITCHEN, DOOR, PLUG = "zigbee2mqtt/kitchen", "hall/binary_sensor/door/state", "tele/plug/SENSOR"


@pytest.fixture
def open_feed(tmp_path):
    """Make feeds of the site in a folder, and stop them in the end."""
    feeds = []

    def make(node="kitchen", file=None, **options):
        site = load_site(file or write_site(tmp_path, "mqtt://localhost", **options))
        feeds.append(Feed(site, site.bundle(), node))
        return feeds[-1]

    yield make
    for feed in feeds:
        feed.stop()


def with_one_node(file):
    """Let one node measure everything."""
    start, _, rest = file.read_text(encoding="utf-8").partition("  kitchen: [")
    node = "  gateway: [temperature, humidity, power, door]\n"
    file.write_text(start + node + rest[rest.index("sensors") :], encoding="utf-8")
    return file


def climate(**values):
    return json.dumps({"temperature": 21.5, "humidity": 40.0, **values}).encode()


def test_rows_are_numbered_by_the_clock(open_feed):
    feed = open_feed()
    feed.take(KITCHEN, climate(), 1000.2)
    row = feed.tick(1001.0)
    assert (row.sequence, row.time, row.oldest, row.missing) == (1001, 1001.0, 1000.2, ())
    assert row.readings == {"temperature": 21.5, "humidity": 40.0}
    assert feed.tick(1001.5) is None
    assert feed.tick(1000.0) is None  # the clock was set back
    assert feed.tick(1004.0).sequence == 1004
    assert feed.tick(1005.0).missing == ("temperature", "humidity")
    assert feed.counters["clock_back"] == 1
    assert feed.counters["skipped_rows"] == 2


def test_garbage_is_unknown_named_and_counted_by_feature(open_feed):
    feed = open_feed()
    feed.take(KITCHEN, climate(temperature="ON", humidity=None), 1000.0)
    row = feed.tick(1001.0)
    assert row.readings == {"temperature": None, "humidity": None}
    assert row.missing == ("temperature", "humidity")
    feed.take(KITCHEN, climate(temperature=900), 1001.1)
    feed.take(KITCHEN, b"{garbage", 1001.2)
    report = feed.report(1001.3)
    assert report["temperature"].counts == {"not_a_number": 1, "out_of_range": 1, "unparsable": 1}
    assert report["humidity"].counts == {"taken": 1, "unknown": 1, "unparsable": 1}
    assert not report["humidity"].is_known


def test_topics_that_are_for_nobody_are_counted_within_bounds(open_feed):
    feed = open_feed()
    for number in range(200):
        feed.take(f"zigbee2mqtt/{number}", b"{}", 1000.0)
    feed.take(DOOR, b"ON", 1000.0)  # which another node measures
    assert feed.counters["unmatched"] == 200
    assert len(feed.strangers()) == 51
    assert feed.strangers()["others"] == 150


def test_what_is_unknown_at_a_node_shows_in_the_decision(open_feed, tmp_path):
    """Not only parts that are lost count, but also readings inside a node that is alive."""
    file = with_one_node(write_site(tmp_path, "mqtt://localhost"))
    feed, bundle = open_feed("gateway", file), load_site(file).bundle()
    core = NodeCore(bundle, "gateway")
    feed.take(KITCHEN, climate(temperature=None), 1000.0)
    feed.take(PLUG, b'{"ENERGY": {"Power": 60}}', 1000.5)
    feed.take(DOOR, b"ajar", 1000.6)
    core.read([feed.tick(1001.0)], now=0.0, wall=1001.0)
    ((decided,),) = [one.rows for one in core.advance(now=0.0).decisions]
    assert set(decided.missing) == {"temperature", "door"}
    assert 0.0 < decided.completeness < 1.0
    assert decided.oldest == 1000.0


def test_a_sensor_for_an_feature_that_the_model_does_not_ask_is_refused(open_feed, tmp_path):
    file = write_site(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8").replace(
        "      humidity: humidity", "      humdity: humidity"
    )
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match="'humdity'.*did you mean 'humidity'"):
        open_feed(file=file)


def test_a_category_that_the_model_lacks_is_missing_and_named(open_feed, tmp_path):
    file = with_one_node(write_site(tmp_path, "mqtt://localhost"))
    file.write_text(file.read_text(encoding="utf-8").replace("ON: open", "ON: opened"))
    site = load_site(file)
    assert unseen_categories(site, site.bundle()) == {"door": ["opened"]}
    feed = open_feed("gateway", file)
    feed.take(DOOR, b"ON", 1000.0)
    assert "door" in feed.tick(1001.0).missing
    assert feed.report(1001.0)["door"].counts == {"unseen_category": 1}


def test_a_category_that_the_model_lacks_is_named_in_the_decision(tmp_path):
    """Also where readings come by the topic of a node, without a site file."""
    bundle = load_site(with_one_node(write_site(tmp_path, "mqtt://localhost"))).bundle()
    core = NodeCore(bundle, "gateway")
    readings = {"temperature": 21.0, "humidity": 40.0, "power": 0.0, "door": "opened"}
    core.read([Measured(readings, 7)], now=0.0, wall=1000.0)
    ((decided,),) = [one.rows for one in core.advance(now=0.0).decisions]
    assert decided.missing == ("door",)
    assert decided.completeness < 1.0
    assert core.counters["unfit_readings"] == 1


def test_spaces_around_a_category_are_no_part_of_it(tmp_path):
    bundle = load_site(with_one_node(write_site(tmp_path, "mqtt://localhost"))).bundle()
    readings = {"temperature": 21.0, "humidity": 40.0, "power": 0.0}
    found = []
    for door in ("open", " open "):
        core = NodeCore(bundle, "gateway")
        core.read([Measured({**readings, "door": door}, 7)], now=0.0, wall=1000.0)
        ((decided,),) = [one.rows for one in core.advance(now=0.0).decisions]
        assert decided.missing == ()
        assert core.counters["unfit_readings"] == 0
        found.append(decided.probabilities)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("topic", "gone"),
    [
        ("zigbee2mqtt/kitchen/availability", b'{"state": "offline"}'),
        ("zigbee2mqtt/bridge/state", b"offline"),
    ],
)
def test_a_device_that_says_that_it_is_gone_has_missing_readings_at_once(open_feed, topic, gone):
    feed = open_feed()
    feed.take(KITCHEN, climate(), 1000.0)
    feed.take(topic, gone, 1000.5)
    assert feed.tick(1001.0).missing == ("temperature", "humidity")
    feed.take(topic, gone.replace(b"offline", b"online"), 1001.5)
    feed.take(KITCHEN, climate(), 1001.6)
    assert feed.tick(1002.0).missing == ()
    assert feed.counters["unmatched"] == 0


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("max_age: 4s", "max_age: 500ms", "line 14: .*at least 'decide.every', 1 s"),
        ("humidity: humidity", "humdity: humidity", "line 15: .*did you mean 'humidity'"),
        ("decide: {", "sensor_brokers: {cellar: mqtt://h}\ndecide: {", "there is no such node"),
    ],
)
def test_what_does_not_fit_the_model_is_refused_with_its_line(tmp_path, before, after, part):
    file = write_site(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    site = load_site(file)
    with pytest.raises(ParameterError, match=part):
        check_site(site, site.bundle())


def test_one_node_measures_all_where_the_file_places_nothing(tmp_path):
    file = write_site(tmp_path, "mqtt://localhost")
    head, _, rest = file.read_text(encoding="utf-8").partition("nodes:\n")
    file.write_text(head + rest[rest.index("sensors:") :], encoding="utf-8")
    (node,) = load_site(file).bundle().plan.nodes
    assert (node.name, len(node.reads), node.sends) == ("gateway", 4, ())


def test_rows_wait_on_disk_over_a_restart(open_feed):
    feed = open_feed()
    feed.take(KITCHEN, climate(), 1000.0)
    rows = [feed.tick(1001.0), feed.tick(1002.0)]
    feed.stop()
    again = open_feed()
    found = again.rows_from(0)
    assert [next(found), next(found)] == rows
    assert again.tick(1002.5) is None
    again.take(KITCHEN, climate(), 1003.0)
    rows.append(again.tick(1003.5))
    assert next(found) == rows[-1]
    assert next(again.rows_from(1002)) == rows[1]
