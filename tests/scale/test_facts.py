"""The first pass finds what a table in memory would show."""

import re
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_rows import frames, partitions

from solah import LinguisticTreeClassifier
from solah.data import Kind, Table, as_column, from_frame, settle, states_of
from solah.exceptions import ColumnError, DataError
from solah.scale import facts as facts_module
from solah.scale.engines import statistics_of
from solah.scale.facts import ColumnRoles, Survey
from solah.scale.sources import open_source

ROWS = 7
pytestmark = pytest.mark.usefixtures("few_are_many")


def survey_of(pieces, declared=None, weight=None, of_classes=None):
    """Survey frames, or columns of values, as parts of one source; merge them in their order."""
    source = open_source([pd.DataFrame(piece) for piece in pieces])
    attributes = tuple(name for name in source.names if name not in ("y", weight))
    survey = Survey(ColumnRoles(attributes, "y", weight, of_classes or {}))
    found = [statistics_of(survey, [part], ROWS) for part in source.parts(ROWS)]
    return survey.facts(reduce(survey.merge, found), declared)


def texts(*cells):
    return np.array(cells, dtype=object)


def with_goal(column, n_rows=None):
    n_rows = len(column) if n_rows is None else n_rows
    return {"x": column, "y": np.arange(n_rows) % 2}


def settled(table, declared=None):
    """Return what a table in memory is settled as: kinds and states, or the error."""
    try:
        table, kinds = settle(table, declared)
    except DataError as error:
        return str(error)
    return [
        (kind, states_of(column, kind), column.order)
        for column, kind in zip(table.columns, kinds, strict=True)
    ]


def surveyed(frame, parts, declared=None):
    try:
        facts = survey_of([frame.iloc[part] for part in parts], declared)
    except DataError as error:
        return str(error)
    states = [facts.states(place) for place in range(len(facts.columns))]
    orders = [column.order for column in facts.columns]
    return list(zip(facts.kinds, states, orders, strict=True))


@given(frames(20, 60).flatmap(lambda case: st.tuples(st.just(case[0]), partitions(len(case[0])))))
def test_kinds_are_those_of_the_whole_table(case):
    frame, parts = case
    frame = frame.drop(columns="how often", errors="ignore")
    assert surveyed(frame, parts) == settled(from_frame(frame.drop(columns="y")))


def refusal(message):
    """Leave out of a message what depends on the order of the rows: the value and its row."""
    return re.sub(r" \(row \d+\)|row \d+|'[^']*'|--missing \S+", "", message)


cells = st.lists(
    st.one_of(
        st.sampled_from([None, "1", "2.0", "-0", "0", "a", "b", "True", "nan", "1e5", "10", "x_1"]),
        st.sampled_from([None, "25%", "7 %", "$5", "1,234", "TRUE", "false", "?"]),
        st.sampled_from(["TRUE", "False", "n/a"]),
    ),
    min_size=6,
    max_size=24,
)
declarations = st.sampled_from(
    [None, "categorical", "ordinal", "binary", "continuous", ["a", "b"], [1, 2, "a", "b"]]
)


@given(cells, declarations, st.data())
def test_texts_are_what_they_are_in_memory(cells, declared, data):
    frame = pd.DataFrame({"x": texts(*cells), "y": np.arange(len(cells)) % 2})
    parts = data.draw(partitions(len(frame)))
    declared = None if declared is None else {"x": declared}
    expected = settled(Table((as_column("x", texts(*cells)),), len(cells)), declared)
    found = surveyed(frame, parts, declared)
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert refusal(found) == refusal(expected)
    else:
        assert found == expected


@given(st.data())
def test_statistics_merge_in_any_order(data):
    frame, weight = data.draw(frames(20, 60))
    parts = data.draw(partitions(len(frame)))
    source = open_source([frame.iloc[part] for part in parts])
    attributes = tuple(name for name in source.names if name not in ("y", weight))
    survey = Survey(ColumnRoles(attributes, "y", weight))
    found = [statistics_of(survey, [part], ROWS) for part in source.parts(ROWS)]
    one = reduce(survey.merge, found)
    other = reduce(lambda a, b: survey.merge(b, a), data.draw(st.permutations(found)))
    assert told(survey.facts(one, None)) == told(survey.facts(other, None))
    whole = statistics_of(survey, source.parts(ROWS), ROWS)
    assert told(survey.facts(whole, None)) == told(survey.facts(one, None))


def told(facts):
    """Spell out all facts."""
    values = [column.values.tolist() for column in facts.columns]
    sketches = {
        name: (sketch.values.tolist(), sketch.low, sketch.high, sketch.is_complete)
        for name, sketch in facts.sketches.items()
    }
    weights = dict(sorted(facts.weights.items()))
    return (
        (facts.n_rows, facts.kinds, list(facts.classes.items()), weights),
        (facts.digests.tolist(), sketches, str(values)),
    )


def test_rows_without_weight_do_not_count_and_their_classes_do():
    frame = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "b", "c"], "w": [1.0, 0.0, 2.5, 0.0]}
    facts = survey_of([frame], weight="w")
    assert facts.n_rows == 2
    assert facts.classes == {"a": 1, "b": 2, "c": 1}
    assert facts.weights == {"a": (1.0, 1.0), "b": (2.5, 2.5), "c": (np.inf, 0.0)}
    assert facts.sketches["x"].values.tolist() == [1.0, 3.0]


