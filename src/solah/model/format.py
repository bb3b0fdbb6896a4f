"""Model files: JSON, written as a whole and read with every value checked.

The format has a version, which ``docs/model-format.md`` says when to raise. Reading runs no code,
and needs memory in proportion to the file (:mod:`solah.data.json_reader`).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version as package_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser
from solah.exceptions import ModelFormatError, ModelVersionError
from solah.model.document import AdditiveNode, Model, Monotonic, Task
from solah.model.feature_format import (
    feature_record,
    read_features,
    read_target,
    target_record,
)
from solah.model.json_fields import read_choice, record_of
from solah.model.monotone import broken_promises
from solah.model.node_format import NodesReader, block, dump, node_text
from solah.model.policy import domain_record, read_domain, read_policy
from solah.model.provenance import provenance_record, read_edits, read_provenance
from solah.model.signals import read_signals, signals_record

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from solah.data.json_reader import Reader
    from solah.model.document import Target

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
MAX_PROMISES = 1_000_000
FIELDS = ("format", "version", "generator", "task", "target", "features", "nodes")
_OPTIONAL = ("provenance", "monotonic", "edits", "signals", "domain", "policy")


# --- files ---------------------------------------------------------------------------------------


def save_document(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file; warn if it is larger than what is read by default."""
    text = to_json(model)
    size = len(text.encode())
    if size > MAX_BYTES:
        warnings.warn(
            f"the model has {size:,} bytes: load_model needs max_bytes={size}; a higher "
            "min_support or a max_depth makes it smaller",
            stacklevel=2,
        )
    write_whole(path, text)


def load_document(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Model:
    """Read a model file; the error of a broken one names the file."""
    place = Path(path)
    with place.open("rb") as file:
        # One byte more than allowed is enough to know: a giant file is never read whole.
        data = file.read(max_bytes + 1)
    try:
        return from_json(data, max_bytes)
    except ModelFormatError as error:
        raise type(error)(f"{place.name}: {error}") from None


def model_hash(model: Model) -> str:
    """Return the first 16 digits of the hash of a model file."""
    return sha256(to_json(model).encode()).hexdigest()[:16]


# --- writing -------------------------------------------------------------------------------------


def to_json(model: Model) -> str:
    """Write a model as JSON, one line per feature and per rule."""
    head: dict[str, Any] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "generator": model.generator or f"solah {package_version('solah')}",
        "task": model.target.task.value,
        "target": target_record(model.target),
    }
    if model.provenance is not None:
        head["provenance"] = provenance_record(model.provenance)
    texts = {key: dump(value) for key, value in head.items()}
    lists = {
        "features": (dump(feature_record(one)) for one in model.features),
        "nodes": (node_text(one, model.target) for one in model.nodes),
        "monotonic": (dump(_promise_record(one, model.target)) for one in model.monotonic),
        "edits": (dump(record_of(one)) for one in model.edits),
    }
    found = ((key, list(lines)) for key, lines in lists.items())
    texts |= {key: block(lines, "    ") for key, lines in found if lines}
    if model.signals is not None:
        texts["signals"] = dump(signals_record(model.signals))
    if model.domain is not None:
        texts["domain"] = dump(domain_record(model.domain))
    if model.policy is not None:
        texts["policy"] = dump(record_of(model.policy))
    return "{\n" + ",\n".join(f'  "{key}": {text}' for key, text in texts.items()) + "\n}\n"


def _promise_record(promise: Monotonic, target: Target) -> dict[str, Any]:
    record = {"feature": promise.feature, "direction": promise.direction}
    return record | ({"class": promise.state} if target.classes else {})


# --- reading -------------------------------------------------------------------------------------


def from_json(data: bytes, max_bytes: int = MAX_BYTES) -> Model:
    """Read a model from JSON and check all of it."""
    remedy = "; if you trust it, load it with a larger max_bytes"
    parser = JsonParser("the model", ModelFormatError, max_bytes, remedy=remedy)
    return read_model(parser.read(data))


def read_model(document: Reader) -> Model:
    """Read a model from a parsed document and check all of it."""
    if document.part("format").value != FORMAT_NAME:
        raise ModelFormatError(f'this is not a solah model: no "format": "{FORMAT_NAME}"')
    version = document.part("version").integer(1, 2**31)
    if version != FORMAT_VERSION:
        raise ModelVersionError(
            f"the model has format version {version}; this solah reads version {FORMAT_VERSION}: "
            "pip install --upgrade solah"
        )
    fields = document.record(FIELDS, _OPTIONAL)
    task = Task(read_choice(fields["task"], [task.value for task in Task]))
    target = read_target(fields["target"], task)
    by_name = read_features(fields["features"])
    features = tuple(by_name.values())
    nodes = NodesReader(target, by_name).read(fields["nodes"])
    if target.classes and not target.shares and any(isinstance(one, AdditiveNode) for one in nodes):
        raise ModelFormatError(f"{fields['target'].place} needs shares, for there are terms")
    model = Model(target, features, nodes, generator=fields["generator"].text())
    readers: dict[str, Callable[[Reader], Any]] = {
        "provenance": partial(read_provenance, n_classes=len(target.classes)),
        "edits": read_edits,
        "signals": partial(read_signals, features=features),
        "domain": partial(read_domain, features=features),
    }
    found = {key: read(fields[key]) for key, read in readers.items() if key in fields}
    model = replace(model, **found)
    if "policy" in fields:
        model = replace(model, policy=read_policy(fields["policy"], model.domain, target))
    if "monotonic" in fields:
        items = fields["monotonic"].items(1, MAX_PROMISES)
        model = replace(model, monotonic=tuple(_read_promise(one, target) for one in items))
        for broken in broken_promises(model):
            raise ModelFormatError(f"{fields['monotonic'].place} is not kept: {broken}")
    return model


def _read_promise(reader: Reader, target: Target) -> Monotonic:
    fields = reader.record(["feature", "direction", *(["class"] if target.classes else [])])
    direction = fields["direction"].integer(-1, 1)
    if not direction:
        raise fields["direction"].fail("1 or -1")
    state = fields["class"].integer(0, target.size - 1) if target.classes else 0
    return Monotonic(fields["feature"].text(), direction, state)
