"""``--model`` and the options of hierarchies: what they make, and what does not go together."""

import json
import re
from functools import reduce
from operator import or_

import pytest
from cli_wiring import WINE_HIERARCHY, WINE_STRUCTURE

import solah
from solah.cli.model_options import ModelOptions
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


def parameters(*wishes, **options):
    """Return the parameters of the models, those of nested objects among them."""
    problem = pose(read_source("wine", ReadOptions()), ColumnOptions())
    found = []
    for model in make_models(problem, wishes, ModelOptions(**options), 1).values():
        own = model.get_params(deep=False)
        nested = [one.get_params(deep=False) for one in own.values() if hasattr(one, "get_params")]
        found.append(reduce(or_, nested, own) | {"feature_types": model.feature_types})
    return found


def test_classes_are_learnt_by_a_hierarchy_that_organises_itself(fit_wine, tmp_path):
    outcome = fit_wine()
    model = solah.load_model(tmp_path / "m.json").model_
    assert len(model.terms) > 1
    assert "\nmodel         solah (rules that add up)\n" in outcome.out
    assert f"\nrules         {model.n_rules}" in outcome.out
    assert f"\nasks for      {len(model.attributes)} of 13 attributes, in " in outcome.out
    assert re.search(
        r"\nwords         \d+ to \d+ for each of \d+ measurements, from equal shares of the rows",
        outcome.out,
    )
    assert re.search(r"\nunseen rows   accuracy 0\.9\d+, log-loss 0\.\d+ \(out", outcome.out)
    names = [part.name for part in model.parts if part.kind == "term"]
    for name, term in zip(names, model.terms, strict=True):
        assert f"─ {name} ({term.n_rules} rules) ←" in outcome.out


def test_json_has_what_the_screen_shows(fit_wine, tmp_path):
    document = fit_wine("--json", "--clusters", 4).document
    model = solah.load_model(tmp_path / "m.json").model_
    assert document["kind"] == "solah"
    assert document["hierarchy"]["structure"] == model.hierarchy.to_dict()
    assert document["hierarchy"]["levels"] == model.hierarchy.n_levels
    parts = document["hierarchy"]["parts"]
    assert [part["name"] for part in parts] == [part.name for part in model.parts]
    assert [part["rules"] for part in parts if part["kind"] == "term"] == [
        term.n_rules for term in model.terms
    ]
    assert document["given_clusters"] == 4
    assert [name for pair in document["interactions"] for name in pair] == [
        name for term in model.terms if len(term.inputs) > 1 for name in term.features
    ]
    clustered = [name for cluster in document["clusters"] for name in cluster]
    assert sorted(clustered) == sorted(attribute.name for attribute in model.attributes)
    assert fit_wine("--json").document["given_clusters"] == "auto"
    assert fit_wine("--json", "--model", "tree").document["clusters"] is None


def test_k_is_shown_beside_K_where_it_was_given(fit_wine):  # noqa: N802
    stacked = ("--fusion", "tree", "--clusters")
    assert "(K; k was 4)" in fit_wine(*stacked, 4).out
    assert "k was" not in fit_wine(*stacked, "auto").out


def test_a_tree_has_no_drawing(fit_wine, tmp_path):
    outcome = fit_wine("--model", "tree")
    assert "\nmodel    tree (one tree)\nsize " in outcome.out
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
    assert "\nmodel     hierarchy (trees that are wired by hand)\n" in outcome.out
    assert "\ntrees     3 trees, 3 levels" in outcome.out
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
        paper=True,
        max_depth=2,
    )
    assert [model["null_branch"] for model in models] == ["uniform"] * 3
    assert [model["max_depth"] for model in models] == [2] * 3
    assert models[2]["top"] == "merge"


