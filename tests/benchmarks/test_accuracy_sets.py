"""Sets by name and group, and samples that keep the proportions."""

import numpy as np
import pytest
from comparison import sets


def test_a_sample_keeps_the_shares_of_classes_and_groups():
    rng = np.random.default_rng(1)
    target = rng.choice(["a", "b", "c"], 3000, p=[0.7, 0.29, 0.01])
    groups = np.repeat(["x", "y", "z"], [2000, 900, 100])
    rows = sets.sample_rows(target, groups, 600)
    assert len(rows) == len(set(rows.tolist())) == 600
    assert (np.diff(rows) > 0).all()
    assert (sets.sample_rows(target, groups, 600) == rows).all()
    for group in "xyz":
        for label in "abc":
            is_here = (groups == group) & (target == label)
            assert is_here[rows].sum() == pytest.approx(is_here.sum() / 5, abs=2)


@pytest.mark.shared
def test_the_sets_of_keel_have_no_missing_values(shared_data):
    for name, n_rows in (("breast_277", 277), ("wisconsin_683", 683)):
        rows = sets.load_rows(name, 20_000)
        assert (rows.name, rows.table.n_rows) == (name, n_rows)
        assert not any(column.missing().any() for column in rows.table.columns)
