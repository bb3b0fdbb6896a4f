"""What the tests of scale share: few rows that go the way of many."""

import pytest
from smaller_sizes import make_smaller


@pytest.fixture(scope="module")
def few_are_many():
    """Let a hundred rows be so many that training passes over them, sketches and samples."""
    with pytest.MonkeyPatch.context() as patch:
        make_smaller(patch)
        yield
