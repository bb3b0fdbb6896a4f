"""The platforms themselves: C runs alike on all of them, and what it costs is measured exactly."""

from pathlib import Path

import numpy as np
import pytest

from solah.exceptions import ParameterError
from solah.export.platforms import (
    PLATFORMS,
    BuildError,
    MissingToolError,
    RunError,
    build,
    find_platform,
    install_line,
    measure,
    missing_tools,
    run,
)

pytestmark = pytest.mark.slow

ARITHMETIC = """
#include "solah_io.h"
int main(void) {
    float in[2], out[4];
    while (solah_io_read(in, sizeof in) == sizeof in) {
        out[0] = in[0] + in[1];
        out[1] = in[0] - in[1];
        out[2] = in[0] * in[1];
        out[3] = in[0] / in[1];
        solah_io_write(out, sizeof out);
    }
    return 0;
}
"""
STATIC_MEMORY = """
#include "solah_io.h"
static int set = 3, cleared;
int main(void) { cleared += set; set = 7; return cleared; }
"""
NOP = "nop\\n"  # AVR's assembler takes a semicolon for a comment
SPENDER = f"""
#include "solah_probe.h"
static volatile unsigned char kept[640];
void solah_probe(const void *row, void *answer) {{
    volatile unsigned char local[200];
    local[0] = *(const unsigned char *)row;
    kept[local[0]] = local[0];
    *(unsigned char *)answer = kept[1];
    __asm__ volatile("{NOP * 1000}");
}}
"""
UNALIGNED = "volatile unsigned at = 0x20000101u; return *(volatile int *)at;"
INSTALL_SCRIPT = Path(__file__).parents[1] / "install-system-tools.sh"


@pytest.fixture
def at_hand(find_tool):
    """Return a function that finds a platform, or skips the test where its tools are missing."""

    def find(name):
        platform = find_platform(name)
        for tool in missing_tools(platform, counting=True):
            find_tool(tool)
        return platform

    return find


@pytest.fixture(params=PLATFORMS)
def platform(request, at_hand):
    return at_hand(request.param)


