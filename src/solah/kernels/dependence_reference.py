"""The sums in plain NumPy: what ``native/dependence.c`` does, and the definition as an oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.kernels.coded import N_SUMS, nine_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from solah.kernels.arrays import Float, Int64
    from solah.kernels.coded import Coded, Side


def naive_square(
    distances_a: Float,
    distances_b: Float,
    weights: ArrayLike | None = None,
    *,
    bias_corrected: bool = False,
) -> float:
    """Compute the squared distance correlation of two matrices of distances, by definition.

    The double centring of Székely, Rizzo and Bakirov (2007), or the U-centring of Székely and
    Rizzo (2014), in O(n^2). Weights are whole numbers here: how often each row is there.
    """
    if weights is not None:
        rows = np.repeat(np.arange(len(distances_a)), np.asarray(weights))
        distances_a, distances_b = (d[np.ix_(rows, rows)] for d in (distances_a, distances_b))
    if len(distances_a) < (4 if bias_corrected else 1):
        return 0.0
    centre = _u_centred if bias_corrected else _centred
    a, b = (centre(d / max(d.max(), np.finfo(float).tiny)) for d in (distances_a, distances_b))
    variance_a, variance_b = np.sum(a * a), np.sum(b * b)
    if min(variance_a, variance_b) < 1e-20:  # constant, but for rounding
        return 0.0
    return float(np.sum(a * b) / np.sqrt(variance_a * variance_b))


def distances(values: NDArray[Any], *, nominal: bool = False) -> Float:
    """Compute the distances between all values."""
    apart = values[:, None] != values if nominal else np.abs(values[:, None] - values)
    return np.asarray(apart, dtype=np.float64)


def add_joint_counts(a: Coded, b: Coded, weights: Int64 | None, counts: Int64) -> None:
    """Add the rows of two small columns to ``counts[code_a, code_b]``."""
    np.add.at(counts, (a.codes, b.codes), 1 if weights is None else weights)


def count_sums(counts: Int64, a: Coded, b: Coded) -> Float:
    """Compute the nine sums of a table of joint counts."""
    joint = counts[: a.n_levels, : b.n_levels].astype(np.float64)
    distances_a, distances_b = (
        distances(np.arange(n) if values is None else values, nominal=values is None)
        for n, values in zip(joint.shape, (a.values, b.values), strict=True)
    )
    weights_a, weights_b = joint.sum(axis=1), joint.sum(axis=0)
    rows_a, rows_b = distances_a @ weights_a, distances_b @ weights_b
    product = np.sum((distances_a @ joint @ distances_b) * joint)
    return nine_sums(
        _margins(a.values, weights_a, rows_a),
        _margins(b.values, weights_b, rows_b),
        np.array([product, rows_a @ joint @ rows_b]),
    )


def pair_sums(pairs: Sequence[tuple[Coded, Coded]], weights: Int64 | None) -> Float:
    """Compute the nine sums of pairs of small columns."""
    sums = np.empty((len(pairs), N_SUMS))
    for at, (a, b) in enumerate(pairs):
        counts = np.zeros((a.n_levels + 1, b.n_levels + 1), dtype=np.int64)
        add_joint_counts(a, b, weights, counts)
        sums[at] = count_sums(counts, a, b)
    return sums


def margins(a: Coded, b: Coded, weights: Int64 | None, work: Float) -> tuple[Float, Float]:
    """Compute the levels' sums of distances, and the margins, over the rows that have both."""
    codes, _, w = _points(a, b, weights)
    level_weights = np.bincount(codes, w, a.n_levels).astype(np.float64)
    rows = _distance_sums(a.values, level_weights)
    return rows, _margins(a.values, level_weights, rows)


def point_products(pairs: Sequence[tuple[Side, Side]], weights: Int64 | None, work: Float) -> Float:
    """Compute the products of pairs from the rows; names come first, fewer levels before more."""
    return np.array([_point_products(*first, *second, weights) for first, second in pairs])


