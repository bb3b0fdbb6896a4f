"""Run passes over all rows on the workers of a Dask cluster.

The work is sent to where the rows are: one task per part reads it on some worker, and statistics
are merged in a tree, on the workers too. A worker that is lost costs nothing but time: its tasks
are done again by others, and the sums do not depend on their order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from solah.data import from_frame
from solah.data.frames import is_dask
from solah.exceptions import DataError, ParameterError, SolahError, require
from solah.scale.allocation import freed_memory_kept
from solah.scale.engines import NO_PROGRESS, Portions, statistics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from solah.data import Table
    from solah.scale.engines import ProgressReporter
    from solah.scale.passes import Pass, Statistics
    from solah.scale.sources import Part, Source

LOCAL = "local"
_MERGED_AT_ONCE = 8
_TASKS_A_THREAD = 2
_MIB = 2**20


def connect(where: Any) -> tuple[Any, bool]:
    """Return a client of a cluster, and whether it was made here.

    ``where`` is a client, an address, "local" for a cluster on this machine, or None for the client
    that is in use; there may be none.
    """
    purpose = "training on a cluster"
    distributed = require("distributed", "dask", purpose)
    if isinstance(where, distributed.Client):
        return where, False
    if where is None:
        try:
            return distributed.default_client(), False
        except ValueError:
            return None, False
    if not isinstance(where, str):
        raise ParameterError(
            "'dask' must be 'local', the address of a scheduler, or a client. "
            f"Got {type(where).__name__}."
        )
    if where == LOCAL:
        return distributed.Client(_started(distributed.LocalCluster)), True
    try:
        return distributed.Client(where, timeout="10s"), True
    except (OSError, ValueError) as error:
        raise SolahError(f"there is no Dask scheduler at {where}: {error}") from None


def _started(kind: Callable[..., Any]) -> Any:
    """Start a cluster here; an interrupt waits for it, since a part of one cannot be closed."""
    with ThreadPoolExecutor(1) as pool:
        # A free port, for nobody but this machine; without one the scheduler takes a known one.
        start = pool.submit(kind, threads_per_worker=1, dashboard_address="localhost:0")
        try:
            return start.result()
        except KeyboardInterrupt:
            start.result().close()
            raise


@dataclass(frozen=True, eq=False)
class CollectionSource:
    """The rows of a Dask DataFrame, a partition a part; see :func:`open_collection`."""

    name: str
    frame: Any
    names: tuple[str, ...]
    fingerprint: str
    is_nameless: bool = False
    n_rows: int | None = None

    def parts(self, n_rows: int) -> tuple[Part, ...]:
        """Return the partitions, whatever their size."""
        return tuple(
            FramePart(self.frame.get_partition(place), place)
            for place in range(self.frame.npartitions)
        )

    def delayed(self, columns: Sequence[str]) -> list[Any]:
        """Return the partitions with some columns only, not yet computed."""
        found: list[Any] = self.frame[list(columns)].to_delayed()
        return found

    def close(self) -> None:
        """Leave the collection as it is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, eq=False)
