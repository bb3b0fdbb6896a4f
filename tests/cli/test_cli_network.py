"""``solah node``, ``up``, ``watch`` and ``publish``: networks from the command line."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from solah.cli.main import main
from solah.keys import make_keys

PATIENCE = 180  # seconds; only a failure, or a very slow machine, takes that long


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a plan of three nodes, and rows to replay."""
    folder = tmp_path_factory.mktemp("site")
    wiring = "z1 <- alcohol, hue; z2 <- proline, flavanoids; class <- z1, z2"
    model, plan = str(folder / "model.json"), str(folder / "plan.json")
    assert main(["fit", "wine", "--set", f"hierarchy={wiring}", "-o", model, "-q"]) == 0
    assert main(["site", "plan", model, "-o", plan, "-q"]) == 0
    from solah import datasets

    wine = datasets.load("wine")
    names = ["alcohol", "hue", "proline", "flavanoids"]
    lines = [",".join([*names, "class"])]
    columns = [wine.table.column(name).values for name in names]
    lines += [",".join(map(str, row)) for row in zip(*columns, wine.target, strict=True)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def run_words(*words):
    command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def replay_of(site, broker):
    rows = ("--replay", site / "rows.csv", "--broker", broker.url)
    return ("--plan", site / "plan.json", *rows)


TRAP = "import pathlib; pathlib.Path(__file__).with_suffix('.sprung').touch(); raise SystemExit(9)"


def test_a_whole_network_runs_nothing_from_its_folder_and_goes_down(site, broker, tmp_path):
    for name in ("solah", "json", "asyncio", "logging", "numpy", "paho", "rich", "typer"):
        (tmp_path / f"{name}.py").write_text(TRAP, encoding="utf-8")
    words = ("site", "run", *replay_of(site, broker), "--deadline", 60, "--json")
    command = [sys.executable, "-P", "-m", "solah.cli.main", *map(str, words)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert sorted(path.name for path in tmp_path.glob("*.sprung")) == []
    found = json.loads(done.stdout)
    assert (found["rows"], found["decided"], found["incomplete"]) == (178, 178, 0)
    assert found["as_the_model"] == 1.0
    assert found["accuracy"] > 0.9


@pytest.mark.usefixtures("in_background")
def test_a_whole_network_goes_down_when_it_is_interrupted(site, broker):
    words = (*replay_of(site, broker), "--replay-rate", 1, "--web", 0)
    network = Process("site", "run", *words)
    asked = asking(network)
    wait_for(lambda: json.loads(asked("snapshot.json"))["decisions"]["total"])
    code, out, err = network.stop(signal.SIGINT)
    assert (code, err) == (0, "solah: note: ended\n")
    assert "of 178" in out


class Process:
    """A verb that runs until it is told to stop."""

    def __init__(self, *words, stdin=subprocess.DEVNULL):
        command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
        self.process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ends(self):
        """Return the error with which it ends by itself."""
        _, err = self.process.communicate(timeout=PATIENCE)
        assert (self.process.returncode, err.count("\n")) == (2, 1)
        return err

    def stop(self, number=signal.SIGTERM):
        os.kill(self.process.pid, number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


def asking(started):
    """Return a function that reads from the page whose address a process prints first."""
    address = started.process.stderr.readline().rsplit(" ", 1)[1].strip()

    def read(path):
        return urllib.request.urlopen(f"{address}{path}", timeout=PATIENCE).read().decode()

    return read


def wait_for(found):
    give_up = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < give_up
        time.sleep(0.05)


@pytest.mark.usefixtures("in_background")
def test_a_network_is_watched(site, broker):
    url = broker.url
    words = ("--plan", site / "plan.json", "--broker", url)
    replay = ("--replay", site / "rows.csv", "--replay-rate", "60")
    nodes = [Process("site", "node", *words, "--name", "gateway")]
    nodes += [Process("site", "node", *words, "--name", name, *replay) for name in ("z1", "z2")]
    watching = Process("site", "watch", "--broker", url, "--web", 0, "--json")
    run_words("site", "publish", "--plan", site / "plan.json", "--broker", url, "--at", 0)
    asked = asking(watching)

    def has_seen_all(picture):
        names = {node["name"] for node in picture["nodes"]}
        return names == {"gateway", "z1", "z2"} and picture["decisions"]["total"] > 0

    wait_for(lambda: has_seen_all(json.loads(asked("snapshot.json"))))
    assert "<html" in asked("")
    assert "# TYPE solah" in asked("metrics")
    code, out, _ = watching.stop(signal.SIGINT)
    assert code == 0
    assert has_seen_all(json.loads(out.splitlines()[-1]))
    for node in nodes:
        node.stop()
    (line,) = run_words("site", "watch", "--broker", url, "--seconds", 0, "--json").splitlines()
    assert json.loads(line)["decisions"]["total"] == 0


def test_trust_covers_the_plan_that_a_node_starts_with(run, site, tmp_path):
    signed = tmp_path / "signed.json"
    run("site", "plan", site / "model.json", "--new-key", tmp_path / "key", "-o", signed, "-q")
    public = tmp_path / "key.pub.pem"
    words = ("site", "node", "--name", "z1", "--broker", "mqtt://127.0.0.1:1", "--trust", public)
    run(*words, "--plan", site / "plan.json").check_error("plan.json: the plan is not signed")
    assert "cannot be reached" in Process(*words, "--plan", signed).ends()
    _, other = make_keys(tmp_path / "other")
    others = (*words[:-1], other)
    run(*others, "--plan", signed).check_error("signed with an untrusted key")
    rollback = ("site", "node", "--name", "z1", "--plan", signed, "--allow-rollback")
    run(*rollback).check_error("--allow-rollback requires --trust")


def test_wrong_words_are_one_line(run, site, tmp_path):
    plan = ("--plan", site / "plan.json")
    run("site", "node", *plan, "--name", "kitchn").check_error("no node 'kitchn'")
    run("site", "node", *plan, "--name", "z1", "--broker", "http://x").check_error(
        "mqtt://host:port"
    )
    run("site", "node", *plan, "--name", "z1", "--broker", "mqtt://me:secret@x").check_error(
        "command line"
    )
    nowhere = "mqtt://127.0.0.1:1"
    run("site", "watch", "--broker", nowhere).check_error("cannot be reached")
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    broken = ("--plan", tmp_path / "plan.json")
    run("site", "node", *broken, "--name", "z1").check_error("plan.json")
