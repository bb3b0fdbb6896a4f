"""Tell whether what a node sends of a row is what the parts of a model can send."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import fusion_inputs, unknown_of
from solah.model.encode import Coded

if TYPE_CHECKING:
    from solah.model.document import Model
    from solah.network.messages import Said

_NEARLY = 1e-6
_ROUNDING = 1e-9


class Expectation:
    """What the parts of a model can send.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    most_unknown : of each node below a fusion the share and the variance of the evidence that is
        unknown if no reading is known
    """

    def __init__(self, model: Model) -> None:
        self._size = model.goal.size
        self._parts = {node.name for node in model.nodes}
        self._attributes = {one.name: one for one in model.attributes}
        self._fusion_inputs = fusion_inputs(model.nodes)
        nothing = {one.name: np.full(1, np.nan) for one in model.attributes}
        unknown = unknown_of(model, Coded(nothing, 1))
        self.most_unknown = {
            part: (float(unknown[part].share[0]), float(unknown[part].variance[0]))
            for part in self._fusion_inputs
            if unknown[part].share[0]
        }

    def fits(self, row: Said) -> bool:
        """Whether signals, readings and what is unknown can be those of the model's parts."""
        return (
            self._parts | self._attributes.keys() >= set(row.missing)
            and row.signals.keys() >= row.unknown.keys()
            and all(map(self._is_signal, row.signals, row.signals.values()))
            and all(map(self._is_unknown, row.unknown, row.unknown.values()))
            and all(map(self._is_reading, row.readings, row.readings.values()))
        )

    def _is_signal(self, part: str, signal: tuple[float, ...]) -> bool:
        if part not in self._parts or len(signal) != self._size:
            return False
        return part in self._fusion_inputs or _is_belief(signal)

    def _is_unknown(self, part: str, unknown: tuple[float, float]) -> bool:
        most = self.most_unknown.get(part, (0.0, 0.0))
        return all(
            one <= bound * (1.0 + _ROUNDING) for one, bound in zip(unknown, most, strict=True)
        )

    def _is_reading(self, name: str, reading: float | None) -> bool:
        attribute = self._attributes.get(name)
        if attribute is None or reading is None or not attribute.is_coded:
            return attribute is not None
        return reading in range(len(attribute.states))


def _is_belief(signal: tuple[float, ...]) -> bool:
    """Whether a tree can take a signal for masses."""
    return min(signal) >= -_NEARLY and abs(sum(signal) - 1.0) <= _NEARLY
