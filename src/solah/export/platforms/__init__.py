"""Build, run and measure C on microcontrollers.

:func:`build` compiles C for one of the :data:`PLATFORMS`, :func:`run` runs it natively or emulated,
and :func:`measure` returns the flash, memory, stack and instructions of a decision.
"""

from solah.export.platforms.building import BuildError, Program, RunError, build, run
from solah.export.platforms.known import (
    PLATFORMS,
    MissingToolError,
    Need,
    Platform,
    find_platform,
    install_line,
    missing_tools,
)
from solah.export.platforms.measuring import Footprint, measure

__all__ = [
    "PLATFORMS",
    "BuildError",
    "Footprint",
    "MissingToolError",
    "Need",
    "Platform",
    "Program",
    "RunError",
    "build",
    "find_platform",
    "install_line",
    "measure",
    "missing_tools",
    "run",
]
