"""What the tests of scale share: few rows that go the way of many."""

import pytest
from smaller_sizes import make_smaller


@pytest.fixture(scope="module")
def few_are_many():
    """Let a hundred rows be so many that training reads them in passes, and draws a sample."""
    with pytest.MonkeyPatch.context() as patch:
        make_smaller(patch)
        yield
