"""The training domain and the policy: when a model abstains, and how decisions are debounced."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.kernels.arrays import MAX_FOCAL_SETS
from solah.model import json_fields as json
from solah.model.limits import MOST_FEATURES, MOST_NUMBER, are_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data.json_reader import Reader
    from solah.model.document import Target
    from solah.model.features import Feature


UNKNOWN_PLACE: Final = -1
"""The index of "don't know", where those of classes begin at 0."""

MOST_CUTS, MOST_PAIRS = 15, 255
MOST_HOLD = 65_534
_SMOOTHING = tuple(2**bits for bits in range(9))
_NUMBER = json.number(-MOST_NUMBER, MOST_NUMBER)


class AbstainReason(IntFlag):
    """A reason to abstain; several may hold at once."""

    LOW_PROBABILITY = 1
    FEW_READINGS = 2
    OUT_OF_RANGE = 4
    UNSEEN = 8


NO_ABSTAIN_REASON: Final = AbstainReason(0)


def name_reasons(abstain_reasons: int) -> list[str]:
    """Name reasons to abstain as outputs have them.

    Examples
    --------
    >>> name_reasons(AbstainReason.LOW_PROBABILITY | AbstainReason.UNSEEN)
    ['low probability', 'unseen']
    """
    return [
        (one.name or "").lower().replace("_", " ") for one in AbstainReason if one & abstain_reasons
    ]


@dataclass(frozen=True)
class Cells:
    """The cells of a feature: below the first cut, between two cuts, above the last.

    Attributes
    ----------
    name : the feature's name
    low, high : the range of the training values; None for a feature with categories
    cuts : ascending, at most 15; a value on a cut lies above it. None for a feature with
        categories, each of which is a cell
    """

    name: str = field(metadata=json.text())
    low: float | None = field(default=None, metadata=_NUMBER)
    high: float | None = field(default=None, metadata=_NUMBER)
    cuts: tuple[float, ...] = field(
        default=(), metadata=json.numbers(MOST_CUTS, -MOST_NUMBER, MOST_NUMBER)
    )


def _read_flags(part: Reader) -> tuple[bool, ...]:
    text = part.text(most=MAX_FOCAL_SETS)
    if set(text) - {"0", "1"}:
        raise part.fail("a text of 0 and 1")
    return tuple(flag == "1" for flag in text)


_SEEN = json.form(
    lambda part: tuple(map(_read_flags, part.items(1, MAX_FOCAL_SETS))),
    lambda seen: ["".join("01"[flag] for flag in row) for row in seen],
)


@dataclass(frozen=True)
class SeenTogether:
    """The cells of two features that occurred together in the training rows.

    Attributes
    ----------
    first, second : the names of the features
    seen : for each cell of the first, a flag for each cell of the second
    """

    first: str = field(metadata=json.text())
    second: str = field(metadata=json.text())
    seen: tuple[tuple[bool, ...], ...] = field(metadata=_SEEN)


@dataclass(frozen=True)
class Domain:
    """The training domain, with an entry in ``cells`` for each feature of the model."""

    cells: tuple[Cells, ...] = field(metadata=json.records(Cells, MOST_FEATURES))
    pairs: tuple[SeenTogether, ...] = field(
        default=(), metadata=json.records(SeenTogether, MOST_PAIRS)
    )

    def only(self, names: Collection[str]) -> Domain:
        """Return the domain of some of the features."""
        return Domain(
            tuple(cells for cells in self.cells if cells.name in names),
            tuple(one for one in self.pairs if one.first in names and one.second in names),
        )


@dataclass(frozen=True)
class Policy:
    """When a model abstains, and when a stable decision changes.

    Attributes
    ----------
    min_probability : for each class, the probability below which the model abstains; none for no
        limits
    min_completeness : the completeness below which it abstains
    stays_in_range : whether it abstains if a value is out of the range of the training rows
    max_unseen : how many pairs of cells may be new; None for any
    smoothing : scores are averaged exponentially, each new one counting 1 / smoothing; a power of
        two
    hysteresis : by how much the probability of another class must exceed that of the stable
        decision
    votes, window : a decision is stable when ``votes`` of the last ``window`` agree
    min_hold : the minimum number of decisions between two changes of the stable one

    Raises
    ------
    ParameterError
        If a value is out of bounds.
    """

    min_probability: tuple[float, ...] = field(
        default=(), metadata=json.numbers(MAX_FOCAL_SETS, 0.0, 1.0)
    )
    min_completeness: float = field(default=0.0, metadata=json.number(0.0, 1.0))
    stays_in_range: bool = field(default=False, metadata=json.flag())
    max_unseen: int | None = field(default=None, metadata=json.integer(0, MOST_PAIRS))
    smoothing: int = field(default=1, metadata=json.integer(1, _SMOOTHING[-1]))
    hysteresis: float = field(default=0.0, metadata=json.number(0.0, 1.0))
    votes: int = field(default=1, metadata=json.integer(1, 32))
    window: int = field(default=1, metadata=json.integer(1, 32))
    min_hold: int = field(default=1, metadata=json.integer(1, MOST_HOLD))

    def __post_init__(self) -> None:
        for one in self.min_probability:
            _check(0.0 <= one <= 1.0, "min_probability", "from 0 to 1", one)
        json.check_bounds(self)
        powers = f"a power of two up to {_SMOOTHING[-1]}"
        _check(self.smoothing in _SMOOTHING, "smoothing", powers, self.smoothing)
        _check(self.votes <= self.window, "votes", "from 1 to the window", self.votes)

    @property
    def holding(self) -> AbstainReason:
        """The reasons for which the model abstains."""
        asked = {
            AbstainReason.LOW_PROBABILITY: any(self.min_probability),
            AbstainReason.FEW_READINGS: self.min_completeness > 0,
            AbstainReason.OUT_OF_RANGE: self.stays_in_range,
            AbstainReason.UNSEEN: self.max_unseen is not None,
        }
        return AbstainReason(sum(reason for reason, is_asked in asked.items() if is_asked))

    @property
    def remembers(self) -> bool:
        """Whether a decision depends on those before it."""
        return self.smoothing > 1 or self.hysteresis > 0 or self.window > 1 or self.min_hold > 1


class Debouncer:
    """Debounces decisions that come one after the other; at first nothing is known.

    Parameters
    ----------
    policy : Policy, or an object with its numbers in those of a device

    Attributes
    ----------
    stable : the stable decision: the index of a class, or -1 for "don't know"

    Examples
    --------
    >>> debouncer = Debouncer(Policy(votes=2, window=3))
    >>> [debouncer.take(place) for place in (0, 0, 1, 0, 1, 1)]
    [-1, 0, 0, 0, 1, 1]
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._last = deque([UNKNOWN_PLACE] * policy.window, maxlen=policy.window)
        self._age = policy.min_hold
        self.stable = UNKNOWN_PLACE

    def decide(self, best: int, beliefs: Any, abstain_reasons: int) -> tuple[int, int, int]:
        """Decide on the next row, and debounce the decision.

        Parameters
        ----------
        best : int
            The index of the class that leads.
        beliefs : sequence of shape (n_classes,)
        abstain_reasons : int
            The reasons to abstain that the row's values give.

        Returns
        -------
        leading, decision, abstain_reasons : int
            The class that leads after hysteresis, that or -1 for "don't know", and all reasons.
        """
        policy, leading = self._policy, best
        if policy.hysteresis > 0 and self.stable not in (UNKNOWN_PLACE, best):
            leads = beliefs[best] - beliefs[self.stable] >= policy.hysteresis
            leading = best if leads else self.stable
        if len(policy.min_probability) and beliefs[leading] < policy.min_probability[leading]:
            abstain_reasons |= AbstainReason.LOW_PROBABILITY
        decision = UNKNOWN_PLACE if abstain_reasons & policy.holding else leading
        self.take(decision)
        return leading, decision, abstain_reasons

    def take(self, place: int) -> int:
        """Take the next decision, the index of a class or -1, and return the stable one."""
        self._last.append(place)
        self._age = min(self._age + 1, MOST_HOLD + 1)
        agreed = self._last.count(place) >= self._policy.votes
        if place != self.stable and agreed and self._age > self._policy.min_hold:
            self.stable, self._age = place, 1
        return self.stable


