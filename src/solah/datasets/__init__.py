"""Named data sets: a name in, a labelled table out.

>>> from solah import datasets
>>> iris = datasets.load("iris")
>>> iris.X.shape, sorted(iris.class_counts)
((150, 4), ['setosa', 'versicolor', 'virginica'])

``available`` lists the names, with shapes, sources, licences and whether they are at hand. The
environment variables that matter are ``SOLAH_DATA`` (a folder of CSV files), ``SOLAH_CACHE``
(where downloads are kept) and ``SOLAH_DATA_URL`` (a mirror of the UCI repository's files).

``SmsKeywords`` turns text messages into the paper's keyword features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.datasets.dataset import Dataset
from solah.datasets.listing import DatasetInfo, available
from solah.datasets.loading import load

if TYPE_CHECKING:
    from solah.datasets.sms import SmsKeywords

__all__ = ["Dataset", "DatasetInfo", "SmsKeywords", "available", "load"]


def __getattr__(name: str) -> Any:
    if name != "SmsKeywords":
        raise AttributeError(f"module 'solah.datasets' has no attribute {name!r}")
    # Imported here because scikit-learn takes a second or more that no loading needs.
    from solah.datasets.sms import SmsKeywords

    return SmsKeywords


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
