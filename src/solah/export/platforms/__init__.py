"""Build, run and measure C on microcontrollers.

:func:`build` compiles C for one of the :data:`PLATFORMS`, :func:`run` runs it natively or emulated,
and :func:`measure` returns the flash, memory, stack and time of a decision there.
"""

from solah.export.platforms.building import Program, build
from solah.export.platforms.errors import BuildError, MissingToolError, RunError
from solah.export.platforms.known import PLATFORMS, find_platform
from solah.export.platforms.measuring import Footprint, measure
from solah.export.platforms.platform import Need, Platform
from solah.export.platforms.running import run
from solah.export.platforms.tools import install_line, missing_tools

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
