"""The picture of dependences: order, cells, outlines, numbers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    distance_correlation_matrix,
)
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.learn.grouping import group_attributes
from solah.plot import DependenceDisplay


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_attributes_of_a_cluster_stand_side_by_side(wine):
    settings = {"interactions": 0, "max_rules": None}
    model = RuleClassifier(feature_groups=4, **settings).fit(*wine)
    display = DependenceDisplay.from_estimator(model)
    assert display.order_ == tuple(name for cluster in model.feature_groups_ for name in cluster)
    places = [list(wine[0].columns).index(name) for name in display.order_]
    assert np.array_equal(display.image_.get_array(), model.dependence_[np.ix_(places, places)])
    several = [cluster for cluster in model.feature_groups_ if len(cluster) > 1]
    assert len(display.outlines_) == len(several)
    relevance = display.ax_.images[1].get_array()
    assert np.array_equal(relevance[:, 0], model.relevance_[places])
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == [*display.order_, "target"]


def test_outlines_surround_their_clusters():
    X = np.random.default_rng(0).normal(size=(30, 4))
    display = DependenceDisplay.from_data(X, [["x3", "x1"], ["x0"]])
    assert display.order_ == ("x3", "x1", "x0", "x2")
    (outline,) = display.outlines_
    assert outline.get_xydata().min() == -0.5
    assert outline.get_xydata().max() == 1.5


def test_data_are_clustered_as_a_hierarchy_would(wine):
    matrix = distance_correlation_matrix(wine[0])
    names = list(wine[0].columns)
    for clusters in ("auto", 3):
        display = DependenceDisplay.from_data(wine[0], clusters)
        found = group_attributes(matrix, clusters)
        assert display.order_ == tuple(names[place] for cluster in found for place in cluster)


def test_without_clusters_columns_keep_their_order(wine):
    display = DependenceDisplay.from_data(wine[0])
    assert display.order_ == tuple(wine[0].columns)
    assert display.outlines_ == ()
    assert len(display.ax_.images) == 1


def test_a_small_matrix_has_numbers_below_the_diagonal():
    X = np.random.default_rng(0).normal(size=(30, 3))
    display = DependenceDisplay.from_data(X)
    matrix = distance_correlation_matrix(X)
    written = [text.get_text() for text in display.numbers_]
    assert written == [f"{matrix[i, j]:.2f}"[1:] for i, j in ((1, 0), (2, 0), (2, 1))]


def test_names_of_sixty_attributes_are_not_cut():
    rng = np.random.default_rng(0)
    names = [f"sensor_{i}_$temp$ of the north-eastern inlet_valve (°C)" for i in range(60)]
    frame = pd.DataFrame(rng.normal(size=(20, 60)), columns=names)
    display = DependenceDisplay.from_data(frame, "auto")
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    labels = display.ax_.get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert all(whole.x0 <= box.x0 for box in boxes)
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert all(whole.y0 <= one.get_window_extent().y0 for one in display.ax_.get_xticklabels())
    assert display.numbers_ == ()


def test_names_that_nobody_could_read_are_left_out():
    display = DependenceDisplay(np.eye(400), [f"x{i}" for i in range(400)]).plot()
    assert display.ax_.get_ylabel() == "400 attributes"
    assert not any(label.get_text() for label in display.ax_.get_yticklabels())


def test_errors_say_what_is_wrong(wine):
    with pytest.raises(NotFittedError):
        DependenceDisplay.from_estimator(RuleClassifier())
    with pytest.raises(ParameterError, match="only a RuleClassifier"):
        DependenceDisplay.from_estimator(LinguisticTreeClassifier().fit(*wine))
    with pytest.raises(ColumnError, match="no column 'hu'; did you mean 'hue'"):
        DependenceDisplay.from_data(wine[0], [["hu", "ash"]])
    with pytest.raises(ParameterError, match="'ash' is in the clusters twice"):
        DependenceDisplay.from_data(wine[0], [["ash"], ["ash", "hue"]])
    with pytest.raises(DataError, match="2 attributes"):
        DependenceDisplay(np.eye(3), ["a", "b"]).plot()
