"""The package as a whole: its public names, its cost to import, its rooms."""

import ast
import builtins
import json
import re
import subprocess
import sys
from pathlib import Path

import solah
from solah import exceptions

PUBLIC = [
    "PAPER",
    "FixedRule",
    "GeneticHierarchyClassifier",
    "GeneticSearch",
    "Hierarchy",
    "IdentifierWarning",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "RareCategoriesWarning",
    "RuleClassifier",
    "RuleRegressor",
    "SelfOrganisedHierarchyClassifier",
    "UnseenCategoryWarning",
    "datasets",
    "diff",
    "distance_correlation",
    "distance_correlation_matrix",
    "load_model",
    "scan",
]


def test_the_public_names_are_these():
    assert solah.__all__ == PUBLIC
    assert all(getattr(solah, name) is not None for name in PUBLIC)
    assert set(PUBLIC) <= set(dir(solah))


def run(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def test_importing_solah_imports_neither_scikit_learn_nor_numpy():
    loaded = run("import solah, sys, json; print(json.dumps(sorted(sys.modules)))")
    assert not {"sklearn", "scipy", "numpy", "pandas", "polars"} & set(loaded)


def test_a_saved_model_predicts_without_scikit_learn(tmp_path):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    tree = solah.LinguisticTreeClassifier().fit(X, y)
    tree.save(tmp_path / "iris.json")
    code = (
        "import json, sys, solah\n"
        f"model = solah.load_model({str(tmp_path / 'iris.json')!r})\n"
        f"beliefs = model.predict_proba({X[:5].tolist()!r})\n"
        "heavy = [name for name in ('sklearn', 'scipy', 'joblib') if name in sys.modules]\n"
        "print(json.dumps([heavy, beliefs.tolist()]))"
    )
    heavy, beliefs = run(code)
    assert heavy == []
    assert beliefs == tree.predict_proba(X[:5]).tolist()


SOURCES = sorted(Path(solah.__file__).parent.rglob("*.py"))
DRAWN = re.compile(r"^(?P<stem>[│ ]*[├└]── |)(?P<name>\w+Error)(?: \((?P<built_in>\w+)\))?(?: |$)")


def drawn():
    """Read the tree of exceptions from its drawing: each with its bases."""
    bases, line_of = {}, {}
    for line in exceptions.__doc__.splitlines():
        if found := DRAWN.match(line.removeprefix("    ")):
            depth = len(found["stem"]) // 4
            line_of[depth] = found["name"]
            above = line_of[depth - 1] if depth else "Exception"
            bases[found["name"]] = {above, found["built_in"]} - {None}
    return bases


def test_all_exceptions_are_drawn_where_they_are_looked_for():
    there = {
        node.name: {base.id for base in node.bases}
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Error") and node.name[0] != "_"
    }
    assert drawn() == there
    built_in = {base for bases in there.values() for base in bases} - set(there)
    assert all(issubclass(getattr(builtins, name), Exception) for name in built_in)


def test_private_names_of_scikit_learn_stand_in_one_file():
    private = re.compile(r"sklearn[\w.]*\._\w|from sklearn[\w.]* import [^\n]*\b_\w")
    found = [path.name for path in SOURCES if private.search(path.read_text(encoding="utf-8"))]
    assert found == ["sklearn_private.py"]


def test_type_checkers_know_every_public_name():
    tree = ast.parse(Path(solah.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    known = {
        alias.name
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert known == set(PUBLIC)
