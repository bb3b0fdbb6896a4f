import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine

from solah import LinguisticTreeClassifier, load_model
from solah.data import Column, Table, from_frame, iter_tables
from solah.exceptions import ColumnError, DataError
from solah.runtime import Evaluator


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree(wine):
    return LinguisticTreeClassifier().fit(*wine)


@pytest.fixture(scope="module")
def evaluator(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "wine.json"
    tree.save(path)
    return load_model(path)


@pytest.mark.parametrize(
    "form",
    [lambda X: X, lambda X: X.to_numpy(), lambda X: pl.DataFrame(X.to_dict("list")), from_frame],
    ids=["pandas", "array", "polars", "table"],
)
def test_a_loaded_model_predicts_what_the_estimator_does(evaluator, tree, wine, form):
    X, _ = wine
    np.testing.assert_array_equal(evaluator.predict_proba(form(X)), tree.predict_proba(X))
    np.testing.assert_array_equal(evaluator.predict(form(X)), tree.predict(X))


def test_threads_do_not_change_a_bit(tree, wine):
    X, _ = wine
    np.testing.assert_array_equal(
        Evaluator(tree.model_, n_threads=3).predict_proba(X), tree.predict_proba(X)
    )


def test_columns_are_found_by_name_among_others(evaluator, wine):
    X, _ = wine
    shuffled = X[X.columns[::-1]].assign(bottle="green")
    np.testing.assert_array_equal(evaluator.predict(shuffled), evaluator.predict(X))


def test_a_column_that_is_not_there_is_named(evaluator, wine):
    X, _ = wine
    with pytest.raises(ColumnError, match="no column 'hue'; did you mean 'Hue'"):
        evaluator.predict(X.rename(columns={"hue": "Hue"}))


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [1.0] * 13, np.zeros((1, 2, 3))])
def test_an_array_of_another_shape_is_refused(evaluator, X):
    with pytest.raises(DataError, match="expects 13 columns"):
        evaluator.predict(X)


def test_no_rows_are_no_problem(evaluator, wine):
    X, _ = wine
    assert evaluator.predict_proba(X[:0]).shape == (0, 3)


def test_unknown_readings_fall_back_on_the_marginal(evaluator, wine):
    X, _ = wine
    holed = X.copy()
    holed.iloc[:, :] = np.nan
    beliefs = evaluator.predict_proba(holed)
    assert (beliefs == beliefs[0]).all()
    assert beliefs[0].max() < 0.6


def test_rules_come_from_the_document_alone(evaluator, tree):
    assert list(map(str, evaluator.rules())) == list(map(str, tree.rules_()))


def test_text_from_a_file_is_read_as_the_model_needs_it():
    frame = pd.DataFrame({"size": [1.5, 2.5, 9.5, 8.5], "on": ["yes", "no", "no", "yes"]})
    tree = LinguisticTreeClassifier(min_support=0).fit(frame, [0, 0, 1, 1])
    values = np.array(["1.5", None], dtype=object)
    table = Table((Column("size", values), Column("on", np.array(["yes", "?"], object))), 2)
    assert tree.model_.goal.size == 2
    np.testing.assert_array_equal(
        Evaluator(tree.model_).predict_proba(table),
        tree.predict_proba(pd.DataFrame({"size": [1.5, np.nan], "on": ["yes", "?"]})),
    )


def test_an_error_in_a_later_piece_names_the_row_of_the_whole(tmp_path):
    tree = LinguisticTreeClassifier().fit(pd.DataFrame({"a": [1.5, 2.5, 3.5, 9.5]}), [0, 0, 1, 1])
    path = tmp_path / "long.csv"
    path.write_text("a\n" + "1.5\n" * 120 + "warm\n" + "2.5\n" * 10)
    with pytest.raises(DataError, match="'warm', row 121"):
        for table in iter_tables(path, rows=50):
            Evaluator(tree.model_).predict(table)


def test_an_extra_column_of_any_type_does_no_harm(evaluator, wine):
    X, _ = wine
    dated = X.assign(bottled=pd.Timestamp("2026-01-01"))
    np.testing.assert_array_equal(evaluator.predict(dated), evaluator.predict(X))


def test_ragged_rows_are_refused(evaluator):
    with pytest.raises(DataError, match="not of one length"):
        evaluator.predict([[1.0], [1.0, 2.0]])
