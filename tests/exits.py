"""The exits of a model: everything that runs its program outside the oracle.

An exit takes a model and a table of rows, and answers as its users see it. To add one, write how
it runs and add a line to :data:`EXITS`; ``test_conformance.py`` then runs every case on it.
"""

import json
import math
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import blob_programs
import c_programs
import numpy as np
import pytest

from random_models import any_model, as_table, random_rows
from simulated import Simulation
from solah.data import Column, Table
from solah.data.spelling import spell
from solah.exceptions import UnseenCategoryWarning
from solah.export import (
    export_blob,
    export_c,
    export_javascript,
    export_micropython,
    export_onnx,
    export_sql,
)
from solah.export.float_tables import float_tables
from solah.export.layout import lay_out
from solah.export.plain import is_plain
from solah.export.quoting import sql_name
from solah.kernels.native import ENVIRONMENT_VARIABLE
from solah.model import Model
from solah.model.encode import encode
from solah.model.evaluate import run
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle
from solah.site.plan import make_plan


class Answers(NamedTuple):
    """What an exit answers for the rows of a table.

    ``decisions`` are classes; None for a number, or if the exit has none. ``values`` are
    probabilities (n_rows, n_classes) or estimates (n_rows, 1); None if the exit has none.
    """

    decisions: list | None
    values: np.ndarray | None


@dataclass(frozen=True)
class Exit:
    """One way to run a model.

    Attributes
    ----------
    name : what the exit is called
    run : answers for the rows of a table
    tolerance : how far values may be from the oracle's; decisions may differ where two classes are
        as close as that
    tools : the programs that it needs
    packages : the Python packages that it needs
    takes_exp : whether it computes e to the power of a sum
    """

    name: str
    run: Callable[[Model, Table], Answers]
    tolerance: float
    tools: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    takes_exp: bool = True


# --- rows ------------------------------------------------------------------------------------

EXTREME = (math.inf, -math.inf, 1e300, -1e300, 1e-300, -0.0)
UNSEEN = {str: "never seen", int: 987_654_321, float: 12_345.678}


def draw(rng, model, n_rows):
    """Draw rows as the oracle reads them, and as a table with the same meaning.

    Readings are missing, infinite and on peaks; the table has categories that no model has seen.
    """
    rows = random_rows(rng, model, n_rows, missing=0.15)
    is_sparse = np.arange(n_rows)[:, None] % 3 == 2
    rows[is_sparse & (rng.random(rows.shape) < 0.5)] = np.nan
    rows[0] = np.nan
    is_odd = rng.random(rows.shape) < 0.1
    is_odd[0] = False
    columns = []
    for j, (feature, column) in enumerate(
        zip(model.features, as_table(model, rows).columns, strict=True)
    ):
        odd, values = is_odd[:, j], column.values.copy()
        if not feature.is_coded:
            values[odd] = rows[odd, j] = rng.choice(EXTREME, odd.sum())
        elif unseen := UNSEEN.get(type(feature.categories[0])):
            values[odd], rows[odd, j] = unseen, np.nan
        columns.append(Column(column.name, values))
    return rows, Table(tuple(columns), n_rows)


def expected(model, rows):
    """Return what the oracle answers."""
    outputs = run(model.program, rows)
    if not model.target.classes:
        centres = model.program.centres
        return Answers(None, outputs if centres is None else outputs @ centres[:, None])
    return Answers([model.target.classes[c] for c in model.target.decide(outputs)], outputs)


def check(exit_, model, rows, table):
    """Check that an exit agrees with the oracle."""
    found, wanted = exit_.run(model, table), expected(model, rows)
    if found.values is not None:
        scale = 1.0 if model.target.classes else max(1.0, np.abs(wanted.values).max())
        atol = exit_.tolerance * scale
        np.testing.assert_allclose(found.values, wanted.values, rtol=0, atol=atol)
    if wanted.decisions is None or found.decisions is None:
        return
    thresholds = model.target.thresholds or (1.0,) * len(model.target.classes)
    least, most = np.sort(wanted.values / np.array(thresholds), axis=1)[:, -2:].T
    for row, is_clear in enumerate(most - least > 2 * exit_.tolerance / min(thresholds)):
        assert found.decisions[row] == wanted.decisions[row] or not is_clear, f"row {row}"


# --- Python ----------------------------------------------------------------------------------


def _python(kernel):
    def answer(model, table):
        predictor = Predictor(model)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.setenv(ENVIRONMENT_VARIABLE, kernel)
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            if not model.target.classes:
                return Answers(None, predictor.predict(table)[:, None])
            return Answers(predictor.predict(table).tolist(), predictor.predict_proba(table))

    return answer


# --- JavaScript ------------------------------------------------------------------------------

