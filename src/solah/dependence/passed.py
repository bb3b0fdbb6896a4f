"""Columns of rows that are passed over: joint counts of their pairs, or a byte for each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.dependence.coding import Bins, values_of_states
from solah.dependence.columns import Coding, Columns
from solah.dependence.sums import implementation, table_sums
from solah.kernels.coded import Coded
from solah.scale.passes import Pass, Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.dependence.columns import Pair
    from solah.kernels.arrays import Float, Int64
    from solah.model import Attribute
    from solah.scale.profile import Profile
    from solah.scale.reading import Reader

    Codes = NDArray[np.uint8]

# Rows wait until there are so many: a table of counts is slow to come by.
_FLUSH_ROWS = 2**19
_BYTES_A_CELL = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class PassedColumns(Columns):
    """Columns of rows that are passed over, in bins; the goal is behind the last.

    The joint counts of all pairs are summed up in one pass. Where their tables do not fit into
    memory, but a byte a value does (as with very many columns), one pass gathers the codes; else
    there are several passes.

    Attributes
    ----------
    rows : what is known of the rows
    coders : how each column is coded
    is_weighed : whether rows weigh anything but one
    """

    rows: Profile
    coders: Sequence[Coder]
    is_weighed: bool

    @classmethod
    def of(cls, rows: Profile, n_threads: int = 1) -> PassedColumns:
        """Settle how all columns of a source are coded."""
        reader = rows.reader
        coders = [Coder.of(one, rows) for one in reader.attributes]
        coders.append(Coder(None, None, len(rows.goal.classes)))
        is_weighed = reader.roles.weight is not None or bool((reader.of_classes != 1.0).any())
        return cls(
            names=(*rows.names, reader.roles.target),
            method="binned",
            unit=rows.goal.weight_unit if is_weighed else 1.0,
            n_threads=n_threads,
            rows=rows,
            coders=coders,
            is_weighed=is_weighed,
        )

    def code(self) -> Coding | None:
        """Gather the codes of all rows, where there is room for them and none for joint counts."""
        if self._tables_fit or not self._codes_fit:
            return None
        one = GatherCodes(self.rows.reader, self.coders, is_weighed=self.is_weighed)
        found = self.rows.engine.run(one)
        columns = [
            coder.coded(codes) for coder, codes in zip(self.coders, found["codes"], strict=True)
        ]
        return Coding(columns, found["weights"] if self.is_weighed else None)

    def sums(self, pairs: Sequence[Pair]) -> Float:
        """Count pairs, in as many passes as it takes, and sum up the counts."""
        sums: list[Float] = []
        for block in _blocks(pairs, self.coders, self._budget):
            one = CountPairs(self.rows.reader, self.coders, block, is_weighed=self.is_weighed)
            sums += one.sums(self.rows.engine.run(one))
        return np.array(sums)

    @property
    def _budget(self) -> int:
        return self.rows.engine.portions.statistics

    @property
    def _codes_fit(self) -> bool:
        of_a_row = len(self.coders) + (8 if self.is_weighed else 0)
        return self.rows.facts.n_rows * of_a_row <= self._budget

    @property
    def _tables_fit(self) -> bool:
        levels = np.array([coder.n_levels + 1 for coder in self.coders])
        n_cells = (int(levels.sum()) ** 2 - int((levels**2).sum())) // 2
        return _BYTES_A_CELL * n_cells <= self._budget


@dataclass(frozen=True, eq=False)
class Coder:
    """How one column is coded: in bins, or by the places of its states."""

    bins: Bins | None
    values: Float | None
    n_levels: int

    @classmethod
    def of(cls, attribute: Attribute, rows: Profile) -> Coder:
        """Settle how an attribute is coded, as ``code_column`` does for rows in memory."""
        if attribute.is_coded:
            values = values_of_states(attribute.states, attribute.kind)
            return cls(None, values, len(attribute.states))
        bins = Bins.of(rows.sketches[attribute.name], rows.counts[attribute.name])
        return cls(bins, bins.values, len(bins.first))

    def coded(self, codes: Codes) -> Coded:
        """Return a column of such codes."""
        return Coded(codes, self.n_levels, self.values)

    def code(self, readings: Float) -> Codes:
        """Find the level of each reading; one past the last where it is missing."""
        if self.bins is not None:
            codes: Codes = self.bins.code(readings).codes
            return codes
        return np.where(np.isnan(readings), self.n_levels, readings).astype(np.uint8)


class GatherCodes(Pass[list[Statistics]]):
    """Gathers the codes of all rows, a byte a value, column by column; the goal's are the last."""

    name = "measuring dependence"

    def __init__(self, reader: Reader, coders: Sequence[Coder], *, is_weighed: bool) -> None:
        self.reader, self.coders, self.is_weighed = reader, tuple(coders), is_weighed

    @property
    def key(self) -> str:
        """What tells the pass from those that count pairs: which it is depends on the memory."""
        return f"{self.name} of all"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> list[Statistics]:
        """Return the codes of no rows."""
        none: Codes = np.empty((len(self.coders), 0), dtype=np.uint8)
        return [{"codes": none, "weights": np.empty(0, dtype=np.int64)}]

    def add(self, gathered: list[Statistics], table: Table) -> None:
        """Code rows."""
        rows = self.reader.read(table)
        columns = zip(self.coders[:-1], rows.readings.T, strict=True)
        codes = [*(coder.code(of) for coder, of in columns), rows.codes.astype(np.uint8)]
        weights = rows.weights if self.is_weighed else rows.weights[:0]
        gathered.append({"codes": np.array(codes), "weights": weights})

    def finish(self, gathered: list[Statistics]) -> Statistics:
        """Put the codes side by side."""
        return {
            name: np.concatenate([part[name] for part in gathered], axis=-1)
            for name in ("codes", "weights")
        }

    def merge(self, one: Statistics, other: Statistics) -> Statistics:
        """Put the codes of different rows side by side; their order does not matter to counts."""
        return self.finish([one, other])


