"""Runs programs that were exported beyond C with the real tools, on rows as numbers."""

import math

import numpy as np

from solah.export import export_onnx, export_sql
from solah.export.quoting import sql_name
from solah.model.beliefs import signals_of
from solah.model.encode import Coded


def expected(model, rows):
    """Return what the model answers: beliefs, or estimates in a column."""
    names = [attribute.name for attribute in model.attributes]
    coded = Coded(dict(zip(names, rows.T, strict=True)), len(rows))
    beliefs = signals_of(model, coded)[model.root.name]
    return beliefs @ np.array(model.goal.centres)[:, None] if model.goal.centres else beliefs


def decided(model, beliefs):
    return [model.goal.states[place] for place in model.goal.decide(beliefs)]


def written(attribute, values):
    """Write a column of numbers as a table has it; None for unknown."""
    if not attribute.is_coded:
        return [None if value != value else value for value in values.tolist()]
    return [None if value != value else attribute.states[int(value)] for value in values]


def columns_of(model, rows):
    return [written(*pair) for pair in zip(model.attributes, rows.T, strict=True)]


def sql_type(attribute):
    state = attribute.states[0] if attribute.is_coded else 1.0
    types = {str: "VARCHAR", bool: "BOOLEAN", int: "INTEGER", float: "DOUBLE"}
    return types[type(state)]


def run_sql(execute, model, rows, file="model.sql"):
    """Run the SELECT of a model with a database; return what it decides, and the beliefs."""
    files = export_sql(model, table='the "table"', keys=["solah row"]).files
    names = [f"{sql_name(one.name)} {sql_type(one)}" for one in model.attributes]
    execute(f'CREATE TABLE "the ""table""" ("solah row" INTEGER, {", ".join(names)})')
    marks = ", ".join("?" * (len(names) + 1))
    for i, row in enumerate(zip(*columns_of(model, rows), strict=True)):
        execute(f'INSERT INTO "the ""table""" VALUES ({marks})', (i, *row))
    answers = sorted(execute(files[file]).fetchall())
    assert [answer[0] for answer in answers] == list(range(len(rows)))
    if not model.goal.states:
        return None, np.array([answer[1:] for answer in answers])
    return [answer[1] for answer in answers], np.array([answer[2:] for answer in answers])


def run_onnx(runtime, model, rows):
    """Run the graph of a model with onnxruntime; return what it decides, and the beliefs."""
    session = runtime.InferenceSession(export_onnx(model).files["model.onnx"])
    columns = dict(
        zip((one.name for one in model.attributes), columns_of(model, rows), strict=True)
    )
    feeds = {one.name: onnx_column(one.type, columns[one.name]) for one in session.get_inputs()}
    label, *beliefs = session.run(None, feeds)
    return (label.tolist(), beliefs[0]) if beliefs else (None, label)


def onnx_column(kind, values):
    if kind == "tensor(string)":
        return np.array([["no state" if one is None else one] for one in values], dtype=object)
    return np.array([[math.nan if one is None else one] for one in values], dtype=np.float64)
