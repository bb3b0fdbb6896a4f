import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from solah import LinguisticTreeRegressor
from solah.exceptions import DataError


@pytest.fixture(scope="module")
def curve():
    x = np.linspace(-1, 1, 400)[:, None]
    return x, np.sin(3 * x[:, 0])


def test_follows_a_curve_more_closely_with_more_words(curve):
    scores = [LinguisticTreeRegressor(n).fit(*curve).score(*curve) for n in (2, 3, 7)]
    assert scores == sorted(scores)
    assert scores[-1] > 0.98


def test_a_mean_of_centres_never_leaves_their_range(curve):
    tree = LinguisticTreeRegressor().fit(*curve)
    predictions = tree.predict([[-100.0], [100.0], [np.nan]])
    assert (predictions >= tree.model_.target.centres[0]).all()
    assert (predictions <= tree.model_.target.centres[-1]).all()


def test_rules_name_the_expected_number():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rule = LinguisticTreeRegressor(max_depth=1).fit(X, y.rename("progression")).rules()[0]
    assert str(rule) == "if s5 is high then progression 217.1 | 33 rows"


def test_the_order_of_rows_does_not_change_a_bit():
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    tree = LinguisticTreeRegressor(max_depth=2).fit(X, y)
    shuffled = LinguisticTreeRegressor(max_depth=2).fit(X[order], y[order])
    assert shuffled.model_ == tree.model_


def test_a_constant_target_is_predicted():
    tree = LinguisticTreeRegressor().fit([[1.5], [2.5], [3.5]], [7.0, 7.0, 7.0])
    assert tree.predict([[9.0]]) == [7.0]
    with pytest.raises(DataError, match="first: row 2"):
        tree.fit([[1.5], [2.5]], [1.0, np.nan])
    with pytest.raises(DataError, match="the target 'y' has -1.7e.308, and numbers may go from"):
        tree.fit([[1.5], [2.5], [3.5]], [-1.7e308, 0.0, 1.7e308])


def test_an_outlier_does_not_blur_the_other_centres():
    x = np.linspace(0.01, 1, 300)[:, None]
    y = x[:, 0].copy()
    y[-1] = 1e12
    tree = LinguisticTreeRegressor(n_words=7).fit(x, y)
    assert tree.predict([[0.5]])[0] == pytest.approx(0.5, abs=0.1)


def test_the_centres_average_to_the_mean():
    X, y = load_diabetes(return_X_y=True)
    tree = LinguisticTreeRegressor(max_depth=1).fit(X, y)
    root = np.array(tree.model_.trees[0].start)
    assert root @ np.array(tree.model_.target.centres) == pytest.approx(y.mean(), rel=1e-6)
