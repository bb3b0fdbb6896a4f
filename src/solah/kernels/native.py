"""The kernels in C (``native/``), called through ctypes, which releases the GIL."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import SolahError
from solah.kernels.arrays import Routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import (
        Bytes,
        Described,
        FlatProgram,
        Float,
        FocalSets,
        Forest,
        Int32,
        Int64,
        Labels,
        Readings,
        TreeShape,
    )

name = "native"

ENVIRONMENT_VARIABLE = "SOLAH_KERNEL"

ABI_VERSION = 10
_FILE_NAMES = ("_native.so", "_native.dylib", "_native.dll")

_P = ctypes.c_void_p
_I32 = ctypes.c_int32
_I64 = ctypes.c_int64
_F64 = ctypes.c_double
_ROWS = [_P, _P, _I32]
_TREE = [_P, _P, _P, _P, _I32]
_SIGNATURES = {
    "solah_label": [_P, _I64, _I32, _P, _P, _P],
    "solah_accumulate": [_P, _P, _P, _I64, _I32, *_ROWS, *_TREE, _P, _I32, _P],
    "solah_route": [_P, _P, _I64, _I32, *_ROWS, *_TREE, _P, _P, _P],
    "solah_share_weights": [_P, _P, _P, _I64, _P, _P, _P, _I32, _P],
    "solah_score_labels": [*[_P] * 3, _I64, _I32, *_TREE, _P, _I32, _P, _I32, _P, _I32, _P, _P],
    "solah_find": [_P, _I64, _I64, _P, _I64, _P],
    "solah_fine_count": [_P, _I64, _I64, _P, _P, _P, _I64, _P, _P],
    "solah_predict": [_P, _I64, _I32, *_ROWS, _P, *_TREE, _P, _I32, _P],
    "solah_run": [_P, _P, _P, _I64, _I64, _I64, _I32, _P],
    "solah_run_term": [_P, _P, _I32, _P, _I64, _I64, _I64, _P, _P],
    "solah_grow": [_P, _I64, _I32, *[_P] * 5, _I32, _F64, _I64, _P, _P],
    "solah_learn": [_P, _P, _P, _I64, _I64, _I64, *[_P] * 4],
}


def find_library() -> Path | None:
    """Find the compiled library that came with the package, if one did."""
    # An editable install keeps what is compiled apart from the sources: look in both.
    folders = [Path(folder) for folder in sys.modules[__package__].__path__]
    candidates = (folder / file_name for folder in folders for file_name in _FILE_NAMES)
    return next((path for path in candidates if path.is_file()), None)


@cache
def load() -> ctypes.CDLL | None:
    """Load the compiled library; None where there is none, or one of another solah."""
    path = find_library()
    if path is None:
        return None
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    if library.solah_abi_version() != ABI_VERSION:
        return None
    for function, arguments in _SIGNATURES.items():
        getattr(library, function).argtypes = arguments
    library.solah_label.restype = None
    library.solah_share_weights.restype = None
    library.solah_find.restype = None
    library.solah_fine_count.restype = None
    return library


def is_used() -> bool:
    """Whether these kernels run, and not those in NumPy."""
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if wanted not in ("", "native", "reference"):
        raise SolahError(f"{ENVIRONMENT_VARIABLE} must be 'native' or 'reference'. Got {wanted!r}.")
    is_compiled = load() is not None
    if wanted == "native" and not is_compiled:
        raise SolahError(
            f"{ENVIRONMENT_VARIABLE}=native, but solah was installed without a C compiler: "
            "install one (gcc or clang), then pip install --force-reinstall --no-deps solah"
        )
    return is_compiled and wanted != "reference"


def label(values: Float, sets: FocalSets, out: Labels) -> None:
    """Describe readings by their focal sets."""
    _library().solah_label(
        _at(values), len(values), sets.n_attributes, _at(sets.peaks), _at(sets.offsets), _at(out)
    )


def accumulate(
    rows: Described,
    goals: Labels,
    weights: Int64,
    sets: FocalSets,
    tree: TreeShape,
    slots: Int32,
    out: Int64,
) -> None:
    """Add the rows that reach a leaf with a slot to ``out[slot, bin, goal]``."""
    status = _library().solah_accumulate(
        _at(rows.labels),
        _at(goals),
        _at(weights),
        len(rows),
        sets.n_attributes,
        *_parts(rows.spread, rows.offsets),
        _at(sets.offsets),
        _at(sets.cumulated_ignorance),
        *_nodes(tree),
        _at(slots),
        out.shape[2],
        _at(out),
    )
    _check(status)


def route(rows: Described, weights: Int64, sets: FocalSets, tree: TreeShape) -> Routes:
    """Find the leaves that rows reach."""
    starts = np.empty(len(rows) + 1, dtype=np.int64)
    inputs = (
        _at(rows.labels),
        _at(weights),
        len(rows),
        sets.n_attributes,
        *_parts(rows.spread, rows.offsets),
        _at(sets.offsets),
        _at(sets.cumulated_ignorance),
        *_nodes(tree),
        _at(starts),
    )
    _check(_library().solah_route(*inputs, None, None))
    leaves = np.empty(starts[-1], dtype=np.int32)
    leaf_weights = np.empty(starts[-1], dtype=np.int64)
    _check(_library().solah_route(*inputs, _at(leaves), _at(leaf_weights)))
    return Routes(starts, leaves, leaf_weights)


def share_weights(
    routes: Routes, classes: Int64, weights: Int64, beliefs: Float, out: Int64
) -> None:
    """Share rows' weights among their leaves by how likely each made the class."""
    _library().solah_share_weights(
        _at(routes.starts),
        _at(routes.leaves),
        _at(routes.weights),
        len(classes),
        _at(classes),
        _at(weights),
        _at(beliefs),
        beliefs.shape[1],
        _at(out),
    )


