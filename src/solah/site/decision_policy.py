"""Apply a model's policy to decisions as they are made, and check readings where they are measured.

A node compares its own readings with what the training rows held: their ranges, and the pairs of
features that are both measured there. It passes up how many differ. The node that decides applies
the policy. What a policy remembers is not kept over restarts: it begins with "don't know".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import softmax
from solah.model.policy import (
    NO_ABSTAIN_REASON,
    AbstainReason,
    Debouncer,
    Policy,
    is_out_of_range,
    unseen_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target
    from solah.model.encode import Coded
    from solah.model.features import Feature
    from solah.model.policy import Domain

_MOST_REPEATED = 1_000


class DomainCheck:
    """Counts the readings of a node that are unlike those that the model learned from.

    Parameters
    ----------
    model : Model
    measured : collection of str
        The features that the node measures. Pairs with others are not checked.
    """

    def __init__(self, model: Model, measured: Collection[str]) -> None:
        self.features: list[Feature] = []
        self._domain: Domain | None = None
        if model.domain is not None:
            self.features = [one for one in model.features if one.name in measured]
            self._domain = replace(
                model.domain,
                cells=tuple(one for one in model.domain.cells if one.name in measured),
                pairs=tuple(
                    one for one in model.domain.pairs if {one.first, one.second} <= set(measured)
                ),
            )

    def count(self, rows: Coded) -> list[tuple[int, int]]:
        """Return how many readings are out of range, and how many pairs unseen, for each row."""
        if self._domain is None or not self.features:
            return [(0, 0)] * rows.n_rows
        beyond = [is_out_of_range(one, rows.columns[one.name]) for one in self._domain.cells]
        unseen = unseen_pairs(self._domain, self.features, rows.columns)
        n_beyond, n_unseen = np.sum(beyond, axis=0).tolist(), unseen.sum(axis=1).tolist()
        return list(zip(n_beyond, n_unseen, strict=True))


@dataclass(frozen=True)
class Judged:
    """What a policy makes of a decision.

    Attributes
    ----------
    place : the class that leads, as smoothed; it may be withheld
    belief : the probability of each class, as smoothed
    settled : the stable decision after it; -1 for "don't know"
    abstain_reasons : why it is or could be withheld
    """

    place: int
    belief: tuple[float, ...]
    settled: int
    abstain_reasons: AbstainReason


class Judging:
    """Applies a policy to decisions that come one after the other.

    Parameters
    ----------
    policy : Policy
    target : Target

    Examples
    --------
    >>> from solah.model.document import Target
    >>> judging = Judging(Policy(min_probability=(0.6, 0.6)), Target("y", ("calm", "alarm")))
    >>> judging.take(np.array([0.0, 0.1]), 1.0, (0, 0), is_evidence=True).settled
    -1
    >>> judging.take(np.array([0.0, 2.0]), 1.0, (0, 0), is_evidence=True).settled
    1
    """

    def __init__(self, policy: Policy, target: Target) -> None:
        self._policy, self._target = policy, target
        self._debouncer = Debouncer(policy)
        self._average: Float | None = None
        self._last: tuple[Float, float, tuple[int, int], bool] | None = None

    def take(
        self, scores: Float, known: float, abstain_reasons: tuple[int, int], *, is_evidence: bool
    ) -> Judged:
        """Take the next decision.

        Parameters
        ----------
        scores : ndarray of shape (n_classes,)
            Scores, or probabilities.
        known : float
            The completeness.
        abstain_reasons : tuple of int
            How many readings are out of range, and how many pairs unseen.
        is_evidence : bool
            Whether they are scores.
        """
        self._last = scores, known, abstain_reasons, is_evidence
        belief = self._smoothed(scores, is_evidence=is_evidence)
        best = int(self._target.decide(belief[None])[0])
        found = self._doubts(known, abstain_reasons)
        place, _, all_doubts = self._debouncer.decide(best, belief, found)
        return Judged(
            place, tuple(belief.tolist()), self._debouncer.stable, AbstainReason(all_doubts)
        )

    def repeat(self, times: int) -> None:
        """Take the last decision again, for rows about which all nodes were silent."""
        if self._last is None:
            return
        scores, known, abstain_reasons, is_evidence = self._last
        for _ in range(min(times, _MOST_REPEATED)):
            self.take(scores, known, abstain_reasons, is_evidence=is_evidence)

    def _smoothed(self, scores: Float, *, is_evidence: bool) -> Float:
        if self._average is None or self._policy.smoothing == 1:
            self._average = scores
        else:
            self._average = self._average + (scores - self._average) / self._policy.smoothing
        return softmax(self._average[None])[0] if is_evidence else self._average

    def _doubts(self, known: float, abstain_reasons: tuple[int, int]) -> AbstainReason:
        n_beyond, n_unseen = abstain_reasons
        return (
            (
                AbstainReason.FEW_READINGS
                if known < self._policy.min_completeness
                else NO_ABSTAIN_REASON
            )
            | (AbstainReason.OUT_OF_RANGE if n_beyond else NO_ABSTAIN_REASON)
            | (
                AbstainReason.UNSEEN
                if n_unseen > (self._policy.max_unseen or 0)
                else NO_ABSTAIN_REASON
            )
        )


def added_doubts(abstain_reasons: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Add up how many readings are out of range, and how many pairs unseen, over nodes."""
    return sum(one for one, _ in abstain_reasons), sum(one for _, one in abstain_reasons)
