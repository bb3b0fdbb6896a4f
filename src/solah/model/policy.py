"""The training domain and the policy: when a model abstains, and when a decision changes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from enum import IntFlag
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from solah.exceptions import ModelFormatError, ParameterError, did_you_mean, shorten
from solah.model.json_fields import record_of
from solah.model.limits import MOST_NUMBER, are_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data.json_reader import Reader
    from solah.model.document import Target
    from solah.model.features import Feature


UNKNOWN_PLACE: Final = -1
"""The place of "don't know", where places of classes begin at 0."""

MOST_VOTES = 32
MOST_HOLD = 65_534
MOST_SMOOTHING = 256
MOST_CUTS, MOST_PAIRS = 15, 255


class AbstainReason(IntFlag):
    """Why a decision is held back; several may hold at once."""

    LOW_PROBABILITY = 1
    FEW_READINGS = 2
    OUT_OF_RANGE = 4
    UNSEEN = 8


NO_ABSTAIN_REASON: Final = AbstainReason(0)


@dataclass(frozen=True)
class Cells:
    """Parts of a feature: what lies below the first cut, between two cuts, above the last.

    Attributes
    ----------
    name : the feature's name
    low, high : beyond these, a reading is out of range; None for a feature with states
    cuts : ascending, at most 15; a reading on a cut lies above it. None for a feature with
        states, whose cells are its states
    """

    name: str
    low: float | None = None
    high: float | None = None
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class SeenTogether:
    """Which cells of two features occurred together among the training rows.

    Attributes
    ----------
    first, second : the names of the features
    seen : a row for each cell of the first, in it a flag for each cell of the second
    """

    first: str
    second: str
    seen: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Domain:
    """What the training rows held, one entry in ``cells`` for each feature of the model."""

    cells: tuple[Cells, ...]
    pairs: tuple[SeenTogether, ...] = ()

    def only(self, names: Collection[str]) -> Domain:
        """Return what is known of some of the features."""
        return Domain(
            tuple(cells for cells in self.cells if cells.name in names),
            tuple(one for one in self.pairs if one.first in names and one.second in names),
        )


@dataclass(frozen=True)
class Policy:
    """When a decision is held back, and when one that was taken changes.

    Attributes
    ----------
    min_probability : for each class, the belief below which a decision for it is held back; none
        for no limits
    min_completeness : the share of all evidence that must be known
    stays_in_range : whether a decision is held back when a known reading is out of range
    max_unseen : how many pairs of cells may be ones that never occurred together; None for any
    smoothing : over how many decisions evidence is averaged, exponentially: a power of two, each
        new one counting 1 / smoothing
    hysteresis : by how much the belief in another class must exceed that in the settled one
    votes, window : a decision is settled when so many (``votes``) of the last ``window`` agree
    min_hold : how many decisions a settled one stays at the least

    Raises
    ------
    ParameterError
        If a value is out of bounds.
    """

    min_probability: tuple[float, ...] = ()
    min_completeness: float = 0.0
    stays_in_range: bool = False
    max_unseen: int | None = None
    smoothing: int = 1
    hysteresis: float = 0.0
    votes: int = 1
    window: int = 1
    min_hold: int = 1

    def __post_init__(self) -> None:
        for belief in self.min_probability:
            _check(0.0 <= belief <= 1.0, "min_probability", "from 0 to 1", belief)
        _check(
            0.0 <= self.min_completeness <= 1.0,
            "min_completeness",
            "from 0 to 1",
            self.min_completeness,
        )
        _check(0.0 <= self.hysteresis <= 1.0, "hysteresis", "from 0 to 1", self.hysteresis)
        is_power = self.smoothing in {2**bits for bits in range(9)}
        _check(is_power, "smoothing", f"a power of two up to {MOST_SMOOTHING}", self.smoothing)
        _check(1 <= self.window <= MOST_VOTES, "window", f"from 1 to {MOST_VOTES}", self.window)
        _check(1 <= self.votes <= self.window, "votes", "from 1 to the window", self.votes)
        _check(1 <= self.min_hold <= MOST_HOLD, "min_hold", f"from 1 to {MOST_HOLD}", self.min_hold)
        is_count = self.max_unseen is None or 0 <= self.max_unseen <= 255
        _check(is_count, "max_unseen", "from 0 to 255, or None", self.max_unseen)

    @property
    def holding(self) -> AbstainReason:
        """The abstain_reasons for which a decision is held back."""
        asked = {
            AbstainReason.LOW_PROBABILITY: any(self.min_probability),
            AbstainReason.FEW_READINGS: self.min_completeness > 0,
            AbstainReason.OUT_OF_RANGE: self.stays_in_range,
            AbstainReason.UNSEEN: self.max_unseen is not None,
        }
        return AbstainReason(
            sum(abstain_reason for abstain_reason, is_asked in asked.items() if is_asked)
        )

    @property
    def holds_back(self) -> bool:
        """Whether it can answer "don't know"."""
        return bool(self.holding)

    @property
    def remembers(self) -> bool:
        """Whether a decision depends on those before it."""
        return self.smoothing > 1 or self.hysteresis > 0 or self.window > 1 or self.min_hold > 1


class PolicyNumbers(Protocol):
    """The numbers of a policy, in float64 or in those of a device."""

    @property
    def min_probability(self) -> Sequence[Any] | NDArray[Any]: ...  # noqa: D102
    @property
    def hysteresis(self) -> Any: ...  # noqa: D102
    @property
    def holding(self) -> AbstainReason: ...  # noqa: D102
    @property
    def votes(self) -> int: ...  # noqa: D102
    @property
    def window(self) -> int: ...  # noqa: D102
    @property
    def min_hold(self) -> int: ...  # noqa: D102


class Settling:
    """Takes decisions that come one after the other; at first nothing is known.

    Attributes
    ----------
    settled : the decision that stands: the index of a class, or -1 for "don't know"

    Examples
    --------
    >>> settling = Settling(Policy(votes=2, window=3))
    >>> [settling.take(place) for place in (0, 0, 1, 0, 1, 1)]
    [-1, 0, 0, 0, 1, 1]
    """

    def __init__(self, policy: PolicyNumbers) -> None:
        self._policy = policy
        self._last = deque([UNKNOWN_PLACE] * policy.window, maxlen=policy.window)
        self._age = policy.min_hold
        self.settled = UNKNOWN_PLACE

    def decide(self, best: int, beliefs: Any, abstain_reasons: int) -> tuple[int, int, int]:
        """Decide on the next row, and take the decision.

        Parameters
        ----------
        best : int
            The index of the class that leads.
        beliefs : sequence of shape (n_classes,)
        abstain_reasons : int
            The abstain_reasons about the row's readings.

        Returns
        -------
        leading, decision, abstain_reasons : int
            The class that leads by the hysteresis, that or -1 for "don't know", and all reasons.
        """
        policy, leading = self._policy, best
        if policy.hysteresis > 0 and self.settled not in (UNKNOWN_PLACE, best):
            leads = beliefs[best] - beliefs[self.settled] >= policy.hysteresis
            leading = best if leads else self.settled
        if len(policy.min_probability) and beliefs[leading] < policy.min_probability[leading]:
            abstain_reasons |= AbstainReason.LOW_PROBABILITY
        decision = UNKNOWN_PLACE if abstain_reasons & policy.holding else leading
        self.take(decision)
        return leading, decision, abstain_reasons

    def take(self, place: int) -> int:
        """Take the next decision, the index of a class or -1, and return the settled one."""
        self._last.append(place)
        self._age = min(self._age + 1, MOST_HOLD + 1)
        agreed = self._last.count(place) >= self._policy.votes
        if place != self.settled and agreed and self._age > self._policy.min_hold:
            self.settled, self._age = place, 1
        return self.settled


def _check(holds: bool, name: str, allowed: str, value: object) -> None:
    if not holds:
        raise ParameterError(f"{name!r} must be {allowed}. Got {value!r} instead.")


# --- rows beside the training domain -------------------------------------------------------------


def cell_cuts(feature: Feature, cells: Cells) -> tuple[float, ...] | None:
    """Return the cuts that a reading is compared with; None if it is the number of its cell.

    States that are measured, as those of a numeric ordinal, are cut half way between neighbours.
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
    """Return the number of each reading's cell; -1 where it is unknown.

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
    """Tell which readings lie beyond those of the training rows; unknown ones and states do not."""
    if cells.low is None or cells.high is None:
        return np.zeros(len(readings), dtype=bool)
    return np.asarray((readings < cells.low) | (readings > cells.high))


def unseen_pairs(
    domain: Domain,
    features: Sequence[Feature],
    readings: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.bool_]:
    """Tell which pairs of cells never occurred together: ``(n_rows, n_pairs)``.

    Parameters
    ----------
    domain : Domain
    features : sequence of Feature
        The model's.
    readings : mapping of feature name to ndarray of shape (n_rows,)
        As :func:`solah.model.encode.code` has them: NaN is unknown. Of a pair with an unknown
        reading nothing is told.
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
    names = [cells.name for cells in domain.cells]
    if names != list(by_name):
        for strange in (name for name in names if name not in by_name):
            near = did_you_mean(strange, by_name)
            raise ParameterError(f"the model has no feature {shorten(strange)}{near}")
        raise ParameterError("there must be cells for each feature of the model, in the same order")
    for cells in domain.cells:
        _check_cells(cells, by_name[cells.name])
    sizes = {cells.name: n_cells(by_name[cells.name], cells) for cells in domain.cells}
    if len(domain.pairs) > MOST_PAIRS:
        raise ParameterError(f"there are {len(domain.pairs)} pairs, and may be {MOST_PAIRS}")
    paired: set[frozenset[str]] = set()
    for pair in domain.pairs:
        both = frozenset((pair.first, pair.second))
        for strange in sorted(both - sizes.keys()):
            near = did_you_mean(strange, sizes)
            raise ParameterError(f"the model has no feature {shorten(strange)}{near}")
        told = f"the pair {shorten(pair.first)} and {shorten(pair.second)}"
        if len(both) < 2 or both in paired:
            raise ParameterError(f"{told} must be of two features, and stand there once")
        paired.add(both)
        if [len(row) for row in pair.seen] != [sizes[pair.second]] * sizes[pair.first]:
            raise ParameterError(
                f"{told} must have {sizes[pair.first]} rows of {sizes[pair.second]} flags"
            )


