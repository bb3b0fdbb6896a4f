"""Open rows that need not fit into memory."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from solah.data import ReadOptions
from solah.data.frames import is_dask
from solah.exceptions import ColumnError, ParameterError
from solah.scale.dask_collections import open_collection
from solah.scale.memory_limit import read_size
from solah.scale.sources import BATCH_ROWS, is_source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from solah.progress import Advance
    from solah.scale.sources import Pass, Source

    ShowProgress = Callable[[int | None, str], AbstractContextManager[Advance]]

G = TypeVar("G")
_DEFAULTS = ReadOptions()


def _show_nothing(total: int | None, unit: str) -> AbstractContextManager[Advance]:
    return nullcontext(lambda steps, news="": None)


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that an estimator learns from without holding them; made by :func:`scan`.

    Attributes
    ----------
    source : where the rows are
    names : the columns that count
    memory : the maximum number of bytes that this process may hold; None for no limit
    progress : shows the progress of a pass
    target : the column of classes, where it is known from the rows
    batch_rows : how many rows are read at a time
    """

    source: Source
    names: tuple[str, ...]
    memory: int | None = None
    progress: ShowProgress = field(default=_show_nothing, repr=False)
    target: str | None = None
    batch_rows: int = BATCH_ROWS

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        return self.source.n_rows

    def run(self, one: Pass[G], n_threads: int = 1) -> G:
        """Run a pass over all rows."""
        with self.progress(self.source.n_rows, "rows") as advance:
            advance(0, one.name)
            found = self.source.run(one, n_threads, self.batch_rows, advance)
        if self.memory is not None and "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()
        return found


def scan(
    data: Any,
    y: Any = None,
    *,
    columns: Sequence[str] | None = None,
    memory: int | str | None = None,
    options: ReadOptions = _DEFAULTS,
    progress: ShowProgress = _show_nothing,
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
    progress : callable
        Shows the progress of a pass: takes the number of rows, if known, and the word "rows", and
        returns a context manager that yields a function to call with the number of further rows.

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
    names = source.names if columns is None else tuple(columns)
    if not names:
        raise ParameterError(f"'columns' must name a column of {source.name}; got none")
    for name in names:
        if name not in source.names:
            raise ColumnError.unknown(name, list(source.names), source.name)
    return Scan(source, names, size, progress, target)


def is_scan(data: object) -> bool:
    """Whether an estimator should read data in passes rather than take them as they are."""
    return isinstance(data, Scan) or is_dask(data) or is_source(data)
