"""Decide on labelled rows, each before learning from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.device.fixed_tables import ONE
from solah.learn.online import Learner
from solah.model.encode import MISSING, UNSEEN, encode
from solah.stream.values import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.device.units import Integers
    from solah.kernels.arrays import Float
    from solah.model.document import Goal, Model
    from solah.stream.values import Reading


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What a model thought of rows before it learnt from them.

    Attributes
    ----------
    losses : (n_rows,) minus the logarithm of the belief in the true class, at most that of the
        least belief which a device can tell from none; NaN where the class is not known
    is_right : (n_rows,) whether it decided for the true class
    is_unseen : (n_rows,) whether it does not know the true class
    beliefs : (n_rows, n_classes) what it believed
    """

    losses: Float
    is_right: NDArray[np.bool_]
    is_unseen: NDArray[np.bool_]
    beliefs: Float

    @classmethod
    def of(cls, beliefs: Float, places: NDArray[np.intp], goal: Goal) -> Verdicts:
        """PolicyDecider beliefs by the classes' places."""
        is_labelled, is_unseen = places != MISSING, places == UNSEEN
        believed = beliefs[np.arange(len(places)), np.maximum(places, 0)]
        believed = np.where(is_unseen, 0.0, believed)
        losses = np.where(is_labelled, -np.log(np.maximum(believed, 1 / ONE)), np.nan)
        is_right = is_labelled & ~is_unseen & (goal.decide(beliefs) == places)
        return cls(losses, is_right, is_unseen, beliefs)


class Decider:
    """A model that decides on each row, and then learns from it.

    Parameters
    ----------
    model : Model
    pace, forgetting : float
        As in :class:`solah.learn.online.Pace`.

    Attributes
    ----------
    start : Model
        The model as it was before it learnt.
    """

    def __init__(self, model: Model, *, pace: float, forgetting: float) -> None:
        self.start = model
        self._learner = Learner(model, pace=pace, forgetting=forgetting)

    def serve(self, table: Table, labels: Sequence[Reading]) -> Verdicts:
        """Decide on rows in their order, each before it is learnt from.

        Rows without a class, or with one that the model does not know, teach nothing.
        """
        places = places_of(labels, self.start.goal)
        beliefs = self._learner.learn(encode(table, self.start.attributes), places)
        return Verdicts.of(beliefs / ONE, places, self.start.goal)

    def remember(self) -> Integers:
        """Return what was learnt so far, to go back to."""
        return self._learner.twin.learnt.copy()

    def go_back(self, learnt: Integers) -> None:
        """Forget what was learnt since."""
        self._learner.twin.learnt = learnt

    def model(self) -> Model:
        """Return the model with what was learnt."""
        return self._learner.model()

    def save(self) -> bytes:
        """Return what was learnt."""
        return self._learner.save()

    def restore(self, saved: bytes) -> None:
        """Bring back what was learnt."""
        self._learner.restore(saved)
