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
    "solah_predict": [_P, _I64, _I32, *_ROWS, _P, *_TREE, _P, _I32, _P],
    "solah_run": [_P, _P, _P, _I64, _I64, _I64, _I32, _P],
    "solah_run_term": [_P, _P, _I32, _P, _I64, _I64, _I64, _P, _P],
    "solah_grow": [_P, _I64, _I32, *[_P] * 5, _I32, _F64, _I64, _P, _P],
    "solah_learn": [_P, _P, _P, _I64, _I64, _I64, *[_P] * 4],
    "solah_joint_counts": [_P, _P, _P, _I64, _I32, _P],
    "solah_count_sums": [_P, _I32, _P, _I32, _P, _P],
    "solah_pair_sums": [*[_P] * 6, _I64, _P, _I64, _P, _P],
    "solah_margins": [_P, _I32, _P, _P, _I32, _P, _I64, _P, _P, _P],
    "solah_many_products": [*[_P] * 9, _I64, _P, _I64, _P, _P],
}
_WITHOUT_STATUS = (
    *("solah_label", "solah_share_weights", "solah_find"),
    *("solah_joint_counts", "solah_count_sums", "solah_pair_sums", "solah_margins"),
    "solah_many_products",
)


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
    for function in _WITHOUT_STATUS:
        getattr(library, function).restype = None
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
    compiled().solah_label(
        at(values), len(values), sets.n_features, at(sets.peaks), at(sets.offsets), at(out)
    )


def accumulate(
    rows: Described,
    targets: Labels,
    weights: Int64,
    sets: FocalSets,
    tree: TreeShape,
    slots: Int32,
    out: Int64,
) -> None:
    """Add the rows that reach a leaf with a slot to ``out[slot, bin, target]``."""
    status = compiled().solah_accumulate(
        at(rows.labels),
        at(targets),
        at(weights),
        len(rows),
        sets.n_features,
        *_parts(rows.spread, rows.offsets),
        at(sets.offsets),
        at(sets.cumulated_ignorance),
        *_nodes(tree),
        at(slots),
        out.shape[2],
        at(out),
    )
    _check(status)


def route(rows: Described, weights: Int64, sets: FocalSets, tree: TreeShape) -> Routes:
    """Find the leaves that rows reach."""
    starts = np.empty(len(rows) + 1, dtype=np.int64)
    inputs = (
        at(rows.labels),
        at(weights),
        len(rows),
        sets.n_features,
        *_parts(rows.spread, rows.offsets),
        at(sets.offsets),
        at(sets.cumulated_ignorance),
        *_nodes(tree),
        at(starts),
    )
    _check(compiled().solah_route(*inputs, None, None))
    leaves = np.empty(starts[-1], dtype=np.int32)
    leaf_weights = np.empty(starts[-1], dtype=np.int64)
    _check(compiled().solah_route(*inputs, at(leaves), at(leaf_weights)))
    return Routes(starts, leaves, leaf_weights)


def share_weights(
    routes: Routes, classes: Int64, weights: Int64, beliefs: Float, out: Int64
) -> None:
    """Share rows' weights among their leaves by how likely each made the class."""
    compiled().solah_share_weights(
        at(routes.starts),
        at(routes.leaves),
        at(routes.weights),
        len(classes),
        at(classes),
        at(weights),
        at(beliefs),
        beliefs.shape[1],
        at(out),
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
    status = compiled().solah_score_labels(
        at(labels),
        at(classes),
        at(weights),
        len(labels),
        sets.n_features,
        at(sets.offsets),
        at(sets.cumulated_ignorance),
        *_nodes(forest.trees),
        at(forest.roots),
        len(forest.roots),
        at(forest.places),
        forest.bias_place,
        at(scores),
        scores.shape[1],
        at(likelihood),
        at(out),
    )
    _check(status)


def find(values: Float, edges: Float, out: Int32) -> None:
    """Find the bins of numbers, which begin at the edges."""
    compiled().solah_find(*_column(values), at(edges), len(edges), at(out))


def predict(rows: Readings, sets: FocalSets, tree: TreeShape, beliefs: Float, out: Float) -> None:
    """Average the leaves' beliefs over the branches that readings take."""
    status = compiled().solah_predict(
        at(rows.values),
        len(rows.values),
        sets.n_features,
        *_parts(rows.given, rows.offsets),
        at(sets.peaks),
        at(sets.mean_masses),
        at(sets.offsets),
        *_nodes(tree),
        at(beliefs),
        beliefs.shape[1],
        at(out),
    )
    _check(status)


def run(program: FlatProgram, readings: Float, out: Float, *, scores: bool = False) -> None:
    """Run a program on readings ``(n_rows, n_features)``, whose rows and columns may lie apart.

    ``out`` gets the outputs of the last stage, or its scores, before they are linked.
    """
    _check(compiled().solah_run(*program.addresses, *_matrix(readings), scores, at(out)))


def run_term(program: FlatProgram, term: int, readings: Float, outputs: Float, out: Float) -> None:
    """Run one term of a program, by its index among the terms of all stages.

    ``outputs`` ``(n_rows, n_stages, n_outputs)`` has those of the stages that the term reads.
    """
    status = compiled().solah_run_term(
        *program.addresses, term, *_matrix(readings), at(outputs), at(out)
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
    grown: int = compiled().solah_grow(
        at(bins),
        len(weights),
        len(sizes),
        at(sizes),
        at(nominal),
        at(gradient),
        at(curvature),
        at(weights),
        n_leaves,
        ridge,
        least,
        at(leaf),
        at(gains),
    )
    _check(min(grown, 0))
    return grown


def learn(
    learner: FlatProgram, readings: Float, observed: Int64, start: Int64, learned: Int64, out: Int64
) -> None:
    """Predict rows as a device does, and learn from each; ``native/learning.c`` has the records.

    Parameters
    ----------
    learner : its records, and what readings are multiplied with
    readings : (n_rows, n_features)
    observed : (n_rows,) the indices of classes; one out of range teaches nothing
    start : (n_rules, n_values) what rules go back to
    learned : (n_rules, n_values) what is learned; it changes
    out : (n_rows, n_classes) gets what was predicted before a row was learned from
    """
    arrays = at(observed), at(start), at(learned), at(out)
    _check(compiled().solah_learn(*learner.addresses, *_matrix(readings), *arrays))


def _column(values: Float) -> tuple[int | None, ...]:
    """Return the arguments for numbers with a stride, such as a column of a matrix."""
    return at(values), values.strides[0] // values.itemsize, len(values)


def _matrix(values: Float) -> tuple[int | None, ...]:
    """Return the arguments for a matrix whose rows and columns may lie apart."""
    row_step, column_step = values.strides
    size = values.itemsize
    return at(values), len(values), row_step // size, column_step // size


def _parts(masses: NDArray[Any], offsets: Int32) -> tuple[int | None, ...]:
    """Return the arguments for inputs whose masses are in a separate array."""
    return at(masses), at(offsets), masses.shape[1]


def _nodes(tree: TreeShape) -> tuple[int | None, ...]:
    return at(tree.feature), at(tree.first_child), tree.depth


def compiled() -> ctypes.CDLL:
    """Return the compiled library, which is known to load."""
    library = load()
    assert library is not None, "choose.py offers this kernel only where it loads"
    return library


def at(array: NDArray[Any] | None) -> int | None:
    """Return the address of an array's values."""
    return None if array is None else array.ctypes.data


def _check(status: int) -> None:
    if status != 0:
        raise MemoryError("the native kernel could not get its working memory")
