"""Samples on devices: readings and decisions of all windows, bit for bit as in Python."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from devices import sources, with_tools
from golden_files import check_golden
from judged_models import STEADY, judged
from signal_programs import (
    STREAM,
    batch,
    check_stream,
    describe_everything,
    model_of,
    noise,
    pushed,
)

from random_models import random_model
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.c_writer import runtime_text
from solah.export.online import Pace
from solah.export.platforms import PLATFORMS, build, run
from solah.export.units import Counts
from solah.model.format import from_json, to_json
from solah.model.predictor import Predictor
from solah.signals import describe_signals


@pytest.fixture(scope="module")
def everything():
    rng = np.random.default_rng(0)
    signals = describe_everything()
    return model_of(rng, signals, noise(rng, 5000))


def streamed(platform, export, samples, folder):
    program = build(platform, sources(export, folder, STREAM), folder, includes=[folder])
    return run(program, pushed(export, samples), timeout=900)


def test_the_model_of_everything_is_sound(everything):
    assert from_json(to_json(everything).encode()) == everything


COUNTED = {name: Counts(12, 1 / 256, -8.0) for name in ("x", "y", "slow")}
ARITHMETIC = {
    "float": {"numbers": "float"},
    "q15": {"numbers": "q15"},
    "counts": {"numbers": "q15", "adc": COUNTED},
}


@pytest.mark.parametrize("choices", ARITHMETIC.values(), ids=ARITHMETIC)
def test_a_hundred_thousand_samples_have_the_bits_of_python(
    choices, everything, find_tool, tmp_path
):
    platform = with_tools("host", find_tool)
    samples = noise(np.random.default_rng(1), 100_000)
    export = export_c(everything, name="m", **choices)
    check_stream(export, streamed(platform, export, samples, tmp_path), samples)


# The smaller AVR has no room for the windows.
@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in PLATFORMS if one not in ("host", "atmega328p")])
@pytest.mark.parametrize("choices", ARITHMETIC.values(), ids=ARITHMETIC)
def test_every_platform_has_them(name, choices, everything, find_tool, tmp_path):
    platform = with_tools(name, find_tool)
    samples = noise(np.random.default_rng(3), 10_000 if name == "cortex-m4f" else 1_000)
    export = export_c(everything, name="m", **choices)
    check_stream(export, streamed(platform, export, samples, tmp_path), samples)


def test_a_loaded_model_takes_sample_by_sample(everything):
    samples = noise(np.random.default_rng(5), 500)
    predictor = Predictor(everything)
    stream = predictor.stream()
    found = [one for one in map(stream.push, samples) if one is not None]
    rows = batch(everything.signals, samples)
    assert [one.decision for one in found] == predictor.predict(rows).tolist()
    np.testing.assert_array_equal([one.probabilities for one in found], predictor.outputs(rows))


def golden_model():
    rng = np.random.default_rng(8)
    signals = describe_signals(
        ["x", "y", "temperature"],
        rate={"x": 20, "y": 20, "temperature": 5},
        window="1s",
        features=["rms", "p90", "energy 2-4", "correlation"],
        magnitudes={"shaking": ["x", "y"]},
        units={"x": "g", "y": "g", "temperature": "°C"},
    )
    names = ["shaking RMS over 1 s", "temperature 90 % quantile over 1 s", *signals.names[-1:]]
    kept = signals.only([*names, "x energy from 2 to 4 Hz"])
    return model_of(rng, kept, noise(rng, 2000))


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_generated_c_is_as_it_was_read(numbers):
    files = export_c(golden_model(), name="shaken", numbers=numbers, style="tables").files
    check_golden(numbers, files, "shaken.h", "shaken.c")


def test_what_has_no_signals_takes_no_samples():
    model = random_model(np.random.default_rng(0), "words and pairs")
    for maker in (export_c(model, name="m"), Predictor(model)):
        with pytest.raises(ParameterError, match="the model was fitted to readings"):
            maker.stream()
    assert "m_push" not in export_c(model, name="m").files["m.h"]


@pytest.mark.parametrize(
    "kind",
    [
        *("mean", "min", "max", "range", "rms", "deviation", "change", "slope", "zero crossings"),
        *("mean crossings", "peaks", "p90", "energy 1-6", "pitch", "correlation"),
    ],
)
def test_each_kind_of_feature_stands_alone(kind, find_tool, tmp_path):
    platform = with_tools("host", find_tool)
    rng = np.random.default_rng(6)
    signals = describe_signals(["x", "y"], rate=20, window=15, overlap=0.2, features=[kind])
    samples = noise(rng, 600, 2)
    export = export_c(model_of(rng, signals, samples), name="m")
    check_stream(export, streamed(platform, export, samples, tmp_path), samples)


def test_a_device_says_how_many_bytes_it_keeps(everything, find_tool, tmp_path):
    platform = with_tools("cortex-m4", find_tool)
    export = export_c(everything, name="m")
    stated = next(line for line in export.files["m.h"].splitlines() if "bytes of RAM" in line)
    n_bytes = int(stated.partition("samples: ")[2].partition(" bytes")[0].replace(",", ""))
    program = f'#include "m.h"\nint main(void) {{{{ return sizeof(m_signals) != {n_bytes}; }}}}\n'
    build_and_run = build(
        platform, sources(export, tmp_path, program), tmp_path, includes=[tmp_path]
    )
    assert run(build_and_run) == b""


def test_the_square_root_is_rounded_as_in_python(find_tool, tmp_path):
    program = """
