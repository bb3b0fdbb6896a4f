"""Alerts are raised once, after their time, and cleared; a webhook gets them within bounds."""

import json
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import until
from rooms import write_site

from solah.data.json_reader import Reader
from solah.exceptions import ParameterError
from solah.model.json_fields import read_record
from solah.site.alerts import (
    Alarms,
    Alerting,
    AlertRule,
    check_alerts,
)
from solah.site.client import Client, find_broker
from solah.site.messages import Decided, Decisions, encode
from solah.site.observer import Observer
from solah.site.site_file import load_site
from solah.site.topics import Topics
from solah.site.watch import alerting, subscribed
from solah.site.webhook import Webhook

DECIDED_PLAINLY = {"stable": "", "abstain_reasons": []}


def judged(row, decision, settled, *abstain_reasons):
    return {
        "row": row,
        "time": float(row),
        "decision": decision,
        "completeness": 1.0,
        "stable": settled,
        "abstain_reasons": list(abstain_reasons),
    }


def picture(now, decided=(), *, node="online", stale=False, connected=True, alerts=()):
    """Make what the rules look at; decisions from the oldest to the newest."""
    last = [
        {
            "row": row,
            "time": float(row),
            "decision": decision,
            "completeness": known,
            **DECIDED_PLAINLY,
        }
        for row, decision, known in decided
    ]
    return {
        "now": now,
        "link": {"is_connected": connected, "since": 0.0},
        "nodes": [{"name": "attic", "state": node, "is_planned": True}],
        "decisions": {"last": last[::-1], "is_stale": stale},
        "alerts": list(alerts),
    }


def changes(alarms, snapshot):
    return [(one.name, one.state) for one in alarms.update(snapshot)]


def test_a_decision_must_hold_without_a_break():
    alarms = Alarms([AlertRule("damp", 10.0, 5.0, decision=("wet",))])
    assert changes(alarms, picture(0.0, [(1, "wet", 1.0)])) == []
    between = [(1, "wet", 1.0), (2, "dry", 1.0), (3, "wet", 1.0)]
    assert changes(alarms, picture(9.0, between)) == []
    assert changes(alarms, picture(11.0, between)) == []  # row 2 broke it
    assert changes(alarms, picture(21.5, between)) == [("damp", "raised")]
    assert changes(alarms, picture(40.0, between)) == []
    dry = [*between, (4, "dry", 1.0)]
    assert changes(alarms, picture(41.0, dry)) == []
    assert changes(alarms, picture(46.0, dry)) == [("damp", "cleared")]
    assert alarms.active == []


def test_what_nobody_knows_neither_raises_nor_clears():
    alarms = Alarms([AlertRule("damp", 10.0, decision=("wet",))])
    wet = [(1, "wet", 1.0)]
    changes(alarms, picture(0.0, wet))
    assert changes(alarms, picture(20.0, wet, stale=True)) == []
    assert changes(alarms, picture(21.0, wet)) == []
    assert changes(alarms, picture(31.0, wet)) == [("damp", "raised")]
    assert changes(alarms, picture(60.0, wet, connected=False)) == []
    assert [one.name for one in alarms.active] == ["damp"]


def settled_picture(now, *decided):
    snapshot = picture(now)
    snapshot["decisions"]["last"] = list(decided[::-1])
    return snapshot


def test_what_stands_is_alerted_and_not_what_the_row_says():
    alarms = Alarms([AlertRule("damp", 10.0, decision=("wet",))])
    held_back = judged(1, "wet", None, "low probability")
    for now in (0.0, 20.0, 40.0):
        assert changes(alarms, settled_picture(now, held_back)) == []
    not_yet = judged(2, "wet", "dry")
    for now in (41.0, 60.0):
        assert changes(alarms, settled_picture(now, not_yet)) == []
    wet = judged(3, "wet", "wet")
    assert changes(alarms, settled_picture(61.0, wet)) == []
    assert changes(alarms, settled_picture(72.0, wet)) == [("damp", "raised")]
    # Who does not know cannot say that it is over.
    assert changes(alarms, settled_picture(90.0, judged(4, "dry", None, "few readings"))) == []
    assert [one.name for one in alarms.active] == ["damp"]
    still = judged(5, "dry", "wet")
    assert changes(alarms, settled_picture(91.0, still)) == []
    assert changes(alarms, settled_picture(92.0, judged(6, "dry", "dry"))) == [("damp", "cleared")]


def test_a_restart_raises_nothing_again():
    kept = {"name": "dead", "text": "no new decision comes", "since": 3.0}
    alarms = Alarms([AlertRule("dead", 0.0, stale=True)])
    assert changes(alarms, picture(10.0, alerts=[kept])) == []
    assert changes(alarms, picture(11.0, [(1, "wet", 1.0)], alerts=[kept])) == [("dead", "cleared")]


@given(steps=st.lists(st.tuples(st.floats(0, 20), st.sampled_from(["wet", "dry"]), st.booleans())))
def test_raised_and_cleared_take_turns(steps):
    alarms = Alarms([AlertRule("damp", 10.0, 3.0, decision=("wet",))])
    now, told = 0.0, []
    for row, (step, decision, is_stale) in enumerate(steps):
        now += step
        told += alarms.update(picture(now, [(row, decision, 1.0)], stale=is_stale))
    assert [one.state for one in told] == [("raised", "cleared")[i % 2] for i in range(len(told))]
    for one in told:
        assert one.state == "cleared" or one.time - one.since >= 10.0


# --- the file --------------------------------------------------------------------------------

RULE = {"name": "damp", "decision": ["wet"], "for": 60}


