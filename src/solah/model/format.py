"""Model files: JSON, written as a whole and read with every value checked.

The format has a version; ``docs/model-format.md`` states when to raise it. Reading runs no code,
and needs memory in proportion to the file (:mod:`solah.data.json_reader`).
"""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser
from solah.exceptions import ModelFormatError, ModelVersionError
from solah.model.document import AdditiveNode, Model, Monotonic, Task
from solah.model.feature_format import feature_record, read_features, read_target
from solah.model.json_fields import errors_at, read_choice, read_record, record_of, records
from solah.model.monotone import broken_constraints
from solah.model.node_format import NodesReader, node_record
from solah.model.policy import read_domain, read_policy
from solah.model.provenance import MAX_EDITS, Edit, Intervals, Provenance, Uncertainty
from solah.model.signals import Signals, check_signals

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from solah.data.json_reader import Reader
    from solah.model.document import Target

FORMAT_NAME = "solah-model"
FORMAT_VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
MAX_CONSTRAINTS = 1_000_000
FIELDS = ("format", "version", "generator", "task", "target", "features", "nodes")
# Lists whose objects begin a line each.
_LINE_BY_LINE = ("features", "nodes", "terms", "rules", "groups", "monotonic", "edits")
_OPTIONAL = (
    "provenance",
    "uncertainty",
    "intervals",
    "monotonic",
    "edits",
    "signals",
    "domain",
    "policy",
)


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
    from importlib.metadata import version  # it brings zipfile and email, for which nodes pay

    record: dict[str, Any] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "generator": model.generator or f"solah {version('solah')}",
        "task": model.target.task.value,
        "target": record_of(model.target),
        "provenance": model.provenance and record_of(model.provenance),
        "features": [feature_record(one) for one in model.features],
        "nodes": [node_record(one, model.target) for one in model.nodes],
        "uncertainty": model.uncertainty and record_of(model.uncertainty),
        "intervals": model.intervals and record_of(model.intervals),
        "monotonic": [_constraint_record(one, model.target) for one in model.monotonic] or None,
        "edits": [record_of(one) for one in model.edits] or None,
        "signals": model.signals and record_of(model.signals),
        "domain": model.domain and record_of(model.domain),
        "policy": model.policy and record_of(model.policy),
    }
    texts = [
        f'  "{key}": {_text(key, value, "    ")}'
        for key, value in record.items()
        if value is not None
    ]
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _text(key: str, value: Any, indent: str) -> str:
    """Write the value of a key; of some lists, each object begins a line."""
    if key not in _LINE_BY_LINE or not (value and isinstance(value[0], dict)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + "  "
    objects = (
        ", ".join(f'"{key}": {_text(key, part, inner)}' for key, part in one.items())
        for one in value
    )
    lines = ",\n".join(f"{indent}{{{one}}}" for one in objects)
    return f"[\n{lines}\n{indent[:-2]}]"


def _constraint_record(one: Monotonic, target: Target) -> dict[str, Any]:
    record = {"feature": one.feature, "direction": one.direction}
    return record | ({"class": one.state} if target.classes else {})


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
    task = read_choice(fields["task"], Task)
    target = read_target(fields["target"], task)
    by_name = read_features(fields["features"])
    features = tuple(by_name.values())
    nodes = NodesReader(target, by_name).read(fields["nodes"])
    if target.classes and not target.shares and any(isinstance(one, AdditiveNode) for one in nodes):
        raise ModelFormatError(f"{fields['target'].place} needs shares, for there are terms")
    model = Model(target, features, nodes, generator=fields["generator"].text())
    readers: dict[str, Callable[[Reader], Any]] = {
        "provenance": lambda part: read_record(part, Provenance),
        "uncertainty": lambda part: read_record(part, Uncertainty),
        "intervals": lambda part: read_record(part, Intervals),
        "edits": records(Edit, MAX_EDITS)["read"],
        "signals": lambda part: read_record(part, Signals),
        "domain": lambda part: read_domain(part, features),
    }
    found = {key: read(fields[key]) for key, read in readers.items() if key in fields}
    model = replace(model, **found)
    counts = model.provenance.classes if model.provenance else ()
    if counts and len(counts) != len(target.classes):
        raise fields["provenance"].part("classes").fail("a number of rows for each class")
    if model.uncertainty is not None:
        n_errors = 1 if target.size == 2 else target.size
        sizes = [[n_errors] * term.n_rules for term in model.terms]
        if sizes != [list(map(len, term)) for term in model.uncertainty.errors]:
            raise fields["uncertainty"].part("errors").fail("an error for each weight")
    if model.intervals is not None and not target.is_additive_number:
        raise fields["intervals"].fail("absent, unless terms add up to a number")
    if model.signals:
        with errors_at(fields["signals"]):
            check_signals(model.signals, features)
    if "policy" in fields:
        model = replace(model, policy=read_policy(fields["policy"], model.domain, target))
    if "monotonic" in fields:
        items = fields["monotonic"].items(1, MAX_CONSTRAINTS)
        model = replace(model, monotonic=tuple(_read_constraint(one, target) for one in items))
        for broken in broken_constraints(model):
            raise ModelFormatError(f"{fields['monotonic'].place} is not kept: {broken}")
    return model


def _read_constraint(reader: Reader, target: Target) -> Monotonic:
    fields = reader.record(["feature", "direction", *(["class"] if target.classes else [])])
    direction = fields["direction"].integer(-1, 1)
    if not direction:
        raise fields["direction"].fail("1 or -1")
    state = fields["class"].integer(0, target.size - 1) if target.classes else 0
    return Monotonic(fields["feature"].text(), direction, state)
