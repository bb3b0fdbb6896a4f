"""Files of the UCI repository: fetched once into a cache, checked by their SHA-256 every time."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from solah.datasets.folder import how_by_hand
from solah.exceptions import DatasetError, MissingExtraError, require

if TYPE_CHECKING:
    from solah.datasets.entries import Entry, RawFile

BASE_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
"""Where the raw files are, unless ``SOLAH_DATA_URL`` names a mirror."""

TIMEOUT_SECONDS = 30


def cached_file(raw: RawFile) -> Path | None:
    """Return the file in the cache, if it is there and whole."""
    try:
        file = _cache_folder() / raw.file_name
    except MissingExtraError:
        # Without pooch nothing can have been downloaded to the place that only pooch knows.
        return None
    return file if file.is_file() and _sha256(file) == raw.sha256 else None


def download(entry: Entry, raw: RawFile) -> Path:
    """Fetch the file into the cache and return its place there.

    It is written beside its final place and moved there only once its hash is right.
    """
    pooch = require("pooch", "datasets", f"downloading the data set {entry.name!r}")
    url = _base_url() + raw.path
    try:
        cache = _cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="download-") as scratch:
            arrived = Path(scratch) / raw.file_name
            pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)(url, str(arrived), None)
            _check(arrived, entry, raw.sha256, url)
            return arrived.replace(cache / raw.file_name)
    except OSError as error:
        raise DatasetError(
            f"data set {entry.name!r} could not be downloaded from {url} ({_reason(error)}); "
            f"try again later, name a mirror in SOLAH_DATA_URL, or {how_by_hand(entry)}"
        ) from error


def _base_url() -> str:
    return (os.environ.get("SOLAH_DATA_URL") or BASE_URL).rstrip("/") + "/"


def _cache_folder() -> Path:
    named = os.environ.get("SOLAH_CACHE")
    if named:
        return Path(named)
    pooch = require("pooch", "datasets", "finding the cache of data sets")
    return Path(pooch.os_cache("solah"))


def _check(file: Path, entry: Entry, expected: str, url: str) -> None:
    found = _sha256(file)
    if found != expected:
        raise DatasetError(
            f"data set {entry.name!r}: {file.name} from {url} is not the file that is known; "
            f"its SHA-256 is {found}, not {expected}, so it was not kept; {how_by_hand(entry)}"
        )


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _reason(error: OSError) -> str:
    """Say in a word or two what went wrong; requests' own messages run over several lines."""
    response = getattr(error, "response", None)
    if response is None:
        return error.strerror or type(error).__name__
    response.close()  # pooch leaves the connection of a refused request open
    return f"HTTP status {response.status_code}"
