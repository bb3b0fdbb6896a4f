"""The checksum of generated tables, by which a board's test finds a bit that flipped."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.export.policy_tables import CellRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.export.policy_tables import PolicyTables
    from solah.export.signal_tables import SignalTables
    from solah.export.tables import Tables


@dataclass(frozen=True, eq=False)
class Summed:
    """Numbers of a table.

    Attributes
    ----------
    places : where the numbers of line ``i`` are, as C writes it
    numbers : (n_lines, n_places) the numbers, all integers or all float32
    """

    places: tuple[str, ...]
    numbers: NDArray[Any]

    @property
    def are_floats(self) -> bool:
        """Whether the bits of float32 are summed, rather than integers."""
        return bool(self.numbers.dtype.kind == "f")


def checksum(tables: Iterable[Summed]) -> int:
    """Return the CRC-32 of numbers in four bytes each, the lowest first."""
    crc = 0
    for one in tables:
        kind = "<f4" if one.are_floats else "<i8"
        words = one.numbers.ravel().astype(kind).view("<u4")
        crc = zlib.crc32((words if one.are_floats else words[::2]).tobytes(), crc)
    return crc


def summed_tables(
    tables: Tables,
    policy: PolicyTables | None,
    signals: SignalTables | None,
    rules: Mapping[str, list[int]],
) -> list[Summed]:
    """List all numbers of a model's tables; places and pointers are not among them."""
    found = [
        _column("knots[i]", tables.knots),
        _column("values[i]", tables.values),
        *_fields("curves[i]", tables.curves, ("feature", "n_knots", "knot", "value")),
        *_fields("tables[i]", tables.states, ("feature", "n_states", "value")),
        *(
            one
            for side in range(2)
            for one in _fields(
                f"grids[i].sides[{side}]",
                [grid.sides[side] for grid in tables.grids],
                ("feature", "n_lines", "is_state", "knot", "value"),
            )
        ),
        *_fields("grids[i]", tables.grids, ("cell", "value")),
        _column("grid_cells[i]", tables.cells),
    ]
    for number, walk in enumerate(tables.walks, 1):
        names = {"offset": "offsets", "split": "split", "child": "first_child", "peak": "peaks"}
        names |= {"ignorance": "mean_masses", "inverse": "inverses", "shift": "shifts"}
        names |= {} if tables.learned is not None else {"leaf": "values"}
        found += [
            _column(f"{name}_{number}[i]", getattr(walk, field)) for name, field in names.items()
        ]
    for number, stage in enumerate(tables.stages, 1):
        found.append(_column(f"start_{number}[i]", stage.start))
        if stage.lost is not None:
            found.append(_column(f"lost_{number}[i]", stage.lost.shares))
            found.append(_column(f"prior_{number}[i]", stage.lost.prior))
    if tables.preference is not None:
        found.append(_column("preference[i]", tables.preference))
    if tables.learned is not None:
        found.append(_column("start[i]", tables.learned))
    if policy is not None:
        found += _of_policy(policy)
    if signals is not None:
        found += _of_signals(signals)
    found += [_column(f"{part}[i]", numbers) for part, numbers in rules.items()]
    return [one for one in found if len(one.numbers)]


