"""Rows in files, frames and Dask collections, read in passes.

sources.py           passes, and files and frames as batches that can be read again and again
dask_collections.py  Dask collections: passes over their partitions, and prediction
survey.py            the first pass: what the columns are
scanned_rows.py      the second pass, a sample, and the rows as the learner asks for them
memory_limit.py      how much is read and held within a limit of memory
scanning.py          what an estimator's ``fit`` takes
"""

from solah.data.frames import is_dask
from solah.scale.dask_collections import predict_partitions
from solah.scale.scanning import Scan, is_scan, scan

__all__ = ["Scan", "is_dask", "is_scan", "predict_partitions", "scan"]
