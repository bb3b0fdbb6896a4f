"""The platforms that solah knows: the host, Cortex-M, AArch64, RISC-V and AVR.

Bare platforms have no C library: a start-up file, a linker script and libgcc are all they get, so
what is measured is the program's own.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import NamedTuple

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.export.platforms.platform import Need, Platform

C_FOLDER = Path(__file__).with_name("c")
"""The C files and linker scripts that programs are built with."""

_BARE = ("-ffreestanding", "-fbuiltin", "-nostdlib", "-isystem", str(C_FOLDER / "freestanding"))
_SEMIHOSTING = (
    *("-nographic", "-monitor", "none", "-serial", "none"),
    *("-semihosting-config", "enable=on,target=native"),
)


def _memory(script: str, flash: str, ram: str) -> tuple[str, ...]:
    sizes = f"-Wl,--defsym=SOLAH_FLASH={flash},--defsym=SOLAH_RAM={ram}"
    return "-T", str(C_FOLDER / script), sizes


def _host() -> Platform:
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    return Platform(
        name="host",
        title="this computer",
        compiler="cc",
        size="size",
        flags=(),
        libraries=(),
        support=("io_hosted.c",),
        runner=("{program}",),
        needs=(Need("cc", "gcc"), Need("cc", "libc6-dev", "stdio.h")),
        stack_depth=65536,
        counting_needs=(Need(f"qemu-{machine}", "qemu-user"),),
        tracer=(f"qemu-{machine}",),
    )


def _aarch64() -> Platform:
    compiler = "aarch64-linux-gnu-gcc"
    # Not static: the C library's alignment would blur the sizes.
    emulator = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
    return Platform(
        name="aarch64",
        title="64-bit Arm with Linux, such as a Raspberry Pi",
        compiler=compiler,
        size="aarch64-linux-gnu-size",
        flags=(),
        libraries=(),
        support=("io_hosted.c",),
        runner=(*emulator, "{program}"),
        needs=(
            Need(compiler, "gcc-aarch64-linux-gnu"),
            Need(compiler, "libc6-dev-arm64-cross", "stdio.h"),
            Need("qemu-aarch64", "qemu-user"),
        ),
        stack_depth=65536,
        tracer=emulator,
    )


class _Board(NamedTuple):
    """A Cortex-M board of QEMU, its memories and the speed of its SysTick."""

    name: str
    flash: str
    ram: str
    mhz: int


# A Cortex-M0. Where a word is not aligned it faults, as the M0+ does and larger cores do not.
_MICROBIT = _Board("microbit", "256K", "16K", 16)
_MPS2 = _Board("mps2-an386", "4M", "4M", 25)


def _cortex_m(name: str, title: str, board: _Board, *flags: str) -> Platform:
    # Under -icount shift=7 an instruction takes 128 ns: more than two ticks of SysTick, so that the
    # ticks, each end of an interval being cut to a whole one, still give the exact count.
    shift = 7
    return Platform(
        name=name,
        title=title,
        compiler="arm-none-eabi-gcc",
        size="arm-none-eabi-size",
        flags=("-mthumb", *flags, *_BARE, *_memory("cortex_m.ld", board.flash, board.ram)),
        libraries=("-lgcc",),
        support=("start_cortex_m.c", "io_semihosting.c", "memory.c"),
        runner=("qemu-system-arm", "-M", board.name, *_SEMIHOSTING, "-kernel", "{program}"),
        needs=(
            Need("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
            Need("qemu-system-arm", "qemu-system-arm"),
        ),
        stack_depth=8192,
        counter=("-icount", f"shift={shift}"),
        ticks_per_unit=2**shift * board.mhz / 1000,
        clock_bits=24,
        coarse_counter=("-icount", "shift=0"),
        coarse_ticks_per_unit=board.mhz / 1000,
    )


def _rv32() -> Platform:
    return Platform(
        name="rv32",
        title="32-bit RISC-V without floating point (RV32IMAC)",
        compiler="riscv64-unknown-elf-gcc",
        size="riscv64-unknown-elf-size",
        flags=("-march=rv32imac", "-mabi=ilp32", *_BARE, *_memory("rv32.ld", "4M", "4M")),
        libraries=("-lgcc",),
        support=("start_rv32.c", "io_semihosting.c", "memory.c"),
        runner=(
            *("qemu-system-riscv32", "-M", "virt", "-bios", "none"),
            *(*_SEMIHOSTING, "-kernel", "{program}"),
        ),
        needs=(
            Need("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
            Need("qemu-system-riscv32", "qemu-system-misc"),
        ),
        stack_depth=8192,
        counter=("-icount", "shift=0"),
        ticks_per_unit=1.0,
    )


def _avr(mcu: str, title: str, stack_depth: int) -> Platform:
    return Platform(
        name=mcu,
        title=title,
        compiler="avr-gcc",
        size="avr-size",
        flags=("-std=gnu99", f"-mmcu={mcu}"),  # GNU C has a word for what lies in the flash
        libraries=("-lm",),  # where avr-libc keeps + - * / of floats: smaller than libgcc's
        support=("io_simavr.c",),
        runner=("{folder}/run_simavr", mcu, "{program}"),
        needs=(
            Need("avr-gcc", "gcc-avr"),
            Need("avr-gcc", "avr-libc", "avr/io.h"),
            Need("cc", "gcc"),
            Need("cc", "libsimavr-dev", "simavr/sim_avr.h"),
        ),
        stack_depth=stack_depth,
        unit="cycles",
        ticks_per_unit=1.0,
    )


_ALL = (
    _host(),
    _aarch64(),
    _cortex_m("cortex-m0plus", "Arm Cortex-M0+", _MICROBIT, "-mcpu=cortex-m0plus"),
    _cortex_m("cortex-m4", "Arm Cortex-M4 without floating point", _MPS2, "-mcpu=cortex-m4"),
    _cortex_m(
        *("cortex-m4f", "Arm Cortex-M4 with floating point", _MPS2),
        *("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    ),
    _rv32(),
    _avr("atmega328p", "AVR ATmega328P, as on the Arduino Uno", 1024),
    _avr("atmega2560", "AVR ATmega2560, as on the Arduino Mega", 4096),
)

PLATFORMS = {one.name: one for one in _ALL}
"""The known platforms by their names."""


def find_platform(name: str) -> Platform:
    """Find a platform by its name.

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
    if name not in PLATFORMS:
        raise ParameterError(f"there is no platform {shorten(name)}{did_you_mean(name, PLATFORMS)}")
    return PLATFORMS[name]
