"""What the tests of the reproduction share."""

import pytest
from small_scope import SMALL

from reproduction.running import Reproduction


@pytest.fixture
def run(tmp_path):
    """Return a function that computes tables in this process, by default small, on bundled data."""

    def compute(*names, scope=SMALL, folder=tmp_path, **options):
        summary = Reproduction.plan(names, scope, folder).run(n_jobs=1, **options)
        return {table["name"]: table for table in summary["tables"]}

    return compute


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Make a machine that has only what comes with scikit-learn."""
    monkeypatch.setenv("SOLAH_DATA", "")  # set, so that what the program sets is undone
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOLAH_DATA_URL", "http://127.0.0.1:1/")
