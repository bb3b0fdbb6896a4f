"""The package as a whole: its public names, its cost to import, its rooms."""

import json
import subprocess
import sys

import solah
from solah.data import MAX_CATEGORIES
from solah.kernels.arrays import MAX_FOCAL_SETS

PUBLIC = [
    "PAPER",
    "GeneticHierarchyClassifier",
    "Hierarchy",
    "LinguisticHierarchyClassifier",
    "LinguisticLabeller",
    "LinguisticTreeClassifier",
    "LinguisticTreeRegressor",
    "SelfOrganisedHierarchyClassifier",
    "UnseenStateWarning",
    "datasets",
    "distance_correlation",
    "distance_correlation_matrix",
    "load_model",
    "scan",
]


def test_the_public_names_are_these():
    assert solah.__all__ == PUBLIC
    assert all(getattr(solah, name) is not None for name in PUBLIC)
    assert set(PUBLIC) <= set(dir(solah))


def test_a_label_can_number_every_category():
    assert MAX_CATEGORIES == MAX_FOCAL_SETS


def test_a_name_that_is_not_there_is_an_ordinary_error():
    assert not hasattr(solah, "LinguisticForest")


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
