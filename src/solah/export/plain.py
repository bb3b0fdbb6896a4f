"""Write an additive model as plain C: a function per feature and pair, and their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.export.names import distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.explain.rule_text import Rule
    from solah.export.tables import CurveRow, GridRow, SideRow, StateRow, Tables

# Bytes of code on a Cortex-M0+: of each line in plain C, and of what tables need to be read.
_CODE_OF_LINE, _CODE_OF_TABLES = 22, 400
_CLEARLY = 1.25
"""Tables are taken if plain C is larger than they by more than this factor."""


@dataclass(frozen=True, eq=False)
class Line:
    """A straight line of weights between two readings.

    Attributes
    ----------
    start, end : the readings, in the device's unit from the zero of the feature
    shift : what products with slopes are shifted by, of integers
    values : (n_values,) the weights at the start, and how they change with each unit
    about : the rules at both ends, in words
    """

    start: Any
    end: Any
    shift: int
    values: Sequence[tuple[Any, Any]]
    about: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Curve:
    """The function of a measured feature."""

    name: str
    feature: int
    lines: tuple[Line, ...]
    missing: Sequence[Any] | None
    share: Any


@dataclass(frozen=True, eq=False)
class Categories:
    """The function of a categorical feature: weights per category, and those of no category."""

    name: str
    feature: int
    weights: Sequence[Sequence[Any]]
    about: Sequence[str]
    share: Any


@dataclass(frozen=True, eq=False)
class Side:
    """One of two features of a pair."""

    feature: int
    is_state: bool
    n_lines: int
    peaks: Sequence[Any]
    slopes: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """The function of two features: a line of weights for each cell of a grid."""

    name: str
    sides: tuple[Side, Side]
    cells: Sequence[Sequence[int]]
    weights: Sequence[Sequence[Any]]
    about: Sequence[str]
    share: Any


def is_plain(tables: Tables) -> bool:
    """Whether a model is a sum of terms of one or two features, which plain C can write."""
    return len(tables.stages) == 1 and tables.stages[0].is_weighed and not tables.walks


def is_small(tables: Tables) -> bool:
    """Whether tables are not clearly smaller than plain C, which is quicker and easier to read."""
    is_fixed, n_values = tables.is_fixed, tables.layout.n_values
    each = 2 if is_fixed else 4
    lines = [_n_lines(tables, curve, n_values, is_fixed) for curve in tables.curves]
    plain = sum(lines) * (each * (2 * n_values + 2 + is_fixed) + _CODE_OF_LINE)
    pieces = sum(curve.n_knots - 1 for curve in tables.curves)
    tabled = each * (pieces * (2 * n_values + 1 + is_fixed) + len(tables.curves) * n_values)
    return plain <= _CLEARLY * (_CODE_OF_TABLES + tabled)


def _n_lines(tables: Tables, curve: CurveRow, n_values: int, is_fixed: bool) -> int:
    """Count the lines of a curve: its pieces but the level ones."""
    width, n_pieces = 2 * n_values + is_fixed, curve.n_knots - 1
    pieces = tables.values[curve.value : curve.value + n_pieces * width].reshape(n_pieces, width)
    return max(int(pieces[:, -n_values:].any(axis=1).sum()), 1)


def plain_parts(
    tables: Tables, names: Sequence[str], rules: Sequence[Rule], *, missing: bool
) -> dict[str, Any]:
    """Return what the template of plain C shows: the functions, in the order in which they add.

    Parameters
    ----------
    tables : those of a model for which :func:`is_plain` holds
    names : of the features, as C has them
    rules : those of the model, by their numbers
    missing : whether a reading may be missing
    """
    return _Parts(tables, names, [rule.short for rule in rules], missing).parts()


class _Parts:
    def __init__(
        self, tables: Tables, names: Sequence[str], texts: Sequence[str], missing: bool
    ) -> None:
        self._tables, self._names, self._texts = tables, [name.lower() for name in names], texts
        self._missing = missing
        self._is_fixed = tables.is_fixed
        self._n_values = tables.layout.n_values
        (stage,) = tables.stages
        self._loses = missing and stage.lost is not None
        n_parts = len(tables.curves) + len(tables.states) + len(tables.grids)
        self._shares = stage.lost.shares.tolist() if stage.lost is not None else [0] * n_parts

    def parts(self) -> dict[str, Any]:
        tables = self._tables
        curves = [self._curve(curve, at) for at, curve in enumerate(tables.curves)]
        n_before = len(curves)
        states = [self._categories(row, n_before + i) for i, row in enumerate(tables.states)]
        n_before += len(states)
        names = distinct((self._pair_name(grid) for grid in tables.grids), "pair")
        grids = [
            self._pair(grid, name, n_before + i)
            for i, (grid, name) in enumerate(zip(tables.grids, names, strict=True))
        ]
        zeros = tables.zeros
        return {
            "curves": curves,
            "categories": states,
            "pairs": grids,
            "zeros": zeros,
            "has_zeros": zeros is not None and any(zeros[curve.feature] for curve in curves),
            "measures_pairs": any(not side.is_state for pair in grids for side in pair.sides),
            "missing": self._missing,
            "loses": self._loses,
            "has_missing_weights": any(curve.missing is not None for curve in curves),
            "stage": tables.stages[0],
        }

    def _curve(self, curve: CurveRow, at: int) -> Curve:
        n_pieces, n_values = curve.n_knots - 1, self._n_values
        width = 2 * n_values + self._is_fixed
        values = self._tables.values[curve.value :].tolist()
        knots = self._tables.knots[curve.knot : curve.knot + curve.n_knots].tolist()
        pieces = [values[k * width : (k + 1) * width] for k in range(n_pieces)]
        lines = [
            Line(
                start=knots[k],
                end=knots[k + 1],
                shift=piece[0] if self._is_fixed else 0,
                values=list(zip(piece[-2 * n_values : -n_values], piece[-n_values:], strict=True)),
                about=(self._at(curve, k, knots[k]), self._at(curve, k + 1, knots[k + 1])),
            )
            for k, piece in enumerate(pieces)
            # A level piece is the beginning of the next line, which stays so below it.
            if k == n_pieces - 1 or any(piece[-n_values:])
        ]
        missing = values[n_pieces * width : n_pieces * width + n_values]
        name = self._names[curve.feature]
        own = missing if self._missing and any(missing) else None
        return Curve(name, curve.feature, tuple(lines), own, self._shares[at])

    def _at(self, curve: CurveRow, k: int, knot: Any) -> str:
        """Write the rule at a knot, and the reading there."""
        value = knot
        if self._is_fixed:
            unit = self._tables.units[curve.feature]
            value = unit.value_of(knot)
        return f"at {value:.6g}: {self._texts[curve.rules[k]]}"

    def _categories(self, row: StateRow, at: int) -> Categories:
        n_lines = row.n_states + 1
        end = row.value + n_lines * self._n_values
        weights = self._tables.values[row.value : end].reshape(n_lines, self._n_values).tolist()
        about = [*(self._texts[rule] for rule in row.rules), "missing"]
        return Categories(self._names[row.feature], row.feature, weights, about, self._shares[at])

    def _pair_name(self, grid: GridRow) -> str:
        first, second = (self._names[side.feature] for side in grid.sides)
        return f"{first} and {second}"

    def _pair(self, grid: GridRow, name: str, at: int) -> Pair:
        first, second = grid.sides
        shape = first.n_lines + 1, second.n_lines + 1
        cells = self._tables.cells[grid.cell : grid.cell + shape[0] * shape[1]].reshape(shape)
        n_lines = int(cells.max()) + 1
        end = grid.value + n_lines * self._n_values
        weights = self._tables.values[grid.value : end].reshape(n_lines, self._n_values).tolist()
        about = [self._texts[rule] for rule in grid.rules]
        about += ["missing"] * (n_lines - len(about))
        sides = self._side(first), self._side(second)
        return Pair(name, sides, cells.tolist(), weights, about, self._shares[at])

    def _side(self, side: SideRow) -> Side:
        if side.is_state:
            return Side(side.feature, True, side.n_lines, (), ())
        n_numbers = (side.n_lines - 1) * (1 + self._is_fixed)
        return Side(
            side.feature,
            False,
            side.n_lines,
            self._tables.knots[side.knot : side.knot + side.n_lines].tolist(),
            np.asarray(self._tables.values[side.value : side.value + n_numbers]).tolist(),
        )
