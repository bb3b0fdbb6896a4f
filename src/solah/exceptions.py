"""Every error that solah raises on purpose, and every warning of its own.

Errors of devices and networks are in their packages.

.. code-block:: text

    SolahError
    ├── DataError (ValueError)            a table, a column or a row that cannot be used
    │   ├── ColumnError                   a missing or duplicate column
    │   └── FileFormatError               a file that cannot be read as a table
    ├── DatasetError (LookupError)        a named data set that is unknown or not available
    ├── ParameterError (ValueError)       an invalid parameter
    │   └── TooManyCombinationsError      a table of combinations of words that would be too large
    ├── ModelFormatError (ValueError)     an invalid model file
    │   ├── ModelVersionError             a model file of another format version
    │   └── RuleTextError                 a rule or a rules file that cannot be read
    ├── AgreementError (ValueError)       an export that predicts otherwise than its model
    ├── KeyFileError (ValueError)         a key for signing that cannot be read or used
    ├── ForeignNodeError (AttributeError) a hierarchy that no model file can hold
    ├── MissingExtraError (ImportError)   an optional package that is not installed
    │                                     in solah.export.platforms:
    ├── MissingToolError (FileNotFoundError)  a compiler or emulator that is not installed
    ├── BuildError                        C that does not compile or does not fit its platform
    ├── RunError                          a program that failed, crashed or timed out
    ├── SignatureError (ValueError)       a signed blob that is untrusted, in solah.export.signing
    │                                     in solah.site.messages, .bundle and .client:
    ├── MessageError (ValueError)         a message of a node that cannot be read
    ├── BundleError (ValueError)          a plan that is invalid, or signed with an untrusted key
    │   └── NoRoomError                   a plan too many, in .versions
    └── BrokerError (ConnectionError)     a broker that cannot be reached, or refuses

    IdentifierWarning (UserWarning)       a column that names each row, which solah drops
    RareCategoriesWarning (UserWarning)   a column with too many categories to keep all
    LeakageWarning (UserWarning)          folds that share samples, so that metrics are too good
    UnseenCategoryWarning (UserWarning)   values that are absent from the training rows

The built-in class in parentheses is a second base, so that ``except ValueError`` works, too.
"""

from __future__ import annotations

import difflib
import importlib
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


class SolahError(Exception):
    """Base of all errors that solah raises on purpose."""


