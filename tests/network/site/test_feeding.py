"""A feed makes numbered rows of what sensors publish, and counts what it cannot use."""

import errno
import json

import pytest
from processes import until
from rooms import write_site

from solah.cli import main as program
from solah.exceptions import ParameterError
from solah.network.core import NodeCore
from solah.network.site import load_site
from solah.network.site.feeding import Feed

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


def test_garbage_is_unknown_named_and_counted_by_attribute(open_feed):
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
    assert 0.0 < decided.known < 1.0
    assert decided.oldest == 1000.0


def test_a_site_of_one_node_may_decide_on_changes_alone(open_feed, tmp_path):
    decide = "{every: 1s, when: changed}"
    file = with_one_node(write_site(tmp_path, "mqtt://localhost", decide=decide))
    feed, made = open_feed("gateway", file), []
    for now in range(1000, 1010):
        if now < 1003:
            feed.take(DOOR, b"ON" if now < 1002 else b"OFF", now - 0.5)
        made.append(feed.tick(float(now)) is not None)
    # The first, the closed door, and the door that is unknown from 3 s on.
    assert made == [True, False, True, False, False, True, *4 * [False]]


def test_several_nodes_cannot_decide_on_changes(open_feed):
    with pytest.raises(ParameterError, match="'decide.when: changed' is for a site with one node"):
        open_feed(decide="{when: changed}")


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path):
    file = write_site(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8").replace("device: kitchen", 'device: "+"')
    file.write_text(text, encoding="utf-8")
    site = load_site(file)

    def fail(_text):
        raise OSError(errno.ENOSPC, "No space left on device")

    feed = Feed(site, site.bundle(), "plug", fail)
    feed.take("nobody/knows/it", b"1", 1000.0)
    feed.take(PLUG, json.dumps({"ENERGY": {"Power": 60.0}}).encode(), 1000.2)
    assert feed.tick(1001.0).readings == {"power": 60.0}
    assert feed.all_counters()["unlogged"] == 1
    feed.stop()


def test_what_ends_the_clock_is_told(broker, tmp_path, monkeypatch):
    site = load_site(write_site(tmp_path, broker.url, decide="{every: 100ms}"))
    feed, problems = Feed(site, site.bundle(), "plug"), []

    def fail(_now):
        raise RuntimeError("out of order")

    monkeypatch.setattr(feed, "tick", fail)
    feed.start(site.broker_of("plug"), "plug:sensors", problems.append)
    until(lambda: problems)
    feed.stop()
    assert str(problems[0]) == "out of order"


def test_what_is_measured_and_not_asked_any_more_is_no_error(open_feed, tmp_path, capsys):
    file = write_site(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8")
    text = text.replace("plug: [power]", "plug: [power, voltage]")
    text = text.replace("power: ENERGY.Power", "power: ENERGY.Power, voltage: ENERGY.Voltage")
    file.write_text(text, encoding="utf-8")
    feed = open_feed("plug", file)
    feed.take(PLUG, json.dumps({"ENERGY": {"Power": 60.0, "Voltage": 230}}).encode(), 1000.2)
    assert feed.tick(1001.0).readings == {"power": 60.0}
    assert program.main(["site", "check", str(file)]) == 0
    assert "not asked by the model: voltage" in capsys.readouterr().out


def test_a_sensor_for_an_attribute_that_the_model_does_not_ask_is_refused(open_feed, tmp_path):
    file = write_site(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8").replace(
        "      humidity: humidity", "      humdity: humidity"
    )
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match="'humdity'.*did you mean 'humidity'"):
        open_feed(file=file)


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
