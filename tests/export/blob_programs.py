"""C programs around blobs, and damage to blobs, for tests."""

import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from c_programs import C99
from devices import module_of

from solah.export.blob import LAYOUT

SECTIONS = list(LAYOUT)

# A blob and its rows in, what is decided and why out; as many of both as there are.
RUN = """
#include "solah_blob.h"
#include <stdio.h>

static union {{
    uint32_t aligned;
    uint8_t bytes[262144];
}} slot;
static solah_blob blob;
static solah_blob_state state;

static void put(int32_t number) {{ fwrite(&number, sizeof number, 1, stdout); }}

static void run(const int32_t *readings)
{{
    uint16_t belief[SOLAH_BLOB_MAX_CLASSES];
    solah_blob_reason reasons[{n_most} + 1];
    put(solah_blob_decide(&blob, readings, belief));
    put(solah_blob_estimate(&blob, readings));
    fwrite(belief, sizeof *belief, (size_t)solah_blob_n_classes(&blob), stdout);
    const int count = solah_blob_why(&blob, readings, reasons, {n_most});
    for (int i = 0; i < {n_most}; i++) {{
        put(i < count ? reasons[i].rule : -1);
        put(i < count ? reasons[i].amount : 0);
    }}
    solah_blob_verdict verdict = {{-1, -1, 0, 0}};
    put(solah_blob_judge(&blob, &state, readings, belief, &verdict));
    put(verdict.decision);
    fwrite(&verdict.abstain_reasons, 1, 1, stdout);
    fwrite(&verdict.n_unseen, 1, 1, stdout);
    fwrite(belief, sizeof *belief, (size_t)solah_blob_n_classes(&blob), stdout);
}}

int main(void)
{{
    uint32_t sizes[3];
    int32_t readings[255];
    while (fread(sizes, sizeof sizes, 1, stdin) == 1) {{
        if (fread(slot.bytes, 1, sizes[0], stdin) != sizes[0]) {{
            return 1;
        }}
        const int fault = solah_blob_open(&blob, slot.bytes, sizes[0], NULL);
        put(fault);
        solah_blob_settle_start(&blob, &state);
        for (uint32_t i = 0; i < sizes[1]; i++) {{
            if (fread(readings, sizeof *readings, sizes[2], stdin) != sizes[2]) {{
                return 1;
            }}
            if (fault == SOLAH_BLOB_OK) {{
                run(readings);
            }}
        }}
    }}
    return 0;
}}
"""

