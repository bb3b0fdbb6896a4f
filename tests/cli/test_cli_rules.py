"""``solah rules``: sentences, filters, orders, formats, and the words explained."""

import csv
import io
import json

import numpy as np
import pytest

from random_models import random_model, random_number_model
from solah import load_model
from solah.explain import rules_of
from solah.explain.legend import escape
from solah.model import save_document


def test_rules_are_sentences_the_strongest_first(run, fruit_model):
    lines = run("rules", fruit_model).out.splitlines()
    rules = load_model(fruit_model).rules()
    assert lines[0] == f"geschmack 👅: {len(rules)} rules"
    assert lines[1 : 1 + len(rules)] == [str(rule) for rule in rules]
    effects = [rule.effect for rule in rules]
    assert effects == sorted(effects, reverse=True)


def test_long_rules_are_neither_cut_nor_broken_in_a_pipe(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    run("fit", "wine", "--model", "tree", "-o", tmp_path / "m.json")
    lines = run("rules", tmp_path / "m.json").out.splitlines()
    sentences = [str(rule) for rule in load_model(tmp_path / "m.json").rules()]
    assert lines[1 : 1 + len(sentences)] == sentences
    assert max(map(len, sentences)) > 160


def test_filters(run, tmp_path):
    model = tmp_path / "m.json"
    run("fit", "wine", "--model", "tree", "-o", model)
    outcome = run("rules", model, "--class", "class_1", "--attribute", "proline", "--limit", 4)
    header, *rest = outcome.out.splitlines()
    assert header.endswith("rules, 4 shown")
    assert all(" then class_1 " in line and "proline is" in line for line in rest[:4])
    assert rest[4:6] == ["", "The words"]
    assert any(line.startswith("proline ") and "fully up to" in line for line in rest)


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
    assert lines[4 : 4 + taste] == [str(rule) for rule in rules if rule.tree == "taste"]
    assert lines[top + 2 : top + 2 + wine] == [str(rule) for rule in rules if rule.tree == "wine"]
    words = lines[lines.index("The words") + 1 :]
    assert [line.split()[0] for line in words[::3]] == [a.name for a in model.attributes]


def test_one_tree_of_a_hierarchy(run, wine_model):
    lines = run("rules", wine_model, "--tree", "taste", "--limit", 2).out.splitlines()
    assert lines[0].endswith("rules in 3 trees, 2 shown")
    assert lines[2].startswith("taste (")
    assert lines[2].endswith("rules, 2 shown) ← alcohol, ash")
    assert "A condition on" not in "".join(lines)
    run("rules", wine_model, "--tree", "test").check_error("no rules 'test'", "'taste'?")


def test_rules_that_listen_to_a_tree(run, wine_model):
    document = run("rules", wine_model, "--attribute", "look", "--json").document
    assert {rule["tree"] for rule in document["rules"]} == {"wine"}
    run("rules", wine_model, "--attribute", "lok").check_error("did you mean 'look'?")


def test_the_limit_holds_for_each_tree(run, wine_model):
    document = run("rules", wine_model, "--limit", 2, "--json").document
    assert [rule["tree"] for rule in document["rules"]] == [
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
    assert abs(sum(first["belief"]) - 1) < 1e-9
    low = document["attributes"][0]["words"][0]
    assert low["fully"][0] is None
    assert low["fully"][1] < low["partly"][1]


def test_quiet_prints_the_rules_alone(run, fruit_model):
    out = run("rules", fruit_model, "--quiet").out
    assert out.splitlines() == [str(rule) for rule in load_model(fruit_model).rules()]


def test_a_constant_has_no_rules(run, write, tmp_path):
    table = write("t.csv", "x,y", "1,a", "1,b")
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json")
    out = run("rules", tmp_path / "m.json", "-q").out
    assert out.splitlines() == ["baseline: b +0.00"]


def test_unknown_classes_and_attributes(run, fruit_model, write, tmp_path):
    run("rules", fruit_model, "--class", "suß").check_error("did you mean 'süß'?")
    run("rules", fruit_model, "--attribute", "kern").check_error("did you mean 'kerne'?")
    table = write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))
    run("fit", table, "-t", "y", "-o", tmp_path / "n.json")
    run("rules", tmp_path / "n.json", "--class", "a").check_error("'y' is a number")


def test_names_that_look_like_markup_are_printed_as_they_are(run, write, tmp_path):
    rows = ["1,[b]:smile:", "2,[/b]", "3,[b]:smile:", "4,[/b]"] * 10
    table = write("t.csv", "[red]x[/red],y", *rows)
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json", "--categorical", "[red]x[/red]")
    assert 'if [red]x[/red] is 1 or 3: "[b]:smile:" +' in run("rules", tmp_path / "m.json").out