#include <stdint.h>
#include <stdio.h>
typedef struct {
    uint32_t left, count, complete;
    float last[1], ring[2];
    uint16_t gap[1], wait[1], next[1];
} memory;
#define SOLAH_SIGNALS memory
#define SOLAH_N_MEASURED 1
#define SOLAH_N_STORED 1
#define SOLAH_N_FEATURES 1
#define SOLAH_LONGEST 2
#define SOLAH_USES(kind) ((kind) == SOLAH_RMS)
#include "solah_signals.h"
int main(void)
{
    float x;
    while (fread(&x, sizeof x, 1, stdin) == 1) {
        x = solah_root(x);
        fwrite(&x, sizeof x, 1, stdout);
    }
    return 0;
}
"""
    for name in ("solah_signals.h", "solah_signals_float.h", "solah_flash.h"):
        (tmp_path / name).write_text(runtime_text(name), encoding="utf-8")
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    command = [find_tool("gcc"), "-std=c99", "-O2", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 0x7F800000, 200_000, dtype=np.uint32)  # all that are not negative
    near = np.array([0, 1, 2, 0x007FFFFF, 0x00800000, 0x7F7FFFFF], dtype=np.uint32)
    squares = (np.arange(1, 5000, dtype=np.float32) ** 2).view(np.uint32)
    numbers = np.concatenate([bits, near, squares, squares - 1, squares + 1]).view("<f4")
    done = subprocess.run([tmp_path / "main"], input=numbers.tobytes(), capture_output=True)
    found = np.frombuffer(done.stdout, "<f4")
    np.testing.assert_array_equal(found.view("<u4"), np.sqrt(numbers).view("<u4"))


LEARNS = STREAM.replace(
    "static m_signals signals;", "static m_signals signals;\nstatic m_memory memory;"
)
LEARNS = LEARNS.replace("m_start(", "m_begin(&memory);\n    m_start(")
LEARNS = LEARNS.replace("m_decide(", "m_decide(&memory, ")


def test_a_model_of_samples_may_learn(everything, find_tool, tmp_path):
    """Its trees are walked, and walks share no name with signals."""
    platform = with_tools("host", find_tool)
    samples = noise(np.random.default_rng(9), 2_000)
    export = export_c(everything, name="m", numbers="q15", learning=Pace())
    program = build(platform, sources(export, tmp_path, LEARNS), tmp_path, includes=[tmp_path])
    check_stream(export, run(program, pushed(export, samples)), samples)


JUDGES = STREAM.replace(
    "static m_signals signals;", "static m_signals signals;\nstatic m_state state;"
)
JUDGES = JUDGES.replace("m_start(", "m_settle_start(&state);\n    m_start(")
JUDGES = JUDGES.replace("int32_t decision;", "int32_t decision;\n            m_verdict verdict;")
JUDGES = JUDGES.replace("m_decide(readings, belief)", "m_judge(&state, readings, belief, &verdict)")


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_windows_are_judged_in_turn(numbers, everything, find_tool, tmp_path):
    platform = with_tools("host", find_tool)
    rng = np.random.default_rng(10)
    export = export_c(replace(judged(rng, everything), policy=STEADY), name="m", numbers=numbers)
    samples = noise(rng, 3_000)
    program = build(platform, sources(export, tmp_path, JUDGES), tmp_path, includes=[tmp_path])
    printed = run(program, pushed(export, samples))
    stream = export.stream()
    expected = [found for found in map(stream.push, samples) if found is not None]
    n_classes, n_readings = len(expected[0].probabilities), len(expected[0].readings)
    belief = expected[0].probabilities.dtype.newbyteorder("<")
    readings = ("readings", "<i4", (n_readings,))
    found = np.frombuffer(printed, [("settled", "<i4"), ("belief", belief, (n_classes,)), readings])
    assert found["settled"].tolist() == [one.stable for one in expected]
    np.testing.assert_array_equal(found["belief"], [one.probabilities for one in expected])
    assert {-1, 1, 2} <= set(found["settled"].tolist())


# A timer of the core interrupts at uneven times and pushes a sample; the main loop measures windows
# until it has seen so many. With {taken} it takes them first, else it reads while samples come.
INTERRUPTED = """
#include "m.h"
#include "solah_io.h"

