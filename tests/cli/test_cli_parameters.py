"""``--model`` and ``--set``: every parameter of an estimator, read and refused."""

import pytest
from cli_wiring import WINE_HIERARCHY, WINE_STRUCTURE

import solah
from solah.cli.options import ColumnOptions
from solah.cli.parameters import ModelOptions, make_models
from solah.cli.problem import pose, read_source
from solah.data import ReadOptions
from solah.exceptions import ParameterError


@pytest.fixture
def fit_wine(run, tmp_path):
    """Return a function that fits the wine data with options."""
    return lambda *options: run("fit", "wine", "-o", tmp_path / "m.json", *options)


@pytest.fixture(scope="module")
def wine():
    return pose(read_source("wine", ReadOptions()), ColumnOptions())


def made(problem, *models, **options):
    chosen = ModelOptions(model=[*models], **options)
    return [*make_models(chosen, problem.task, problem.kinds, problem.names).values()]


def test_values_are_json_in_which_words_need_no_quotes(wine):
    for text, expected in {
        "interactions=0": 0,
        "max_rules=null": None,
        "max_rules=None": None,
        "words=supervised": "supervised",
        "words={ash: [low, very high], hue: {pale: 0.5, 'deep': 1.5}}".replace("'", '"'): {
            "ash": ["low", "very high"],
            "hue": {"pale": 0.5, "deep": 1.5},
        },
        "monotonic_cst={class_0: {ash: 1}}": {"class_0": {"ash": 1}},
        "interactions=[[ash, hue]]": [["ash", "hue"]],
        "required_features=ash, hue": ["ash", "hue"],
        "required_features=ash": ["ash"],
        "thresholds={1: 0.2}": {"1": 0.2},
        "verbose=true": True,
    }.items():
        (model,) = made(wine, "rules", set=[text])
        assert getattr(model, text.partition("=")[0]) == expected, text


def test_parameters_of_parts_are_nested_or_flat(wine):
    flat, nested = (
        made(wine, "organised", set=[name])[0] for name in ("max_depth=2", "tree__max_depth=2")
    )
    assert flat.tree.max_depth == nested.tree.max_depth == 2
    (search,) = made(wine, "genetic", set=["search__population_size=3", "cascade=true"])
    assert (search.search.population_size, search.search.cascade) == (3, True)


def test_the_paper_holds_for_all_trees_and_settings_win(wine):
    tree, organised, rules = made(
        wine, "tree", "organised", "rules", set=["@paper", "max_depth=2", "top=merge"]
    )
    assert tree.null_branch == organised.tree.null_branch == "uniform"
    assert tree.max_depth == organised.tree.max_depth == 2
    assert organised.top == "merge"
    assert not hasattr(rules, "null_branch")


def test_a_file_of_settings(wine, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("max_rules = 12\ninteractions = 0\n[feature_costs]\nash = 3\n")
    (model,) = made(wine, "rules", set=[f"@{path}"])
    assert (model.max_rules, model.interactions, model.feature_costs) == (12, 0, {"ash": 3})
    with pytest.raises(ParameterError, match="'max_rules' is set twice"):
        made(wine, "rules", set=[f"@{path}"], max_rules=3)
    path.write_text("max_rules =")
    with pytest.raises(ParameterError, match="is not TOML"):
        made(wine, "rules", set=[f"@{path}"])


def test_what_cannot_be_set(wine):
    for models, text, message in (
        (["rules"], "max_rulez=3", "'max_rulez' is not a parameter of RuleClassifier; did you mea"),
        (["tree"], "interactions=0", "not a parameter of LinguisticTreeClassifier"),
        (["organised"], "tree__depth=1", "'tree__depth' is not a parameter of SelfOrganised"),
        (["rules"], "interactions", "not of the form name=value"),
        (["rules"], "words={ash", "invalid JSON"),
        (["hierarchy"], "max_depth=2", "requires --set hierarchy="),
    ):
        with pytest.raises(ParameterError, match=message):
            made(wine, *models, set=[text])
    with pytest.raises(ParameterError, match="gives 'interactions' twice"):
        made(wine, "rules", set=["interactions=0", "interactions=1"])


def test_estimators_check_their_values(fit_wine, tmp_path):
    for options, message in (
        (("--model", "forest"), "--model"),
        (("--max-rules", "most"), "'most' is neither a whole number nor 'auto' nor 'all'"),
        (("--max-rules", 0), "'max_rules'"),
        (("--set", "words=long"), "'words'"),
        (("--set", "interactions=[[ash, hu]]"), "did you mean 'hue'?"),
        (("--set", "feature_costs={ash: 0}"), "must be a number above 0"),
        (("--set", "monotonic_cst={ash: 1}"), "must name classes, as there are 3"),
        (("--set", "required_features=as"), "did you mean 'ash'?"),
        (("--set", "hierarchy=y <- alcool"), "did you mean 'alcohol'?"),
        (("--set", "hierarchy=a <- b; b <- a"), "a"),
        (("--set", "hierarchy=alcohol, ash"), "expected '<-'"),
        (("--model", "rules,tree"), "one model is trained, not 2"),
    ):
        fit_wine(*options).check_error(message)
    assert not (tmp_path / "m.json").exists()


def test_help_lists_the_parameters_with_their_defaults(run):
    listed = run("fit", "--set", "help").out
    assert "Parameters of RuleClassifier" in listed
    assert "  max_rules (default: auto)\n      " in listed
    assert "n_jobs" not in listed
    trees = run("fit", "--set", "help", "--model", "organised").out
    assert "  tree__max_depth (default: None)\n      " in trees
    assert ":class:" not in trees
    streams = run("follow", "--set", "help").out
    assert "Parameters of RuleClassifier" in streams
    assert "  min_rows (default: 200)\n      " in streams


def test_a_hierarchy_from_a_file_or_text(fit_wine, write):
    lines = ["[hierarchy]", *(f"{name} = {inputs}" for name, inputs in WINE_STRUCTURE.items())]
    for given in (f"@{write('wiring.toml', *lines)}", f"hierarchy={WINE_HIERARCHY}"):
        document = fit_wine("--set", given, "--json").document
        assert document["kind"] == "hierarchy"
        assert document["hierarchy"]["structure"] == WINE_STRUCTURE


def test_a_number_takes_rules_or_a_tree(run, write, tmp_path):
    numbers = write("t.csv", "x,y", *(f"{i},{i / 2}" for i in range(40)))
    common = ("fit", numbers, "-t", "y", "-o", tmp_path / "m.json")
    assert "rules (additive model)" in run(*common).out
    assert "tree (one linguistic tree)" in run(*common, "--set", "@paper").out
    run(*common, "--model", "organised").check_error("is for classes")
    run(*common, "--set", "class_weight=balanced").check_error("'class_weight' is not a parameter")


QUICK = ("--model", "genetic", "--set", "population_size=3", "--set", "n_generations=1")


def test_a_search_writes_the_best_hierarchy(run, write, tmp_path):
    common = ("fit", "iris", "-o", tmp_path / "m.json", *QUICK)
    outcome = run(*common)
    assert " hierarchies in 1 generation, best AUC 0.9" in outcome.out
    few = write("t.csv", "a,b,y", "1,2,n", "3,4,p")
    search = run("fit", few, "-t", "y", "-o", tmp_path / "m.json", *QUICK, "--json").document
    assert search["search"]["stopped_by"] == "too few rows"


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
    assert solah.load_model(tmp_path / "m.json").model_.trees
