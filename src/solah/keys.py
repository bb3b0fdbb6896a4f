"""Make and read the Ed25519 keys that plans and blobs are signed with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from solah.atomic import write_whole
from solah.exceptions import KeyFileError, ParameterError, require

_PURPOSE = "signing"
_OF_OTHERS = 0o077  # the rights of group and world in a file's mode


def key_files(stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return where :func:`make_keys` writes the private and the public key."""
    return Path(f"{stem}.pem"), Path(f"{stem}.pub.pem")


def make_keys(stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Make an Ed25519 key pair for signing plans and blobs.

    Parameters
    ----------
    stem : str or path
        ``stem.pem`` gets the private key, which only its owner may read, and ``stem.pub.pem`` the
        public one, for those who verify. Neither file may exist.

    Returns
    -------
    private, public : Path
    """
    serialization = require("cryptography.hazmat.primitives.serialization", "site", _PURPOSE)
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", "site", _PURPOSE)
    private, public = key_files(stem)
    for path in (private, public):
        if path.exists():
            raise ParameterError(f"{path} exists and is never overwritten; choose another name")
    key = ed25519.Ed25519PrivateKey.generate()
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private.touch(mode=0o600, exist_ok=False)  # what replaces it keeps the mode
    write_whole(private, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    write_whole(public, key.public_key().public_bytes(pem, spki))
    return private, public


def load_public_key(path: str | os.PathLike[str]) -> Any:
    """Read an Ed25519 public key from a PEM file."""
    return _load_key(path, private=False)


def load_private_key(path: str | os.PathLike[str]) -> Any:
    """Read an Ed25519 private key from a PEM file, which only its owner may read."""
    return _load_key(path, private=True)


def _load_key(path: str | os.PathLike[str], *, private: bool) -> Any:
    serialization = require("cryptography.hazmat.primitives.serialization", "site", _PURPOSE)
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", "site", _PURPOSE)
    pem = Path(path).read_bytes()
    try:
        if private:
            key = serialization.load_pem_private_key(pem, password=None)
        else:
            key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError) as error:
        raise KeyFileError(f"{path} has no readable key: {error}") from None
    kind = ed25519.Ed25519PrivateKey if private else ed25519.Ed25519PublicKey
    if not isinstance(key, kind):
        raise KeyFileError(f"{path} must have an Ed25519 key; it has a key of another type")
    if private:
        _refuse_readable(path)
    return key


def _refuse_readable(path: str | os.PathLike[str]) -> None:
    """Refuse a private key that others may read, on systems with such rights."""
    if os.name == "posix" and Path(path).stat().st_mode & _OF_OTHERS:
        raise KeyFileError(
            f"other users can read {path}, and could sign with it; restrict it: chmod 600 {path}"
        )
