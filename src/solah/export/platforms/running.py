"""Run a program on a platform and return its output."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

from solah.export.platforms.building import FAULT
from solah.export.platforms.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.export.platforms.building import Program

TIMEOUT = 60.0
"""The default time limit of a program, in seconds."""


def run(
    program: Program,
    stdin: bytes = b"",
    *,
    timeout: float = TIMEOUT,
    options: Sequence[str] = (),
) -> bytes:
    """Run a program, natively or emulated, and return what it wrote.

    Parameters
    ----------
    program : Program
    stdin : bytes
        What ``solah_io_read`` gives it.
    timeout : float
        The time limit, in seconds.
    options : sequence of str
        More options for the emulator.

    Returns
    -------
    output : bytes
        What it wrote with ``solah_io_write``.

    Raises
    ------
    RunError
        It failed, crashed, or took too long.
    """
    command = program.command
    return run_command([command[0], *options, *command[1:]], program, stdin, timeout)


def run_command(
    command: Sequence[str],
    program: Program,
    stdin: bytes,
    timeout: float,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program by a command of one's own."""
    try:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=timeout,
            env=os.environ | dict(environment or {}),
        )
    except subprocess.TimeoutExpired:
        raise RunError(
            f"{_named(program)} did not end within {timeout:g} s and was stopped"
        ) from None
    if done.returncode != 0:
        raise RunError(f"{_named(program)} {_reason(done)}")
    return done.stdout


def _named(program: Program) -> str:
    return f"{program.file.name} for {program.platform.name!r}"


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode == FAULT:
        return "crashed: its processor faulted"
    if done.returncode < 0:
        return f"crashed: {signal.strsignal(-done.returncode)}"
    errors = done.stderr.decode(errors="replace").strip().splitlines()
    return f"failed with exit status {done.returncode}" + (f": {errors[-1]}" if errors else "")
