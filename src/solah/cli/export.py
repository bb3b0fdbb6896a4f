"""``solah export``: write a model as C99 for a device, or for a browser, a database or ONNX."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from solah.cli.adapt import Forgetting, Pace
from solah.cli.command import (
    READ,
    argument,
    changed_flags,
    option,
    read_file,
    refuse_overwriting,
)
from solah.cli.options import ModelFile, OutputFolder, ReadingOptions
from solah.cli.screen import Screen

if TYPE_CHECKING:
    from solah.data import Table
    from solah.export import Agreement, Blob, Export, Program
    from solah.export.footprint import SignalFootprint
    from solah.export.platforms import Footprint
    from solah.export.units import Counts
    from solah.model import Model

_PROGRAMS = {"javascript": "module", "sql": "query", "onnx": "graph"}
"""The forms beyond devices, and what predicts there."""
_STYLES = {
    "plain": "plain C, a function per feature",
    "tables": "tables, which one runtime reads",
}
_TAKE_COUNTS = ("c", "zephyr", "esp-idf", "micropython", "blob")
_INTEGERS = {"micropython": "a MicroPython module", "blob": "a blob"}
_FOOTPRINT_ROWS = 100

CheckData = Annotated[
    str | None,
    argument(
        "DATA",
        "Rows to compare predictions on: a file or a data set. Default: random rows.",
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
    option("C99 alone or as a package, MicroPython, a blob, JavaScript, SQL or ONNX."),
]
Part = Annotated[
    str | None, option("Only this tree or term, with what is below it.", metavar="NAME")
]
Name = Annotated[
    str | None, option("Name of files and functions. Default: the model file's.", metavar="NAME")
]
MinAgreement = Annotated[
    float,
    option(
        "Refuse code that predicts a smaller share of rows as the model does.",
        metavar="SHARE",
        min=0.0,
        max=1.0,
    ),
]


@dataclass(frozen=True)
class CodeOptions:
    """Options of the code for devices."""

    panel: ClassVar[str] = "Code for devices"

    arithmetic: Annotated[
        Literal["float", "q15"] | None,
        option("float32, or integers (q15). Default: float; q15 for --learn, MicroPython, blobs."),
    ] = None
    style: Annotated[
        Literal["plain", "tables"] | None,
        option("C: a function per feature, or tables. Default: plain, unless much larger."),
    ] = None
    reasons: Annotated[
        bool, option("--reasons", "C: name the rules behind a decision. Requires tables.")
    ] = False
    no_missing: Annotated[
        bool, option("--no-missing", "C: smaller code, for readings that are never missing.")
    ] = False
    adc: Annotated[
        list[str] | None,
        option(
            "Integers: the feature (or channel) is OFFSET + GAIN * count of an ADC. Repeatable.",
            metavar="COL=BITS,GAIN,OFFSET",
        ),
    ] = None
    max_flash: Annotated[
        str | None,
        option("Refuse C that takes more flash than this, such as 4k.", metavar="BYTES"),
    ] = None
    learn: Annotated[bool, option("--learn", "Let the device learn from labelled readings.")] = (
        False
    )
    pace: Pace = 1.0
    forgetting: Forgetting = 0.0
    test_rows: Annotated[
        int | None,
        option(
            "Rows of the self-test. Default: one per class plus five.",
            metavar="N",
            min=0,
            max=10_000,
        ),
    ] = None
    url: Annotated[
        str | None,
        option("Arduino: address of the library's page.", metavar="URL"),
    ] = None
    footprint: Annotated[
        bool,
        option("--footprint", "Write nothing; measure flash, RAM, stack and instructions."),
    ] = False
    platform: Annotated[
        list[str] | None,
        option(
            "cortex-m0plus, cortex-m4, cortex-m4f, rv32, avr, aarch64 or host. Default: all whose "
            "tools are installed; with --max-flash, cortex-m0plus. Repeatable.",
            metavar="NAME",
        ),
    ] = None

    def choices(self) -> dict[str, Any]:
        """Return what `export_c` takes."""
        from solah.export.online import Pace as LearningPace

        learning = LearningPace(self.pace, self.forgetting) if self.learn else None
        return {
            "numbers": self.arithmetic or ("q15" if learning else "float"),
            "style": self.style,
            "reasons": self.reasons,
            "missing": not self.no_missing,
            "adc": _counts(self.adc),
            "learning": learning,
        }


@dataclass(frozen=True)
class BlobOptions:
    """How a blob is signed."""

    panel: ClassVar[str] = "Signed blobs"

    sign: Annotated[
        Path | None, read_file("Sign the blob with this Ed25519 private key (PEM)."), READ
    ] = None
    new_key: Annotated[
        Path | None,
        option("Create a key (NAME.pem, NAME.pub.pem), and sign with it.", metavar="NAME"),
    ] = None
    counter: Annotated[
        int | None,
        option(
            "Number that rises with each blob. Default: milliseconds since 1970.",
            metavar="N",
            min=0,
            max=2**64 - 1,
        ),
    ] = None


@dataclass(frozen=True)
class QueryOptions:
    """How a query reads its rows."""

    panel: ClassVar[str] = "SQL"

    table: Annotated[str | None, option("The table. Default: readings.", metavar="NAME")] = None
    keep: Annotated[
        list[str] | None,
        option("Column of the table to copy to the output. Repeatable.", metavar="COL"),
    ] = None


def export(
    model: ModelFile,
    code: CodeOptions,
    blob: BlobOptions,
    query: QueryOptions,
    reading: ReadingOptions,
    screen: Screen,
    data: CheckData = None,
    to: Form = "c",
    part: Part = None,
    name: Name = None,
    min_agreement: MinAgreement = 0.995,
    output: OutputFolder = Path("export"),
) -> None:
    """Export a model to C99, bit-exact with Python, or to JavaScript, SQL or ONNX.

    The files need no library, and include a self-test for the device. Before writing, solah
    compares the code's predictions with the model's, on DATA or on random rows.

    Example: solah export model.json test.csv --arithmetic q15 -o firmware/model

    Measure it: solah export model.json --footprint --platform cortex-m0plus
    """
    from solah.atomic import write_all
    from solah.cli.problem import read_source
    from solah.cli.signals import rows_of_recordings
    from solah.export import Blob, Program, sign_blob
    from solah.export.names import identifier
    from solah.keys import key_files, make_keys
    from solah.model import load_document
    from solah.model.compile import part_of

    _check_options(to, code)
    _check_pairs(to, code, blob, query)
    document = load_document(model)
    document = document if part is None else part_of(document, part)
    if code.footprint:
        _measure(document, to, data, code, reading, screen)
        return
    exported = _exported(document, to, name or identifier(model.stem, "model"), code, query)
    rows = None if data is None else read_source(data, reading, document).table
    found = None
    if exported.simulator is None:
        screen.note("node is not installed, so the module was not compared with the model")
    else:
        measured = None
        if data is not None and not isinstance(exported, Program) and exported.features:
            measured = rows_of_recordings(document, data, reading, exported.features)
        found = _compared(document, exported, rows, min_agreement, measured)
    for note in (*exported.warnings, *_missing_parts(document, to)):
        screen.note(note)
    keys = () if blob.new_key is None else key_files(blob.new_key)
    refuse_overwriting(keys, ())
    key = blob.sign if blob.new_key is None else make_keys(blob.new_key)[0]
    if isinstance(exported, Blob) and key is not None:
        exported = sign_blob(exported, key, blob.counter)
    files = _files(document, to, exported, rows, code)
    inputs: list[str | Path] = [one for one in (model, data, blob.sign) if one is not None]
    refuse_overwriting((output / file for file in files), inputs)
    _show(screen, to, exported, [*write_all(output, files), *keys], found)


def _show(
    screen: Screen,
    to: str,
    exported: "Export | Blob | Program",
    written: list[Path],
    found: dict[str, Any] | None,
) -> None:
    """Show what was written, and how its predictions compare with the model's."""
    from solah.cli.views import facts, heading
    from solah.export import Export

    if screen.json:
        about = {"name": exported.name, "to": to, "arithmetic": exported.numbers}
        about |= {"style": exported.style} if isinstance(exported, Export) else {}
        screen.document({**about, "files": [str(file) for file in written], "check": found})
    screen.say(heading("Written"), *(f"  {file}" for file in written))
    if isinstance(exported, Export) and to not in _INTEGERS:
        screen.say(f"style: {_STYLES[exported.style]}")
    if found is not None:
        who = _PROGRAMS.get(to, "device")
        screen.say("", heading(f"The {who}'s predictions beside the model's"))
        screen.result(facts(_findings(found, who)))