class DataError(SolahError, ValueError):
    """A table, a column or a row cannot be used as it is.

    Attributes
    ----------
    remedy : str
        The option of the command line that helps, such as ``"--drop id"``; empty if none does.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class ColumnError(DataError):
    """A column is missing or duplicate."""

    @classmethod
    def unknown(cls, name: object, known: Iterable[str], where: str = "the data") -> ColumnError:
        """Return the error for a missing column, with the name that was probably meant."""
        return cls(f"{where} has no column {shorten(name)}{did_you_mean(name, known)}")


class FileFormatError(DataError):
    """A file cannot be read as a table."""


class ParameterError(SolahError, ValueError):
    """A parameter is invalid."""


class TooManyCombinationsError(ParameterError):
    """A table of all combinations of words would be too large."""


class DatasetError(SolahError, LookupError):
    """A named data set is unknown, or its file is not available."""


class ModelFormatError(SolahError, ValueError):
    """A model file is invalid."""


class ModelVersionError(ModelFormatError):
    """A model file has a format version that this solah does not read."""


class RuleTextError(ModelFormatError):
    """A rule, or a file of rules, cannot be read.

    Attributes
    ----------
    problem : str
        What is wrong.
    line, column : int
        Where it is, from 1 on.
    file : str
        The file's name; empty for a text.
    """

    def __init__(self, problem: str, line: int = 1, column: int = 1, file: str = "") -> None:
        super().__init__(problem, line, column, file)
        self.problem, self.line, self.column, self.file = problem, line, column, file

    def __str__(self) -> str:
        where = f"{self.file}: " if self.file else ""
        return f"{where}line {self.line}, column {self.column}: {self.problem}"


class AgreementError(SolahError, ValueError):
    """An export predicts otherwise than its model in too many rows."""


class KeyFileError(SolahError, ValueError):
    """A key for signing cannot be read, is of another kind, or can be read by others."""


class ForeignNodeError(SolahError, AttributeError):
    """A hierarchy with other classifiers at its nodes has no rules and no model file."""


class MissingExtraError(SolahError, ImportError):
    """An optional package is needed and not installed."""


class IdentifierWarning(UserWarning):
    """A column numbers the rows, or has another text in each, so solah drops it.

    Parameters
    ----------
    column : str
    kind : str
        The type to declare in order to use it.
    """

    def __init__(self, column: str, kind: str = "continuous") -> None:
        self.column, self.kind = column, kind
        how = "numbers the rows one by one" if kind == "continuous" else "differs in every row"
        super().__init__(
            f"column {column!r} {how} and is dropped; to use it, declare its type: "
            f"feature_types={{{column!r}: {kind!r}}} (--type {column}={kind})"
        )


class RareCategoriesWarning(UserWarning):
    """A column has more categories than a model can have, so rare ones count as missing.

    Parameters
    ----------
    column : str
    n_categories, n_kept : int
        How many categories the column has, and how many of them the model keeps.
    n_rare, n_rows : int
        How many rows have a rare category, and how many have any.
    """

    def __init__(
        self, column: str, n_categories: int, n_kept: int, n_rare: int, n_rows: int
    ) -> None:
        super().__init__(column, n_categories, n_kept, n_rare, n_rows)
        self.column, self.n_categories, self.n_kept = column, n_categories, n_kept
        self.n_rare, self.n_rows = n_rare, n_rows

    def __str__(self) -> str:
        return (
            f"column {self.column!r} has {self.n_categories:,} categories; the {self.n_kept} most "
            f"frequent are kept, and the others ({self.n_rare / self.n_rows:.0%} of the rows) "
            "count as missing"
        )


class LeakageWarning(UserWarning):
    """Test windows share samples with training windows.

    Parameters
    ----------
    n_leaks, n_windows : int
        How many of the test windows do, and how many there are.
    """

    def __init__(self, n_leaks: int, n_windows: int) -> None:
        super().__init__(n_leaks, n_windows)
        self.n_leaks, self.n_windows = n_leaks, n_windows

    def __str__(self) -> str:
        return (
            f"{self.n_leaks:,} of {self.n_windows:,} test windows share samples with training "
            "windows, so metrics are too good; keep the windows of a recording together "
            "(groups=windows.groups)"
        )


class UnseenCategoryWarning(UserWarning):
    """A column has categories absent from training, which count as missing.

    Attributes
    ----------
    column : str
        The column's name.
    value : str
        The category that most of these rows have.
    n_value : int
        How many of them have it.
    n_rows : int
        How many rows have such a category.
    known : tuple of str
        The categories of the training rows.
    """

    def __init__(
        self, column: str, value: str, n_value: int, n_rows: int, known: tuple[str, ...]
    ) -> None:
        super().__init__(column, value, n_value, n_rows, known)
        self.column, self.value, self.known = column, value, known
        self.n_value, self.n_rows = n_value, n_rows

    def __str__(self) -> str:
        n_others = self.n_rows - self.n_value
        others = f" and other values in {_rows(n_others)}" if n_others else ""
        return (
            f"column {self.column!r} has {shorten(self.value)} in {_rows(self.n_value)}{others}; "
            "categories that the model does not have count as missing"
            f"{did_you_mean(self.value, self.known)}"
        )

    def with_more(self, other: UnseenCategoryWarning) -> UnseenCategoryWarning:
        """Return what is true of these rows and of others together."""
        n_value = self.n_value + (other.n_value if other.value == self.value else 0)
        n_rows = self.n_rows + other.n_rows
        return UnseenCategoryWarning(self.column, self.value, n_value, n_rows, self.known)


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of an error message: the closest candidate, or a list of them."""
    # Bounded, since both may come from a hostile file.
    candidates = list(islice(known, 1000))
    by_folded = {candidate[:60].casefold(): candidate for candidate in candidates}
    near = difflib.get_close_matches(str(name)[:60].casefold(), by_folded, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {shorten(by_folded[near[0]])}?"
    shown = ", ".join(map(shorten, candidates[:8])) + (", …" if len(candidates) > 8 else "")
    return f"; there are: {shown}" if candidates else "; there are none"


def shorten(value: object, most: int = 60) -> str:
    """Show a value in an error message, cut where it is long."""
    shown = repr(value[:most] if isinstance(value, str) else value)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def cut(text: str, most: int = 1_000) -> str:
    """Cut the middle of a text that is too long for a line.

    Examples
    --------
    >>> cut("a word too many for this line", most=20)
    'a word too m … line'
    """
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 3].rstrip()} … {text[len(text) - end :].lstrip()}"


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        line = f"pip install 'solah[{extra}]'" if extra else f"pip install {package}"
        raise MissingExtraError(f"{purpose} needs the package {package!r}: {line}") from error
