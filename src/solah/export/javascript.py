"""Export a model as a plain JavaScript module: its program, and the predictor of the page."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import AgreementError
from solah.export.c_writer import source_environment
from solah.export.js_tables import describe_program, evaluator_text
from solah.export.names import check_identifier
from solah.export.programs import (
    Program,
    Run,
    refuse_large_states,
    state_bounds,
)
from solah.export.quoting import comment, script_json
from solah.model.document import Task
from solah.model.format import model_hash

if TYPE_CHECKING:
    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature

_FAR = 1e308
_RUNNER = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";

const columns = JSON.parse(readFileSync(0, "utf8"));
const rows = (columns[0] ?? []).map((_, i) =>
  model.decide(Object.fromEntries(columns.map((column, j) => [model.features[j], column[i]]))));
const answers = model.classes === undefined
  ? rows.map(({ estimate }) => [estimate])
  : rows.map(({ decision, leaning = decision, probabilities }) =>
    [model.classes.indexOf(leaning), ...probabilities]);
process.stdout.write(JSON.stringify(answers));
"""


def export_javascript(model: Model, *, name: str = "model") -> Program:
    """Write a model as a module of JavaScript for Node.js and browsers, without any dependency.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        What the file is called.

    Returns
    -------
    program : Program
        One file, ``NAME.mjs``. Its ``simulator`` runs it; None where ``node`` is not installed.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_javascript
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> sorted(export_javascript(tree.model_, name="iris").files)
    ['iris.mjs']
    """
    check_identifier(name)
    refuse_large_states(model, "JavaScript")
    values = {
        "name": name,
        "version": version("solah"),
        "hash": model_hash(model),
        "target": comment(model.target.name),
        "example": comment(_example(model)),
        "is_number": model.target.task is Task.REGRESSION,
        "has_policy": model.policy is not None or model.domain is not None,
        "predictor": evaluator_text().rstrip(),
        "features": script_json(model.program.features),
        "tables": script_json(describe_program(model)),
        "states": script_json([_states(feature) for feature in model.features]),
        "classes": script_json(model.target.classes),
    }
    text = source_environment().get_template("model.mjs.j2").render(**values)
    node = shutil.which("node")
    return Program(name, {f"{name}.mjs": text}, _NodeRun(model, text, node) if node else None)


def _example(model: Model) -> str:
    """Write the reading of one feature as JavaScript; nothing of a model without features."""
    for feature in model.features:
        reading = feature.categories[0] if feature.is_coded and feature.categories else None
        value = feature.peaks[0] if reading is None else reading
        return f"{script_json(feature.name)}: {script_json(value)}"
    return ""


def _states(feature: Feature) -> dict[str, Any] | None:
    """Return the key of a category; None for a continuous feature."""
    if not feature.is_coded:
        return None
    texts = [state for state in feature.categories if isinstance(state, str)]
    numbers = [state for state in feature.categories if not isinstance(state, str)]
    return {"texts": texts} if texts else {"bounds": state_bounds(numbers)}


class _NodeRun(Run):
    """Runs a module with Node.js."""

    def __init__(self, model: Model, text: str, node: str) -> None:
        super().__init__(model)
        self._text = text
        self._node = node

    def _answers(self, columns: list[list[State | None]]) -> Float:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.mjs").write_text(self._text, encoding="utf-8")
            (Path(folder) / "run.mjs").write_text(_RUNNER, encoding="utf-8")
            done = subprocess.run(
                [self._node, "run.mjs"],
                cwd=folder,
                input=json.dumps([list(map(_finite, column)) for column in columns]).encode(),
                capture_output=True,
                check=False,
            )
        if done.returncode:
            fault = done.stderr.decode(errors="replace").strip().splitlines()
            said = next((line for line in fault if "Error" in line), "no message")
            raise AgreementError(f"node cannot run the module: {said}")
        return np.array(json.loads(done.stdout), dtype=np.float64)


def _finite(reading: State | None) -> State | None:
    """Write a reading beyond all words as one that JSON can hold."""
    if isinstance(reading, float) and math.isinf(reading):
        return math.copysign(_FAR, reading)
    return reading
