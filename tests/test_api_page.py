"""The page of the API: everything that it names is there, under the name it gives."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import solah
from solah.model.predictor import Predictor

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
DOTTED = re.compile(r"solah(\.\w+)+")
NAME = re.compile(r"(Hierarchy)?\.?(?P<name>[a-z]\w*(?=\()|[a-z]\w*_$|(?<=\.)\w+$)")
CALLED = re.compile(r"(?P<name>[\w.]+)(\(.*?\)(\.(?P<method>\w+)\(.*)?)?$")


def spans(text):
    """List what stands in code letters, each on one line."""
    return [" ".join(found.split()) for found in SPAN.findall(text)]


def section(title):
    """Return the text under a heading."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PROSE, re.MULTILINE | re.DOTALL)[1]


def resolve(dotted):
    """Return what a dotted name stands for: a module, or what is in one."""
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        above, _, name = dotted.rpartition(".")
        return getattr(resolve(above), name)


def test_every_name_of_the_table_is_imported_from_solah():
    names = re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", PROSE.partition("\n## ")[0], re.MULTILINE)
    assert len(names) > 10
    missing = [name for name in names if name not in solah.__all__ or not hasattr(solah, name)]
    assert missing == []


def test_the_table_has_every_public_name():
    table = PROSE.partition("\n## ")[0]
    known = {re.match(r"\w+", span)[0] for span in spans(table)}
    assert set(solah.__all__) - known == set()


@pytest.mark.parametrize("dotted", sorted({m[0] for s in spans(PROSE) if (m := DOTTED.match(s))}))
def test_every_dotted_name_is_imported(dotted):
    assert resolve(dotted) is not None


BULLETS = [
    (spans(bullet)[0], span)
    for bullet in re.split(
        r"^- ", section("Explanations, reports and pictures"), flags=re.MULTILINE
    )
    for span in spans(bullet)[1:]
    if not span.startswith(("solah.", "pip "))
]


@pytest.mark.parametrize(("module", "span"), BULLETS)
def test_every_name_is_in_the_module_that_its_line_begins_with(module, span):
    found = CALLED.match(span)
    named = resolve(f"{module}.{found['name']}")
    if found["method"]:
        assert hasattr(named, found["method"])


CONSTRUCTORS = {
    span
    for span in spans(PROSE)
    if re.match(r"(Linguistic|Rule|SelfOrganised|Genetic)\w+(er|or)\(|scan\(", span) and "=" in span
}


@pytest.mark.parametrize("span", sorted(CONSTRUCTORS))
def test_every_parameter_is_one(span):
    name, _, parameters = span.rstrip(")").partition("(")
    known = inspect.signature(getattr(solah, name)).parameters
    given = re.findall(r"(\w+)(?:=([^,]+))?(?:, |$)", parameters)
    assert [one for one, _ in given if one not in known] == []
    for one, default in given:
        if re.match(r"[\d\"]|None|True|False", default):
            assert known[one].default == ast.literal_eval(default)


@pytest.fixture(scope="module")
def fitted():
    """Return one of each class that the page describes, fitted, by the title of its section."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    trees = [solah.LinguisticTreeClassifier().fit(X, y), solah.LinguisticTreeRegressor().fit(X, y)]
    hierarchies = [
        solah.LinguisticHierarchyClassifier().fit(X, y),
        solah.SelfOrganisedHierarchyClassifier().fit(X, y),
        solah.GeneticHierarchyClassifier(solah.GeneticSearch(4, n_generations=1)).fit(X, y),
        solah.Hierarchy.parse("z <- a; y <- z, b"),
    ]
    return {
        "The labeller": [solah.LinguisticLabeller().fit(X)],
        "The trees": trees,
        "The rules": [solah.RuleClassifier().fit(X, y)],
        "The hierarchies": hierarchies,
        "A loaded model": [Predictor(trees[0].model_)],
    }


@pytest.mark.parametrize(
    "title", ["The labeller", "The trees", "The rules", "The hierarchies", "A loaded model"]
)
def test_every_method_and_fitted_feature_is_there(fitted, title):
    named = (NAME.match(span) for span in spans(section(title)))
    names = {found["name"] for found in named if found} - {"load_model"}
    assert len(names) >= 4
    there = fitted[title]
    assert {name for name in names if not any(hasattr(one, name) for one in there)} == set()
