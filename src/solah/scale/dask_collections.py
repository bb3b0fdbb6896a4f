"""Dask collections: passes over their partitions where these are, and prediction.

Statistics of partitions are merged in a tree. Dask computes it where it computes anything: on the
cluster of the client in use, or on threads of this process. A worker that is lost costs time only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from solah.data.frames import is_dask
from solah.exceptions import ColumnError, DataError, require
from solah.scale.passes import NO_PROGRESS
from solah.scale.sources import FramePart, Source, add_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.scale.passes import Pass, ProgressReporter

Method = Literal["predict", "predict_proba"]
G = TypeVar("G")
_MERGED_AT_ONCE = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class DaskSource(Source):
    """The rows of a Dask DataFrame; see :func:`open_collection`."""

    frame: Any

    def run(self, one: Pass[G], n_threads: int, rows: int, progress: ProgressReporter) -> G:
        """Run a pass over all rows, one task per partition."""
        dask = require("dask", "dask", "training on Dask collections")
        gather, merge = (dask.delayed(work, pure=False) for work in (_gather, _merge))
        found = [
            gather(one, frame, f"partition {number}", rows)
            for number, frame in enumerate(self.frame[list(one.columns)].to_delayed(), start=1)
        ]
        while len(found) > 1:
            found = [
                merge(one, *found[start : start + _MERGED_AT_ONCE])
                for start in range(0, len(found), _MERGED_AT_ONCE)
            ]
        (gathered,) = dask.compute(found[0])
        return gathered  # type: ignore[no-any-return]


def open_collection(data: Any, target: Any = None) -> tuple[DaskSource, str | None]:
    """Open a Dask DataFrame, or an array with the classes of its rows; return the target, too.

    Parameters
    ----------
    data : Dask DataFrame or Array
    target : str, Dask Series or Array, or None
        The column of classes, or the classes.
    """
    dataframe = require("dask.dataframe", "dask", "learning from Dask collections")
    frame, is_nameless = data, not hasattr(data, "columns")
    if is_nameless:
        if data.ndim != 2:
            raise DataError(f"X must have two dimensions. Got a Dask array of {data.ndim}.")
        names = [f"x{j}" for j in range(data.shape[1])]
        frame = dataframe.from_dask_array(data.rechunk({1: -1}), columns=names)
    name = target
    if is_dask(target):
        is_series = hasattr(target, "divisions")
        name = getattr(target, "name", None)
        name = name if isinstance(name, str) and is_series else "class"
        frame = _beside(frame, target if is_series else dataframe.from_dask_array(target), name)
    if not all(isinstance(column, str) for column in frame.columns):
        raise DataError("the columns of a Dask DataFrame must have names that are texts")
    source = DaskSource(
        name=f"the {type(data).__name__}",
        names=tuple(frame.columns),
        parts=(),
        is_nameless=is_nameless,
        frame=frame,
    )
    return source, name


def _beside(frame: Any, values: Any, target: str) -> Any:
    """Put the classes beside their rows, partition by partition."""
    if frame.npartitions != values.npartitions:
        raise DataError(
            f"X has {frame.npartitions} partitions where y has {values.npartitions}; they must be "
            "cut alike"
        )
    if target in frame.columns:
        raise DataError(f"y is called {target!r}, like a column of X; rename one of them")
    meta = frame._meta.assign(**{target: values._meta.to_numpy()})
    return frame.map_partitions(_assigned, values, target, meta=meta, align_dataframes=False)


def _assigned(frame: Any, values: Any, target: str) -> Any:
    if len(frame) != len(values):
        raise DataError(
            f"a partition of X has {len(frame)} rows where y has {len(values)}; they must be cut "
            "alike"
        )
    return frame.assign(**{target: values.to_numpy()})


def _gather(one: Pass[G], frame: Any, name: str, rows: int) -> G:
    """Run a pass over a partition."""
    gathered = one.begin()
    add_part(one, gathered, FramePart(name, frame), rows, NO_PROGRESS, is_named=True)
    return gathered


def _merge(one: Pass[G], *found: G) -> G:
    """Merge into fresh statistics: another merge may need the given ones if a worker is lost."""
    return reduce(one.merge, found, one.begin())


# --- prediction -----------------------------------------------------------------------------------


def predict_partitions(estimator: Any, data: Any, method: Method) -> Any:
    """Predict the rows of a Dask collection, where they are and when they are asked for.

    Parameters
    ----------
    estimator : a fitted classifier
    data : Dask DataFrame or Array
        A frame may have other columns too.
    method : {"predict", "predict_proba"}

    Returns
    -------
    predictions : of the kind of ``data``, not yet computed
        A series of classes, or a frame of probabilities with one column per class; for an array,
        arrays.
    """
    classes = estimator.classes_
    if not hasattr(data, "columns"):
        if data.ndim != 2:
            raise DataError(f"X must have two dimensions. Got a Dask array of {data.ndim}.")
        rows = data.rechunk({1: -1})
        if method == "predict":
            return rows.map_blocks(_predict, estimator, method, drop_axis=1, dtype=classes.dtype)
        chunks = (rows.chunks[0], (len(classes),))
        return rows.map_blocks(_predict, estimator, method, chunks=chunks, dtype=np.float64)
    pandas = require("pandas", "dask", "predicting Dask collections")
    if method == "predict":
        meta = pandas.Series(name="decision", dtype=classes.dtype)
    else:
        meta = pandas.DataFrame({str(name): np.empty(0) for name in classes.tolist()})
    names = list(getattr(estimator, "feature_names_in_", data.columns))
    for name in names:
        if name not in data.columns:
            raise ColumnError.unknown(name, list(data.columns))
    return data[names].map_partitions(_predict_frame, estimator, method, meta=meta)


def _predict_frame(frame: Any, estimator: Any, method: Method) -> Any:
    pandas = require("pandas", "dask", "predicting Dask collections")
    found = _predict(frame, estimator, method)
    if method == "predict":
        return pandas.Series(found, index=frame.index, name="decision")
    names = [str(name) for name in estimator.classes_.tolist()]
    return pandas.DataFrame(found, index=frame.index, columns=names)


def _predict(rows: Any, estimator: Any, method: Method) -> NDArray[Any]:
    """Predict rows in memory; a partition may have none."""
    if len(rows):
        found: NDArray[Any] = getattr(estimator, method)(rows)
        return found
    n_classes = len(estimator.classes_)
    shape = (0,) if method == "predict" else (0, n_classes)
    return np.empty(shape, estimator.classes_.dtype if method == "predict" else np.float64)
