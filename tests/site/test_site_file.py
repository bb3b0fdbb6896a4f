"""A site file is read, or refused with its line; its schema says the same."""

import copy
from itertools import pairwise

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rooms import write_site

from solah.data.json_reader import Reader
from solah.exceptions import ParameterError, SolahError
from solah.site.alerts import KINDS
from solah.site.send_on_change import Sending
from solah.site.settings import Credentials, Deciding, Store
from solah.site.site_file import load_site, read_site, site_schema

WHOLE = """
site: house
model: room.json
gateway: hub
broker:
  url: mqtts://hub.local
  credentials: {username_variable: HUB_USER, password_variable: HUB_PASSWORD}
  ca: ca.crt
sensor_brokers: {cellar: mqtt://localhost}
nodes:
  cellar: [temperature, door]
  hall: [power]
sensors:
  - template: zigbee2mqtt
    device: climate
    max_age: 1h
    features:
      temperature: {from: temperature, unit: F to C, range: [-40, 60]}
      door: {from: contact, states: {true: closed, false: open}, max_age: learned, retained: true}
  - topic: meters/+/raw
    time: {path: at, as: ms}
    number: count
    features:
      power: {from: [energy, total.Wh], per: 1h, scale: 0.5}
decide: {every: 5s, when: always, deadline: 1s}
policy: {min_completeness: 0.5, min_probability: {busy: 0.8}}
root: plant/solah
state: remembered
store: {size: 10MB, age: 12h}
sending: {slack: 0.25, unit: 0.01, keep_alive: 30s}
alerts:
  rules:
    - {name: busy for long, decision: [busy], for: 60, clear_after: 5}
    - {name: unsure, abstains: [few readings], for: 60}
    - {name: blind, completeness_below: 0.5, for: 1}
    - {name: gone, offline: any, for: 60}
    - {name: nothing comes, stale: true, for: 60}
  webhook: {url: "https://hooks.local/solah", token: "env:HOOK", timeout: 3}
"""


