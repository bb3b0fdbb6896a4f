"""The platforms that solah knows: this computer, Cortex-M, AArch64, RISC-V and AVR.

Bare platforms have no C library: a start-up file, a linker script and libgcc are all they get, so
what is measured is the program's own.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from solah.exceptions import ParameterError, SolahError, did_you_mean, shorten

C_FOLDER = Path(__file__).with_name("c")
"""The C files and linker scripts that programs are built with."""


class MissingToolError(SolahError, FileNotFoundError):
    """A compiler, an emulator or a library that a platform needs is not installed."""


class Need(NamedTuple):
    """A program, or a header that it finds, and the Debian package that has it."""

    program: str
    package: str
    header: str = ""

    @property
    def is_met(self) -> bool:
        """Whether it is installed."""
        if shutil.which(self.program) is None:
            return False
        command = [self.program, "-E", "-x", "c", "-"]
        include = f"#include <{self.header}>\n".encode()
        return (
            not self.header
            or not subprocess.run(
                command, input=include, capture_output=True, check=False
            ).returncode
        )


@dataclass(frozen=True)
class Platform:
    """A processor that C is built for, and how its programs run here.

    Attributes
    ----------
    name, title : str
        As a user writes it, and as a person reads it.
    tools : str
        The prefix of the compiler's programs, such as ``"avr-"``; empty for those of this computer.
    runner : tuple of str
        The command that runs a program; ``{program}`` and ``{folder}`` become its paths.
    needs, counting_needs : tuple of Need
        What must be installed to build and run, and to count instructions besides.
    support : tuple of str
        The C files of solah that every program of this platform is linked with.
    flags, libraries : tuple of str
        The compiler's options for this platform, before and after the sources.
    stack_depth : int
        How many bytes of stack are watched in a measurement.
    unit : str
        What :func:`~solah.export.platforms.measure` counts: instructions, or cycles.
    counter : tuple of str
        The runner's options under which the program's clock counts exactly.
    ticks_per_unit : float
        How fast that clock goes. 0: the program has no clock, and the emulator ``tracer`` counts.
    clock_bits : int
        How many bits that clock has.
    tracer : tuple of str
        The emulator that traces a program without a clock.
    """

    name: str
    title: str
    tools: str
    runner: tuple[str, ...]
    needs: tuple[Need, ...]
    support: tuple[str, ...]
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    stack_depth: int = 8192
    counting_needs: tuple[Need, ...] = ()
    unit: str = "instructions"
    counter: tuple[str, ...] = ()
    ticks_per_unit: float = 0.0
    clock_bits: int = 32
    tracer: tuple[str, ...] = ()

    @property
    def compiler(self) -> str:
        """The program that compiles."""
        return f"{self.tools}gcc" if self.tools else "cc"

    @property
    def size(self) -> str:
        """The program that prints the sizes of a program's sections."""
        return f"{self.tools}size"


_BARE = ("-ffreestanding", "-fbuiltin", "-nostdlib", "-isystem", str(C_FOLDER / "freestanding"))
_SEMIHOSTING = (
    *("-nographic", "-monitor", "none", "-serial", "none"),
    *("-semihosting-config", "enable=on,target=native"),
)


def _memory(script: str, flash: str, ram: str) -> tuple[str, ...]:
    sizes = f"-Wl,--defsym=SOLAH_FLASH={flash},--defsym=SOLAH_RAM={ram}"
    return "-T", str(C_FOLDER / script), sizes


def _hosted(name: str, title: str, tools: str, emulator: tuple[str, ...], *needs: Need) -> Platform:
    """Return a platform with an operating system, whose instructions an emulator counts."""
    traced = Need(emulator[0], "qemu-user")
    return Platform(
        name,
        title,
        tools,
        runner=(*emulator, "{program}") if tools else ("{program}",),
        needs=(*needs, traced) if tools else needs,
        support=("io_hosted.c",),
        stack_depth=65536,
        counting_needs=(traced,),
        tracer=emulator,
    )


