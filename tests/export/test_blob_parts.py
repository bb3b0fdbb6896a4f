"""Policies and samples in blobs: they decide and measure as the simulator, without harm."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from blob_programs import (
    ATTACK,
    SAMPLES,
    SANITIZED,
    attack,
    build,
    check_refused,
    counted,
    flips,
    mutated,
    patched,
    summed,
    write,
)
from devices import module_of, with_tools
from judged_models import STEADY, check_verdicts, judged, judged_model, verdict_type
from signal_programs import batch, describe_everything, model_of, noise, pushed

from random_models import random_model, random_rows
from solah.export.blob import export_blob
from solah.export.platforms import build as build_for
from solah.export.platforms import run as run_on
from solah.export.units import Counts
from solah.model.policy import Policy
from solah.signals import describe_signals

OK, TOO_LARGE, PLACE, NUMBERS = 0, 7, 8, 10

HEAD = """
#include "solah_blob.h"
#include "solah_io.h"

static union {
    uint32_t aligned;
    uint8_t bytes[32768];
} slot;
static solah_blob blob;
static solah_blob_state state;
static int32_t readings[255];
static uint16_t belief[SOLAH_BLOB_MAX_CLASSES];

static int open_blob(void)
{
    uint32_t size;
    (void)solah_io_read(&size, sizeof size);
    (void)solah_io_read(slot.bytes, size);
    return solah_blob_open(&blob, slot.bytes, size, NULL);
}

static void judge(void)
{
    solah_blob_verdict verdict;
    const int32_t settled = solah_blob_judge(&blob, &state, readings, belief, &verdict);
    const int32_t decision = verdict.decision;
    solah_io_write(&decision, sizeof decision);
    solah_io_write(&settled, sizeof settled);
    solah_io_write(&verdict.abstain_reasons, 1);
    solah_io_write(&verdict.n_unseen, 1);
    solah_io_write(belief, (size_t)solah_blob_n_classes(&blob) * sizeof *belief);
}
"""
JUDGE = (
    HEAD
    + """
int main(void)
{
    if (open_blob() != SOLAH_BLOB_OK) {
        return 1;
    }
    const size_t size = (size_t)solah_blob_n_readings(&blob) * sizeof *readings;
    solah_blob_settle_start(&blob, &state);
    while (solah_io_read(readings, size) == size) {
        judge();
    }
    return 0;
}
"""
)
STREAM = (
    HEAD
    + """
static solah_blob_signals signals;

