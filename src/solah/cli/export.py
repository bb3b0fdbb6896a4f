"""``solah export``: write a model as C99 for a device, or for a browser, a database or ONNX."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solah.cli.adapt import Forgetting, PaceOption
from solah.cli.options import ModelFile, ReadingOptions
from solah.cli.overwriting import READ, refuse_overwriting
from solah.cli.screen import Screen, output_option
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.export import Blob, Export, Program
    from solah.export.exporting import Numbers
    from solah.learn.online import Pace
    from solah.model import Model

_export_option = options_in("The device's code")
_PROGRAMS = {"javascript": "module", "sql": "query", "onnx": "graph"}
"""The forms beyond devices, and what decides there."""

CheckData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows to compare the device's decisions with the model's: a file, or a data set by "
        "name. With the goal's column, accuracies too. Without it, rows are drawn.",
        show_default=False,
    ),
    READ,
]
Form = Annotated[
    Literal["c", "arduino", "zephyr", "micropython", "blob", "javascript", "sql", "onnx"],
    _export_option(
        "--to",
        help="C99 alone, as an Arduino library or a Zephyr module; MicroPython; a blob, which a "
        "device swaps without a new build; or, beyond devices, a JavaScript module, a SELECT in "
        "SQL, or an ONNX graph.",
    ),
]
NumberKind = Annotated[
    Literal["float", "q15"],
    _export_option("--numbers", help="Float32, or integers alone (q15)."),
]
OptionalNumbers = Annotated[
    Literal["float", "q15"] | None,
    _export_option(
        "--numbers",
        help="Float32, or integers alone (q15). By default float; q15 for MicroPython, for a blob, "
        "and for a device that learns.",
    ),
]
Name = Annotated[
    str | None,
    _export_option(
        "--name", metavar="NAME", help="What files and functions are called; by default as MODEL."
    ),
]
MaxFlash = Annotated[
    str | None,
    _export_option(
        "--max-flash",
        metavar="BYTES",
        help="Join or leave out the rules that matter least until code and tables fit into so much "
        "flash, such as 2048 or 4k, by an estimate for Cortex-M0+.",
    ),
]
MinAgreement = Annotated[
    float,
    _export_option(
        "--min-agreement",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Write nothing if the device decides fewer of the rows as the model does; of an "
        "estimated number, if fewer are within 0.5 % of its range.",
    ),
]
Part = Annotated[
    str | None,
    _export_option(
        "--part",
        metavar="NAME",
        help="Only this tree or fusion of the model, with what is below it; for a node of a "
        "network.",
    ),
]
Learn = Annotated[
    bool,
    _export_option("--learn", help="Let the device learn from readings whose class it is told."),
]
TableName = Annotated[
    str | None,
    _export_option(
        "--table",
        metavar="NAME",
        help="For SQL: the table, with a column for each attribute; 'readings' by default.",
    ),
]
Keys = Annotated[
    list[str] | None,
    _export_option(
        "--key",
        metavar="COLUMN",
        help="For SQL: a column of the table that is to stand in the answer, such as an id; may "
        "be repeated.",
    ),
]
Folder = Annotated[
    Path,
    output_option(
        "-o", "--output", metavar="DIR", help="The folder to write into.", file_okay=False
    ),
]


def export(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: CheckData = None,
    to: Form = "c",
    numbers: OptionalNumbers = None,
    part: Part = None,
    max_flash: MaxFlash = None,
    min_agreement: MinAgreement = 0.995,
    learn: Learn = False,
    pace: PaceOption = 1.0,
    forgetting: Forgetting = 0.0,
    table: TableName = None,
    key: Keys = None,
    name: Name = None,
    output: Folder = Path("export"),
) -> None:
    """Write a model as C99, or for MicroPython, that decides as it does here, bit for bit.

    The files need no library: a header and a source of the model, and the runtime that the source
    includes; for MicroPython a module; as a blob, bytes that a runtime checks and runs. Beyond
    devices, a JavaScript module, a SELECT in SQL or an ONNX graph computes in doubles as the model
    does. Decisions are compared with the model's before anything is written, on DATA or on drawn
    rows.

    Example: solah export model.json test.csv --numbers q15 -o firmware/model
    """
    from solah.atomic import write_all
    from solah.cli.device_check import check_device
    from solah.export import Export, package_c
    from solah.export.names import identifier
    from solah.learn.online import Pace
    from solah.model import load_document
    from solah.model.parting import part_of

    learning = Pace(pace, forgetting) if learn else None
    _check_options(to, numbers, max_flash, learning)
    _check_table(to, table, key)
    full = load_document(model)
    if part is not None:
        full = part_of(full, part)
    document, shrunk = _shrunk(full, max_flash, numbers or "float")
    called = name or identifier(model.stem, "model")
    exported = (
        _program(document, to, called, table, key)
        if to in _PROGRAMS
        else _exported(document, to, numbers, called, learning)
    )
    options = reading.read_options()
    found = None
    if exported.twin is None:
        screen.note("node is not installed, so the module was not compared with the model")
    else:
        found = check_device(full, document, exported, data, options, min_agreement)
    for warning in exported.warnings:
        screen.note(warning)
    if document.signals is not None and to in ("micropython", "blob", *_PROGRAMS):
        screen.note("this decides on readings; what makes them of samples is written in C only")
    if document.policy is not None and to in _PROGRAMS:
        screen.note("this decides each row by itself; the model's policy is not part of it")
    files = dict(exported.files)
    if isinstance(exported, Export) and (to == "arduino" or to == "zephyr"):
        files = dict(package_c(document, exported, to))
    refuse_overwriting((output / file for file in files), filter(None, (model, data)))
    written = write_all(output, files)
    if screen.json:
        about = {"name": exported.name, "to": to, "numbers": exported.numbers}
        paths = [str(file) for file in written]
        screen.document({**about, "files": paths, "shrunk": shrunk, "check": found})
    _show(screen, written, shrunk, found, _PROGRAMS.get(to, "device"))


def _check_options(
    to: Form, numbers: OptionalNumbers, max_flash: str | None, learning: "Pace | None"
) -> None:
    from solah.exceptions import ParameterError

    if to in _PROGRAMS:
        _check_program_options(to, numbers, max_flash, learning)
    what = {"micropython": "a module for MicroPython", "blob": "a blob"}.get(to)
    if what is not None and numbers == "float":
        raise ParameterError(f"{what} computes in integers; leave --numbers out")
    if what is not None and max_flash is not None:
        raise ParameterError(
            f"--max-flash counts the bytes of generated C, and {what} has none; leave it out"
        )
    if what is not None and learning is not None:
        raise ParameterError(f"{what} does not learn; --learn is for C, Arduino and Zephyr")
    if learning is not None and max_flash is not None:
        raise ParameterError(
            "--max-flash does not know what learning costs; use 'solah fit --max-rules' instead"
        )
    if learning is not None and numbers == "float":
        raise ParameterError("a device learns in integers; leave --numbers out")


def _check_program_options(
    to: Form, numbers: OptionalNumbers, max_flash: str | None, learning: "Pace | None"
) -> None:
    """Refuse what only devices have."""
    from solah.exceptions import ParameterError

    given = {"--numbers": numbers, "--max-flash": max_flash, "--learn": learning}
    for option, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{option} is for devices, and --to {to} computes in doubles as the model does; "
                "leave it out"
            )


def _check_table(to: Form, table: str | None, keys: list[str] | None) -> None:
    from solah.exceptions import ParameterError

    for option, value in {"--table": table, "--key": keys}.items():
        if value and to != "sql":
            raise ParameterError(f"{option} is for --to sql; leave it out")


def _program(
    model: "Model", to: Form, name: str, table: str | None, keys: list[str] | None
) -> "Program":
    from solah.export import export_javascript, export_onnx, export_sql

    if to == "javascript":
        return export_javascript(model, name=name)
    if to == "onnx":
        return export_onnx(model, name=name)
    return export_sql(
        model, name=name, table="readings" if table is None else table, keys=keys or ()
    )


def _exported(
    model: "Model", to: Form, numbers: OptionalNumbers, name: str, learning: "Pace | None"
) -> "Export | Blob":
    from solah.export import export_blob, export_c, export_micropython

    if to == "micropython":
        return export_micropython(model, name=name)
    if to == "blob":
        return export_blob(model, name=name)
    usual: Numbers = "q15" if learning else "float"
    return export_c(model, name=name, numbers=numbers or usual, learning=learning)


def _shrunk(
    model: "Model", max_flash: str | None, numbers: "Numbers"
) -> "tuple[Model, dict[str, Any] | None]":
    """Bring a model below a limit, if there is one; return what became of it, too."""
    if max_flash is None:
        return model, None
    from solah.export.costs import model_costs
    from solah.export.shrinking import shrink

    limit = _bytes(max_flash)
    small = shrink(model, limit, numbers)
    sizes = [
        (one.n_rules, len(one.attributes), model_costs(one, numbers).flash)
        for one in (model, small)
    ]
    before, after = (dict(zip(("rules", "readings", "flash"), size, strict=True)) for size in sizes)
    return small, {"max_flash": limit, "before": before, "after": after}


def _bytes(text: str) -> int:
    """Read a size such as 2048, 4k or 1.5 KB."""
    from solah.exceptions import ParameterError, shorten

    size = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?) ?k(i?b)?", text.strip(), re.ASCII | re.IGNORECASE)
    n_bytes = 0 if size is None else int(size[1] or 1024 * float(size[2]))
    if n_bytes < 1:
        raise ParameterError(
            "--max-flash must be a number of bytes such as 2048 or 4k. "
            f"Got {shorten(text)} instead."
        )
    return n_bytes


def _show(
    screen: Screen,
    written: list[Path],
    shrunk: dict[str, Any] | None,
    found: dict[str, Any] | None,
    who: str,
) -> None:
    from solah.cli.device_check import spell_findings
    from solah.cli.views import facts, heading

    screen.say(heading("Written"), *(f"  {file}" for file in written))
    if shrunk is not None:
        limit = f"{shrunk['max_flash']:,} bytes of flash"
        screen.say("", heading(f"What is left within {limit} (Cortex-M0+, estimated)"))
        screen.result(facts(_left(shrunk)))
    if found is not None:
        screen.say("", heading(f"The {who}'s decisions beside the model's"))
        findings = spell_findings(found, who).items()
        screen.result(facts({name: value for name, value in findings if value}))


def _left(shrunk: dict[str, Any]) -> dict[str, str]:
    units = {"rules": "", "readings": "", "flash": " bytes"}
    before, after = shrunk["before"], shrunk["after"]
    if before == after:
        return {name: f"{after[name]:,}{unit}, as before" for name, unit in units.items()}
    return {name: f"{after[name]:,}{unit} of {before[name]:,}" for name, unit in units.items()}
