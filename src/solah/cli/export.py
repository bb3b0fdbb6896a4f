"""``solah export``: write a model as C99 for a device, or for a browser, a database or ONNX."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solah.cli.adapt import Forgetting, PaceOption
from solah.cli.options import ModelFile, ReadingOptions
from solah.cli.overwriting import READ, refuse_overwriting
from solah.cli.screen import Screen, output_option
from solah.cli.verb import many_options, options_in

if TYPE_CHECKING:
    from solah.data import Table
    from solah.export import Blob, Export, Program
    from solah.export.exporting import Numbers
    from solah.learn.online import Pace
    from solah.model import Model

_export_option = options_in("The device's code")
_trust_option = options_in("Trust")
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
    Literal[
        "c",
        "arduino",
        "platformio",
        "zephyr",
        "esp-idf",
        "micropython",
        "blob",
        "javascript",
        "sql",
        "onnx",
    ],
    _export_option(
        "--to",
        help="C99 alone, as a library of Arduino or PlatformIO, a Zephyr module or an ESP-IDF "
        "component; MicroPython; a blob, which a device swaps without a new build; or, beyond "
        "devices, a JavaScript module, a SELECT in SQL, or an ONNX graph.",
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
        help="Write nothing if code and tables take more flash than this, such as 2048 or 4k, by "
        "an estimate for Cortex-M0+.",
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
        help="Only this part of the model, with what is below it; for a node of a network.",
    ),
]
Learn = Annotated[
    bool,
    _export_option("--learn", help="Let the device learn from readings whose class it is told."),
]
TestRows = Annotated[
    int | None,
    _export_option(
        "--test-rows",
        metavar="N",
        min=0,
        max=10_000,
        help="How many rows the test has that the device runs; by default one of each class and "
        "five more. 0 writes no test.",
    ),
]
Sign = Annotated[
    Path | None,
    _trust_option(
        "--sign",
        metavar="FILE",
        help="Sign the blob with this Ed25519 private key (PEM).",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
NewKey = Annotated[
    Path | None,
    _trust_option(
        "--new-key",
        metavar="NAME",
        help="Make a key and sign the blob with it: NAME.pem, to be kept secret, and NAME.pub.pem.",
    ),
]
Counter = Annotated[
    int | None,
    _trust_option(
        "--counter",
        metavar="N",
        min=0,
        max=2**64 - 1,
        help="What a device compares, to refuse an older blob; by default the milliseconds since "
        "1970.",
    ),
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


@many_options(
    *("to", "numbers", "max_flash", "min_agreement", "learn", "test_rows", "part", "sign", "table"),
    *("name", "json", "output"),
)
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
    test_rows: TestRows = None,
    sign: Sign = None,
    new_key: NewKey = None,
    counter: Counter = None,
    table: TableName = None,
    key: Keys = None,
    name: Name = None,
    output: Folder = Path("export"),
) -> None:
    """Write a model as C99, or for MicroPython, that decides as it does here, bit for bit.

    The files need no library: a header and a source of the model, and the runtime that the source
    includes; for MicroPython a module; as a blob, bytes that a runtime checks and runs. Beside them
    stands a test, which the device runs to see that it decides alike. Beyond devices, a JavaScript
    module, a SELECT in SQL or an ONNX graph computes in doubles as the model does. Decisions are
    compared with the model's before anything is written, on DATA or on drawn rows.

    Example: solah export model.json test.csv --numbers q15 -o firmware/model
    """
    from solah.atomic import write_all
    from solah.cli.device_check import check_device
    from solah.cli.sources import read_source
    from solah.export import Blob
    from solah.export.names import identifier
    from solah.keys import key_files
    from solah.learn.online import Pace
    from solah.model import load_document
    from solah.model.compile import part_of

    learning = Pace(pace, forgetting) if learn else None
    _check_options(to, numbers, max_flash, learning, test_rows)
    _check_trust(to, sign, new_key, counter)
    _check_table(to, table, key)
    most_bytes = None if max_flash is None else _bytes(max_flash)
    document = load_document(model)
    if part is not None:
        document = part_of(document, part)
    called = name or identifier(model.stem, "model")
    exported = (
        _program(document, to, called, table, key)
        if to in _PROGRAMS
        else _exported(document, to, numbers, called, learning, most_bytes)
    )
    rows = None if data is None else read_source(data, reading.read_options(), document).table
    found = None
    if exported.twin is None:
        screen.note("node is not installed, so the module was not compared with the model")
    else:
        found = check_device(document, exported, rows, min_agreement)
    for warning in exported.warnings:
        screen.note(warning)
    if document.signals is not None and to in _PROGRAMS:
        screen.note("this decides on readings; samples become readings in exports for devices")
    if document.policy is not None and to in _PROGRAMS:
        screen.note(_left_out(to))
    keys = () if new_key is None else key_files(new_key)
    refuse_overwriting(keys, ())
    if isinstance(exported, Blob):
        exported = _signed(exported, sign, new_key, counter)
    files = _files(document, to, exported, rows, test_rows)
    refuse_overwriting((output / file for file in files), filter(None, (model, data, sign)))
    written = write_all(output, files)
    if screen.json:
        about = {"name": exported.name, "to": to, "numbers": exported.numbers}
        paths = [str(file) for file in (*written, *keys)]
        screen.document({**about, "files": paths, "check": found})
    _show(screen, [*written, *keys], found, _PROGRAMS.get(to, "device"))


def _left_out(to: Form) -> str:
    """Say what a program does without, of a model with a policy."""
    if to == "javascript":
        return "this judges each row by itself; how the policy settles decisions is not part of it"
    return "this decides each row by itself; the model's policy is not part of it"


def _check_options(
    to: Form,
    numbers: OptionalNumbers,
    max_flash: str | None,
    learning: "Pace | None",
    test_rows: int | None,
) -> None:
    from solah.exceptions import ParameterError

    if to in _PROGRAMS:
        _check_program_options(to, numbers, max_flash, learning, test_rows)
    what = {"micropython": "a module for MicroPython", "blob": "a blob"}.get(to)
    if what is not None and numbers == "float":
        raise ParameterError(f"{what} computes in integers; leave --numbers out")
    if what is not None and max_flash is not None:
        raise ParameterError(
            f"--max-flash counts the bytes of generated C, and {what} has none; leave it out"
        )
    if what is not None and learning is not None:
        raise ParameterError(f"{what} does not learn; --learn is for C and its libraries")
    if learning is not None and numbers == "float":
        raise ParameterError("a device learns in integers; leave --numbers out")


def _check_trust(to: Form, sign: Path | None, new_key: Path | None, counter: int | None) -> None:
    from solah.exceptions import ParameterError

    if sign is not None and new_key is not None:
        raise ParameterError("--new-key makes a key and signs with it; leave --sign out")
    if to != "blob" and (sign is not None or new_key is not None):
        raise ParameterError("a blob is what is signed: --sign and --new-key need --to blob")
    if counter is not None and sign is None and new_key is None:
        raise ParameterError("--counter is of a signed blob; give --sign or --new-key, too")


def _signed(blob: "Blob", sign: Path | None, new_key: Path | None, counter: int | None) -> "Blob":
    from solah.export import sign_blob
    from solah.keys import make_keys

    key = sign if new_key is None else make_keys(new_key)[0]
    return blob if key is None else sign_blob(blob, key, counter)


def _files(
    model: "Model",
    to: Form,
    exported: "Export | Blob | Program",
    rows: "Table | None",
    test_rows: int | None,
) -> "dict[str, str | bytes]":
    """Lay out all that is written; for a device with its test."""
    from solah.export import Export, Program, package_c, self_test

    if isinstance(exported, Program):
        return dict(exported.files)
    test = self_test(model, exported, rows, test_rows)
    if to == "arduino" or to == "platformio" or to == "zephyr" or to == "esp-idf":
        assert isinstance(exported, Export)
        return dict(package_c(model, exported, to, test))
    return {**exported.files, **test}


def _check_program_options(
    to: Form,
    numbers: OptionalNumbers,
    max_flash: str | None,
    learning: "Pace | None",
    test_rows: int | None,
) -> None:
    """Refuse what only devices have."""
    from solah.exceptions import ParameterError

    given = {
        "--numbers": numbers,
        "--max-flash": max_flash,
        "--learn": learning,
        "--test-rows": test_rows,
    }
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
    model: "Model",
    to: Form,
    numbers: OptionalNumbers,
    name: str,
    learning: "Pace | None",
    max_flash: int | None,
) -> "Export | Blob":
    from solah.export import export_blob, export_c, export_micropython

    if to == "micropython":
        return export_micropython(model, name=name)
    if to == "blob":
        return export_blob(model, name=name)
    usual: Numbers = "q15" if learning else "float"
    kind = numbers or usual
    return export_c(model, name=name, numbers=kind, learning=learning, max_flash=max_flash)


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
    found: dict[str, Any] | None,
    who: str,
) -> None:
    from solah.cli.device_check import spell_findings
    from solah.cli.views import facts, heading

    screen.say(heading("Written"), *(f"  {file}" for file in written))
    if found is not None:
        screen.say("", heading(f"The {who}'s decisions beside the model's"))
        findings = spell_findings(found, who).items()
        screen.result(facts({name: value for name, value in findings if value}))