class FramePart:
    """One partition, computed where it is read."""

    frame: Any
    place: int
    n_rows: int | None = None

    def tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows as tables of these columns."""
        frame = self.frame[list(columns)].compute(scheduler="synchronous")
        yield from _tables(frame, columns, rows)


def open_collection(data: Any, goal: Any = None) -> tuple[CollectionSource, str | None]:
    """Open a Dask DataFrame, or an array with the classes of its rows; return the target, too.

    Parameters
    ----------
    data : Dask DataFrame or Array
    goal : str, Dask Series or Array, or None
        The column of classes, or the classes.
    """
    dataframe = require("dask.dataframe", "dask", "learning from Dask collections")
    base = require("dask.base", "dask", "learning from Dask collections")
    frame = data
    if not hasattr(data, "columns"):
        frame = _frame_of_array(dataframe, data)
    target = goal
    if is_dask(goal):
        target = getattr(goal, "name", None)
        target = target if isinstance(target, str) and hasattr(goal, "divisions") else "class"
        values = goal if hasattr(goal, "divisions") else dataframe.from_dask_array(goal)
        frame = _beside(frame, values, target)
    names = tuple(frame.columns)
    if not all(isinstance(name, str) for name in names):
        raise DataError("the columns of a Dask DataFrame must have names that are texts")
    name = f"the {type(data).__name__}"
    is_nameless = not hasattr(data, "columns")
    return CollectionSource(name, frame, names, base.tokenize(frame), is_nameless), target


def _frame_of_array(dataframe: Any, array: Any) -> Any:
    if array.ndim != 2:
        raise DataError(f"X must have two dimensions. Got a Dask array of {array.ndim}.")
    whole = array.rechunk({1: -1})
    return dataframe.from_dask_array(whole, columns=[f"x{j}" for j in range(array.shape[1])])


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


def _tables(frame: Any, columns: Sequence[str], rows: int) -> Iterator[Table]:
    table = from_frame(frame).select(columns)
    for start in range(0, table.n_rows, rows):
        yield table.rows(start, start + rows)


@dataclass(frozen=True, eq=False)
class _HeldPart:
    """A partition that a worker holds."""

    frame: Any

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def tables(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        yield from _tables(self.frame, columns, rows)


@dataclass(frozen=True, eq=False)
class DaskEngine:
    """The workers of a cluster, which read the parts that are near to them.

    Attributes
    ----------
    source : where the rows are
    client : the client of the cluster
    watcher : told of the progress of passes
    """

    source: Source
    client: Any
    watcher: ProgressReporter = NO_PROGRESS

    @cached_property
    def portions(self) -> Portions:
        """How much is read and held at a time."""
        is_held = isinstance(self.source, CollectionSource)
        n_tasks = _TASKS_A_THREAD * max(1, sum(self.client.nthreads().values()))
        n_rows = self.source.n_rows
        part_rows = Portions.part_rows if n_rows is None else max(1, -(-n_rows // n_tasks))
        return Portions(part_rows=part_rows, statistics=(64 if is_held else 256) * _MIB)

    def run(self, one: Pass[Any]) -> Statistics:
        """Take a pass over all rows."""
        self.watcher.begin(one.name, self.source.n_rows)
        try:
            found: Statistics = _merged(self.client, one, self._of_parts(one)).result()
        finally:
            self.watcher.end()
        return found

    def _of_parts(self, one: Pass[Any]) -> list[Any]:
        """Send the pass to all parts."""
        if isinstance(self.source, CollectionSource):
            dask = require("dask", "dask", "training on a cluster")
            read = dask.delayed(_of_frame, pure=False)
            tasks = [read(one, frame, Portions.rows) for frame in self.source.delayed(one.columns)]
            futures = self.client.compute(tasks)
            sizes = [0] * len(futures)
        else:
            parts = self.source.parts(self.portions.part_rows)
            futures = [
                self.client.submit(_of_part, one, part, Portions.rows, pure=False) for part in parts
            ]
            sizes = [part.n_rows or 0 for part in parts]
        for future, n_rows in zip(futures, sizes, strict=True):
            future.add_done_callback(lambda _, n_rows=n_rows: self.watcher.advance(n_rows))
        return list(futures)


def _merged(client: Any, one: Pass[Any], futures: list[Any]) -> Any:
    """Merge statistics in a tree, on the workers."""
    while len(futures) > 1:
        futures = [
            client.submit(_merge, one, *futures[start : start + _MERGED_AT_ONCE], pure=False)
            for start in range(0, len(futures), _MERGED_AT_ONCE)
        ]
    return futures[0]


def _of_part(one: Pass[Any], part: Part, rows: int) -> Statistics:
    with freed_memory_kept():
        return statistics_of(one, [part], rows)


def _of_frame(one: Pass[Any], frame: Any, rows: int) -> Statistics:
    with freed_memory_kept():
        return statistics_of(one, [_HeldPart(frame)], rows)


def _merge(one: Pass[Any], *found: Statistics) -> Statistics:
    """Merge statistics; the first is copied, for another merge may need it if a worker is lost."""
    first = {name: np.array(numbers) for name, numbers in found[0].items()}
    return reduce(one.merge, found[1:], first)
