"""Columns that are hard on distance correlation, and what its definition says about them."""

import numpy as np
from hypothesis import strategies as st

from solah.kernels.dependence_reference import distances, naive_square

NUMBERS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy": lambda rng, n: rng.standard_t(2, n),
    "ties": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "constant": lambda rng, n: np.full(n, 7.5),
    "offset": lambda rng, n: 1e9 + rng.standard_normal(n),
    "large": lambda rng, n: 1e300 * rng.uniform(-1, 1, n),
    "small": lambda rng, n: 1e-300 * rng.uniform(-1, 1, n),
    "wide": lambda rng, n: rng.permutation(300)[:n].astype(float),
    "mixed": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.lognormal(size=n)),
}


@st.composite
def columns(draw, n, rng, *, missing=True):
    """Draw numbers or names; names come as object arrays of text, missing as NaN or None."""
    values = NUMBERS[draw(st.sampled_from(sorted(NUMBERS)))](rng, n)
    nominal = draw(st.booleans())
    if nominal:
        values = np.array([f"name {int(v % 3)}" for v in values], dtype=object)
    if missing and draw(st.booleans()):
        values[rng.random(n) < 0.3] = None if nominal else np.nan
    return values


@st.composite
def column_pairs(draw, *, weighted=False):
    """Draw two columns, perhaps dependent, and whole weights."""
    n = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 30, 120, 280]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x, y = draw(columns(n, rng)), draw(columns(n, rng))
    if draw(st.booleans()) and x.dtype != object and y.dtype != object:
        y = x / 2 + y / 2
    return x, y, rng.integers(0, 4, n) if weighted else None


def naive_correlation(x, y, weights=None, *, bias_corrected=False):
    """Compute the squared distance correlation by its definition, pairwise complete."""
    keep = ~(_is_missing(x) | _is_missing(y))
    if weights is not None:
        weights = weights[keep]
    pair = [distances(_scaled(v[keep]), nominal=v.dtype == object) for v in (x, y)]
    return naive_square(*pair, weights, bias_corrected=bias_corrected) if keep.any() else 0.0


def _is_missing(values):
    if values.dtype == object:
        return np.array([v is None for v in values])
    return np.isnan(values)


def _scaled(values):
    if values.dtype == object:
        return values
    # By a power of two, which rounds nothing.
    return np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])
