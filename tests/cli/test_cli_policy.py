"""Policies on the command line: chosen with a fit or on rows held out, kept to by predict."""

import csv
import io

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
        *("fit", rows / "train.csv", "-t", "zustand", "-o", path, "--json"),
        *("--policy", "max-error=10%", "--policy", "max-unseen=auto", "--policy", "in-range"),
        *("--policy", "votes=2/3", "--policy", "min-hold=4", "--max-rules", "8"),
    )
    told = outcome.document["policy"]
    assert told["method"] == "by cross-validation: 5 folds, stratified"
    assert told["limit"]["bound"] <= 0.1
    policy = load_document(path).policy
    assert (policy.votes, policy.window, policy.min_hold) == (2, 3, 4)
    assert policy.stays_in_range
    assert policy.max_unseen is not None
    assert told["policy"]["min_probability"] == list(policy.min_probability)
    decided = table_of(run("predict", path, rows / "held_out.csv"))
    assert list(decided[0]) == ["prediction", "stable", "abstain_reasons", "P(ok)", "P(störung)"]
    lines = (rows / "held_out.csv").read_text(encoding="utf-8").splitlines()[1:]
    truth = [line.rpartition(",")[2] for line in lines]
    pairs = [(one["prediction"], true) for one, true in zip(decided, truth, strict=True)]
    known = [one for one in pairs if one[0]]
    assert 0 < len(known) < 600
    assert np.mean([one != true for one, true in known]) <= 0.1
    assert {one["abstain_reasons"] for one in decided if one["prediction"]} == {""}
    assert all(one["abstain_reasons"] for one in decided if not one["prediction"])


def test_a_fit_says_when_the_model_decides(run, rows, tmp_path):
    outcome = run(
        *("fit", rows / "train.csv", "-t", "zustand", "-o", tmp_path / "m.json"),
        *("--policy", "min-completeness=50%", "--policy", "costs=störung=4"),
        *("--policy", "smoothing=4", "--policy", "hysteresis=.1"),
    )
    assert "completeness must be at least 0.5" in outcome.out
    assert "scores are averaged over 4 decisions" in outcome.out
    document = load_document(tmp_path / "m.json")
    assert document.target.thresholds == pytest.approx((0.8, 0.2))
    assert document.domain is None
    assert "another class must lead" in run("info", tmp_path / "m.json").out


def test_rows_held_out_choose(run, rows, model, tmp_path):
    path = tmp_path / "t.json"
    outcome = run(
        *("policy", model, rows / "held_out.csv", "--max-error", ".1", "-o", path),
        *("--training-rows", rows / "train.csv", "--max-unseen", "auto"),
    )
    assert "the probability must be at least" in outcome.out
    assert "600 rows, rows held out" in outcome.out
    assert load_document(path).domain is not None
    again = run("policy", path, "--votes", "2/3", "-o", tmp_path / "u.json", "--json").document
    assert again["policy"] == {"votes": 2, "window": 3}  # the options are the whole policy
    report = tmp_path / "report.html"
    assert run("report", path, rows / "held_out.csv", "-o", report).code == 0
    assert "Risk and coverage" in report.read_text(encoding="utf-8")


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
        *("fit", folder, "-t", "state", "--window", "1s", "--signals", f"rate={RATE}"),
        *("-o", path, "--signals", "features=mean,rms", "--policy", "votes=2/3"),
        *("--policy", "max-unseen=auto", "--json", "--max-rules", "6"),
    )
    assert outcome.document["policy"]["method"].endswith("groups kept together")
    together = table_of(run("predict", path, folder))
    for name in sorted({one["recording"] for one in together}):
        alone = table_of(run("predict", path, folder / f"{name}.csv"))
        assert [one for one in together if one["recording"] == name] == alone
        assert alone[0]["stable"] == ""
    report = tmp_path / "report.html"
    assert run("report", path, folder, "-o", report).code == 0
    assert "recording by recording" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to do"),
        (("--max-error", "5%"), "--max-error requires DATA"),
        (("--max-error", "200%"), "got '200%'"),
        (("--max-unseen", "few"), "neither a whole number nor 'auto'"),
        (("--max-unseen", "0"), "pass --training-rows"),
        (("--in-range",), "pass --training-rows"),
        (("--votes", "3"), "not of the form K/N"),
        (("--votes", "3/2"), "'votes' must be from 1 to the window"),
        (("--smoothing", 3), "'smoothing' must be a power of two"),
        (("--min-hold", 0), "'min_hold' must be from 1"),
        (("--costs", "störung"), "not of the form class=cost"),
        (("--costs", "storung=2"), "did you mean 'störung'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, model, tmp_path, words, message):
    run("policy", model, *words, "-o", tmp_path / "t.json").check_error(message)
    assert not (tmp_path / "t.json").exists()


def test_rows_learned_from_choose_nothing(run, rows, model, tmp_path):
    words = ("policy", model, rows / "train.csv", "--max-error", "5%", "-o", tmp_path / "t.json")
    run(*words).check_error("the model was trained on these rows")


def test_an_export_tells_how_far_settled_decisions_agree(run, rows, model, tmp_path):
    trusted, folder = tmp_path / "t.json", tmp_path / "export"
    run("policy", model, "--votes", "2/3", "--min-probability", "0.6", "-o", trusted)
    words = ("export", trusted, rows / "held_out.csv", "--arithmetic", "q15", "-o", folder)
    check = run(*words, "--json").document["check"]
    assert check["same_settled"] >= 0.995
    told = run(*words)
    assert f"the same stable decision  {check['same_settled']:.2%}" in told.out + told.err
    assert "clipped" not in told.out + told.err
    in_sql = run("export", trusted, "--to", "sql", "-o", folder, "--json").document["check"]
    assert "same_settled" not in in_sql
    assert "same_settled" not in run("export", model, "-o", folder, "--json").document["check"]


def test_policies_that_are_none_are_refused_by_a_fit(run, rows, tmp_path):
    words = ("fit", rows / "train.csv", "-t", "zustand", "-o", tmp_path / "m.json", "--policy")
    run(*words, "votes=2/3", "--memory", "1GB").check_error(
        "requires rows in memory", "solah policy"
    )
    run(*words, "vote=2/3").check_error("--policy has no 'vote'; did you mean 'votes'?")
    run(*words, "max-error=much").check_error("expected a fraction such as 0.05 or 5%")


def test_a_kept_column_with_a_taken_name_gets_another(run, write, model, tmp_path):
    run("policy", model, "--votes", "2/3", "-o", tmp_path / "t.json")
    data = write("rows.csv", "a,b,stable", "1,2,old")
    outcome = run("predict", tmp_path / "t.json", data, "--keep", "stable")
    assert outcome.out.startswith("stable (data),prediction,stable,abstain_reasons,")
