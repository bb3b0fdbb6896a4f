"""Shows an input of a fusion by what would be believed if it alone knew something.

The belief of such a tree by itself means little: small evidence with a large weight moves as much
as large evidence with a small weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.data import Column, Table
from solah.explain.effects import tree_weights
from solah.kernels.reference import softmax
from solah.model.beliefs import all_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Model


@dataclass(frozen=True)
class FusionInputs:
    """How the evidence of nodes moves the beliefs of fusions.

    Attributes
    ----------
    start : what goes up from each node, ``(n_goals,)``, when nothing is known
    weights : the weight of each input of a fusion, times those on its way up
    fusions : the fusion that turns its evidence into belief
    """

    start: Mapping[str, Float]
    weights: Mapping[str, float]
    fusions: Mapping[str, str]

    @classmethod
    def of(cls, model: Model) -> FusionInputs:
        """Find the inputs of a model's fusions."""
        columns = (Column(one.name, np.array([np.nan])) for one in model.attributes)
        signals = all_signals(model.nodes, Table(tuple(columns), 1))
        fusions: dict[str, str] = {}
        for fusion in reversed(model.fusions):
            fusions |= dict.fromkeys(fusion.origins, fusions.get(fusion.name, fusion.name))
        start = {name: signal[0] for name, signal in signals.items()}
        return cls(start, tree_weights(model), fusions)

    def resulting_belief(self, name: str, signal: Float) -> Float:
        """Return what would be believed if this node alone knew something.

        Parameters
        ----------
        name : str
            The node.
        signal : ndarray of shape (n_goals,)
            What goes up from it: evidence if it feeds a fusion, else its belief.
        """
        if name not in self.weights:
            return signal
        before = np.log(np.maximum(self.start[self.fusions[name]], 1e-300))
        moved = self.weights[name] * (signal - self.start[name])
        return np.asarray(softmax((before + moved)[None, :])[0])
