"""Tiles: every pair of columns once, and small enough."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.dependence.tiles import tile_width, tiles_of


@given(st.integers(0, 40), st.integers(1, 12))
def test_tiles_have_every_pair_once(n_columns, width):
    tiles = tiles_of(n_columns, width)
    pairs = [
        (first, other) for tile in tiles for first, others in tile.strips() for other in others
    ]
    assert sorted(pairs) == list(combinations(range(n_columns), 2))
    assert all(max(tile.shape) <= width for tile in tiles)
    assert all(tile.n_pairs > 0 for tile in tiles)
    assert len({tile.name for tile in tiles}) == len(tiles)


@given(st.integers(1, 30), st.integers(1, 12))
def test_placed_tiles_make_a_symmetric_matrix(n_columns, width):
    expected = np.random.default_rng(n_columns).random((n_columns, n_columns))
    expected = np.triu(expected, 1)
    matrix = np.zeros_like(expected)
    for tile in tiles_of(n_columns, width):
        tile.place(expected[np.ix_(tile.rows, tile.columns)], matrix)
    np.testing.assert_array_equal(matrix, expected + expected.T)


@pytest.mark.parametrize("n_rows", [0, 1, 20_000, 50_000, 10**7, 10**10])
def test_width_shrinks_with_the_rows(n_rows):
    width = tile_width(n_rows)
    assert 16 <= width <= 128
    assert tile_width(10 * n_rows) <= width
    assert width == 16 or 2 * width * n_rows * 24 <= 2**28
