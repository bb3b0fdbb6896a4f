"""Measure the flash, memory, stack and time of a decision on a platform."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.export.platforms.building import Program, build
from solah.export.platforms.errors import RunError
from solah.export.platforms.known import C_FOLDER
from solah.export.platforms.running import TIMEOUT, run
from solah.export.platforms.tools import require_tools
from solah.export.platforms.tracing import count_traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.export.platforms.platform import Platform

_DRIVER = C_FOLDER / "measure.c"
_NO_PROBE = C_FOLDER / "no_probe.c"
_NO_END_SEEN = 0xFFFFFFFF  # as measure.c has it


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
        The most bytes of stack that a decision took.
    instructions : int
        The most that a decision took.
    mean_instructions : float
        What a decision took on average.
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


@dataclass(frozen=True)
class _Sizes:
    flash: int
    ram: int


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

    Notes
    -----
    The clock of the Cortex-M platforms has 24 bits: it counts to about five million instructions.
    Where a decision takes more, the program runs once more with a slower clock, which shows how
    often the first one ran over. It does up to 671 million.
    """
    require_tools(platform, counting=True)
    readings = _little_endian(rows)
    room = (f"SOLAH_ROW_BYTES={readings[0].nbytes}", f"SOLAH_ANSWER_BYTES={answer_bytes}")
    with tempfile.TemporaryDirectory(prefix="solah-") as folder:
        build_here = partial(
            build,
            platform,
            folder=Path(folder),
            includes=includes,
            defines=(*room, *defines),
            optimise=optimise,
        )
        model = build_here(sources=[_DRIVER, *sources], name="model")
        empty = build_here(sources=[_DRIVER, _NO_PROBE], name="empty")
        taken, spare = _sizes(model), _sizes(empty)
        stack, counts = _costs(model, readings, timeout)
        _, idle = _costs(empty, readings, timeout)
    own = (counts - idle)[warm_up:]
    return Footprint(
        platform=platform.name,
        flash=taken.flash - spare.flash,
        ram=taken.ram - spare.ram,
        stack=stack,
        instructions=int(own.max()),
        mean_instructions=float(own.mean()),
        unit=platform.unit,
    )


def _little_endian(rows: NDArray[Any]) -> NDArray[Any]:
    """Check the rows, and give them the byte order that all platforms have."""
    if rows.ndim != 2 or rows.size == 0:
        raise ParameterError(
            f"rows must have the shape (rows, columns) and hold a reading; got {rows.shape}"
        )
    return np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("<"))


def _sizes(program: Program) -> _Sizes:
    """Read what ``size`` prints: a line of names, then text, data and bss."""
    command = [program.platform.size, str(program.file)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text, data, bss = map(int, output.splitlines()[1].split()[:3])
    return _Sizes(flash=text + data, ram=data + bss)


def _costs(program: Program, rows: NDArray[Any], timeout: float) -> tuple[int, NDArray[np.int64]]:
    """Return the deepest stack and the count of every row."""
    platform = program.platform
    watched = np.uint32(platform.stack_depth).tobytes() + rows.tobytes()
    ticks, stack, ran_over = _run(program, watched, timeout, platform.counter)
    if stack.max() == _NO_END_SEEN:
        raise RunError(
            f"a decision for {platform.name!r} took all {platform.stack_depth} bytes of stack "
            "that are watched, or all that the platform has"
        )
    if platform.tracer:
        unwatched = np.uint32(0).tobytes() + rows.tobytes()
        return int(stack.max()), count_traced(program, unwatched, timeout)
    if ran_over.any():
        ticks = ticks + 2**platform.clock_bits * _times_over(program, watched, ticks, timeout)
    return int(stack.max()), np.rint(ticks / platform.ticks_per_unit).astype(np.int64)


def _run(
    program: Program, watched: bytes, timeout: float, counter: Sequence[str]
) -> NDArray[np.int64]:
    """Return, for every row, the clock's ticks, the stack, and whether the clock ran over."""
    output = run(program, watched, timeout=timeout, options=counter)
    columns = np.frombuffer(output, dtype="<u4").reshape(-1, 3).T.astype(np.int64)
    columns[0] &= 2**program.platform.clock_bits - 1
    return columns


def _times_over(
    program: Program, watched: bytes, ticks: NDArray[np.int64], timeout: float
) -> NDArray[np.int64]:
    """Return how often the clock overflowed, from a slower one."""
    platform = program.platform
    slow, _, ran_over = _run(program, watched, timeout, platform.coarse_counter)
    if ran_over.any():
        most = 2**platform.clock_bits / platform.coarse_ticks_per_unit
        raise RunError(
            f"a decision for {platform.name!r} took more than the {most:,.0f} {platform.unit} that "
            "its clock can count"
        )
    about = slow * (platform.ticks_per_unit / platform.coarse_ticks_per_unit)
    return np.asarray(np.rint((about - ticks) / 2**platform.clock_bits), dtype=np.int64)
