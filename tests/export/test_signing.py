"""Signed blobs: a device opens what was signed, as it was signed, by whom, and nothing older."""

import struct
import subprocess

import numpy as np
import pytest
from c_programs import C99, CPP11

from random_models import random_model
from solah.atomic import write_all
from solah.exceptions import KeyFileError, ParameterError
from solah.export import SignatureError, export_blob, open_signed, self_test, sign_blob
from solah.keys import make_keys

COUNTER = 2**40 + 5
HEAD, TAIL = 20, 64
# Monocypher's interface over libsodium, which systems have in their packages.
MONOCYPHER = """
#include <stddef.h>
#include <stdint.h>
#include <sodium.h>
static inline int crypto_ed25519_check(const uint8_t signature[64], const uint8_t public_key[32],
                                       const uint8_t *message, size_t message_size)
{
    return crypto_sign_verify_detached(signature, message, message_size, public_key);
}
"""
# Opens what comes through stdin: prints the fault, the class of an unknown row, and the counter.
OPEN = """
#include "m_key.h"
#include "solah_signed.h"
#include "m_inputs.h"
#include <stdio.h>
#include <stdlib.h>

int main(int n, char **words)
{
    static uint32_t slot[20000];
    static solah_blob blob;
    const uint64_t least = n > 1 ? strtoull(words[1], NULL, 10) : 0u;
    const size_t size = fread(slot, 1, sizeof slot, stdin);
    /* Beside what there is, so that whatever is read too far is noticed. */
    uint8_t *bytes = (uint8_t *)malloc(size > 0 ? size : 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = ((uint8_t *)slot)[i];
    }
    const int fault = solah_blob_open_signed(&blob, bytes, size, M_INPUTS, m_public_key, least);
    const int32_t readings[255] = {0};
    uint16_t belief[SOLAH_BLOB_MAX_CLASSES];
    const int decision = solah_blob_decide(&blob, readings, belief);
    printf("%d %d %s\\n", fault, decision, solah_signed_fault(fault));
    if (fault == SOLAH_BLOB_OK) {
        printf("%llu\\n", (unsigned long long)solah_blob_counter(bytes));
    }
    free(bytes);
    return 0;
}
"""
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys") / "maker")


@pytest.fixture(scope="module")
def other_keys(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys") / "stranger")


@pytest.fixture(scope="module")
def model():
    return random_model(np.random.default_rng(2), "words", 3)


@pytest.fixture(scope="module")
def signed(model, keys):
    return sign_blob(export_blob(model, name="m"), keys[0], COUNTER)


@pytest.fixture(scope="module")
def device(signed, tmp_path_factory, find_tool, find_header):
    """Return a function that opens bytes as a device does: what came out, or "" for a fault."""
    find_header("sodium.h")
    folder = tmp_path_factory.mktemp("device")
    write_all(folder, {**signed.files, "monocypher-ed25519.h": MONOCYPHER, "main.c": OPEN})
    command = [find_tool("cc"), *C99, *SANITIZERS, "main.c", "-lsodium", "-o", "device"]
    subprocess.run(command, cwd=folder, check=True)

    def opened(data, least=0):
        command = [folder / "device", str(least)]
        done = subprocess.run(command, input=data, capture_output=True, check=True)
        return done.stdout.decode()

    return opened


def test_what_was_signed_is_opened(device, signed, keys, model):
    opened = device(signed.data, COUNTER)
    assert opened.startswith("0 ")
    assert opened.endswith(f"{COUNTER}\n")
    assert device(signed.data + b"\xff" * 100, COUNTER) == opened
    plain = export_blob(model, name="m").data
    assert open_signed(signed.data, keys[1], COUNTER) == (plain, COUNTER)
    assert open_signed(signed.data + b"rest", keys[1]) == (plain, COUNTER)


FAULTS = {
    "signed by somebody else": "changed, or signed with another key",
    "signed twice": "changed, or signed with another key",
    "not signed": "not a signed blob of solah",
    "nothing": "cut short",
    "another version": "version",
    "too long": "cut short",
}


def broken(kind, signed, other_keys, model):
    blob = export_blob(model, name="m")
    if kind == "signed by somebody else":
        return sign_blob(blob, other_keys[0], COUNTER).data
    if kind == "signed twice":  # the signature of another blob
        return signed.data[:-TAIL] + sign_blob(blob, other_keys[0], COUNTER).data[-TAIL:]
    if kind == "too long":
        return signed.data[:16] + struct.pack("<I", 2**32 - 1) + signed.data[HEAD:]
    if kind == "another version":
        return signed.data[:4] + b"\x02" + signed.data[5:]
    return {"not signed": blob.data, "nothing": b""}[kind]


@pytest.mark.parametrize(("kind", "said"), FAULTS.items())
def test_what_is_wrong_is_refused_and_said(kind, said, device, signed, keys, other_keys, model):
    data = broken(kind, signed, other_keys, model)
    fault, decision, text = device(data).split(" ", 2)
    assert int(fault) > 0
    assert decision == "-1"
    assert said in text
    with pytest.raises(SignatureError, match=said):
        open_signed(data, keys[1])


def test_no_bit_can_be_flipped(device, signed, keys):
    rng = np.random.default_rng(0)
    n_bits = 8 * len(signed.data)
    everywhere = [*range(8 * HEAD), *rng.integers(0, n_bits, 40), *range(n_bits - 16, n_bits)]
    for bit in everywhere:
        data = bytearray(signed.data)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SignatureError):
            open_signed(bytes(data), keys[1])
        if bit % 5 == 0:
            assert not device(bytes(data)).startswith("0 ")


