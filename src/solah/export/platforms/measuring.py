"""Measures the flash, memory, stack and instructions of a decision on a platform."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.export.platforms.building import TIMEOUT, Program, RunError, build, run
from solah.export.platforms.known import C_FOLDER, require_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from solah.export.platforms.known import Platform

_NO_END_SEEN = 0xFFFFFFFF  # as measure.c has it
# Older and newer names of the same switch of QEMU.
_ONE_INSTRUCTION_A_LINE = {"QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1"}


@dataclass(frozen=True)
class Footprint:
    """What a model costs on a platform, the start-up code and an empty program not counted.

    Attributes
    ----------
    platform : str
        The platform's name.
    flash : int
        Bytes of code and constants, with the helpers they call (such as soft floating point).
    ram : int
        Bytes of static memory.
    stack : int
        The maximum stack of a decision, in bytes.
    instructions : int
        The maximum of a decision.
    mean_instructions : float
        The mean of a decision.
    unit : str
        What was counted: ``"instructions"``, or ``"cycles"`` on AVR.
    """

    platform: str
    flash: int
    ram: int
    stack: int
    instructions: int
    mean_instructions: float
    unit: str


def measure(
    platform: Platform,
    sources: Sequence[Path],
    rows: NDArray[Any],
    *,
    includes: Sequence[Path] = (),
    defines: Sequence[str] = (),
    optimise: str = "-Os",
    answer_bytes: int = 256,
    warm_up: int = 0,
    timeout: float = TIMEOUT,
) -> Footprint:
    """Measure what a decision costs on a platform.

    A program with the model and one without are linked, and subtracted. Both run all rows, and
    the stack is painted before each decision. The figures are the same in every run.

    Parameters
    ----------
    platform : Platform
    sources : sequence of pathlib.Path
        The model's C files, and one that defines ``solah_probe`` of ``solah_probe.h``: it makes one
        decision, from the bytes of a row to the bytes of an answer.
    rows : array of shape (n_rows, n_columns)
        The readings, of the type that the model takes. Some dozens give a good mean.
    includes, defines, optimise
        As :func:`build` takes them.
    answer_bytes : int
        How many bytes an answer may take.
    warm_up : int
        How many of the first rows are run but not counted.
    timeout : float
        The time limit of a program, in seconds.

    Returns
    -------
    footprint : Footprint

    Raises
    ------
    BuildError, RunError
        The model does not compile, does not fit, or fails.
    MissingToolError
        A compiler or an emulator is not installed.
    """
    require_tools(platform, counting=True)
    if rows.ndim != 2 or rows.size == 0:
        raise ParameterError(
            f"rows must have the shape (rows, columns) and hold a reading; got {rows.shape}"
        )
    readings = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("<"))
    with tempfile.TemporaryDirectory(prefix="solah-") as folder:
        settings = {"includes": includes, "optimise": optimise}
        room = _room(readings[0].nbytes, answer_bytes, defines)
        model, empty = _linked(platform, sources, Path(folder), defines=room, **settings)
        flash, ram = np.subtract(_sizes(model), _sizes(empty)).tolist()
        stack, counts = _costs(model, readings, timeout)
        own = (counts - _costs(empty, readings, timeout)[1])[warm_up:]
    most, mean = int(own.max()), float(own.mean())
    return Footprint(platform.name, flash, ram, stack, most, mean, platform.unit)


def measure_flash(
    platform: Platform, sources: Sequence[Path], row_bytes: int, *, includes: Sequence[Path] = ()
) -> int:
    """Return the flash of a decision as :func:`measure` does, without running it."""
    with tempfile.TemporaryDirectory(prefix="solah-") as folder:
        room = _room(row_bytes, 256)
        programs = _linked(platform, sources, Path(folder), defines=room, includes=includes)
        model, empty = (_sizes(program)[0] for program in programs)
    return model - empty


def _room(row_bytes: int, answer_bytes: int, others: Sequence[str] = ()) -> tuple[str, ...]:
    return (f"SOLAH_ROW_BYTES={row_bytes}", f"SOLAH_ANSWER_BYTES={answer_bytes}", *others)


def _linked(
    platform: Platform, sources: Sequence[Path], folder: Path, **settings: Any
) -> tuple[Program, Program]:
    """Link a program with a model, and one without."""
    driver = C_FOLDER / "measure.c"
    model = build(platform, [driver, *sources], folder, name="model", **settings)
    without = [driver, C_FOLDER / "no_probe.c"]
    return model, build(platform, without, folder, name="empty", **settings)


def _sizes(program: Program) -> tuple[int, int]:
    """Read flash and RAM off what ``size`` prints: a line of names, then text, data and bss."""
    command = [program.platform.size, str(program.file)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text, data, bss = map(int, output.splitlines()[1].split()[:3])
    return text + data, data + bss


def _costs(program: Program, rows: NDArray[Any], timeout: float) -> tuple[int, NDArray[np.int64]]:
    """Return the deepest stack and the count of every row."""
    platform = program.platform
    watched = np.uint32(platform.stack_depth).tobytes() + rows.tobytes()
    output = run(program, watched, timeout=timeout, options=platform.counter)
    ticks, stack, ran_over = np.frombuffer(output, "<u4").reshape(-1, 3).T.astype(np.int64)
    if stack.max() == _NO_END_SEEN:
        raise RunError(
            f"a decision for {platform.name!r} took all {platform.stack_depth} bytes of stack "
            "that are watched, or all that the platform has"
        )
    if platform.tracer:
        unwatched = np.uint32(0).tobytes() + rows.tobytes()
        return int(stack.max()), _traced(program, unwatched, timeout)
    if ran_over.any():
        raise RunError(f"a decision for {platform.name!r} took more than its clock can count")
    ticks &= 2**platform.clock_bits - 1
    return int(stack.max()), np.rint(ticks / platform.ticks_per_unit).astype(np.int64)


def _traced(program: Program, stdin: bytes, timeout: float) -> NDArray[np.int64]:
    """Count each decision of a program without a clock.

    QEMU writes a line for every instruction, with the name of the function it belongs to.
    """
    with tempfile.TemporaryDirectory(prefix="solah-") as folder:
        trace = Path(folder) / "trace"
        options = ("-d", "exec,nochain", "-D", str(trace))
        command = [*program.platform.tracer, *options, str(program.file)]
        environment = _ONE_INSTRUCTION_A_LINE
        run(program, stdin, timeout=timeout, command=command, environment=environment)
        with trace.open() as lines:
            functions = (line.split()[-1] for line in lines if line.startswith("Trace "))
            return np.array(_count_visits(functions), dtype=np.int64)


def _count_visits(functions: Iterable[str]) -> list[int]:
    """Count the instructions of each visit of the probe, from its entry until its caller goes on.

    Examples
    --------
    >>> inside = ["solah_probe", "exp", "solah_probe"]
    >>> _count_visits(["main", "measure_row", *inside, "measure_row", "solah_probe", "measure_row"])
    [3, 1]
    """
    counts: list[int] = []
    inside = False
    for function in functions:
        if function == "measure_row":
            inside = False
        elif function == "solah_probe" and not inside:
            inside = True
            counts.append(0)
        if inside:
            counts[-1] += 1
    return counts
