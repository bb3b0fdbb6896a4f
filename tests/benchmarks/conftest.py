"""What the tests of the benchmarks share: the benchmarks are scripts, not an installed package."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep boosting from waiting for its own threads where other work keeps the processors busy."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def make_set():
    """Return a function that makes a small set with numbers, states, gaps and maybe groups."""
    from solah.data import Column, Table
    from solah.datasets import Dataset

    def make(n_rows=60, n_groups=0, n_classes=2):
        rng = np.random.default_rng(0)
        target = np.array(["a", "b", "c"])[np.arange(n_rows) % n_classes]
        number = (target == "b") + 0.3 * rng.standard_normal(n_rows)
        number[::7] = np.nan
        state = np.where(target == "a", "low", "high").astype(object)
        state[1::9] = None
        columns = Column("number", number), Column("state", state)
        groups = (
            np.repeat([f"g{j}" for j in range(n_groups)], n_rows // n_groups) if n_groups else None
        )
        return Dataset("made", Table(columns, n_rows), target, "class", groups=groups)

    return make
