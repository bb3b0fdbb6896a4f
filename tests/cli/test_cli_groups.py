"""A column that is kept out of decisions is reported on: fit, evaluate, report, card."""

import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """Return a table of loans with a sex, an age, and a region of which one is rare."""
    rng = np.random.default_rng(0)
    n_rows = 240
    sex = rng.choice(["female", "male"], n_rows)
    income = rng.gamma(4.0, 700.0, n_rows)
    repaid = np.where(income / 1500 + rng.logistic(0, 0.5, n_rows) > 1.7, "yes", "no")
    region = np.where(np.arange(n_rows) % 20 == 0, "islands", "north")
    ages = rng.integers(18, 80, n_rows)
    rows = zip(ages, income.round(), sex, region, repaid, strict=True)
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    lines = ["age,income,sex,region,repaid", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(run, loans, tmp_path):
    path = tmp_path / "loans.json"
    words = ("-t", "repaid", "--leave-out", "sex,region", "-o", path, "-q")
    assert run("fit", loans, *words).code == 0
    return path


def test_a_column_left_out_decides_nothing_and_is_named(model):
    document = json.loads(model.read_text())
    assert {one["name"] for one in document["features"]} <= {"age", "income"}
    origin = document["provenance"]
    assert origin["dropped"] == ["sex", "region"]
    assert (origin["source"], origin["rows"], sum(origin["classes"])) == ("loans.csv", 240, 240)
    assert origin["modified"].endswith("Z")
    assert set(origin["cross_validated"]) == {"accuracy", "log_loss"}


def test_a_fit_keeps_groups_together(run, loans, tmp_path):
    path = tmp_path / "loans.json"
    fit = ("fit", loans, "-t", "repaid", "-o", path)
    outcome = run(*fit, "--groups", "age")
    assert "groups kept together)" in outcome.out
    assert "age" not in {one["name"] for one in json.loads(path.read_text())["features"]}
    passed = run(*fit, "--groups", "age", "--memory", "1GB")
    assert passed.code == 0
    assert "age" not in {one["name"] for one in json.loads(path.read_text())["features"]}
    assert run(*fit, "--groups", "age", "--model", "tree", "--set", "max_depth=1").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--groups", "ages"), "no column 'ages'"),
        (("--groups", "ages", "--memory", "1GB"), "no column 'ages'"),
        (("--groups", "age", "--type", "age=continuous"), "column 'age' has the groups"),
    ],
)
def test_groups_that_cannot_be_are_refused(run, loans, tmp_path, words, message):
    outcome = run("fit", loans, "-t", "repaid", "-o", tmp_path / "m.json", *words)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_rows_held_out_are_measured_by_group(run, loans):
    words = ("-t", "repaid", "--leave-out", "sex", "--model", "tree", "--set", "max_depth=1")
    document = run("evaluate", loans, *words, "--folds", 3, "--repeats", 2, "--json").document
    (by_sex,) = document["by"]
    groups = by_sex["tree"]["groups"]
    assert [one["group"] for one in groups] == ["female", "male"]
    assert sum(one["rows"] for one in groups) == 240  # each row once, whatever the repeats
    hits = sum(one["accuracy"]["hits"] for one in groups)
    first = [fold for fold in document["each_fold"] if fold["repeat"] == 0]
    expected = sum(round(80 * fold["accuracy"]) for fold in first)
    assert hits == expected
    shown = run("evaluate", loans, *words, "--folds", 3, "--by", "region,age")
    assert "By region, on held-out rows" in shown.out
    assert "12 *" in shown.out
    assert "* fewer than 30 rows" in shown.out
    assert "up to " in shown.out
    assert "By sex" not in shown.out


def test_the_page_and_the_card_tell_of_columns_left_out(run, loans, model, tmp_path):
    page, card = tmp_path / "page.html", tmp_path / "card.md"
    assert run("report", model, loans, "-o", page).code == 0
    assert "By <bdi>sex</bdi>" in page.read_text()
    outcome = run("report", "--card", model, loans, "-o", card, "--json")
    assert [one["column"] for one in outcome.document["by"]] == ["sex", "region"]
    assert outcome.document["card"]["is_training_data"] is True
    text = card.read_text()
    assert "### By sex" in text
    assert "so the metrics are too good" in text
    assert run("report", "--card", model, loans, "--by", "age", "-o", card).code == 0
    assert "### By sex" not in card.read_text()
    assert run("report", "--card", model, "-o", card, "-q").out == ""


def test_the_positive_class_may_be_chosen(run, loans, model, tmp_path):
    """With the classes exchanged, so are false positives and false negatives."""
    card = ("report", "--card", model, loans, "--by", "sex", "-o", tmp_path / "c.md", "--json")
    report = ("report", model, loans, "--by", "sex", "-o", tmp_path / "r.html", "--json")
    evaluate = ("evaluate", loans, "-t", "repaid", "--drop", "region", "--by", "sex", "--json")
    evaluate = (*evaluate, "--model", "tree", "--set", "max_depth=1", "--folds", 2)
    for words in (card, report, evaluate):
        of_yes, of_no = (
            run(*words, *more).document["by"][0] for more in ((), ("--positive", "no"))
        )
        if words is evaluate:
            of_yes, of_no = of_yes["tree"], of_no["tree"]
        assert (of_yes["positive"], of_no["positive"]) == ("yes", "no")
        assert of_yes["all"]["false_positive"] == of_no["all"]["false_negative"]
        assert of_yes["all"]["false_negative"] == of_no["all"]["false_positive"]
    assert "of those that are yes, decided no" in (tmp_path / "c.md").read_text()


def test_what_cannot_be_measured_is_an_error(run, loans, model, tmp_path):
    out = tmp_path / "out.md"
    run("report", "--card", model, loans, "--by", "sexx", "-o", out).check_error(
        "did you mean 'sex'?"
    )
    run("report", "--card", model, "--by", "sex", "-o", out).check_error("pass DATA")
    run("report", model, "--by", "sex", "-o", tmp_path / "x.html").check_error("pass DATA")
    run("evaluate", loans, "-t", "repaid", "--by", "sexx").check_error("did you mean 'sex'?")
    run("fit", loans, "-t", "repaid", "--leave-out", "sexx", "-o", out).check_error(
        "did you mean 'sex'?"
    )
    by_sex = ("--by", "sex", "--positive", "no")
    run("evaluate", loans, "-t", "income", "--drop", "repaid", *by_sex).check_error("for classes")
    run("evaluate", loans, "-t", "repaid", "--positive", "no").check_error("requires --by")
    run("report", "--card", model, "--positive", "no", "-o", out).check_error("pass DATA")
    run("report", "--card", model, loans, "--positive", "now", "-o", out).check_error(
        "did you mean 'no'?"
    )
    run("report", "--card", model, loans, "-o", loans).check_error("is also read")
    assert not out.exists()