def written(tmp_path, text, name="site.yaml"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def plain(text=WHOLE):
    """Return the document as JSON would have it: all keys are texts."""
    return yaml.safe_load(text.replace("{true: closed, false: open}", '{"true": closed}'))


def reads(document, tmp_path):
    try:
        read_site(Reader(document, "site", ParameterError), tmp_path)
    except ParameterError:
        return False
    return True


def is_valid(document):
    return jsonschema.Draft202012Validator(site_schema()).is_valid(document)


def test_all_that_a_file_says_is_read(tmp_path):
    site = load_site(written(tmp_path, WHOLE))
    temperature, door, power = site.sensors
    assert (site.name, site.gateway, site.root) == ("house", "hub", "plant/solah")
    assert site.nodes == {"cellar": ("temperature", "door"), "hall": ("power",)}
    assert site.model == tmp_path / "room.json"
    assert site.broker.credentials == Credentials(None, "HUB_USER", "HUB_PASSWORD")
    assert site.broker_of("cellar").url == "mqtt://localhost"
    assert site.broker_of("hall").url == "mqtts://hub.local"
    assert site.deciding == Deciding(5.0, "always", 1.0)
    assert site.store == Store(10_000_000, 43_200.0)
    assert site.sending == Sending(0.25, 0.01, 30.0)
    assert [
        next(one for one in KINDS if getattr(rule, one) is not None) for rule in site.alerts.rules
    ] == [*KINDS]
    assert site.alerts.webhook.token == "env:HOOK"
    assert (temperature.topic, temperature.path) == ("zigbee2mqtt/climate", ("temperature",))
    assert temperature.convert(212.0) == pytest.approx(100.0)
    assert (temperature.low, temperature.high, temperature.max_age) == (-40.0, 60.0, 3600.0)
    assert door.states == {"true": "closed", "false": "open"}
    assert (door.max_age, door.takes_retained) == (None, True)
    assert (power.path, power.per, power.number) == (("energy", "total.Wh"), 3600.0, ("count",))
    assert (power.time.format, power.time.is_optional) == ("ms", False)


def test_json_and_yaml_say_the_same(tmp_path):
    text = WHOLE.replace("{true: closed, false: open}", '{"true": closed}')
    document = written(tmp_path, yaml.safe_dump(plain(text), sort_keys=False), "a.yaml")
    assert load_site(document) == load_site(written(tmp_path, text))


@pytest.mark.parametrize(
    ("before", "after", "line", "part"),
    [
        ("max_age: 1h", "max_age: soon", 16, "500ms, 10s, 5min, 2h or 7d"),
        ("unit: F to C", "unit: F to hPa", 18, "F is a unit of temperature"),
        ("unit: F to C", "unit: F to X", 18, "there is no unit 'X'"),
        ("from: temperature,", "fro: temperature,", 18, "did you mean 'from'?"),
        ("template: zigbee2mqtt", "template: zigbe2mqtt", 14, "did you mean 'zigbee2mqtt'?"),
        ("    device: climate\n", "", 14, "no 'device', which zigbee2mqtt needs"),
        ("meters/+/raw", "meters/+x/raw", 20, "'+' is one whole level"),
        ("      power: {from", "      '{2}': {from", 24, "refers to wildcard {2}"),
        ("scale: 0.5", "scale: 0", 24, "a number other than 0"),
        ("range: [-40, 60]", "range: [60, -40]", 18, "the lowest number that can be"),
        ("as: ms", "zone: Europe/Nowhere", 21, "a time zone that this system knows"),
        ("as: ms", "as: minutes", 21, "'iso' or 's' or 'ms'"),
        ("number: count", "number: .count", 22, "a path has keys with dots"),
        ("every: 5s", "every: 0s", 25, "from 0.01s to 366d"),
        ("url: mqtts://hub.local", "url: http://hub.local", 6, "a broker is written mqtt://"),
        ("  ca: ca.crt", "  password: secret", 8, "does not belong into a file that is shared"),
        ("password_variable: HUB_PASSWORD", "file: x", 7, "a 'file' with the lines"),
        ("cellar: [temperature, door]", "cellar: temperature", 10, "must be a list of names"),
        ("hall: [power]", "cellar: [power]", 12, "'cellar' is there twice"),
        ("      power: {from", "      door: {from", 24, "the second place that 'door' comes from"),
        ("site: house", "sight: house", 2, "did you mean 'site'?"),
        ("store: {size: 10MB", "store: {size: 10B", 29, "at least 100kB"),
        ("model: room.json", "model: room.json\nplan: plan.json", 2, "'model' and 'plan'"),
        ("root: plant", "root: [plant", 27, "this is not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, before, after, line, part):
    assert before in WHOLE
    with pytest.raises(ParameterError) as caught:
        load_site(written(tmp_path, WHOLE.replace(before, after, 1)))
    message = str(caught.value)
    assert str(tmp_path / "site.yaml") in message
    assert part in message
    assert f"line {line}" in message


def test_files_that_would_blow_up_are_refused(tmp_path):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{new}: &{new} [{', '.join(10 * ['*' + old])}]" for old, new in pairwise("abcdefg")]
    for text in ("\n".join(lines), "a: &a [*a]", 200 * "["):
        with pytest.raises(ParameterError):
            load_site(written(tmp_path, text))


def test_credentials_come_from_the_environment(tmp_path, monkeypatch):
    site = load_site(written(tmp_path, WHOLE))
    monkeypatch.setenv("HUB_USER", "ann")
    with pytest.raises(ParameterError, match="HUB_PASSWORD"):
        site.hub.find()
    monkeypatch.setenv("HUB_PASSWORD", "secret")
    broker = site.hub.find()
    assert (broker.username, broker.password, broker.port) == ("ann", "secret", 8883)


def test_a_policy_is_put_into_the_model(tmp_path):
    file = write_site(
        tmp_path, "mqtt://h", policy="{min_completeness: 0.5, min_probability: {busy: 0.8}}"
    )
    policy = load_site(file).bundle().model.policy
    assert (policy.min_completeness, policy.min_probability) == (0.5, (0.0, 0.8, 0.0))
    for wrong, part in (
        ("{min_probability: {bsy: 0.8}}", "did you mean 'busy'"),
        ("{min_completeness: 2}", "site.policy.min_completeness must be"),
        ("{votes: 3}", "votes"),
    ):
        file = write_site(tmp_path, "mqtt://h", policy=wrong)
        with pytest.raises(SolahError, match=rf"site.yaml: line \d+: .*{part}"):
            load_site(file).bundle()


def test_nodes_that_do_not_fit_the_model_are_named_with_their_line(tmp_path):
    file = write_site(tmp_path, "mqtt://h")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("hall: [door]", "hall: [power]"), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"site.yaml: line 5: site.nodes: 'power' is placed"):
        load_site(file).bundle()


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"sending": "{slack: 2}"}, r"line \d+: site.sending.slack must be"),
        ({"sending": "{slack: 0.95}"}, r"line \d+: site.sending: 'slack' must be from 0 to 0.9"),
        ({"sending": "{keep_alive: 30}"}, r"line \d+: site.sending.keep_alive must be"),
        ({"alerts": "{rules: []}"}, r"line \d+: site.alerts.rules must "),
        ({"alerts": "{rules: [{name: x, stale: true}]}"}, r"site.alerts.rules\[0\] has no 'for'"),
    ],
)
def test_wrong_settings_of_a_site_are_named(tmp_path, changes, part):
    with pytest.raises(ParameterError, match=part):
        load_site(write_site(tmp_path, "mqtt://h", **changes))


def test_the_schema_takes_what_is_read(tmp_path):
    jsonschema.Draft202012Validator.check_schema(site_schema())
    assert is_valid(plain())
    assert reads(plain(), tmp_path)


JUNK = st.sampled_from(
    [None, True, 0, -1, 2.5, "", "x", "10s", [], ["a"], {}, {"a": 1}, "mqtt://h"]
)


def _places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in steps:
            yield from _places(part, (*path, step))


PLACES = [path for path in _places(plain()) if path]


@given(st.sampled_from(PLACES), JUNK, st.sampled_from(["set", "delete", "add"]))
def test_what_the_schema_refuses_is_refused(tmp_path_factory, path, junk, how):
    """The schema leaves out what needs more than form: units, zones, the order of two numbers."""
    document = copy.deepcopy(plain())
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    if how == "delete":
        del parent[path[-1]]
    elif how == "add" and isinstance(parent[path[-1]], dict):
        parent[path[-1]]["strange"] = junk
    else:
        parent[path[-1]] = junk
    if reads(document, tmp_path_factory.getbasetemp()):
        assert is_valid(document)
