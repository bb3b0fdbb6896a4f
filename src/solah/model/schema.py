"""The JSON schema of the model document, as it ships with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def model_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the current format version."""
    text = files("solah.model").joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
