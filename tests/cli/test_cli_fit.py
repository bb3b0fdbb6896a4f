"""``solah fit``: its result, what it says, and how it refuses."""

import json
import shlex

import pytest

import solah


def test_a_file_becomes_a_model_that_decides(run, fruits, tmp_path):
    model = tmp_path / "m.json"
    columns = ("--target", "geschmack 👅", "--drop", "id")
    outcome = run("fit", fruits, *columns, "--model", "tree", "-o", model)
    assert outcome.code == 0
    assert "früchte.csv: 24 rows, 3 features (1 continuous, 1 binary, 1 ordinal)" in outcome.out
    assert "geschmack 👅, 2 classes (classification)" in outcome.out
    assert "2 rules, 3 branches, at most 1 condition a rule" in outcome.out
    assert outcome.err == ""
    predictor = solah.load_model(model)
    assert predictor.model_.target.name == "geschmack 👅"
    assert [feature.name for feature in predictor.model_.features] == [
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
    assert set(document["feature_types"].values()) == {"continuous"}
    assert document["target"]["classes"] == ["class_0", "class_1", "class_2"]
    assert document["rules"] == solah.load_model(tmp_path / "m.json").model_.n_rules


def test_options_reach_the_tree(run, tmp_path):
    def size(*options):
        common = ("fit", "iris", "--model", "tree", "-o", tmp_path / "m.json", "--json")
        return run(*common, *options).document

    assert size("--set", "max_depth=1")["depth"] == 1
    assert size("--set", "n_words=5")["branches"] > size()["branches"]
    assert size("--set", "@paper")["branches"] > size()["branches"]
    assert size("--set", "@paper", "--set", "max_depth=1")["depth"] == 1
    for options in (
        ("--set", "placement=uniform"),
        ("--set", "criterion=gain_ratio"),
        ("--set", "purity=0.8"),
        ("--set", "min_support=20"),
        ("--set", "class_weight=balanced"),
    ):
        assert size(*options)["rules"] > 1


def test_kinds_are_declared_one_by_one_or_by_commas(run, fruits, tmp_path):
    common = ("fit", fruits, "-t", "geschmack 👅", "-o", tmp_path / "m.json", "--json")
    kinds = run(*common, "--type", "kerne=continuous", "--type", "色,id=categorical").document[
        "feature_types"
    ]
    assert kinds == {
        "id": "categorical",
        "größe cm": "continuous",
        "色": "categorical",
        "kerne": "continuous",
    }


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


def test_the_reading_options_are_used(run, tmp_path):
    table = tmp_path / "t.txt"
    lines = [f"{i % 5},5;-9;{'é' if i % 2 else 'è'}\n" for i in range(20)]
    table.write_bytes("".join(lines).encode("latin-1"))
    outcome = run(
        *("fit", table, "-t", "x2", "-o", tmp_path / "m.json", "--json"),
        *("--read", "delimiter=;", "--read", "header=no", "--read", "decimal=,"),
        *("--read", "encoding=latin-1", "--read", "missing=-9"),
    )
    assert outcome.code == 0, outcome.err
    assert outcome.document["target"]["classes"] == ["è", "é"]
    low = solah.load_model(tmp_path / "m.json").model_.features[0].low
    assert low == pytest.approx(0.5)


def test_quiet_says_nothing(run, fruits, tmp_path):
    for words in (("-q", "fit"), ("fit", "-q")):
        outcome = run(*words, fruits, "-t", "kerne", "-o", tmp_path / "m.json")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_a_wrong_column_is_answered_with_the_right_one(run, fruits):
    run("fit", fruits, "-t", "grosse cm").check_error("'grosse cm'", "did you mean 'größe cm'?")
    run("fit", fruits, "-t", "kerne", "--drop", "ids").check_error("did you mean 'id'?")
    run("fit", fruits, "-t", "kerne", "--type", "ids=ordinal").check_error("did you mean 'id'?")


def test_the_target_is_asked_for(run, fruits):
    run("fit", fruits).check_error("--target", "'id', 'größe cm'")


def test_a_column_cannot_be_two_things(run, fruits):
    common = ("fit", fruits, "-t", "kerne")
    run(*common, "--type", "id=binary", "--type", "id=ordinal").check_error("'id'", "twice")
    run(*common, "--type", "kerne=ordinal").check_error("'kerne'", "continuous (a number)")


def test_empty_and_broken_files(run, write, tmp_path):
    run("fit", write("empty.csv"), "-t", "y").check_error("empty.csv is empty")
    run("fit", write("head.csv", "x,y"), "-t", "y").check_error("head.csv")
    run("fit", tmp_path / "nowhere.csv", "-t", "y").check_error("nowhere.csv does not exist")
    run("fit", tmp_path, "-t", "y").check_error(tmp_path.name)
    run("fit", write("rag.csv", "x,y", "1,a", "2,b,c"), "-t", "y").check_error("line 3")


def test_an_unknown_name_is_neither_data_set_nor_file(run):
    run("fit", "wien").check_error("did you mean 'wine'?", "there is no file 'wien'")


def test_what_cannot_be_written_is_refused_before_the_work(run, tmp_path):
    run("fit", "wine", "-o", tmp_path / "no" / "m.json").check_error("folder", "does not exist")
    run("fit", "wine", "-o", tmp_path).check_error("is a folder")
    run("fit", "wine", "-o", "/dev/null").check_error("is not a plain file")
    run("fit", "wine", "-o", "-").check_error("give a file name")


def test_what_was_chosen_and_left_out_is_said(run, tmp_path):
    said = run("fit", "wine", "-o", tmp_path / "m.json", "--max-rules", 8).out
    assert "\nrules         8\n" in said
    assert "\ndropped " in said
    assert "(dependence with the target)" in said
    assert "additive model" in said
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
    run("fit", "iris", "-o", model, "--model", "tree", "--set", "thresholds={virginica: 0.01}")
    decisions = run("predict", model, "iris").out
    assert decisions.count("\nvirginica") > 60


def test_a_model_that_is_never_wrong_can_be_loaded(run, write, tmp_path):
    rows = (f"{i % 24},{i % 7},{'a' if i % 24 < 8 else 'b'}" for i in range(600))
    output = tmp_path / "m.json"
    assert run("fit", write("h.csv", "hour,day,y", *rows), "-t", "y", "-o", output).code == 0
    found = solah.load_model(output).model_.provenance.cross_validated
    assert found.accuracy == 1.0
    assert found.log_loss >= 0.0


def test_a_model_without_rules_is_noted(run, write, tmp_path):
    rows = write("c.csv", "a,y", *(f"1,{'ab'[i % 2]}" for i in range(30)))
    outcome = run("fit", rows, "-t", "y", "-o", tmp_path / "m.json")
    assert (outcome.code, "no feature helps" in outcome.err) == (0, True)
