"""Training on more rows than fit into memory, on more machines than one.

sources.py      files, frames             -> parts that are read again and again
passes.py       one way through the rows: tables -> statistics that can be merged
engines.py      a pass                    -> its statistics, by threads of this process
dask_engine.py  a pass                    -> its statistics, by a Dask cluster
dask_predict.py a Dask collection         -> decisions, partition by partition
journal.py      statistics                -> files, so that a stopped run goes on
memory.py       a limit of memory         -> how much is read at a time
facts.py, numbers.py                      the first passes: what the columns are
scanning.py     all of these              -> what an estimator's fit takes

The other passes stand beside what they count for: trees in ``solah.tree.passes``, dependence,
hierarchies and voices in ``solah.hierarchy``.
"""

from solah.scale.dask_engine import is_dask
from solah.scale.dask_predict import predict_partitions
from solah.scale.scanning import Scan, is_scan, scan
from solah.scale.sources import Source, open_source

__all__ = [
    "Scan",
    "Source",
    "is_dask",
    "is_scan",
    "open_source",
    "predict_partitions",
    "scan",
]
