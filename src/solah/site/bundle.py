"""Write a plan and its model as one bundle for all nodes, and read it with checks.

The bundle goes into a file and, as a retained message, to every node. An Ed25519 signature
identifies its author. It is at the end and over all bytes before it, so that it is checked before
anything is parsed (:mod:`solah.site.trust`).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser, Reader
from solah.exceptions import ModelFormatError, ParameterError, SolahError, shorten
from solah.keys import load_private_key
from solah.model.format import MAX_BYTES, read_model, to_json
from solah.site.messages import MAX_SEQUENCE
from solah.site.plan import Plan, check_name, plan_of_homes, with_sending
from solah.site.send_on_change import Sending

if TYPE_CHECKING:
    import os

    from solah.model.document import Model
    from solah.site.trust import Trust

FORMAT = "solah-plan"
VERSION = 1
_KEYS = ("format", "version", "site", "from", "nodes", "model")
_OF_SIGNED = ("counter", "role", "signature")
_SHADOW = "shadow"
_OF_CHANGE = ("sending",)
_KEYS_OF_SENDING = ("slack", "unit", "keep_alive")
_KEYS_OF_NODE = ("name", "runs", "reads", "hears", "sends")
_SIGNATURE_BYTES = 64
_MOST_SECONDS = 1e9
_END = b"}\n"
_SIGNED_END = re.compile(rb', "signature": "([A-Za-z0-9+/]{86}==)"\}\n\Z')
_SIGNED_END_BYTES = 110  # and a little more


class BundleError(SolahError, ValueError):
    """A plan document is broken, or not to be trusted."""


_PARSER = JsonParser("the plan", BundleError, MAX_BYTES)


@dataclass(frozen=True)
class Bundle:
    """A plan and its model.

    Attributes
    ----------
    plan : which node runs what
    model : what they run
    starts : the first sequence number that is decided with it
    signature : over all that, by the maker; empty where there is none
    counter : grows from one signed plan to the next, so that an older one is known; 0 for none
    is_shadow : whether its decisions are only compared with those of the plan in use
    """

    plan: Plan
    model: Model
    starts: int = 0
    signature: bytes = b""
    counter: int = 0
    is_shadow: bool = False

    @cached_property
    def hash(self) -> str:
        """Names plan and model, no matter for which rows, what for, and who signed them."""
        plain = {key: part for key, part in self._plain().items() if key not in _OF_SIGNED}
        plain["from"] = 0
        return sha256(_canonical(plain)).hexdigest()[:16]

    def to_bytes(self) -> bytes:
        """Write the document."""
        plain = self._plain()
        if self.signature:
            plain["signature"] = base64.b64encode(self.signature).decode()
        return json.dumps(plain, ensure_ascii=False).encode() + b"\n"

    def starting_at(self, sequence: int) -> Bundle:
        """Return the same for rows from a sequence number on, without a signature.

        Raises
        ------
        ParameterError
            No row has such a number.
        """
        if not 0 <= sequence <= MAX_SEQUENCE:
            raise ParameterError(
                f"a plan decides from a row on, whose number is from 0 to {MAX_SEQUENCE:,}. "
                f"Got {shorten(sequence)} instead."
            )
        return replace(self, starts=sequence, signature=b"", counter=0)

    def as_shadow(self) -> Bundle:
        """Return the same to be compared and not acted on, without a signature.

        Its nodes send every row, so that none is dropped of the comparison.
        """
        plan = replace(self.plan, sending=None)
        return replace(self, plan=plan, is_shadow=True, signature=b"", counter=0)

    def to_use(self) -> Bundle:
        """Return the same to be acted on, without a signature."""
        return replace(self, is_shadow=False, signature=b"", counter=0)

    def signed(self, key_file: str | os.PathLike[str], counter: int | None = None) -> Bundle:
        """Sign with an Ed25519 private key in a PEM file.

        Parameters
        ----------
        key_file : path
            Only its owner may read it.
        counter : int, default=None
            Larger than those of all plans that were signed before; by default the milliseconds
            since 1970.
        """
        key = load_private_key(key_file)
        counter = time.time_ns() // 1_000_000 if counter is None else counter
        unsigned = replace(self, signature=b"", counter=counter)
        return replace(unsigned, signature=key.sign(unsigned.to_bytes()))

    def _plain(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "site": self.plan.site,
            "from": self.starts,
            **({"counter": self.counter} if self.counter else {}),
            **({"role": _SHADOW} if self.is_shadow else {}),
            "nodes": _plain_nodes(self.plan),
            **({"sending": vars(self.plan.sending)} if self.plan.sending else {}),
            "model": json.loads(to_json(self.model)),
        }


def _plain_nodes(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "name": node.name,
            "runs": list(node.runs),
            "reads": list(node.reads),
            "hears": dict(node.hears),
            "sends": list(node.sends),
        }
        for node in plan.nodes
    ]


def save_bundle(bundle: Bundle, path: str | os.PathLike[str]) -> None:
    """Write the document, whole or not at all."""
    write_whole(path, bundle.to_bytes())


def load_bundle(path: str | os.PathLike[str], trust: Trust | None = None) -> Bundle:
    """Read a plan from a file, as :func:`read_bundle` does; an error names the file."""
    place = Path(path)
    if place.stat().st_size > MAX_BYTES:
        raise BundleError(f"{path} is too large for a plan")
    try:
        return read_bundle(place.read_bytes(), trust)
    except SolahError as error:
        raise BundleError(f"{path}: {error}") from None


def read_bundle(data: bytes, trust: Trust | None = None) -> Bundle:
    """Read a plan from a document, and check all of it.

    Parameters
    ----------
    data : bytes
    trust : Trust, default=None
        Who must have signed it, which is checked before the document is parsed; None takes
        everyone's.

    Raises
    ------
    BundleError
        The document is not a plan, its parts do not fit together, or it is not to be trusted.
    """
    _PARSER.check_size(data)
    if trust is not None:
        trust.check(data)
    return _read_document(_PARSER.read(data))


def part_signature(data: bytes) -> tuple[bytes, bytes]:
    """Part a document into the bytes that are signed and the signature.

    Raises
    ------
    BundleError
        There is no signature at the document's end.
    """
    end = _SIGNED_END.search(data, max(len(data) - _SIGNED_END_BYTES, 0))
    if end is None:
        raise BundleError("the plan is not signed, and only signed ones are trusted here")
    return data[: end.start()] + _END, base64.b64decode(end[1])


def _read_document(document: Reader) -> Bundle:
    if document.part("format").value != FORMAT or document.part("version").value != VERSION:
        raise BundleError(f"the document is not a plan of version {VERSION}")
    fields = document.record(_KEYS, (*_OF_SIGNED, *_OF_CHANGE))
    model = read_model(Reader(fields["model"].value, "the plan.model", ModelFormatError))
    sending = _read_sending(fields["sending"]) if "sending" in fields else None
    plan = _read_plan(fields["nodes"], model, check_name(fields["site"].value))
    bundle = Bundle(
        plan=with_sending(plan, model, sending),
        model=model,
        starts=fields["from"].integer(0, MAX_SEQUENCE),
        signature=_read_signature(fields["signature"]) if "signature" in fields else b"",
        counter=fields["counter"].integer(0, MAX_SEQUENCE) if "counter" in fields else 0,
        is_shadow=_is_shadow(fields["role"]) if "role" in fields else False,
    )
    if _plain_nodes(bundle.plan) != fields["nodes"].value:
        raise BundleError("'nodes' do not fit the model; make the plan again")
    return bundle


def _is_shadow(role: Reader) -> bool:
    if role.value != _SHADOW:
        raise role.fail(f"{_SHADOW!r}")
    return True


def _read_plan(nodes: Reader, model: Model, site: str) -> Plan:
    """Read which node runs and measures what; the rest follows from that and the model."""
    known = {part.name for part in model.parts}
    home: dict[str, str] = {}
    measured: dict[str, str] = {}
    for node in nodes.items(1, len(known) + len(model.features)):
        fields = node.record(_KEYS_OF_NODE)
        name = check_name(fields["name"].value)
        for part in fields["runs"].texts(0, len(known)):
            if part in home:
                raise BundleError(f"{shorten(part)} is run twice")
            home[part] = name
        for feature in fields["reads"].texts(0, len(model.features)):
            measured[feature] = name
    if home.keys() != known:
        strange = min(home.keys() ^ known)
        raise BundleError(f"{shorten(strange)} is in the plan or in the model, but not in both")
    return plan_of_homes(model, home, site, measured)


def _read_sending(reader: Reader) -> Sending:
    fields = reader.record(_KEYS_OF_SENDING)
    return Sending(**{name: one.number(0.0, _MOST_SECONDS) for name, one in fields.items()})


def _read_signature(reader: Reader) -> bytes:
    try:
        signature = base64.b64decode(reader.value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise reader.fail("base64") from None
    if signature and len(signature) != _SIGNATURE_BYTES:
        raise BundleError(f"{reader.place} must have {_SIGNATURE_BYTES} bytes")
    return signature


def _canonical(plain: dict[str, Any]) -> bytes:
    """Write what is hashed and signed: keys in order, nothing between."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()
