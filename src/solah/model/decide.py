"""Decides on rows in the order of time, by the policy of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import count
from solah.exceptions import DataError, ParameterError
from solah.explain.novelty import novelty_of
from solah.model.encode import warn_of_unseen
from solah.model.evaluate import predict, stage_outputs
from solah.model.policy import Debouncer, Policy

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from solah.data import State, Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions of a model with a policy.

    Attributes
    ----------
    states : the classes
    places : (n_rows,) the index of each row's class; -1 for "don't know"
    stable_places : (n_rows,) that of the stable decision after it
    abstain_reasons : (n_rows,) the flags of :class:`~solah.model.policy.AbstainReason`, also those
        for which the policy does not abstain
    n_unseen : (n_rows,) the number of pairs of cells that never occurred together
    completeness : (n_rows,) the completeness
    probabilities : (n_rows, n_classes) the probability of each class, after smoothing
    """

    states: tuple[State, ...]
    places: NDArray[np.intp]
    stable_places: NDArray[np.intp]
    abstain_reasons: NDArray[np.intp]
    n_unseen: NDArray[np.intp]
    completeness: Float
    probabilities: Float

    @cached_property
    def decisions(self) -> list[State | None]:
        """The class of each row; None for "don't know"."""
        return self._named(self.places)

    @cached_property
    def stable(self) -> list[State | None]:
        """The stable decision after each row; None for "don't know"."""
        return self._named(self.stable_places)

    def __repr__(self) -> str:
        n_held = int((self.places < 0).sum())
        return f"<Decisions: {count(len(self.places), 'row')}, {n_held:,} abstained>"

    def _named(self, places: NDArray[np.intp]) -> list[State | None]:
        return [None if place < 0 else self.states[place] for place in places.tolist()]


@dataclass
class _Memory:
    """The averaged scores and the debounced decisions of a recording."""

    debouncer: Debouncer
    average: Float | None = field(default=None)


class PolicyDecider:
    """Decides on rows as they come, and keeps the state of the policy.

    Parameters
    ----------
    model : Model
        A classifier; without a policy, each row is decided by itself.
    n_threads : int, default=1

    Raises
    ------
    ParameterError
        If the model predicts a number.
    """

    def __init__(self, model: Model, n_threads: int = 1) -> None:
        if not model.target.classes:
            raise ParameterError("decisions require a classifier; this model predicts a number")
        self._model, self._n_threads = model, n_threads
        self._policy = model.policy or Policy()
        self._memories: dict[Hashable, _Memory] = {}

    def take(self, table: Table, groups: Sequence[Hashable] | None = None) -> Decisions:
        """Decide on the next rows, which are in the order of time.

        Parameters
        ----------
        table : Table
        groups : sequence of shape (n_rows,), default=None
            The recording of each row; each has a state of its own. By default, all rows are one.

        Returns
        -------
        decisions : Decisions
        """
        of_rows = [None] * table.n_rows if groups is None else list(groups)
        if len(of_rows) != table.n_rows:
            raise DataError(f"there are {table.n_rows} rows, but {len(of_rows)} groups")
        warn_of_unseen(table, self._model.features)
        memories = [self._memory(group) for group in of_rows]
        novelty = novelty_of(self._model, table)
        probabilities = self._beliefs(table, memories)
        best = self._model.target.decide(probabilities)
        reasons = novelty.abstain_reasons(self._policy)
        places, stable = np.empty((2, table.n_rows), dtype=np.intp)
        rows = zip(memories, best.tolist(), probabilities.tolist(), reasons.tolist(), strict=True)
        for row, (memory, first, own, reason) in enumerate(rows):
            _, places[row], reasons[row] = memory.debouncer.decide(first, own, reason)
            stable[row] = memory.debouncer.stable
        return Decisions(
            self._model.target.classes,
            places,
            stable,
            reasons,
            novelty.n_unseen,
            novelty.completeness,
            probabilities,
        )

    def _memory(self, group: Hashable) -> _Memory:
        if group not in self._memories:
            self._memories[group] = _Memory(Debouncer(self._policy))
        return self._memories[group]

    def _beliefs(self, table: Table, memories: Sequence[_Memory]) -> Float:
        """Return the probabilities of scores that are averaged with those of the rows before."""
        if self._policy.smoothing == 1:
            return predict(self._model, table, self._n_threads)
        averages = predict(self._model, table, self._n_threads, scores=True)
        for memory, row in zip(memories, averages, strict=True):
            if memory.average is not None:
                row[:] = memory.average + (row - memory.average) / self._policy.smoothing
            memory.average = row.copy()
        return stage_outputs(self._model.program.stages[-1], averages)
