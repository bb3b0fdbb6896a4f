"""Errors of building and running C."""

from __future__ import annotations

from solah.exceptions import SolahError


class MissingToolError(SolahError, FileNotFoundError):
    """A compiler, an emulator or a library that a platform needs is not installed."""


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
