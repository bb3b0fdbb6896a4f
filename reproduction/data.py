"""The labelled rows that the tables are computed on, by name.

Most are data sets of :mod:`solah.datasets`. The two that only the paper needs are described here:
they are read from the folder that ``SOLAH_DATA`` names and cannot be downloaded.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from reproduction.sms import keyword_features
from solah.data import Column, Table
from solah.datasets.loading import AT_HAND, VARIABLE, load_entry, locate
from solah.datasets.registry import Entry, find_entry
from solah.exceptions import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.datasets import Dataset

PAPER_ONLY = (
    Entry(
        name="heart_c_weka",
        classes={"<50": 165, ">50_1": 138},
        n_features=13,
        source="Weka's heart-c.arff, from UCI 'Heart Disease' with one row changed",
        licence="see UCI's page of the set",
        kinds={"slope": ("up", "flat", "down")},
    ),
    Entry(
        name="sms_spam",
        classes={"ham": 4827, "spam": 747},
        n_features=1,
        source="UCI 'SMS Spam Collection', by Almeida and Gomez Hidalgo",
        licence="free to use if cited, by its readme",
    ),
)
_N_KEYWORDS = {"sms20": 20, "sms14": 14}


def entry_of(name: str) -> Entry:
    """Return the data set that the rows of a name come from.

    Parameters
    ----------
    name : str
        A name that :func:`solah.datasets.load` or ``PAPER_ONLY`` has; ``"sms20"`` and ``"sms14"``
        are the text messages as keyword features.
    """
    source = "sms_spam" if name in _N_KEYWORDS else name
    own = {entry.name: entry for entry in PAPER_ONLY}
    return own.get(source) or find_entry(source)


def load_rows(name: str) -> Dataset:
    """Load the rows of a name that :func:`entry_of` takes; features are called x0, x1 and so on."""
    return _load_from(name, os.environ.get(VARIABLE))


def fingerprint(name: str) -> str:
    """Return a short digest of the rows of a name."""
    return _fingerprint_in(name, os.environ.get(VARIABLE))


def find_missing(names: Iterable[str]) -> tuple[str, ...]:
    """List the data sets behind these names that can be neither found nor downloaded.

    A file that exists but does not hold its data set raises. After one failed download no other
    is tried: without a network, each may take a while to time out.
    """
    missing = []
    may_download = True
    for entry in {entry.name: entry for entry in map(entry_of, names)}.values():
        where, _ = locate(entry)
        try:
            if where in AT_HAND or may_download:
                load_entry(entry)
                continue
        except DatasetError:
            if where in AT_HAND:
                raise
            may_download = where != "download"
        missing.append(entry.name)
    return tuple(missing)


def how_to_get(missing: Iterable[str]) -> str:
    """Name the missing data sets, and how to get them."""
    return (
        f"{', '.join(missing)}; point SOLAH_DATA (or --data) at a folder of CSV files, or let "
        "them be downloaded"
    )


@lru_cache
def _fingerprint_in(name: str, folder: str | None) -> str:
    rows = _load_from(name, folder)
    digest = sha256(repr((rows.table.names, rows.target.tolist())).encode())
    for column in rows.table.columns:
        digest.update(repr(column.values.tolist()).encode())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=4)
def _load_from(name: str, folder: str | None) -> Dataset:
    """Load rows; ``folder`` is where they are read from now, so that another is not a cache hit."""
    rows = load_entry(entry_of(name))
    if name not in _N_KEYWORDS:
        return rows
    (messages,) = rows.table.columns
    if messages.missing().any():
        raise DatasetError(
            f"data set 'sms_spam': row {1 + int(messages.missing().argmax())} has no message; "
            "every row needs a text"
        )
    features = keyword_features(messages.values, _N_KEYWORDS[name])
    columns = tuple(Column(f"x{j}", feature) for j, feature in enumerate(features.T))
    return replace(rows, name=name, table=Table(columns, rows.table.n_rows), kinds={})
