"""Count the instructions of each decision of a program without a clock.

QEMU writes a line for every instruction, with the name of the function it belongs to.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.export.platforms.running import run_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solah.export.platforms.building import Program

# Older and newer names of the same switch.
_ONE_INSTRUCTION_A_LINE = {"QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1"}
_INSIDE, _OUTSIDE = "solah_probe", "measure_row"


def count_traced(program: Program, stdin: bytes, timeout: float) -> NDArray[np.int64]:
    """Run a measuring program under a tracing emulator and count each decision."""
    with tempfile.TemporaryDirectory(prefix="solah-") as folder:
        trace = Path(folder) / "trace"
        options = ("-d", "exec,nochain", "-D", str(trace))
        command = [*program.platform.tracer, *options, str(program.file)]
        run_command(command, program, stdin, timeout, _ONE_INSTRUCTION_A_LINE)
        with trace.open() as lines:
            return np.array(_count_visits(_functions(lines)), dtype=np.int64)


def _functions(lines: Iterable[str]) -> Iterable[str]:
    """Pick the name of the function, the last word of every line with an instruction."""
    return (line[line.rfind(" ") + 1 : -1] for line in lines if line.startswith("Trace "))


def _count_visits(functions: Iterable[str]) -> list[int]:
    """Count the instructions of each visit, from its entry until its caller goes on."""
    counts: list[int] = []
    inside = False
    for function in functions:
        if function == _OUTSIDE:
            inside = False
        elif function == _INSIDE and not inside:
            inside = True
            counts.append(0)
        if inside:
            counts[-1] += 1
    return counts
