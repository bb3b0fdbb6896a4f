"""``--model genetic`` on the command line."""

import pytest

from solah import load_model

QUICK = ("--model", "genetic", "--population", 3, "--generations", 1)


def test_the_best_hierarchy_is_written(run, tmp_path):
    outcome = run("fit", "iris", "-o", tmp_path / "m.json", *QUICK)
    assert "\nmodel    genetic (trees whose wiring is searched for)\n" in outcome.out
    assert " hierarchies in 1 generation, best AUC 0.9" in outcome.out
    assert load_model(tmp_path / "m.json").model_.hierarchy.root == "class"


def test_json_says_how_the_search_went(run, tmp_path):
    search = run("fit", "iris", "-o", tmp_path / "m.json", *QUICK, "--json").document["search"]
    assert search["stopped_by"] == "generations"
    assert search["generations"] == 1
    assert search["evaluated"] >= 3
    assert 0.9 < search["score"] <= 1


def test_other_models_did_not_search(run, tmp_path):
    assert run("fit", "iris", "-o", tmp_path / "m.json", "--json").document["search"] is None


def test_too_few_rows_to_search(run, write, tmp_path):
    data = write("t.csv", "a,b,y", "1,2,n", "3,4,p")
    outcome = run("fit", data, "-t", "y", "-o", tmp_path / "m.json", *QUICK, "--json")
    assert outcome.document["search"]["score"] is None
    assert outcome.document["search"]["stopped_by"] == "too few rows"


def test_cascades(run, tmp_path):
    run("fit", "wine", "-o", tmp_path / "m.json", *QUICK, "--cascade", "--time-budget", 60)
    assert load_model(tmp_path / "m.json").model_.hierarchy.is_cascade


def test_it_is_measured_beside_others(run):
    outcome = run("evaluate", "iris", "--folds", 2, "--model", "tree,genetic", *QUICK[2:])
    assert "genetic" in outcome.out


@pytest.mark.parametrize("option", [("--population", 5), ("--generations", 5), ("--cascade",)])
def test_its_options_are_its_own(run, option):
    outcome = run("fit", "iris", "--model", "tree", *option)
    outcome.check_error(f"{option[0]} is for --model genetic, not for tree")


def test_a_population_of_one_is_refused(run):
    run("fit", "iris", "--model", "genetic", "--population", 1).check_error("--population")


def test_an_interrupted_search_writes_the_best_so_far(run, tmp_path, monkeypatch):
    from solah.learn.fitness import Fitness

    score, scored = Fitness.score, []

    def interrupted(self, hierarchy):
        if len(scored) == 2:
            raise KeyboardInterrupt
        scored.append(hierarchy)
        return score(self, hierarchy)

    monkeypatch.setattr(Fitness, "score", interrupted)
    outcome = run("fit", "iris", "-o", tmp_path / "m.json", *QUICK, "--jobs", 1)
    assert "interrupted: this is the best hierarchy that was found until then" in outcome.err
    assert load_model(tmp_path / "m.json").model_.trees
