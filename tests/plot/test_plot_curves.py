"""The pictures of beliefs: ROC curves and calibration, of all classes at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.exceptions import DataError, ParameterError
from solah.model.predictor import Predictor
from solah.plot import CalibrationDisplay, RocDisplay


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["north", "_south_", "$west$"])[y]


@pytest.fixture(scope="module")
def tree(wine):
    X, y = wine
    return LinguisticTreeClassifier(max_depth=2).fit(X[::2], y[::2])


def labels(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_every_class_has_a_curve_and_its_area(tree, wine):
    X, y = wine
    display = RocDisplay.from_estimator(tree, X[1::2], y[1::2])
    beliefs = tree.predict_proba(X[1::2])
    areas = [roc_auc_score(y[1::2] == name, beliefs[:, i]) for i, name in enumerate(tree.classes_)]
    names = ["$west$", "_south_", "north"]
    assert labels(display) == [
        f"{name} ({area:.3f})" for name, area in zip(names, areas, strict=True)
    ]
    assert f"mean {np.mean(areas):.3f}" in display.legend_.get_title().get_text()
    for line, curve in zip(display.lines_, display.curves, strict=True):
        assert np.array_equal(line.get_xdata(), curve.false_positives)
        assert np.array_equal(line.get_ydata(), curve.true_positives)


def test_of_two_classes_the_second_is_drawn():
    display = RocDisplay.from_predictions([0, 0, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    assert labels(display) == ["1 (0.500)"]


def test_a_class_that_is_not_among_the_rows_has_no_curve():
    beliefs = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]
    display = RocDisplay.from_predictions(["a", "b"], beliefs, ["a", "b", "c"])
    assert [curve.name for curve in display.curves] == ["a", "b"]


@pytest.mark.parametrize("kind", [RocDisplay, CalibrationDisplay])
def test_estimators_models_and_other_classifiers_will_do(kind, tree, wine):
    X, y = wine
    expected = kind.from_estimator(tree, X, y).lines_[0].get_xydata().tolist()
    for source in (tree.model_, Predictor(tree.model_)):
        assert kind.from_estimator(source, X, y).lines_[0].get_xydata().tolist() == expected
    other = GaussianNB().fit(X, y)
    assert kind.from_estimator(other, X, y).lines_


def test_beliefs_in_the_decided_class_are_put_into_bins(tree, wine):
    X, y = wine
    display = CalibrationDisplay.from_estimator(tree, X, y, n_bins=5)
    beliefs, is_right = tree.predict_proba(X).max(axis=1), tree.predict(X) == y
    came_true, believed = calibration_curve(is_right, beliefs, n_bins=5)
    (curve,) = display.curves
    assert np.allclose(curve.believed, believed)
    assert np.allclose(curve.came_true, came_true)
    assert curve.counts.sum() == len(y)
    heights = [bar.get_height() for bar in display.bars_]
    assert len(heights) == 5
    assert max(heights) == pytest.approx(0.2)


def test_each_class_has_a_curve_of_its_own(tree, wine):
    X, y = wine
    display = CalibrationDisplay.from_estimator(tree, X, y, of="classes")
    assert [curve.name for curve in display.curves] == ["$west$", "_south_", "north"]
    assert all(curve.counts.sum() == len(y) for curve in display.curves)
    assert np.array_equal(display.lines_[2].get_xdata(), display.curves[2].believed)


def test_thresholds_decide_which_class_is_decided_for(wine):
    X, y = wine
    sure = LinguisticTreeClassifier(
        max_depth=1, thresholds={"north": 0.9, "_south_": 0.05, "$west$": 0.05}
    ).fit(X, y)
    beliefs = sure.predict_proba(X)
    decided = [list(sure.classes_).index(name) for name in sure.predict(X)]
    (curve,) = CalibrationDisplay.from_estimator(sure, X, y).curves
    mean = np.average(curve.believed, weights=curve.counts)
    assert mean == pytest.approx(beliefs[np.arange(len(X)), decided].mean())
    assert mean < beliefs.max(axis=1).mean()


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1), st.integers(1, 20))
def test_no_belief_is_lost(rows, n_bins):
    y = np.array([True, False, *(is_true for is_true, _ in rows)])
    beliefs = np.array([1.0, 0.0, *(belief for _, belief in rows)])
    beliefs = np.stack([1 - beliefs, beliefs], axis=1)
    _, ax = plt.subplots()
    display = CalibrationDisplay.from_predictions(y, beliefs, of="classes", n_bins=n_bins, ax=ax)
    plt.close(ax.figure)
    for curve in display.curves:
        assert curve.counts.sum() == len(y)
        assert 0 <= curve.error <= 1


def test_names_of_many_classes_stand_beside_the_curves():
    rng = np.random.default_rng(0)
    y = [f"_class with quite a long name_ number {i}" for i in range(12)] * 5
    display = RocDisplay.from_predictions(y, rng.dirichlet(np.ones(12), 60))
    display.figure_.canvas.draw()
    box, whole = display.legend_.get_window_extent(), display.figure_.bbox
    assert display.ax_.get_window_extent().x1 <= box.x0
    assert box.x1 <= whole.x1


@pytest.mark.parametrize("kind", [RocDisplay, CalibrationDisplay])
def test_errors_say_what_is_wrong(kind, tree, wine):
    X, y = wine
    with pytest.raises(NotFittedError):
        kind.from_estimator(LinguisticTreeClassifier(), X, y)
    numbers = LinguisticTreeRegressor(max_depth=1).fit(*load_diabetes(return_X_y=True))
    for of_numbers in (numbers, Predictor(numbers.model_), numbers.model_):
        with pytest.raises(ParameterError, match="beliefs in classes are drawn"):
            kind.from_estimator(of_numbers, X, y)
    with pytest.raises(DataError, match="y has the class 'east', which the classifier does not"):
        kind.from_estimator(tree, X, ["east", *y[1:]])
    with pytest.raises(DataError, match="one class only"):
        kind.from_estimator(tree, X[:5], y[:5])
    with pytest.raises(DataError, match=r"must have the shape \(178, 3\)"):
        kind.from_predictions(y, np.ones((178, 2)))


def test_parameters_of_calibration_are_checked(tree, wine):
    with pytest.raises(ParameterError, match="'of' must be 'decided' or 'classes'"):
        CalibrationDisplay.from_estimator(tree, *wine, of="everything")
    with pytest.raises(ParameterError, match="'n_bins' must be an int of at least 1. Got 0."):
        CalibrationDisplay.from_estimator(tree, *wine, n_bins=0)
