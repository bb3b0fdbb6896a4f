"""What the tests of the reproduction share."""

import pytest
from small_wish import SMALL

from solah.reproduction import Reproduction


@pytest.fixture
def run(tmp_path):
    """Return a function that computes tables in this process, small and on bundled data."""

    def compute(*names, wish=SMALL, folder=tmp_path, **options):
        summary = Reproduction.plan(names, wish, folder).run(n_jobs=1, **options)
        return {table["name"]: table for table in summary["tables"]}

    return compute