def _check_options(to: str, code: CodeOptions) -> None:
    """Refuse options that a form does not have."""
    from solah.exceptions import ParameterError

    changed = changed_flags(code)
    for flag in changed if to in _PROGRAMS else ():
        raise ParameterError(
            f"{flag} is for code on devices, and --to {to} computes in doubles; drop it"
        )
    what, is_float = _INTEGERS.get(to), code.arithmetic == "float"
    if what is not None and is_float:
        raise ParameterError(f"{what} computes in integers; drop --arithmetic")
    for flag in ("--max-flash", "--footprint", "--style", "--reasons", "--no-missing"):
        is_measured = (to, flag) == ("blob", "--footprint")
        if what is not None and flag in changed and not is_measured:
            raise ParameterError(f"{flag} is for generated C, which {what} does not have; drop it")
    if what is not None and code.learn:
        raise ParameterError(f"{what} does not learn; --learn is for C and its packages")
    if code.learn and is_float:
        raise ParameterError("a device learns in integers; drop --arithmetic")


def _check_pairs(to: str, code: CodeOptions, blob: BlobOptions, query: QueryOptions) -> None:
    """Refuse options that are given without what they require."""
    from solah.exceptions import ParameterError

    is_blob, keyed = to == "blob", blob.sign or blob.new_key
    sized = code.footprint or code.max_flash
    for flag, is_given, is_met, required in (
        ("--platform", code.platform, sized, "--footprint or --max-flash"),
        ("--max-flash", code.max_flash, not code.footprint, "an export, without --footprint"),
        ("--pace", code.pace != 1.0, code.learn, "--learn"),
        ("--forgetting", code.forgetting != 0.0, code.learn, "--learn"),
        ("--sign", blob.sign, is_blob, "--to blob"),
        ("--new-key", blob.new_key, is_blob and blob.sign is None, "--to blob, and no --sign"),
        ("--counter", blob.counter is not None, keyed, "--sign or --new-key"),
        ("--table", query.table, to == "sql", "--to sql"),
        ("--keep", query.keep, to == "sql", "--to sql"),
        ("--adc", code.adc, to in _TAKE_COUNTS, f"--to {', '.join(_TAKE_COUNTS)}"),
        ("--url", code.url, to == "arduino", "--to arduino"),
    ):
        if is_given and not is_met:
            raise ParameterError(f"{flag} requires {required}")