def _check_cells(cells: Cells, feature: Feature) -> None:
    told = f"the cells of {shorten(cells.name)}"
    if not feature.is_continuous:
        if cells.low is not None or cells.high is not None or cells.cuts:
            raise ParameterError(f"{told} are its states, and have neither a range nor cuts")
        return
    if cells.low is None or cells.high is None:
        raise ParameterError(f"{told} need a range")
    if not -MOST_NUMBER <= cells.low <= cells.high <= MOST_NUMBER:
        raise ParameterError(
            f"{told} must have a range from low to high. Got {cells.low!r} to {cells.high!r}."
        )
    are_sound = all(abs(cut) <= MOST_NUMBER for cut in cells.cuts) and are_apart(cells.cuts)
    if len(cells.cuts) > MOST_CUTS or not are_sound:
        raise ParameterError(f"{told} must have at most {MOST_CUTS} cuts, which ascend")


def check_policy(policy: Policy, domain: Domain | None, target: Target) -> None:
    """Raise a ParameterError if a policy is not one of a model with this target and domain."""
    if not target.classes:
        raise ParameterError(
            "a policy says when a class is decided for, and this model estimates a number"
        )
    if policy.min_probability and len(policy.min_probability) != len(target.classes):
        raise ParameterError(
            f"'min_probability' must have a number for each of {len(target.classes)} classes. Got "
            f"{len(policy.min_probability)}."
        )
    if domain is None and (policy.stays_in_range or policy.max_unseen is not None):
        asked = "stays_in_range" if policy.stays_in_range else "max_unseen"
        raise ParameterError(f"{asked!r} needs a domain: what the training rows held")