# Blobs behind their sizes in, how each was opened out. Each lies in memory of exactly its size, so
# that the sanitizers see every byte beyond, and decides on extreme and random readings if it opens.
ATTACK = """
#include "solah_blob.h"
#include <stdio.h>
#include <stdlib.h>

static const int32_t extremes[] = {
    INT32_MIN, INT32_MIN + 1, INT32_MAX, 0, -1, 1, 32767, -32768, 65536, 1 << 30, -(1 << 30)};
static uint32_t state = 1;

static int32_t any(void)
{
    state = state * 1664525u + 1013904223u;
    const uint32_t bits = state >> 8;
    if (bits % 3u == 0u) {
        return extremes[(bits >> 4) % (sizeof extremes / sizeof *extremes)];
    }
    return bits % 3u == 1u ? (int32_t)(bits >> 8) - 32768 : (int32_t)((bits >> 4) & 7u);
}

static solah_blob_state settled;
static solah_blob_signals signals;

/* What is remembered stays now and then when another blob is opened, as it must not. */
static void start(const solah_blob *blob)
{
    if (any() % 2 == 0) {
        solah_blob_settle_start(blob, &settled);
        (void)solah_blob_start(blob, &signals);
    }
}

/* Samples of any size, and what is measured of them. */
static int take(const solah_blob *blob, int32_t *readings)
{
    int32_t sample[SOLAH_BLOB_MAX_CHANNELS];
    int is_measured = 0;
    for (int i = 0; i < 40; i++) {
        for (int c = 0; c < SOLAH_BLOB_MAX_CHANNELS; c++) {
            sample[c] = any() / (i % 5 == 0 ? 1 : 256);
        }
        if (solah_blob_push(blob, &signals, sample)) {
            solah_blob_measure(blob, &signals, readings);
            is_measured = 1;
        }
    }
    return is_measured;
}

static int judge(const solah_blob *blob, const int32_t *readings)
{
    uint16_t belief[SOLAH_BLOB_MAX_CLASSES];
    solah_blob_verdict verdict;
    const int n_classes = solah_blob_n_classes(blob);
    const int found = solah_blob_judge(blob, &settled, readings, belief, &verdict);
    if (n_classes < 2) {
        return found == -1;
    }
    return found == verdict.settled && verdict.decision >= -1 && verdict.decision < n_classes &&
           verdict.abstain_reasons < 16;
}

static int run(const solah_blob *blob)
{
    int32_t readings[255];
    uint16_t belief[SOLAH_BLOB_MAX_CLASSES];
    solah_blob_reason reasons[3];
    for (int row = 0; row < 16; row++) {
        for (int i = 0; i < 255; i++) {
            readings[i] = row < 11 ? extremes[row] : any();
        }
        if (row % 4 == 3) {
            (void)take(blob, readings);
        }
        if (!judge(blob, readings)) {
            return 0;
        }
        const int place = solah_blob_decide(blob, readings, belief);
        uint32_t sum = 0;
        for (int c = 0; c < solah_blob_n_classes(blob); c++) {
            sum += belief[c];
        }
        if (place < 0 || place >= solah_blob_n_classes(blob) || sum != 32768u) {
            return 0;
        }
        (void)solah_blob_estimate(blob, readings);
        const int count = solah_blob_why(blob, readings, reasons, 3);
        for (int i = 0; i < count; i++) {
            if (reasons[i].rule >= solah_blob_n_rules(blob) || reasons[i].amount <= 0) {
                return 0;
            }
        }
        (void)solah_blob_class_name(blob, place);
    }
    return solah_blob_reading(blob, solah_blob_reading_name(blob, 0)) == 0;
}

int main(void)
{
    uint32_t size;
    solah_blob blob;
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        void *bytes = malloc(size > 0u ? size : 1u);
        if (bytes == NULL || fread(bytes, 1, size, stdin) != size) {
            return 1;
        }
        const int32_t fault = solah_blob_open(&blob, bytes, size, NULL);
        if (fault == SOLAH_BLOB_OK) {
            start(&blob);
            if (!run(&blob)) {
                return 2;
            }
        }
        if (fault != SOLAH_BLOB_OK &&
            (solah_blob_decide(&blob, NULL, NULL) != -1 ||
             solah_blob_judge(&blob, NULL, NULL, NULL, NULL) != -1 ||
             solah_blob_push(&blob, NULL, NULL) != 0)) {
            return 3;
        }
        free(bytes);
        fwrite(&fault, sizeof fault, 1, stdout);
    }
    return 0;
}
"""
SAMPLES = ("-DSOLAH_BLOB_MAX_SAMPLES=1024", "-DSOLAH_BLOB_MAX_WINDOW=64")
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *SAMPLES)


def write(blob, folder: Path) -> None:
    """Write the files of a blob."""
    for name, content in blob.files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)


def build(blob, folder: Path, compiler: str, program: str, flags=("-O2",)) -> Path:
    """Compile a program around the runtime of blobs."""
    write(blob, folder)
    (folder / "main.c").write_text(program, encoding="utf-8")
    subprocess.run([compiler, *C99, *flags, "main.c", "-o", "m"], cwd=folder, check=True)
    return folder / "m"


def run(program: Path, blobs, n_most: int):
    """Run blobs with their prepared rows one after the other; yield what each answers, or None."""
    sent = b"".join(
        struct.pack("<III", len(data), *rows.shape) + data + rows.astype("<i4").tobytes()
        for data, rows in blobs
    )
    answers = subprocess.run([program], input=sent, capture_output=True, check=True).stdout
    at = 0
    for data, rows in blobs:
        fault = struct.unpack_from("<i", answers, at)[0]
        at += 4
        if fault:
            yield None
            continue
        kind = np.dtype(
            [
                ("decision", "<i4"),
                ("estimate", "<i4"),
                ("belief", "<u2", (data[32],)),
                ("reasons", [("rule", "<i4"), ("amount", "<i4")], (n_most,)),
                *(
                    ("settled", "<i4"),
                    ("judged", "<i4"),
                    ("abstain_reasons", "u1"),
                    ("n_unseen", "u1"),
                ),
                ("smoothed", "<u2", (data[32],)),
            ]
        )
        yield np.frombuffer(answers, kind, len(rows), at)
        at += kind.itemsize * len(rows)


