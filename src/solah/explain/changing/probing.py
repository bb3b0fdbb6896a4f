"""Evaluates a model on rows with some readings changed.

Only the nodes that depend on a changed reading are evaluated again, in the arithmetic of any other
prediction: what is found here holds when it is fed back, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solah.model.beliefs import NodeEvaluator, Unknown, measured_by, signals_of, unknown_of
from solah.model.document import Fusion
from solah.model.encode import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Node

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
        self._origins = {node.name: node.origins for node in model.nodes}
        self._evaluator = NodeEvaluator(model)
        measured = (attribute.name for attribute in measured_by(model.nodes))
        columns = {name: rows[:, self._places[name]] for name in measured}
        self._signals = signals_of(model, Coded(columns, len(rows)))
        self._has_unknown = any(tree.variance for tree in model.trees)

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
        return self.signals(of, points)[self.model.root.name]

    def signals(self, of: NDArray[np.intp], points: Float) -> dict[str, Float]:
        """Return what would go up from each node, by its name."""
        before = self.rows[of]
        changed = (points != before) & ~(np.isnan(points) & np.isnan(before))
        touched = {name: changed[:, j] for name, j in self._places.items() if changed[:, j].any()}
        signals: dict[str, Float] = {}
        for node in self.model.nodes:
            masks = [touched[name] for name in self._origins[node.name] if name in touched]
            if not masks:
                signals[node.name] = self._as_before(node, of)
                continue
            touched[node.name] = mask = np.logical_or.reduce(masks)
            if mask.all():
                signals[node.name] = self._evaluate(node, points, slice(None), signals)
                continue
            here = np.flatnonzero(mask)
            signals[node.name] = self._as_before(node, of).copy()
            signals[node.name][here] = self._evaluate(node, points, here, signals)
        return signals

    def _as_before(self, node: Node, of: NDArray[np.intp]) -> Float:
        known = self._signals[node.name]
        is_one = len(known) == 1
        return np.broadcast_to(known, (len(of), known.shape[1])) if is_one else known[of]

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

    def _evaluate(
        self,
        node: Node,
        points: Float,
        here: NDArray[np.intp] | slice,
        signals: dict[str, Float],
    ) -> Float:
        origins = self._origins[node.name]
        below = {name: signals[name][here] for name in origins if name in signals}
        measured = (name for name in origins if name not in signals)
        columns = {name: points[here, self._places[name]] for name in measured}
        n_rows = len(points) if isinstance(here, slice) else len(here)
        unknown = self._unknown(points[here]) if isinstance(node, Fusion) else {}
        return self._evaluator.signal(node, Coded(columns, n_rows), below, unknown)

    def _unknown(self, points: Float) -> dict[str, Unknown]:
        """Return how much of the nodes' evidence the missing readings leave unknown."""
        if not self._has_unknown:
            return {}
        columns = {name: points[:, place] for name, place in self._places.items()}
        return unknown_of(self.model, Coded(columns, len(points)))
