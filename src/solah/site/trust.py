"""Read the public keys that may sign plans; a signature is checked before any parsing.

A file is a public key in PEM, or has one key per line: what is between the first and the last
line of such a PEM file, and behind it, if need be, ``not-after=2027-12-31`` or ``revoked``.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, require, shorten
from solah.keys import load_public_key
from solah.site.bundle import BundleError, part_signature

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from solah.site.bundle import Bundle

MOST_KEYS = 16
_MOST_BYTES = 64 * 1024
_NOT_AFTER = "not-after="
_REVOKED = "revoked"


@dataclass(frozen=True)
class TrustedKey:
    """A public key, and how long it is trusted.

    Attributes
    ----------
    key : an Ed25519 public key
    not_after : the last day, in UTC, on which it is trusted; None for no end
    is_revoked : whether it is not trusted any more, whatever another file has
    owner : whose it is: the comment behind it, or the name of its file
    """

    key: Any
    not_after: date | None = None
    is_revoked: bool = False
    owner: str = ""

    def check(self, today: date) -> None:
        """Refuse what this key signed if it is not trusted any more."""
        if self.is_revoked:
            raise BundleError("the plan is signed with a key that was revoked")
        if self.not_after is not None and today > self.not_after:
            raise BundleError(
                f"the plan is signed with a key that was trusted until {self.not_after}; sign it "
                "again with a newer one"
            )


class Trust:
    """Who may sign plans.

    Parameters
    ----------
    keys : iterable of TrustedKey
        A key may be there several times: then the strictest holds.
    """

    def __init__(self, keys: Iterable[TrustedKey]) -> None:
        self._keys: dict[bytes, TrustedKey] = {}
        for one in keys:
            raw = one.key.public_bytes_raw()
            self._keys[raw] = _strictest(self._keys.get(raw, one), one)
        if not 1 <= len(self._keys) <= MOST_KEYS:
            raise ParameterError(
                f"from 1 to {MOST_KEYS} keys can be trusted. Got {len(self._keys)} instead."
            )

    def check(self, data: bytes, today: date | None = None) -> None:
        """Refuse a plan document that nobody who is trusted has signed; it is not parsed.

        Parameters
        ----------
        data : bytes
            The document.
        today : date, default=None
            In UTC; None asks the clock.

        Raises
        ------
        BundleError
        """
        signer = self.signer(data)
        if signer is None:
            raise BundleError("the plan's signature is not that of who is trusted here")
        signer.check(today or datetime.now(UTC).date())

    def signer(self, data: bytes) -> TrustedKey | None:
        """Return the key that signed a plan document, trusted still or not; None for another."""
        exceptions = require("cryptography.exceptions", "site", "signing plans")
        signed, signature = part_signature(data)
        for one in self._keys.values():
            try:
                one.key.verify(signature, signed)
            except exceptions.InvalidSignature:
                continue
            return one
        return None


def load_trust(paths: Iterable[str | os.PathLike[str]]) -> Trust:
    """Read public keys from files.

    Parameters
    ----------
    paths : iterable of path
        Each a key in PEM, or a file with one key per line.
    """
    return Trust(key for path in paths for key in _load_keys(Path(path)))


def refuse_older(bundle: Bundle, newest: Bundle) -> None:
    """Refuse a signed plan that was signed before the one in use.

    Raises
    ------
    BundleError
    """
    if bundle.counter < newest.counter:
        raise BundleError(
            f"the plan is older than the one in use (its counter is {bundle.counter}, "
            f"{newest.counter} is in use); sign it again to bring it back, or use --allow-rollback"
        )
    is_same = (bundle.hash, bundle.starts) == (newest.hash, newest.starts)
    if bundle.counter == newest.counter and not is_same:
        raise BundleError(
            f"another plan with the counter {bundle.counter} is in use; sign this one again"
        )


def _strictest(one: TrustedKey, other: TrustedKey) -> TrustedKey:
    ends = [key.not_after for key in (one, other) if key.not_after is not None]
    return TrustedKey(
        one.key, min(ends, default=None), one.is_revoked or other.is_revoked, one.owner
    )


def _load_keys(path: Path) -> Iterator[TrustedKey]:
    if path.stat().st_size > _MOST_BYTES:
        raise ParameterError(f"{path} is too large for a file of keys")
    content = path.read_bytes()
    if b"-----BEGIN" in content:
        yield TrustedKey(load_public_key(path), owner=path.name.partition(".")[0])
        return
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        text, _, comment = line.partition("#")
        if words := text.split():
            key = _read_line(words, f"{path}, line {number}")
            yield replace(key, owner=comment.strip() or f"{path.name}, line {number}")


def _read_line(words: list[str], place: str) -> TrustedKey:
    text, *rest = words
    not_after, is_revoked = None, False
    for word in rest:
        if word == _REVOKED:
            is_revoked = True
        elif word.startswith(_NOT_AFTER):
            not_after = _read_date(word.removeprefix(_NOT_AFTER), place)
        else:
            raise ParameterError(
                f"{place}: after a key there may be {_NOT_AFTER}2027-12-31 and {_REVOKED}. "
                f"Got {shorten(word)} instead."
            )
    return TrustedKey(_read_key(text, place), not_after, is_revoked)


def _read_date(text: str, place: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            f"{place}: a day is written 2027-12-31. Got {shorten(text)} instead."
        ) from None


def _read_key(text: str, place: str) -> Any:
    serialization = require("cryptography.hazmat.primitives.serialization", "site", "signing plans")
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", "site", "signing plans")
    exceptions = require("cryptography.exceptions", "site", "signing plans")
    try:
        key = serialization.load_der_public_key(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, exceptions.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise ParameterError(
            f"{place}: a line begins with an Ed25519 public key, as in a .pub.pem file. "
            f"Got {shorten(text)} instead."
        )
    return key
