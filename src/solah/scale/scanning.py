"""Open data that need not fit into memory, and choose the engine that passes over it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from solah.data import ReadOptions
from solah.data.frames import is_dask
from solah.scale.checks import check_columns
from solah.scale.dask_engine import DaskEngine, connect, open_collection
from solah.scale.engines import NO_PROGRESS, LocalEngine, Portions
from solah.scale.journal import Journal
from solah.scale.memory import portions_within, read_size
from solah.scale.sources import is_source, open_source

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from solah.scale.engines import Engine, ProgressReporter
    from solah.scale.sources import Source

_DEFAULTS = ReadOptions()


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that an estimator learns from without holding them; made by :func:`scan`.

    It is a context manager, and removes what was written to disk when it is left.

    Attributes
    ----------
    source : where the rows are
    memory : the most bytes that this process may hold; None for no limit
    checkpoint : the folder where statistics are kept; None for none
    client : the Dask client whose workers read the rows; None for threads of this process
    watcher : told of the progress of passes
    target : the column of classes, where it is known from the rows
    columns : the columns that count; None for all
    """

    source: Source
    memory: int | None = None
    checkpoint: Path | None = None
    client: Any = None
    watcher: ProgressReporter = field(default=NO_PROGRESS, repr=False)
    target: str | None = None
    columns: tuple[str, ...] | None = None
    _owns_client: bool = field(default=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that count."""
        return self.source.names if self.columns is None else self.columns

    @property
    def is_nameless(self) -> bool:
        """Whether the columns have no names of their own, as those of an array."""
        return getattr(self.source, "is_nameless", False)

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        return self.source.n_rows

    def engine(self, n_threads: int, task: Mapping[str, str] | None = None) -> Engine:
        """Return who takes passes over the rows.

        Parameters
        ----------
        n_threads : int
            How many threads of this process read, where no cluster does.
        task : mapping of str to str, default=None
            What is trained; a checkpoint serves one task only. None keeps nothing.
        """
        engine: Engine
        if self.client is not None:
            engine = DaskEngine(self.source, self.client, watcher=self.watcher)
        else:
            engine = LocalEngine(self.source, n_threads, self._portions(n_threads), self.watcher)
        if self.checkpoint is None or task is None:
            return engine
        of_data = {"solah": version("solah"), "data": self.source.fingerprint}
        return Journal(engine, self.checkpoint, of_data | dict(task))

    def _portions(self, n_threads: int) -> Portions:
        if self.memory is None:
            return Portions()
        return portions_within(self.memory, len(self.names), n_threads)

    def close(self) -> None:
        """Remove what was written to disk, and end the cluster that was started for it."""
        self.source.close()
        if self._owns_client:
            cluster = self.client.cluster
            self.client.close()
            if cluster is not None:
                cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scan(
    data: Any,
    goal: Any = None,
    *,
    columns: Sequence[str] | None = None,
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    dask: Any = None,
    options: ReadOptions = _DEFAULTS,
    watcher: ProgressReporter = NO_PROGRESS,
) -> Scan:
    """Prepare to learn from rows that need not fit into memory.

    An estimator's ``fit`` takes the result in the place of X, with y as the name of the column of
    classes. It passes over the rows several times; the model is the same, bit for bit, as if all
    rows had been in memory, and does not depend on how they are cut into files or partitions.

    Parameters
    ----------
    data : path, pattern, folder, frames or Dask collection
        - A Parquet or text file, a pattern such as ``"data/*.parquet"``, a folder of Parquet files
          or a list of files.
        - Data frames: a list of them, a function that returns them each time, or an iterator,
          which is written to disk as it is read.
        - A Dask DataFrame, or a Dask Array.
    goal : Dask Series or Array, default=None
        The classes of the rows of a Dask collection, where they are no column of it.
    columns : sequence of str, default=None
        The columns to learn from, and that of the classes; all by default.
    memory : int or str, default=None
        What this process may hold at the most, such as ``"1GB"``.
    checkpoint : path-like, default=None
        A folder to keep what passes find. A run that was stopped, and is started again with the
        same folder, goes on with the pass that it was at, and ends with the same model.
    dask : {"local"}, address or Client, default=None
        Who reads the rows: a cluster of this machine's processors, the scheduler at an address such
        as ``"tcp://scheduler:8786"``, or that of a client. Files must be seen by all workers.
    options : ReadOptions
        What is known about text files.
    watcher : ProgressReporter
        Who is told how passes get on.

    Returns
    -------
    Scan
        A context manager, which removes what was written to disk when it is left.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from solah import LinguisticTreeClassifier, scan
    >>> days = [pd.DataFrame({"level": np.arange(9.0), "alarm": np.arange(9) > d}) for d in (4, 5)]
    >>> with scan(days, memory="2GB") as rows:
    ...     tree = LinguisticTreeClassifier().fit(rows, "alarm")
    >>> tree.classes_
    array([False,  True])
    """
    size = None if memory is None else read_size(memory)
    folder = None if checkpoint is None else Path(checkpoint)
    source: Source
    if is_dask(data):
        source, target = open_collection(data, goal)
    else:
        source, target = open_source(data, options=options, spool=folder and folder / "rows"), None
    try:
        if columns is not None:
            check_columns(columns, source.names, source.name)
        # A cluster is started last, when nothing else can fail and leave it running.
        client, is_ours = connect(dask) if is_dask(data) or dask is not None else (None, False)
    except BaseException:
        source.close()
        raise
    kept = None if columns is None else tuple(columns)
    return Scan(source, size, folder, client, watcher, target, kept, is_ours)


def is_scan(data: object) -> bool:
    """Tell whether an estimator should pass over data rather than take them as they are."""
    return isinstance(data, Scan) or is_dask(data) or is_source(data)
