"""Health is told truly, and logs can be read by machines."""

import json
import urllib.error
import urllib.request

import pytest
from test_node_parts import node_without_a_broker

from solah.exceptions import ParameterError
from solah.site.health import Health, find_address, serving_health
from solah.site.logs import Event, json_log


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize(("is_alive", "is_ready"), [(True, True), (True, False), (False, False)])
def test_health_is_answered(is_alive, is_ready):
    with serving_health("0", lambda: Health(is_alive, is_ready, {"node": "attic"})) as url:
        code, body = ask(f"{url}healthz")
        assert (code, body["node"]) == (200 if is_alive else 503, "attic")
        assert ask(f"{url}readyz")[0] == (200 if is_ready else 503)
        assert ask(f"{url}other")[0] == 404
        with pytest.raises(ParameterError, match="choose another"):
            serving_health(url.strip("/").rpartition(":")[2], lambda: None).__enter__()


@pytest.mark.parametrize("wrong", ["", "x", "1:", "70000", "localhost:http", "-1"])
def test_a_wrong_address_is_named(wrong):
    with pytest.raises(ParameterError, match="PORT or HOST:PORT"):
        find_address(wrong)


def test_a_node_without_a_broker_is_alive_and_not_ready(monkeypatch):
    node = node_without_a_broker()
    assert (node.health.is_alive, node.health.is_ready) == (True, False)
    assert node.health.facts["node"] == "gateway"
    monkeypatch.setattr(node, "_stepped", node._stepped - 60.0)
    assert not node.health.is_alive


def test_a_log_has_an_object_per_line():
    lines = []
    log = json_log(lines.append)
    log("plain\ntext")
    log(Event("odd", "refused_message", "warning", topic="a/b", times=3))
    first, second = map(json.loads, lines)
    assert all(line.count("\n") == 1 for line in lines)
    assert (first["level"], first["event"], first["message"]) == ("info", "note", "plain\ntext")
    assert second["time"].endswith("+00:00")
    assert (second["level"], second["topic"], second["times"]) == ("warning", "a/b", 3)
    quiet = []
    json_log(quiet.append, quiet=True)("nothing much")
    assert quiet == []
