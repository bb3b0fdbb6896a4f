"""``solah footprint``: measure what a model costs on a device."""

from typing import TYPE_CHECKING, Annotated

import typer

from solah.cli.export import NumberKind
from solah.cli.options import ModelFile, ReadingOptions
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table as Grid

    from solah.export.footprint import SignalFootprint
    from solah.export.targets import Footprint, Target
    from solah.kernels.arrays import Float
    from solah.model import Model
    from solah.model.signals import Signals

_target_option = options_in("The device")
_ALIASES = {"avr": "atmega328p"}
_N_ROWS = 100

Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows to count instructions on: a file, or a data set by name. By default readings "
        "are drawn over the attributes' ranges.",
        show_default=False,
    ),
]
TargetNames = Annotated[
    list[str] | None,
    _target_option(
        "--target",
        metavar="NAME",
        help="cortex-m0plus, cortex-m4, cortex-m4f, rv32, avr, aarch64 or host. Repeat it, or use "
        "commas; by default all whose tools are installed.",
    ),
]


def footprint(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: TargetNames = None,
    numbers: NumberKind = "float",
) -> None:
    """Measure what a model costs on a device: flash, RAM, stack and instructions a decision.

    The model is compiled for the target (-Os) and run under an emulator; the helpers that it pulls
    in, such as soft floating point, count. Instructions and stack are the most over the rows. Of a
    model of samples, instructions are of each sample, each window and each second.

    Example: solah footprint model.json --target cortex-m0plus --numbers q15
    """
    from solah.export import export_c
    from solah.export.footprint import footprint as of_decisions
    from solah.export.footprint import signal_footprint
    from solah.model import load_document

    document = load_document(model)
    targets = _targets(target, screen)
    exported = export_c(document, numbers=numbers)
    measure: Callable[..., Footprint | SignalFootprint]
    if exported.signals is None:
        rows, measure = _rows(document, data, reading), of_decisions
    else:
        rows, measure = _samples(exported.signals, data, reading), signal_footprint
    found = []
    with screen.progress(len(targets), "targets") as advance:
        for one in targets:
            found.append(measure(exported, one, rows))
            advance(1)
    if screen.json:
        footprints = [dict(vars(one)) for one in found]
        screen.document({"numbers": numbers, "rows": len(rows), "footprints": footprints})
    screen.result(_grid(found))


def _targets(names: list[str] | None, screen: Screen) -> "list[Target]":
    """Find the targets that the user names, or all that can be measured here."""
    from solah.exceptions import SolahError
    from solah.export.targets import TARGETS, find_target, install_line, missing_tools

    if names:
        words = [word.strip() for text in names for word in text.split(",") if word.strip()]
        return [find_target(_ALIASES.get(word, word)) for word in words]
    ready = []
    for target in TARGETS.values():
        if missing_tools(target, counting=True):
            screen.note(
                f"{target.name} is left out; to get it: {install_line(target, counting=True)}"
            )
        else:
            ready.append(target)
    if not ready:
        raise SolahError("no target can be measured here; install one of those above")
    return ready


def _rows(model: "Model", data: str | None, reading: ReadingOptions) -> "Float":
    from solah.cli.sources import read_source
    from solah.exceptions import DataError
    from solah.export.footprint import sample_rows
    from solah.model.encode import encode

    if data is None:
        return sample_rows(model, _N_ROWS)
    rows = encode(read_source(data, reading.read_options(), model).table, model.attributes)
    if not len(rows):
        raise DataError(f"{data} has no rows to count instructions on")
    return rows[:: max(1, len(rows) // _N_ROWS)]


def _samples(signals: "Signals", data: str | None, reading: ReadingOptions) -> "Float":
    """Return samples for two windows and more: of the first recording, or drawn."""
    import numpy as np

    from solah.exceptions import DataError
    from solah.signals import SampleColumns, read_recordings

    n_needed = signals.window + 2 * signals.step
    channels = tuple(channel.name for channel in signals.measured)
    if data is None:
        return np.random.default_rng(0).normal(size=(n_needed, len(channels)))
    recording = read_recordings(data, SampleColumns(channels), options=reading.read_options())[0]
    samples = np.column_stack([recording.samples[name] for name in channels])[:n_needed]
    if len(samples) < signals.window:
        raise DataError(f"{data} has fewer samples than a window, which are {signals.window:,}")
    return samples


def _grid(found: "list[Footprint | SignalFootprint]") -> "Grid":
    from rich.table import Table as Grid
    from rich.text import Text

    is_of_samples = hasattr(found[0], "sample")
    counted = ("sample", "window", "second") if is_of_samples else ("instructions",)
    grid = Grid.grid(padding=(0, 2))
    grid.add_column()
    for _ in range(3 + len(counted)):
        grid.add_column(justify="right")
    names = ("flash", "RAM", "stack", *counted)
    grid.add_row("bytes", *(Text(name, "dim") for name in names))
    for one in found:
        unit = "" if one.unit == "instructions" else f" {one.unit}"
        sizes = (f"{number:,}" for number in (one.flash, one.ram, one.stack))
        counts = (f"{getattr(one, name):,.0f}{unit}" for name in counted)
        grid.add_row(one.target, *sizes, *counts)
    return grid
