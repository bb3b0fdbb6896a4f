"""Apply a model's policy to decisions as they are made, and check readings where they are measured.

A node compares its own readings with the training domain: the ranges of features, and the pairs of
features that are both measured there. It passes up how many differ. The node that decides applies
the policy. A policy remembers nothing over restarts: it begins with "don't know".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
    from collections.abc import Collection, Iterable, Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target

_MOST_REPEATED = 1_000


class DomainCheck:
    """Counts the readings of a node that are outside the training domain.

    Parameters
    ----------
    model : Model
    measured : collection of str
        The features that the node measures. Pairs with others are not checked.
    """

    def __init__(self, model: Model, measured: Collection[str]) -> None:
        self._features = [one for one in model.features if one.name in measured]
        is_checked = model.domain is not None and self._features
        self._domain = model.domain.only(measured) if model.domain and is_checked else None

    def count(self, columns: Mapping[str, Float], n_rows: int) -> list[tuple[int, int]]:
        """Return how many readings are out of range, and how many pairs unseen, for each row."""
        if self._domain is None:
            return [(0, 0)] * n_rows
        outside = [is_out_of_range(one, columns[one.name]) for one in self._domain.cells]
        unseen = unseen_pairs(self._domain, self._features, columns).sum(axis=1)
        return list(zip(np.sum(outside, axis=0).tolist(), unseen.tolist(), strict=True))


class Judged(NamedTuple):
    """A decision after the policy.

    Attributes
    ----------
    place : the class that leads, as smoothed
    belief : the probability of each class, as smoothed
    stable : the stable decision; -1 for "don't know"
    abstain_reasons : why the class is or could be withheld
    """

    place: int
    belief: tuple[float, ...]
    stable: int
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
    >>> judging.take(np.array([0.0, 0.1]), 1.0, (0, 0), is_evidence=True).stable
    -1
    >>> judging.take(np.array([0.0, 2.0]), 1.0, (0, 0), is_evidence=True).stable
    1
    """

    def __init__(self, policy: Policy, target: Target) -> None:
        self._policy, self._target = policy, target
        self._debouncer = Debouncer(policy)
        self._average: Float | None = None
        self._last: tuple[Float, float, tuple[int, int], bool] | None = None

    def take(
        self, scores: Float, known: float, counts: tuple[int, int], *, is_evidence: bool
    ) -> Judged:
        """Take the next decision.

        Parameters
        ----------
        scores : ndarray of shape (n_classes,)
            Scores, or probabilities.
        known : float
            The completeness.
        counts : tuple of int
            How many readings are out of range, and how many pairs unseen.
        is_evidence : bool
            Whether they are scores.
        """
        self._last = scores, known, counts, is_evidence
        if self._average is None or self._policy.smoothing == 1:
            self._average = scores
        else:
            self._average = self._average + (scores - self._average) / self._policy.smoothing
        belief = softmax(self._average[None])[0] if is_evidence else self._average
        reasons = NO_ABSTAIN_REASON
        if known < self._policy.min_completeness:
            reasons |= AbstainReason.FEW_READINGS
        if counts[0]:
            reasons |= AbstainReason.OUT_OF_RANGE
        if counts[1] > (self._policy.max_unseen or 0):
            reasons |= AbstainReason.UNSEEN
        best = int(self._target.decide(belief[None])[0])
        place, _, all_reasons = self._debouncer.decide(best, belief, reasons)
        stable = self._debouncer.stable
        return Judged(place, tuple(belief.tolist()), stable, AbstainReason(all_reasons))

    def repeat(self, times: int) -> None:
        """Take the last decision again, for rows about which all nodes were silent."""
        if self._last is None:
            return
        scores, known, counts, is_evidence = self._last
        for _ in range(min(times, _MOST_REPEATED)):
            self.take(scores, known, counts, is_evidence=is_evidence)


def added(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Add up how many readings are out of range, and how many pairs unseen, over nodes."""
    outside, unseen = 0, 0
    for one, other in counts:
        outside, unseen = outside + one, unseen + other
    return outside, unseen