def test_classes_of_weight_zero_have_rows_without_weight():
    facts = survey_of([{"x": [1.0, 2.0, 3.0], "y": [1, 2, 2]}], of_classes={"2": 0.0})
    assert (facts.n_rows, facts.classes) == (1, {1: 1, 2: 2})


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([3, 20, 3], {3: 2, 20: 1}),
        ([True, False, True], {False: 1, True: 2}),
        (["20", "3", "3"], {"20": 1, "3": 2}),
    ],
)
def test_classes_are_counted_in_their_order(values, classes):
    facts = survey_of([{"x": [1.0], "y": [value]} for value in values])
    assert list(facts.classes.items()) == list(classes.items())


def fit(*pieces, weight=None, **parameters):
    frames = [pd.DataFrame(piece) for piece in pieces]
    return LinguisticTreeClassifier(**parameters).fit(frames, "y", sample_weight=weight)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_infinite_value_is_refused_with_its_true_row(n_jobs):
    pieces = [with_goal(np.arange(10.0)), with_goal(np.array([1.0, np.inf, 2.0]))]
    with pytest.raises(DataError, match=r"column 'x' has an infinite value \(row 12\); replace"):
        fit(*pieces, n_jobs=n_jobs)


def test_a_missing_class_is_refused_with_its_true_row():
    pieces = [with_goal(np.arange(9.0)), {"x": [1.0, 2.0, 3.0], "y": [1.0, 0.0, np.nan]}]
    with pytest.raises(DataError, match="the target 'y' has no value in row 12; leave such rows"):
        fit(*pieces)


def test_numbers_with_a_word_among_them_are_refused_with_the_true_row():
    pieces = [with_goal(texts(*"1234567")), with_goal(texts("8", "9", "unknown", "10", "unknown"))]
    with pytest.raises(
        DataError, match=r"'x' has 2 values that are not numbers \(first: 'unknown', row 10\)"
    ):
        fit(*pieces)
    with pytest.raises(DataError, match=r"first: 'unknown', row 10\)"):
        fit(*pieces, feature_types={"x": "continuous"})
    assert (
        fit(*pieces, feature_types={"x": "categorical"}).model_.attributes[0].kind
        is Kind.CATEGORICAL
    )


def test_rows_are_true_after_rows_without_weight_too():
    frame = with_goal(np.array([1.0, 2.0, 3.0, np.inf])) | {"w": [0.0, 1.0, 0.0, 1.0]}
    with pytest.raises(DataError, match=r"infinite value \(row 4\)"):
        fit(frame, weight="w")


def test_texts_without_end_are_no_category(monkeypatch):
    monkeypatch.setattr(facts_module, "MAX_TEXTS", 10)
    pieces = [with_goal(texts(*(f"{n}-{j}" for j in range(6)))) for n in range(3)]
    with pytest.raises(
        DataError, match="'x' has more than 10 different texts; it looks like an id"
    ):
        fit(*pieces)
    numbers = [with_goal(texts(*(str(10 * n + j) for j in range(6)))) for n in range(3)]
    assert fit(*numbers).model_.attributes[0].kind is Kind.CONTINUOUS


def test_too_many_categories_are_refused_as_in_memory():
    frame = with_goal(texts(*(f"name {j}" for j in range(300))))
    with pytest.raises(DataError, match="'x' has 300 distinct values, more than 254"):
        fit(frame)


def test_a_target_of_too_many_values_is_no_class(monkeypatch):
    monkeypatch.setattr(facts_module, "MAX_CLASSES", 10)
    with pytest.raises(DataError, match="the target 'y' has more than 10 different values"):
        fit({"x": np.arange(30.0), "y": np.arange(30)})
    monkeypatch.undo()
    with pytest.raises(DataError, match="the goal 'y' has 300 classes, and solah tells at most"):
        fit({"x": np.arange(300.0), "y": np.arange(300)})


def test_a_declared_column_that_is_not_there_is_refused():
    frame = with_goal(np.arange(200.0))
    with pytest.raises(ColumnError, match="no column 'X'; did you mean 'x'"):
        fit(frame, feature_types={"X": "ordinal"})


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="there is no row to learn from: none has any weight"):
        fit(with_goal(np.arange(4.0)) | {"w": np.zeros(4)}, weight="w")
    with pytest.raises(DataError, match="no rows"):
        fit({"x": np.empty(0), "y": np.empty(0)})


@pytest.mark.parametrize("n_rows", [20, 200])
def test_one_class_is_as_good_as_in_memory(n_rows):
    frame = pd.DataFrame({"x": np.arange(float(n_rows)), "y": ["only"] * n_rows})
    here = LinguisticTreeClassifier().fit(frame[["x"]], frame["y"])
    there = fit(frame)
    assert there.classes_.tolist() == here.classes_.tolist() == ["only"]
    assert there.model_ == here.model_


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0, -1.0], "must be finite and not negative. Got -1.0 in row 8"),
        ([1.0, np.inf, 1.0], "must be finite and not negative. Got inf in row 7"),
        ([np.nan, 1.0, 1.0], "must be finite and not negative. Got nan in row 6"),
    ],
)
def test_wrong_weights_are_refused_with_their_row(weights, message):
    before = with_goal(np.arange(5.0)) | {"w": np.ones(5)}
    with pytest.raises(DataError, match=message):
        fit(before, with_goal(np.arange(3.0)) | {"w": weights}, weight="w")


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="'w' has 1 value that is not a number"):
        fit(with_goal(np.arange(3.0)) | {"w": texts("1", "2", "much")}, weight="w")
