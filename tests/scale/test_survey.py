"""The first pass finds what a table in memory would show."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_rows import frames, partitions

from solah import RuleClassifier, scan
from solah.data import Kind, Table, as_column, from_frame, infer_types, states_of
from solah.exceptions import ColumnError, DataError
from solah.scale import survey as survey_module
from solah.scale.sources import add_part
from solah.scale.survey import ColumnRoles, Survey

ROWS = 7
pytestmark = pytest.mark.usefixtures("few_are_many")


def survey_of(pieces, declared=None, weight=None, of_classes=None, order=None):
    """Survey frames, or columns of values, as parts of one source; merge them in some order."""
    source = scan([pd.DataFrame(piece) for piece in pieces]).source
    features = tuple(name for name in source.names if name not in ("y", weight))
    survey = Survey(ColumnRoles(features, "y", weight, of_classes or {}))
    found = survey.begin()
    for place in order or range(len(source.parts)):
        seen = survey.begin()
        add_part(survey, seen, source.parts[place], ROWS, None, is_named=False)
        found = survey.merge(found, seen)
    return survey.facts(found, declared)


def texts(*cells):
    return np.array(cells, dtype=object)


def with_target(column, n_rows=None):
    n_rows = len(column) if n_rows is None else n_rows
    return {"x": column, "y": np.arange(n_rows) % 2}


def settled(table, declared=None):
    """Return what a table in memory is settled as: kinds and states, or the error."""
    try:
        table, kinds = infer_types(table, declared)
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
    orders = [column.order for column in facts.columns]
    return list(zip(facts.kinds, facts.states(), orders, strict=True))


@given(frames(20, 60).flatmap(lambda case: st.tuples(st.just(case[0]), partitions(len(case[0])))))
def test_kinds_are_those_of_the_whole_table(case):
    frame, parts = case
    frame = frame.drop(columns="how often", errors="ignore")
    assert surveyed(frame, parts) == settled(from_frame(frame.drop(columns="y")))


def refusal(message):
    """Leave out of a message what it says of single rows, and how many of them there are."""
    message = re.sub(r"\d+ values? that (is|are) not (a number|numbers)", "", message)
    return re.sub(r",? \(?row \d+\)?|\)|'[^']*'|--read missing=\S+", "", message)


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
def test_facts_merge_in_any_order(data):
    frame, weight = data.draw(frames(20, 60))
    parts = [frame.iloc[part] for part in data.draw(partitions(len(frame)))]
    order = data.draw(st.permutations(range(len(parts))))
    one, other = survey_of(parts, weight=weight), survey_of(parts, weight=weight, order=order)
    whole = survey_of([frame], weight=weight)
    assert told(one) == told(other) == told(whole)


def told(facts):
    """Spell out all facts."""
    values = [column.values.tolist() for column in facts.columns]
    weights = sorted(facts.weights.items())
    return facts.n_all, facts.kinds, [*facts.classes.items()], weights, facts.spans, str(values)


def test_rows_without_weight_do_not_count_and_their_classes_do():
    frame = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "b", "c"], "w": [1.0, 0.0, 2.5, 0.0]}
    facts = survey_of([frame], weight="w")
    assert facts.n_all == 4
    assert facts.classes == {"a": 1, "b": 2, "c": 1}
    assert facts.weights == {"a": (1.0, 1.0), "b": (2.5, 2.5), "c": (np.inf, 0.0)}
    assert facts.spans["x"] == (1.0, 3.0)


def test_classes_of_weight_zero_have_rows_without_weight():
    facts = survey_of([{"x": [1.0, 2.0, 3.0], "y": [1, 2, 2]}], of_classes={"2": 0.0})
    assert (facts.spans["x"], facts.classes) == ((1.0, 1.0), {1: 1, 2: 2})


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
    return RuleClassifier(**parameters).fit(frames, "y", sample_weight=weight)


def test_a_missing_class_is_refused_with_its_row():
    pieces = [with_target(np.arange(9.0)), {"x": [1.0, 2.0, 3.0], "y": [1.0, 0.0, np.nan]}]
    with pytest.raises(DataError, match="frame 2: the target 'y' has no value in row 3"):
        fit(*pieces)


def test_numbers_with_a_word_among_them_are_refused():
    pieces = [
        with_target(texts(*"1234567")),
        with_target(texts("8", "9", "unknown", "10", "unknown")),
    ]
    for declared in (None, {"x": "continuous"}):
        with pytest.raises(DataError, match="'x' has .* not .*number.*first: 'unknown'"):
            survey_of(pieces, declared)
    assert survey_of(pieces, {"x": "categorical"}).kinds == (Kind.CATEGORICAL,)


def test_rows_are_true_after_rows_without_weight_too():
    frame = with_target(np.array([1.0, 2.0, 3.0, np.inf])) | {"w": [0.0, 1.0, 0.0, 1.0]}
    with pytest.raises(DataError, match=r"infinite value \(row 4\)"):
        fit(frame, weight="w")


def test_texts_without_end_are_no_category(monkeypatch):
    monkeypatch.setattr(survey_module, "MAX_TEXTS", 10)
    pieces = [with_target(texts(*(f"{n}-{j}" for j in range(6)))) for n in range(3)]
    with pytest.raises(
        DataError, match="'x' has more than 10 different texts; it looks like an id"
    ):
        fit(*pieces)
    numbers = [with_target(texts(*(str(10 * n + j) for j in range(6)))) for n in range(3)]
    assert survey_of(numbers).kinds == (Kind.CONTINUOUS,)


def test_too_many_categories_are_refused_as_in_memory():
    frame = with_target(texts(*(f"name {j}" for j in range(600))))
    with pytest.raises(DataError, match="'x' has 600 distinct values, more than 254"):
        survey_of([frame])


def test_a_target_of_too_many_values_is_no_class(monkeypatch):
    monkeypatch.setattr(survey_module, "MAX_CLASSES", 10)
    with pytest.raises(DataError, match="the target 'y' has more than 10 different values"):
        fit({"x": np.arange(30.0), "y": np.arange(30)})
    monkeypatch.undo()
    with pytest.raises(DataError, match="the target 'y' has 300 classes, more than the limit of"):
        fit({"x": np.arange(300.0), "y": np.arange(300)})


def test_a_declared_column_that_is_not_there_is_refused():
    frame = with_target(np.arange(200.0))
    with pytest.raises(ColumnError, match="no column 'X'; did you mean 'x'"):
        fit(frame, feature_types={"X": "ordinal"})


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="there is no row to learn from: none has any weight"):
        fit(with_target(np.arange(4.0)) | {"w": np.zeros(4)}, weight="w")
    with pytest.raises(DataError, match="no rows"):
        fit({"x": np.empty(0), "y": np.empty(0)})


@pytest.mark.parametrize("n_rows", [20, 200])
def test_one_class_is_as_good_as_in_memory(n_rows):
    frame = pd.DataFrame({"x": np.arange(float(n_rows)), "y": ["only"] * n_rows})
    here = RuleClassifier().fit(frame[["x"]], frame["y"])
    there = fit(frame)
    assert there.classes_.tolist() == here.classes_.tolist() == ["only"]
    assert there.model_ == here.model_


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0, -1.0], "must be finite and not negative. Got -1.0 in row 3"),
        ([1.0, np.inf, 1.0], "must be finite and not negative. Got inf in row 2"),
        ([np.nan, 1.0, 1.0], "must be finite and not negative. Got nan in row 1"),
    ],
)
def test_wrong_weights_are_refused_with_their_row(weights, message):
    before = with_target(np.arange(5.0)) | {"w": np.ones(5)}
    with pytest.raises(DataError, match=message):
        fit(before, with_target(np.arange(3.0)) | {"w": weights}, weight="w")


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="'w' has 1 value that is not a number"):
        fit(with_target(np.arange(3.0)) | {"w": texts("1", "2", "much")}, weight="w")
