"""A site on mosquitto, with sensors that speak as firmware does and misbehave."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pytest
import site_chaos
import site_devices
from processes import PATIENCE, Listener, pids, until
from rooms import write_site

from solah.cli.main import main
from solah.site.client import Client, find_broker
from solah.site.messages import decode_status

pytestmark = pytest.mark.slow


class Publisher:
    """Publishes for sensors, and keeps what nodes report."""

    def __init__(self, url):
        self.reports = {}
        self._client = Client(find_broker(url), "publisher", self._take, is_kept=False)
        self._client.subscribe(["solah/room/+/status"])
        self._client.start()

    def _take(self, _topic, payload):
        status = decode_status(payload)
        self.reports[status.node] = status

    def __call__(self, topic, payload, **options):
        payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self._client.publish(topic, payload, **options)

    def stop(self):
        self._client.stop()


@pytest.fixture
def running(tmp_path):
    """Run ``solah up`` on a site file; it is stopped in the end."""
    processes = []

    def start(file):
        command = [sys.executable, "-m", "solah.cli.main", "site", "run", str(file), "--json"]
        log = (tmp_path / "up.log").open("wb")
        processes.append((subprocess.Popen(command, stdout=log, stderr=log), log))
        return processes[-1][0]

    yield start
    for process, log in processes:
        process.terminate()
        process.wait(PATIENCE)
        log.close()


def everything(publish):
    """Publish a reading of each sensor, not too often."""
    time.sleep(0.2)
    publish("zigbee2mqtt/kitchen", {"temperature": 23.5, "humidity": 50.0})
    publish("tele/plug/SENSOR", {"Time": "1970-01-01T00:00:00", "ENERGY": {"Power": 60.0}})
    publish("hall/binary_sensor/door/state", b"ON")


def test_each_decision_about_six_kinds_of_devices_is_right(broker, tmp_path):
    n_ticks, wrong, megabytes = site_devices.run(broker, tmp_path, ticks=8)
    assert (n_ticks, wrong) == (8, [])
    assert megabytes < 60


def test_the_log_of_a_site_is_json_also_that_of_its_nodes(broker, tmp_path):
    words = ("site", "run", write_site(tmp_path, broker.url), "--log", "json")
    command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
    wanted = {f"node {name} of room is connected" for name in ("kitchen", "gateway")}
    wanted.add("decisions are published at solah/room/decision")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while wanted:  # each line is JSON, and none is missing when the log ends
            wanted.discard(json.loads(process.stderr.readline())["message"])
        process.terminate()


def test_every_decision_is_explained_by_what_had_arrived(broker, tmp_path, chaos_seconds):
    record, problems, _ = site_chaos.run(broker, tmp_path, seconds=chaos_seconds)
    assert problems == []
    assert record.decisions
    # And the judge would notice a decision that is not.
    model = site_chaos.room_model()
    row = next(iter(record.decisions.values()))
    lie = dict(zip(row.probabilities, [*row.probabilities.values()][::-1], strict=True))
    forged = replace(record, decisions={0: replace(row, probabilities=lie)})
    assert len(site_chaos.Judge(model, forged).unexplained()) == 1
    forged = site_chaos.Record(decisions={0: replace(row, missing=())})
    assert len(site_chaos.Judge(model, forged).unexplained()) == 1


def run_words(capsys, *words):
    """Run ``solah`` here, which must go well; return what it prints."""
    with suppress(SystemExit):
        main([str(word) for word in words])
    return capsys.readouterr().out


def test_a_site_is_published_watched_and_alerted_from_its_file(broker, running, tmp_path, capsys):
    rule = "{name: decided, decision: [airing, busy, empty], for: 0}"
    gone = "{name: blind, completeness_below: 0.4, for: 0}"
    file = write_site(
        tmp_path,
        broker.url,
        sending="{keep_alive: 2s}",
        alerts=f"{{rules: [{rule}, {gone}]}}",
    )
    running(file)
    listener, publish = Listener(broker.url, "room"), Publisher(broker.url)
    alerts = {}
    watcher = Client(
        find_broker(broker.url),
        "alerts",
        lambda _, payload: alerts.update({json.loads(payload)["name"]: json.loads(payload)}),
        is_kept=False,
    )
    watcher.subscribe(["solah/room/alert"])
    watcher.start()
    try:

        def is_alerted():
            everything(publish)
            return "decided" in alerts

        until(is_alerted)
        published = run_words(
            capsys, "site", "publish", file, "--at-time", "2100-01-01T00:00", "--json"
        )
        assert json.loads(published)["from"] == int(datetime(2100, 1, 1).timestamp())
        assert json.loads(published)["nodes"] == dict.fromkeys(
            ("gateway", "kitchen", "plug", "hall"), ""
        )
        again, first = json.loads(run_words(capsys, "site", "publish", file, "--history", "--json"))
        assert again["model"] == json.loads(published)["model"] == first["model"]
        back = run_words(
            capsys, "site", "publish", file, "--rollback", first["model"], "--at", "9", "--json"
        )
        assert json.loads(back)["model"] == first["model"]
        lines = run_words(capsys, "site", "watch", file, "--seconds", "1.5", "--json").splitlines()
        seen = json.loads(lines[-1])
        assert {node["name"] for node in seen["nodes"]} == {"gateway", "kitchen", "plug", "hall"}
        assert "decided" in {one["name"] for one in seen["alerts"]}
        # Nodes say little, and still name what is too old, and how old the rest is.
        too_old = {"temperature", "humidity", "power"}
        until(lambda: any(too_old <= set(row.missing) for _, row in [*listener.rows.values()]))
        until(lambda: "blind" in alerts)
        rows = [row for _, row in listener.rows.values()]
        assert any(row.oldest is not None and row.completeness == 1.0 for row in rows)
    finally:
        for one in (listener, publish, watcher):
            one.stop()


def test_a_site_starts_before_its_broker_and_survives_the_death_of_a_node(
    broker, running, tmp_path
):
    broker.stop()
    file = write_site(tmp_path, broker.url)
    running(file)
    state = tmp_path / "room.state"
    until(lambda: (state / "hall.log").exists())
    broker.start()
    listener, publish = Listener(broker.url, "room"), Publisher(broker.url)
    try:

        def is_decided():
            everything(publish)
            return any(
                not row.missing and row.completeness == 1.0 for _, row in listener.rows.values()
            )

        until(is_decided)
        newest = max(listener.rows)
        (pid,) = pids(state / "plug.state")
        os.kill(pid, signal.SIGKILL)

        def is_back():
            everything(publish)
            again = pids(state / "plug.state")
            later = [row for number, (_, row) in listener.rows.items() if number > newest + 2]
            return again and again != [pid] and any(not row.missing for row in later)

        until(is_back)
        publish("zigbee2mqtt/kitchen", {"temperature": "ON", "humidity": None})
        publish("hall/binary_sensor/door/state", b"ajar")
        until(lambda: "not_a_number" in counts(publish, "kitchen", "temperature"))
        until(lambda: "unknown" in counts(publish, "kitchen", "humidity"))
        until(lambda: "unseen_category" in counts(publish, "hall", "door"))
        # What is silent becomes unknown, is named, and nothing is certain.
        silent = {"temperature", "power", "door"}

        def unknown():
            rows = [row for _, row in [*listener.rows.values()] if row.completeness == 0.0]
            return [row for row in rows if silent <= set(row.missing)]

        until(unknown)
        last = unknown()[-1]
        assert last.stable is None
        assert max(last.probabilities.values()) < 0.9
    finally:
        publish.stop()
        listener.stop()


def counts(publish, node, feature):
    report = publish.reports.get(node)
    return report.sensors[feature].counts if report and feature in report.sensors else {}


def test_rows_wait_on_disk_for_a_hub_that_is_away(make_broker, running, tmp_path):
    """Sensors of a node may have a broker of their own; what they measured is decided later."""
    hub, local = make_broker(), make_broker()
    nodes = ("kitchen", "plug", "hall")
    brokers = "{" + ", ".join(f"{node}: '{local.url}'" for node in nodes) + "}"
    file = write_site(tmp_path, hub.url, sensor_brokers=brokers)
    running(file)
    listener, publish = Listener(hub.url, "room"), Publisher(local.url)
    try:

        def is_decided():
            everything(publish)
            return any(not row.missing for _, row in listener.rows.values())

        until(is_decided)
        hub.kill()
        before = max(listener.rows)
        journal = tmp_path / "room.state" / "kitchen.journal"

        def has_stored():
            everything(publish)
            lines = b"".join(file.read_bytes() for file in journal.iterdir()).splitlines()
            return max(json.loads(line)[0] for line in lines if line) >= before + 6

        until(has_stored)
        hub.start()
        until(lambda: {before + 3, before + 4} <= listener.rows.keys())
        later = [listener.rows[number][1] for number in (before + 3, before + 4)]
        assert all(row.completeness == 1.0 and not row.missing for row in later)
    finally:
        publish.stop()
        listener.stop()


def test_a_site_is_learned_from_what_sensors_publish(broker, run_cli, tmp_path):
    write_site(tmp_path, broker.url)
    publish = Publisher(broker.url)
    for _ in range(2):
        everything(publish)
    publish("hall/binary_sensor/door/state", b"ON", retain=True)
    words = (tmp_path / "room.json", "--broker", broker.url, "--seconds", "1")
    publisher = subprocess.Popen(
        [sys.executable, "-c", _PUBLISH, broker.url], stdout=subprocess.DEVNULL
    )
    try:
        run_cli("site", "learn", *words, "--site", "room", "-o", tmp_path / "learned.yaml", "-q")
    finally:
        publisher.kill()
        publisher.wait()
        publish.stop()
    described = json.loads(run_cli("site", "check", tmp_path / "learned.yaml", "--json"))
    assert {one["feature"] for one in described["sensors"]} == {
        *("temperature", "humidity", "power", "door")
    }
    assert described["unfed"] == []


_PUBLISH = """
import sys, time
import paho.mqtt.publish as publish
host, port = sys.argv[1].removeprefix("mqtt://").split(":")
messages = [("zigbee2mqtt/kitchen", '{"temperature": 21.5, "humidity": 40}', 0, True),
            ("tele/plug/SENSOR", '{"ENERGY": {"Power": 60}}', 0, True)]
while True:
    publish.multiple(messages, host, int(port))
    time.sleep(0.1)
"""
