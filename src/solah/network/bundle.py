"""A plan with its model in, one document out that nodes start from, and back; checked throughout.

The document goes into a file and, kept by the broker, to every node. What it is worth trusting is
said by an Ed25519 signature, where nodes were told whose to trust.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.exceptions import ParameterError, SolahError, require, shorten
from solah.model.format import MAX_BYTES, from_json, to_json
from solah.network.messages import MAX_SEQUENCE, MessageError, parse_json, shown
from solah.network.plan import Plan, check_name, plan_of_homes

if TYPE_CHECKING:
    import os

    from solah.model.document import Model

FORMAT = "solah-plan"
VERSION = 1
_KEYS = {"format", "version", "site", "from", "nodes", "model"}
_SIGNATURE_BYTES = 64


class BundleError(SolahError, ValueError):
    """A plan document is broken, or not to be trusted."""


@dataclass(frozen=True)
class Bundle:
    """A plan and its model.

    Attributes
    ----------
    plan : which node runs what
    model : what they run
    starts : the first sequence number that is decided with it
    signature : of all that, by who made it; empty where there is none
    """

    plan: Plan
    model: Model
    starts: int = 0
    signature: bytes = b""

    @cached_property
    def hash(self) -> str:
        """Names plan and model, whenever they start."""
        return sha256(_canonical(self._plain() | {"from": 0})).hexdigest()[:16]

    def to_bytes(self) -> bytes:
        """Write the document."""
        plain = self._plain()
        if self.signature:
            plain["signature"] = base64.b64encode(self.signature).decode()
        return (json.dumps(plain, ensure_ascii=False) + "\n").encode()

    def starting_at(self, sequence: int) -> Bundle:
        """Return the same for rows from a sequence number on, without a signature."""
        return replace(self, starts=sequence, signature=b"")

    def signed(self, key_file: str | os.PathLike[str]) -> Bundle:
        """Sign with an Ed25519 private key in a PEM file."""
        key = _load_key(key_file, private=True)
        return replace(self, signature=key.sign(_canonical(self._plain())))

    def check_signature(self, key: Any) -> None:
        """Refuse a bundle that the owner of this public key did not sign."""
        if not self.signature:
            raise BundleError("the plan is not signed, and only signed ones are trusted here")
        exceptions = require("cryptography.exceptions", "mqtt", "signed plans")
        try:
            key.verify(self.signature, _canonical(self._plain()))
        except exceptions.InvalidSignature:
            raise BundleError("the plan's signature is not that of who is trusted here") from None

    def _plain(self) -> dict[str, Any]:
        nodes = [
            {
                "name": node.name,
                "runs": list(node.runs),
                "reads": list(node.reads),
                "hears": dict(node.hears),
                "sends": list(node.sends),
            }
            for node in self.plan.nodes
        ]
        return {
            "format": FORMAT,
            "version": VERSION,
            "site": self.plan.site,
            "from": self.starts,
            "nodes": nodes,
            "model": json.loads(to_json(self.model)),
        }


def make_keys(stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Make an Ed25519 key pair for signing plans.

    Parameters
    ----------
    stem : str or path
        What the files are called: ``stem.pem`` gets the private key, which only its owner may read,
        and ``stem.pub.pem`` the public one, for the nodes. Neither may be there.

    Returns
    -------
    private, public : Path
    """
    serialization = require("cryptography.hazmat.primitives.serialization", "mqtt", "signed plans")
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", "mqtt", "signed plans")
    private, public = Path(f"{stem}.pem"), Path(f"{stem}.pub.pem")
    for path in (private, public):
        if path.exists():
            raise ParameterError(f"{path} is there already, and a key is not replaced")
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


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write the document, whole or not at all."""
    write_whole(path, bundle.to_bytes())


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read a plan from a file; the error of a broken one names the file."""
    place = Path(path)
    if place.stat().st_size > MAX_BYTES:
        raise BundleError(f"{path} is too large for a plan")
    try:
        return read_bundle(place.read_bytes())
    except SolahError as error:
        raise BundleError(f"{path}: {error}") from None


