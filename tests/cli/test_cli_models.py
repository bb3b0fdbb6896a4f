"""``--model`` and the options of hierarchies: what they make, and what does not go together."""

import json

import pytest
from cli_wiring import WINE_HIERARCHY, WINE_STRUCTURE

import solah
from solah.cli.model_options import HierarchyOptions, TreeOptions
from solah.cli.models import make_models
from solah.cli.options import ColumnOptions
from solah.cli.problems import pose
from solah.cli.sources import read_source
from solah.data import ReadOptions


@pytest.fixture
def fit_wine(run, tmp_path):
    """Return a function that fits the wine data with options."""
    return lambda *options: run("fit", "wine", "-o", tmp_path / "m.json", *options)


@pytest.fixture
def numbers(write):
    """Return a table whose column y is a number."""
    return write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))


def parameters(*wishes, trees=None, **wiring):
    problem = pose(read_source("wine", ReadOptions()), ColumnOptions())
    options = HierarchyOptions(**wiring), trees or TreeOptions()
    return [m.get_params() for m in make_models(problem, wishes, *options, 1).values()]


def test_classes_are_learnt_by_a_hierarchy_that_organises_itself(fit_wine, tmp_path):
    outcome = fit_wine()
    model = solah.load_model(tmp_path / "m.json").model_
    assert len(model.trees) > 1
    assert "\nmodel    solah\n" in outcome.out
    levels = f"{model.hierarchy.n_levels} levels (the attributes' among them)"
    assert f"\ntrees    {len(model.trees)} trees, {levels}, " in outcome.out
    assert "(K)\n" in outcome.out
    (fusion,) = model.fusions
    for tree, weight in zip(model.trees, fusion.weights, strict=True):
        line = f"{tree.name} ({tree.n_rules} rules, weight {weight:.2f}) ← {tree.inputs[0].name}"
        assert f"─ {line}\n" in outcome.out


def test_json_has_what_the_screen_shows(fit_wine, tmp_path):
    document = fit_wine("--json", "--clusters", 4).document
    model = solah.load_model(tmp_path / "m.json").model_
    assert document["kind"] == "solah"
    assert document["hierarchy"]["structure"] == model.hierarchy.to_dict()
    assert document["hierarchy"]["levels"] == model.hierarchy.n_levels
    assert [tree["rules"] for tree in document["hierarchy"]["trees"]] == [
        tree.n_rules for tree in model.trees
    ]
    assert document["given_clusters"] == 4
    clustered = [name for cluster in document["clusters"] for name in cluster]
    assert sorted(clustered) == sorted(attribute.name for attribute in model.attributes)
    assert fit_wine("--json").document["given_clusters"] == "auto"
    assert fit_wine("--json", "--model", "tree").document["clusters"] is None


def test_k_is_shown_beside_K_where_it_was_given(fit_wine):  # noqa: N802
    assert "(K; k was 4)" in fit_wine("--clusters", 4).out
    assert "k was" not in fit_wine("--clusters", "auto").out


def test_a_tree_has_no_drawing(fit_wine, tmp_path):
    outcome = fit_wine("--model", "tree")
    assert "\nmodel    tree\nsize " in outcome.out
    assert "←" not in outcome.out
    assert len(solah.load_model(tmp_path / "m.json").model_.trees) == 1


@pytest.mark.parametrize("suffix", [".json", ".txt", ".yaml"])
def test_a_hierarchy_from_a_file(fit_wine, write, suffix):
    if suffix == ".yaml":
        pytest.importorskip("yaml")
    text = WINE_HIERARCHY if suffix == ".txt" else json.dumps(WINE_STRUCTURE)
    document = fit_wine("--hierarchy", write(f"wiring{suffix}", text), "--json").document
    assert document["kind"] == "hierarchy"
    assert document["hierarchy"]["structure"] == WINE_STRUCTURE


def test_a_hierarchy_from_text(fit_wine):
    outcome = fit_wine("--hierarchy", WINE_HIERARCHY)
    assert "\nmodel    hierarchy\ntrees    3 trees, 3 levels" in outcome.out
    assert "(K" not in outcome.out
    same = fit_wine("--hierarchy", WINE_HIERARCHY, "--model", "hierarchy", "--json")
    assert same.document["hierarchy"]["structure"] == WINE_STRUCTURE


def test_hierarchies_that_cannot_be_used(fit_wine, write, tmp_path):
    fit_wine("--hierarchy", "y <- alcool").check_error("did you mean 'alcohol'?")
    fit_wine("--hierarchy", "ash <- hue").check_error("'ash' has the name of a column")
    fit_wine("--hierarchy", "a <- b; b <- a").check_error("a")
    fit_wine("--hierarchy", write("w.json", "{")).check_error("w.json: this is not JSON")
    fit_wine("--hierarchy", tmp_path / "no.json").check_error("no.json: No such file")
    fit_wine("--hierarchy", "alcohol, ash").check_error(".json", ".txt")
    fit_wine("--model", "hierarchy").check_error("--hierarchy", "--model solah")
    assert not (tmp_path / "m.json").exists()


