"""Sets by name and group, and samples that keep the proportions."""

import numpy as np
import pytest
from comparison import sets

from solah.exceptions import ParameterError


def test_the_groups_are_those_of_the_issue():
    assert [len(group) for group in sets.GROUPS.values()] == [8, 12, 5]
    assert set(sets.choose_sets(list(sets.GROUPS))) == {"eight", "twelve", "sensors"}
    for group in sets.GROUPS.values():
        assert sets.choose_sets(list(group)) == {"named": group}


def test_aliases_are_resolved_and_named_once():
    assert sets.choose_sets(["bupa", "liver_disorders"]) == {"named": ("liver_disorders",)}


def test_unknown_sets():
    with pytest.raises(ParameterError, match="no set 'sonor'; did you mean 'sonar'?"):
        sets.choose_sets(["eight", "sonor"])


def test_a_sample_keeps_the_shares_of_classes_and_groups():
    rng = np.random.default_rng(1)
    goal = rng.choice(["a", "b", "c"], 3000, p=[0.7, 0.29, 0.01])
    groups = np.repeat(["x", "y", "z"], [2000, 900, 100])
    rows = sets.sample_rows(goal, groups, 600)
    assert len(rows) == len(set(rows.tolist())) == 600
    assert (np.diff(rows) > 0).all()
    assert (sets.sample_rows(goal, groups, 600) == rows).all()
    for group in "xyz":
        for label in "abc":
            is_here = (groups == group) & (goal == label)
            assert is_here[rows].sum() == pytest.approx(is_here.sum() / 5, abs=2)


def test_large_sets_are_sampled_and_small_ones_are_whole(monkeypatch, make_set):
    monkeypatch.setattr(sets.data, "load_rows", lambda name: make_set(300, n_groups=3))
    sets.load_rows.cache_clear()
    small, whole = sets.load_rows("made", 120), sets.load_rows("made", 300)
    sets.load_rows.cache_clear()
    assert (small.table.n_rows, whole.table.n_rows) == (120, 300)
    assert small.class_counts == {"a": 60, "b": 60}
    assert np.unique(small.groups, return_counts=True)[1].tolist() == [40, 40, 40]
    assert len(small.goal) == len(small.groups) == 120


@pytest.mark.shared
def test_the_sets_of_keel_have_no_missing_values(shared_data):
    for name, n_rows in (("breast_277", 277), ("wisconsin_683", 683)):
        rows = sets.load_rows(name, 20_000)
        assert (rows.name, rows.table.n_rows) == (name, n_rows)
        assert not any(column.missing().any() for column in rows.table.columns)
