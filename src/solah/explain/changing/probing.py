"""Rows and what would be read instead in, what the model would believe then out.

Only the nodes that hear of a changed reading are evaluated again, in the arithmetic of any other
prediction: what is found here holds when it is fed back, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import heard_by_fusions, measured_by, signal_of, signals_of
from solah.model.document import Fusion
from solah.model.encode import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Node

    Mask = NDArray[np.bool_]

_LEAST = 1e-300


class Probe:
    """Rows that a model has decided on, ready to be asked about others like them.

    Parameters
    ----------
    model : what decides
    rows : ndarray of shape (n_rows, n_attributes)
        As :func:`solah.model.encode.encode` returns them.
    """

    def __init__(self, model: Model, rows: Float) -> None:
        self.model = model
        self.rows = rows
        self._places = {attribute.name: j for j, attribute in enumerate(model.attributes)}
        self._heard = heard_by_fusions(model.nodes)
        measured = (attribute.name for attribute in measured_by(model.nodes))
        columns = {name: rows[:, self._places[name]] for name in measured}
        self._signals = signals_of(model.nodes, Coded(columns, len(rows)))

    @property
    def beliefs(self) -> Float:
        """What is believed of the rows as they are."""
        return self._signals[self.model.root.name]

    def ask(self, of: NDArray[np.intp], points: Float) -> Float:
        """Return what would be believed.

        Parameters
        ----------
        of : ndarray of shape (n_points,)
            The row that each point is made of.
        points : ndarray of shape (n_points, n_attributes)
            The row's readings, some of them changed.

        Returns
        -------
        beliefs : ndarray of shape (n_points, n_goals)
        """
        before = self.rows[of]
        changed = (points != before) & ~(np.isnan(points) & np.isnan(before))
        signals: dict[str, Float] = {}
        touched: dict[str, Mask] = {}
        for node in self.model.nodes:
            touched[node.name] = hears = self._hears(node, changed, touched)
            if hears.all():
                signals[node.name] = self._evaluate(node, points, slice(None), signals)
                continue
            signals[node.name] = self._signals[node.name][of]
            here = np.flatnonzero(hears)
            if len(here):
                signals[node.name][here] = self._evaluate(node, points, here, signals)
        return signals[self.model.root.name]

    def scores(self, beliefs: Float) -> Float:
        """Return what a decision compares: linear between words where evidence is weighed."""
        thresholds = self.model.goal.thresholds
        compared = beliefs / np.array(thresholds) if thresholds else beliefs
        if isinstance(self.model.root, Fusion):
            return np.asarray(np.log(np.maximum(compared, _LEAST)))
        return compared

    def decide(self, beliefs: Float) -> NDArray[np.intp]:
        """Return the places of the classes to decide for."""
        return self.model.goal.decide(beliefs)

    def _hears(self, node: Node, changed: Mask, touched: dict[str, Mask]) -> Mask:
        hears = np.zeros(len(changed), dtype=bool)
        for origin in node.origins:
            hears |= touched[origin] if origin in touched else changed[:, self._places[origin]]
        return hears

    def _evaluate(
        self,
        node: Node,
        points: Float,
        here: NDArray[np.intp] | slice,
        signals: dict[str, Float],
    ) -> Float:
        below = {name: signals[name][here] for name in node.origins if name in signals}
        measured = (name for name in node.origins if name not in signals)
        columns = {name: points[here, self._places[name]] for name in measured}
        n_rows = len(points) if isinstance(here, slice) else len(here)
        return signal_of(node, Coded(columns, n_rows), below, node.name in self._heard)