static m_signals signals;
static volatile int is_complete;
static int32_t n_samples;
static uint32_t state = 1;
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;
static void (*vectors[16])(void) __attribute__((aligned(128)));

static void tick(void)
{{
    const {reading} sample[1] = {{({reading})n_samples++}};
    if (m_push(&signals, sample)) {{
        is_complete = 1;
    }}
    state = state * 1664525u + 1013904223u;
    systick[1] = 100u + (state >> 19); /* ticks until the next sample: up to 8,291 */
    systick[2] = 0;
}}

int main(void)
{{
    static m_signals window;
    {reading} readings[M_N_READINGS];
    void (*const *const flash)(void) = (void (*const *)(void))0u;
    for (int i = 0; i < 16; i++) {{
        vectors[i] = flash[i];
    }}
    vectors[15] = tick;
    *(volatile uint32_t *)0xE000ED08u = (uint32_t)(uintptr_t)vectors;
    m_start(&signals);
    systick[1] = 5000u;
    systick[2] = 0;
    systick[0] = 7; /* with interrupts */
    for (int n = 0; n < 400;) {{
        if (!is_complete) {{
            continue;
        }}
        if ({taken}) {{
            is_complete = 0;
            m_measure({measured}, readings);
            solah_io_write(readings, sizeof readings);
            n++;
        }}
    }}
    return 0;
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_windows_that_are_taken_between_interrupts_are_whole(numbers, tmp_path, find_tool):
    platform = with_tools("cortex-m4", find_tool)
    rng = np.random.default_rng(4)
    features = ["mean", "min", "max", "slope", "p50"]
    signals = describe_signals(["x"], rate=10, window=32, features=features)
    model = model_of(rng, signals, np.arange(2_000.0)[:, None])
    export = export_c(
        model, name="m", numbers=numbers, adc={"x": Counts(16, 1.0)} if numbers == "q15" else None
    )
    true = batch(export.signals, np.arange(30_000.0)[:, None], export.features)
    true = true.astype("<f4") if numbers == "float" else export.simulator.prepare(true)
    known = {row.tobytes() for row in true}
    false = {}
    for taken, measured in (
        ("m_take(&signals, &window)", "&window"),
        ("1 || m_take(&signals, &window)", "&signals"),
    ):
        text = INTERRUPTED.replace("{taken}", taken).replace("{measured}", measured)
        program = build(platform, sources(export, tmp_path, text), tmp_path, includes=[tmp_path])
        printed = run(program, options=platform.counter, timeout=300)
        windows = np.frombuffer(printed, true.dtype).reshape(-1, true.shape[1])
        assert len(windows) == 400
        assert len(np.unique(windows, axis=0)) > 300
        false[measured] = sum(window.tobytes() not in known for window in windows)
    assert false["&window"] == 0
    assert false["&signals"] > 5  # so interrupts do come in between
