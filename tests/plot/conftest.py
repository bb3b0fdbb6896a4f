"""What the tests of pictures share."""

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def headless():
    plt.switch_backend("Agg")
    yield
    plt.close("all")
