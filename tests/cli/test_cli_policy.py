"""Policies on the command line: chosen with a fit or on rows held out, kept to by predict."""

import csv
import io
import json

import numpy as np
import pytest

from machines import CHANNELS, RATE, recordings
from solah.cli.main import main
from solah.model import load_document


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return a folder with rows to learn from, and others."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    for name in ("train", "held_out"):
        values = rng.normal(size=(600, 2))
        score = values.sum(axis=1) + 0.5 * rng.normal(size=600)
        shown = zip(values.round(4).tolist(), np.where(score > 0.8, "störung", "ok"), strict=True)
        lines = ["a,b,zustand", *(f"{a},{b},{state}" for (a, b), state in shown)]
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(rows):
    path = rows / "model.json"
    assert main(["fit", str(rows / "train.csv"), "-t", "zustand", "-o", str(path), "-q"]) == 0
    return path


def table_of(outcome):
    assert outcome.code == 0, outcome.err
    return list(csv.DictReader(io.StringIO(outcome.out)))


def test_a_fit_chooses_out_of_fold(run, rows, tmp_path):
    path = tmp_path / "m.json"
    outcome = run(
        *("fit", rows / "train.csv", "-t", "zustand", "-o", path, "--max-error", "10%"),
        *("--max-unseen", "auto", "--in-range", "--settle", "2/3", "--dwell", 4, "--json"),
    )
    told = outcome.document["policy"]
    assert told["method"] == "out of fold: 5 folds, stratified"
    assert told["limit"]["bound"] <= 0.1
    policy = load_document(path).policy
    assert (policy.votes, policy.window, policy.dwell) == (2, 3, 4)
    assert policy.stays_in_range
    assert policy.max_unseen is not None
    assert told["policy"]["min_belief"] == list(policy.min_belief)
    decided = table_of(run("predict", path, rows / "held_out.csv"))
    assert list(decided[0]) == ["prediction", "settled", "doubts", "P(ok)", "P(störung)"]
    lines = (rows / "held_out.csv").read_text(encoding="utf-8").splitlines()[1:]
    truth = [line.rpartition(",")[2] for line in lines]
    pairs = [(one["prediction"], true) for one, true in zip(decided, truth, strict=True)]
    known = [one for one in pairs if one[0]]
    assert 0 < len(known) < 600
    assert np.mean([one != true for one, true in known]) <= 0.1
    assert {one["doubts"] for one in decided if one["prediction"]} == {""}
    assert all(one["doubts"] for one in decided if not one["prediction"])


def test_a_fit_says_when_the_model_decides(run, rows, tmp_path):
    outcome = run(
        *("fit", rows / "train.csv", "-t", "zustand", "-o", tmp_path / "m.json"),
        *("--min-known", "50%", "--costs", "störung=4", "--smoothing", 4, "--margin", ".1"),
    )
    assert "at least 0.5 of the evidence must be known" in outcome.out
    assert "evidence is averaged over 4 decisions" in outcome.out
    document = load_document(tmp_path / "m.json")
    assert document.goal.thresholds == pytest.approx((0.8, 0.2))
    assert document.domain is None
    assert "another class must lead" in run("info", tmp_path / "m.json").out


def test_rows_held_out_choose(run, rows, model, tmp_path):
    path = tmp_path / "t.json"
    outcome = run(
        *("policy", model, rows / "held_out.csv", "--max-error", ".1", "-o", path),
        *("--learnt-from", rows / "train.csv", "--max-unseen", "auto"),
    )
    assert "a decision needs a belief of at least" in outcome.out
    assert "600 rows, rows held out" in outcome.out
    assert load_document(path).domain is not None
    again = run("policy", path, "--settle", "2/3", "-o", tmp_path / "u.json", "--json").document
    assert again["policy"] == {"votes": 2, "window": 3}  # the options are the whole policy
    report = tmp_path / "report.html"
    assert run("report", path, rows / "held_out.csv", "-o", report).code == 0
    assert "Risk and coverage" in report.read_text(encoding="utf-8")


def test_json_lines_have_null_for_what_is_not_known(run, rows, model, tmp_path):
    run("policy", model, "--min-belief", "0.95", "-o", tmp_path / "t.json")
    lines = run("predict", tmp_path / "t.json", rows / "held_out.csv", "--json").out.splitlines()
    found = [json.loads(line) for line in lines]
    held = [one for one in found if one["prediction"] is None]
    assert held
    assert {tuple(one["doubts"]) for one in held} == {("low belief",)}
    assert all(max(one["probabilities"].values()) < 0.95 for one in held)


def test_an_explanation_says_why_a_decision_is_held_back(run, rows, model, tmp_path):
    options = ("--in-range", "--learnt-from", rows / "train.csv", "--min-belief", "0.8")
    run("policy", model, *options, "-o", tmp_path / "t.json")
    outcome = run("explain", tmp_path / "t.json", "--row", "a=99, b=-98", "--no-changes")
    assert "Abstains (don't know): " in outcome.out
    assert "a 99 is outside" in outcome.out
    told = run("explain", tmp_path / "t.json", "--row", "a=99, b=-98", "--json").document
    assert told["held_back"] is True
    assert "out of range" in told["doubts"]
    page = run("explain", tmp_path / "t.json", "--row", "a=99, b=-98", "--format", "html").out
    assert "Abstains (don&#39;t know): " in page


