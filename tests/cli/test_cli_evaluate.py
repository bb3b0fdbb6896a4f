"""``solah evaluate``: scores, how rows are split, and what is said about it."""

import pytest
from cli_wiring import WINE_HIERARCHY


def test_scores_of_a_data_set_by_name(run):
    outcome = run("evaluate", "iris", "--folds", 3, "--max-depth", 2)
    assert outcome.code == 0
    assert "iris: 150 rows, 4 attributes (4 continuous)" in outcome.out
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
    accuracy = document["estimators"]["solah"]["accuracy"]
    assert accuracy["mean"] == pytest.approx(sum(accuracies) / 6)
    assert accuracy["mean"] > 0.9
    assert accuracy["deviation"] > 0


def test_quiet_prints_the_scores_alone(run):
    outcome = run("evaluate", "iris", "--model", "tree", "--folds", 2, "-q")
    assert outcome.out.startswith("accuracy")
    assert len(outcome.out.splitlines()) == 7
    assert outcome.err == ""


def test_models_stand_side_by_side_on_the_same_folds(run):
    common = ("evaluate", "iris", "--folds", 3, "--fusion", "tree")
    outcome = run(*common, "--model", "tree,solah")
    lines = outcome.out.splitlines()
    assert "model  tree (one tree), solah (trees that are stacked)" in lines
    assert any(line.split() == ["tree", "solah"] for line in lines)
    (levels,) = [line for line in lines if line.startswith("levels")]
    assert levels.split()[1] == "-"
    repeated = run(*common, "--model", "tree", "--model", "solah")
    drop_times = [line for line in lines if not line.startswith("seconds")]
    assert [x for x in repeated.out.splitlines() if not x.startswith("seconds")] == drop_times


def test_every_model_takes_its_own_options(run):
    outcome = run(
        *("evaluate", "wine", "--folds", 2, "--json", "--model", "hierarchy, solah,tree"),
        *("--hierarchy", WINE_HIERARCHY, "--clusters", 13, "--node", "tree", "--paper"),
        *("--max-depth", 2),
    )
    estimators = outcome.document["estimators"]
    assert list(estimators) == ["hierarchy", "solah", "tree"]
    assert estimators["hierarchy"]["n_levels"]["mean"] == 3
    assert estimators["solah"]["n_clusters"]["mean"] > 3
    assert "n_clusters" not in estimators["hierarchy"]
    assert "n_levels" not in estimators["tree"]


def test_models_that_are_none(run):
    for models in ("forest", "tree,,solah", ""):
        run("evaluate", "iris", "--model", models).check_error(
            "--model", "is not one of 'tree', 'hierarchy', 'solah'"
        )
    run("evaluate", "iris", "--model", "tree,solah", "--hierarchy", "y <- x").check_error(
        "--hierarchy is for --model hierarchy, not for tree, solah"
    )


def test_numbers(run, write):
    table = write("t.csv", "x,y", *(f"{i},{i * i / 10}" for i in range(60)))
    outcome = run("evaluate", table, "-t", "y", "--folds", 4, "--json")
    scores = outcome.document["estimators"]["solah"]
    assert scores["r2"]["mean"] > 0.9
    assert scores["mae"]["mean"] > 0
    assert outcome.document["method"] == "shuffled"


def test_rare_classes_are_noted(run, write):
    rows = [f"{i},{'abc'[(i > 9) + (i > 38)]}" for i in range(40)]
    outcome = run("evaluate", write("t.csv", "x,y", *rows), "-t", "y", "--folds", 5)
    assert outcome.code == 0
    assert outcome.err == "solah: note: fewer rows than folds, so absent from some of them: c (1)\n"


def test_folds_are_limited_by_the_rows(run, write):
    table = write("t.csv", "x,y", *(f"{i},{'ab'[i % 2]}" for i in range(8)))
    outcome = run("evaluate", table, "-t", "y", "--json")
    assert outcome.document["folds"] == 4
    assert "4 folds instead of 10" in outcome.err


def test_groups_stay_together_and_are_no_attribute(run, write):
    rows = [f"{i % 5},{'ab'[i % 2]},u{i // 10}" for i in range(60)]
    table = write("t.csv", "x,y,user", *rows)
    outcome = run("evaluate", table, "-t", "y", "--groups", "user", "--folds", 3)
    assert "t.csv: 60 rows, 1 attribute (1 ordinal)" in outcome.out
    assert "3 folds (stratified, 6 groups kept together), seed 0" in outcome.out
    run("evaluate", table, "-t", "y", "--groups", "usr").check_error("did you mean 'user'?")
    holey = write("h.csv", "x,y,user", "1,a,u", "2,b,", "3,a,v", "4,b,v")
    run("evaluate", holey, "-t", "y", "--groups", "user").check_error(
        "'user' has no value in 1 row"
    )


def test_the_groups_of_a_data_set_are_used(run, monkeypatch):
    import numpy as np

    from solah.cli import sources
    from solah.datasets import Dataset, load

    iris = load("iris")
    grouped = Dataset("iris", iris.table, iris.goal, "class", groups=np.array(["a", "b", "c"] * 50))
    monkeypatch.setattr(sources, "load", lambda name: grouped)
    outcome = run("evaluate", "iris", "--json")
    assert outcome.document["folds"] == 3
    assert "3 groups, so 3 folds instead of 10" in outcome.err


def test_what_cannot_be_split(run, write):
    one_row = write("t.csv", "x,y", "1,2.5")
    run("evaluate", one_row, "-t", "y").check_error("1 row", "too little")
    two = write("t.csv", "x,y", "1,a", "2,b")
    run("evaluate", two, "-t", "y").check_error("1 row in the largest class", "too little")
    grouped = write("t.csv", "x,y,g", "1,a,u", "2,b,u", "3,a,u")
    run("evaluate", grouped, "-t", "y", "--groups", "g").check_error("1 group", "too little")
    run("evaluate", "iris", "--folds", 1).check_error("--folds")


@pytest.mark.shared
def test_classes_of_two_rows_in_real_data(run, shared_data):
    outcome = run("evaluate", shared_data / "ecoli.csv", "-t", "class", "--model", "tree", "--json")
    assert outcome.document["estimators"]["tree"]["accuracy"]["mean"] > 0.8
    assert "imL (2), imS (2), omL (5)" in outcome.err
