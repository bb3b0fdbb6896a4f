"""The JSON schema of model files, as ``docs/model-format.md`` links it."""

import json
from pathlib import Path

SCHEMA_FILE = Path(__file__).parents[1] / "docs" / "model-schema.json"


def model_schema():
    return json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