def test_options_reach_the_estimators():
    (organised,) = parameters(
        clusters=3, level_gap=0.2, top="merge", bias_corrected=True, node="cmac"
    )
    assert (organised["n_clusters"], organised["level_gap"]) == (3, 0.2)
    assert (organised["top"], organised["node"]) == ("merge", "cmac")
    assert organised["bias_corrected"] is True
    (by_hand,) = parameters(hierarchy=WINE_HIERARCHY, node="cmac")
    assert by_hand["hierarchy"] == solah.Hierarchy.parse(WINE_HIERARCHY)
    assert by_hand["node"] == "cmac"


def test_the_paper_holds_for_all_models_and_options_beside_it_win():
    models = parameters(
        *("tree", "hierarchy", "solah"),
        hierarchy=WINE_HIERARCHY,
        top="merge",
        trees=TreeOptions(paper=True, max_depth=2),
    )
    assert [model["null_branch"] for model in models] == ["uniform"] * 3
    assert [model["max_depth"] for model in models] == [2] * 3
    assert models[2]["top"] == "merge"


def test_the_flags_are_read(fit_wine):
    flags = ("--clusters", 3, "--level-gap", 2.0, "--top", "merge", "--bias-corrected")
    merged = fit_wine(*flags, "--json").document
    assert merged["given_clusters"] == 3
    assert len(merged["hierarchy"]["trees"]) == 1
    by_hand = ("--hierarchy", WINE_HIERARCHY, "--purity", 0.5, "--json")
    tables, trees = (fit_wine(*by_hand, "--node", node).document for node in ("cmac", "tree"))
    assert tables["rules"] > trees["rules"]  # a table does not stop where a class is pure
    assert fit_wine("--level-gap", "auto", "--top", "fuse").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "tree", "--clusters", 3), "--clusters is for --model solah, not for tree"),
        (("--model", "tree", "--level-gap", "auto"), "--level-gap is for --model solah"),
        (("--model", "tree", "--top", "fuse"), "--top is for --model solah"),
        (("--model", "tree", "--bias-corrected"), "--bias-corrected is for --model solah"),
        (("--model", "tree", "--node", "cmac"), "--node is for --model hierarchy or solah"),
        (("--model", "solah", "--hierarchy", "y <- ash"), "--hierarchy is for --model hierarchy"),
        (("--hierarchy", "y <- ash", "--clusters", 3), "is for --model solah, not for hierarchy"),
    ],
)
def test_what_does_not_go_together(fit_wine, options, message):
    fit_wine(*options).check_error(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "forest"), "--model"),
        (("--clusters", "many"), "'many' is neither a whole number nor 'each' nor 'auto'"),
        (("--clusters", "2.5"), "'2.5' is neither a whole number nor 'each' nor 'auto'"),
        (("--level-gap", "wide"), "'wide' is neither a number nor 'auto'"),
        (("--clusters", 0), "'n_clusters'"),
        (("--level-gap", 0), "'level_gap'"),
        (("--level-gap", "nan"), "'level_gap'"),
        (("--top", "x"), "--top"),
        (("--node", "x"), "--node"),
        (("--node", "cmac", "--clusters", 1), "a CMAC"),
    ],
)
def test_values_that_are_none(fit_wine, options, message):
    fit_wine(*options).check_error(message)


def test_a_number_takes_a_tree_and_says_so(run, numbers, tmp_path):
    common = (numbers, "-t", "y")
    said = "tree (hierarchies are for classes)"
    assert f"model    {said}" in run("fit", *common, "-o", tmp_path / "m.json").out
    assert f"model  {said}" in run("evaluate", *common, "--folds", 2).out
    document = run("fit", *common, "-o", tmp_path / "m.json", "--model", "tree", "--json").document
    assert (document["kind"], document["hierarchy"]["levels"]) == ("tree", 2)


@pytest.mark.parametrize(
    "options", [("--model", "solah"), ("--hierarchy", "z <- x"), ("--clusters", "2")]
)
def test_a_number_has_no_hierarchy(run, numbers, options):
    for verb in ("fit", "evaluate"):
        run(verb, numbers, "-t", "y", *options).check_error(
            options[0], "is for classes, and the target is taken as a number"
        )


def test_leaves_and_shrinkage_reach_the_trees():
    options = TreeOptions(leaves="refitted", shrinkage=2.0)
    (found,) = parameters("tree", trees=options)
    assert (found["leaves"], found["shrinkage"]) == ("refitted", 2.0)


@pytest.mark.parametrize("option", [("--leaves", "refitted"), ("--shrinkage", 2)])
def test_leaves_are_for_classes(run, numbers, option):
    run("fit", numbers, "-t", "y", *option).check_error(f"{option[0]} is for classes")


def test_cross_fitting_reaches_every_kind_of_hierarchy():
    for found in parameters("solah", "genetic", cross_fit=4):
        assert found["cross_fit"] == 4


def test_words_of_belief_reach_every_kind_of_hierarchy():
    for found in parameters("solah", "genetic", belief_labels=3):
        assert found["belief_labels"] == 3


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "tree", "--labels", "auto"),
        ("--model", "tree", "--rule-cost", "auto"),
        ("--hierarchy", "y <- ash, hue", "--fusion", "auto"),
        ("--hierarchy", "y <- ash, hue", "--penalty", "auto"),
    ],
)
def test_only_the_self_organised_chooses(fit_wine, options):
    outcome = fit_wine(*options)
    assert outcome.code == 2
    assert f"{options[2]} auto is for --model solah, not for" in outcome.err