def score_labels(
    forest: Forest,
    labels: Labels,
    classes: Int64,
    weights: Int64,
    scores: Float,
    likelihood: Float,
    out: Int64,
) -> None:
    """Find how likely the scores of forests make rows' classes, and how to change them."""
    sets = forest.sets
    status = _library().solah_score_labels(
        _at(labels),
        _at(classes),
        _at(weights),
        len(labels),
        sets.n_attributes,
        _at(sets.offsets),
        _at(sets.cumulated_ignorance),
        *_nodes(forest.trees),
        _at(forest.roots),
        len(forest.roots),
        _at(forest.places),
        forest.bias_place,
        _at(scores),
        scores.shape[1],
        _at(likelihood),
        _at(out),
    )
    _check(status)


def find(values: Float, edges: Float, out: Int32) -> None:
    """Find the bins of numbers, which begin at the edges."""
    _library().solah_find(*_column(values), _at(edges), len(edges), _at(out))


def fine_count(
    values: Float, weights: Int64 | None, edges: Float, scales: Float, sums: Int64, places: Int64
) -> None:
    """Add up the weights of numbers by bin, and their weights times their places in it."""
    _library().solah_fine_count(
        *_column(values),
        None if weights is None else _at(weights),
        _at(edges),
        _at(scales),
        len(edges),
        _at(sums),
        _at(places),
    )


def predict(rows: Readings, sets: FocalSets, tree: TreeShape, beliefs: Float, out: Float) -> None:
    """Average the leaves' beliefs over the branches that readings take."""
    status = _library().solah_predict(
        _at(rows.values),
        len(rows.values),
        sets.n_attributes,
        *_parts(rows.given, rows.offsets),
        _at(sets.peaks),
        _at(sets.ignorance),
        _at(sets.offsets),
        *_nodes(tree),
        _at(beliefs),
        beliefs.shape[1],
        _at(out),
    )
    _check(status)


def run(program: FlatProgram, readings: Float, out: Float, *, scores: bool = False) -> None:
    """Run a program on readings ``(n_rows, n_features)``, whose rows and columns may lie apart.

    ``out`` gets the outputs of the last stage, or its scores, before they are linked.
    """
    _check(_library().solah_run(*program.addresses, *_matrix(readings), scores, _at(out)))


def run_term(program: FlatProgram, term: int, readings: Float, outputs: Float, out: Float) -> None:
    """Run one term of a program, by its index among the terms of all stages.

    ``outputs`` ``(n_rows, n_stages, n_outputs)`` has those of the stages that the term reads.
    """
    status = _library().solah_run_term(
        *program.addresses, term, *_matrix(readings), _at(outputs), _at(out)
    )
    _check(status)


def grow(
    bins: Bytes,
    sizes: Int32,
    nominal: Bytes,
    gradient: Int32,
    curvature: Int32,
    weights: Int32,
    n_leaves: int,
    ridge: float,
    least: int,
    leaf: Int32,
    gains: Float,
) -> int:
    """Grow one small regression tree on binned readings."""
    grown: int = _library().solah_grow(
        _at(bins),
        len(weights),
        len(sizes),
        _at(sizes),
        _at(nominal),
        _at(gradient),
        _at(curvature),
        _at(weights),
        n_leaves,
        ridge,
        least,
        _at(leaf),
        _at(gains),
    )
    _check(min(grown, 0))
    return grown


def learn(
    learner: FlatProgram, readings: Float, observed: Int64, start: Int64, learnt: Int64, out: Int64
) -> None:
    """Predict rows as a device does, and learn from each; ``native/learning.c`` has the records.

    Parameters
    ----------
    learner : its records, and what readings are multiplied with
    readings : (n_rows, n_features)
    observed : (n_rows,) the indices of classes; one out of range teaches nothing
    start : (n_rules, n_values) what rules go back to
    learnt : (n_rules, n_values) what is learnt; it changes
    out : (n_rows, n_classes) gets what was predicted before a row was learnt from
    """
    arrays = _at(observed), _at(start), _at(learnt), _at(out)
    _check(_library().solah_learn(*learner.addresses, *_matrix(readings), *arrays))


def _column(values: Float) -> tuple[int, int, int]:
    """Return the arguments for numbers that may stand apart, such as a column of a matrix."""
    return _at(values), values.strides[0] // values.itemsize, len(values)


def _matrix(values: Float) -> tuple[int, int, int, int]:
    """Return the arguments for a matrix whose rows and columns may lie apart."""
    row_step, column_step = values.strides
    size = values.itemsize
    return _at(values), len(values), row_step // size, column_step // size


def _parts(masses: NDArray[Any], offsets: Int32) -> tuple[int, int, int]:
    """Return the arguments for inputs whose masses stand in an array of their own."""
    return _at(masses), _at(offsets), masses.shape[1]


def _nodes(tree: TreeShape) -> tuple[int, int, int]:
    return _at(tree.attribute), _at(tree.first_child), tree.depth


def _library() -> ctypes.CDLL:
    library = load()
    assert library is not None, "choose.py offers this kernel only where it loads"
    return library


def _at(array: NDArray[Any]) -> int:
    """Return where an array's values stand."""
    return array.ctypes.data


def _check(status: int) -> None:
    if status != 0:
        raise MemoryError("the native kernel could not get its working memory")