def read_bundle(data: bytes) -> Bundle:
    """Read a plan from a document, and check all of it.

    Raises
    ------
    BundleError
        The document is not a plan, or its parts do not fit together.
    """
    if len(data) > MAX_BYTES:
        raise BundleError(f"the document has {len(data)} bytes, more than a plan may have")
    try:
        return _read_document(_parse(data))
    except RecursionError:
        raise BundleError("the document is nested too deeply for a plan") from None


def _parse(data: bytes) -> Any:
    try:
        return parse_json(data)
    except MessageError as error:
        raise BundleError(f"the document is no plan: {error}") from None
    except ValueError:
        raise BundleError("the document is not JSON") from None


def _read_document(plain: Any) -> Bundle:
    if not isinstance(plain, dict) or plain.keys() - {"signature"} != _KEYS:
        raise BundleError(f"a plan must be an object with {', '.join(sorted(_KEYS))}")
    if plain["format"] != FORMAT or plain["version"] != VERSION:
        raise BundleError(f"the document is not a plan of version {VERSION}")
    starts = plain["from"]
    if isinstance(starts, bool) or not isinstance(starts, int) or not 0 <= starts <= MAX_SEQUENCE:
        raise BundleError(f"'from' must be a whole number from 0. Got {shown(starts)} instead.")
    model = from_json(json.dumps(plain["model"]).encode())
    bundle = Bundle(_read_plan(plain, model), model, starts, _read_signature(plain))
    if bundle._plain()["nodes"] != plain["nodes"]:
        raise BundleError("'nodes' do not fit the model; make the plan anew")
    return bundle


def _read_plan(plain: dict[str, Any], model: Model) -> Plan:
    """Read who runs what; the rest of the plan follows from that and the model."""
    home: dict[str, str] = {}
    nodes = plain["nodes"]
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise BundleError("'nodes' must be a list of objects")
    for node in nodes:
        name, runs = node.get("name"), node.get("runs")
        if not isinstance(runs, list) or not all(isinstance(part, str) for part in runs):
            raise BundleError(f"'runs' of {shown(name)} must be a list of names")
        for part in runs:
            if part in home:
                raise BundleError(f"{shorten(part)} is run twice")
            home[part] = check_name(name)
    known = {node.name for node in model.nodes}
    if home.keys() != known:
        strange = min(home.keys() ^ known)
        raise BundleError(f"{shorten(strange)} is in the plan or in the model, but not in both")
    return plan_of_homes(model, home, check_name(plain["site"]))


def _read_signature(plain: dict[str, Any]) -> bytes:
    text = plain.get("signature", "")
    try:
        signature = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise BundleError("'signature' must be base64") from None
    if signature and len(signature) != _SIGNATURE_BYTES:
        raise BundleError(f"'signature' must have {_SIGNATURE_BYTES} bytes")
    return signature


def _canonical(plain: dict[str, Any]) -> bytes:
    """Write what is hashed and signed: keys in order, nothing between."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def _load_key(path: str | os.PathLike[str], *, private: bool) -> Any:
    serialization = require("cryptography.hazmat.primitives.serialization", "mqtt", "signed plans")
    ed25519 = require("cryptography.hazmat.primitives.asymmetric.ed25519", "mqtt", "signed plans")
    pem = Path(path).read_bytes()
    try:
        if private:
            key = serialization.load_pem_private_key(pem, password=None)
        else:
            key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError) as error:
        raise BundleError(f"{path} has no key that can be read: {error}") from None
    kind = ed25519.Ed25519PrivateKey if private else ed25519.Ed25519PublicKey
    if not isinstance(key, kind):
        raise BundleError(f"{path} has a key of another kind; an Ed25519 key is needed")
    return key
