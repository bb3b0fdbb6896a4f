"""``solah export``: a model document in, C99 for a device out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from solah.cli.options import ModelFile, ReadingOptions
from solah.cli.screen import Screen, output_option
from solah.cli.verb import options_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from solah.data import Table
    from solah.export import Export
    from solah.kernels.arrays import Float
    from solah.model import Model

    Places = NDArray[np.intp]

_export_option = options_in("The device's code")

CheckData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows to compare the device's decisions with the model's: a file, or a data set by "
        "name. With the goal's column, accuracies too.",
        show_default=False,
    ),
]
Form = Annotated[
    Literal["c", "arduino", "zephyr", "micropython"],
    _export_option(
        "--to", help="C99 alone, as an Arduino library or a Zephyr module; or MicroPython."
    ),
]
NumberKind = Annotated[
    Literal["float", "q15"],
    _export_option("--numbers", help="Float32, or integers alone (q15)."),
]
OptionalNumbers = Annotated[
    Literal["float", "q15"] | None,
    _export_option(
        "--numbers", help="Float32, or integers alone (q15). By default float; q15 for MicroPython."
    ),
]
Name = Annotated[
    str | None,
    _export_option(
        "--name", metavar="NAME", help="What files and functions are called; by default as MODEL."
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
    name: Name = None,
    output: Folder = Path("export"),
) -> None:
    """Write a model as C99, or for MicroPython, that decides as it does here, bit for bit.

    The files need no library: a header and a source of the model, and the runtime that the source
    includes; for MicroPython one module. With DATA the device's decisions are compared with the
    model's before it is flashed.

    Example: solah export model.json test.csv --numbers q15 -o firmware/model
    """
    from solah.exceptions import ParameterError
    from solah.export import export_c, export_micropython, package_c
    from solah.export.c_writer import write_files
    from solah.export.names import identifier
    from solah.model import load_document

    document = load_document(model)
    called = name or identifier(model.stem, "model")
    if to == "micropython":
        if numbers == "float":
            raise ParameterError(
                "a module for MicroPython computes in integers; leave --numbers out"
            )
        exported = export_micropython(document, name=called)
    else:
        exported = export_c(document, name=called, numbers=numbers or "float")
    for warning in exported.warnings:
        screen.note(warning)
    found = None if data is None else _compare(document, exported, data, reading)
    files = dict(exported.files)
    if to == "arduino" or to == "zephyr":
        files = package_c(document, exported, to)
    written = write_files(output, files)
    if screen.json:
        about = {"name": exported.name, "to": to, "numbers": exported.numbers}
        screen.document({**about, "files": [str(file) for file in written], "check": found})
    _show(screen, written, found)


def _compare(
    model: "Model", exported: "Export", data: str, reading: ReadingOptions
) -> dict[str, Any]:
    """Let the device's twin decide on rows, beside the model itself."""
    from solah.cli.sources import read_source
    from solah.model import Task
    from solah.model.beliefs import root_beliefs
    from solah.model.encode import encode

    table = read_source(data, reading.read_options()).table
    rows = encode(table, model.attributes)
    beliefs = root_beliefs(model.nodes, table)
    if model.goal.task is Task.REGRESSION:
        return {"rows": table.n_rows, **_compare_numbers(model, exported, rows, beliefs)}
    places, device = exported.twin.decide(rows)
    scale = 1.0 if exported.numbers == "float" else 1 / 32768
    decided = model.goal.decide(beliefs)
    return {
        "rows": table.n_rows,
        "same_decisions": float((places == decided).mean()),
        "largest_difference": float(abs(device * scale - beliefs).max()),
        **_accuracies(model, table, places, decided),
    }


def _compare_numbers(
    model: "Model", exported: "Export", rows: "Float", beliefs: "Float"
) -> dict[str, Any]:
    import numpy as np

    estimates = exported.twin.estimate(rows) * exported.unit
    expected = beliefs @ np.array(model.goal.centres)
    return {"largest_difference": float(abs(estimates - expected).max())}


def _accuracies(
    model: "Model", table: "Table", places: "Places", decided: "Places"
) -> dict[str, Any]:
    """Measure both where the truth is at hand."""
    from solah.model.encode import MISSING, encode_goal

    if model.goal.name not in table.names:
        return {}
    truth = encode_goal(table.column(model.goal.name), model.goal)
    known = truth != MISSING
    return {
        "accuracy": float((decided == truth)[known].mean()),
        "accuracy_on_device": float((places == truth)[known].mean()),
    }


def _show(screen: Screen, written: list[Path], found: dict[str, Any] | None) -> None:
    from solah.cli.views import facts, heading

    screen.say(heading("Written"), *(f"  {file}" for file in written))
    if found is None:
        return
    spelt = {
        "rows": f"{found['rows']:,}",
        "the same decision": _percent(found.get("same_decisions")),
        "largest difference": f"{found['largest_difference']:.2g}",
        "accuracy of the model": _percent(found.get("accuracy")),
        "accuracy on the device": _percent(found.get("accuracy_on_device")),
    }
    screen.say("", heading("The device's decisions beside the model's"))
    screen.result(facts({name: value for name, value in spelt.items() if value}))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
