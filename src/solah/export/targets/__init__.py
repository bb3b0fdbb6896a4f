"""Build, run and measure C on microcontrollers.

:func:`build` compiles C for one of the :data:`TARGETS`, :func:`run` runs it, natively or emulated,
and :func:`measure` tells how much flash, memory, stack and time a decision takes there.
"""

from solah.export.targets.building import Program, build
from solah.export.targets.errors import BuildError, MissingToolError, RunError
from solah.export.targets.known import TARGETS, find_target
from solah.export.targets.measuring import Footprint, measure
from solah.export.targets.running import run
from solah.export.targets.target import Need, Target
from solah.export.targets.tools import install_line, missing_tools

__all__ = [
    "TARGETS",
    "BuildError",
    "Footprint",
    "MissingToolError",
    "Need",
    "Program",
    "RunError",
    "Target",
    "build",
    "find_target",
    "install_line",
    "measure",
    "missing_tools",
    "run",
]