def test_the_flags_are_read(fit_wine):
    flags = ("--clusters", 3, "--level-gap", 2.0, "--top", "merge", "--bias-corrected")
    merged = fit_wine(*flags, "--json").document
    assert merged["given_clusters"] == 3
    assert [part["kind"] for part in merged["hierarchy"]["parts"]] == ["tree"]
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
        (
            ("--model", "tree", "--words", "supervised"),
            "--words is for --model solah, not for tree",
        ),
        (("--model", "tree", "--max-rules", "auto"), "--max-rules auto is for --model solah"),
        (("--time-budget", 3), "--time-budget is for --model genetic, not for solah"),
        (
            ("--words", "supervised", "--max-depth", 2),
            "--max-depth makes --model solah stack trees",
        ),
        (("--interactions", 0, "--paper"), "--paper makes --model solah stack trees"),
        (("--max-attributes", 3, "--fusion", "tree"), "--fusion tree makes --model solah stack"),
        (("--max-rules", "auto", "--top", "merge"), "--top makes --model solah stack trees"),
        (("--fusion", "add", "--labels", 3), "--labels is for trees, and --fusion add has none"),
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
        (("--clusters", 0), "'feature_groups'"),
        (("--max-rules", "most"), "'most' is neither a whole number nor 'auto' nor 'all'"),
        (("--max-rules", 0), "'max_rules'"),
        (("--max-attributes", 0), "--max-attributes"),
        (("--words", "long"), "--words"),
        (("--interactions", "ash"), "nor pairs of columns such as a:b,c:d"),
        (("--interactions", "ash:hu"), "did you mean 'hue'?"),
        (("--interactions", "ash:ash"), "pairs of different columns"),
        (("--attribute-cost", "ash"), "is not of the form column=cost"),
        (("--attribute-cost", "ash=0"), "must be a number above 0"),
        (("--attribute-cost", "as=2"), "did you mean 'ash'?"),
        (("--monotonic", "ash"), "is not of the form column=1, column=-1"),
        (("--monotonic", "ash=2"), "is not of the form column=1, column=-1"),
        (("--monotonic", "ash=1"), "must say for which class, as there are 3"),
        (("--monotonic", "as=1@class_0"), "did you mean 'ash'?"),
        (("--monotonic", "ash=1,hue=-1,ash=1"), "names the column 'ash' twice"),
        (("--monotonic", "ash=1,hue"), "is not of the form column=1, column=-1"),
        (("--monotonic", "ash=1@class_9"), "names the class 'class_9'"),
        (("--monotonic", "ash=1@a", "--monotonic", "hue=1"), "for each column, or for none"),
        (("--monotonic", "ash=1", "--monotonic", "ash=-1"), "names the column 'ash' twice"),
        (("--monotonic", "ash=1", "--fusion", "tree"), "--monotonic is for rules that add up"),
        (("--required", "as"), "did you mean 'ash'?"),
        (("--required", "ash,hue", "--max-attributes", 1), "'max_features' allows 1"),
        (("--interaction-set", "ash,hu"), "did you mean 'hue'?"),
        (("--words-of", "ash"), "is not of the form column=word,word"),
        (("--words-of", "ash=low:1,high"), "is not of the form column=word,word"),
        (("--words-of", "ash=low:x,high:2"), "is not of the form column=word,word"),
        (("--words-of", "as=low,high"), "did you mean 'ash'?"),
        (("--words-of", "ash=low,high", "--words", "supervised"), "leave out --words"),
        (("--group", "ash,hue"), "is not of the form name=column,column"),
        (("--group", "a=ash", "--group", "a=hue"), "names the group 'a' twice"),
        (("--group", "a=ash,hu"), "did you mean 'hue'?"),
        (("--fusion", "weigh"), "--fusion"),
        (("--labels", "auto"), "--labels"),
        (("--level-gap", 0), "'level_gap'"),
        (("--level-gap", "nan"), "'level_gap'"),
        (("--top", "x"), "--top"),
        (("--node", "x"), "--node"),
        (("--node", "cmac", "--clusters", 1), "a CMAC"),
    ],
)
def test_values_that_are_none(fit_wine, options, message):
    fit_wine(*options).check_error(message)


def test_a_number_takes_rules_that_add_up_or_a_tree(run, numbers, tmp_path):
    common = ("fit", numbers, "-t", "y", "-o", tmp_path / "m.json")
    said = run(*common).out
    assert "\nmodel         solah (rules that add up)\n" in said
    assert "\nunseen rows   R² 0.9" in said
    assert "model  solah (rules that add up)" in run("evaluate", *common[1:4], "--folds", 2).out
    document = run(*common, "--model", "tree", "--json").document
    assert (document["kind"], document["hierarchy"]["levels"]) == ("tree", 2)


@pytest.mark.parametrize("options", [("--labels", 4), ("--paper",), ("--max-depth", 1)])
def test_a_number_takes_a_tree_where_options_of_trees_are_given(run, numbers, tmp_path, options):
    common = ("fit", numbers, "-t", "y", "-o", tmp_path / "m.json", *options)
    assert run(*common, "--json").document["kind"] == "tree"
    run(*common, "--model", "solah").check_error(
        f"{options[0]} is for trees; numbers have one with --model tree"
    )


@pytest.mark.parametrize(
    "options",
    [("--model", "genetic"), ("--hierarchy", "z <- x"), ("--fusion", "add"), ("--screen", 2)],
)
def test_a_number_has_no_hierarchy(run, numbers, options):
    for verb in ("fit", "evaluate"):
        run(verb, numbers, "-t", "y", *options).check_error(
            options[0], "is for classes, and the target is taken as a number"
        )


def test_leaves_and_shrinkage_reach_the_trees():
    (found,) = parameters("tree", leaves="refitted", shrinkage=2.0)
    assert (found["leaves"], found["shrinkage"]) == ("refitted", 2.0)


@pytest.mark.parametrize("option", [("--leaves", "refitted"), ("--shrinkage", 2)])
def test_leaves_are_for_classes(run, numbers, option):
    run("fit", numbers, "-t", "y", *option).check_error(f"{option[0]} is for classes")


def test_cross_fitting_reaches_every_kind_of_hierarchy():
    for found in parameters("solah", "genetic", cross_fit=4):
        assert found["cross_fit"] == 4


def test_words_of_belief_reach_every_kind_of_hierarchy():
    for found in parameters("solah", "genetic", belief_labels=3):
        assert found["belief_words"] == 3


