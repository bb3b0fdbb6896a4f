import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils._param_validation import InvalidParameterError

from solah import LinguisticTreeClassifier, load_model
from solah.exceptions import DataError, UnseenCategoryWarning


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_learns_to_tell_wines_apart(wine):
    X, y = wine
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    assert np.mean(cross_val_predict(LinguisticTreeClassifier(), X, y, cv=folds) == y) > 0.93


def test_pandas_polars_and_arrays_give_the_same_tree(wine):
    X, y = wine
    polars, array = pl.DataFrame(X.to_dict("list")), X.to_numpy()
    beliefs = LinguisticTreeClassifier().fit(X, y).predict_proba(X)
    for rows in (polars, array):
        tree = LinguisticTreeClassifier().fit(rows, y.rename("cultivar"))
        np.testing.assert_array_equal(tree.predict_proba(rows), beliefs)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(tree.predict_proba(X), beliefs)
    tree = LinguisticTreeClassifier().fit(polars, y.rename("cultivar"))
    assert str(tree.rules()[0]) == (
        "if flavanoids is low and color_intensity is at least medium-or-high "
        "then cultivar=2 100% | 17 rows"
    )
    assert list(tree.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="yet now missing:\n- hue"):
        tree.predict(X.drop(columns="hue"))
    single = array.astype(np.float32)
    assert LinguisticTreeClassifier().fit(single, y).score(single, y) > 0.95


def test_cells_of_all_kinds_are_told_apart():
    rows = [["a", 1.5], ["b", 2.5], [float("nan"), 3.5], [None, 4.5]] * 5
    tree = LinguisticTreeClassifier().fit(rows, [0, 1, 0, 1] * 5)
    assert tree.model_.features[0].words == ("a", "b")
    assert tree.model_.features[1].is_continuous
    large = np.array([[2**60], [2**60 + 1], [2**60 + 2]] * 5)  # too large for a float
    assert LinguisticTreeClassifier().fit(large, list("abc") * 5).score(large, list("abc") * 5) == 1
    y = pd.Series([1, 0] * 5, dtype="Int64", name="on")
    tree = LinguisticTreeClassifier().fit(pd.DataFrame({"a": [1.5, 9.5] * 5}), y)
    assert {rule.result for rule in tree.rules()} == {"on=0 100%", "on=1 100%"}
    with pytest.raises(DataError, match="first: row 2"):
        missing = pd.Series(["x", None] * 5, dtype="string")
        LinguisticTreeClassifier().fit(pd.DataFrame({"a": [1.5, 9.5] * 5}), missing)


def test_takes_categories_missing_values_and_unseen_states():
    frame = pd.DataFrame(
        {
            "Wetter": ["sonnig", "Regen", None, "sonnig", "Regen", "Nebel"] * 5,
            "Wärme": [20.5, 12.0, 15.5, np.nan, 9.0, 11.0] * 5,
        }
    )
    y = np.array(["raus", "heim", "raus", "raus", "heim", "heim"] * 5)
    tree = LinguisticTreeClassifier(min_support=0).fit(frame, y)
    assert tree.score(frame, y) == 1.0
    strange = pd.DataFrame({"Wetter": ["Hagel", None], "Wärme": [np.nan, np.nan]})
    with pytest.warns(UnseenCategoryWarning, match="'Wetter' has 'Hagel' in 1 row"):
        beliefs = tree.predict_proba(strange)
    np.testing.assert_array_equal(beliefs[0], beliefs[1])
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
    assert any("Wetter is sonnig" in str(rule) for rule in tree.rules())


@pytest.mark.parametrize(
    "classes",
    [["no", "yes"], [False, True], [-1, 1], [0.0, 1.0], ["ä", "ß"]],
    ids=lambda classes: str(classes[0]),
)
def test_classes_of_any_plain_type_come_back_as_they_were(classes, tmp_path):
    y = np.array([classes[i % 2] for i in range(20)])
    X = np.column_stack([np.arange(20) % 2 + np.linspace(0, 0.1, 20), np.linspace(0.5, 9.1, 20)])
    tree = LinguisticTreeClassifier().fit(X, y)
    assert tree.predict(X).dtype == y.dtype
    np.testing.assert_array_equal(tree.predict(X), y)
    tree.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load_model(tmp_path / "m.json").predict(X), y)


