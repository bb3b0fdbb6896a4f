"""Check the message of a node about a row against the parts of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model.evaluate import trace

if TYPE_CHECKING:
    from solah.model.document import Model
    from solah.site.messages import NodeOutput

_NEARLY = 1e-6
_ROUNDING = 1e-9


class Expectation:
    """What the parts of a model can send.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    most_unknown : of each term and group the missing share and its variance
        if no reading is known
    without_readings : what each part sends if no reading is known
    """

    def __init__(self, model: Model) -> None:
        self._size = model.target.size
        self._parts = {part.name for part in model.parts}
        self._features = {one.name: one for one in model.features}
        program = model.program
        self._added = program.part_numbers.keys() - program.stage_numbers.keys()
        self.most_unknown: dict[str, tuple[float, float]] = {}
        self.without_readings: dict[str, tuple[float, ...]] = {}
        nothing = trace(program, np.full((1, len(program.features)), np.nan))
        for stage, steps in zip(program.stages, nothing, strict=True):
            for name, part in zip(stage.part_names, steps.parts, strict=True):
                self.without_readings[name] = tuple(part.weights[0].tolist())
                if name in self._added and part.share[0]:
                    self.most_unknown[name] = float(part.share[0]), float(part.variance[0])
            self.without_readings[stage.name] = tuple(steps.outputs[0].tolist())

    def fits(self, row: NodeOutput) -> bool:
        """Whether signals, readings and what is unknown can be those of the model's parts."""
        return (
            self._parts | self._features.keys() >= set(row.missing)
            and row.signals.keys() >= row.unknown.keys()
            and all(map(self._is_signal, row.signals, row.signals.values()))
            and all(map(self._is_unknown, row.unknown, row.unknown.values()))
            and all(map(self._is_reading, row.readings, row.readings.values()))
        )

    def _is_signal(self, part: str, signal: tuple[float, ...]) -> bool:
        if part not in self._parts or len(signal) != self._size:
            return False
        return part in self._added or _is_belief(signal)

    def _is_unknown(self, part: str, unknown: tuple[float, float]) -> bool:
        most = self.most_unknown.get(part, (0.0, 0.0))
        return all(
            one <= bound * (1.0 + _ROUNDING) for one, bound in zip(unknown, most, strict=True)
        )

    def _is_reading(self, name: str, reading: float | None) -> bool:
        feature = self._features.get(name)
        if feature is None or reading is None or not feature.is_coded:
            return feature is not None
        return reading in range(len(feature.categories))


def _is_belief(signal: tuple[float, ...]) -> bool:
    """Whether a tree can take a signal for masses."""
    return min(signal) >= -_NEARLY and abs(sum(signal) - 1.0) <= _NEARLY
