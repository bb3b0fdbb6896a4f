"""The picture of an attribute's words: trapezia, histogram, states, names that do not touch."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError

from solah import LinguisticHierarchyClassifier, LinguisticLabeller, LinguisticTreeRegressor
from solah.exceptions import ColumnError, ParameterError
from solah.model.predictor import Predictor
from solah.plot import WordsDisplay
from solah.plot.words import lines_apart


@pytest.fixture
def rooms():
    return pd.DataFrame({"temperature": [15.5, 18.0, 21.0, 22.5, 24.0, 30.5]})


@pytest.fixture
def thermometer(rooms):
    words = {"temperature": {"cold": 15, "mild": 21, "hot": 27}}
    return LinguisticLabeller(words=words).fit(rooms)


def test_a_word_is_a_trapezium_over_its_range(thermometer, rooms):
    display = WordsDisplay.from_estimator(thermometer, "temperature", rooms)
    low, high = display.ax_.get_xlim()
    assert low < 15
    assert high > 30.5
    cold, mild, hot = display.lines_
    assert cold.get_xydata().tolist() == [[low, 1], [18, 1], [21, 0]]
    assert mild.get_xydata().tolist() == [[15, 0], [18, 1], [24, 1], [27, 0]]
    assert hot.get_xydata().tolist() == [[21, 0], [24, 1], [high, 1]]
    assert [text.get_text() for text in display.texts_] == ["cold", "mild", "hot"]
    assert display.ax_.get_xlabel() == "temperature"


def test_the_histogram_counts_the_rows(thermometer, rooms):
    display = WordsDisplay.from_estimator(thermometer, "temperature", rooms)
    heights = np.array([bar.get_height() for bar in display.bars_])
    assert heights.max() == 1
    counts, _ = np.histogram(rooms["temperature"], bins=len(heights))
    assert (heights * counts.max()).round(9).tolist() == counts.tolist()


def test_without_rows_there_is_no_histogram(thermometer):
    assert WordsDisplay.from_estimator(thermometer, "temperature").bars_ is None


def test_missing_values_do_not_count(thermometer):
    some = pd.DataFrame({"temperature": [20.0, None, 22.0]})
    display = WordsDisplay.from_estimator(thermometer, "temperature", some)
    assert sum(bar.get_height() for bar in display.bars_) == 2
    none = pd.DataFrame({"temperature": [np.nan, np.nan]})
    assert WordsDisplay.from_estimator(thermometer, "temperature", none).bars_ is None


def test_a_constant_column_can_be_drawn():
    labeller = LinguisticLabeller().fit([[1.5], [1.5]])
    display = WordsDisplay.from_estimator(labeller, "x0", [[1.5], [1.5]])
    assert [text.get_text() for text in display.texts_] == ["any"]


def test_states_show_their_share_of_the_rows():
    things = pd.DataFrame({"colour": ["red", "red", "blue", "green"]})
    labeller = LinguisticLabeller().fit(things)
    given_rows = pd.DataFrame({"colour": ["red", "blue", "violet", None]})
    learnt = WordsDisplay.from_estimator(labeller, "colour")
    assert _bars(learnt) == {"blue": 0.25, "green": 0.25, "red": 0.5}
    display = WordsDisplay.from_estimator(labeller, "colour", given_rows)
    assert _bars(display) == {"blue": 0.25, "green": 0.0, "red": 0.25, "not known": 0.5}
    assert display.ax_.get_xlabel() == "colour: share of the rows given"


def test_the_rarest_of_very_many_states_are_put_together():
    codes = [f"s{i:02d}" for i in range(50) for _ in range(1 + (i < 30))]
    things = pd.DataFrame({"code": codes})
    labeller = LinguisticLabeller(feature_types={"code": "categorical"}).fit(things)
    bars = _bars(WordsDisplay.from_estimator(labeller, "code"))
    assert list(bars) == [f"s{i:02d}" for i in range(30)] + ["20 other states"]
    assert bars["20 other states"] == pytest.approx(20 / 80)


def _bars(display):
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    widths = [round(float(bar.get_width()), 9) for bar in display.bars_]
    return dict(zip(names, widths, strict=True))


def test_estimators_models_and_documents_show_the_same():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = LinguisticHierarchyClassifier("y <- x0, x1").fit(X, X[:, 0] > 0)
    of_estimator = WordsDisplay.from_estimator(model, "x0", X)
    for source in (model.model_, Predictor(model.model_)):
        display = WordsDisplay.from_estimator(source, "x0", X)
        for one, other in zip(display.lines_, of_estimator.lines_, strict=True):
            assert one.get_xydata().tolist() == other.get_xydata().tolist()
        assert len(display.bars_) == len(of_estimator.bars_)
    by_name = WordsDisplay.from_estimator(model.model_, "x0", pd.DataFrame({"x0": X[:, 0]}))
    assert len(by_name.bars_) == 40


def test_the_words_of_a_regressor_can_be_drawn():
    X = np.linspace(0, 1, 50)[:, None]
    tree = LinguisticTreeRegressor().fit(X, X[:, 0])
    assert len(WordsDisplay.from_estimator(tree, "x0", X).lines_) == 3


def test_errors_say_what_is_wrong(thermometer):
    with pytest.raises(ColumnError, match="the labeller has no column 'temprature'; did you mean"):
        WordsDisplay.from_estimator(thermometer, "temprature")
    with pytest.raises(NotFittedError):
        WordsDisplay.from_estimator(LinguisticLabeller(), "x0")
    with pytest.raises(ParameterError, match="a fitted estimator of solah"):
        WordsDisplay.from_estimator("model.json", "x0")


def test_names_of_crowded_words_do_not_touch():
    X = np.random.default_rng(0).lognormal(sigma=1.5, size=(400, 1))
    display = WordsDisplay.from_estimator(LinguisticLabeller(9).fit(X), "x0", X)
    display.figure_.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in display.texts_]  # without their threads
    whole = display.figure_.bbox
    for i, box in enumerate(boxes):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 3)), min_size=1, max_size=12))
def test_words_on_one_line_are_apart(words):
    places, widths = map(np.array, zip(*sorted(words), strict=True))
    lines = np.array(lines_apart(places, widths))
    for line in set(lines.tolist()):
        here = lines == line
        begins, ends = (places - widths / 2)[here], (places + widths / 2)[here]
        assert (begins[1:] >= ends[:-1]).all()