int main(void)
{
    int32_t sample[SOLAH_BLOB_MAX_CHANNELS];
    if (open_blob() != SOLAH_BLOB_OK || !solah_blob_start(&blob, &signals)) {
        return 1;
    }
    const size_t size = (size_t)solah_blob_n_samples(&blob) * sizeof *sample;
    solah_blob_settle_start(&blob, &state);
    while (solah_io_read(sample, size) == size) {
        if (solah_blob_push(&blob, &signals, sample)) {
            solah_blob_measure(&blob, &signals, readings);
            judge();
            solah_io_write(readings, (size_t)solah_blob_n_readings(&blob) * sizeof *readings);
        }
    }
    return 0;
}
"""
)


def run_blob(platform, blob, content, folder, program, flags=()):
    """Compile a program around a blob for a platform, and send it both."""
    write(blob, folder)
    options = "".join(f"#define {flag[2:].replace('=', ' ')}\n" for flag in flags)
    (folder / "main.c").write_text(options + program, encoding="utf-8")
    built = build_for(platform, [folder / "main.c"], folder, includes=[folder])
    return run_on(built, struct.pack("<I", len(blob.data)) + blob.data + content, timeout=600)


@pytest.fixture(scope="module")
def shaken():
    """Give a blob of samples with a policy, with every kind of feature."""
    rng = np.random.default_rng(0)
    signals = describe_everything()
    model = judged(rng, model_of(rng, signals, noise(rng, 5000)))
    return export_blob(replace(model, policy=STEADY))


@pytest.fixture(scope="module")
def small():
    """Give a small blob of samples with a policy, whose every bit can be tried."""
    rng = np.random.default_rng(1)
    signals = describe_signals(
        ["x", "y"], rate=10, window=6, features=["p50", "energy 2-4", "correlation"], max_gap=2
    )
    model = model_of(rng, signals, noise(rng, 2000, 2))
    model = replace(judged(rng, model), policy=Policy((0.5,) * 3, 0.4, True, 1, 4, 0.1, 2, 3, 2))
    return export_blob(model)


@pytest.fixture(scope="module")
def attacked(small, tmp_path_factory, find_tool):
    return build(small, tmp_path_factory.mktemp("attack"), find_tool("cc"), ATTACK, SANITIZED)


# --- verdicts --------------------------------------------------------------------------------


def test_a_blob_without_a_policy_decides_at_once(find_tool, tmp_path):
    platform = with_tools("host", find_tool)
    rng = np.random.default_rng(3)
    bare = random_model(rng, "groups", 3)
    blob = export_blob(bare)
    rows = random_rows(rng, bare, 100)
    places, beliefs = blob.simulator.decide(rows)
    judges = export_blob(replace(bare, policy=Policy())).simulator
    verdicts = judges.judge(rows)
    np.testing.assert_array_equal(verdicts.settled, places)
    np.testing.assert_array_equal(verdicts.beliefs, beliefs)
    sent = blob.simulator.prepare(rows).tobytes()
    check_verdicts(run_blob(platform, blob, sent, tmp_path, JUDGE), verdicts)
    module = module_of(blob.files["solah_blob.py"])
    module["load"](blob.data)
    found = [module["judge_prepared"](row)[0] for row in blob.simulator.prepare(rows).tolist()]
    assert found == places.tolist()


# --- samples ---------------------------------------------------------------------------------


def check_stream(blob, printed, samples):
    """Assert that a program measured and judged all windows as the simulator."""
    rows = batch(blob.signals, samples, blob.features)
    verdicts = blob.simulator.judge(rows)
    kind = [*verdict_type(verdicts), ("readings", "<i4", (rows.shape[1],))]
    found = np.frombuffer(printed, kind)
    assert len(found) == len(rows) > 0
    np.testing.assert_array_equal(found["readings"], blob.simulator.prepare(rows))
    np.testing.assert_array_equal(found["settled"], verdicts.settled)
    np.testing.assert_array_equal(found["abstain_reasons"], verdicts.abstain_reasons)
    np.testing.assert_array_equal(found["belief"], verdicts.beliefs)
    assert {-1, 1, 2} <= set(found["settled"].tolist())


def test_a_blob_takes_a_hundred_thousand_samples(shaken, find_tool, tmp_path):
    platform = with_tools("host", find_tool)
    samples = noise(np.random.default_rng(4), 100_000)
    sent = pushed(shaken, samples)
    check_stream(shaken, run_blob(platform, shaken, sent, tmp_path, STREAM, SAMPLES), samples)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cortex-m4f", "rv32"])
def test_targets_open_blobs_of_samples(name, shaken, find_tool, tmp_path):
    platform = with_tools(name, find_tool)
    samples = noise(np.random.default_rng(5), 2_000)
    sent = pushed(shaken, samples)
    check_stream(shaken, run_blob(platform, shaken, sent, tmp_path, STREAM, SAMPLES), samples)


def test_a_board_takes_samples_from_a_blob(shaken):
    module = module_of(shaken.files["solah_blob.py"])
    module["load"](shaken.data)
    samples = noise(np.random.default_rng(6), 500)
    rows = batch(shaken.signals, samples, shaken.features)
    found = [module["measure"]() for sample in samples.tolist() if module["push"](sample)]
    names = [name for name, *_ in module["READINGS"]]
    values = [[np.nan if one[name] is None else one[name] for name in names] for one in found]
    np.testing.assert_array_equal(np.array(values, np.float64), rows)
    verdicts = shaken.simulator.judge(rows)
    settled = [module["judge"](one)[0] for one in found]
    named = [None if place < 0 else module["CLASSES"][place] for place in verdicts.settled]
    assert settled == named


def test_counts_far_from_0_make_a_blob_that_opens(attacked):
    """The value 0 is 280,000 counts away; it counts for axes of a magnitude alone."""
    rng = np.random.default_rng(7)
    samples = noise(rng, 1_000, 1) + np.float32(300)
    signals = describe_signals(["x"], rate=20, window=20, features=["mean", "deviation"])
    counts = {"x": Counts(16, 0.001, 280.0)}
    blob = export_blob(model_of(rng, signals, samples), adc=counts)
    assert attack(attacked, [blob.data]).tolist() == [0]
    module_of(blob.files["solah_blob.py"])["load"](blob.data)


def test_a_board_says_that_a_blob_takes_no_samples():
    blob = export_blob(random_model(np.random.default_rng(7), "tree"))
    module = module_of(blob.files["solah_blob.py"])
    module["load"](blob.data)
    with pytest.raises(ValueError, match="decides on readings, and takes no samples"):
        module["push"]([1.0])


def test_what_a_runtime_needs_for_samples_is_told(shaken, tmp_path, find_tool):
    assert [warning.partition("-D")[2].partition(":")[0] for warning in shaken.warnings] == [
        "SOLAH_BLOB_MAX_SAMPLES=78"
    ]
    platform = with_tools("host", find_tool)
    samples = pushed(shaken, noise(np.random.default_rng(8), 200))
    program = STREAM.replace("return 1", "return 0")
    few = ("-DSOLAH_BLOB_MAX_SAMPLES=77",)
    assert run_blob(platform, shaken, samples, tmp_path, program, few) == b""
    exactly = ("-DSOLAH_BLOB_MAX_SAMPLES=78",)
    assert run_blob(platform, shaken, samples, tmp_path, program, exactly) != b""


def test_a_runtime_without_samples_judges_readings(shaken, find_tool, tmp_path):
    platform = with_tools("host", find_tool)
    rows = batch(shaken.signals, noise(np.random.default_rng(9), 500))
    sent = shaken.simulator.prepare(rows).tobytes()
    check_verdicts(run_blob(platform, shaken, sent, tmp_path, JUDGE), shaken.simulator.judge(rows))


# --- faults ----------------------------------------------------------------------------------

COUNTS = {
    "two policies": ("policy", 2, PLACE, "a policy is out of place"),
    "cells without a policy": ("policy", 0, PLACE, "a policy is out of place"),
    "fewer cells than readings": ("cells", 2, PLACE, "a policy is out of place"),
    "fewer limits than classes": ("min_probability", 2, PLACE, "a policy is out of place"),
    "fewer cuts": ("cuts", 1, PLACE, "a reading has cuts out of place"),
    "fewer bits": ("seen", 1, PLACE, "a pair of readings is out of place"),
    "no channels": ("measured", 0, PLACE, "signals are out of place"),
    "none that is kept": ("stored", 0, PLACE, "signals are out of place"),
    "no features": ("features", 0, PLACE, "signals are out of place"),
    "fewer axes": ("axes", 1, PLACE, "a channel is out of place"),
    "fewer waves": ("waves", 0, PLACE, "a feature is out of place"),
}
PATCHES = {
    "more known than all": ("policy", 0, "H", 32769, NUMBERS, "a policy is broken"),
    "a hysteresis beyond all": ("policy", 2, "H", 40000, NUMBERS, "a policy is broken"),
    "no min_hold": ("policy", 4, "H", 0, NUMBERS, "a policy is broken"),
    "a min_hold without an end": ("policy", 4, "H", 65535, NUMBERS, "a policy is broken"),
    "too smooth": ("policy", 8, "B", 9, NUMBERS, "a policy is broken"),
    "no votes": ("policy", 9, "B", 0, NUMBERS, "a policy is broken"),
    "more votes than there are": ("policy", 9, "B", 4, NUMBERS, "a policy is broken"),
    "a window too long": ("policy", 10, "B", 33, NUMBERS, "a policy is broken"),
    "cuts beyond the end": ("cells", 8, "H", 999, PLACE, "a reading has cuts out of place"),
    "too many cuts": ("cells", 10, "B", 255, PLACE, "a reading has cuts out of place"),
    "a pair of no reading": ("pairs", 0, "B", 9, PLACE, "a pair of readings is out of place"),
    "bits beyond the end": ("pairs", 2, "H", 999, PLACE, "a pair of readings is out of place"),
    "no window": ("windows", 0, "I", 0, NUMBERS, "signals have numbers out of range"),
    "no step": ("windows", 4, "I", 0, NUMBERS, "signals have numbers out of range"),
    "no rate": ("measured", 0, "H", 0, NUMBERS, "signals have numbers out of range"),
    "a single sample": ("stored", 2, "H", 1, NUMBERS, "signals have numbers out of range"),
    "a window too long for sums": ("stored", 2, "H", 16385, TOO_LARGE, "signals have numbers out"),
    "a zero too far": ("measured", 4, "i", 2**30 + 1, NUMBERS, "signals have numbers out of range"),
    "a bias too far": ("measured", 8, "i", 65537, NUMBERS, "signals have numbers out of range"),
    "a wave too high": ("waves", 0, "h", 16385, NUMBERS, "signals have numbers out of range"),
    "a wave beyond the window": ("features", 6, "H", 6, PLACE, "a feature is out of place"),
    "more waves than samples": ("features", 8, "H", 7, PLACE, "a feature is out of place"),
    "axes beyond the end": ("stored", 4, "B", 9, PLACE, "a channel is out of place"),
    "no axes": ("stored", 5, "B", 0, PLACE, "a channel is out of place"),
    "an axis of no channel": ("axes", 0, "B", 2, PLACE, "a channel is out of place"),
    "a kind that is none": ("features", 0, "B", 15, PLACE, "a feature is out of place"),
    "a reading that is none": ("features", 1, "B", 99, PLACE, "a feature is out of place"),
    "a channel that is none": ("features", 2, "B", 2, PLACE, "a feature is out of place"),
    "another that is none": ("features", 3, "B", 2, PLACE, "a feature is out of place"),
    "waves beyond the end": ("features", 4, "H", 99, PLACE, "a feature is out of place"),
}


def test_what_is_whole_opens(small, shaken, attacked):
    assert attack(attacked, [small.data, shaken.data]).tolist() == [OK, OK]


def test_both_runtimes_refuse_wrong_counts_and_wrong_contents(small, attacked):
    cases = [(counted(small.data, *fault[:-2]), *fault[-2:]) for fault in COUNTS.values()]
    cases += [(patched(small.data, *fault[:-2]), *fault[-2:]) for fault in PATCHES.values()]
    check_refused(small, attacked, cases)


def test_samples_beyond_the_room_are_found(small, attacked):
    """A board has the room that it needs; C has what it was compiled with."""
    far = patched(small.data, "stored", 0, "H", 1020)
    long = patched(small.data, "stored", 2, "H", 65)
    assert attack(attacked, [far, long]).tolist() == [TOO_LARGE, TOO_LARGE]


def test_no_bit_that_flips_on_purpose_does_harm(small, attacked):
    codes = attack(attacked, [summed(data) for data in flips(small.data)], timeout=300)
    assert {OK, TOO_LARGE, PLACE, NUMBERS} <= set(codes.tolist())


def test_no_mutation_does_harm(small, shaken, attacked):
    rng = np.random.default_rng(10)
    plain = [export_blob(judged_model(rng, shape)).data for shape in ("tree", "groups")]
    originals = [small.data, small.data, shaken.data, *plain]
    hostile = [mutated(rng, originals[rng.integers(len(originals))]) for _ in range(4_000)]
    codes = attack(attacked, hostile, timeout=300)
    assert {OK, TOO_LARGE, PLACE, NUMBERS} <= set(codes.tolist())


def test_what_opens_is_loaded_by_boards_too(small, attacked):
    rng = np.random.default_rng(11)
    hostile = [mutated(rng, small.data) for _ in range(400)]
    module = module_of(small.files["solah_blob.py"])
    n_opened = 0
    for data, code in zip(hostile, attack(attacked, hostile, timeout=300), strict=True):
        if code == OK:
            try:
                module["load"](data)
            except UnicodeError:  # C does not read names
                continue
            n_opened += 1
            n_readings = len(module["READINGS"])
            module["judge_prepared"]([0] * n_readings)
            for sample in ([1e9, None], [0.5, 1.0], [2.0, float("nan")]) * 6:
                n_channels = max(len(module["_MEASURED"]), 2)
                if module["_WINDOW"] and module["push"]((sample * n_channels)[:n_channels]):
                    module["judge"](module["measure"]())
    assert n_opened > 40
