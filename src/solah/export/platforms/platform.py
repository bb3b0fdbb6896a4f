"""What a platform is: a compiler with its options, a way to run, and what both need installed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """Something that must be installed: a program, or a header that the program finds.

    Attributes
    ----------
    program : str
    package : str
        The Debian package that has it.
    header : str
        Empty where the program itself is meant.
    """

    program: str
    package: str
    header: str = ""

    @property
    def name(self) -> str:
        """What is missing where the need is not met."""
        return self.header or self.program


@dataclass(frozen=True)
class Platform:
    """A processor that C is built for, and how its programs run here.

    Attributes
    ----------
    name, title : str
        As a user writes it, and as a person reads it.
    compiler, size : str
        The programs that compile, and that print the sizes of a program's sections.
    flags, libraries : tuple of str
        The compiler's options for this platform, before and after the sources.
    support : tuple of str
        The C files of solah that every program of this platform is linked with.
    runner : tuple of str
        The command that runs a program; ``{program}`` and ``{folder}`` become its paths.
    needs, counting_needs : tuple of Need
        What must be installed to build and run, and to count instructions besides.
    stack_depth : int
        How many bytes of stack are watched in a measurement.
    unit : str
        What :func:`~solah.export.platforms.measure` counts: instructions, or cycles.
    counter : tuple of str
        The runner's options under which the program's clock counts exactly.
    ticks_per_unit : float
        How fast that clock goes. 0: the program has no clock, and an emulator traces it.
    clock_bits : int
        How many bits that clock has.
    coarse_counter : tuple of str
        The runner's options for a slower clock, which shows how often it overflowed; empty
        where it does not.
    coarse_ticks_per_unit : float
        How fast it goes then.
    tracer : tuple of str
        The emulator that traces a program without a clock.
    """

    name: str
    title: str
    compiler: str
    size: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    support: tuple[str, ...]
    runner: tuple[str, ...]
    needs: tuple[Need, ...]
    stack_depth: int
    counting_needs: tuple[Need, ...] = ()
    unit: str = "instructions"
    counter: tuple[str, ...] = ()
    ticks_per_unit: float = 0.0
    clock_bits: int = 32
    coarse_counter: tuple[str, ...] = ()
    coarse_ticks_per_unit: float = 0.0
    tracer: tuple[str, ...] = ()