def _point_products(
    a: Coded, rows_a: Float, b: Coded, rows_b: Float, weights: Int64 | None
) -> tuple[float, float]:
    codes_a, codes_b, w = _points(a, b, weights)
    at_a, at_b = rows_a[codes_a], rows_b[codes_b]
    if a.values is not None and b.values is not None:
        product = _products(a.values[codes_a], b.values[codes_b], w, codes_a)
    elif b.values is not None:
        product = float(w @ at_b) - _within_names(b.values[codes_b], w, codes_a)
    else:
        product = float(w @ at_a + w @ at_b - w.sum() ** 2 + w @ w)
    return product, float(w @ (at_a * at_b))


def _points(a: Coded, b: Coded, weights: Int64 | None) -> tuple[Int64, Int64, Float]:
    """Return the pairs of levels that occur, sorted by b, and the weight of each."""
    complete = (a.codes < a.n_levels) & (b.codes < b.n_levels)
    cells = b.codes[complete].astype(np.int64) * max(a.n_levels, 1) + a.codes[complete]
    cells, where = np.unique(cells, return_inverse=True)
    w = np.bincount(where, None if weights is None else weights[complete], len(cells))
    codes_b, codes_a = np.divmod(cells, max(a.n_levels, 1))
    return codes_a, codes_b, w.astype(np.float64)


def _distance_sums(values: Float | None, weights: Float) -> Float:
    """Sum up the distances from every level to the weighted levels."""
    if values is None:
        return np.asarray(weights.sum() - weights)
    below, below_v = np.cumsum(weights), np.cumsum(weights * values)
    sums: Float = values * (2 * below - below[-1:]) - (2 * below_v - below_v[-1:])
    return sums


def _margins(values: Float | None, weights: Float, rows: Float) -> Float:
    """Sum up weights, distances, squared distances and squared sums of distances."""
    total, distances = weights.sum(), weights @ rows
    squares = distances
    if values is not None:
        mean = weights @ values / max(total, np.finfo(float).tiny)
        squares = 2 * total * (weights @ (values - mean) ** 2)
    return np.array([total, distances, squares, weights @ rows**2])


def _products(x: Float, y: Float, w: Float, codes: Int64) -> float:
    """Sum up w w |x - x'| |y - y'| over points sorted by y; codes number the values of x.

    A pair of points parts at the highest bit in which their codes differ. At that bit, among the
    points that agree above it, each point on the right meets the sums over those on the left.
    """
    total = 0.0
    for shift in range(int(codes.max(initial=0)).bit_length()):
        node = codes >> (shift + 1)
        order = np.argsort(node, kind="stable")
        node, xs, ys = node[order], x[order], y[order]
        right = np.where((codes[order] >> shift) & 1, w[order], 0.0)
        left = w[order] - right
        dw, dx, dy, dxy = _below_minus_above(
            np.stack([left, left * xs, left * ys, left * xs * ys]), node
        )
        total += float(right @ (xs * (ys * dw - dy) - ys * dx + dxy))
    return 2.0 * total


def _below_minus_above(terms: Float, node: NDArray[Any]) -> Float:
    """For each point, sum up the terms before it less those after it, within its node."""
    starts = np.flatnonzero(np.diff(node, prepend=-1))
    sizes = np.diff(starts, append=len(node))
    below = np.cumsum(terms, axis=1)
    before = below[:, starts] - terms[:, starts]
    after = below[:, starts + sizes - 1]
    return 2 * below - np.repeat(before + after, sizes, axis=1)


def _within_names(y: Float, w: Float, names: Int64) -> float:
    """Sum up w w |y - y'| over points of one name."""
    order = np.argsort(names, kind="stable")
    names, y, w = names[order], y[order], w[order]
    dw, dy = _below_minus_above(np.stack([w, w * y]), names)
    return float(w @ (y * dw - dy))


def _centred(distances: Float) -> Float:
    rows = distances.mean(axis=0)
    centred: Float = distances - rows - rows[:, None] + rows.mean()
    return centred


def _u_centred(distances: Float) -> Float:
    n = len(distances)
    rows = distances.sum(axis=0) / (n - 2)
    centred: Float = distances - rows - rows[:, None] + distances.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    return centred
