"""Options for reading a file."""

from __future__ import annotations

from dataclasses import dataclass

from solah.exceptions import DataError, FileFormatError


@dataclass(frozen=True)
class ReadOptions:
    r"""Settings of a text file; solah infers those that are None from its first lines.

    Parameters
    ----------
    header : bool or None
        Whether the first row holds the columns' names.
    delimiter : str or None
        The character between two fields; a space means any run of spaces and tabs.
    decimal : {".", ","} or None
        The decimal sign of the numbers.
    encoding : str or None
        The encoding of the text. None reads UTF-8, and UTF-16 or UTF-32 that begin with their mark.
    missing : frozenset of str
        Further words for a missing value, such as "-999", compared as text.

    Examples
    --------
    >>> ReadOptions(delimiter=";", missing=frozenset({"-999"})).delimiter
    ';'
    """

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise DataError(
                f"the delimiter must be one character such as ',' or ';' or a tab; "
                f"got {self.delimiter!r}"
            )
        if self.decimal not in (None, ".", ","):
            raise DataError(f"the decimal sign must be '.' or ','; got {self.decimal!r}")
        try:
            "".encode("utf-8" if self.encoding is None else self.encoding)
        except (LookupError, ValueError):  # ValueError: a name with a NUL in it
            raise DataError(
                f"unknown encoding {self.encoding!r}; common ones are utf-8, latin-1 and cp1252"
            ) from None


MAX_COLUMNS = 100_000
"""The maximum number of columns of a file."""


def refuse_many_columns(n_columns: int, where: str) -> None:
    """Refuse a file that has more columns than any table should have."""
    if n_columns > MAX_COLUMNS:
        raise FileFormatError(
            f"{where} has {n_columns:,} columns, more than the limit of {MAX_COLUMNS:,}; is it a "
            "table with one row per line?"
        )