def reasons_of(answers):
    """List the reasons of every row, as the simulator does."""
    return [[reason for reason in line if reason[0] >= 0] for line in answers["reasons"].tolist()]


def attack(program: Path, blobs, timeout: float = 60.0):
    """Open blobs in one process; return the code of each."""
    sent = b"".join(struct.pack("<I", len(data)) + data for data in blobs)
    done = subprocess.run([program], input=sent, capture_output=True, timeout=timeout)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    codes = np.frombuffer(done.stdout, "<i4")
    assert len(codes) == len(blobs)
    return codes


def check_refused(blob, program, cases):
    """Assert that C and Python refuse bytes: cases are (bytes, code of C, what Python says)."""
    data, codes, said = zip(*cases, strict=True)
    assert attack(program, data).tolist() == list(codes)
    module = module_of(blob.files["solah_blob.py"])
    for one, words in zip(data, said, strict=True):
        with pytest.raises(ValueError, match=words):
            module["load"](one)


# --- damage ----------------------------------------------------------------------------------


def summed(data):
    """Write the size and the checksum that bytes should have."""
    data = bytearray(data)
    data[8:12] = struct.pack("<I", len(data))
    data[12:16] = struct.pack("<I", zlib.crc32(data[16:]))
    return bytes(data)


def count_of(data, section):
    """Return how many lines a section has."""
    return struct.unpack_from("<H", data, 38 + 4 * SECTIONS.index(section))[0]


def place_of(data, section):
    """Return the byte at which a section begins."""
    return 4 * struct.unpack_from("<H", data, 36 + 4 * SECTIONS.index(section))[0]


def patched(data, section, at, layout, value):
    """Write a value into a section, and the checksum that it should have."""
    changed = bytearray(data)
    struct.pack_into(f"<{layout}", changed, place_of(data, section) + at, value)
    return summed(changed)


def counted(data, section, count):
    """Say that a section has so many lines."""
    changed = bytearray(data)
    struct.pack_into("<H", changed, 38 + 4 * SECTIONS.index(section), count)
    return summed(changed)


def flips(data):
    """Give all bytes that differ in one bit."""
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)


TELLING = (0, 1, 2, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF)


def mutated(rng, data):
    """Damage a blob in one to three ways, and sum it anew."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        MUTATIONS[rng.integers(len(MUTATIONS))](rng, data)
    return summed(data) if len(data) >= 16 else bytes(data)


def _set_byte(rng, data):
    data[rng.integers(16, len(data))] = rng.integers(256)


def _set_word(rng, data):
    at = 2 * int(rng.integers(12, (len(data) - 2) // 2))
    struct.pack_into("<H", data, at, int(rng.choice(TELLING)))


def _nudge_word(rng, data):
    at = 2 * int(rng.integers(12, (len(data) - 2) // 2))
    number = struct.unpack_from("<H", data, at)[0] + int(rng.choice((-2, -1, 1, 2)))
    struct.pack_into("<H", data, at, number % 65536)


def _set_number(rng, data):
    at = 4 * int(rng.integers(6, (len(data) - 4) // 4))
    struct.pack_into("<I", data, at, int(rng.integers(2**32)))


def _move_section(rng, data):
    entry = 36 + 4 * int(rng.integers(len(SECTIONS)))
    struct.pack_into("<H", data, entry, int(rng.integers(len(data) // 4 + 2)))


def _resize_section(rng, data):
    entry = 38 + 4 * int(rng.integers(len(SECTIONS)))
    count = struct.unpack_from("<H", data, entry)[0] + int(rng.integers(-3, 4))
    struct.pack_into("<H", data, entry, count % 65536)


def _swap_sections(rng, data):
    one, other = (36 + 4 * int(place) for place in rng.choice(len(SECTIONS), 2, replace=False))
    data[one : one + 4], data[other : other + 4] = data[other : other + 4], data[one : one + 4]


def _copy_bytes(rng, data):
    n = int(rng.integers(1, 32))
    source, platform = (int(at) for at in rng.integers(24, len(data) - n, 2))
    data[platform : platform + n] = data[source : source + n]


def _cut(rng, data):
    del data[max(len(data) - int(rng.integers(1, 40)), 160) :]


MUTATIONS = (
    *(_set_byte, _set_word, _nudge_word, _nudge_word, _set_number),
    *(_move_section, _resize_section, _swap_sections, _copy_bytes, _cut),
)
