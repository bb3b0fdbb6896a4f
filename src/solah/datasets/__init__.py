"""Named data sets, loaded as labelled tables.

>>> from solah import datasets
>>> iris = datasets.load("iris")
>>> iris.X.shape, sorted(iris.class_counts)
((150, 4), ['setosa', 'versicolor', 'virginica'])

``available`` lists the names, with shapes, sources, licences and where they are. Three environment
variables matter: ``SOLAH_DATA`` (a folder of CSV files), ``SOLAH_CACHE`` (where downloads are
kept) and ``SOLAH_DATA_URL`` (a mirror of the UCI repository's files).
"""

from __future__ import annotations

from solah.datasets.loading import Dataset, DatasetInfo, available, load

__all__ = ["Dataset", "DatasetInfo", "available", "load"]