def test_windows_are_settled_recording_by_recording(run, tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for recording in recordings(np.random.default_rng(0), 4):
        lines = ["time,x,y,z,state"]
        for i in range(600):
            samples = ",".join(f"{recording.samples[one][i]:.4f}" for one in CHANNELS)
            lines.append(f"{i / RATE:.2f},{samples},{recording.labels[i]}")
        (folder / f"{recording.name}.csv").write_text("\n".join(lines))
    path = tmp_path / "m.json"
    outcome = run(
        *("fit", folder, "-t", "state", "--window", "1s", "--rate", RATE, "-o", path),
        *("--features", "mean,rms", "--settle", "2/3", "--max-unseen", "auto", "--json"),
    )
    assert outcome.document["policy"]["method"].endswith("groups kept together")
    together = table_of(run("predict", path, folder))
    for name in sorted({one["recording"] for one in together}):
        alone = table_of(run("predict", path, folder / f"{name}.csv"))
        assert [one for one in together if one["recording"] == name] == alone
        assert alone[0]["settled"] == ""
    report = tmp_path / "report.html"
    assert run("report", path, folder, "-o", report).code == 0
    assert "recording by recording" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is nothing to do"),
        (("--max-error", "5%"), "--max-error is chosen by rows that the model was not learnt from"),
        (("--max-error", "200%"), "'200%' is no share"),
        (("--max-unseen", "few"), "neither a whole number nor 'auto'"),
        (("--max-unseen", "0"), "name them with --learnt-from"),
        (("--in-range",), "name them with --learnt-from"),
        (("--settle", "3"), "not of the form K/N"),
        (("--settle", "3/2"), "'votes' must be from 1 to the window"),
        (("--smoothing", 3), "'smoothing' must be a power of two"),
        (("--dwell", 0), "'dwell' must be from 1"),
        (("--costs", "störung"), "not of the form class=cost"),
        (("--costs", "storung=2"), "did you mean 'störung'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, model, tmp_path, words, message):
    run("policy", model, *words, "-o", tmp_path / "t.json").check_error(message)
    assert not (tmp_path / "t.json").exists()


def test_rows_learnt_from_choose_nothing(run, rows, model, tmp_path):
    words = ("policy", model, rows / "train.csv", "--max-error", "5%", "-o", tmp_path / "t.json")
    run(*words).check_error("the model was learnt from these rows")


def test_rows_that_choose_nothing_are_refused(run, rows, model, tmp_path):
    words = ("policy", model, rows / "held_out.csv", "--dwell", 3, "-o", tmp_path / "t.json")
    run(*words).check_error("nothing is chosen by DATA")


def test_both_ways_to_limit_belief_are_one_too_many(run, rows, model, tmp_path):
    both = ("--max-error", "5%", "--min-belief", "0.9")
    words = ("policy", model, rows / "held_out.csv", *both, "-o", tmp_path / "t.json")
    run(*words).check_error("--max-error chooses --min-belief")


def test_an_error_that_cannot_be_had_writes_nothing(run, rows, model, tmp_path):
    words = ("policy", model, rows / "held_out.csv", "--max-error", "0.01%")
    run(*words, "-o", tmp_path / "t.json").check_error("no limit keeps the error of decided rows")
    assert not (tmp_path / "t.json").exists()


def test_an_export_tells_how_far_settled_decisions_agree(run, rows, model, tmp_path):
    trusted, folder = tmp_path / "t.json", tmp_path / "export"
    run("policy", model, "--settle", "2/3", "--min-belief", "0.6", "-o", trusted)
    words = ("export", trusted, rows / "held_out.csv", "--numbers", "q15", "-o", folder)
    check = run(*words, "--json").document["check"]
    assert check["same_settled"] >= 0.995
    told = run(*words)
    assert f"the same settled decision  {100 * check['same_settled']:.2f} %" in told.out + told.err
    assert "clipped" not in told.out + told.err
    in_sql = run("export", trusted, "--to", "sql", "-o", folder, "--json").document["check"]
    assert "same_settled" not in in_sql
    assert "same_settled" not in run("export", model, "-o", folder, "--json").document["check"]


def test_a_number_has_no_policy(run, rows, tmp_path):
    words = ("fit", rows / "train.csv", "-t", "a", "--drop", "zustand", "--dwell", 3)
    run(*words, "-o", tmp_path / "m.json").check_error("--dwell is for classes")


@pytest.mark.parametrize("way", [("--memory", "1GB"), ("--follow",)])
def test_rows_that_are_not_in_memory_are_refused(run, rows, tmp_path, way):
    words = ("fit", rows / "train.csv", "-t", "zustand", *way, "--settle", "2/3")
    run(*words, "-o", tmp_path / "m.json").check_error("--settle is for rows", "solah policy")


def test_a_kept_column_with_a_taken_name_gets_another(run, write, model, tmp_path):
    run("policy", model, "--settle", "2/3", "-o", tmp_path / "t.json")
    data = write("rows.csv", "a,b,settled", "1,2,old")
    outcome = run("predict", tmp_path / "t.json", data, "--keep", "settled")
    assert outcome.out.startswith("settled (data),prediction,settled,doubts,")
