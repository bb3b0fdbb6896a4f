"""Small models by hand that a person can check, for golden files."""

from dataclasses import replace

import numpy as np

from solah.data import Column, Kind, Table
from solah.model import AdditiveNode, CrossValidated, Model, Provenance, Target, Term, TermInput
from solah.model.features import cored_feature, discrete_feature

LOW, HIGH = -np.inf, np.inf


def room_model(
    name="january.csv",
    cores=((LOW, 600.0), (700.0, 900.0), (1000.0, HIGH)),
    co2=(-1.2, 0.2, 1.4),
    door=(0.3, -0.3),
    bias=0.4,
    shares=(0.6, 0.4),
):
    """Tell whether a room is occupied by its CO2 and its door, with rules that add up.

    Weights are log-odds of yes against no.
    """
    words = ("low", "high") if len(cores) == 2 else ("low", "medium", "high")
    bare = cored_feature("CO2", words, cores, (), 390.0, 1500.0)
    air = replace(bare, mean_masses=(1 / bare.n_focal_sets,) * bare.n_focal_sets)
    gate = discrete_feature("door", Kind.BINARY, ("open", "shut"), (0.25, 0.75))
    target = Target("occupied", ("no", "yes"), shares=shares)
    terms = _term(air, co2, (28.0, 60.0, 32.0)), _term(gate, door, (30.0, 90.0))
    nodes = (AdditiveNode("occupied", (-bias / 2, bias / 2), terms),)
    origin = Provenance(
        source=name,
        modified="2026-02-01T06:00:00Z",
        rows=120,
        classes=(round(120 * shares[0]), round(120 * shares[1])),
        digest="0123456789abcdef0123456789abcdef",
        columns={"CO2": "0123456789abcdef", "door": "123456789abcdef0"},
        dropped=("floor",),
        cross_validated=CrossValidated(accuracy=0.875, log_loss=0.31),
    )
    return Model(target, (air, gate), nodes, "solah 0.1.0", provenance=origin)


def _term(feature, odds, rows):
    """Make a term on one feature, of the odds of its words."""
    odds = np.array(odds[: len(feature.words)])
    yes = 1 / (1 + np.exp(-odds))
    return Term(
        (TermInput.whole(feature),),
        weights=np.outer(odds, [-0.5, 0.5]),
        shares=np.column_stack([1 - yes, yes]),
        counts=np.array(rows[: len(feature.words)]),
        variance=0.8,
    )


def room_rows():
    """Return readings of rooms, the truth, and a floor that no model asks for."""
    co2 = np.array([450.0, 620, 640, 680, 720, 880, 930, 960, 1100, 1480, 1800, np.nan])
    door = np.array(["open", "shut", "open", "shut"] * 3, dtype=object)
    floor = np.array(["ground", "first"] * 6, dtype=object)
    truth = np.array(["no"] * 3 + ["yes", "no"] + ["yes"] * 7, dtype=object)
    columns = {"CO2": co2, "door": door, "floor": floor, "occupied": truth}
    return Table(tuple(Column(name, values) for name, values in columns.items()), 12)
