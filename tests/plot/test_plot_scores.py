"""The pictures of numbers: what rules are worth, importances, and how a search went."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from solah import (
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticTreeClassifier,
)
from solah.exceptions import DataError, ParameterError
from solah.learn.objective import ClassStep
from solah.plot import ImportanceDisplay, PathDisplay, SearchDisplay


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def search():
    return GeneticHierarchyClassifier(GeneticSearch(4, n_generations=3), random_state=0).fit(
        *load_iris(return_X_y=True)
    )


def test_the_axis_has_round_numbers_of_rules():
    sizes = (4, 9, 21, 160)
    steps = [
        ClassStep(max_rules=size, n_rules=size, n_attributes=2, log_loss=0.5, accuracy=0.9)
        for size in sizes
    ]
    display = PathDisplay(steps).plot()
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == ["5", "10", "20", "50", "100", "200"]


def test_the_most_important_attribute_stands_first(iris):
    tree = LinguisticTreeClassifier().fit(*iris)
    display = ImportanceDisplay.from_estimator(tree)
    shares = dict(zip(iris[0].columns, tree.feature_importances_, strict=True))
    ranked = sorted(shares, key=lambda name: -shares[name])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ranked
    assert [bar.get_width() for bar in display.bars_] == [shares[name] for name in ranked]
    of_model = ImportanceDisplay.from_estimator(tree.model_)
    assert of_model.importances == pytest.approx(shares)


def test_attributes_without_a_bar_of_their_own_are_put_together():
    importances = {f"x{i}": 1 / 60 for i in range(60)}
    display = ImportanceDisplay(importances).plot(max_features=9)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [*[f"x{i}" for i in range(9)], "51 others"]
    assert display.bars_[-1].get_width() == pytest.approx(51 / 60)


def test_labels_of_many_long_names_do_not_touch():
    importances = {f"sensor_{i}_$temp$ of the north-eastern inlet (°C)": 1 / 60 for i in range(60)}
    for ax in (None, plt.subplots(figsize=(6, 4), layout="constrained")[1]):
        display = ImportanceDisplay(importances).plot(ax, max_features=60)
        display.figure_.canvas.draw()
        boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
        assert display.figure_.bbox.x0 <= min(box.x0 for box in boxes)
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_a_model_that_learnt_nothing_can_be_drawn():
    display = ImportanceDisplay({"a": 0.0, "b": 0.0}).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["2 others"]


def test_other_estimators_have_importances_too(iris):
    forest = RandomForestClassifier(5, random_state=0).fit(*iris)
    shown = ImportanceDisplay.from_estimator(forest).importances
    assert shown == dict(zip(iris[0].columns, forest.feature_importances_, strict=True))


def test_what_has_no_importances_is_refused(iris):
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(LinguisticTreeClassifier())
    with pytest.raises(ParameterError, match="has no importances"):
        ImportanceDisplay.from_estimator(LogisticRegression(max_iter=1000).fit(*iris))
    with pytest.raises(ParameterError, match="'max_features' must be an int of at least 1"):
        ImportanceDisplay({"a": 1.0}).plot(max_features=0)


def test_a_search_is_drawn_generation_by_generation(search):
    display = SearchDisplay.from_estimator(search)
    assert display.best_.get_xdata().tolist() == [0, 1, 2, 3]
    assert np.array_equal(display.best_.get_ydata(), search.history_["best"])
    assert np.array_equal(display.mean_.get_ydata(), search.history_["mean"])
    assert display.ax_.get_ylabel() == "AUC on unseen rows"
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert labels == ["best so far", "mean of the generation"]


def test_a_search_that_never_began_is_refused():
    nothing = {name: [] for name in ("generation", "best", "mean")}
    with pytest.raises(DataError, match="the rows were too few"):
        SearchDisplay(nothing).plot()
    with pytest.raises(NotFittedError):
        SearchDisplay.from_estimator(GeneticHierarchyClassifier())
    with pytest.raises(ParameterError, match="only a GeneticHierarchyClassifier"):
        SearchDisplay.from_estimator(LinguisticTreeClassifier())
