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
from solah.scale.sources import FramePart, Source, add_part

if TYPE_CHECKING:
    from solah.progress import Advance
    from solah.scale.sources import Pass

Method = Literal["predict", "predict_proba"]
G = TypeVar("G")
_MERGED_AT_ONCE = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class DaskSource(Source):
    """The rows of a Dask DataFrame; see :func:`open_collection`."""

    frame: Any

    def run(self, one: Pass[G], n_threads: int, rows: int, advance: Advance) -> G:
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
    """Open a Dask DataFrame; return the column of classes, too.

    Parameters
    ----------
    data : Dask DataFrame
    target : str, Dask Series or None
        The column of classes, or the classes.
    """
    frame, name = _of_frames("X", data), target
    if is_dask(target):
        name = getattr(_of_frames("y", target), "name", None)
        name = name if isinstance(name, str) else "class"
        frame = _beside(frame, target, name)
    if not all(isinstance(column, str) for column in frame.columns):
        raise DataError("the columns of a Dask DataFrame must have names that are texts")
    return DaskSource("the Dask DataFrame", tuple(frame.columns), (), frame=frame), name


def _of_frames(what: str, data: Any) -> Any:
    """Refuse Dask arrays, whose columns have no names."""
    if not hasattr(data, "divisions"):
        raise DataError(
            f"{what} must be a Dask DataFrame or Series. Got a Dask {type(data).__name__}; make "
            "one with dask.dataframe.from_dask_array"
        )
    return data


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
    add_part(one, gathered, FramePart(name, frame), rows, None, is_named=True)
    return gathered


def _merge(one: Pass[G], *found: G) -> G:
    """Merge into fresh statistics: another merge may need the given ones if a worker is lost."""
    return reduce(one.merge, found, one.begin())


def predict_partitions(estimator: Any, data: Any, method: Method) -> Any:
    """Predict the partitions of a Dask DataFrame, when they are computed.

    Parameters
    ----------
    estimator : a fitted classifier
    data : Dask DataFrame
        It may have other columns too.
    method : {"predict", "predict_proba"}

    Returns
    -------
    predictions : Dask Series of classes, or Dask DataFrame with a column per class
    """
    pandas = require("pandas", "dask", "predicting Dask collections")
    classes, names = estimator.classes_, list(estimator.feature_names_in_)

    def predict(frame: Any) -> Any:
        shape = (0,) if method == "predict" else (0, len(classes))
        found = getattr(estimator, method)(frame) if len(frame) else np.empty(shape, classes.dtype)
        if method == "predict":
            return pandas.Series(found, index=frame.index, name="prediction")
        return pandas.DataFrame(found, frame.index, list(map(str, classes.tolist())), float)

    for name in names:
        if name not in _of_frames("X", data).columns:
            raise ColumnError.unknown(name, list(data.columns))
    return data[names].map_partitions(predict, meta=predict(data._meta[names]))
