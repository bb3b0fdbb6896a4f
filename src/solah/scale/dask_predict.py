"""Decide on a Dask collection, partition by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from solah.exceptions import ColumnError, DataError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method = Literal["predict", "predict_proba"]


def predict_partitions(estimator: Any, data: Any, method: Method) -> Any:
    """Decide on the rows of a Dask collection, where they are and when they are asked for.

    Parameters
    ----------
    estimator : a fitted classifier
    data : Dask DataFrame or Array
        A frame may have other columns too.
    method : {"predict", "predict_proba"}

    Returns
    -------
    decisions : of the kind of ``data``, not yet computed
        A series of classes, or a frame of beliefs with one column per class; for an array, arrays.
    """
    if hasattr(data, "columns"):
        return _of_frame(estimator, data, method)
    return _of_array(estimator, data, method)


def _of_frame(estimator: Any, data: Any, method: Method) -> Any:
    pandas = require("pandas", "dask", "deciding on Dask collections")
    classes = estimator.classes_
    if method == "predict":
        meta = pandas.Series(name="decision", dtype=classes.dtype)
    else:
        meta = pandas.DataFrame({str(name): np.empty(0) for name in classes.tolist()})
    return _known_columns(estimator, data).map_partitions(
        _decide_frame, estimator, method, meta=meta
    )


def _known_columns(estimator: Any, data: Any) -> Any:
    """Leave out the columns that the estimator was not fitted to, such as that of the classes."""
    names = list(getattr(estimator, "feature_names_in_", data.columns))
    for name in names:
        if name not in data.columns:
            raise ColumnError.unknown(name, list(data.columns))
    return data[names]


def _decide_frame(frame: Any, estimator: Any, method: Method) -> Any:
    pandas = require("pandas", "dask", "deciding on Dask collections")
    found = _decide(frame, estimator, method)
    if method == "predict":
        return pandas.Series(found, index=frame.index, name="decision")
    names = [str(name) for name in estimator.classes_.tolist()]
    return pandas.DataFrame(found, index=frame.index, columns=names)


def _of_array(estimator: Any, data: Any, method: Method) -> Any:
    if data.ndim != 2:
        raise DataError(f"X must have two dimensions. Got a Dask array of {data.ndim}.")
    rows = data.rechunk({1: -1})
    if method == "predict":
        return rows.map_blocks(
            _decide, estimator, method, drop_axis=1, dtype=estimator.classes_.dtype
        )
    chunks = (rows.chunks[0], (len(estimator.classes_),))
    return rows.map_blocks(_decide, estimator, method, chunks=chunks, dtype=np.float64)


def _decide(rows: Any, estimator: Any, method: Method) -> NDArray[Any]:
    """Decide on rows in memory; a partition may have none."""
    if len(rows):
        found: NDArray[Any] = getattr(estimator, method)(rows)
        return found
    n_classes = len(estimator.classes_)
    if method == "predict":
        return np.empty(0, dtype=estimator.classes_.dtype)
    return np.empty((0, n_classes))