def summed_parts(parts: Mapping[str, Any]) -> list[Summed]:
    """List the numbers of plain C: lines, weights of categories, and grids of pairs."""
    found = []
    for curve in parts["curves"]:
        rows = [(one.start, one.end, *chain(*one.values)) for one in curve.lines]
        n_values = len(curve.lines[0].values)
        names = ["from", "to"]
        names += [f"of[{v}].{what}" for v in range(n_values) for what in ("weight", "slope")]
        found.append(_table(tuple(f"lines_{curve.name}[i].{one}" for one in names), np.array(rows)))
        if parts["is_fixed"]:
            found.append(
                _column(f"lines_{curve.name}[i].shift", [one.shift for one in curve.lines])
            )
        if parts["loses"]:
            shares = [curve.share] * len(curve.lines)
            found.append(_column(f"lines_{curve.name}[i].share", shares))
        if curve.missing is not None:
            found.append(_column(f"missing_{curve.name}[i]", curve.missing))
    tables = [(f"weights_{one.name}", one.weights) for one in parts["categories"]]
    tables += [(f"grid_{pair.name}", pair.weights) for pair in parts["pairs"]]
    for name, rows in tables:
        weights = np.array(rows)
        places = tuple(f"{name}[i][{v}]" for v in range(weights.shape[1]))
        found.append(_table(places, weights))
    for pair in parts["pairs"]:
        cells = np.concatenate([np.array(line) for line in pair.cells])
        found.append(_column(f"cells_{pair.name}[i]", cells))
        for axis, side in zip("xy", pair.sides, strict=True):
            found.append(_column(f"{axis}_peaks_{pair.name}[i]", side.peaks))
            found.append(_column(f"{axis}_slopes_{pair.name}[i]", side.slopes))
    stage, preference = parts["stage"], parts["tables"].preference
    found.append(_column("start[i]", stage.start))
    if parts["loses"]:
        prior, lean = np.split(stage.lost.prior, 2)
        found += [_column("prior[i]", prior), _column("lean[i]", lean)]
    if preference is not None:
        found.append(_column("preference[i]", preference))
    return [one for one in found if len(one.numbers)]


def _of_policy(policy: PolicyTables) -> list[Summed]:
    return [
        *_fields("policy_cells[i]", policy.cells, [one.name for one in fields(CellRow)]),
        _column("policy_cuts[i]", policy.cuts),
        *_fields("policy_pairs[i]", policy.pairs, ("first", "second", "byte")),
        _column(
            "policy_seen[i]", np.array(list(policy.seen if policy.pairs else b""), dtype=np.int64)
        ),
        _column("policy_min_probability[i]", policy.min_probability),
        *_fields("policy_shares[i]", policy.shares, ("share", "feature", "n_states")),
    ]


def _of_signals(signals: SignalTables) -> list[Summed]:
    is_fixed = signals.fixed is not None
    numbers = list(signals.features[0].numbers) if signals.features else []
    features = [{**vars(row), **row.numbers} for row in signals.features]
    waves = signals.waves or ((0,) if is_fixed else (np.float32(0),))
    return [
        *_fields(
            "signal_measured[i]",
            [vars(row) for row in signals.measured],
            ("every", "max_gap", *(("zero", "bias") if is_fixed else ())),
        ),
        *_fields(
            "signal_stored[i]",
            [vars(row) for row in signals.stored],
            ("first", "length", "first_axis", *(("shift",) if is_fixed else ())),
        ),
        _column("signal_axes[i]", signals.axes),
        *_fields("signal_features[i]", features, ("reading", "channel", "other", *numbers)),
        _column("signal_waves[i]", np.asarray(waves)),
    ]


def _fields(place: str, rows: Sequence[Any], names: Sequence[str]) -> list[Summed]:
    """List the numbers of records, those that are floats behind the others."""
    columns = {
        f"{place}.{name}": [
            row[name] if isinstance(row, dict) else getattr(row, name) for row in rows
        ]
        for name in names
    }
    floats = {
        name: column
        for name, column in columns.items()
        if rows and isinstance(column[0], float | np.floating)
    }
    integers = {name: column for name, column in columns.items() if name not in floats}
    parts = (part for part in (integers, floats) if part)
    return [_table(tuple(part), np.column_stack(list(part.values()))) for part in parts]


def _column(place: str, numbers: Any) -> Summed:
    return _table((place,), np.reshape(numbers, (-1, 1)))


def _table(places: tuple[str, ...], numbers: NDArray[Any]) -> Summed:
    kind = np.float32 if numbers.dtype.kind == "f" and len(numbers) else np.int64
    return Summed(places, numbers.astype(kind))
