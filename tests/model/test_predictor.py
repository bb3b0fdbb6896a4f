import pickle
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine

from random_models import random_model, random_number_model, random_rows
from solah import (
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    UnseenCategoryWarning,
    load_model,
)
from solah.data import Column, Table, from_frame, iter_tables
from solah.exceptions import ColumnError, DataError
from solah.model.evaluate import trace
from solah.model.predictor import Predictor
from solah.report import summarise_page


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def tree(wine):
    return LinguisticTreeClassifier().fit(*wine)


@pytest.fixture(scope="module")
def predictor(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "wine.json"
    tree.save(path)
    return load_model(path)


@pytest.mark.parametrize(
    "form",
    [lambda X: X, lambda X: X.to_numpy(), lambda X: pl.DataFrame(X.to_dict("list")), from_frame],
    ids=["pandas", "array", "polars", "table"],
)
def test_a_loaded_model_predicts_what_the_estimator_does(predictor, tree, wine, form):
    X, _ = wine
    np.testing.assert_array_equal(predictor.predict_proba(form(X)), tree.predict_proba(X))
    np.testing.assert_array_equal(predictor.predict(form(X)), tree.predict(X))


def test_threads_do_not_change_a_bit(tree, wine):
    X, _ = wine
    np.testing.assert_array_equal(
        Predictor(tree.model_, n_threads=3).predict_proba(X), tree.predict_proba(X)
    )


def test_columns_are_found_by_name_among_others(predictor, wine):
    X, _ = wine
    shuffled = X[X.columns[::-1]].assign(bottle="green")
    np.testing.assert_array_equal(predictor.predict(shuffled), predictor.predict(X))


def test_a_column_that_is_not_there_is_named(predictor, wine):
    X, _ = wine
    with pytest.raises(ColumnError, match="no column 'hue'; did you mean 'Hue'"):
        predictor.predict(X.rename(columns={"hue": "Hue"}))


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [1.0] * 13, np.zeros((1, 2, 3))])
def test_an_array_of_another_shape_is_refused(predictor, X):
    with pytest.raises(DataError, match="expects 13 columns"):
        predictor.predict(X)


def test_no_rows_are_no_problem(predictor, wine):
    X, _ = wine
    assert predictor.predict_proba(X[:0]).shape == (0, 3)


def test_unknown_readings_fall_back_on_the_marginal(predictor, wine):
    X, _ = wine
    holed = X.copy()
    holed.iloc[:, :] = np.nan
    beliefs = predictor.predict_proba(holed)
    assert (beliefs == beliefs[0]).all()
    assert beliefs[0].max() < 0.6


def test_rules_come_from_the_document_alone(predictor, tree):
    assert list(map(str, predictor.rules())) == list(map(str, tree.rules()))


NOT_OF_ESTIMATORS = {"outputs", "decide", "n_threads", "predict_interval", "stream", "stress"}
"""A regressor of rules has predict_interval, as it is fitted with residuals."""


def test_what_a_loaded_model_has_is_called_the_same_on_an_estimator(predictor, tree, wine):
    names = {name for name in dir(predictor) if not name.startswith("_")}
    assert {name for name in names if not hasattr(tree, name)} == NOT_OF_ESTIMATORS
    rows = wine[0][:5]
    assert predictor.model_ == tree.model_
    (ours,), (theirs,) = predictor.node_outputs(rows).values(), tree.node_outputs(rows).values()
    np.testing.assert_array_equal(ours, theirs)
    assert list(map(str, predictor.semantics(rows))) == list(map(str, tree.semantics(rows)))


def test_text_from_a_file_is_read_as_the_model_needs_it():
    frame = pd.DataFrame({"size": [1.5, 2.5, 9.5, 8.5], "on": ["yes", "no", "no", "yes"]})
    tree = LinguisticTreeClassifier(min_support=0).fit(frame, [0, 0, 1, 1])
    values = np.array(["1.5", None], dtype=object)
    table = Table((Column("size", values), Column("on", np.array(["yes", None], object))), 2)
    assert tree.model_.target.size == 2
    np.testing.assert_array_equal(
        Predictor(tree.model_).predict_proba(table),
        tree.predict_proba(pd.DataFrame({"size": [1.5, np.nan], "on": ["yes", None]})),
    )


def test_an_error_in_a_later_piece_names_the_row_of_the_whole(tmp_path):
    tree = LinguisticTreeClassifier().fit(pd.DataFrame({"a": [1.5, 2.5, 3.5, 9.5]}), [0, 0, 1, 1])
    path = tmp_path / "long.csv"
    path.write_text("a\n" + "1.5\n" * 120 + "warm\n" + "2.5\n" * 10)
    with pytest.raises(DataError, match="'warm', row 121"):
        for table in iter_tables(path, rows=50):
            Predictor(tree.model_).predict(table)


def test_an_extra_column_of_any_type_does_no_harm(predictor, wine):
    X, _ = wine
    dated = X.assign(bottled=pd.Timestamp("2026-01-01"))
    np.testing.assert_array_equal(predictor.predict(dated), predictor.predict(X))


def test_ragged_rows_are_refused(predictor):
    with pytest.raises(DataError, match="not of one length"):
        predictor.predict([[1.0], [1.0, 2.0]])


