"""A value becomes the same integer in Python, in C on every platform, and in MicroPython."""

import subprocess
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from c_programs import C99, CPP11
from devices import with_tools
from hypothesis import given
from hypothesis import strategies as st

from random_models import random_model
from solah.export import export_blob
from solah.export.c_writer import runtime_text
from solah.export.platforms import PLATFORMS, build, run
from solah.export.platforms.known import C_FOLDER
from solah.export.units import UNKNOWN, Unit

CONVERT = """
#include "solah_io.h"
#include "solah_reading.h"

int main(void)
{
    struct { SOLAH_REAL value; int32_t bits; } row;
    while (solah_io_read(&row, sizeof row) == sizeof row) {
        const int32_t reading = solah_reading_of(row.value, (int)row.bits);
        const SOLAH_REAL value = solah_value_of(reading, (int)row.bits);
        solah_io_write(&reading, sizeof reading);
        solah_io_write(&value, sizeof value);
    }
    return 0;
}
"""
BITS = (-120, -31, -16, -1, 0, 1, 11, 14, 15, 16, 22, 30, 31, 114)
ODD = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 13.2, -13.2, 1e9, -1e9, 3e38, -3e38, 1e-38, 1e-44)
BEYOND = (np.inf, -np.inf, np.nan, 0.49999997, 2147483500.0, -2147483500.0, 16777215.5)

MODULE = {"READINGS": (), "UNKNOWN": UNKNOWN}
exec(files("solah.export").joinpath("py_runtime", "fixed.py.txt").read_text("utf-8"), MODULE)


def values():
    """Values that a float holds, around halves and limits, with all bits."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=100) * 10.0 ** rng.integers(-6, 9, 100)
    found = np.concatenate([ODD, BEYOND, drawn]).astype(np.float32).astype(np.float64)
    return [(value, bits) for bits in BITS for value in found]


def expected(rows):
    return [int(Unit(bits).quantise(np.array([value]))[0]) for value, bits in rows]


def written(rows, real):
    kind = [("value", real), ("bits", "<i4"), *([("", "<i4")] if real == "<f8" else [])]
    table = np.zeros(len(rows), kind)
    table["value"], table["bits"] = zip(*rows, strict=True)
    return table.tobytes()


def read(printed, real):
    found = np.frombuffer(printed, [("reading", "<i4"), ("value", real)])
    return found["reading"].tolist(), found["value"]


def put(folder, program):
    (folder / "solah_reading.h").write_text(runtime_text("solah_reading.h"), encoding="utf-8")
    (folder / "main.c").write_text(program, encoding="utf-8")


def converter(platform, folder, real):
    put(folder, CONVERT)
    defines = [f"SOLAH_REAL={real}"]
    return build(platform, [folder / "main.c"], folder, includes=[folder], defines=defines)


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("real", ["float", "double"])
def test_a_target_reads_what_the_simulator_reads(name, real, tmp_path, find_tool):
    platform = with_tools(name, find_tool)
    kind = "<f4" if real == "float" or platform.compiler == "avr-gcc" else "<f8"
    rows = values()
    printed = run(converter(platform, tmp_path, real), written(rows, kind))
    readings, back = read(printed, kind)
    assert readings == expected(rows)
    inside = [
        place
        for place, (value, bits) in enumerate(rows)
        if abs(readings[place]) < 2**24 and -60 < bits < 60 and value == value
    ]
    exact = [readings[place] * 2.0 ** -rows[place][1] for place in inside]
    np.testing.assert_array_equal(back[inside], exact)


@pytest.mark.parametrize("real", ["float", "double"])
def test_nothing_is_undefined(real, tmp_path, find_tool):
    put(tmp_path, CONVERT)
    checks = ["-g", "-O1", "-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
    parts = [f"-I{C_FOLDER}", f"-DSOLAH_REAL={real}", "main.c", str(C_FOLDER / "io_hosted.c")]
    for compiler, standard in ((find_tool("cc"), C99), (find_tool("c++"), CPP11)):
        subprocess.run([compiler, *standard, *checks, *parts, "-o", "m"], cwd=tmp_path, check=True)
        kind, rows = ("<f4" if real == "float" else "<f8"), values()
        sent = written(rows, kind)
        done = subprocess.run([tmp_path / "m"], input=sent, capture_output=True, check=True)
        assert read(done.stdout, kind)[0] == expected(rows)


@given(st.floats(width=64), st.integers(-1000, 114))
def test_a_reading_is_the_nearest_integer_that_fits(value, bits):
    (found,) = Unit(bits).quantise(np.array([value])).tolist()
    if value != value:
        assert found == UNKNOWN
    elif abs(value) == np.inf:
        assert found == (2**31 - 1 if value > 0 else -(2**31) + 1)
    else:
        exact = Fraction(value) * Fraction(2) ** bits
        nearest = (2 * exact + 1) // 2
        assert found == max(min(nearest, 2**31 - 1), -(2**31) + 1)


@given(
    st.one_of(st.none(), st.floats(width=64), st.integers(-(2**33), 2**33)), st.integers(-60, 60)
)
def test_micropython_reads_what_the_simulator_reads(value, bits):
    read_value = np.nan if value is None else float(value)
    quantise = MODULE["_quantise"]
    assert quantise(value, bits, ()) == Unit(bits).quantise(np.array([read_value]))[0]
    place = {1.0: 0, 3.0: 1}.get(read_value, UNKNOWN)
    assert quantise(value, None, ((1.0, 1.0), (3.0, 3.0))) == place


BLOB = """
#include "solah_blob.h"
#include "solah_io.h"

static union { uint8_t bytes[65536]; uint32_t aligned; } slot;

int main(void)
{
    static solah_blob blob;
    double row[2];
    const size_t size = solah_io_read(slot.bytes, @SIZE@);
    if (solah_blob_open(&blob, slot.bytes, size, NULL) != SOLAH_BLOB_OK) {
        return 1;
    }
    while (solah_io_read(row, sizeof row) == sizeof row) {
        const int32_t reading = solah_blob_reading_of(&blob, (int)row[0], row[1]);
        solah_io_write(&reading, sizeof reading);
    }
    return 0;
}
"""


def test_a_blob_reads_what_the_simulator_reads(tmp_path, find_tool):
    platform = with_tools("host", find_tool)
    model = random_model(np.random.default_rng(0), "words", 3)
    blob = export_blob(model)
    for name, content in blob.files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "main.c").write_text(BLOB.replace("@SIZE@", str(len(blob.data))))
    program = build(platform, [tmp_path / "main.c"], tmp_path, includes=[tmp_path])
    odd = np.array([*ODD, *BEYOND, 2.0, 1.25, 2147483647.0, -2147483648.0, 2147483648.0])
    n_readings = len(model.features)
    rows = [(float(place), value) for place in range(n_readings) for value in odd]
    printed = run(program, blob.data + np.array(rows).tobytes())
    simulator = blob.simulator.prepare(np.tile(odd[:, None], n_readings)).T.ravel()
    np.testing.assert_array_equal(np.frombuffer(printed, "<i4"), simulator)
