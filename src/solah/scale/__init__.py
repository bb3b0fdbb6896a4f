"""Rows in files, frames and on clusters: read part by part, summed up in passes.

sources.py      opens files and frames as parts that can be read again and again
passes.py       what is asked of all rows at once: statistics that can be merged
engines.py      takes passes with threads of this process; dask_engine.py with a Dask cluster
dask_predict.py decides on a Dask collection, partition by partition
journal.py      keeps statistics in files, so that a stopped run goes on
memory.py       keeps to a limit of memory
facts.py        the first pass: what the columns are; numbers.py their quantiles, and a sample
profile.py      all that is known of rows before they are described
scanning.py     what an estimator's ``fit`` takes
"""

from solah.data.frames import is_dask
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
