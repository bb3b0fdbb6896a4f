"""Compiles C for a platform, and runs it there or under an emulator."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.exceptions import SolahError
from solah.export.platforms.known import C_FOLDER, require_tools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from solah.export.platforms.known import Platform

FAULT = 70
"""The exit status of a program whose processor faulted."""
TIMEOUT = 60.0
"""The default time limit of a program, in seconds."""
WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow"),
    *("-Wconversion", "-Wfloat-conversion", "-Wdouble-promotion", "-Werror"),
)
"""The warnings under which C must compile without a message."""
_FLAGS = (
    *("-std=c99", *WARNINGS),
    # A fused multiply-add would round once where NumPy rounds twice.
    "-ffp-contract=off",
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
)
_SIMULATOR = "run_simavr"
_SIGNS_OF_AN_ERROR = (
    *("error:", "undefined reference", "multiple definition", "overflowed"),
    "is not within region",
)


class BuildError(SolahError):
    """C that does not compile or does not fit the platform.

    Attributes
    ----------
    output : str
        All that the compiler printed.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class RunError(SolahError):
    """A program that failed, crashed or did not end."""


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
        Where the program goes; made if there is none.
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
    if _SIMULATOR in program.command[0] and not (folder / _SIMULATOR).exists():
        source = str(C_FOLDER / f"{_SIMULATOR}.c")
        command = ["cc", "-O2", f"-DSOLAH_FAULT={FAULT}", source, "-lsimavr"]
        _compile(command, folder / _SIMULATOR, "host")
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


def _compile(command: list[str], file: Path, target_name: str) -> None:
    plain = os.environ | {"LC_ALL": "C"}  # or the compiler would write in the user's language
    command = [*command, "-o", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=plain)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        found = (line for line in lines if any(sign in line for sign in _SIGNS_OF_AN_ERROR))
        line = next(found, lines[0] if lines else "it gave no reason").rpartition("/bin/ld: ")[2]
        raise BuildError(f"{command[0]} cannot build for {target_name!r}: {line}", done.stderr)


def run(
    program: Program,
    stdin: bytes = b"",
    *,
    timeout: float = TIMEOUT,
    options: Sequence[str] = (),
    command: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program, natively or emulated, and return its output.

    Parameters
    ----------
    program : Program
    stdin : bytes
        What ``solah_io_read`` gives it.
    timeout : float
        The time limit, in seconds.
    options : sequence of str
        More options for the emulator.
    command : sequence of str, default=None
        Another command than the platform's.
    environment : mapping of str to str, default=None
        More environment variables.

    Returns
    -------
    output : bytes
        What it wrote with ``solah_io_write``.

    Raises
    ------
    RunError
        It failed, crashed, or took too long.
    """
    first, *rest = program.command if command is None else command
    named = f"{program.file.name} for {program.platform.name!r}"
    try:
        done = subprocess.run(
            [first, *options, *rest],
            input=stdin,
            capture_output=True,
            timeout=timeout,
            env=os.environ | dict(environment or {}),
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{named} did not end within {timeout:g} s and was stopped") from None
    if done.returncode == FAULT:
        raise RunError(f"{named} crashed: its processor faulted")
    if done.returncode < 0:
        raise RunError(f"{named} crashed: {signal.strsignal(-done.returncode)}")
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip().splitlines()
        reason = f": {errors[-1]}" if errors else ""
        raise RunError(f"{named} failed with exit status {done.returncode}{reason}")
    return done.stdout
