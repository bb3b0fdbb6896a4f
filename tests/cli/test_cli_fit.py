"""``solah fit``: its result, what it says, and how it refuses."""

import json
import shlex

import numpy as np
import pytest

import solah


def test_a_file_becomes_a_model_that_decides(run, fruits, tmp_path):
    model = tmp_path / "m.json"
    columns = ("--target", "geschmack 👅", "--drop", "id")
    outcome = run("fit", fruits, *columns, "--model", "tree", "-o", model)
    assert outcome.code == 0
    assert "früchte.csv: 24 rows, 3 attributes (1 continuous, 1 binary, 1 ordinal)" in outcome.out
    assert "geschmack 👅, 2 classes (classification)" in outcome.out
    assert "2 rules, 3 branches, at most 1 condition a rule" in outcome.out
    assert outcome.err == ""
    predictor = solah.load_model(model)
    assert predictor.model_.goal.name == "geschmack 👅"
    assert [attribute.name for attribute in predictor.model_.attributes] == [
        "größe cm",
        "色",
        "kerne",
    ]


def test_a_data_set_by_name_knows_its_target(run, tmp_path):
    outcome = run("fit", "wine", "-o", tmp_path / "m.json", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert document["data"] == "wine"
    assert document["rows"] == 178
    assert set(document["kinds"].values()) == {"continuous"}
    assert document["goal"]["classes"] == ["class_0", "class_1", "class_2"]
    assert document["rules"] == solah.load_model(tmp_path / "m.json").model_.n_rules


def test_options_reach_the_tree(run, tmp_path):
    def size(*options):
        common = ("fit", "iris", "--model", "tree", "-o", tmp_path / "m.json", "--json")
        return run(*common, *options).document

    assert size("--max-depth", 1)["depth"] == 1
    assert size("--labels", 5)["branches"] > size()["branches"]
    assert size("--paper")["branches"] > size()["branches"]
    assert size("--paper", "--max-depth", "1")["depth"] == 1
    for options in (
        ("--placement", "uniform"),
        ("--criterion", "gain_ratio"),
        ("--purity", "0.8"),
        ("--min-support", "20"),
        ("--class-weight", "balanced"),
    ):
        assert size(*options)["rules"] > 1


def test_kinds_are_declared_one_by_one_or_by_commas(run, fruits, tmp_path):
    common = ("fit", fruits, "-t", "geschmack 👅", "-o", tmp_path / "m.json", "--json")
    kinds = run(*common, "--continuous", "kerne", "--categorical", "色,id").document["kinds"]
    assert kinds == {
        "id": "categorical",
        "größe cm": "continuous",
        "色": "categorical",
        "kerne": "continuous",
    }


def test_a_comma_in_a_column_name_is_no_separator(run, write, tmp_path):
    table = write("t.csv", '"a,b",c', "1,x", "2,y", "3,x", "4,y", "5,x", "6,y", "7,x")
    kinds = run("fit", table, "-t", "c", "--ordinal", "a,b", "-o", tmp_path / "m", "--json")
    assert kinds.document["kinds"] == {"a,b": "ordinal"}


def test_the_model_does_not_depend_on_the_number_of_threads(run, tmp_path):
    for jobs in (1, 2):
        run("fit", "wine", "-o", tmp_path / f"{jobs}.json", "--jobs", jobs)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["ja", "nein"] * 15, "classification"),
        ([1, 2, 3] * 10, "classification"),
        (list(range(30)), "regression"),
        ([0.5, 1.5] * 15, "regression"),
    ],
)
def test_the_task_is_found_out(run, write, tmp_path, values, task):
    table = write("t.csv", "x,y", *(f"{i / 7},{value}" for i, value in enumerate(values)))
    outcome = run("fit", table, "-t", "y", "-o", tmp_path / "m.json")
    assert f"({task}" in outcome.out
    assert json.loads((tmp_path / "m.json").read_text())["target"]["name"] == "y"


