"""``solah rules``: sentences, filters, orders, formats, and the words explained."""

import pytest

from solah import load_model


def test_rules_are_sentences_the_strongest_first(run, fruit_model):
    lines = run("rules", fruit_model).out.splitlines()
    rules = load_model(fruit_model).rules()
    assert lines[0] == f"geschmack 👅: {len(rules)} rules"
    assert lines[1 : 1 + len(rules)] == [str(rule) for rule in rules]
    effects = [rule.effect for rule in rules]
    assert effects == sorted(effects, reverse=True)


def test_filters(run, tmp_path):
    model = tmp_path / "m.json"
    run("fit", "wine", "--model", "tree", "-o", model)
    outcome = run("rules", model, "--class", "class_1", "--feature", "proline", "--limit", 4)
    header, *rest = outcome.out.splitlines()
    assert header.endswith("rules, 4 shown")
    assert all(" then class_1 " in line and "proline is" in line for line in rest[:4])
    assert rest[4:6] == ["", "The words"]
    assert any(line.startswith("proline ") and "up to" in line for line in rest)


def test_rules_are_grouped_by_tree_from_bottom_to_top(run, wine_model):
    lines = run("rules", wine_model).out.splitlines()
    model = load_model(wine_model).model_
    taste, look, wine = (tree.n_rules for tree in model.trees)
    assert lines[0] == f"class: {model.n_rules} rules in 3 trees"
    assert lines[1] == "A condition on taste, look is on the prediction of the tree of that name."
    assert lines[2:4] == ["", f"taste ({taste} rules) ← alcohol, ash"]
    assert lines[4 + taste : 6 + taste] == ["", f"look ({look} rules) ← hue, color_intensity"]
    top = 6 + taste + look
    assert lines[top : top + 2] == ["", f"wine ({wine} rules) ← taste, look, proline"]
    rules = load_model(wine_model).rules()
    assert lines[4 : 4 + taste] == [str(rule) for rule in rules if rule.part == "taste"]
    assert lines[top + 2 : top + 2 + wine] == [str(rule) for rule in rules if rule.part == "wine"]
    words = lines[lines.index("The words") + 1 :]
    assert [line.split()[0] for line in words[::3]] == [a.name for a in model.features]


def test_the_limit_holds_for_each_tree(run, wine_model):
    document = run("rules", wine_model, "--limit", 2, "--json").document
    assert [rule["part"] for rule in document["rules"]] == [
        *("taste", "taste", "look", "look", "wine", "wine")
    ]
    assert [part["name"] for part in document["parts"]] == ["taste", "look", "wine"]
    assert document["parts"][2]["inputs"] == ["taste", "look", "proline"]
    assert sum(part["rules"] for part in document["parts"]) == document["n_rules"]


def test_json(run, tmp_path):
    model = tmp_path / "m.json"
    run("fit", "wine", "--model", "tree", "-o", model)
    document = run("rules", model, "--limit", 2, "--json").document
    assert document["n_rules"] > 2
    first, second = document["rules"]
    assert first["support"] >= second["support"]
    assert first["text"].startswith("if ")
    assert abs(sum(first["shares"]) - 1) < 1e-9
    low = document["features"][0]["words"][0]
    assert low["fully"][0] is None
    assert low["fully"][1] < low["partly"][1]


def test_unknown_classes_and_features(run, fruit_model, write, tmp_path):
    run("rules", fruit_model, "--class", "suß").check_error("did you mean 'süß'?")
    run("rules", fruit_model, "--feature", "kern").check_error("did you mean 'kerne'?")
    table = write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))
    run("fit", table, "-t", "y", "-o", tmp_path / "n.json")
    run("rules", tmp_path / "n.json", "--class", "a").check_error("'y' is a number")


def test_formats_are_those_of_the_library(run, wine_model):
    rules = load_model(wine_model).rules()
    assert run("rules", wine_model, "--format", "csv").out == rules.to_csv()
    assert run("rules", wine_model, "--format", "markdown").out == rules.to_markdown()
    assert run("rules", wine_model, "--format", "text").out == run("rules", wine_model).out
    as_json = run("rules", wine_model, "--format", "json")
    assert as_json.out == run("rules", wine_model, "--json").out
    assert as_json.document["rules"] == rules.to_dicts()


@pytest.mark.parametrize(
    ("name", "form"),
    [("r.txt", "text"), ("r.MD", "markdown"), ("r.csv", "csv"), ("r.json", "json")],
)
def test_a_file_gets_what_a_pipe_gets_in_the_format_of_its_name(
    run, wine_model, tmp_path, name, form
):
    options = ("--class", "class_1", "--limit", 2)
    outcome = run("rules", wine_model, *options, "-o", tmp_path / name)
    assert outcome.out == f"6 rules written to {tmp_path / name}\n"
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert written == run("rules", wine_model, *options, "--format", form).out


def test_formats_that_nobody_knows(run, fruit_model, tmp_path):
    outcome = run("rules", fruit_model, "-o", tmp_path / "r.doc")
    outcome.check_error("r.doc does not end in .txt, .md, .csv, .json", "--format")
    run("rules", fruit_model, "--json", "--format", "csv").check_error("choose one")
    run("rules", fruit_model, "--format", "html").check_error("--format")
    assert not (tmp_path / "r.doc").exists()
