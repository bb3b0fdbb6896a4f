"""Verbs with many options: a short help page, a whole one, and settings from a file."""

import pytest
from typer.main import get_command

import solah
from solah.cli.main import app

VERBS = ["fit", "evaluate"]


def options_of(verb):
    """Return the names of a verb's options, as they are typed."""
    parameters = get_command(app).commands[verb].params
    return [name for one in parameters for name in (*one.opts, *one.secondary_opts) if "-" in name]


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_on_one_screen_and_says_where_the_rest_is(run, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "100")
    page = run(verb, "--help").out
    lines = page.splitlines()
    assert len(lines) <= 42
    assert max(map(len, lines)) <= 100
    assert "--help-all shows all options" in lines
    for option in ("--target", "--model", "--max-rules", "--settings", "--json"):
        assert f" {option} " in page
    assert "--purity" not in page


@pytest.mark.parametrize("verb", VERBS)
def test_help_all_has_every_option(run, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = run(verb, "--help-all")
    assert (outcome.code, outcome.err) == (0, "")
    words = outcome.out.replace(",", " ").split()
    assert [name for name in options_of(verb) if name not in words] == []
    assert {"--purity", "--no-header", "--help", "--help-all"} <= set(words)
    assert "Results do not depend on it." in " ".join(outcome.out.split())


@pytest.mark.parametrize("verb", sorted(get_command(app).commands))
def test_every_help_page_fits_on_a_screen_and_ends_with_an_example(run, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "100")
    page = run(verb, "--help").out
    assert len(page.splitlines()) <= 50
    *_, last = page.rstrip().split("\n\n")
    assert f"solah {verb}" in last
    assert "Example: " in page


def test_how_files_are_read_is_told_by_the_whole_page(run):
    page, whole = run("predict", "--help").out, run("predict", "--help-all").out
    assert "--keep" in page
    assert "--decimal" not in page
    assert "--decimal" in whole
    assert whole.rstrip().endswith("-o decisions.csv")


@pytest.fixture
def settings(tmp_path):
    """Return a function that writes a file of settings."""

    def make(text):
        path = tmp_path / "settings.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def fit(run, fruits, tmp_path, *options):
    return run("fit", fruits, "-o", tmp_path / "m.json", "--json", *options)


ALL_SORTS = """
target = "geschmack 👅"
drop = ["id"]
model = "tree"
max-depth = 1
min_support = 0.02
class-weight = "balanced"
threshold = "süß=0.25"
continuous = ["kerne"]
header = true
paper = false
"""


def test_settings_are_options(run, fruits, tmp_path, settings):
    by_file = fit(run, fruits, tmp_path, "--settings", settings(ALL_SORTS))
    assert by_file.code == 0, by_file.err
    written = (tmp_path / "m.json").read_bytes()
    by_hand = fit(
        *(run, fruits, tmp_path, "-t", "geschmack 👅", "--drop", "id", "--model", "tree"),
        *("--max-depth", 1, "--min-support", 0.02, "--class-weight", "balanced"),
        *("--threshold", "süß=0.25", "--continuous", "kerne", "--header"),
    )
    assert by_hand.code == 0, by_hand.err
    assert (tmp_path / "m.json").read_bytes() == written
    assert solah.load_model(tmp_path / "m.json").model_.goal.thresholds == (0.75, 0.25)


def test_the_command_line_wins(run, fruits, tmp_path, settings):
    path = settings("max-depth = 1\nmodel = 'tree'\nlabels = 3")
    common = ("fit", "iris", "--settings", path, "-o", tmp_path / "m.json", "--json")
    assert run(*common).document["depth"] == 1
    assert run(*common, "--max-depth", 2).document["depth"] == 2
    options = ("--drop", "kerne", "--continuous", "id")
    kinds = fit(run, fruits, tmp_path, *options, "--settings", settings(ALL_SORTS)).document[
        "kinds"
    ]
    assert set(kinds) == {"id", "größe cm", "色"}
    assert kinds["id"] == "continuous"


def test_settings_of_rules_that_add_up(run, tmp_path, settings):
    path = settings(
        'words = "supervised"\ninteractions = 0\nmax-rules = 6\nmax-attributes = 3\n'
        'attribute-cost = ["ash=3", "hue=2"]\ngroup = "taste=alcohol,ash"\n'
    )
    common = ("fit", "wine", "-o", tmp_path / "m.json", "--json")
    by_file = run(*common, "--settings", path)
    assert by_file.code == 0, by_file.err
    written = (tmp_path / "m.json").read_bytes()
    by_hand = run(
        *(*common, "--words", "supervised", "--interactions", 0, "--max-rules", 6),
        *("--max-attributes", 3, "--attribute-cost", "ash=3"),
        *("--attribute-cost", "hue=2", "--group", "taste=alcohol,ash"),
    )
    assert by_hand.code == 0, by_hand.err
    assert (tmp_path / "m.json").read_bytes() == written
    run(*common, "--settings", settings("fusion = 'weigh'")).check_error("--fusion")


def test_evaluate_takes_them_too(run, settings):
    path = settings('model = ["tree", "solah"]\nfolds = 2\nmax-rules = 5\n')
    outcome = run("evaluate", "iris", "--settings", path)
    assert outcome.code == 0, outcome.err
    assert "tree (one tree), solah (rules that add up)" in outcome.out
    assert "2 folds" in outcome.out


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max-dept = 1", ("'solah fit' has no option 'max-dept'", "did you mean 'max-depth'?")),
        ("settings = 'more.toml'", ("has no option 'settings'",)),
        ("data = 'x.csv'", ("has no option 'data'",)),
        ("[trees]\nmax-depth = 1", ("has no option 'trees'",)),
        ("max-depth = 1.5", ("--max-depth", "valid integer")),
        ("max-depth = true", ("'max-depth' is a text or a number. Got True.",)),
        ("max-depth = [1]", ("'max-depth' is a text or a number. Got [1].",)),
        ("max-depth = 1\nmax_depth = 2", ("sets 'max-depth' twice",)),
        ("paper = 'yes'", ("'paper' is true or false. Got 'yes'.",)),
        ("placement = 'even'", ("--placement", "quantile")),
        ("max-depth =", ("settings.toml is not TOML",)),
    ],
)
def test_settings_that_are_refused(run, fruits, tmp_path, settings, text, parts):
    outcome = fit(run, fruits, tmp_path, "-t", "kerne", "--settings", settings(text))
    outcome.check_error(*parts)
    assert not (tmp_path / "m.json").exists()


def test_a_settings_file_is_there_and_is_never_written(run, fruits, tmp_path, settings):
    missing = tmp_path / "no.toml"
    fit(run, fruits, tmp_path, "--settings", missing).check_error("--settings", "no.toml")
    path = settings("target = 'kerne'")
    run("fit", fruits, "--settings", path, "-o", path).check_error("is also read")
    assert path.read_text() == "target = 'kerne'"
