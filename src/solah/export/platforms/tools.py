"""Find which tools of a platform are not installed on this machine."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from solah.export.platforms.errors import MissingToolError

if TYPE_CHECKING:
    from solah.export.platforms.platform import Need, Platform


def missing_tools(platform: Platform, *, counting: bool = False) -> list[str]:
    """Name the programs and headers that a platform needs and this machine does not have.

    Parameters
    ----------
    platform : Platform
    counting : bool
        Also what :func:`~solah.export.platforms.measure` needs.

    Returns
    -------
    names : list of str
        Empty where all is there.
    """
    return [need.name for need in _unmet(platform, counting)]


def install_line(platform: Platform, *, counting: bool = False) -> str:
    """Write the command that installs what is missing on Debian; empty where nothing is."""
    packages = " ".join(sorted({need.package for need in _unmet(platform, counting)}))
    return f"apt-get install --no-install-recommends {packages}" if packages else ""


def require_tools(platform: Platform, *, counting: bool = False) -> None:
    """Raise an error with the packages to install if a tool is missing."""
    names = missing_tools(platform, counting=counting)
    if names:
        verb = "is" if len(names) == 1 else "are"
        raise MissingToolError(
            f"platform {platform.name!r} needs {', '.join(names)}, which {verb} not installed: "
            f"{install_line(platform, counting=counting)}"
        )


def _unmet(platform: Platform, counting: bool) -> list[Need]:
    needs = platform.needs + (platform.counting_needs if counting else ())
    return [need for need in needs if not _is_met(need)]


def _is_met(need: Need) -> bool:
    program = shutil.which(need.program)
    if program is None or not need.header:
        return program is not None
    include = f"#include <{need.header}>\n"
    command = [program, "-E", "-x", "c", "-"]
    return subprocess.run(command, input=include.encode(), capture_output=True).returncode == 0