def test_the_task_can_be_chosen(run, write, tmp_path):
    table = write("t.csv", "x,y", *(f"{i / 7},{i % 3 / 2}" for i in range(30)))
    common = ("fit", table, "-t", "y", "-o", tmp_path / "m.json", "--json", "--task")
    assert run(*common, "classification").document["goal"]["classes"] == ["0", "0.5", "1"]
    assert run(*common, "regression").document["goal"]["task"] == "regression"


def test_whole_numbers_stay_numbers_as_classes(run, write, tmp_path):
    table = write("t.csv", "x,y", *(f"{i / 7},{i % 2}" for i in range(30)))
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json")
    assert solah.load_model(tmp_path / "m.json").classes_.dtype.kind == "i"


def test_the_reading_options_are_used(run, tmp_path):
    table = tmp_path / "t.txt"
    lines = [f"{i % 5},5;-9;{'é' if i % 2 else 'è'}\n" for i in range(20)]
    table.write_bytes("".join(lines).encode("latin-1"))
    outcome = run(
        *("fit", table, "-t", "x2", "-o", tmp_path / "m.json", "--json"),
        *("--delimiter", ";", "--no-header", "--decimal", ",", "--encoding", "latin-1"),
        *("--missing", "-9"),
    )
    assert outcome.code == 0, outcome.err
    assert outcome.document["goal"]["classes"] == ["è", "é"]
    low = solah.load_model(tmp_path / "m.json").model_.attributes[0].low
    assert low == pytest.approx(0.5)


def test_delimiters_may_be_spelt(run, write, tmp_path):
    table = write("t.txt", "a\tb", *(f"{i}.5\t{'u' if i % 2 else 'v'}" for i in range(9)))
    assert run("fit", table, "-t", "b", "--delimiter", "tab", "-o", tmp_path / "m").code == 0


def test_quiet_says_nothing(run, fruits, tmp_path):
    for words in (("-q", "fit"), ("fit", "-q")):
        outcome = run(*words, fruits, "-t", "kerne", "-o", tmp_path / "m.json")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_a_wrong_column_is_answered_with_the_right_one(run, fruits):
    run("fit", fruits, "-t", "grosse cm").check_error("'grosse cm'", "did you mean 'größe cm'?")
    run("fit", fruits, "-t", "kerne", "--drop", "ids").check_error("did you mean 'id'?")
    run("fit", fruits, "-t", "kerne", "--ordinal", "ids").check_error("did you mean 'id'?")


def test_the_target_is_asked_for(run, fruits):
    run("fit", fruits).check_error("--target", "'id', 'größe cm'")


def test_a_column_cannot_be_two_things(run, fruits):
    common = ("fit", fruits, "-t", "kerne")
    run(*common, "--binary", "id", "--ordinal", "id").check_error("'id'", "binary", "ordinal")
    run(*common, "--ordinal", "kerne").check_error("'kerne'", "--task")


def test_missing_targets_are_counted(run, write):
    table = write("t.csv", "x,y", "1,a", "2,", "3,b", "4,?")
    run("fit", table, "-t", "y").check_error("'y' has no value in 2 rows (first: row 2)")


def test_one_class_is_nothing_to_learn(run, write):
    run("fit", write("t.csv", "x,y", "1,a", "2,a"), "-t", "y").check_error("only one class ('a')")
    run("fit", write("t.csv", "x,y", "1,a"), "-t", "y").check_error("only one class")


def test_nothing_to_decide_with(run, write):
    table = write("t.csv", "x,y", "1,a", "2,b")
    run("fit", table, "-t", "y", "--drop", "x").check_error("no column is left")


def test_a_number_is_learnt_from_one_row(run, write, tmp_path):
    table = write("t.csv", "x,y", "1.5,2.5")
    assert run("fit", table, "-t", "y", "-o", tmp_path / "m.json").code == 0
    assert solah.load_model(tmp_path / "m.json").predict(np.array([[9.0]])) == [2.5]


def test_words_are_not_numbers(run, fruits):
    run("fit", fruits, "-t", "色", "--task", "regression").check_error("'色'", "not numbers")
    run("fit", fruits, "-t", "größe cm", "--class-weight", "balanced").check_error("--class-weight")


