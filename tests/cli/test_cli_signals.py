"""Recordings on the command line: learned from, evaluated on, decided on window by window."""

import csv
import io
import json

import numpy as np
import pytest

import solah
from machines import CHANNELS, RATE, recordings
from solah.cli.main import main
from solah.export.platforms import PLATFORMS, missing_tools
from solah.signals import SampleColumns, cut_windows, read_recordings

FEW = ("--signals", "channels=x,y,z", "--signals", "features=mean,rms,pitch")
LEARN = ("-t", "state", "--window", "1s", "--signals", f"rate={RATE}", *FEW)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of recordings of machines, with their state and site."""
    folder = tmp_path_factory.mktemp("recordings")
    for recording in recordings(np.random.default_rng(0), 4):
        lines = ["time,x,y,z,state,site"]
        for i in range(600):
            samples = ",".join(f"{recording.samples[one][i]:.4f}" for one in CHANNELS)
            lines.append(f"{i / RATE:.2f},{samples},{recording.labels[i]},{recording.group}")
        (folder / f"{recording.name}.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "machine.json"
    words = ("fit", folder, *LEARN, "--signals", "magnitude=vibration=x,y,z", "-o", path, "-q")
    assert main([str(word) for word in words]) == 0
    return path


def test_a_fit_tells_of_windows(run, folder, tmp_path):
    outcome = run("fit", folder, *LEARN, "-o", tmp_path / "m.json")
    assert "windows of 1s: 184 rows, 9 features" in outcome.out
    assert "(cross-validated, 8 groups kept together)" in outcome.out
    outcome = run("fit", folder, *LEARN, "--groups", "site", "-o", tmp_path / "m.json")
    assert "(cross-validated, 3 groups kept together)" in outcome.out
    origin = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["provenance"]
    assert set(origin["cross_validated"]) == {"accuracy", "log_loss"}


def test_the_document_carries_what_the_rules_ask_for(model):
    document = json.loads(model.read_text(encoding="utf-8"))
    names = [one["name"] for one in document["features"]]
    assert [one["name"] for one in document["signals"]["features"]] == names
    assert document["signals"]["window"] == 50
    assert document["signals"]["step"] == 25


@pytest.mark.parametrize("command", ["report", "explain", "stress", "export", "adapt", "predict"])
def test_every_command_reads_recordings_of_one_file(run, folder, model, tmp_path, command):
    """Windows never span two recordings, and times come from the column that is named."""
    parts = [(folder / f"r{i}.csv").read_text().splitlines() for i in (0, 1)]
    head = parts[0][0].replace("time", "clock") + ",run"
    rows = [f"{line},r{i}" for i, part in enumerate(parts) for line in part[1:]]
    (tmp_path / "both.csv").write_text("\n".join([head, *rows]))
    words = ("--read", "time=clock", "--read", "recording=run")
    words += {"explain": ("--row", "1"), "predict": ()}.get(command, ())
    words += (
        ("-o", tmp_path / f"{command}.html") if command in ("export", "adapt", "report") else ()
    )
    outcome = run(command, model, tmp_path / "both.csv", *words)
    assert outcome.code == 0, outcome.err
    if command == "predict":
        assert len(outcome.out.splitlines()) == 1 + 46
    with_gap = run("predict", model, tmp_path / "both.csv", "--read", "time=clock")
    assert with_gap.code == 2 or len(with_gap.out.splitlines()) != 1 + 46


def test_a_recording_gets_a_decision_per_window(run, folder, model):
    outcome = run("predict", model, folder / "r1.csv", "--completeness")
    header, *rows = csv.reader(io.StringIO(outcome.out))
    assert header[:4] == ["recording", "start", "end", "prediction"]
    assert [row[:3] for row in rows[:2]] == [["r1", "0", "1"], ["r1", "0.5", "1.5"]]
    assert len(rows) == 23
    predictor = solah.load_model(model)
    roles = SampleColumns(tuple(one.name for one in predictor.model_.signals.measured))
    windows = cut_windows(predictor.model_.signals, read_recordings(folder / "r1.csv", roles))
    assert [row[3] for row in rows] == predictor.predict(windows.table).tolist()


def test_windows_of_a_recording_or_a_group_stay_together(run, folder):
    outcome = run("evaluate", folder, *LEARN, "--folds", 2, "--max-rules", 6)
    assert "2 folds (stratified, 8 groups kept together)" in outcome.out
    outcome = run("evaluate", folder, *LEARN, "--folds", 2, "--groups", "site", "--max-rules", 6)
    assert "2 folds (stratified, 3 groups kept together)" in outcome.out


def test_one_recording_cannot_be_evaluated(run, folder):
    outcome = run("evaluate", folder / "r1.csv", *LEARN)
    outcome.check_error("all windows are from one recording or group", "share samples")


def test_intervals_say_what_recordings_do_not(run, folder, write, tmp_path):
    lines = [f"r{i},0,{6 + i % 3},{'fault' if i % 2 else 'ok'}" for i in range(8)]
    labels = write("labels.csv", "recording,start,end,verdict", *lines)
    options = ("--window", "1s", "--signals", f"rate={RATE}", "--signals", "channels=x")
    options += ("--signals", f"labels={labels}")
    path = tmp_path / "m.json"
    outcome = run("fit", folder, "-t", "verdict", *options, "-o", path, "--json")
    assert outcome.document["target"]["name"] == "verdict"
    assert outcome.document["rows"] == sum(2 * (6 + i % 3) - 1 for i in range(8))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-t", "state", "--signals", "rate=50"), "--signals requires --window"),
        (("-t", "state", "--window", "1s"), "no sampling rate"),
        (("--window", "1s", "--signals", "rate=50"), "no target column"),
        ((*LEARN, "--memory", "1GB"), "--memory does not work with --window"),
        ((*LEARN, "--signals", "magnitude=x"), "--signals magnitude must be a name and its axes"),
        ((*LEARN, "--signals", "features=mean,loudness"), "unknown feature 'loudness'"),
        (("-t", "state", "--window", "1s", "--signals", "rate=x=fast"), "rate must be a number"),
        (
            ("-t", "state", "--window", "1 day", "--signals", "rate=50"),
            "'window' must be a number of",
        ),
        (("-t", "nothing", "--window", "1s", "--signals", "rate=50"), "has no column 'nothing'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, folder, tmp_path, words, message):
    run("fit", folder, *words, "-o", tmp_path / "m.json").check_error(message)


def test_a_footprint_tells_of_samples_windows_and_seconds(run, folder, model, find_tool):
    for tool in missing_tools(PLATFORMS["cortex-m4f"], counting=True):
        find_tool(tool)
    words = ("export", "--footprint", model, folder, "--platform", "cortex-m4f")
    header, line = run(*words).out.splitlines()
    assert header.split() == ["bytes", "flash", "RAM", "stack", "sample", "window", "second"]
    assert line.split()[0] == "cortex-m4f"
    (found,) = run(*words, "--json").document["footprints"]
    assert found["ram"] >= 4 * 50
    assert found["sample"] < 1000 < found["window"]
    assert found["second"] == pytest.approx(50 * found["sample"] + 2 * found["window"], rel=0.01)


def test_an_export_in_integers_is_compared_from_samples_on(run, folder, model, tmp_path):
    """Counts so coarse that windows look alike agree on too few, though decisions are the same."""
    words = ("export", model, folder, "--arithmetic", "q15", "--json")
    names = [one["name"] for one in json.loads(model.read_text())["signals"]["channels"]]
    measured = [name for name in names if name in CHANNELS]
    fine = [word for name in measured for word in ("--adc", f"{name}=16,0.001,-32.768")]
    for where, counts in (("values", []), ("counts", fine)):
        outcome = run(*words, *counts, "-o", tmp_path / where)
        assert json.loads(outcome.out)["check"]["same_decisions"] > 0.995
    coarse = [word for name in measured for word in ("--adc", f"{name}=4,5,-40")]
    run(*words, *coarse, "-o", tmp_path / "coarse").check_error("(--min-agreement)")