@pytest.fixture(scope="module")
def coloured():
    """Return a tree over a text, a truth value in numbers and a measured column, and its rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 90),
            "door": rng.choice([0, 1], 90),
            "size": rng.normal(size=90),
        }
    )
    y = np.where((X["colour"] == "red") ^ (X["door"] == 1), "yes", "no")
    return LinguisticTreeClassifier(min_support=0).fit(X, y), X


def ways_in(tree):
    """Name what takes rows and decides on them, or explains."""
    predictor = Predictor(tree.model_)
    return {
        "predict": tree.predict,
        "predict_proba": tree.predict_proba,
        "explain": lambda X: tree.explain(X, changes=True),
        "semantics": tree.semantics,
        "decision_path": tree.decision_path,
        "partial_fit": lambda X: deepcopy(tree).partial_fit(X, ["no"] * len(X)),
        "predictor": predictor.predict,
        "node_outputs": predictor.node_outputs,
        "predictor explains": predictor.explain,
        "report": lambda X: summarise_page(tree.model_, X),
    }


TINY = (
    pd.DataFrame({"colour": ["red", "green"], "door": [0, 1], "size": [0.5, 1.5]}),
    ["yes", "no"],
)


@pytest.mark.parametrize("way", sorted(ways_in(LinguisticTreeClassifier().fit(*TINY))))
def test_states_that_no_training_row_had_are_told_once_a_column(coloured, way):
    tree, X = coloured
    strange = X.assign(colour=X["colour"].replace("red", "redd"))
    strange.loc[strange.index[:4], "colour"] = "mauve"
    strange.loc[strange.index[5], "colour"] = None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ways_in(tree)[way](strange)
    (one,) = [each.message for each in told]
    n_red = int((strange["colour"] == "redd").sum())
    assert isinstance(one, UnseenCategoryWarning)
    assert (one.column, one.value, one.n_value, one.n_rows) == ("colour", "redd", n_red, n_red + 4)
    assert str(one).startswith(f"column 'colour' has 'redd' in {n_red} rows and other values in 4")
    assert str(one).endswith("did you mean 'red'?")
    assert str(pickle.loads(pickle.dumps(one))) == str(one)


@pytest.mark.parametrize("value", [2, 0.5, -1])
def test_numbers_that_are_states_are_told_too(coloured, value):
    tree, X = coloured
    door = X["door"].astype(float).where(X.index != 3, value)
    with pytest.warns(UnseenCategoryWarning, match=f"'door' has '{value}' in 1 row; categories"):
        tree.predict(X.assign(door=door))


def test_known_and_missing_states_are_not_told(coloured):
    tree, X = coloured
    tree.predict(X.assign(colour=X["colour"].where(X.index > 9, None), door=X["door"] > 0))
    tree.predict(X.assign(door=X["door"].astype("float32").where(X.index > 9, np.nan)))


def test_unseen_states_count_as_unknown_and_rows_are_not_altered(coloured):
    tree, X = coloured
    strange, unknown = X.assign(colour="redd"), X.assign(colour=None)
    before = strange.copy()
    with pytest.warns(UnseenCategoryWarning):
        found = tree.predict_proba(strange)
    np.testing.assert_array_equal(found, tree.predict_proba(unknown))
    pd.testing.assert_frame_equal(strange, before)


def test_hierarchies_of_any_nodes_tell_of_unseen_states(coloured):
    _, X = coloured
    y = np.where(X["size"] > 0, "yes", "no")
    for node in ("tree", "cmac"):
        model = LinguisticHierarchyClassifier("z <- colour, door; y <- z, size", node=node)
        model.fit(X, y)
        for way in (model.predict, model.node_outputs):
            with pytest.warns(UnseenCategoryWarning, match="'pink' in 90 rows; categories"):
                way(X.assign(colour="pink"))


def rows_as_table(model, rows):
    """Write rows as numbers the way that files have them: states by their names."""
    columns = []
    for one, values in zip(model.features, rows.T, strict=True):
        if one.is_coded:
            names = [
                None if np.isnan(value) else str(one.categories[int(value)]) for value in values
            ]
            columns.append(Column(one.name, np.array(names, dtype=object)))
        else:
            columns.append(Column(one.name, values))
    return Table(tuple(columns), len(rows))


def test_what_is_known_is_the_share_of_the_trees_that_are():
    rng = np.random.default_rng(0)
    model = random_model(rng, "words and pairs", 2)
    rows = random_rows(rng, model, 3, missing=0.0)
    rows[1, 0], rows[2] = np.nan, np.nan
    spreads = {term.features: np.sqrt(term.variance) for term in model.terms}
    lost = sum(spreads[one] for one in spreads if "x0" in one) / sum(spreads.values())
    found = Predictor(model).completeness(rows_as_table(model, rows))
    np.testing.assert_allclose(found, [1.0, 1.0 - lost, 0.0], atol=1e-12)


def test_a_number_is_what_its_terms_add_up_to():
    rng = np.random.default_rng(1)
    model = random_number_model(rng)
    rows = random_rows(rng, model, 9, missing=0.3)
    estimates = Predictor(model).predict(rows_as_table(model, rows))
    assert estimates.shape == (9,)
    parts = trace(model.program, rows)[-1].parts[: len(model.terms)]
    expected = model.root.baseline[0] + sum(part.weights[:, 0] for part in parts)
    np.testing.assert_allclose(estimates, expected, atol=1e-12)