def _check(holds: bool, name: str, allowed: str, value: object) -> None:
    if not holds:
        raise ParameterError(f"{name!r} must be {allowed}. Got {value!r} instead.")


# --- rows beside the training domain -------------------------------------------------------------


def cell_cuts(feature: Feature, cells: Cells) -> tuple[float, ...] | None:
    """Return the cuts that a value is compared with; None if it is the number of its cell.

    The categories of a numeric ordinal are cut half way between neighbours.
    """
    if feature.is_continuous:
        return cells.cuts
    if feature.is_coded:
        return None
    return tuple((low + high) / 2 for low, high in pairwise(feature.peaks))


def n_cells(feature: Feature, cells: Cells) -> int:
    """Count the cells of a feature."""
    cuts = cell_cuts(feature, cells)
    return feature.n_focal_sets if cuts is None else len(cuts) + 1


def cells_of(feature: Feature, cells: Cells, readings: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the number of each value's cell; -1 where it is missing.

    Examples
    --------
    >>> from solah.model.features import cored_feature
    >>> from solah.model.policy import Cells
    >>> words = cored_feature("heat", ("any",), [(-np.inf, np.inf)], (1.0,), 0.0, 9.0)
    >>> cells_of(words, Cells("heat", 0.0, 9.0, (2.0, 5.0)), np.array([1.0, 2.0, 9.0, np.nan]))
    array([ 0,  1,  2, -1])
    """
    cuts = cell_cuts(feature, cells)
    is_known = ~np.isnan(readings)
    known = readings[is_known]
    places = np.full(len(readings), -1, dtype=np.intp)
    places[is_known] = known if cuts is None else np.searchsorted(cuts, known, side="right")
    return places


def is_out_of_range(cells: Cells, readings: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are out of the training range; missing ones and categories are not."""
    if cells.low is None or cells.high is None:
        return np.zeros(len(readings), dtype=bool)
    return np.asarray((readings < cells.low) | (readings > cells.high))


def unseen_pairs(
    domain: Domain,
    features: Sequence[Feature],
    readings: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.bool_]:
    """Return which pairs of cells never occurred together: ``(n_rows, n_pairs)``.

    Parameters
    ----------
    domain : Domain
    features : sequence of Feature
        The model's.
    readings : mapping of feature name to ndarray of shape (n_rows,)
        As :func:`solah.model.encode.code` has them. A pair with a missing value is not new.
    """
    n_rows = len(next(iter(readings.values())))
    asked = {name for pair in domain.pairs for name in (pair.first, pair.second)}
    places = {
        one.name: cells_of(one, cells, readings[one.name])
        for one, cells in zip(features, domain.cells, strict=True)
        if one.name in asked
    }
    unseen = np.zeros((n_rows, len(domain.pairs)), dtype=bool)
    for number, pair in enumerate(domain.pairs):
        first, second = places[pair.first], places[pair.second]
        are_known = (first >= 0) & (second >= 0)
        unseen[:, number] = are_known & ~np.array(pair.seen)[first, second]
    return unseen


# --- checks --------------------------------------------------------------------------------------


def check_domain(domain: Domain, features: Sequence[Feature]) -> None:
    """Raise a ParameterError if a domain is not one of a model with these features."""
    by_name = {one.name: one for one in features}
    paired = [frozenset((one.first, one.second)) for one in domain.pairs]
    for name in [one.name for one in domain.cells] + [one for both in paired for one in both]:
        if name not in by_name:
            near = did_you_mean(name, by_name)
            raise ParameterError(f"the model has no feature {shorten(name)}{near}")
    if [cells.name for cells in domain.cells] != list(by_name):
        raise ParameterError("there must be cells for each feature of the model, in the same order")
    for cells in domain.cells:
        _check_cells(cells, by_name[cells.name])
    if len(domain.pairs) > MOST_PAIRS:
        raise ParameterError(f"a domain has at most {MOST_PAIRS} pairs. Got {len(domain.pairs)}.")
    sizes = {cells.name: n_cells(by_name[cells.name], cells) for cells in domain.cells}
    for pair, both in zip(domain.pairs, paired, strict=True):
        which = f"the pair {shorten(pair.first)} and {shorten(pair.second)}"
        if len(both) < 2 or paired.count(both) > 1:
            raise ParameterError(f"{which} must be of two features, and occur once")
        if [len(row) for row in pair.seen] != [sizes[pair.second]] * sizes[pair.first]:
            raise ParameterError(
                f"{which} must have {sizes[pair.first]} rows of {sizes[pair.second]} flags"
            )


def _check_cells(cells: Cells, feature: Feature) -> None:
    which = f"the cells of {shorten(cells.name)}"
    if not feature.is_continuous:
        if cells.low is not None or cells.high is not None or cells.cuts:
            raise ParameterError(f"{which} are its categories, and have neither a range nor cuts")
        return
    if cells.low is None or cells.high is None:
        raise ParameterError(f"{which} need a range")
    if not -MOST_NUMBER <= cells.low <= cells.high <= MOST_NUMBER:
        raise ParameterError(
            f"{which} must have a range from low to high. Got {cells.low!r} to {cells.high!r}."
        )
    are_sound = all(abs(cut) <= MOST_NUMBER for cut in cells.cuts) and are_apart(cells.cuts)
    if len(cells.cuts) > MOST_CUTS or not are_sound:
        raise ParameterError(f"{which} must have at most {MOST_CUTS} cuts, which ascend")


def check_policy(policy: Policy, domain: Domain | None, target: Target) -> None:
    """Raise a ParameterError if a policy is not one of a model with this target and domain."""
    if not target.classes:
        raise ParameterError("a policy requires a classifier; this model predicts a number")
    if policy.min_probability and len(policy.min_probability) != len(target.classes):
        raise ParameterError(
            f"'min_probability' must have a number for each of {len(target.classes)} classes. Got "
            f"{len(policy.min_probability)}."
        )
    if domain is None and (policy.stays_in_range or policy.max_unseen is not None):
        asked = "stays_in_range" if policy.stays_in_range else "max_unseen"
        raise ParameterError(f"{asked!r} requires a model with a training domain")


# --- in model files ------------------------------------------------------------------------------


def read_domain(reader: Reader, features: Sequence[Feature]) -> Domain:
    """Read a domain, and check that it is one of a model with these features."""
    domain = json.read_record(reader, Domain)
    with json.errors_at(reader):
        check_domain(domain, features)
    return domain


def read_policy(reader: Reader, domain: Domain | None, target: Target) -> Policy:
    """Read a policy, and check that it is one of a model with this target and domain."""
    policy = json.read_record(reader, Policy)
    with json.errors_at(reader):
        check_policy(policy, domain, target)
    return policy
