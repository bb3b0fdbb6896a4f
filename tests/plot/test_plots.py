"""Figures: what they show, and names and sizes that no figure breaks on."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from random_models import ADDITIVE_SHAPES, random_model, random_number_model
from solah import (
    LinguisticLabeller,
    LinguisticTreeClassifier,
    RuleClassifier,
    distance_correlation_matrix,
)
from solah.exceptions import ColumnError, DataError, MissingExtraError, ParameterError
from solah.explain import feature_importances
from solah.learn.objective import PathStep
from solah.learn.organisation import group_features
from solah.model.features import cored_feature
from solah.model.predictor import Predictor
from solah.plot import (
    DependenceDisplay,
    ImportanceDisplay,
    PathDisplay,
    WordsDisplay,
)
from solah.plot.canvas import add_legend, ramp, shown


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def additive(wine):
    return RuleClassifier(feature_groups=None, interactions=0, max_rules=40).fit(*wine)


def texts(items):
    return [one.get_text() for one in items]


def assert_apart(display, items):
    """Nothing is cut off, and nothing touches anything else."""
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    boxes = [text.get_window_extent() for text in items if text.get_text()]
    assert len(boxes) > 2
    for i, box in enumerate(boxes):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


# --- what all figures share ----------------------------------------------------------------------


def test_matplotlib_is_imported_when_a_figure_is_drawn(monkeypatch):
    code = "import solah.plot, sys, json; print(json.dumps('matplotlib' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) is False
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'solah\[plot\]'"):
        ImportanceDisplay({"a": 1.0}).plot()


def test_given_axes_are_used_and_settings_stay():
    before = dict(mpl.rcParams)
    _, ax = plt.subplots()
    assert ImportanceDisplay({"a": 1.0}).plot(ax).ax_ is ax
    assert len(plt.get_fignums()) == 1
    assert ImportanceDisplay({"a": 1.0}).plot().figure_ is not ax.figure
    assert dict(mpl.rcParams) == before
    _, several = plt.subplots(1, 2)
    with pytest.raises(ParameterError, match="'ax' must be the Axes of a matplotlib figure"):
        ImportanceDisplay({"a": 1.0}).plot(several)


def test_names_with_dollars_and_underscores_are_no_formulas():
    display = ImportanceDisplay({"$a_b$": 0.6, "__c__ $x^2$": 0.4}).plot()
    display.figure_.canvas.draw()
    labels = display.ax_.get_yticklabels()
    assert texts(labels) == ["$a_b$", "__c__ $x^2$"]
    assert not any(label.get_parse_math() for label in labels)
    _, ax = plt.subplots()
    lines = ax.plot([0, 1], [[0, 1], [1, 0]])
    legend = add_legend(ax, lines, ["_hidden_", "$seen$"])
    assert texts(legend.get_texts()) == ["_hidden_", "$seen$"]


@given(st.text(), st.integers(5, 50))
def test_a_name_is_shown_on_one_line_with_both_ends(name, most):
    text = shown(name, most)
    assert len(text) <= most
    assert text.isprintable()
    if name.isprintable():
        half = (most - 1) // 2
        assert text == name or (text.startswith(name[:half]) and text.endswith(name[-half:]))


def test_words_have_colours_from_low_to_high():
    for n in (1, 2, 7, 20):
        colours = ramp(n)
        assert len(set(colours)) == n
        assert colours[0] == "#2f6fa8"
        assert n == 1 or colours[-1] == "#b5532d"


# --- words ---------------------------------------------------------------------------------------


@pytest.fixture
def thermometer():
    rooms = pd.DataFrame({"temperature": [15.5, 18.0, 21.0, 22.5, 24.0, 30.5]})
    words = {"temperature": {"cold": 15, "mild": 21, "hot": 27}}
    return LinguisticLabeller(words=words).fit(rooms), rooms


def test_a_word_is_a_trapezium_over_its_range(thermometer):
    labeller, rooms = thermometer
    display = WordsDisplay.from_estimator(labeller, "temperature", rooms)
    low, high = display.ax_.get_xlim()
    assert low < 15
    assert high > 30.5
    assert [line.get_xydata().tolist() for line in display.lines_] == [
        [[low, 1], [18, 1], [21, 0]],
        [[15, 0], [18, 1], [24, 1], [27, 0]],
        [[21, 0], [24, 1], [high, 1]],
    ]
    assert texts(display.legend_.get_texts()) == ["cold", "mild", "hot"]
    assert display.ax_.get_xlabel() == "temperature"
    heights = np.array([bar.get_height() for bar in display.bars_])
    counts, _ = np.histogram(rooms["temperature"], bins=len(heights))
    assert (heights * counts.max()).round(9).tolist() == counts.tolist()


def test_words_with_cores_and_a_single_word():
    cores = [(-np.inf, 1.0), (2.0, 3.0), (4.0, 4.0), (6.0, np.inf)]
    words = ("lowest", "low", "high", "highest")
    display = WordsDisplay(cored_feature("x", words, cores, (1 / 5,) * 5, 0.0, 8.0)).plot()
    low, high = display.ax_.get_xlim()
    assert [line.get_xydata().tolist() for line in display.lines_] == [
        [[low, 1], [1, 1], [2, 0]],
        [[1, 0], [2, 1], [3, 1], [4, 0]],
        [[3, 0], [4, 1], [6, 0]],
        [[4, 0], [6, 1], [high, 1]],
    ]
    one = cored_feature("x", ("any",), [(-np.inf, np.inf)], (1.0,), 5.0, 8.0)
    (line,) = WordsDisplay(one).plot().lines_
    assert set(line.get_ydata()) == {1.0}


def test_only_known_values_count(thermometer):
    labeller, _ = thermometer
    assert WordsDisplay.from_estimator(labeller, "temperature").bars_ is None
    some = pd.DataFrame({"temperature": [20.0, None, 22.0]})
    bars = WordsDisplay.from_estimator(labeller, "temperature", some).bars_
    assert sum(bar.get_height() for bar in bars) == 2
    none = pd.DataFrame({"temperature": [np.nan, np.nan]})
    assert WordsDisplay.from_estimator(labeller, "temperature", none).bars_ is None
    constant = LinguisticLabeller().fit([[1.5], [1.5]])
    assert len(WordsDisplay.from_estimator(constant, "x0", [[1.5], [1.5]]).lines_) == 1


def test_categories_show_their_share_of_the_rows():
    things = pd.DataFrame({"colour": ["red", "red", "blue", "green"]})
    labeller = LinguisticLabeller().fit(things)
    rows = pd.DataFrame({"colour": ["red", "blue", "violet", None]})
    learned = WordsDisplay.from_estimator(labeller, "colour")
    assert _bars(learned) == {"blue": 0.25, "green": 0.25, "red": 0.5}
    display = WordsDisplay.from_estimator(labeller, "colour", rows)
    assert _bars(display) == {"blue": 0.25, "green": 0.0, "red": 0.25, "missing": 0.5}
    codes = [f"s{i:02d}" for i in range(50) for _ in range(1 + (i < 30))]
    labeller = LinguisticLabeller(feature_types={"code": "categorical"})
    bars = _bars(WordsDisplay.from_estimator(labeller.fit(pd.DataFrame({"code": codes})), "code"))
    assert list(bars) == [f"s{i:02d}" for i in range(30)] + ["20 other"]
    assert bars["20 other"] == pytest.approx(20 / 80)


def _bars(display):
    widths = [round(float(bar.get_width()), 9) for bar in display.bars_]
    return dict(zip(texts(display.ax_.get_yticklabels()), widths, strict=True))


def test_names_of_many_words_do_not_touch():
    X = np.random.default_rng(0).lognormal(sigma=1.5, size=(400, 1))
    display = WordsDisplay.from_estimator(LinguisticLabeller(9).fit(X), "x0", X)
    assert_apart(display, display.legend_.get_texts())


def test_estimators_loaded_models_and_documents_show_the_same(additive, wine):
    X, _ = wine
    name = additive.model_.features[0].name
    for source in (additive, additive.model_, Predictor(additive.model_)):
        words = WordsDisplay.from_estimator(source, name, X)
        lines = [line.get_xydata().tolist() for line in words.lines_]
        bars = _bars(ImportanceDisplay.from_estimator(source, max_features=50))
        if source is additive:
            expected = lines, bars
        known = {key: value for key, value in bars.items() if "other" not in key}
        assert lines == expected[0]
        assert known.items() <= expected[1].items()


def test_errors_name_what_cannot_be_drawn(thermometer, wine):
    with pytest.raises(ColumnError, match="the labeller has no column 'temprature'; did you mean"):
        WordsDisplay.from_estimator(thermometer[0], "temprature")
    for display in (DependenceDisplay, ImportanceDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(RuleClassifier())
    for source in ("model.json", LogisticRegression()):
        with pytest.raises(ParameterError, match="a fitted estimator of solah"):
            WordsDisplay.from_estimator(source, "hue")
    with pytest.raises(ParameterError, match="has no feature_importances_"):
        ImportanceDisplay.from_estimator(LogisticRegression(max_iter=9000).fit(*wine))
    with pytest.raises(ParameterError, match="'max_features' must be an int of at least 1"):
        ImportanceDisplay({"a": 1.0}).plot(max_features=0)
    with pytest.raises(ParameterError, match="only a RuleClassifier"):
        DependenceDisplay.from_estimator(LinguisticTreeClassifier().fit(*wine))
    with pytest.raises(ColumnError, match="no column 'hu'; did you mean 'hue'"):
        DependenceDisplay.from_data(wine[0], [["hu", "ash"]])
    with pytest.raises(ParameterError, match="'ash' is in the clusters twice"):
        DependenceDisplay.from_data(wine[0], [["ash"], ["ash", "hue"]])
    with pytest.raises(DataError, match="2 features"):
        DependenceDisplay(np.eye(3), ["a", "b"]).plot()


# --- importances -----------------------------------------------------------------


def test_importances_of_any_estimator_are_drawn(wine):
    forest = RandomForestClassifier(20, random_state=0).fit(*wine)
    bars = _bars(ImportanceDisplay.from_estimator(forest, max_features=5))
    assert len(bars) == 6
    assert bars["8 others"] == pytest.approx(np.sort(forest.feature_importances_)[:8].sum())


@pytest.mark.parametrize("shape", [*ADDITIVE_SHAPES, "a number"])
def test_additive_models_are_drawn(shape):
    rng = np.random.default_rng(2)
    model = random_number_model(rng) if shape == "a number" else random_model(rng, shape, 3)
    bars = _bars(ImportanceDisplay.from_estimator(model))
    assert sum(bars.values()) == pytest.approx(1.0)
    assert max(bars.values()) == pytest.approx(feature_importances(model).max())
    for feature in model.features:
        WordsDisplay.from_estimator(model, feature.name)


def long_names(n):
    return [f"sensor_{i}_$temp$ of the north-eastern inlet_valve (°C)" for i in range(n)]


# --- dependence ----------------------------------------------------------------------------------


def test_features_of_a_group_are_side_by_side(wine):
    model = RuleClassifier(feature_groups=4, interactions=0, max_rules=None).fit(*wine)
    display = DependenceDisplay.from_estimator(model)
    assert display.order_ == tuple(name for group in model.feature_groups_ for name in group)
    places = [list(wine[0].columns).index(name) for name in display.order_]
    assert np.array_equal(display.image_.get_array(), model.dependence_[np.ix_(places, places)])
    assert len(display.outlines_) == sum(len(group) > 1 for group in model.feature_groups_)
    relevance = display.ax_.images[1].get_array()
    assert np.array_equal(relevance[:, 0], model.relevance_[places])
    assert texts(display.ax_.get_xticklabels()) == [*display.order_, "target"]


def test_dependences_of_data_are_drawn(wine):
    X = np.random.default_rng(0).normal(size=(30, 4))
    display = DependenceDisplay.from_data(X, [["x3", "x1"], ["x0"]])
    assert display.order_ == ("x3", "x1", "x0", "x2")
    (outline,) = display.outlines_
    assert (outline.get_xydata().min(), outline.get_xydata().max()) == (-0.5, 1.5)
    plain = DependenceDisplay.from_data(X[:, :3])
    assert plain.outlines_ == ()
    matrix = distance_correlation_matrix(X[:, :3])
    expected = [f"{matrix[i, j]:.2f}"[1:] for i, j in ((1, 0), (2, 0), (2, 1))]
    assert texts(plain.numbers_) == expected
    matrix, names = distance_correlation_matrix(wine[0]), list(wine[0].columns)
    for clusters in ("auto", 3):
        display = DependenceDisplay.from_data(wine[0], clusters)
        found = group_features(matrix, clusters)
        assert display.order_ == tuple(names[place] for group in found for place in group)


def test_names_of_many_features_are_not_cut():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 60)), columns=long_names(60))
    display = DependenceDisplay.from_data(frame, "auto")
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(whole.x0 <= box.x0 for box in boxes)
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert all(whole.y0 <= one.get_window_extent().y0 for one in display.ax_.get_xticklabels())
    assert display.numbers_ == ()
    display = DependenceDisplay(np.eye(400), [f"x{i}" for i in range(400)]).plot()
    assert display.ax_.get_ylabel() == "400 features"
    assert not any(texts(display.ax_.get_yticklabels()))


# --- path ----------------------------------------------------------------------------------------


def _step(max_rules, n_rules, n_features, loss, quality, error=0.0, is_chosen=False):
    return PathStep(max_rules, n_rules, n_features, loss, quality, error, is_chosen)


STEPS = (
    _step(20, 18.5, 6, 0.30, 0.92),
    _step(5, 5.0, 2, 0.45, 0.85, 0.04),
    _step(10, 9.0, 4, 0.31, 0.91, 0.02, is_chosen=True),
)


def test_the_path_shows_losses_and_marks_the_chosen_step():
    display = PathDisplay(STEPS).plot()
    line = display.loss_.lines[0]
    assert line.get_xydata().tolist() == [[5.0, 0.45], [9.0, 0.31], [18.5, 0.30]]
    assert display.accuracy_.get_ydata().tolist() == [0.85, 0.91, 0.92]
    assert display.chosen_.get_xydata().tolist() == [[9.0, 0.31]]
    labels = texts(display.legend_.get_texts())
    assert labels == ["log-loss", "accuracy", "chosen: 9 rules, 4 features"]
    assert PathDisplay([replace(STEPS[0], is_chosen=False)]).plot().chosen_ is None
    with pytest.raises(DataError, match="no numbers of rules were compared"):
        PathDisplay(()).plot()


def test_a_path_of_an_estimator_is_its_own():
    class Classifier(ClassifierMixin, BaseEstimator):
        path_ = STEPS

    class Regressor(RegressorMixin, BaseEstimator):
        path_ = (PathStep(3, 3, 1, 2.5, 0.4, metrics=("R²", "RMSE")),)

    assert PathDisplay.from_estimator(Classifier()).steps == PathDisplay(STEPS).steps
    of_numbers = PathDisplay.from_estimator(Regressor())
    assert of_numbers.ax_.get_ylabel() == "cross-validated RMSE"
    assert of_numbers.accuracy_ax_.get_ylabel() == "R²"
    with pytest.raises(ParameterError, match="compares numbers of rules"):
        PathDisplay.from_estimator(object())
