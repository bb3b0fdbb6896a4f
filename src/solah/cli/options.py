"""Options of data and files that more than one command has, declared once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from solah.cli.command import READ, WRITTEN, argument, option
from solah.cli.screen import STDOUT

if TYPE_CHECKING:
    from solah.data import ReadOptions

_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def writable(path: Path) -> Path:
    """Refuse early what could not be written in the end."""
    if path == STDOUT:
        raise typer.BadParameter("a file name is needed here")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; give a file name")
    if path.exists() and not path.is_file():
        raise typer.BadParameter(f"{path} is not a plain file")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"the folder {path.parent} does not exist; make it first")
    return path


def _writable_or_stdout(path: Path) -> Path:
    return path if path == STDOUT else writable(path)


_DATA = "A file (CSV, TSV, Parquet, ARFF; text also as .gz), or a data set by name."

Data = Annotated[str, argument("DATA", _DATA), READ]
Rows = Annotated[str | None, argument("DATA", f"Rows to measure on. {_DATA}"), READ]
ModelFile = Annotated[Path, argument("MODEL", "A model file that 'solah fit' wrote."), READ]
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
        "Columns to measure error rates by, such as sex. Default: those of --leave-out. "
        "Repeatable.",
        metavar="COL",
    ),
]
Positive = Annotated[
    str | None,
    option(
        "With --by: the class whose false positives count. Default: the second of two.",
        metavar="CLASS",
    ),
]
Jobs = Annotated[
    int | None,
    option(
        "Number of threads; results do not depend on it. Default: all processors.",
        metavar="N",
        min=1,
    ),
]
Seed = Annotated[int, option("Random seed.", metavar="N", min=0)]
OutputFile = Annotated[
    Path, option("-o --output", "File to write.", metavar="FILE", callback=writable), WRITTEN
]
OutputFileOrStdout = Annotated[
    Path,
    option(
        "-o --output",
        "File to write. Default: '-' for stdout.",
        metavar="FILE",
        callback=_writable_or_stdout,
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
    rare: ClassVar[tuple[str, ...]] = ("Feature types",)

    target: Annotated[
        str | None,
        option("-t --target", "Column to predict. Default: a named data set's.", metavar="COL"),
    ] = None
    task: Annotated[
        Literal["auto", "classification", "regression"],
        option(
            "Kind of target. Default: auto; text and up to 20 whole numbers are classes.",
            is_eager=True,
        ),
    ] = "auto"
    drop: Annotated[_Columns, option("Columns to drop, such as an id.", metavar="COL")] = None
    leave_out: Annotated[
        _Columns,
        option("Columns kept out of the model, such as sex, but measured by --by.", metavar="COL"),
    ] = None
    categorical: Annotated[
        _Columns, option("Columns of categories.", metavar="COL", rich_help_panel="Feature types")
    ] = None
    continuous: Annotated[
        _Columns, option("Columns of measurements.", metavar="COL", rich_help_panel="Feature types")
    ] = None
    ordinal: Annotated[
        _Columns,
        option("Columns of ordered categories.", metavar="COL", rich_help_panel="Feature types"),
    ] = None
    binary: Annotated[
        _Columns, option("Columns of two values.", metavar="COL", rich_help_panel="Feature types")
    ] = None

    @property
    def gone(self) -> list[str]:
        """The columns of --drop and --leave-out, which are no features."""
        return [*(self.drop or ()), *(self.leave_out or ())]

    @property
    def feature_types(self) -> Mapping[str, list[str]]:
        """The columns declared by each flag of a feature type."""
        names = ("categorical", "continuous", "ordinal", "binary")
        return {name: getattr(self, name) or [] for name in names}


@dataclass(frozen=True)
class ReadingOptions:
    """What the user knows about a file; the rest is inferred from its first lines."""

    panel: ClassVar[str] = "Reading the file"
    rare: ClassVar[tuple[str, ...]] = (panel,)

    delimiter: Annotated[
        str | None, option("Character between fields; also 'tab' or 'space'.", metavar="CHAR")
    ] = None
    header: Annotated[
        bool | None, option("--header/--no-header", "Whether the first row has column names.")
    ] = None
    decimal: Annotated[str | None, option("Decimal sign: . or ,", metavar="SIGN")] = None
    encoding: Annotated[str | None, option("Text encoding, such as latin-1.", metavar="NAME")] = (
        None
    )
    missing: Annotated[
        list[str] | None,
        option("Further word for a missing value: -999. Repeatable.", metavar="WORD"),
    ] = None
    max_growth: Annotated[
        float, option("Maximum ratio of a .gz file's text to its size.", metavar="N")
    ] = 100.0

    def words(self) -> list[str]:
        """Return them as words of a command line, for a process that reads the same file."""
        header = {None: [], True: ["--header"], False: ["--no-header"]}[self.header]
        given = {
            "--delimiter": self.delimiter,
            "--decimal": self.decimal,
            "--encoding": self.encoding,
        }
        written = [f"{flag}={value}" for flag, value in given.items() if value is not None]
        written.append(f"--max-growth={self.max_growth:g}")
        return [*header, *written, *(f"--missing={word}" for word in self.missing or ())]

    def read_options(self) -> "ReadOptions":
        """Check them, and hand them over to the reader."""
        from solah.data import ReadOptions

        return ReadOptions(
            header=self.header,
            delimiter=_DELIMITERS.get(self.delimiter or "", self.delimiter),
            decimal=self.decimal,
            encoding=self.encoding,
            missing=frozenset(self.missing or ()),
            max_growth=self.max_growth,
        )