def test_one_class_and_one_row_are_enough_to_stand():
    one_class = LinguisticTreeClassifier().fit([[1.5], [2.5], [4.5]], ["a", "a", "a"])
    assert one_class.predict([[3.0]]) == ["a"]
    assert (one_class.n_rules_, one_class.n_branches_) == (1, 1)
    assert str(one_class.rules()[0]) == "a 100% | 3 rows"
    one_row = LinguisticTreeClassifier().fit([[1.5, 2.5]], [7])
    assert one_row.predict([[0.0, np.nan]]) == [7]


def test_class_weight_moves_the_belief(wine):
    X, y = wine
    rare = (y == 2).astype(int)
    plain = LinguisticTreeClassifier(max_depth=1).fit(X, rare)
    balanced = LinguisticTreeClassifier(max_depth=1, class_weight="balanced").fit(X, rare)
    assert (balanced.predict_proba(X)[:, 1] > plain.predict_proba(X)[:, 1]).mean() > 0.9
    by_hand = {0: 178 / (2 * 130), 1: 178 / (2 * 48)}
    same = LinguisticTreeClassifier(max_depth=1, class_weight=by_hand).fit(X, rare)
    np.testing.assert_array_equal(same.predict_proba(X), balanced.predict_proba(X))
    with pytest.raises(InvalidParameterError, match="'class_weight' parameter"):
        LinguisticTreeClassifier(class_weight="even").fit(X, y)


def test_the_path_of_a_row_sums_to_one_and_ends_in_leaves(wine):
    X, y = wine
    tree = LinguisticTreeClassifier().fit(X, y)
    path = tree.decision_path(X)
    np.testing.assert_allclose(np.asarray(path.sum(axis=1)).ravel(), 1.0, atol=1e-7)
    beliefs = np.array([branch.belief for branch in tree.model_.trees[0].branches])
    np.testing.assert_allclose(path @ beliefs, tree.predict_proba(X), atol=1e-6)


def test_missing_values_do_not_pass_for_a_gain():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(400, 2)), np.full(400, 7.0)])
    X[:, :2][rng.random((400, 2)) < 0.3] = np.nan
    y = (rng.random(400) < 0.5).astype(int)
    tree = LinguisticTreeClassifier(max_depth=4).fit(X, y).model_.trees[0]
    assert 2 not in tree.walk.split  # the constant column tells nothing


def test_bad_data_is_named(wine):
    for X, y, message in (
        ([[1.0], [2.0]], [0, 1, 1], "X has 2 rows, but y has 3 values"),
        ([[1.0], [np.inf]], [0, 1], "x0.*infinite.*row 2"),
        ([[1.0], [2.0]], [0.0, np.nan], "Input y contains NaN or infinity in 1 rows .first: row 2"),
        ([[1.0], [2.0]], ["a", None], "row 2"),
        ([[i / 7] for i in range(900)], list(range(300)) * 3, "300 classes"),
        ([[f"id{i}"] for i in range(300)], [0, 1] * 150, "x0.*300"),
        (pd.DataFrame({"a": []}), [], "0 sample"),
        (pl.LazyFrame({"a": [1.5, 2.5]}), [0, 1], "lazy; call its collect"),
        (pd.DataFrame([[1.5, 2.5]] * 2, columns=["a", "a"]), [0, 1], "duplicate column .a."),
        ([[1.5], [2.5]], np.array(["2026-01-01"] * 2, "M8[D]"), "dates or times"),
    ):
        with pytest.raises(DataError, match=message):
            LinguisticTreeClassifier().fit(np.array(X) if isinstance(X, list) else X, y)
    X, y = wine
    tree = LinguisticTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(DataError, match="infinite"):
        tree.fit(X.assign(hue=np.inf), y > 1)
    assert set(tree.predict(X)) == {0, 1, 2}
