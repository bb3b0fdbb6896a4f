"""A name in, the labelled rows that cells are computed on out; and which names are at hand."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from solah.data import Column, Table
from solah.datasets import Dataset, SmsKeywords, available, load
from solah.datasets.folder import VARIABLE
from solah.datasets.places import Place
from solah.exceptions import DatasetError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MESSAGES = "sms_spam"
_N_KEYWORDS = {"sms20": 20, "sms14": 14}


def source_of(name: str) -> str:
    """Return the name of the data set that material is made from."""
    return _MESSAGES if name in _N_KEYWORDS else name


def load_material(name: str) -> Dataset:
    """Load the rows of a data set, or the text messages as keyword features x0, x1 and so on.

    Parameters
    ----------
    name : str
        A name that :func:`solah.datasets.load` knows, ``"sms20"`` or ``"sms14"``.

    Returns
    -------
    material : Dataset
    """
    return _load_from(name, os.environ.get(VARIABLE, ""))


def fingerprint(name: str) -> str:
    """Return a short text that changes with the rows that a name stands for."""
    return _fingerprint_in(name, os.environ.get(VARIABLE, ""))


def find_missing(names: Iterable[str]) -> tuple[str, ...]:
    """List the data sets behind these names that can be neither found nor downloaded.

    A file that is there and does not hold its data set is an error, and not missing. Where one
    download fails, no other is tried: without a network each may take its time to fail.
    """
    known = {info.name: info for info in available()}
    missing: list[str] = []
    may_download = True
    for source in dict.fromkeys(map(source_of, names)):
        is_here = known[source].at_hand
        try:
            if is_here or may_download:
                load(source)
                continue
        except (DatasetError, MissingExtraError):
            if is_here:
                raise
            may_download = known[source].where != Place.DOWNLOAD
        missing.append(source)
    return tuple(missing)


@contextmanager
def data_from(folder: Path | None) -> Iterator[None]:
    """Read data sets from another folder for a while; None leaves all as it is."""
    if folder is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    use_folder(str(folder))
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def folder_in_use() -> str | None:
    """Return the folder that data sets are read from, as a process to come must know it."""
    return os.environ.get(VARIABLE)


def use_folder(folder: str | None) -> None:
    """Read data sets from this folder from now on, in this process."""
    if folder is not None:
        os.environ[VARIABLE] = folder


@lru_cache
def _fingerprint_in(name: str, folder: str) -> str:
    material = _load_from(name, folder)
    digest = sha256(repr((material.table.names, material.goal.tolist())).encode())
    for column in material.table.columns:
        digest.update(repr(column.values.tolist()).encode())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=4)
def _load_from(name: str, folder: str) -> Dataset:
    if name not in _N_KEYWORDS:
        return load(name)
    messages = load(_MESSAGES)
    features = SmsKeywords(_N_KEYWORDS[name]).transform(messages.table)
    columns = tuple(Column(f"x{j}", feature) for j, feature in enumerate(features.T))
    return replace(messages, name=name, table=Table(columns, messages.table.n_rows), kinds={})
