"""Sign blobs, so that a device opens only those of whoever holds a key, and none that is older.

An envelope is around the whole blob: a header with a counter, the bytes of the blob, and an
Ed25519 signature over both. ``c_runtime/solah_signed.h`` opens it.
"""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, SolahError, require
from solah.export.c_writer import runtime_text, source_environment
from solah.keys import load_private_key, load_public_key

if TYPE_CHECKING:
    import os

    from solah.export.blob import Blob

MAGIC = b"SLHS"
VERSION = 1
_HEAD = struct.Struct("<4sHHQI")
_SIGNATURE_BYTES = 64
_MOST_COUNTER = 2**64 - 1


class SignatureError(SolahError, ValueError):
    """A signed blob is broken, older than asked for, or signed by somebody else."""


def sign_blob(blob: Blob, key_file: str | os.PathLike[str], counter: int | None = None) -> Blob:
    """Sign a blob.

    Parameters
    ----------
    blob : Blob
    key_file : path
        An Ed25519 private key in PEM, as ``--new-key`` of ``solah site plan`` and ``solah export``
        make it; only its owner may read it.
    counter : int, default=None
        Larger than those of all blobs that were signed for the device before, which refuses lower
        ones; by default the milliseconds since 1970.

    Returns
    -------
    blob : Blob
        With the envelope as its bytes, and what opens it among its files: ``solah_signed.h`` and
        the public key as C.
    """
    if blob.public_key:
        raise ParameterError(f"the blob {blob.name!r} is signed already")
    counter = time.time_ns() // 1_000_000 if counter is None else counter
    if not 0 <= counter <= _MOST_COUNTER:
        raise ParameterError(f"a counter is from 0 to 2^64 - 1 (--counter). Got {counter} instead.")
    key = load_private_key(key_file)
    signed = _HEAD.pack(MAGIC, VERSION, 0, counter, len(blob.data)) + blob.data
    data = signed + key.sign(signed)
    public = key.public_key().public_bytes_raw()
    header = source_environment().get_template("key.h.j2")
    # A board with MicroPython has nothing to check signatures with.
    kept = {name: text for name, text in blob.files.items() if name != "solah_blob.py"}
    files = {
        **kept,
        f"{blob.name}.bin": data,
        f"{blob.name}_key.h": header.render(name=blob.name, NAME=blob.name.upper(), key=public),
        "solah_signed.h": runtime_text("solah_signed.h"),
    }
    return replace(blob, data=data, files=files, public_key=public, counter=counter)


def open_signed(
    data: bytes, key_file: str | os.PathLike[str], least_counter: int = 0
) -> tuple[bytes, int]:
    """Check a signed blob, as a device does.

    Parameters
    ----------
    data : bytes
        The envelope; bytes after it are ignored, such as the rest of a slot in flash.
    key_file : path
        An Ed25519 public key in PEM.
    least_counter : int, default=0
        That of the newest blob that was opened before.

    Returns
    -------
    blob : bytes
        What was signed.
    counter : int
        To be kept, as the next least counter.

    Raises
    ------
    SignatureError
    """
    exceptions = require("cryptography.exceptions", "site", "signing")
    key = load_public_key(key_file)
    if len(data) < _HEAD.size + _SIGNATURE_BYTES:
        raise SignatureError("the signed blob is cut short, or there is none")
    magic, version, nothing, counter, size = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise SignatureError("these bytes are not a signed blob of solah")
    if version != VERSION or nothing != 0:
        raise SignatureError("the signed blob has a version that this solah does not read")
    end = _HEAD.size + size
    if end + _SIGNATURE_BYTES > len(data):
        raise SignatureError("the signed blob is cut short, or there is none")
    try:
        key.verify(data[end : end + _SIGNATURE_BYTES], data[:end])
    except exceptions.InvalidSignature:
        raise SignatureError(
            "the blob was changed, or signed with another key than the one that is trusted here"
        ) from None
    if counter < least_counter:
        raise SignatureError(
            f"the blob is older than one that was opened before: its counter is {counter}, and "
            f"{least_counter} the least"
        )
    return data[_HEAD.size : end], counter
