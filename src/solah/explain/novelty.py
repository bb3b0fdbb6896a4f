"""Compares rows with the training domain, and names the reasons to abstain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import spell
from solah.explain.importance import known_of
from solah.explain.rule_text import spell_value
from solah.model.encode import encode
from solah.model.policy import (
    NO_ABSTAIN_REASON,
    AbstainReason,
    Policy,
    is_out_of_range,
    unseen_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import State, Table
    from solah.kernels.arrays import Float
    from solah.model.document import Model

_NO_POLICY = Policy()


@dataclass(frozen=True, eq=False)
class Novelty:
    """How far rows are from those that a model was learned from.

    Attributes
    ----------
    completeness : (n_rows,) the completeness: the share of importance with a value
    out_of_range : (n_rows, n_features) whether a known reading lies beyond the training rows'
    unseen : (n_rows, n_pairs) whether two cells never occurred together

    A model without a domain has no pairs, and no reading is out of range.
    """

    completeness: Float
    out_of_range: NDArray[np.bool_]
    unseen: NDArray[np.bool_]

    @property
    def is_out_of_range(self) -> NDArray[np.bool_]:
        """(n_rows,) whether any known reading lies beyond the training rows'."""
        return np.asarray(self.out_of_range.any(axis=1))

    @property
    def n_unseen(self) -> NDArray[np.intp]:
        """(n_rows,) how many pairs of cells never occurred together."""
        return np.asarray(self.unseen.sum(axis=1))

    def abstain_reasons(self, policy: Policy | None) -> NDArray[np.intp]:
        """Return the flags of :class:`~solah.model.policy.AbstainReason` that readings raise.

        Without a limit in the policy, a single pair of cells that never occurred together counts.
        """
        policy = policy or _NO_POLICY
        abstain_reasons = np.zeros(len(self.completeness), dtype=np.intp)
        abstain_reasons[self.completeness < policy.min_completeness] |= AbstainReason.FEW_READINGS
        abstain_reasons[self.is_out_of_range] |= AbstainReason.OUT_OF_RANGE
        abstain_reasons[self.n_unseen > (policy.max_unseen or 0)] |= AbstainReason.UNSEEN
        return abstain_reasons


def novelty_of(model: Model, table: Table) -> Novelty:
    """Compare the rows of a table with what a model's training rows held."""
    readings = encode(table, model.features)
    known = known_of(model, readings)
    if model.domain is None:
        n_rows, n_features = readings.shape
        return Novelty(known, np.zeros((n_rows, n_features), bool), np.zeros((n_rows, 0), bool))
    columns = dict(zip((one.name for one in model.features), readings.T, strict=True))
    beyond = [is_out_of_range(cells, columns[cells.name]) for cells in model.domain.cells]
    unseen = unseen_pairs(model.domain, model.features, columns)
    return Novelty(known, np.column_stack(beyond), unseen)


@dataclass(frozen=True)
class Abstention:
    """The reasons to abstain on one row, or why one might.

    Attributes
    ----------
    flags : all that hold
    abstains : whether one of them makes the model abstain
    reasons : a phrase for each
    """

    flags: AbstainReason = NO_ABSTAIN_REASON
    abstains: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The reasons as a sentence; empty if there are none."""
        if not self.flags:
            return ""
        what = "Abstains (don't know)" if self.abstains else "Unlike the training rows"
        return f"{what}: {'; '.join(self.reasons)}."


def abstention_of(
    model: Model,
    novelty: Novelty,
    row: int,
    belief: Sequence[float],
    readings: Sequence[State | None],
) -> Abstention:
    """Return the reasons to abstain on a row, without the rows before it.

    Parameters
    ----------
    model : Model
    novelty : Novelty
    row : int
        Its index among those of ``novelty``.
    belief : sequence of float
        The probability of each class.
    readings : sequence of values
        The value of each feature.
    """
    policy, states = model.policy or _NO_POLICY, model.target.classes
    if not states:  # a number has no policy
        return Abstention()
    place = int(model.target.decide(np.array([belief]))[0])
    abstain_reasons = AbstainReason(int(novelty.abstain_reasons(policy)[row]))
    reasons: list[str] = []
    if policy.min_probability and belief[place] < (least := policy.min_probability[place]):
        abstain_reasons |= AbstainReason.LOW_PROBABILITY
        name = spell(states[place])
        reasons.append(f"the probability of {name} is {belief[place]:.3g}, below {least:.3g}")
    if AbstainReason.FEW_READINGS in abstain_reasons:
        known, least = novelty.completeness[row], policy.min_completeness
        reasons.append(f"completeness is {known:.3g}, below {least:.3g}")
    if model.domain is not None:
        reasons += [
            f"{cells.name} {spell_value(readings[place])} is outside {cells.low:.4g} to "
            f"{cells.high:.4g}"
            for place, cells in enumerate(model.domain.cells)
            if novelty.out_of_range[row, place]
        ]
        reasons += [
            f"this combination of {pair.first} and {pair.second} never occurred in training"
            for pair, is_unseen in zip(model.domain.pairs, novelty.unseen[row], strict=True)
            if is_unseen and AbstainReason.UNSEEN in abstain_reasons
        ]
    return Abstention(abstain_reasons, bool(abstain_reasons & policy.holding), tuple(reasons))