def read_alerting(section):
    return read_record(Reader(section, "alerts", ParameterError), Alerting)


def test_rules_are_about_the_classes_and_nodes_of_the_plan(tmp_path):
    bundle = load_site(write_site(tmp_path, "mqtt://h")).bundle()
    rules = (
        AlertRule("a", 1.0, decision=("busy", "airing")),
        AlertRule("b", 1.0, offline=("kitchen",)),
        AlertRule("c", 1.0, stale=True),
    )
    check_alerts(Alerting(rules), bundle)
    for key, name, part in (
        ("decision", "bsy", "no class 'bsy'; did you mean 'busy'"),
        ("offline", "kitchn", "no node 'kitchn'; did you mean"),
    ):
        wrong = AlertRule("x", 1.0, **{key: (name,)})
        with pytest.raises(ParameterError, match=rf"alerts.rules\[1\].{key}: there is {part}"):
            check_alerts(Alerting((rules[0], wrong)), bundle)


def test_a_cleared_alert_says_that_its_cause_is_over():
    alarms = Alarms([AlertRule("few", 0.0, completeness_below=0.6)])
    (raised,) = alarms.update(picture(0.0, [(1, "wet", 0.5)]))
    (cleared,) = alarms.update(picture(1.0, [(2, "wet", 0.9)]))
    assert raised.text == "completeness is below 60%"
    assert cleared.text == "no longer: completeness is below 60%"


def test_a_secret_must_be_there_at_the_start():
    webhook = {"url": "https://x", "token": "env:NO_SUCH"}
    settings = read_alerting({"rules": [RULE], "webhook": webhook})
    with (
        pytest.raises(ParameterError, match="'env:NO_SUCH' is empty"),
        alerting(Observer(Topics("house")), settings, None, Topics("house"), print),
    ):
        pass


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "alerts has no 'rules'"),
        ({"rules": []}, "between 1 and 100 items"),
        ({"rules": [{**RULE, "stale": True}]}, "must have one of decision, abstains"),
        ({"rules": [{"name": "x", "for": 1}]}, "must have one of"),
        ({"rules": [{**RULE, "for": -1}]}, r"alerts.rules\[0\].for must be"),
        (
            {"rules": [{"name": "x", "completeness_below": 2, "for": 1}]},
            "completeness_below must be",
        ),
        ({"rules": [{"name": "x", "stale": False, "for": 1}]}, "stale must be true"),
        (
            {"rules": [{"name": "x", "abstains": ["odd"], "for": 1}]},
            "a list of low probability, few",
        ),
        ({"rules": [RULE, RULE]}, "different names"),
        ({"rules": [RULE], "webhook": {"url": "ftp://x"}}, "'url' must be an address"),
        ({"rules": [RULE], "webhook": {"url": "https://a:b@x"}}, "without a user"),
        ({"rules": [RULE], "webhook": {"url": "https://x", "token": "s3cret"}}, "never by itself"),
        ({"rules": [RULE], "webhook": {"url": "http://x/", "token": "env:HOME"}}, "https://"),
        ({"rules": [RULE], "webhok": {}}, "did you mean 'webhook'"),
    ],
)
def test_wrong_settings_are_named(section, message):
    with pytest.raises(ParameterError, match=message) as caught:
        read_alerting(section)
    assert "s3cret" not in str(caught.value)


# --- the webhook -----------------------------------------------------------------------------


@contextmanager
def listening(*codes):
    """Serve a webhook that answers with these codes in turn, and keeps what it gets."""
    taken, answers = [], list(codes)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            taken.append((self.headers.get("Authorization"), json.loads(self.rfile.read(length))))
            code = answers.pop(0) if answers else 200
            self.send_response(code)
            if 300 <= code < 400:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", taken
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("code", [200, 204, 404, 500, 302, 307])
def test_an_alert_is_posted_once_and_a_failure_is_logged(monkeypatch, code):
    monkeypatch.setenv("HOOK", "t0ken")
    told = []
    with listening(code) as (url, taken):
        Webhook(url, token="env:HOOK").send(b'{"alert": 1}', told.append).join()
    assert taken == [("Bearer t0ken", {"alert": 1})]
    expected = [] if code < 300 else [f"the webhook did not take an alert: status {code}"]
    assert told == expected


def follow(url, topics, told):
    """Follow the alerts of a site on a broker as long as the context lasts."""
    stack = ExitStack()
    observer = Observer(topics)
    settings = Alerting((AlertRule("nothing comes", 0.0, stale=True),))
    client = stack.enter_context(subscribed(find_broker(url), topics, observer))
    stack.enter_context(alerting(observer, settings, client, topics, told.append))
    until(lambda: observer.snapshot(0.0)["alerts"])
    return stack, observer, client


def test_alerts_go_over_a_real_broker_once(broker):
    topics, heard, told = Topics("house"), [], []
    ours = Client(find_broker(broker.url), "us", lambda _, payload: heard.append(payload))
    ours.subscribe([topics.alert])
    ours.start()
    stack, *_ = follow(broker.url, topics, told)
    stack.close()
    stack, observer, client = follow(broker.url, topics, told)  # which raises nothing again
    row = Decided(1, 7.0, "wet", {"wet": 1.0})
    client.publish(topics.decisions, encode(Decisions("a", "0", (row,))))
    until(lambda: not observer.snapshot(0.0)["alerts"])
    until(lambda: len(heard) == 2)
    stack.close()
    ours.stop()
    assert [json.loads(one)["state"] for one in heard] == ["raised", "cleared"]
    assert [one.name for one in told] == ["alert_raised", "alert_cleared"]
