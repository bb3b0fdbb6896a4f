"""The public keys that may sign plans; a signature is checked before any parsing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.exceptions import require
from solah.keys import load_public_key
from solah.site.bundle import BundleError, part_signature

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from solah.site.bundle import Bundle


class Trust:
    """Who may sign plans.

    Parameters
    ----------
    keys : sequence of tuple
        Owners, and their Ed25519 public keys.
    """

    def __init__(self, keys: Sequence[tuple[str, Any]]) -> None:
        self._keys = keys

    def check(self, data: bytes) -> None:
        """Refuse a plan document without a trusted signature; it is not parsed.

        Raises
        ------
        BundleError
        """
        if self.signer(data) is None:
            raise BundleError("the plan is signed with an untrusted key")

    def signer(self, data: bytes) -> str | None:
        """Return the owner of the key that signed a plan document; None for another."""
        exceptions = require("cryptography.exceptions", "site", "signing plans")
        signed, signature = part_signature(data)
        for owner, key in self._keys:
            try:
                key.verify(signature, signed)
            except exceptions.InvalidSignature:
                continue
            return owner
        return None


def load_trust(paths: Iterable[str | os.PathLike[str]]) -> Trust:
    """Read public keys from PEM files, whose names are those of their owners.

    A key is revoked by dropping its file.
    """
    return Trust([(Path(path).name.partition(".")[0], load_public_key(path)) for path in paths])


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