def _counts(words: list[str] | None) -> "dict[str, Counts]":
    """Read features that are counts, such as co2=12,0.5,400."""
    from solah.exceptions import ParameterError, shorten
    from solah.export.units import Counts

    found = {}
    for word in words or ():
        name, _, text = word.rpartition("=")
        if name in found:
            raise ParameterError(f"--adc states {shorten(name)} twice; drop one")
        try:
            bits, gain, offset = text.split(",")
            numbers = int(bits), float(gain), float(offset)
        except ValueError:
            raise ParameterError(
                f"--adc must be COL=BITS,GAIN,OFFSET, such as co2=12,0.5,400; got {shorten(word)}"
            ) from None
        found[name] = Counts(*numbers)
    return found


def _exported(
    model: "Model", to: str, name: str, code: CodeOptions, query: QueryOptions
) -> "Export | Blob | Program":
    from solah import export as exports
    from solah.export.max_flash import check_flash

    if to == "sql":
        where = "readings" if query.table is None else query.table
        return exports.export_sql(model, name=name, table=where, keys=query.keep or ())
    if to == "javascript":
        return exports.export_javascript(model, name=name)
    if to == "onnx":
        return exports.export_onnx(model, name=name)
    if to == "micropython":
        return exports.export_micropython(model, name=name, adc=_counts(code.adc))
    if to == "blob":
        return exports.export_blob(model, name=name, adc=_counts(code.adc))
    exported = exports.export_c(model, name=name, **code.choices())
    if code.max_flash is not None:
        for platform in _platforms(code) or ("cortex-m0plus",):
            check_flash(exported, code.max_flash, platform)
    return exported