# --- in model files ------------------------------------------------------------------------------


def domain_record(domain: Domain) -> dict[str, Any]:
    """Return a domain as JSON's objects."""
    record: dict[str, Any] = {"cells": [record_of(cells) for cells in domain.cells]}
    if domain.pairs:
        record["pairs"] = [
            {
                "first": pair.first,
                "second": pair.second,
                "seen": ["".join("1" if flag else "0" for flag in row) for row in pair.seen],
            }
            for pair in domain.pairs
        ]
    return record


def policy_record(policy: Policy) -> dict[str, Any]:
    """Return a policy as JSON's objects: what is not as it is by default."""
    return record_of(policy)


def read_domain(reader: Reader, features: Sequence[Feature]) -> Domain:
    """Read a domain, and check that it is one of a model with these features."""
    parts = reader.record(["cells"], ["pairs"])
    cells = parts["cells"].items(len(features), len(features))
    pairs = parts["pairs"].items(1, MOST_PAIRS) if "pairs" in parts else []
    most = max(MOST_CUTS + 1, *(one.n_focal_sets for one in features))
    domain = Domain(tuple(map(_read_cells, cells)), tuple(_read_pair(one, most) for one in pairs))
    try:
        check_domain(domain, features)
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None
    return domain


def _read_cells(reader: Reader) -> Cells:
    parts = reader.record(["name"], ["low", "high", "cuts"])
    low, high = (
        parts[end].number(-MOST_NUMBER, MOST_NUMBER) if end in parts else None
        for end in ("low", "high")
    )
    cuts: tuple[float, ...] = ()
    if "cuts" in parts:
        cuts = parts["cuts"].numbers(1, MOST_CUTS, -MOST_NUMBER, MOST_NUMBER)
    return Cells(parts["name"].text(), low, high, cuts)


