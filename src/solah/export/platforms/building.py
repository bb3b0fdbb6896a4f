"""Compile C for a platform, as a program that :func:`~solah.export.platforms.run` runs."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.export.platforms.errors import BuildError
from solah.export.platforms.known import C_FOLDER
from solah.export.platforms.tools import require_tools

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from solah.export.platforms.platform import Platform

FAULT = 70
"""The exit status of a program whose processor faulted."""

WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow"),
    *("-Wconversion", "-Wfloat-conversion", "-Wdouble-promotion", "-Werror"),
)
"""What C must compile under without a word."""

_FLAGS = (
    *("-std=c99", *WARNINGS),
    # A fused multiply-add would round once where NumPy rounds twice.
    "-ffp-contract=off",
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
)
_SIMULATOR = "run_simavr"
_SIGNS_OF_AN_ERROR = (
    "error:",
    "undefined reference",
    "multiple definition",
    "overflowed",
    "is not within region",
)


@dataclass(frozen=True)
class Program:
    """A program that was built.

    Attributes
    ----------
    platform : Platform
    file : pathlib.Path
    """

    platform: Platform
    file: Path

    @property
    def command(self) -> list[str]:
        """The command that runs it."""
        places = {"program": str(self.file), "folder": str(self.file.parent)}
        return [part.format_map(places) for part in self.platform.runner]


def build(
    platform: Platform,
    sources: Sequence[Path],
    folder: Path,
    *,
    includes: Sequence[Path] = (),
    defines: Sequence[str] = (),
    optimise: str = "-Os",
    name: str = "program",
) -> Program:
    """Compile C for a platform, every warning being an error.

    The sources may include ``solah_io.h`` to read and write on every platform alike.

    Parameters
    ----------
    platform : Platform
    sources : sequence of pathlib.Path
        The C files, one of them with ``main``.
    folder : pathlib.Path
        Where the program goes; made where there is none.
    includes : sequence of pathlib.Path
        Folders with the sources' headers.
    defines : sequence of str
        Macros: ``NAME`` or ``NAME=value``.
    optimise : str
        The compiler's option.
    name : str
        The program's name in the folder.

    Returns
    -------
    program : Program

    Raises
    ------
    BuildError
        The C has an error or a warning, or does not fit the platform's memory.
    MissingToolError
        The compiler or the emulator is not installed.
    """
    require_tools(platform)
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = Program(platform, folder / f"{name}.elf")
    if _SIMULATOR in program.command[0]:
        _build_simulator(folder)
    command = [
        *(platform.compiler, *_FLAGS, optimise, *platform.flags),
        *(f"-D{define}" for define in (f"SOLAH_FAULT={FAULT}", *defines)),
        *(f"-I{include}" for include in (*includes, C_FOLDER)),
        *(str(C_FOLDER / support) for support in platform.support),
        *map(str, sources),
        *platform.libraries,
    ]
    _compile(command, program.file, platform.name)
    return program


def _build_simulator(folder: Path) -> None:
    """Build the program of the host that runs AVR programs, where the folder has none yet."""
    if not (folder / _SIMULATOR).exists():
        source = str(C_FOLDER / f"{_SIMULATOR}.c")
        command = ["cc", "-O2", f"-DSOLAH_FAULT={FAULT}", source, "-lsimavr"]
        _compile(command, folder / _SIMULATOR, "host")


def _compile(command: list[str], file: Path, target_name: str) -> None:
    plain = os.environ | {"LC_ALL": "C"}  # or the compiler would write in the user's language
    command = [*command, "-o", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=plain)
    if done.returncode != 0:
        line = _first_error(done.stderr)
        raise BuildError(f"{command[0]} cannot build for {target_name!r}: {line}", done.stderr)


def _first_error(output: str) -> str:
    """Return the line with the error, without the linker's own path."""
    lines = [line for line in output.splitlines() if line.strip()]
    telling = (line for line in lines if any(sign in line for sign in _SIGNS_OF_AN_ERROR))
    return next(telling, lines[0] if lines else "it gave no reason").rpartition("/bin/ld: ")[2]
