"""Options of data and files that more than one verb has, declared once: single ones, and groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solah.cli.helptext import RARE_PANEL
from solah.cli.overwriting import READ, WRITTEN
from solah.cli.screen import output_option
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.data import ReadOptions

_column_option = options_in("Columns")
_reading_option = options_in(RARE_PANEL)
_work_option = options_in("Work")

STDOUT = Path("-")
_SPELT_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def _writable(path: Path) -> Path:
    """Refuse early what could not be written in the end."""
    if path == STDOUT:
        raise typer.BadParameter("a file name is needed here")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; give a file name")
    if path.exists() and not path.is_file():
        raise typer.BadParameter(f"{path} is not a plain file")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"the folder {path.parent} is not there; make it first")
    return path


def _writable_or_stdout(path: Path) -> Path:
    return path if path == STDOUT else _writable(path)


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, TSV, Parquet, ARFF; text also as .gz), or a name that "
        "'solah datasets' lists.",
        show_default=False,
    ),
    READ,
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A model document that 'solah fit' wrote.", show_default=False
    ),
    READ,
]
Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows to measure and show it with: a file (CSV, TSV, Parquet, ARFF; text also as "
        ".gz), or a name that 'solah datasets' lists.",
        show_default=False,
    ),
    READ,
]
Truth = Annotated[
    str | None,
    _column_option(
        "-t",
        "--target",
        metavar="COL",
        help="The column of DATA with the truth, if it is not called as the model's goal.",
    ),
]
Groups = Annotated[
    str | None,
    _column_option(
        metavar="COL",
        help="What rows belong to, such as a user: rows with the same value are never learnt from "
        "and tested on at once. Windows of one recording always stay together.",
    ),
]
OutputFile = Annotated[
    Path,
    output_option("-o", "--output", metavar="FILE", help="The file to write.", callback=_writable),
    WRITTEN,
]
OutputFileOrStdout = Annotated[
    Path,
    output_option(
        "-o",
        "--output",
        metavar="FILE",
        help="The file to write; '-' for stdout.",
        callback=_writable_or_stdout,
    ),
    WRITTEN,
]
Jobs = Annotated[
    int | None,
    _work_option(
        min=1,
        metavar="N",
        help="How many threads to use; by default all processors. Results do not depend on it.",
    ),
]


def _columns(flag: str, text: str) -> Any:
    return _column_option(flag, metavar="COL", help=f"{text} Repeat it, or use commas.")


By = Annotated[
    list[str] | None,
    _columns(
        "--by",
        "Columns to measure groups of, such as sex: accuracy, error rates and calibration for each "
        "value, or for ranges of a number. The model need not know them; by default those that "
        "--leave-out kept out of its decisions.",
    ),
]


Positive = Annotated[
    str | None,
    _column_option(
        "--positive",
        metavar="CLASS",
        help="With --by: of two classes, the one whose false positives are counted. Default: the "
        "second.",
    ),
]


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a table are for, and what they hold."""

    target: Annotated[
        str | None,
        _column_option(
            "-t",
            "--target",
            metavar="COL",
            help="The column to decide on. A data set by name knows its own.",
        ),
    ] = None
    task: Annotated[
        Literal["auto", "classification", "regression"],
        _column_option(
            help="Auto: text, true/false and whole numbers with at most 20 different values are "
            "classes; other numbers are numbers.",
        ),
    ] = "auto"
    categorical: Annotated[
        list[str] | None, _columns("--categorical", "Columns with a word for each value.")
    ] = None
    continuous: Annotated[
        list[str] | None, _columns("--continuous", "Columns of measurements.")
    ] = None
    ordinal: Annotated[list[str] | None, _columns("--ordinal", "Columns of ordered states.")] = None
    binary: Annotated[list[str] | None, _columns("--binary", "Columns with two states.")] = None
    drop: Annotated[
        list[str] | None, _columns("--drop", "Columns to leave out, such as an id.")
    ] = None
    leave_out: Annotated[
        list[str] | None,
        _columns(
            "--leave-out",
            "Columns to keep out of decisions, such as sex; reports may show them (--by).",
        ),
    ] = None

    @property
    def gone(self) -> list[str]:
        """What the user wrote behind --drop and --leave-out: no attributes, either of them."""
        return [*(self.drop or ()), *(self.leave_out or ())]

    @property
    def kinds(self) -> Mapping[str, list[str]]:
        """What the user wrote behind each kind's flag."""
        return {
            "categorical": self.categorical or [],
            "continuous": self.continuous or [],
            "ordinal": self.ordinal or [],
            "binary": self.binary or [],
        }


@dataclass(frozen=True)
class ReadingOptions:
    """What the user knows about a file; the rest is found out from its first lines."""

    delimiter: Annotated[
        str | None,
        _reading_option(
            metavar="CHAR", help="What stands between two fields; also 'tab' or 'space'."
        ),
    ] = None
    header: Annotated[
        bool | None,
        _reading_option(
            "--header/--no-header", help="Whether the first row holds the columns' names."
        ),
    ] = None
    decimal: Annotated[
        str | None, _reading_option(metavar="SIGN", help="The decimal sign: . or ,")
    ] = None
    encoding: Annotated[
        str | None,
        _reading_option(metavar="NAME", help="The encoding of the text, such as latin-1."),
    ] = None
    missing: Annotated[
        list[str] | None,
        _reading_option(
            metavar="WORD",
            help="A further word for a missing value, such as -999. Repeat it for more.",
        ),
    ] = None
    max_growth: Annotated[
        float,
        _reading_option(
            metavar="N",
            help="How many times as large as a .gz file its text may be. Default: 100.",
        ),
    ] = 100.0

    def words(self) -> list[str]:
        """Return them as words of a command line, for a process that reads the same file."""
        header = {None: [], True: ["--header"], False: ["--no-header"]}[self.header]
        given = {
            "--delimiter": self.delimiter,
            "--decimal": self.decimal,
            "--encoding": self.encoding,
        }
        spelt = [f"{flag}={value}" for flag, value in given.items() if value is not None]
        spelt.append(f"--max-growth={self.max_growth:g}")
        return [*header, *spelt, *(f"--missing={word}" for word in self.missing or ())]

    def read_options(self) -> "ReadOptions":
        """Check them, and hand them over to the reader."""
        from solah.data import ReadOptions

        return ReadOptions(
            header=self.header,
            delimiter=_SPELT_DELIMITERS.get(self.delimiter or "", self.delimiter),
            decimal=self.decimal,
            encoding=self.encoding,
            missing=frozenset(self.missing or ()),
            max_growth=self.max_growth,
        )
