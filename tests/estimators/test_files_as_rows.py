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


def test_one_file_is_read(tree, number_tree, rows, files):
    X = rows[["size", "colour"]]
    accuracy = tree.score(X, rows["class"])
    of_frame = LinguisticTreeRegressor().fit(rows.drop(columns="price"), rows["price"])
    for name in ("rows.csv", "rows.csv.gz", "rows.tsv", "rows.parquet", "rows.arff"):
        path = files / name
        np.testing.assert_array_equal(tree.predict(path), tree.predict(X))
        np.testing.assert_array_equal(tree.predict_proba(str(path)), tree.predict_proba(X))
        assert tree.score(path, "class") == pytest.approx(accuracy)
        assert tree.score(path, rows["class"]) == pytest.approx(accuracy)
        np.testing.assert_array_equal(number_tree.predict(path), number_tree.predict(X))
        fitted = LinguisticTreeRegressor().fit(path, "price")
        assert fitted.feature_names_in_.tolist() == ["size", "colour", "class"]
        assert fitted.model_.target.name == "price"
        assert fitted.score(path, "price") == of_frame.score(
            rows.drop(columns="price"), rows["price"]
        )


def test_more_is_done_with_a_file(tree, rows, files, tmp_path):
    X, path = rows[["size", "colour"]], files / "rows.csv"
    tree.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(path), tree.predict(X))
    assert str(loaded.explain(path, fixed=["price"])[0]) == str(tree.explain(path)[0])
    assert len(tree.semantics(path)) == len(rows)
    of_file = LinguisticHierarchyClassifier().fit(X, rows["class"]).partial_fit(path, "class")
    of_frame = LinguisticHierarchyClassifier().fit(X, rows["class"]).partial_fit(X, rows["class"])
    assert of_file.model_ == of_frame.model_
    named = LinguisticHierarchyClassifier().partial_fit(path, "class", classes=["no", "yes"])
    assert named.classes_.tolist() == ["no", "yes"]
    with pytest.raises(
        DataError, match="'classes' has 'maybe', but no row of the first call has it"
    ):
        LinguisticHierarchyClassifier().partial_fit(path, "class", classes=["maybe", "no", "yes"])


def test_weights_are_a_column_of_the_file(files, rows, tmp_path):
    weighed = rows[["size", "price"]].assign(weight=np.arange(80) % 3)
    weighed.to_csv(tmp_path / "w.csv", index=False)
    of_file = LinguisticTreeRegressor().fit(tmp_path / "w.csv", "price", sample_weight="weight")
    weights = weighed["weight"]
    of_frame = LinguisticTreeRegressor().fit(weighed[["size"]], weighed["price"], weights)
    assert of_file.model_ == of_frame.model_
    tree = LinguisticTreeClassifier().fit(rows[["size"]], rows["class"])
    with pytest.raises(ParameterError, match="'sample_weight' requires rows in memory"):
        tree.score(files / "rows.csv", "class", sample_weight=np.ones(80))


def test_other_rows_are_refused_in_one_sentence(tree, rows, files, tmp_path):
    X, path = rows[["size", "colour"]], files / "rows.csv"
    (tmp_path / "thin.csv").write_text("size\n1.5\n")
    passed = scan(path)
    for wrong, message in (
        (files / "*.csv", r"is a pattern of files, and .* give its files one by one"),
        (str(files), r"is a folder, and .* or use 'solah predict' for each"),
        ([path, path], "one array, frame or file at a time"),
        (passed, "at a time"),
        ([X, X], "at a time"),
        (iter([X]), "at a time"),
        (tmp_path / "rows.csv", "rows.csv does not exist"),
        (tmp_path / "thin.csv", "no column 'colour'"),
    ):
        for decide in (tree.predict, tree.predict_proba):
            with pytest.raises(DataError, match=message):
                decide(wrong)


def test_a_regressor_refuses_other_rows_and_targets(files, rows):
    path = files / "rows.csv"
    for X, y, weight, error, message in (
        ([rows, rows], "price", None, DataError, "regressors require rows in memory"),
        (files, "price", None, DataError, "is a folder"),
        (path, rows["price"], None, ParameterError, "y must be the name of a column .* Got Series"),
        (path, "prise", None, ColumnError, "did you mean 'price'"),
        (path, "price", "sise", ColumnError, "did you mean 'size'"),
        (path, "class", None, DataError, "'class' has values that are not numbers; use a classif"),
    ):
        with pytest.raises(error, match=message):
            LinguisticTreeRegressor().fit(X, y, sample_weight=weight)
