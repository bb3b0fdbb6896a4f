"""``solah rules``: sentences, filters, and the words explained."""

from solah import load_model


def test_rules_are_sentences_the_strongest_first(run, fruit_model):
    lines = run("rules", fruit_model).out.splitlines()
    rules = load_model(fruit_model).rules()
    assert lines[0] == f"geschmack 👅: {len(rules)} rules"
    assert lines[1 : 1 + len(rules)] == [str(rule) for rule in rules]
    supports = [rule.support for rule in rules]
    assert supports == sorted(supports, reverse=True)


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
    assert all("class class_1 (" in line and "proline is" in line for line in rest[:4])
    assert rest[4:6] == ["", "The words"]
    assert any(line.startswith("proline ") and "fully up to" in line for line in rest)


def test_rules_are_grouped_by_tree_from_bottom_to_top(run, wine_model):
    lines = run("rules", wine_model).out.splitlines()
    model = load_model(wine_model).model
    taste, look, wine = (tree.n_rules for tree in model.trees)
    assert lines[0] == f"class: {model.n_rules} rules in 3 trees"
    assert lines[1] == "A condition on taste, look is on what the tree of that name believes."
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
    assert "believes" not in "".join(lines)
    run("rules", wine_model, "--tree", "test").check_error("no tree 'test'", "'taste'?")


def test_rules_that_listen_to_a_tree(run, wine_model):
    document = run("rules", wine_model, "--attribute", "look", "--json").document
    assert {rule["tree"] for rule in document["rules"]} == {"wine"}
    run("rules", wine_model, "--attribute", "lok").check_error("did you mean 'look'?")


def test_the_limit_holds_for_each_tree(run, wine_model):
    document = run("rules", wine_model, "--limit", 2, "--json").document
    assert [rule["tree"] for rule in document["rules"]] == [
        *("taste", "taste", "look", "look", "wine", "wine")
    ]
    assert [tree["name"] for tree in document["trees"]] == ["taste", "look", "wine"]
    assert document["trees"][2]["inputs"] == ["taste", "look", "proline"]
    assert sum(tree["rules"] for tree in document["trees"]) == document["n_rules"]


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


def test_a_model_of_one_rule(run, write, tmp_path):
    table = write("t.csv", "x,y", "1,a", "1,b")
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json")
    assert run("rules", tmp_path / "m.json", "-q").out == "y a (0.50), support 2.0\n"


def test_unknown_classes_and_attributes(run, fruit_model, write, tmp_path):
    run("rules", fruit_model, "--class", "suß").check_error("did you mean 'süß'?")
    run("rules", fruit_model, "--attribute", "kern").check_error("did you mean 'kerne'?")
    table = write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))
    run("fit", table, "-t", "y", "-o", tmp_path / "n.json")
    run("rules", tmp_path / "n.json", "--class", "a").check_error("'y' is a number")


def test_names_that_look_like_markup_are_printed_as_they_are(run, write, tmp_path):
    table = write("t.csv", "[red]x[/red],y", "1,[b]:smile:", "2,[/b]", "3,[b]:smile:", "4,[/b]")
    run("fit", table, "-t", "y", "-o", tmp_path / "m.json", "--categorical", "[red]x[/red]")
    assert "if [red]x[/red] is 1 or 3 then y [b]:smile: (" in run("rules", tmp_path / "m.json").out