def _read_pair(reader: Reader, most: int) -> SeenTogether:
    parts = reader.record(["first", "second", "seen"])
    seen = []
    for row in parts["seen"].items(1, most):
        text = row.text(most=most)
        if set(text) - {"0", "1"}:
            raise row.fail("a text of 0 and 1")
        seen.append(tuple(flag == "1" for flag in text))
    return SeenTogether(parts["first"].text(), parts["second"].text(), tuple(seen))


def read_policy(reader: Reader, domain: Domain | None, target: Target) -> Policy:
    """Read a policy, and check that it is one of a model with this target and domain."""
    parts = reader.record([], [one.name for one in fields(Policy)])
    shares = ("min_completeness", "hysteresis")
    most = {
        "max_unseen": (0, MOST_PAIRS),
        "smoothing": (1, MOST_SMOOTHING),
        "votes": (1, MOST_VOTES),
        "window": (1, MOST_VOTES),
        "min_hold": (1, MOST_HOLD),
    }
    values: dict[str, Any] = {}
    for name, part in parts.items():
        if name == "min_probability":
            values[name] = part.numbers(1, max(len(target.classes), 1), 0.0, 1.0)
        elif name == "stays_in_range":
            if not isinstance(part.value, bool):
                raise part.fail("true or false")
            values[name] = part.value
        else:
            values[name] = part.number(0.0, 1.0) if name in shares else part.integer(*most[name])
    try:
        policy = Policy(**values)
        check_policy(policy, domain, target)
    except ParameterError as error:
        raise ModelFormatError(f"{reader.place}: {error}") from None
    return policy
