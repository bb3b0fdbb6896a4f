"""Measures how far the attributes of a model depend on each other."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, Kind, Table
from solah.data.spelling import spell_whole
from solah.report.sampling import spread_evenly

if TYPE_CHECKING:
    from solah.kernels.arrays import Float
    from solah.model.document import Model

MAX_ATTRIBUTES = 100
MAX_ROWS = 2_000
_N_PAIRS = 8


def describe_dependence(model: Model, readings: Float) -> dict[str, Any]:
    """Measure the distance correlations of attributes, ordered by the trees that read them.

    Parameters
    ----------
    model : Model
    readings : ndarray of shape (n_rows, n_attributes)
        As the kernels read them; NaN is unknown.

    Returns
    -------
    dependence : dict
        Without ``names`` where there is nothing to compare; its ``note`` says why.
    """
    attributes = len(model.attributes)
    if attributes < 2:
        return {"names": [], "note": "There is only one attribute, so nothing to compare it with."}
    if attributes > MAX_ATTRIBUTES:
        return {
            "names": [],
            "note": f"Left out: a picture of {attributes} attributes would not be legible.",
        }
    order, groups = _by_tree(model)
    rows = spread_evenly(len(readings), MAX_ROWS)
    finite = np.where(np.isinf(readings), np.nan, readings)
    matrix = _matrix(model, finite[rows])[np.ix_(order, order)]
    names = [model.attributes[place].name for place in order]
    sampled = f"{spell_whole(len(rows))} of {spell_whole(len(readings))} rows, evenly spread."
    return {
        "names": names,
        "groups": groups,
        "matrix": matrix.round(3).tolist(),
        "pairs": _strongest_pairs(names, matrix),
        "note": f"Measured on {sampled}" if len(rows) < len(readings) else "",
    }


def _by_tree(model: Model) -> tuple[list[int], list[dict[str, Any]]]:
    """Order attributes by tree or group, each once; those that no tree reads come last."""
    places = {attribute.name: place for place, attribute in enumerate(model.attributes)}
    group_of = {
        stage.part_names[part]: group.name
        for stage in model.program.stages
        for group in stage.groups[:-1]
        for part in group.parts
    }
    members: dict[str, list[int]] = {}
    for tree in model.trees:
        own = [places.pop(name) for name in tree.origins if name in places]
        members.setdefault(group_of.get(tree.name, tree.name), []).extend(own)
    order: list[int] = []
    groups = []
    for name, own in members.items():
        if len(own) > 1:
            groups.append({"tree": name, "start": len(order), "stop": len(order) + len(own)})
        order += own
    return order + list(places.values()), groups


def _matrix(model: Model, readings: Float) -> Float:
    """Compare the attributes that have readings; the others depend on nothing."""
    from solah.dependence import distance_correlation_matrix

    known = np.flatnonzero(~np.isnan(readings).all(axis=0)).tolist()
    whole = np.eye(len(model.attributes))
    if len(known) < 2:
        return whole
    columns = tuple(Column(f"x{place}", readings[:, place]) for place in known)
    kinds = {
        f"x{place}": (Kind.CATEGORICAL if model.attributes[place].is_coded else Kind.CONTINUOUS)
        for place in known
    }
    table = Table(columns, len(readings))
    whole[np.ix_(known, known)] = distance_correlation_matrix(table, kinds=kinds)
    return whole


def _strongest_pairs(names: list[str], matrix: Float) -> list[dict[str, Any]]:
    pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -matrix[pair])
    return [
        {"names": [names[a], names[b]], "dependence": float(matrix[a, b])}
        for a, b in pairs[:_N_PAIRS]
    ]