@pytest.fixture
def written(tmp_path):
    """Return a function that writes C to a file."""

    def write(text, name="written.c"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def compiled(written, tmp_path):
    """Return a function that builds a program from its text."""

    def compile_(platform, text):
        return build(platform, [written(text)], tmp_path)

    return compile_


def any_floats(n_rows, seed=0):
    """Draw pairs of float32 from all their bit patterns, with zeros, infinities and the like."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 2**32, size=(n_rows, 2), dtype=np.uint32).view(np.float32)
    near = rng.normal(size=(n_rows, 2)).astype(np.float32)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, 1e-45, 1.1754944e-38, 3.4e38], np.float32)
    crossed = np.stack(np.meshgrid(special, special), axis=-1).reshape(-1, 2)
    return np.concatenate([pairs[~np.isnan(pairs).any(axis=1)], near, crossed])


def is_subnormal(values):
    return (values != 0) & (np.abs(values) < np.finfo(np.float32).smallest_normal)


def test_arithmetic_equals_numpy_bit_for_bit(platform, compiled):
    pairs = any_floats(2000)
    a, b = pairs.T
    with np.errstate(all="ignore"):
        expected = np.stack([a + b, a - b, a * b, a / b], axis=1)
    output = run(compiled(platform, ARITHMETIC), pairs.tobytes())
    result = np.frombuffer(output, np.float32).reshape(-1, 4)
    # What kind of NaN comes out is each processor's own affair.
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    known = ~np.isnan(expected)
    if platform.compiler == "avr-gcc":
        # avr-libc's division does not round where the quotient is too small for a normal number.
        known[:, 3] &= ~is_subnormal(expected[:, 3])
    np.testing.assert_array_equal(result[known].view(np.uint32), expected[known].view(np.uint32))


def test_static_memory_is_set_up_and_the_exit_status_comes_out(platform, compiled):
    with pytest.raises(RunError, match="failed with exit status 3"):
        run(compiled(platform, STATIC_MEMORY))


def test_measures_what_a_decision_costs_and_the_same_again(platform, written):
    rows = np.array([[1, 2], [3, 4], [250, 5]], dtype=np.uint8)
    probe = [written(SPENDER)]
    footprint = measure(platform, probe, rows)
    assert footprint == measure(platform, probe, rows)
    assert 1000 < footprint.instructions < 1100
    assert 1000 < footprint.mean_instructions <= footprint.instructions
    assert 200 <= footprint.stack < 260
    assert 640 <= footprint.ram < 704
    assert 1000 < footprint.flash < 4200  # a nop has 1, 2 or 4 bytes


@pytest.mark.parametrize("name", ["cortex-m4", "rv32"])
def test_counts_instructions_exactly(name, at_hand, written):
    nops = """
        #include "solah_probe.h"
        void solah_probe(const void *row, void *answer) {
            (void)row, (void)answer;
            __asm__ volatile("REPEATED");
        }
    """
    source = written(nops.replace("REPEATED", NOP * 777))
    footprint = measure(at_hand(name), [source], np.zeros((20, 3), np.float32))
    assert (footprint.instructions, footprint.mean_instructions) == (777, 777.0)
    assert (footprint.flash, footprint.ram, footprint.stack) == (pytest.approx(1554, abs=4), 0, 0)


LOOP = """
    #include "solah_probe.h"
    #include <stdint.h>
    void solah_probe(const void *row, void *answer) {
        uint32_t left = *(const uint32_t *)row;
        (void)answer;
        __asm__ volatile(".syntax unified\\n1: subs %0, #1\\n bne 1b" : "+l"(left)::"cc");
    }
"""


def test_more_instructions_than_the_clock_holds_are_refused(at_hand, written):
    rows = np.array([[1000], [2_000_000], [9_000_000]], np.uint32)
    probe, platform = [written(LOOP)], at_hand("cortex-m4")
    beside = measure(platform, probe, rows[:1]).instructions - 2 * 1000
    assert 0 < beside < 10
    assert measure(platform, probe, rows[1:2]).instructions == 2 * 2_000_000 + beside
    with pytest.raises(RunError, match="'cortex-m4' took more than its clock can count"):
        measure(platform, probe, rows)


def test_a_stack_deeper_than_what_is_watched_is_said(at_hand, written):
    deep = """
        #include "solah_probe.h"
        void solah_probe(const void *row, void *answer) {
            volatile unsigned char local[9000];
            for (unsigned k = 0; k < sizeof local; k++) {
                local[k] = *(const unsigned char *)row;
            }
            *(unsigned char *)answer = local[5];
        }
    """
    with pytest.raises(RunError, match="took all 8192 bytes of stack"):
        measure(at_hand("cortex-m4"), [written(deep)], np.zeros((1, 1), np.uint8))


@pytest.mark.parametrize("name", ["host", "atmega328p"])
def test_a_warning_is_an_error_that_names_its_line(name, at_hand, compiled):
    text = "int main(void) {\nlong long x = 5; unsigned char y = x; return y; }"
    with pytest.raises(BuildError, match=r"written\.c:2:.*error: conversion") as caught:
        compiled(at_hand(name), text)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "-Werror" in caught.value.output


@pytest.mark.parametrize("name", ["host", "cortex-m4", "atmega328p"])
def test_a_program_that_hangs_is_stopped(name, at_hand, compiled):
    program = compiled(at_hand(name), "int main(void) { for (;;) { } }")
    with pytest.raises(RunError, match=f"'{name}' did not end within 0.5 s and was stopped"):
        run(program, timeout=0.5)


@pytest.mark.parametrize(
    ("name", "statement", "message"),
    [
        ("host", "abort();", "crashed: Aborted"),
        ("cortex-m0plus", UNALIGNED, "its processor faulted"),
        ("cortex-m4", '__asm__ volatile("udf #0"); return 0;', "its processor faulted"),
        ("rv32", '__asm__ volatile("unimp"); return 0;', "its processor faulted"),
    ],
)
def test_a_crash_is_said(name, statement, message, at_hand, compiled):
    include = "#include <stdlib.h>\n" if name == "host" else ""
    program = compiled(at_hand(name), f"{include}int main(void) {{ {statement} }}")
    with pytest.raises(RunError, match=message):
        run(program)


def test_bare_targets_have_the_memory_functions(at_hand, compiled):
    text = """
        #include "solah_io.h"
        #include <string.h>
        int main(void) {
            unsigned char bytes[8];
            volatile size_t six = 6;
            (void)solah_io_read(bytes, 8);
            memmove(bytes + 2, bytes, six);
            memmove(bytes, bytes + 1, six);
            memset(bytes + 6, 'z', six - 5);
            memcpy(bytes + 7, bytes, six - 5);
            solah_io_write(bytes, 8);
            return memcmp(bytes, "bab", six - 3) != 0 || memcmp("ab", "ac", six - 4) >= 0;
        }
    """
    for name in ("cortex-m0plus", "rv32"):
        assert run(compiled(at_hand(name), text), b"abcdefgh") == b"babcdezb", name


@pytest.mark.parametrize("name", PLATFORMS)
def test_missing_tools_come_with_the_line_that_installs_them(name, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    platform = find_platform(name)
    assert platform.compiler in missing_tools(platform)
    with pytest.raises(MissingToolError) as caught:
        build(platform, [], tmp_path)
    assert install_line(platform) in str(caught.value)
    assert all(need.package in install_line(platform) for need in platform.needs)


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_install_script_has_every_package(name):
    script = INSTALL_SCRIPT.read_text().split()
    platform = find_platform(name)
    wanted = {need.package for need in platform.needs + platform.counting_needs}
    assert wanted <= {word.strip('"') for word in script}


def test_an_unknown_target_is_refused():
    with pytest.raises(ParameterError, match="no platform 'cortex-m5'; did you mean 'cortex-m4'"):
        find_platform("cortex-m5")
