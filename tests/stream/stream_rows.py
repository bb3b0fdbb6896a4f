"""Seeded rows for the tests of streams."""

import numpy as np


def turning(n_rows, turns_at, seed=0):
    """Draw rows whose class follows the sum of two columns, and their difference from a row on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    sign = np.where(np.arange(n_rows) < turns_at, 1.0, -1.0)
    return X, np.where(X[:, 0] + sign * X[:, 1] > 0, "yes", "no").astype(object)
