"""Open rows that need not fit into memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from solah.data import ReadOptions
from solah.data.frames import is_dask
from solah.scale.dask_collections import open_collection
from solah.scale.memory_limit import read_size
from solah.scale.passes import NO_PROGRESS
from solah.scale.sources import BATCH_ROWS, check_columns, is_source, open_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.scale.passes import Pass, ProgressReporter
    from solah.scale.sources import Source

G = TypeVar("G")
_DEFAULTS = ReadOptions()


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that an estimator learns from without holding them; made by :func:`scan`.

    Attributes
    ----------
    source : where the rows are
    names : the columns that count
    memory : the maximum number of bytes that this process may hold; None for no limit
    progress : shows the progress of passes
    target : the column of classes, where it is known from the rows
    batch_rows : how many rows are read at a time
    """

    source: Source
    names: tuple[str, ...]
    memory: int | None = None
    progress: ProgressReporter = field(default=NO_PROGRESS, repr=False)
    target: str | None = None
    batch_rows: int = BATCH_ROWS

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        return self.source.n_rows

    def run(self, one: Pass[G], n_threads: int = 1) -> G:
        """Run a pass over all rows."""
        self.progress.begin(one.name, self.source.n_rows)
        try:
            return self.source.run(one, n_threads, self.batch_rows, self.progress)
        finally:
            self.progress.end()
            if self.memory is not None and "pyarrow" in sys.modules:
                sys.modules["pyarrow"].default_memory_pool().release_unused()


def scan(
    data: Any,
    y: Any = None,
    *,
    columns: Sequence[str] | None = None,
    memory: int | str | None = None,
    options: ReadOptions = _DEFAULTS,
    progress: ProgressReporter = NO_PROGRESS,
) -> Scan:
    """Prepare to learn from rows that need not fit into memory.

    ``RuleClassifier.fit`` takes the result in the place of X, with y as the name of the column of
    classes. It reads the rows several times. The model is the same, bit for bit, as that of all
    rows in memory, and does not depend on how they are split into files or partitions.

    Parameters
    ----------
    data : path, pattern, folder, frames or Dask collection
        - A Parquet, Arrow (Feather) or text file, a pattern such as ``"data/*.parquet"``, a folder
          of Parquet and Arrow files, or a list of files.
        - A list of data frames.
        - A Dask DataFrame.
    y : Dask Series, default=None
        The classes of the rows of a Dask collection, where they are not a column of it.
    columns : sequence of str, default=None
        The columns to learn from, and that of the classes; all by default.
    memory : int or str, default=None
        What this process may hold, such as ``"1GB"``. A small limit makes batches smaller and, if
        need be, the sample that chooses the rules.
    options : ReadOptions
        What is known about text files.
    progress : ProgressReporter
        Shows the progress of passes.

    Returns
    -------
    Scan

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from solah import RuleClassifier, scan
    >>> days = [pd.DataFrame({"level": np.arange(9.0), "alarm": np.arange(9) > d}) for d in (4, 5)]
    >>> model = RuleClassifier().fit(scan(days, memory="2GB"), "alarm")
    >>> model.classes_
    array([False,  True])
    """
    size = None if memory is None else read_size(memory)
    source: Source
    if is_dask(data):
        source, target = open_collection(data, y)
    else:
        source, target = open_source(data, options), None
    if columns is not None:
        check_columns(columns, source.names, source.name)
    names = source.names if columns is None else tuple(columns)
    return Scan(source, names, size, progress, target)


def is_scan(data: object) -> bool:
    """Whether an estimator should read data in passes rather than take them as they are."""
    return isinstance(data, Scan) or is_dask(data) or is_source(data)