def test_options_of_rules_that_add_up_reach_the_estimator():
    (found,) = parameters(
        words="supervised",
        interactions=[("ash", "hue")],
        max_rules="all",
        max_attributes=4,
        attribute_cost=["ash=2", "hue=0.5"],
        clusters="each",
        group=["look=hue, color_intensity", "x=ash"],
        class_weight="balanced",
        threshold=["class_0=0.4"],
    )
    assert (found["words"], found["interactions"]) == ("supervised", [("ash", "hue")])
    assert (found["max_rules"], found["max_features"]) == (None, 4)
    assert found["feature_costs"] == {"ash": 2.0, "hue": 0.5}
    assert found["feature_groups"] == {"look": ["hue", "color_intensity"], "x": ["ash"]}
    assert (found["class_weight"], found["thresholds"]) == ("balanced", {"class_0": 0.4})


def test_groups_are_found_as_the_model_finds_them():
    assert parameters(clusters="each")[0]["feature_groups"] is None
    assert parameters(clusters=4)[0]["feature_groups"] == 4
    assert parameters(clusters="each", fusion="tree")[0]["n_clusters"] == "each"
    (found,) = parameters(group=["look=hue, ash"], screen=6.0)
    assert (found["clusters"], found["screen"]) == ([["hue", "ash"]], 6)


def test_zero_is_an_option_like_others():
    assert parameters(interactions=0)[0]["interactions"] == 0
    assert parameters("tree", shrinkage=0.0, rule_cost=0.0)[0]["rule_cost"] == 0.0


@pytest.mark.parametrize(
    "option",
    [
        *({"labels": 4}, {"placement": "uniform"}, {"max_depth": 2}, {"level_gap": "auto"}),
        *({"cross_fit": 3}, {"paper": True}, {"fusion": "tree"}, {"bias_corrected": True}),
    ],
)
def test_options_of_trees_stack_them(option):
    (found,) = parameters("solah", max_rules=7, **option)
    assert found["max_rules"] == 7
    assert found["tree"].max_rules == 7


def test_options_of_trees_are_for_the_others_where_rules_are_to_add_up():
    tree, organised = parameters("tree", "solah", fusion="add", max_depth=2, words="quantile")
    assert tree["max_depth"] == 2
    assert organised["words"] == "quantile"
    assert "tree" not in organised


def test_rules_that_add_up_are_as_few_as_asked_for(fit_wine, tmp_path):
    flags = ("--max-rules", 9, "--max-attributes", 3, "--words", "quantile", "--json")
    document = fit_wine(*flags, "--attribute-cost", "proline=50").document
    model = solah.load_model(tmp_path / "m.json").model_
    assert document["rules"] <= 9
    assert len(model.attributes) <= 3
    assert "proline" in document["left_out"]
    grouped = fit_wine("--group", "look=hue,color_intensity", "--max-rules", "all", "--json")
    assert "look" in grouped.document["hierarchy"]["structure"]


def test_what_an_expert_knows_is_kept(fit_wine, tmp_path):
    fit_wine(
        *("--max-rules", 20, "--required", "ash,hue", "--monotonic", "hue=-1@class_2"),
        *("--interaction-set", "ash,hue", "--words-of", "hue=pale:0.7,deep:1.2"),
        *("--words-of", "ash=low,high"),
    )
    model = solah.load_model(tmp_path / "m.json").model_
    attributes = {attribute.name: attribute for attribute in model.attributes}
    assert attributes["hue"].words == ("pale", "deep")
    assert attributes["hue"].peaks == (0.7, 1.2)
    assert attributes["ash"].words == ("low", "high")
    (promise,) = model.monotonic
    assert (promise.attribute, promise.direction, promise.state) == ("hue", -1, 2)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a=-1@x,b=-1@x"], {"x": {"a": -1, "b": -1}}),
        (["a=-1@x, b=+1@y", "c=1@x"], {"x": {"a": -1, "c": 1}, "y": {"b": 1}}),
        (["a=1,b=-1,c=1"], {"a": 1, "b": -1, "c": 1}),
        (["height, cm=1"], {"height, cm": 1}),
        (["a=1@x, y,b=-1@z"], {"x, y": {"a": 1}, "z": {"b": -1}}),
        (["p=1 share=-1"], {"p=1 share": -1}),
    ],
)
def test_several_directions_may_be_given_at_once(given, expected):
    assert ModelOptions(monotonic=given).given()["monotonic"] == expected


def test_a_column_that_numbers_the_rows_is_left_out(run, fruits, tmp_path):
    common = (fruits, "-t", "geschmack 👅")
    fit = ("fit", *common, "-o", tmp_path / "m.json")
    outcome = run(*fit)
    assert "id: numbers the rows; to learn from it: --continuous id\n" in outcome.out
    assert outcome.err == ""
    assert run(*fit, "--json").document["identifiers"] == ["id"]
    assert run("evaluate", *common, "--folds", 2, "--json").document["identifiers"] == ["id"]
    kept = run(*fit, "--continuous", "id", "--json").document
    assert kept["identifiers"] == []
    assert "id" in kept["kinds"]
