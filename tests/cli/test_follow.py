"""Following a stream, end to end: a file that grows and turns, kills, signals."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from solah import load_model

PATIENCE = 180  # seconds; only a failure, or a very slow machine, takes that long
SMALL = ("--model", "tree", *("--set", "window=400", "--set", "min_rows=60"))
SMALL = (*SMALL, "--set", "check_every=null")


def lines(n_rows, turns_at, seed=0):
    """Write rows whose class follows the sum of two columns, and their difference from a row on."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n_rows))
    sign = np.where(np.arange(n_rows) < turns_at, 1.0, -1.0)
    verdict = np.where(x + sign * y > 0, "yes", "no")
    return [f"{a:.4f},{b:.4f},{c}" for a, b, c in zip(x, y, verdict, strict=True)]


def begin(*words, **more):
    program = [sys.executable, "-m", "solah.cli.main", "follow", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(program, **pipes, **more)


def events(out):
    documents = [json.loads(line) for line in out.splitlines()]
    return [one["event"] for one in documents if "event" in one]


def metrics(out):
    return json.loads(out.splitlines()[-1])["metrics"]


def wait_until(is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def rows_saved(path):
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return 0
    return state["stream"]["counts"]["rows"] if state["stream"] else 0


@pytest.fixture
def growing(tmp_path):
    """Return a file with a header, and a function that adds lines to it."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,verdict\n", encoding="utf-8")

    def add(more):
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in more))

    return path, add


def test_a_file_that_ends_is_followed_to_its_end(run, tmp_path, growing):
    path, add = growing
    add(lines(900, 450))
    model = tmp_path / "model.json"
    outcome = run("follow", path, "-t", "verdict", *SMALL, "-o", model, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    told = events(outcome.out)
    assert told[0]["kind"] == "swapped"
    assert [one["cause"] for one in told if one["kind"] == "drift"] == ["error"]
    assert metrics(outcome.out)["rows"] == 900
    assert metrics(outcome.out)["accuracy"] > 0.85
    assert load_model(model).predict([[3.0, -3.0]]).tolist() == ["yes"]
    assert load_model(model).model_.target.name == "verdict"


def test_json_lines_are_followed(run, tmp_path, monkeypatch):
    rows = [line.split(",") for line in lines(150, 150)]
    given = "".join(
        json.dumps({"a": float(a), "b": float(b), "id": i, "verdict": c}) + "\n"
        for i, (a, b, c) in enumerate(rows)
    )
    (tmp_path / "pipe").write_text(f"{given}no JSON\n", encoding="utf-8")
    words = ("-", "-t", "verdict", "--drop", "id", *SMALL, "-o", tmp_path / "m.json")
    with (tmp_path / "pipe").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        outcome = run("follow", *words)
    assert outcome.code == 0
    assert "row 60: first model, trained on 60 rows" in outcome.out
    assert "not a JSON object" in outcome.err
    features = load_model(tmp_path / "m.json").model_.features
    assert [feature.name for feature in features] == ["a", "b"]


def test_a_growing_file_with_a_turn_and_sigterm(tmp_path, growing):
    path, add = growing
    model, state = tmp_path / "model.json", tmp_path / "state.json"
    rows = lines(900, 450)
    add(rows[:300])
    words = ("-t", "verdict", "--growing", *SMALL, "-o", model, "--state", state, "--json")
    process = begin(path, *words, "--save-every", "0.2")
    try:
        wait_until(lambda: rows_saved(state) == 300)
        before = model.read_bytes()
        add(rows[300:])
        wait_until(lambda: rows_saved(state) == 900)
    finally:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert metrics(out)["rows"] == rows_saved(state) == 900
    assert metrics(out)["drifts"]["error"] == 1
    assert model.read_bytes() != before
    assert load_model(model).predict([[3.0, -3.0]]).tolist() == ["yes"]


def test_a_follower_that_was_killed_goes_on(run, tmp_path, growing):
    path, add = growing
    rows = lines(900, 450)
    add(rows[:520])
    plain, killed = tmp_path / "plain.json", tmp_path / "killed.json"
    state = tmp_path / "state.json"
    words = ("-t", "verdict", *SMALL, "--state", state, "--json", "-o", killed)
    process = begin(path, *words, "--growing", "--save-every", "0.1")
    try:
        wait_until(lambda: rows_saved(state) == 520)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    add(rows[520:])
    outcome = run("follow", path, *words)
    assert outcome.code == 0
    assert "going on behind row 520" in outcome.err
    assert metrics(outcome.out)["rows"] == 900
    run("follow", path, "-t", "verdict", *SMALL, "-o", plain)
    assert killed.read_bytes() == plain.read_bytes()


def test_an_interrupt_ends_a_silent_pipe_too(tmp_path):
    reading, writing = os.pipe()
    state = tmp_path / "state.json"
    words = ("-t", "verdict", *SMALL, "-o", tmp_path / "m.json", "--state", state)
    process = begin("-", *words, "--save-every", "0", stdin=reading)
    try:
        wait_until(state.exists)
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
        os.close(reading)
        os.close(writing)
    assert process.returncode == 0
    assert "no model was written: 0 labelled rows came" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-t", "weight"), "no column 'weight'"),
        (("-t", "verdict", "--drop", "id"), "no column 'id'"),
        (("-t", "verdict", "--type", "c=categorical"), "no column 'c'"),
        (("-t", "verdict", "--type", "verdict=ordinal"), "or categorical"),
        ((), "no target column"),
        (("-t", "verdict", "--type", "verdict=continuous"), "a stream is for classes"),
        (("-t", "verdict", "--set", "window=3"), "'window' must be 40 or more"),
    ],
)
def test_what_makes_no_sense_is_said(tmp_path, growing, run, words, said):
    path, add = growing
    add(lines(10, 10))
    run("follow", path, *words, "-o", tmp_path / "m.json").check_error(said)


def test_only_text_files_grow(tmp_path, run):
    outcome = run("follow", "wine", "--growing", "-o", tmp_path / "m.json")
    outcome.check_error("--growing is for text files")
