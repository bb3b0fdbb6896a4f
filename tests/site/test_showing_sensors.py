"""How readings come in stands in the status, the picture, the metrics and the terminal."""

import json

from solah.site.messages import Decided, Decisions, SensorReport, Status, decode_status, encode
from solah.site.observer import MOST_SENSORS, Observer
from solah.site.prometheus import metrics
from solah.site.topics import Topics

TOPICS = Topics("house")
SENSORS = {
    "door": SensorReport(None, 600.0, False, {"unseen_category": 3}),
    "heat": SensorReport(12.5, 60.0, True, {"late": 2, "taken": 40}),
    "power": SensorReport(90.0, 60.0, False, {"taken": 5}),
    "smoke": SensorReport(1.0, 60.0, True, {"taken": 5}),
}


def picture(sensors=SENSORS):
    observer = Observer(TOPICS)
    status = Status("hall", "online", "1f", {"readings": 7}, sensors)
    observer.take(TOPICS.status("hall"), encode(status), now=1000.0)
    row = Decided(7, 999.0, "busy", {"busy": 1.0}, ("door",), 0.5, oldest=990.0)
    observer.take(TOPICS.decisions, encode(Decisions("hall", "1f", (row,))), now=1000.0)
    return observer.snapshot(1001.0)


def test_a_status_survives_its_way():
    status = Status("hall", "online", "1f", {"readings": 7}, SENSORS)
    assert decode_status(encode(status)) == status


def test_the_picture_has_sensors_and_ages():
    found = json.loads(json.dumps(picture()))
    (node,) = found["nodes"]
    assert [one["feature"] for one in node["sensors"]] == ["door", "heat", "power", "smoke"]
    assert node["sensors"][1] == {
        "feature": "heat",
        "age": 12.5,
        "max_age": 60.0,
        "is_known": True,
        "counts": {"late": 2, "taken": 40},
    }
    assert found["decisions"]["last"][0]["age"] == 9.0


def test_what_is_kept_has_bounds():
    many = {f"a{number:05}": SensorReport(1.0, 2.0, True, {}) for number in range(2_000)}
    (node,) = picture(many)["nodes"]
    assert len(node["sensors"]) == MOST_SENSORS


def test_metrics_tell_sensors_apart():
    text = metrics(picture())
    assert (
        'solah_sensor_messages_total{site="house",node="hall",feature="heat",event="late"} 2'
        in text
    )
    assert 'solah_sensor_known{site="house",node="hall",feature="power"} 0' in text
    assert 'solah_sensor_age_seconds{site="house",node="hall",feature="heat"} 12.5' in text
    assert 'solah_sensor_age_seconds{site="house",node="hall",feature="door"}' not in text