def test_no_byte_can_be_missing(device, signed, keys):
    for n_bytes in (1, 4, HEAD, HEAD + TAIL - 1, HEAD + TAIL, len(signed.data) // 2):
        for data in (signed.data[:n_bytes], signed.data[:-n_bytes]):
            assert not device(data).startswith("0 ")
            with pytest.raises(SignatureError):
                open_signed(data, keys[1])


def test_nothing_older_is_opened(device, signed, keys, model):
    blob = export_blob(model, name="m")
    for counter in (0, COUNTER - 1):
        older = sign_blob(blob, keys[0], counter)
        assert device(older.data, counter).startswith("0 ")
        assert "older" in device(older.data, COUNTER)
        with pytest.raises(SignatureError, match=f"counter is {counter}, and {COUNTER} the least"):
            open_signed(older.data, keys[1], COUNTER)
    newest = sign_blob(blob, keys[0], 2**64 - 1)
    assert device(newest.data, COUNTER).startswith("0 ")


def test_counters_grow_by_themselves(model, keys, monkeypatch):
    blob = export_blob(model, name="m")
    counters = []
    for now in (1_000_000_000, 2_000_000_000):
        monkeypatch.setattr("solah.export.signing.time.time_ns", lambda now=now: now)
        counters.append(sign_blob(blob, keys[0]).counter)
    assert counters == [1_000, 2_000]


@pytest.mark.parametrize("counter", [-1, 2**64])
def test_a_counter_that_is_none_is_refused(model, keys, counter):
    with pytest.raises(ParameterError, match=r"\(--counter\)"):
        sign_blob(export_blob(model, name="m"), keys[0], counter)


def test_a_blob_is_signed_once_and_by_a_private_key(model, signed, keys):
    with pytest.raises(ParameterError, match="signed already"):
        sign_blob(signed, keys[0])
    with pytest.raises(KeyFileError, match="has no readable key"):
        sign_blob(export_blob(model, name="m"), keys[1])


def test_without_an_implementation_nothing_is_built(signed, tmp_path, find_tool):
    write_all(tmp_path, {**signed.files, "main.c": OPEN})
    command = [find_tool("cc"), "-std=c99", "-fsyntax-only", "main.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "#error" in done.stderr
    assert "signed blobs need Monocypher (https://monocypher.org)" in done.stderr
    own = "-DSOLAH_ED25519_CHECK(s,k,m,n)=((void)(s),(void)(k),(void)(m),(int)((n)==0u))"
    subprocess.run([*command, own], cwd=tmp_path, check=True)
    subprocess.run(
        [find_tool("c++"), *CPP11, "-fsyntax-only", own, "main.c"], cwd=tmp_path, check=True
    )


def test_a_signed_blob_carries_its_test(signed, model, tmp_path, find_tool, find_header):
    find_header("sodium.h")
    files = {**signed.files, **self_test(model, signed), "monocypher-ed25519.h": MONOCYPHER}
    assert "solah_blob.py" not in files
    write_all(tmp_path, files)
    command = [find_tool("cc"), *C99, "-DSOLAH_TEST_MAIN", "m_test.c", "-lsodium", "-o", "test"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, check=True, text=True)
    assert done.stdout == "m: all of 8 rows are decided as in Python\n"