class CountPairs(Pass["_Tables"]):
    """Counts rows by the levels of pairs of columns; the goal is one more column."""

    name = "measuring dependence"

    def __init__(
        self, reader: Reader, coders: Sequence[Coder], pairs: Sequence[Pair], *, is_weighed: bool
    ) -> None:
        self.goal = len(reader.attributes)
        used = sorted({column for pair in pairs for column in pair})
        self.reader = reader.only([reader.attributes[j].name for j in used if j != self.goal])
        self.coders = {j: coders[j] for j in used}
        self.pairs, self.is_weighed = tuple(pairs), is_weighed

    @property
    def key(self) -> str:
        """What tells the pass from others: how many pairs a pass counts depends on the memory."""
        (first, second), (third, fourth) = self.pairs[0], self.pairs[-1]
        return f"{self.name} {first}-{second} to {third}-{fourth}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> _Tables:
        """Return the counts of no rows."""
        return _Tables(self.coders, self.pairs)

    def add(self, gathered: _Tables, table: Table) -> None:
        """Code rows, and let them wait to be counted."""
        rows = self.reader.read(table)
        columns = iter(rows.readings.T)
        codes = {
            j: rows.codes.astype(np.uint8) if j == self.goal else coder.code(next(columns))
            for j, coder in self.coders.items()
        }
        gathered.add(codes, rows.weights if self.is_weighed else None)

    def finish(self, gathered: _Tables) -> Statistics:
        """Return the counts."""
        gathered.flush()
        return gathered.counts

    def sums(self, counts: Statistics) -> list[Float]:
        """Return the nine sums of each pair."""
        none = {j: coder.coded(np.empty(0, dtype=np.uint8)) for j, coder in self.coders.items()}
        return [table_sums(counts[_name((a, b))], none[a], none[b]) for a, b in self.pairs]


class _Tables:
    """Tables of joint counts, and the rows that wait for them."""

    def __init__(self, coders: Mapping[int, Coder], pairs: Sequence[Pair]) -> None:
        self.coders, self.pairs = coders, pairs
        self.counts: Statistics = {
            _name((a, b)): np.zeros((coders[a].n_levels + 1, coders[b].n_levels + 1), np.int64)
            for a, b in pairs
        }
        self._empty()

    def add(self, codes: Mapping[int, Codes], weights: Int64 | None) -> None:
        for j, of_column in codes.items():
            self._codes[j].append(of_column)
        if weights is not None:
            self._weights.append(weights)
        self._n_rows += len(next(iter(codes.values())))
        if self._n_rows >= _FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._n_rows:
            waiting = {j: self.coders[j].coded(np.concatenate(of)) for j, of in self._codes.items()}
            weights = np.concatenate(self._weights) if self._weights else None
            add = implementation().add_joint_counts
            for a, b in self.pairs:
                add(waiting[a], waiting[b], weights, self.counts[_name((a, b))])
        self._empty()

    def _empty(self) -> None:
        self._codes: dict[int, list[Codes]] = {j: [] for j in self.coders}
        self._weights: list[Int64] = []
        self._n_rows = 0


def _name(pair: Pair) -> str:
    return f"{pair[0]}/{pair[1]}"


def _blocks(pairs: Sequence[Pair], coders: Sequence[Coder], budget: int) -> list[list[Pair]]:
    """Cut pairs into runs whose tables fit into so many bytes."""
    blocks: list[list[Pair]] = [[]]
    held = 0
    for a, b in pairs:
        size = _BYTES_A_CELL * (coders[a].n_levels + 1) * (coders[b].n_levels + 1)
        if blocks[-1] and held + size > budget:
            blocks.append([])
            held = 0
        blocks[-1].append((a, b))
        held += size
    return blocks