def test_empty_and_broken_files(run, write, tmp_path):
    run("fit", write("empty.csv"), "-t", "y").check_error("empty.csv is empty")
    run("fit", write("head.csv", "x,y"), "-t", "y").check_error("head.csv")
    run("fit", tmp_path / "nowhere.csv", "-t", "y").check_error("nowhere.csv is not there")
    run("fit", tmp_path, "-t", "y").check_error(tmp_path.name)
    run("fit", write("rag.csv", "x,y", "1,a", "2,b,c"), "-t", "y").check_error("line 3")


def test_an_unknown_name_is_neither_data_set_nor_file(run):
    run("fit", "wien").check_error("did you mean 'wine'?", "nor is there a file 'wien'")


def test_what_cannot_be_written_is_refused_before_the_work(run, tmp_path):
    run("fit", "wine", "-o", tmp_path / "no" / "m.json").check_error("folder", "is not there")
    run("fit", "wine", "-o", tmp_path).check_error("is a folder")
    run("fit", "wine", "-o", "/dev/null").check_error("is not a plain file")
    run("fit", "wine", "-o", "-").check_error("a file name is needed")


def test_settings_out_of_range(run, tmp_path):
    common = ("fit", "iris", "-o", tmp_path / "m.json")
    run(*common, "--purity", 3).check_error("'purity'", "Got 3.0")
    run(*common, "--labels", 1).check_error("'n_words'", "Got 1")
    run(*common, "--jobs", 0).check_error("--jobs")
    run(*common, "--placement", "x").check_error("--placement", "quantile")
    assert not (tmp_path / "m.json").exists()


def test_what_was_chosen_and_left_out_is_said(run, tmp_path):
    said = run("fit", "wine", "-o", tmp_path / "m.json", "--max-rules", 8).out
    assert "\nrules         8\n" in said
    assert "\nleft out      " in said
    assert "(dependence with the goal)" in said
    assert "adds up" in said
    said = run("fit", "wine", "-o", tmp_path / "m.json").out
    assert "the fewest whose cross-validated log-loss" in said


def test_what_to_do_next_is_said(run, tmp_path):
    said = run("fit", "iris", "-o", tmp_path / "my model.json").out
    commands = said[said.index("What to do next") :].splitlines()[1:]
    verbs = [line.split()[1] for line in commands]
    assert verbs == ["rules", "predict", "explain", "report", "export", "evaluate"]
    for line in commands[:-1]:
        words = shlex.split(line.partition("  ")[0])
        assert words[2] == str(tmp_path / "my model.json")
    explain = shlex.split(commands[2].partition("  ")[0])
    assert run(*explain[1:]).code == 0


def test_the_choice_is_in_the_document(run, tmp_path):
    document = run("fit", "iris", "-o", tmp_path / "m.json", "--json").document
    choice = document["choice"]
    assert [step["is_chosen"] for step in choice["path"]].count(True) == 1
    assert choice["reason"]
    *parts, root = document["hierarchy"]["parts"]
    assert root["kind"] == "sum"
    assert set(root["inputs"]) <= {part["name"] for part in parts}
    fixed = run("fit", "iris", "-o", tmp_path / "m.json", "--max-rules", 5, "--json").document
    assert fixed["choice"] is None


def test_a_class_may_be_decided_for_earlier(run, tmp_path):
    model = tmp_path / "m.json"
    run("fit", "iris", "-o", model, "--model", "tree", "--threshold", "virginica=0.01")
    decisions = run("predict", model, "iris").out
    assert decisions.count("\nvirginica") > 60


@pytest.mark.parametrize("wish", ["virginica", "virginica=much", "=0.3"])
def test_a_threshold_that_is_none(run, tmp_path, wish):
    outcome = run("fit", "iris", "-o", tmp_path / "m.json", "--threshold", wish)
    assert outcome.code == 2
    assert "is not of the form class=share" in outcome.err


def test_a_threshold_of_a_class_that_is_not_there(run, tmp_path):
    outcome = run("fit", "iris", "-o", tmp_path / "m.json", "--threshold", "virginia=0.3")
    assert outcome.code == 2
    assert "did you mean 'virginica'" in outcome.err
