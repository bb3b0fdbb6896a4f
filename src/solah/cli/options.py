"""Options of data and files that more than one command has, declared once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from solah.cli.command import READ, WRITTEN, argument, option
from solah.cli.screen import STDOUT
from solah.exceptions import ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from solah.data import ReadOptions

_READ_ONCE = ("delimiter", "header", "decimal", "encoding", "time", "recording")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def writable(path: Path) -> Path:
    """Raise an error early if a file cannot be written."""
    if path == STDOUT:
        return path
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; give a file name")
    if path.exists() and not path.is_file():
        raise typer.BadParameter(f"{path} is not a plain file")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"the folder {path.parent} does not exist; make it first")
    return path


def _a_file(path: Path) -> Path:
    if path == STDOUT:
        raise typer.BadParameter("'-' is not possible here; give a file name")
    return writable(path)


def _model_file(path: Path) -> Path:
    if path.name.lower().endswith((".csv", ".tsv", ".parquet", ".arff", ".gz")):
        raise typer.BadParameter(f"{path} is a table; MODEL is a file that 'solah fit' wrote")
    return path


_DATA = "A file (CSV, TSV, Parquet, ARFF; text also as .gz), or a data set by name."

Data = Annotated[str, argument("DATA", _DATA), READ]
Rows = Annotated[str | None, argument("DATA", _DATA), READ]
ModelFile = Annotated[
    Path, argument("MODEL", "A model file that 'solah fit' wrote.", callback=_model_file), READ
]
Truth = Annotated[
    str | None,
    option("-t --target", "Column of true values. Default: the model's target.", metavar="COL"),
]
Groups = Annotated[
    str | None,
    option("Column of row groups, such as a user: folds keep a group together.", metavar="COL"),
]
By = Annotated[
    list[str] | None,
    option(
        "Columns to measure error rates by. Default: those of --leave-out. Repeatable.",
        metavar="COL",
    ),
]
Positive = Annotated[
    str | None,
    option("Class whose false positives --by counts. Default: the second of two.", metavar="CLASS"),
]
Jobs = Annotated[
    int | None,
    option("Threads; results do not depend on them. Default: all.", metavar="N", min=1),
]
Seed = Annotated[int, option("Random seed.", metavar="N", min=0)]
OutputFile = Annotated[
    Path, option("-o --output", "File to write.", metavar="FILE", callback=_a_file), WRITTEN
]
OutputFileOrStdout = Annotated[
    Path,
    option(
        "-o --output", "File to write. Default: '-', stdout.", metavar="FILE", callback=writable
    ),
    WRITTEN,
]
OutputFolder = Annotated[
    Path, option("-o --output", "Folder to write.", metavar="DIR", file_okay=False)
]

_Columns = list[str] | None


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a table are for, and their types."""

    panel: ClassVar[str] = "Columns (lists: repeat the option, or use commas)"

    target: Annotated[
        str | None,
        option("-t --target", "Column to predict. Default: a named data set's.", metavar="COL"),
    ] = None
    drop: Annotated[_Columns, option("Columns to drop, such as an id.", metavar="COL")] = None
    leave_out: Annotated[
        _Columns,
        option(
            "Columns that the model does not use, such as sex; --by compares error rates by them.",
            metavar="COL",
        ),
    ] = None
    type: Annotated[
        _Columns,
        option(
            "Type of a column: age=categorical (or continuous, ordinal, binary), or categories in "
            "order: size='S<M<L'. Default: inferred.",
            metavar="COL=TYPE",
        ),
    ] = None

    @property
    def gone(self) -> list[str]:
        """The columns of --drop and --leave-out, which are not features."""
        return [*(self.drop or ()), *(self.leave_out or ())]


@dataclass(frozen=True)
class ReadingOptions:
    """What the user knows about a file; the rest is inferred from its first lines."""

    panel: ClassVar[str] = "Options"

    read: Annotated[
        list[str] | None,
        option(
            "How text files are read: delimiter=tab, header=no, decimal=',', encoding=latin-1, "
            "missing=-999. Of recordings: time=COL, recording=COL. Default: inferred. Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None

    def read_options(self) -> "ReadOptions":
        """Check them, and hand them over to the reader."""
        from solah.data import ReadOptions

        found = pairs("--read", self.read, (*_READ_ONCE, "missing"))
        delimiter, header, decimal, encoding = map(self.given, _READ_ONCE[:4])
        if header not in (None, "yes", "no"):
            raise ParameterError(f"--read header={header}: expected 'yes' or 'no'")
        return ReadOptions(
            header=None if header is None else header == "yes",
            delimiter=_DELIMITERS.get(delimiter or "", delimiter),
            decimal=decimal,
            encoding=encoding,
            missing=frozenset(found.get("missing", ())),
        )

    def given(self, name: str) -> str | None:
        """Return the value of a name that may be given once; None without one."""
        values = pairs("--read", self.read, (*_READ_ONCE, "missing")).get(name, [])
        if len(values) > 1:
            raise ParameterError(f"--read gives {name!r} twice")
        return values[0] if values else None


def pairs(flag: str, words: Iterable[str] | None, known: Sequence[str]) -> dict[str, list[str]]:
    """Read words of the form NAME=VALUE; return the values of each name."""
    found: dict[str, list[str]] = {}
    for word in words or ():
        name, sign, value = word.partition("=")
        name = name.strip()
        if not sign or not name:
            raise ParameterError(f"{flag} {shorten(word)} is not of the form NAME=VALUE")
        if name not in known:
            near = did_you_mean(name, known)
            raise ParameterError(f"{flag} has no {shorten(name)}{near}; it has {', '.join(known)}")
        found.setdefault(name, []).append(value)
    return found