@pytest.mark.parametrize(("words", "measure"), [((), "effect"), (("--sort", "support"), "support")])
def test_rules_are_sorted_within_each_tree(run, wine_model, words, measure):
    document = run("rules", wine_model, *words, "--limit", 3, "--json").document
    trees = [rule["tree"] for rule in document["rules"]]
    assert trees == ["taste"] * 3 + ["look"] * 3 + ["wine"] * 3
    every = load_model(wine_model).rules()
    for tree in ("taste", "look", "wine"):
        of_tree = every.filter(tree=tree)
        largest = sorted((getattr(rule, measure) for rule in of_tree), reverse=True)[:3]
        assert [r[measure] for r in document["rules"] if r["tree"] == tree] == largest


def test_the_strongest_rules_come_first_in_python_in_print_and_in_tables(run, tmp_path):
    model = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", 12, "-o", model, "-q").code == 0
    rules = load_model(model).rules()
    for tree in {rule.tree for rule in rules}:
        weights = [max(score for _, score in rule.adds) for rule in rules.filter(tree=tree)]
        assert weights == sorted(weights, reverse=True)
    printed = run("rules", model, "-q").out.splitlines()
    assert printed[-len(rules) :] == list(map(str, rules))
    table = run("rules", model, "--format", "markdown").out
    assert table == rules.to_markdown()
    places = [table.index(escape(rule.sentence)) for rule in rules]
    assert places == sorted(places)


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


def test_the_format_that_is_said_wins_over_the_name(run, fruit_model, tmp_path):
    run("rules", fruit_model, "--format", "csv", "-o", tmp_path / "r.md")
    first, *rows = csv.reader(io.StringIO((tmp_path / "r.md").read_text(encoding="utf-8")))
    assert first[0] == "tree"
    assert len(rows) == load_model(fruit_model).model_.n_rules
    assert run("rules", fruit_model, "--json", "-o", tmp_path / "r.csv").out == ""
    assert json.loads((tmp_path / "r.csv").read_text(encoding="utf-8"))["rules"]


def test_quiet_files_have_the_rules_alone(run, fruit_model, tmp_path):
    assert run("rules", fruit_model, "-q", "-o", tmp_path / "r.txt").out == ""
    written = (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert written == f"{load_model(fruit_model).rules()}\n"


def test_formats_that_nobody_knows(run, fruit_model, tmp_path):
    outcome = run("rules", fruit_model, "-o", tmp_path / "r.doc")
    outcome.check_error("r.doc does not end in .txt, .md, .csv, .json", "--format")
    run("rules", fruit_model, "--json", "--format", "csv").check_error("choose one")
    run("rules", fruit_model, "--format", "html").check_error("--format")
    assert not (tmp_path / "r.doc").exists()


def test_a_file_is_written_whole_or_not_at_all(run, fruit_model, tmp_path, monkeypatch):
    def broken(self):
        print("half a line", end="")
        raise OSError(28, "No space left on device")

    (tmp_path / "r.csv").write_text("before", encoding="utf-8")
    files = set(tmp_path.iterdir())
    run("rules", fruit_model, "-o", tmp_path).check_error("is a folder")
    run("rules", fruit_model, "--class", "no", "-o", tmp_path / "r.csv").check_error("no class")
    monkeypatch.setattr("solah.explain.rules.Rules.to_csv", broken)
    run("rules", fruit_model, "-o", tmp_path / "r.csv").check_error("No space left")
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "before"
    assert set(tmp_path.iterdir()) == files


def test_words_of_belief_are_explained(run, tmp_path):
    model = tmp_path / "m.json"
    wiring = "z <- alcohol, ash; class <- z, hue"
    run("fit", "wine", "--hierarchy", wiring, "--belief-labels", 3, "--max-depth", 1, "-o", model)
    lines = run("rules", model, "--tree", "class").out.splitlines()
    assert lines[1] == "A condition on z is on the prediction of the tree of that name."
    assert any(line.startswith("z(class_") and "fully up to 0.25" in line for line in lines)


@pytest.mark.parametrize("is_number", [False, True])
def test_rules_that_add_come_behind_what_there_is_to_begin_with(run, tmp_path, is_number):
    rng = np.random.default_rng(1)
    model = random_number_model(rng) if is_number else random_model(rng, "groups", 2)
    rules, path = rules_of(model), tmp_path / "m.json"
    save_document(model, path)
    lines = run("rules", path, "-q").out.splitlines()
    assert lines[0] == rules.start
    assert lines[1:] == [str(rule) for rule in rules]
    assert any(" is missing: " in line for line in lines)
    found = run("rules", path, "--json").document
    assert found["start"] == rules.start
    assert found["n_rules"] == len(rules)
    assert [one["adds"] for one in found["rules"]] == [one["adds"] for one in rules.to_dicts()]
    run("rules", path, "-o", tmp_path / "rules.csv")
    run("rules", path, "-o", tmp_path / "rules.md")
    assert (tmp_path / "rules.csv").read_text(encoding="utf-8").count("baseline: ") == 1
    assert "Baseline: " in (tmp_path / "rules.md").read_text(encoding="utf-8")
