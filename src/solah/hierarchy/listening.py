"""What trees say in, how well that suits distant rows out: the passes that fit voices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.hierarchy.choir import Speaking
from solah.scale.passes import Statistics, SummingPass
from solah.tree.passes import labelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import Table
    from solah.hierarchy.choir import Choir
    from solah.kernels.arrays import Float, Int64
    from solah.model import Attribute
    from solah.scale.reading import Reader
    from solah.tree.distant import DistantSet

_LIMB = 32


@dataclass(frozen=True)
class RowsAfar:
    """Passes over all rows, wherever they are, for what trees say to them."""

    data: DistantSet

    @property
    def weight(self) -> float:
        """What all rows count for."""
        return float(self.data.goal.sums.sum())

    @property
    def one_row(self) -> float:
        """What a row without a weight of its own counts for."""
        return 1 / self.data.goal.weight_unit

    def surprise(self, choir: Choir, voices: Float) -> tuple[Int64, Float]:
        """Return the sum of rows' losses, as ``exact_sum`` has it, and how it grows."""
        data = self.data
        asked = {one.name for tree in choir.trees for one in tree.inputs}
        attributes = [one for one in data.attributes if one.name in asked]
        reader = data.rows.reader.only(tuple(asked))
        found = data.rows.engine.run(Listen(reader, attributes, choir, voices))
        high, low = found["slope"].astype(np.float64)
        return found["loss"], high * 2.0**_LIMB + low


class Listen(SummingPass):
    """Finds how likely voices make rows' classes, and how to change them."""

    name = "weighing evidence"

    def __init__(
        self, reader: Reader, attributes: Sequence[Attribute], choir: Choir, voices: Float
    ) -> None:
        self.reader = reader
        self.speaking = Speaking(choir.forest(attributes), voices)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be read."""
        return self.reader.columns

    def begin(self) -> Statistics:
        """Return the sums of no rows; slopes are parted in two, so that they never overflow."""
        shape = (2, *self.speaking.voices.shape)
        return {"loss": np.zeros(2, dtype=np.int64), "slope": np.zeros(shape, dtype=np.int64)}

    def add(self, gathered: Statistics, table: Table) -> None:
        """Let rows listen."""
        rows = self.reader.read(table)
        labels = labelled(rows.readings, self.speaking.forest.sets)
        loss, slope = self.speaking.surprise(labels, rows.codes, rows.weights)
        gathered["loss"] += loss
        gathered["slope"] += np.array([slope >> _LIMB, slope & ((1 << _LIMB) - 1)])