_RUNNER = """
import * as model from "./model.mjs";
const columns = %s;
const rows = columns[0].map((_, i) =>
  Object.fromEntries(columns.map((column, j) => [model.features[j], column[i]])));
console.log(JSON.stringify(rows.map((row) => model.decide(row))));
"""


def _javascript(model, table):
    values = [column.values.tolist() for column in table.columns]
    with tempfile.TemporaryDirectory() as folder:
        module = export_javascript(model).files["model.mjs"]
        (Path(folder) / "model.mjs").write_text(module, encoding="utf-8")
        # What JSON has no word for, NaN and Infinity, is written as JavaScript.
        (Path(folder) / "run.mjs").write_text(_RUNNER % json.dumps(values), encoding="utf-8")
        command = ["node", "run.mjs"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    rows = json.loads(done.stdout)
    if not model.target.classes:
        return Answers(None, np.array([[row["estimate"]] for row in rows]))
    values = np.array([row["probabilities"] for row in rows])
    return Answers([row["decision"] for row in rows], values)


# --- SQL -------------------------------------------------------------------------------------

_SQL_TYPES = {str: "VARCHAR", bool: "BOOLEAN", int: "INTEGER", float: "DOUBLE"}


def sqlite(exp=math.exp):
    """Connect to an empty SQLite, which may have been built without functions of mathematics."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, exp, deterministic=True)
    return connection


def duckdb():
    """Connect to an empty DuckDB."""
    return pytest.importorskip("duckdb", reason="duckdb is not installed").connect(":memory:")


def run_sql(connection, model, table, file="model.sql"):
    """Run a SELECT of a model in a database, on a table that it makes there."""
    query = export_sql(model, table='the "table"', keys=["solah row"]).files[file]
    kinds = [type(one.categories[0]) if one.is_coded else float for one in model.features]
    names = [sql_name(one.name) for one in model.features]
    declared = [f"{name} {_SQL_TYPES[kind]}" for name, kind in zip(names, kinds, strict=True)]
    columns = ", ".join(['"solah row" INTEGER', *declared])
    connection.execute(f'CREATE TABLE "the ""table""" ({columns})')
    marks = ", ".join("?" * (len(names) + 1))
    values = zip(*(column.values.tolist() for column in table.columns), strict=True)
    for i, row in enumerate(values):
        connection.execute(f'INSERT INTO "the ""table""" VALUES ({marks})', (i, *row))
    answers = sorted(connection.execute(query).fetchall())
    connection.close()
    assert [answer[0] for answer in answers] == list(range(table.n_rows))
    if not model.target.classes:
        return Answers(None, np.array([answer[1:] for answer in answers]))
    values = np.array([answer[2:] for answer in answers])
    return Answers([answer[1] for answer in answers], values if values.size else None)


# --- ONNX ------------------------------------------------------------------------------------


def _onnx(model, table):
    import onnxruntime

    session = onnxruntime.InferenceSession(export_onnx(model).files["model.onnx"])
    feeds = {
        one.name: _onnx_column(one.type, table.column(one.name).values.tolist())
        for one in session.get_inputs()
    }
    label, *probabilities = session.run(None, feeds)
    return Answers(label.tolist(), probabilities[0]) if probabilities else Answers(None, label)


def _onnx_column(kind, values):
    if kind == "tensor(string)":
        return np.array([["no category" if one is None else one] for one in values], dtype=object)
    return np.array([[math.nan if one is None else one] for one in values], dtype=np.float64)


# --- devices ---------------------------------------------------------------------------------

# test_devices.py runs all shapes under sanitizers, which take ten times as long to compile.
_QUICK = ("-O0",)
_ROOM = [
    f"-DSOLAH_BLOB_MAX_{what}={most}"
    for what, most in (("CLASSES", 8), ("STAGES", 8), ("WALKS", 32), ("INPUTS", 16), ("DEPTH", 16))
]


def device_rows(model, table):
    """Return readings as a device gets them; the code of an unseen category is that of none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        rows = encode(table, model.features)
    for j, one in enumerate(model.features):
        if one.is_coded:
            is_unseen = np.isnan(rows[:, j]) & ~table.column(one.name).missing()
            rows[is_unseen, j] = len(one.categories)
    return rows


def _answers(model, simulator, rows, places, values):
    """Return what a device answers, which is what its simulator does, to the bit."""
    if not model.target.classes:
        np.testing.assert_array_equal(values, simulator.estimate(rows))
        return Answers(None, values[:, None] * simulator.unit)
    decided, beliefs = simulator.decide(rows)
    np.testing.assert_array_equal(places, decided)
    np.testing.assert_array_equal(values, beliefs)
    return Answers(
        [model.target.classes[place] for place in places], values * simulator.belief_unit
    )


def _c(numbers, style):
    def answer(model, table):
        rows, is_simple = device_rows(model, table), is_plain(float_tables(lay_out(model)))
        wanted = style if is_simple and not model.policy and not model.domain else None
        export = export_c(model, name="m", numbers=numbers, style=wanted)
        what = c_programs.DECIDE if model.target.classes else c_programs.ESTIMATE
        with tempfile.TemporaryDirectory() as folder, np.errstate(over="ignore"):
            program = c_programs.build(export, Path(folder), "cc", what, _QUICK)
            if model.target.classes:
                found = c_programs.decide(program, export, rows, len(model.target.classes))
            else:
                found = None, c_programs.estimate(program, export, rows)
            return _answers(model, export.simulator, rows, *found)

    return answer


def _blob_c(model, table):
    blob, rows = export_blob(model), device_rows(model, table)
    (found,) = blob_programs.run(_blob_runtime(), [(blob.data, blob.simulator.prepare(rows))], 1)
    values = found["belief"] if model.target.classes else found["estimate"]
    return _answers(model, blob.simulator, rows, found["decision"], values)


@lru_cache
def _blob_runtime():
    """Build the runtime of blobs, which is the same for all."""
    folder = Path(tempfile.mkdtemp())
    flags = (*_QUICK, *_ROOM)
    blob = export_blob(any_model(0))
    return blob_programs.build(blob, folder, "cc", blob_programs.RUN.format(n_most=1), flags)


def _board(load):
    def answer(model, table):
        export, module = load(model)
        rows = device_rows(model, table)
        names = [one.name for one in model.features]
        values = zip(*(table.column(name).values.tolist() for name in names), strict=True)
        readings = [dict(zip(names, row, strict=True)) for row in values]
        if not model.target.classes:
            values = np.array([module["estimate"](one) for one in readings])
            return _answers(model, export.simulator, rows, None, values / export.simulator.unit)
        found = [module["decide"](one) for one in readings]
        places = [list(map(str, model.target.classes)).index(decision) for decision, _ in found]
        return _answers(model, export.simulator, rows, places, np.array([one for _, one in found]))

    return answer


def _micropython(model):
    export, module = export_micropython(model), {"__name__": "model"}
    exec(compile(export.files["model.py"], "model.py", "exec"), module)
    return export, module


def _blob_board(model):
    blob, module = export_blob(model), {"__name__": "solah_blob"}
    exec(compile(blob.files["solah_blob.py"], "solah_blob.py", "exec"), module)
    module["load"](blob.data)
    return blob, module


# --- nodes -----------------------------------------------------------------------------------


def _nodes(model, table):
    bundle = Bundle(make_plan(model), model)
    simulation = Simulation(bundle)
    for sequence, row in enumerate(zip(*map(_sent, table.columns), strict=True)):
        readings = dict(zip(table.names, row, strict=True))
        for node in bundle.plan.nodes:
            if node.reads:
                own = {name: readings[name] for name in node.reads}
                simulation.measure(node.name, sequence, own, 0.01 * sequence)
    decided = sorted(simulation.run(), key=lambda one: one.sequence)
    assert [one.sequence for one in decided] == list(range(table.n_rows))
    if not model.target.classes:
        return Answers(None, np.array([[float(one.decision)] for one in decided]))
    states = {spell(state): state for state in model.target.classes}
    values = np.array([[*one.probabilities.values()] for one in decided])
    return Answers([states[one.decision] for one in decided], values)


def _sent(column):
    """Return readings as messages carry them, which have no infinities."""
    values = column.values
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), None, np.nan_to_num(values).astype(object))
    return values.tolist()


EXITS = (
    Exit("Python, C", _python("native"), 1e-15),
    Exit("Python, NumPy", _python("reference"), 1e-15),
    Exit("JavaScript", _javascript, 1e-12, tools=("node",)),
    Exit("SQLite", lambda model, table: run_sql(sqlite(), model, table), 1e-12),
    Exit("DuckDB", lambda model, table: run_sql(duckdb(), model, table), 1e-12),
    Exit("onnxruntime", _onnx, 1e-12, packages=("onnx", "onnxruntime")),
    Exit("C tables, float", _c("float", "tables"), 2e-5, tools=("cc",)),
    Exit("C tables, q15", _c("q15", "tables"), 0.02, tools=("cc",), takes_exp=False),
    Exit("plain C, float", _c("float", "plain"), 2e-5, tools=("cc",)),
    Exit("plain C, q15", _c("q15", "plain"), 0.02, tools=("cc",), takes_exp=False),
    Exit("MicroPython", _board(_micropython), 0.02, takes_exp=False),
    Exit("blob, C", _blob_c, 0.02, tools=("cc",), takes_exp=False),
    Exit("blob, MicroPython", _board(_blob_board), 0.02, takes_exp=False),
    Exit("nodes", _nodes, 1e-15),
)
"""The table of exits."""
