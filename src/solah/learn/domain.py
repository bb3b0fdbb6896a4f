"""Learns the training domain: ranges of values, and which cells occurred together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.model.encode import code
from solah.model.limits import LEAST_GAP, MOST_NUMBER
from solah.model.policy import MOST_CUTS, MOST_PAIRS, Cells, Domain, SeenTogether, cells_of, n_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature

SLACK = 0.05
"""How far values may lie outside those of the training rows, as a share of their range."""

_MOST_SAMPLED = 2_000
_MOST_CELLS = MOST_CUTS + 1


def learn_domain(model: Model, table: Table) -> Domain:
    """Learn the training domain of a model.

    Parameters
    ----------
    model : Model
    table : Table
        The training rows, with the model's features by name.

    Returns
    -------
    domain : Domain
        The range of each value, extended by 5% at both ends. Cells are cut where one word fades
        into the next. Pairs are the edges of a tree with the greatest mutual information (Chow
        and Liu's), so each feature is paired with those it depends on most. Features without
        rules are never out of range, and have no pairs.
    """
    asked = {one.name for node in model.nodes for one in node.inputs if one.tree is None}
    readings = code(table, model.features).columns
    cells = tuple(_cells(one, readings[one.name], asked) for one in model.features)
    places: dict[str, NDArray[np.intp]] = {}
    sizes: dict[str, int] = {}
    for one, of_one in zip(model.features, cells, strict=True):
        size = n_cells(one, of_one)
        if one.name in asked and 2 <= size <= _MOST_CELLS:
            places[one.name], sizes[one.name] = cells_of(one, of_one, readings[one.name]), size
    names = _most_varied(places, sizes)
    weights = _mutual_information([places[name] for name in names], [sizes[name] for name in names])
    pairs = [_seen(names[a], names[b], places, sizes) for a, b in _spanning_tree(weights)]
    return Domain(cells, tuple(pairs))


def _cells(feature: Feature, readings: Float, asked: set[str]) -> Cells:
    if not feature.is_continuous:
        return Cells(feature.name)
    if feature.name not in asked:
        return Cells(feature.name, -MOST_NUMBER, MOST_NUMBER)
    known = readings[np.isfinite(readings)]
    ends = (known.min(), known.max()) if len(known) else (feature.low, feature.high)
    low, high = np.clip(np.array(ends, dtype=np.float64), -MOST_NUMBER, MOST_NUMBER).tolist()
    slack = SLACK * (high - low)
    return Cells(
        feature.name,
        max(low - slack, -MOST_NUMBER),
        min(high + slack, MOST_NUMBER),
        _cuts(feature),
    )


def _cuts(feature: Feature) -> tuple[float, ...]:
    """Return where one word fades into the next; a selection if there are many."""
    if feature.cores:
        ends = zip(feature.cores, feature.cores[1:], strict=False)
        between = [low_core[1] / 2 + high_core[0] / 2 for low_core, high_core in ends]
    else:
        between = list(feature.peaks[1::2])
    kept = np.unique(np.linspace(0, len(between) - 1, MOST_CUTS).round().astype(int))
    cuts: list[float] = []
    for cut in [between[place] for place in kept] if len(between) > MOST_CUTS else between:
        if not cuts or cut - cuts[-1] >= LEAST_GAP:
            cuts.append(float(cut))
    return tuple(cuts)


def _most_varied(places: Mapping[str, NDArray[np.intp]], sizes: Mapping[str, int]) -> list[str]:
    """Return the features whose cells vary most, as many as pairs allow."""
    entropies = {
        name: _information(np.diag(np.bincount(of[of >= 0], minlength=sizes[name])))
        for name, of in places.items()
    }
    varied = [name for name in places if entropies[name] > 0]
    chosen = set(sorted(varied, key=lambda name: -entropies[name])[: MOST_PAIRS + 1])
    return [name for name in varied if name in chosen]


def _mutual_information(places: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> Float:
    """Return the mutual information between the cells of features, on a sample of the rows."""
    if not places:
        return np.zeros((0, 0))
    n_rows = len(places[0])
    sample = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST_SAMPLED)).round().astype(int))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    marks = np.zeros((len(sample), starts[-1]), dtype=np.float32)
    for start, of_one in zip(starts, places, strict=False):
        drawn = of_one[sample]
        is_known = np.flatnonzero(drawn >= 0)
        marks[is_known, start + drawn[is_known]] = 1.0
    together = (marks.T @ marks).astype(np.float64)
    information = np.zeros((len(sizes), len(sizes)))
    for a in range(len(sizes)):
        for b in range(a):
            joint = together[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]
            information[a, b] = information[b, a] = _information(joint)
    return information


def _information(joint: NDArray[Any]) -> float:
    total = joint.sum()
    if not total:
        return 0.0
    shares = joint / total
    alone = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    is_there = shares > 0
    return float((shares[is_there] * np.log(shares[is_there] / alone[is_there])).sum())


def _spanning_tree(weights: Float) -> list[tuple[int, int]]:
    """Return the edges of a tree of the greatest weight (Prim), each with the lower end first."""
    n = len(weights)
    if not n:
        return []
    best, parent = weights[0].copy(), np.zeros(n, dtype=np.intp)
    is_in = np.arange(n) == 0
    edges = []
    for _ in range(n - 1):
        place = int(np.argmax(np.where(is_in, -np.inf, best)))
        edges.append((min(place, int(parent[place])), max(place, int(parent[place]))))
        is_in[place] = True
        closer = ~is_in & (weights[place] > best)
        best[closer], parent[closer] = weights[place][closer], place
    return sorted(edges)


def _seen(
    first: str,
    second: str,
    places: Mapping[str, NDArray[np.intp]],
    sizes: Mapping[str, int],
) -> SeenTogether:
    a, b = places[first], places[second]
    are_known = (a >= 0) & (b >= 0)
    n_first, n_second = sizes[first], sizes[second]
    counts = np.bincount(a[are_known] * n_second + b[are_known], minlength=n_first * n_second)
    flags = (counts > 0).reshape(n_first, n_second).tolist()
    return SeenTogether(first, second, tuple(map(tuple, flags)))