def _platforms(code: CodeOptions) -> list[str]:
    """Return the names that --platform states, one by one or with commas between them."""
    words = ",".join(code.platform or ()).split(",")
    return [word.strip() for word in words if word.strip()]


def _missing_parts(model: "Model", to: str) -> list[str]:
    """Return what a program beyond devices does without."""
    notes: list[str] = []
    if to not in _PROGRAMS:
        return notes
    if model.signals is not None:
        notes.append("this predicts from features; exports for devices compute them from samples")
    if model.policy is not None:
        lacks = "debouncing" if to == "javascript" else "the model's policy"
        notes.append(f"this predicts each row by itself, without {lacks}")
    return notes


def _files(
    model: "Model",
    to: Any,
    exported: "Export | Blob | Program",
    rows: "Table | None",
    code: CodeOptions,
) -> "dict[str, str | bytes]":
    """Lay out all that is written; for a device with its test."""
    from solah.export import Export, Program, package_c, self_test

    if isinstance(exported, Program):
        return dict(exported.files)
    test = self_test(model, exported, rows, code.test_rows)
    if to in ("arduino", "platformio", "zephyr", "esp-idf"):
        assert isinstance(exported, Export)
        return dict(package_c(model, exported, to, test, code.url))
    return {**exported.files, **test}


def _compared(
    model: "Model",
    exported: "Export | Blob | Program",
    table: "Table | None",
    min_agreement: float,
    measured: "Table | None",
) -> dict[str, Any]:
    """Compare the export with the model; one that agrees on too few rows is refused."""
    from solah.export.agreement import require_agreement
    from solah.model import Task
    from solah.model.encode import MISSING, encode_target

    agreement: Agreement = require_agreement(model, exported, table, min_agreement, measured)
    found: dict[str, Any] = {"rows": agreement.n_rows, "drawn": table is None}
    if agreement.n_clipped:
        found |= {"clipped_rows": agreement.n_clipped, "clipped": dict(agreement.clipped)}
    difference = {"largest_difference": agreement.largest_difference}
    if model.target.task is Task.REGRESSION:
        return {**found, "near_estimates": agreement.share, **difference}
    found["same_decisions"] = agreement.share
    if agreement.settled_share is not None:
        found["same_settled"] = agreement.settled_share
    found |= difference
    if table is not None and model.target.name in table.names:
        truth = encode_target(table.column(model.target.name), model.target)
        known = truth != MISSING
        for name, places in (
            ("accuracy", agreement.expected),
            ("accuracy_on_device", agreement.found),
        ):
            found[name] = float((places == truth)[known].mean())
    return found


def _findings(found: dict[str, Any], who: str) -> dict[str, str]:
    """Write what was found for people; a device predicts, or a part of a program."""
    clipped = ", ".join(f"{name} {count:,}" for name, count in found.get("clipped", {}).items())
    shares = {
        "the same prediction": "same_decisions",
        "the same stable decision": "same_settled",
        "nearly the same number": "near_estimates",
        "accuracy of the model": "accuracy",
        "accuracy on the device" if who == "device" else f"accuracy of the {who}": (
            "accuracy_on_device"
        ),
    }
    lines = {"rows": f"{found['rows']:,}{', drawn' if found['drawn'] else ''}"}
    if clipped:
        lines["rows with clipped values"] = f"{found['clipped_rows']:,} ({clipped})"
    lines |= {what: f"{found[name]:.2%}" for what, name in shares.items() if name in found}
    return lines | {"largest difference": f"{found['largest_difference']:.2g}"}


