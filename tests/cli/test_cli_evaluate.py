"""``solah evaluate``: scores, how rows are split, and what is said about it."""

import pytest
from cli_wiring import WINE_HIERARCHY


def test_scores_of_a_data_set_by_name(run):
    outcome = run("evaluate", "iris", "--folds", 3, "--model", "organised")
    assert outcome.code == 0
    assert "iris: 150 rows, 4 features (4 continuous)" in outcome.out
    assert "3 folds (stratified), seed 0" in outcome.out
    measures = ("accuracy", "AUC", "log-loss", "clusters (K)", "levels", "rules", "branches")
    for measure in (*measures, "seconds to learn"):
        assert f"\n{measure}" in outcome.out
    assert "±" in outcome.out


def test_json_has_every_fold(run):
    document = run("evaluate", "iris", "--folds", 3, "--repeats", 2, "--seed", 5, "--json").document
    assert (document["folds"], document["repeats"], document["seed"]) == (3, 2, 5)
    assert len(document["each_fold"]) == 6
    accuracies = [fold["accuracy"] for fold in document["each_fold"]]
    accuracy = document["estimators"]["rules"]["accuracy"]
    assert accuracy["mean"] == pytest.approx(sum(accuracies) / 6)
    assert accuracy["mean"] > 0.9
    assert accuracy["deviation"] > 0


def test_models_stand_side_by_side_on_the_same_folds(run):
    common = ("evaluate", "iris", "--folds", 3)
    outcome = run(*common, "--model", "tree,organised")
    lines = outcome.out.splitlines()
    organised = "organised (rule models wired by the paper's algorithms)"
    assert f"model   tree (one linguistic tree), {organised}" in lines
    assert any(line.split() == ["tree", "organised"] for line in lines)
    (levels,) = [line for line in lines if line.startswith("levels")]
    assert levels.split()[1] == "-"
    repeated = run(*common, "--model", "tree", "--model", "organised")
    drop_times = [line for line in lines if not line.startswith("seconds")]
    assert [x for x in repeated.out.splitlines() if not x.startswith("seconds")] == drop_times


def test_every_model_takes_its_own_options(run):
    outcome = run(
        *("evaluate", "wine", "--folds", 2, "--json", "--model", "hierarchy, organised,tree"),
        *("--set", f"hierarchy={WINE_HIERARCHY}", "--set", "n_clusters=13"),
        *("--set", "node=tree", "--set", "@paper"),
        *("--set", "max_depth=2"),
    )
    estimators = outcome.document["estimators"]
    assert list(estimators) == ["hierarchy", "organised", "tree"]
    assert estimators["hierarchy"]["n_levels"]["mean"] == 3
    assert estimators["organised"]["n_clusters"]["mean"] > 3
    assert "n_clusters" not in estimators["hierarchy"]
    assert "n_levels" not in estimators["tree"]


def test_models_that_are_none(run):
    for models in ("forest", "tree,,rules", ""):
        run("evaluate", "iris", "--model", models).check_error(
            "--model", "is not one of 'rules', 'tree', 'hierarchy'"
        )
    run("evaluate", "iris", "--model", "tree,rules", "--set", "hierarchy=y <- x").check_error(
        "'hierarchy' is not a parameter of LinguisticTreeClassifier, RuleClassifier"
    )


def test_numbers(run, write):
    table = write("t.csv", "x,y", *(f"{i},{i * i / 10}" for i in range(60)))
    outcome = run("evaluate", table, "-t", "y", "--folds", 4, "--json")
    scores = outcome.document["estimators"]["rules"]
    assert scores["r2"]["mean"] > 0.9
    assert scores["mae"]["mean"] > 0
    assert outcome.document["method"] == "shuffled"


def test_groups_stay_together_and_are_no_feature(run, write):
    rows = [f"{i % 5},{'ab'[i % 2]},u{i // 10}" for i in range(60)]
    table = write("t.csv", "x,y,user", *rows)
    outcome = run("evaluate", table, "-t", "y", "--groups", "user", "--folds", 3)
    assert "t.csv: 60 rows, 1 feature (1 ordinal)" in outcome.out
    assert "3 folds (stratified, 6 groups kept together), seed 0" in outcome.out
    run("evaluate", table, "-t", "y", "--groups", "usr").check_error("did you mean 'user'?")
    holey = write("h.csv", "x,y,user", "1,a,u", "2,b,", "3,a,v", "4,b,v")
    run("evaluate", holey, "-t", "y", "--groups", "user").check_error(
        "'user' has no value in 1 row"
    )
