"""A model in, what its nodes make others believe out, once they are heard with their weights.

What a tree believes by itself says little where it is weighed: a quiet voice with a large weight
moves as much as a loud one with a small weight. So a node that speaks to a fusion is shown by what
would be believed if it alone knew something.
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
class Hearing:
    """How nodes are heard.

    Attributes
    ----------
    start : what goes up from each node, ``(n_goals,)``, when nothing is known
    loudness : the weight of each node that is heard, times those on its way up
    listener : the fusion that turns its evidence into belief
    """

    start: Mapping[str, Float]
    loudness: Mapping[str, float]
    listener: Mapping[str, str]

    @classmethod
    def of(cls, model: Model) -> Hearing:
        """Find out how the nodes of a model are heard."""
        columns = (Column(one.name, np.array([np.nan])) for one in model.attributes)
        signals = all_signals(model.nodes, Table(tuple(columns), 1))
        listener: dict[str, str] = {}
        for fusion in reversed(model.fusions):
            listener |= dict.fromkeys(fusion.origins, listener.get(fusion.name, fusion.name))
        start = {name: signal[0] for name, signal in signals.items()}
        return cls(start, tree_weights(model), listener)

    def made_believe(self, name: str, said: Float) -> Float:
        """Return what would be believed if this node alone knew something.

        Parameters
        ----------
        name : str
            The node.
        said : ndarray of shape (n_goals,)
            What goes up from it: evidence if it is heard by a fusion, else its belief.
        """
        if name not in self.loudness:
            return said
        before = np.log(np.maximum(self.start[self.listener[name]], 1e-300))
        moved = self.loudness[name] * (said - self.start[name])
        return np.asarray(softmax((before + moved)[None, :])[0])
