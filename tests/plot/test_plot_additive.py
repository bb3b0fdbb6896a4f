"""Pictures of models that add up: words with cores, hierarchies, importances, and the path."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from random_models import ADDITIVE_SHAPES, random_model, random_number_model
from solah.exceptions import DataError, ParameterError
from solah.learn.objective import ClassStep, NumberStep
from solah.model.attributes import cored_attribute
from solah.plot import HierarchyDisplay, ImportanceDisplay, PathDisplay, WordsDisplay


def _step(max_rules, n_rules, n_attributes, log_loss, accuracy, error=0.0, is_chosen=False):
    return ClassStep(
        max_rules=max_rules,
        n_rules=n_rules,
        n_attributes=n_attributes,
        log_loss=log_loss,
        accuracy=accuracy,
        error=error,
        is_chosen=is_chosen,
    )


STEPS = (
    _step(20, 18.5, 6, 0.30, 0.92),
    _step(5, 5.0, 2, 0.45, 0.85, 0.04),
    _step(10, 9.0, 4, 0.31, 0.91, 0.02, is_chosen=True),
)


def models():
    rng = np.random.default_rng(2)
    made = {shape: random_model(rng, shape, 3) for shape in ADDITIVE_SHAPES}
    made["a number"] = random_number_model(rng)
    return made


MODELS = models()


def test_a_word_with_a_core_is_a_trapezium():
    cores = [(-np.inf, 1.0), (2.0, 3.0), (4.0, 4.0), (6.0, np.inf)]
    words = ("lowest", "low", "high", "highest")
    attribute = cored_attribute("x", words, cores, (1 / 5,) * 5, 0.0, 8.0)
    display = WordsDisplay(attribute).plot()
    low, high = display.ax_.get_xlim()
    assert [line.get_xydata().tolist() for line in display.lines_] == [
        [[low, 1], [1, 1], [2, 0]],
        [[1, 0], [2, 1], [3, 1], [4, 0]],
        [[3, 0], [4, 1], [6, 0]],
        [[4, 0], [6, 1], [high, 1]],
    ]


def test_one_word_applies_everywhere():
    attribute = cored_attribute("x", ("any",), [(-np.inf, np.inf)], (1.0,), 5.0, 8.0)
    (line,) = WordsDisplay(attribute).plot().lines_
    assert set(line.get_ydata()) == {1.0}


@pytest.mark.parametrize("name", MODELS)
def test_additive_models_are_drawn(name):
    model = MODELS[name]
    display = HierarchyDisplay.from_estimator(model)
    assert display.outline_[0].name == model.root.name
    assert len(display.outline_) == len(model.parts)
    bars = ImportanceDisplay.from_estimator(model).bars_
    assert sum(bar.get_width() for bar in bars) == pytest.approx(1.0)
    for attribute in model.attributes:
        WordsDisplay.from_estimator(model, attribute.name)


def test_the_path_shows_losses_and_marks_what_was_chosen():
    display = PathDisplay(STEPS).plot()
    line = display.loss_.lines[0]
    assert line.get_xydata().tolist() == [[5.0, 0.45], [9.0, 0.31], [18.5, 0.30]]
    assert display.accuracy_.get_ydata().tolist() == [0.85, 0.91, 0.92]
    assert display.chosen_.get_xydata().tolist() == [[9.0, 0.31]]
    assert [text.get_text() for text in display.texts_] == ["2", "4", "6"]
    assert [text.get_text() for text in display.legend_.get_texts()] == [
        "log-loss",
        "accuracy",
        "chosen",
    ]


def test_a_path_of_an_estimator_is_its_own():
    class Classifier(ClassifierMixin, BaseEstimator):
        path_ = STEPS

    class Regressor(RegressorMixin, BaseEstimator):
        path_ = (NumberStep(max_rules=3, n_rules=3, n_attributes=1, rmse=2.5, r2=0.4),)

    display = PathDisplay.from_estimator(Classifier())
    assert display.steps == PathDisplay(STEPS).steps
    of_numbers = PathDisplay.from_estimator(Regressor())
    assert of_numbers.ax_.get_ylabel() == "cross-validated RMSE"
    assert of_numbers.accuracy_ax_.get_ylabel() == "R²"
    with pytest.raises(ParameterError, match="compares numbers of rules"):
        PathDisplay.from_estimator(object())


def test_without_steps_there_is_nothing_to_draw():
    with pytest.raises(DataError, match="no numbers of rules were compared"):
        PathDisplay(()).plot()
    one = PathDisplay([replace(STEPS[0], is_chosen=False)]).plot()
    assert one.chosen_ is None


def test_many_steps_keep_their_labels_apart():
    steps = [_step(n, n, n, 1 / n, 0.5, is_chosen=n == 33) for n in range(1, 50)]
    display = PathDisplay(steps).plot()
    display.figure_.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in display.texts_), key=lambda box: box.x0)
    assert len(boxes) > 5
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert "33" in [text.get_text() for text in display.texts_]
