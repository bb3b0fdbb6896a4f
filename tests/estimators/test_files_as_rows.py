"""Paths in the place of X: one file is read, several are refused in one sentence."""

import numpy as np
import pandas as pd
import pytest

from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    load_model,
    scan,
)
from solah.exceptions import ColumnError, DataError, ParameterError

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"size": rng.normal(size=80), "colour": rng.choice(["red", "blue"], 80)})
    frame["class"] = np.where((frame["size"] > 0) ^ (frame["colour"] == "red"), "yes", "no")
    frame["price"] = frame["size"] * 3 + 1
    return frame


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    """Return the same rows in every format, all in one folder."""
    folder = tmp_path_factory.mktemp("rows")
    rows.to_csv(folder / "rows.csv", index=False)
    rows.to_csv(folder / "rows.csv.gz", index=False)
    rows.to_csv(folder / "rows.tsv", index=False, sep="\t")
    rows.to_parquet(folder / "rows.parquet")
    head = "@relation r\n@attribute size numeric\n@attribute colour {red,blue}\n"
    head += "@attribute class {yes,no}\n@attribute price numeric\n@data\n"
    (folder / "rows.arff").write_text(head + rows.to_csv(index=False, header=False))
    return folder


@pytest.fixture(scope="module")
def tree(rows):
    return LinguisticTreeClassifier().fit(rows[["size", "colour"]], rows["class"])


@pytest.fixture(scope="module")
def number_tree(rows):
    return LinguisticTreeRegressor().fit(rows[["size", "colour"]], rows["price"])


FORMATS = ["rows.csv", "rows.csv.gz", "rows.tsv", "rows.parquet", "rows.arff"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_classifier_reads_one_file(tree, rows, files, name):
    X, path = rows[["size", "colour"]], files / name
    np.testing.assert_array_equal(tree.predict(path), tree.predict(X))
    np.testing.assert_array_equal(tree.predict_proba(str(path)), tree.predict_proba(X))
    accuracy = tree.score(X, rows["class"])
    assert tree.score(path, "class") == pytest.approx(accuracy)
    assert tree.score(path, rows["class"]) == pytest.approx(accuracy)
    assert len(tree.explain(path)) == len(tree.semantics(path)) == len(rows)


@pytest.mark.parametrize("name", FORMATS)
def test_a_regressor_reads_one_file(number_tree, rows, files, name):
    X, path = rows[["size", "colour"]], files / name
    np.testing.assert_array_equal(number_tree.predict(path), number_tree.predict(X))
    fitted = LinguisticTreeRegressor().fit(path, "price")
    assert fitted.feature_names_in_.tolist() == ["size", "colour", "class"]
    assert fitted.model_.goal.name == "price"
    assert fitted.score(path, "price") == fitted.score(rows.drop(columns="price"), rows["price"])


def test_a_loaded_model_reads_one_file(tree, rows, files, tmp_path):
    tree.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    path = files / "rows.csv"
    np.testing.assert_array_equal(loaded.predict(path), tree.predict(rows[["size", "colour"]]))
    assert str(loaded.explain(path, fixed=["price"])[0]) == str(tree.explain(path)[0])


def test_a_hierarchy_learns_more_from_a_file(rows, files):
    X, path = rows[["size", "colour"]], files / "rows.csv"
    of_file = LinguisticHierarchyClassifier().fit(X, rows["class"]).partial_fit(path, "class")
    of_frame = LinguisticHierarchyClassifier().fit(X, rows["class"]).partial_fit(X, rows["class"])
    assert of_file.model_ == of_frame.model_


@pytest.mark.parametrize("what", ["predict", "predict_proba"])
def test_several_files_are_refused_in_one_sentence(tree, files, what):
    decide = getattr(tree, what)
    with pytest.raises(DataError, match=r"is a pattern of files, and .* give its files one by one"):
        decide(files / "*.csv")
    with pytest.raises(DataError, match=r"is a folder, and .* or use 'solah predict' for each"):
        decide(str(files))
    with pytest.raises(DataError, match="one array, frame or file at a time"):
        decide([files / "rows.csv", files / "rows.csv"])


def test_what_is_passed_over_is_refused_where_rows_are_read(tree, number_tree, rows, files):
    X = rows[["size", "colour"]]
    with scan(files / "rows.csv") as passed, pytest.raises(DataError, match="at a time"):
        tree.predict(passed)
    for several in ([X, X], iter([X])):
        with pytest.raises(DataError, match="at a time"):
            tree.predict_proba(several)
    with pytest.raises(DataError, match="numbers are learnt from rows in memory"):
        LinguisticTreeRegressor().fit([rows, rows], "price")
    with pytest.raises(DataError, match="is a folder"):
        LinguisticTreeRegressor().fit(files, "price")


def test_the_goal_of_a_file_is_one_of_its_columns(files, rows):
    path = files / "rows.csv"
    with pytest.raises(ParameterError, match="give its name as y. Got Series"):
        LinguisticTreeRegressor().fit(path, rows["price"])
    with pytest.raises(ColumnError, match="did you mean 'price'"):
        LinguisticTreeRegressor().fit(path, "prise")
    with pytest.raises(ColumnError, match="did you mean 'size'"):
        LinguisticTreeRegressor().fit(path, "price", sample_weight="sise")
    with pytest.raises(DataError, match="'class' has values that are not numbers; use a classif"):
        LinguisticTreeRegressor().fit(path, "class")


def test_weights_are_a_column_of_the_file(files, rows, tmp_path):
    weighed = rows[["size", "price"]].assign(weight=np.arange(80) % 3)
    weighed.to_csv(tmp_path / "w.csv", index=False)
    of_file = LinguisticTreeRegressor().fit(tmp_path / "w.csv", "price", sample_weight="weight")
    weights = weighed["weight"]
    of_frame = LinguisticTreeRegressor().fit(weighed[["size"]], weighed["price"], weights)
    assert of_file.model_ == of_frame.model_
    tree = LinguisticTreeClassifier().fit(rows[["size"]], rows["class"])
    with pytest.raises(ParameterError, match="scored without weights"):
        tree.score(files / "rows.csv", "class", sample_weight=np.ones(80))


def test_a_file_that_is_not_there_is_named(tree, tmp_path):
    with pytest.raises(DataError, match="rows.csv is not there"):
        tree.predict(tmp_path / "rows.csv")
    with pytest.raises(DataError, match="no column 'colour'"):
        (tmp_path / "thin.csv").write_text("size\n1.5\n")
        tree.predict(tmp_path / "thin.csv")
