"""Error rates by group: what is counted, and how sure it is."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import confusion_matrix

from solah import RuleClassifier
from solah.data import Column
from solah.evaluation import (
    bin_probabilities,
    calibration_error,
    measure_groups,
)
from solah.evaluation.groups import Rate, rows_by_value
from solah.exceptions import DataError, ParameterError
from solah.report import describe_groups, group_notes, group_table


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_interval_is_where_the_score_test_does_not_reject(counts):
    hits, n = counts
    rate, z = Rate(hits, n), norm.ppf(0.975)
    assert 0 <= rate.low <= rate.share <= rate.high <= 1
    for end in (rate.low, rate.high):
        if 1e-12 < end < 1 - 1e-12:
            distance = abs(rate.share - end) / math.sqrt(end * (1 - end) / n)
            assert distance == pytest.approx(z, rel=1e-6, abs=1e-6)


COLUMNS = st.one_of(
    st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1).map(np.array),
    st.lists(st.integers(0, 3) | st.just(math.nan), min_size=1).map(lambda x: np.array(x, float)),
    st.lists(st.sampled_from(["a", "b", "missing", None]), min_size=1).map(
        lambda x: np.array(x, dtype=object)
    ),
    st.lists(st.booleans(), min_size=1).map(np.array),
)


@given(COLUMNS)
def test_every_row_is_in_one_group(values):
    groups = rows_by_value(Column("x", values))
    assert sorted(np.concatenate(list(groups.values())).tolist()) == list(range(len(values)))
    assert all(len(rows) for rows in groups.values())


def test_ranges_of_a_number_hold_equal_shares_and_say_where_they_end():
    rows = rows_by_value(Column("age", np.arange(100.0)))
    assert {name: (one.min(), one.max()) for name, one in rows.items()} == {
        "up to 24": (0, 24),
        "over 24 to 49": (25, 49),
        "over 49 to 74": (50, 74),
        "over 74": (75, 99),
    }
    mostly_zero = np.array([0.0] * 90 + list(range(1, 21)))
    assert list(rows_by_value(Column("x", mostly_zero))) == ["up to 0", "over 0"]
    mostly_top = np.array([99.0] * 90 + list(range(20)))
    assert list(rows_by_value(Column("x", mostly_top))) == ["all values"]
    names = np.array([f"name {i}" for i in range(51)], dtype=object)
    with pytest.raises(DataError, match="'name' has 51 different values, which is too many"):
        rows_by_value(Column("name", names))


def measured_by(column, rows, names, positive=None):
    """Measure rows with indices of classes, -1 for a missing one."""
    labels = np.array([*names, None], dtype=object)
    true, predicted = labels[rows["y_true"]], labels[rows["decided"]]
    return measure_groups(column, true, predicted, rows["probabilities"], names, positive)


def drawn(seed=0, n_rows=300, n_classes=2):
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.ones(n_classes), n_rows)
    return {
        "y_true": rng.integers(0, n_classes, n_rows),
        "decided": np.argmax(beliefs, axis=1),
        "probabilities": beliefs,
    }


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_rates_are_those_of_the_groups_confusion_matrix(n_classes):
    rows = drawn(n_classes=n_classes)
    values = np.random.default_rng(1).choice(np.array(["f", "m"], dtype=object), 300)
    names = [f"c{i}" for i in range(n_classes)]
    measured = measured_by(Column("sex", values), rows, names)
    for group in measured.groups:
        is_in = values == group.name
        confusion = confusion_matrix(rows["y_true"][is_in], rows["decided"][is_in])
        assert group.accuracy == Rate(np.trace(confusion), is_in.sum())
        assert [one.of for one in group.recall] == confusion.sum(axis=1).tolist()
        assert [one.hits for one in group.recall] == np.diag(confusion).tolist()
        assert [one.hits for one in group.decided] == confusion.sum(axis=0).tolist()
        assert group.mean_probabilities == pytest.approx(rows["probabilities"][is_in].mean(axis=0))
    assert measured.whole.n_rows == 300


@pytest.mark.parametrize(("positive", "place"), [(None, 1), ("b", 1), ("a", 0)])
def test_errors_are_counted_of_the_positive_class(positive, place):
    rows = drawn()
    column = Column("x", np.zeros(300))
    measured = measured_by(column, rows, ["a", "b"], positive)
    described = describe_groups(measured)
    is_true, is_decided = rows["y_true"] == place, rows["decided"] == place
    assert described["positive"] == "ab"[place]
    assert described["all"]["false_positive"]["hits"] == (~is_true & is_decided).sum()
    all_rows = measured.rows()[-1]
    assert all_rows["false positive"] == pytest.approx(
        (is_decided & ~is_true).sum() / (~is_true).sum()
    )
    assert all_rows["false negative"] == pytest.approx((~is_decided)[is_true].mean())
    assert described["all"]["false_positive"]["of"] == (~is_true).sum()
    assert described["all"]["false_negative"]["hits"] == (is_true & ~is_decided).sum()
    assert f"decided {'ab'[place]}" in group_table(described)[0]
    assert f"of those that are {'ba'[place]}, decided {'ab'[place]}." in group_notes(described)[1]


@pytest.mark.parametrize(
    ("n_classes", "positive", "message"),
    [(2, "c9", "no class 'c9'; there are: 'c0', 'c1'"), (3, "c1", "for two classes; there are 3")],
)
def test_a_positive_class_that_cannot_be_is_refused(n_classes, positive, message):
    rows, column = drawn(n_classes=n_classes), Column("x", np.zeros(300))
    names = [f"c{i}" for i in range(n_classes)]
    with pytest.raises(ParameterError, match=message):
        measured_by(column, rows, names, positive)


def test_rows_without_a_truth_count_only_among_the_decisions():
    rows = drawn()
    rows["y_true"][:100] = -1
    column = Column("x", np.zeros(300))
    (group,) = measured_by(column, rows, ["a", "b"]).groups
    assert (group.n_rows, group.accuracy.of, group.decided[0].of) == (300, 200, 300)
    rows["y_true"][:] = -1
    (group,) = measured_by(column, rows, ["a", "b"]).groups
    assert (group.accuracy.share, group.log_loss, group.mean_probabilities) == (None, None, ())


def test_numbers_have_errors_with_a_sign():
    truth = np.array([1.0, 2.0, np.nan, 4.0])
    column = Column("x", np.array(["a", "a", "a", "b"], dtype=object))
    first, second = measure_groups(column, truth, np.array([2.0, 5.0, 9.0, 3.0])).groups
    assert (first.n_rows, first.mae, first.mean_error) == (2, 2.0, 2.0)
    assert first.low == pytest.approx(2 - norm.ppf(0.975))
    assert (second.mean_error, second.low) == (-1.0, None)


def test_a_data_scientist_measures_a_model_by_a_series():
    frame = pd.DataFrame({"x": np.arange(200.0), "sex": ["f", "m"] * 100})
    y = np.where(frame["x"] > 100, "yes", "no")
    model = RuleClassifier(thresholds=[[0, 1], [4, 0]]).fit(frame[["x"]], y)
    predicted, probabilities = model.predict(frame[["x"]]), model.predict_proba(frame[["x"]])
    found = measure_groups(frame["sex"], y, predicted, probabilities, model.classes_, "yes")
    assert (found.column, found.positive) == ("sex", "yes")
    table = pd.DataFrame(found.rows()).set_index("group")
    assert table.index.tolist() == ["f", "m", "all"]
    assert table.loc["all", "accuracy"] == pytest.approx((predicted == y).mean())
    assert table.loc["f", "predicted yes"] == pytest.approx((predicted[::2] == "yes").mean())
    truth, numbers = [True, False] * 100, probabilities[:, 0] > 0.5
    assert measure_groups(frame["sex"], truth, numbers, probabilities, [False, True]).rows()


def test_beliefs_that_come_true_as_often_as_they_promise_have_no_error():
    beliefs = np.array([[0.75, 0.25]] * 4)
    assert calibration_error(np.array([0, 0, 0, 1]), beliefs, np.zeros(4, int)) == 0.0
    assert calibration_error(np.array([0, 1, 1, 1]), beliefs, np.zeros(4, int)) == 0.5
    assert math.isnan(bin_probabilities(np.empty(0), np.empty(0, bool)).error)