def _cortex_m(name: str, title: str, machine: str, *flags: str) -> Platform:
    # A microbit has a Cortex-M0. Where a word is not aligned it faults, as the M0+ does.
    mhz, flash, ram = (16, "256K", "16K") if machine == "microbit" else (25, "4M", "4M")
    # Under -icount shift=7 an instruction takes 128 ns: more than two ticks of SysTick, so that the
    # ticks, each end of an interval being cut to a whole one, still give the exact count.
    shift = 7
    return Platform(
        name,
        title,
        tools="arm-none-eabi-",
        runner=("qemu-system-arm", "-M", machine, *_SEMIHOSTING, "-kernel", "{program}"),
        needs=(
            Need("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
            Need("qemu-system-arm", "qemu-system-arm"),
        ),
        support=("start_cortex_m.c", "io_semihosting.c", "memory.c"),
        flags=("-mthumb", *flags, *_BARE, *_memory("cortex_m.ld", flash, ram)),
        libraries=("-lgcc",),
        counter=("-icount", f"shift={shift}"),
        ticks_per_unit=2**shift * mhz / 1000,
        clock_bits=24,
    )


def _avr(mcu: str, title: str, stack_depth: int) -> Platform:
    return Platform(
        mcu,
        title,
        tools="avr-",
        runner=("{folder}/run_simavr", mcu, "{program}"),
        needs=(
            Need("avr-gcc", "gcc-avr"),
            Need("avr-gcc", "avr-libc", "avr/io.h"),
            Need("cc", "gcc"),
            Need("cc", "libsimavr-dev", "simavr/sim_avr.h"),
        ),
        support=("io_simavr.c",),
        flags=("-std=gnu99", f"-mmcu={mcu}"),  # GNU C has a word for what lies in the flash
        libraries=("-lm",),  # where avr-libc keeps + - * / of floats: smaller than libgcc's
        stack_depth=stack_depth,
        unit="cycles",
        ticks_per_unit=1.0,
    )


_MACHINE = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
_ALL = (
    _hosted(
        *("host", "this computer", "", (f"qemu-{_MACHINE}",)),
        *(Need("cc", "gcc"), Need("cc", "libc6-dev", "stdio.h")),
    ),
    _hosted(
        *("aarch64", "64-bit Arm with Linux, such as a Raspberry Pi", "aarch64-linux-gnu-"),
        ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),  # static, alignment would blur sizes
        Need("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        Need("aarch64-linux-gnu-gcc", "libc6-dev-arm64-cross", "stdio.h"),
    ),
    _cortex_m("cortex-m0plus", "Arm Cortex-M0+", "microbit", "-mcpu=cortex-m0plus"),
    _cortex_m("cortex-m4", "Arm Cortex-M4 without floating point", "mps2-an386", "-mcpu=cortex-m4"),
    _cortex_m(
        *("cortex-m4f", "Arm Cortex-M4 with floating point", "mps2-an386"),
        *("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    ),
    Platform(
        "rv32",
        "32-bit RISC-V without floating point (RV32IMAC)",
        tools="riscv64-unknown-elf-",
        runner=(
            *("qemu-system-riscv32", "-M", "virt", "-bios", "none"),
            *(*_SEMIHOSTING, "-kernel", "{program}"),
        ),
        needs=(
            Need("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
            Need("qemu-system-riscv32", "qemu-system-misc"),
        ),
        support=("start_rv32.c", "io_semihosting.c", "memory.c"),
        flags=("-march=rv32imac", "-mabi=ilp32", *_BARE, *_memory("rv32.ld", "4M", "4M")),
        libraries=("-lgcc",),
        counter=("-icount", "shift=0"),
        ticks_per_unit=1.0,
    ),
    _avr("atmega328p", "AVR ATmega328P, as on the Arduino Uno", 1024),
    _avr("atmega2560", "AVR ATmega2560, as on the Arduino Mega", 4096),
)

PLATFORMS = {one.name: one for one in _ALL}
"""The known platforms by their names."""


def find_platform(name: str) -> Platform:
    """Find a platform by its name; ``"avr"`` is the one of the Arduino Uno.

    Parameters
    ----------
    name : str

    Returns
    -------
    platform : Platform

    Raises
    ------
    ParameterError
        There is no such platform.

    Examples
    --------
    >>> find_platform("cortex-m4").title
    'Arm Cortex-M4 without floating point'
    """
    name = "atmega328p" if name == "avr" else name
    if name not in PLATFORMS:
        raise ParameterError(f"there is no platform {shorten(name)}{did_you_mean(name, PLATFORMS)}")
    return PLATFORMS[name]


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
        Empty if nothing is missing.
    """
    return [need.header or need.program for need in _unmet(platform, counting)]


def install_line(platform: Platform, *, counting: bool = False) -> str:
    """Write the command that installs what is missing on Debian; empty if nothing is."""
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
    needs = dict.fromkeys(platform.needs + (platform.counting_needs if counting else ()))
    return [need for need in needs if not need.is_met]
