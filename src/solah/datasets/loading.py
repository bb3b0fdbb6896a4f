"""Find data sets by name, in scikit-learn, a folder, the cache or the network, and load them."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.atomic import write_all
from solah.data import Column, ReadOptions, Table, read_table, to_text
from solah.data.spelling import parse_numbers
from solah.datasets import registry
from solah.datasets.registry import TARGET, Entry, RawFile, find_entry
from solah.exceptions import DataError, DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

VARIABLE = "SOLAH_DATA"
"""The environment variable that names a folder of CSV files with the class as the last column."""

BASE_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
"""The address of the raw files, unless ``SOLAH_DATA_URL`` names a mirror."""

_TIMEOUT_SECONDS = 30
_MAX_BYTES = 1 << 26
# Declared, so that nothing is inferred from the first lines of a free text.
_FORM = ReadOptions(header=True, delimiter=",", decimal=".")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named data set: features, target and what is known of them.

    Attributes
    ----------
    name : str
        The set's name, aliases resolved.
    table : Table
        The features, one column each.
    target : ndarray of str, shape (n_rows,)
        The class label of each row.
    target_name : str
        The name of the target.
    kinds : mapping of str to str or tuple of str
        The declared kinds, by column, of the columns whose kind cannot be inferred; a tuple
        holds the states of an ordinal column in their order.
    groups : ndarray of str, shape (n_rows,), or None
        The user, batch or recording that each row belongs to, where rows of one group must not
        be split between training and test.
    """

    name: str
    table: Table
    target: NDArray[np.str_]
    target_name: str
    kinds: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    groups: NDArray[np.str_] | None = None

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.table.n_rows} rows, "
            f"{len(self.table.columns)} features, {len(self.class_counts)} classes)"
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return self.table.names

    @property
    def class_counts(self) -> dict[str, int]:
        """The number of rows of each class, by label in sorted order."""
        labels, counts = np.unique(self.target, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def X(self) -> NDArray[np.float64]:  # noqa: N802
        """The features as an array of shape (n_rows, n_features); all must be numbers."""
        texts = [column.name for column in self.table.columns if column.is_text]
        if texts:
            raise DataError(
                f"data set {self.name!r} has columns of text ({', '.join(map(repr, texts))}), "
                "which an array of numbers cannot hold; use .table"
            )
        return np.column_stack([column.values for column in self.table.columns]).astype(np.float64)

    @property
    def y(self) -> NDArray[np.str_]:
        """The target, under scikit-learn's name for it."""
        return self.target


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about a data set, available without reading it: names, shape, source and terms.

    ``at_hand`` is whether it loads without a network. ``where`` is ``"scikit-learn"``,
    ``"SOLAH_DATA"`` (the folder of that variable), ``"cache"``, ``"download"`` (fetched on the
    first load) or ``"manual"``.
    """

    name: str
    aliases: tuple[str, ...]
    rows: int
    features: int
    classes: int
    source: str
    licence: str
    at_hand: bool
    where: str


AT_HAND = ("scikit-learn", VARIABLE, "cache")
"""The places from which a data set loads without a network."""


def available() -> tuple[DatasetInfo, ...]:
    """List the data sets that can be loaded by name.

    Returns
    -------
    tuple of DatasetInfo
        One for each set; shapes are known facts, no file is read.

    Examples
    --------
    >>> from solah.datasets import available
    >>> [info.name for info in available() if info.where == "scikit-learn"]
    ['iris', 'wdbc', 'wine']
    """
    found = []
    for entry in registry.ENTRIES:
        where, _ = locate(entry)
        found.append(
            DatasetInfo(
                name=entry.name,
                aliases=entry.aliases,
                rows=entry.n_rows,
                features=entry.n_features,
                classes=len(entry.classes),
                source=entry.source,
                licence=entry.licence,
                at_hand=where in AT_HAND,
                where=where,
            )
        )
    return tuple(found)


def load(name: str) -> Dataset:
    """Load a data set by its name.

    Wine, wdbc and iris come with scikit-learn. Any other set is read from the folder that the
    environment variable ``SOLAH_DATA`` names (CSV files, the class in the last column). If it is
    not there, and the UCI repository serves it as one plain file, it is downloaded once into
    ``SOLAH_CACHE`` or the user's cache folder, and its SHA-256 is checked.

    Parameters
    ----------
    name : str
        A name or alias that `available` lists; case, hyphens and blanks do not matter.

    Returns
    -------
    Dataset
        Features, class labels, declared kinds and groups. The rows are in the order of the
        file; the repository's breast-cancer.data has another order than most CSV copies.

    Raises
    ------
    DatasetError
        If the name is unknown, or the set can neither be found nor downloaded, or the file
        found does not hold the set.

    Examples
    --------
    >>> from solah.datasets import load
    >>> wine = load("wine")
    >>> wine
    Dataset('wine', 178 rows, 13 features, 3 classes)
    >>> wine.class_counts
    {'class_0': 59, 'class_1': 71, 'class_2': 48}
    """
    return load_entry(find_entry(name))


def load_entry(entry: Entry) -> Dataset:
    """Load the data set of an entry, from the nearest place that has it."""
    table = _read(entry)
    *features, last = table.columns
    # A number such as 2.0 becomes '2'.
    labels = ["?" if label is None else label for label in to_text(last).values]
    groups = None
    if entry.groups is not None:
        groups = np.repeat(list(entry.groups), list(entry.groups.values()))
    target = np.array(labels, dtype=np.str_)
    features_only = Table(tuple(features), table.n_rows)
    dataset = Dataset(entry.name, features_only, target, last.name, entry.kinds, groups)
    strangers = [name for name in entry.kinds if name not in dataset.feature_names]
    if len(features) != entry.n_features:
        fault = f"it has {len(features)} features where the set has {entry.n_features}"
    elif strangers:
        fault = f"it has no column {strangers[0]!r}"
    elif dataset.class_counts != dict(entry.classes):
        fault = f"its classes are {dataset.class_counts} where the set has {dict(entry.classes)}"
    else:
        return dataset
    raise DatasetError(
        f"the file for {entry.name!r} does not hold that data set: {fault}; "
        f"replace {entry.file_name}, or give it another name and read it with read_table"
    )


def locate(entry: Entry) -> tuple[str, Path | None]:
    """Return the nearest place that has the set, as ``DatasetInfo.where``, and its file there."""
    if entry.loader is not None:
        return "scikit-learn", None
    if named := os.environ.get(VARIABLE):
        folder = Path(named)
        if not folder.is_dir():
            raise DatasetError(
                f"{VARIABLE} is {named!r}, which is not a folder; "
                "point it at a folder of CSV files, or unset it"
            )
        if (folder / entry.file_name).is_file():
            return VARIABLE, folder / entry.file_name
    if entry.raw is None:
        return "manual", None
    cached = _cache_folder() / entry.raw.file_name
    if cached.is_file() and _sha256(cached.read_bytes()) == entry.raw.sha256:
        return "cache", cached
    return "download", None


def _read(entry: Entry) -> Table:
    """Read the set from the nearest place that has it, the class last."""
    where, file = locate(entry)
    if entry.loader is not None:
        # Imported here because it takes a second or more that no other set needs.
        from sklearn import datasets

        bunch = getattr(datasets, entry.loader)()
        features = map(Column, map(str, bunch.feature_names), bunch.data.T)
        target = Column(TARGET, bunch.target_names.astype(object)[bunch.target])
        return Table((*features, target), len(bunch.data))
    if where == VARIABLE and file is not None:
        try:
            return read_table(file, options=_FORM)
        except (DataError, OSError) as error:
            raise DatasetError(
                f"data set {entry.name!r}: {entry.file_name} in {VARIABLE} cannot be read: {error}"
            ) from error
    if entry.raw is not None:
        return read_raw(file or _download(entry, entry.raw), entry.raw)
    raise DatasetError(f"data set {entry.name!r} cannot be downloaded; {_by_hand(entry)}")


def read_raw(file: Path, raw: RawFile) -> Table:
    """Read a headerless file of the UCI repository whose hash has been checked."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [line.split(raw.separator) for line in lines if line.strip()]
    cells = dict(zip(raw.columns, zip(*rows, strict=True), strict=True))
    columns = []
    for name in (*(name for name in raw.columns if name not in (*raw.drop, TARGET)), TARGET):
        words = raw.words.get(name, {})
        texts = [None if cell == "?" else words.get(cell, cell) for cell in cells[name]]
        numbers = parse_numbers(texts)
        columns.append(Column(name, np.array(texts, object) if numbers is None else numbers))
    return Table(tuple(columns), len(rows))


def _download(entry: Entry, raw: RawFile) -> Path:
    """Fetch the file into the cache, once its hash is right, and return its path there."""
    base = os.environ.get("SOLAH_DATA_URL") or BASE_URL
    url = f"{base.rstrip('/')}/{raw.path}"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            content = response.read(_MAX_BYTES)
        found = _sha256(content)
        if found != raw.sha256:
            raise DatasetError(
                f"data set {entry.name!r}: {raw.file_name} from {url} is not the file that is "
                f"known; its SHA-256 is {found}, not {raw.sha256}, so it was not kept; "
                f"{_by_hand(entry)}"
            )
        return write_all(_cache_folder(), {raw.file_name: content})[0]
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(error, urllib.error.HTTPError):
            reason = f"HTTP status {error.code}"
            error.close()
        raise DatasetError(
            f"data set {entry.name!r} could not be downloaded from {url} ({reason}); "
            f"try again later, name a mirror in SOLAH_DATA_URL, or {_by_hand(entry)}"
        ) from error


def _cache_folder() -> Path:
    if named := os.environ.get("SOLAH_CACHE"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(home or Path.home() / ".cache") / "solah"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _by_hand(entry: Entry) -> str:
    """Return the end of an error message: how to provide the set."""
    return (
        f"save it as {entry.file_name} (a header line, the class in the last column) in a folder "
        f"and point {VARIABLE} at that folder; it comes from {entry.source}"
    )