def _measure(
    model: "Model",
    to: str,
    data: str | None,
    code: CodeOptions,
    reading: ReadingOptions,
    screen: Screen,
) -> None:
    """Measure what a model costs on platforms: compiled with -Os and run under an emulator."""
    from solah.cli.views import columns_of
    from solah.exceptions import ParameterError, SolahError
    from solah.export import Export, export_blob, export_c
    from solah.export.footprint import footprint, signal_footprint
    from solah.export.platforms import PLATFORMS, find_platform, install_line, missing_tools

    words = _platforms(code)
    wanted = [find_platform(word) for word in words] or list(PLATFORMS.values())
    skipped = {
        one.name: install_line(one, counting=True)
        for one in wanted
        if missing_tools(one, counting=True)
    }
    platforms = [one for one in wanted if one.name not in skipped]
    if words and not platforms:
        raise SolahError(f"no platform can be measured here: {'; '.join(skipped.values())}")
    for platform, line in skipped.items():
        screen.note(f"skipped {platform}; to get it: {line}")
    if not platforms:
        raise SolahError("no platform can be measured here; install the tools of one")
    if to == "blob" and model.signals is not None:
        raise ParameterError(
            "the footprint of a blob cannot be measured for a model of recordings; use --to c"
        )
    exported = export_blob(model) if to == "blob" else export_c(model, **code.choices())
    is_of_samples = exported.signals is not None
    rows = (_samples if is_of_samples else _rows)(model, data, reading)
    measure: Any = signal_footprint if is_of_samples else footprint
    found: list[Footprint | SignalFootprint] = []
    with screen.progress(len(platforms), "platforms") as advance:
        for one in platforms:
            found.append(measure(exported, one, rows))
            advance(1)
    if screen.json:
        footprints = [dict(vars(one)) for one in found]
        about: dict[str, Any] = {"arithmetic": exported.numbers, "rows": len(rows)}
        about |= {"style": exported.style} if isinstance(exported, Export) else {}
        screen.document({**about, "footprints": footprints})
    counted = ("sample", "window", "second") if is_of_samples else ("instructions",)
    lines = []
    for cost in found:
        unit = "" if cost.unit == "instructions" else f" {cost.unit}"
        sizes = (f"{number:,}" for number in (cost.flash, cost.ram, cost.stack))
        counts = (f"{getattr(cost, name):,.0f}{unit}" for name in counted)
        lines.append((cost.platform, *sizes, *counts))
    screen.result(columns_of(("bytes", "flash", "RAM", "stack", *counted), lines))


def _rows(model: "Model", data: str | None, reading: ReadingOptions) -> Any:
    """Return rows to count instructions on: some of DATA, or drawn."""
    from solah.cli.problem import read_source
    from solah.exceptions import DataError
    from solah.export.agreement import sample_rows
    from solah.model.encode import encode

    if data is None:
        return sample_rows(model, _FOOTPRINT_ROWS)
    rows = encode(read_source(data, reading, model).table, model.features)
    if not len(rows):
        raise DataError(f"{data} has no rows to count instructions on")
    return rows[:: max(1, len(rows) // _FOOTPRINT_ROWS)]


def _samples(model: "Model", data: str | None, reading: ReadingOptions) -> Any:
    """Return samples for two windows and more: of the first recording, or drawn."""
    import numpy as np

    from solah.exceptions import DataError
    from solah.export import export_c
    from solah.signals import SampleColumns, read_recordings

    signals = export_c(model).signals
    assert signals is not None
    n_needed = signals.window + 2 * signals.step
    channels = tuple(channel.name for channel in signals.measured)
    if data is None:
        return np.random.default_rng(0).normal(size=(n_needed, len(channels)))
    roles = SampleColumns(
        channels, time=reading.given("time") or "time", recording=reading.given("recording")
    )
    recording = read_recordings(data, roles, options=reading.read_options())[0]
    samples = np.column_stack([recording.samples[name] for name in channels])[:n_needed]
    if len(samples) < signals.window:
        raise DataError(f"{data} has fewer samples than a window ({signals.window:,})")
    return samples
