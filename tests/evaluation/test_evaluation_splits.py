"""Splits: every row is tested once a repeat, groups stay whole, and too little is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.evaluation import Plan, plan_splits
from solah.exceptions import DataError
from solah.model import Task


@given(
    st.integers(12, 60),
    st.integers(2, 6),
    st.integers(1, 3),
    st.sampled_from(list(Task)),
    st.booleans(),
)
def test_every_row_is_tested_once_a_repeat(n_rows, folds, repeats, task, grouped):
    target = np.arange(n_rows) % 3
    groups = np.arange(n_rows) // 2 if grouped else None
    splits = plan_splits(target, task, Plan(folds, repeats, seed=1), groups)
    for repeat in range(repeats):
        parts = [split for split in splits.splits if split.repeat == repeat]
        tested = np.concatenate([split.test for split in parts])
        assert sorted(tested) == list(range(n_rows))
        for split in parts:
            assert not set(split.train) & set(split.test)
            assert len(split.train) + len(split.test) == n_rows
            if groups is not None:
                assert not set(groups[split.train]) & set(groups[split.test])


def test_the_seed_decides():
    target = np.arange(40) % 2

    def first(plan):
        return plan_splits(target, Task.CLASSIFICATION, plan).splits[0].test.tolist()

    assert first(Plan(4, 1, 7)) == first(Plan(4, 1, 7))
    assert first(Plan(4, 1, 7)) != first(Plan(4, 1, 8))
    second_repeat = plan_splits(target, Task.CLASSIFICATION, Plan(4, 2, 7)).splits[4]
    assert second_repeat.test.tolist() == first(Plan(4, 1, 8))


def test_rare_classes_are_noted_and_no_warning_escapes():
    target = np.array(["a"] * 20 + ["b"] * 9 + ["c"])
    splits = plan_splits(target, Task.CLASSIFICATION, Plan(10))
    assert splits.plan.folds == 10
    assert splits.notes == ("fewer rows than folds, so absent from some of them: b (9), c (1)",)


def test_folds_are_limited_by_what_there_is():
    target = np.arange(6) % 2
    assert plan_splits(target, Task.CLASSIFICATION, Plan(10)).plan.folds == 3
    assert plan_splits(target, Task.REGRESSION, Plan(10)).plan.folds == 6
    grouped = plan_splits(target, Task.CLASSIFICATION, Plan(10), np.array(list("aabbaa")))
    assert grouped.plan.folds == 2
    assert grouped.method == "stratified, 2 groups kept together"
    assert grouped.notes == ("2 groups, so 2 folds instead of 10",)


@pytest.mark.parametrize(
    ("target", "task", "groups"),
    [
        ([1.5], Task.REGRESSION, None),
        (["a", "b"], Task.CLASSIFICATION, None),
        (["a", "b", "a"], Task.CLASSIFICATION, ["u", "u", "u"]),
    ],
)
def test_too_little_is_refused(target, task, groups):
    with pytest.raises(DataError, match="there is only 1 .*: too little"):
        plan_splits(np.array(target), task, Plan(), groups and np.array(groups))
