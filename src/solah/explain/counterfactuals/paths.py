"""Lists the paths that each value of a row may take, and rounds values to few digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ColumnError, ParameterError
from solah.model.limits import LEAST_GAP, MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature


N_ROUNDINGS = 13
_FEWEST_DIGITS = 2
# Beyond, powers of ten with the digits above them would not be floats.
_MOST_SCALE = 290


def has_whole_numbers(feature: Feature) -> bool:
    """Return whether the training values of a feature were whole numbers, as far as visible.

    The ends of its range are whole, with whole numbers between them, and so are the edges of its
    words, which are values of training rows unless they divide the range evenly.
    """
    low, high, edges = feature.low, feature.high, feature.peaks
    if low is None or high is None or not high - low > 1:
        return False
    values = () if np.allclose(edges, np.linspace(low, high, len(edges))) else edges
    return all(float(number).is_integer() for number in (low, high, *values))


def rounded_outward(value: float, *, upward: bool, span: float, whole: bool = False) -> list[float]:
    """Round a number away from where it came from, with more and more digits.

    Parameters
    ----------
    value : what to round
    upward : whether it was reached by going up
    span : the range of such numbers, which sets what a coarse step is
    whole : whether to round to whole numbers only

    Examples
    --------
    >>> rounded_outward(13.12345, upward=True, span=4.0)[:3]
    [13.13, 13.124, 13.1235]
    """
    scale = math.floor(math.log10(span)) if 0 < span < math.inf else 0
    scale = min(max(scale, -_MOST_SCALE), _MOST_SCALE)
    outward = math.ceil if upward else math.floor
    rounded = []
    for extra in range(N_ROUNDINGS):
        digits = _FEWEST_DIGITS - scale + extra
        digits = min(digits, 0) if whole else digits
        steps = value * 10.0**digits
        number = outward(steps) / 10.0**digits if math.isfinite(steps) else value
        rounded.append(round(number, digits))
    return rounded


# If stages feed stages, scores bend between the words of a reading; pieces are cut finer by this.
_FINER = 16


@dataclass(frozen=True, eq=False)
class Path:
    """A path that one reading can go.

    Attributes
    ----------
    place : the feature's place among the model's
    start : where the path begins: the reading, unless that is not allowed itself
    knots : readings along the path, the nearest first
    sizes : how far each knot is, as a share of the range
    direction : 1 up, -1 down; 0 where only the knots can be read, and nothing between them
    is_whole : whether only whole numbers can be read
    """

    place: int
    start: float
    knots: Float
    sizes: Float
    direction: int
    is_whole: bool = False

    @property
    def is_stepwise(self) -> bool:
        """Whether only the knots can be read."""
        return self.direction == 0

    @property
    def stops(self) -> Float:
        """The knots, and before them the start where something lies between."""
        is_start_new = not self.is_stepwise and self.knots[0] != self.start
        return np.concatenate([[self.start], self.knots]) if is_start_new else self.knots

    @property
    def stop_sizes(self) -> Float:
        """How far each stop is."""
        n_new = len(self.stops) - len(self.knots)
        return np.concatenate([np.zeros(n_new), self.sizes])


class Paths:
    """The paths that readings may go.

    Parameters
    ----------
    model : Model
    ranges : mapping of feature name to (low, high), default=None
        Where measured readings may go; by default as far as the training rows went.
    fixed : collection of str, default=()
        Features that cannot change.
    columns : collection of str, default=()
        What else the rows have, and the model does not ask for: it may be named as well.

    Attributes
    ----------
    is_fine : whether pieces are cut finer, as stages feed stages

    Raises
    ------
    ParameterError
        If a range is empty, or of a feature that has states.
    ColumnError
        If a name is neither that of a feature nor of a column.
    """

    def __init__(
        self,
        model: Model,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
        columns: Collection[str] = (),
    ) -> None:
        self.features = model.features
        known: dict[str, Feature | None] = dict.fromkeys(columns)
        known |= {feature.name: feature for feature in model.features}
        self._given = _checked_ranges(known, ranges or {})
        if isinstance(fixed, str):
            raise ParameterError(f"'fixed' must be a list of names. Got the text {fixed!r}.")
        for name in fixed:
            _refuse_unknown(name, known)
        self._fixed = frozenset(fixed)
        self._have_whole_numbers = [has_whole_numbers(one) for one in model.features]
        program = model.program
        self.is_fine = not all(axis.is_read for axis in program.axes)
        self._meets = np.full((len(program.features),) * 2, self.is_fine)
        for term in (term for stage in program.stages for term in stage.terms):
            axes = (program.axes[a] for a in term.axes)
            read = [axis.source for axis in axes if axis.is_read]
            self._meets[np.ix_(read, read)] = True

    def meet(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the pairs of features that meet in a term; if stages feed stages, all may."""
        return self._meets[first, second]

    def of_row(self, row: Float, *, finer: bool = True) -> list[Path]:
        """List the paths that the known readings of a row may go.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
        finer : bool, default=True
            Whether to cut pieces finer where scores bend between words.
        """
        return [
            path
            for place, feature in enumerate(self.features)
            if feature.name not in self._fixed and np.isfinite(row[place])
            for path in self._of_reading(place, float(row[place]), finer)
        ]

    def with_knots(self, path: Path, new: Float, reading: float) -> Path:
        """Add readings to a path, which begins at a reading."""
        new = np.setdiff1d(_around(new), path.stops) if path.is_whole else new
        knots = np.unique(np.concatenate([path.knots, new]))[:: path.direction]
        return replace(path, knots=knots, sizes=self.sizes(path.place, reading, knots))

    def span(self, place: int) -> float:
        """Return how wide a feature's range is."""
        low, high = self.range_of(place)
        return max(high - low, LEAST_GAP)

    def sizes(self, place: int, before: float, after: Float) -> Float:
        """Return how far readings are as shares of the range; 1 for states without an order."""
        if not self.features[place].is_ordered:
            return np.ones(len(after))
        path = np.minimum(np.abs(after - before), MOST_NUMBER)  # of readings beyond all others
        return np.asarray(path / self.span(place))

    def allowed(self, place: int, reading: float) -> tuple[float, float]:
        """Return where a measured reading may go; one beyond all training rows may come back."""
        low, high = self.range_of(place)
        if self.features[place].name not in self._given:
            return min(low, reading), max(high, reading)
        return (math.ceil(low), math.floor(high)) if self.is_whole(place, reading) else (low, high)

    def is_whole(self, place: int, reading: float) -> bool:
        """Return whether a reading can only become another whole number."""
        return self._have_whole_numbers[place] and float(reading).is_integer()

    def between(self, place: int, low: float, high: float, *, finer: bool = True) -> Float:
        """List readings from low to high between which scores are straight, or nearly so."""
        if low >= high:
            return np.array([low])
        peaks = np.array(self.features[place].peaks)
        knots = np.concatenate([[low], peaks[(peaks > low) & (peaks < high)], [high]])
        n_pieces = _FINER if finer and self.is_fine else 1
        shares = np.arange(n_pieces) / n_pieces
        fine = knots[:-1, None] + np.diff(knots)[:, None] * shares
        return np.append(fine.ravel(), high)

    def range_of(self, place: int) -> tuple[float, float]:
        """Return the range of a feature: as given, or of the training rows."""
        feature = self.features[place]
        if feature.low is None or feature.high is None:
            return feature.peaks[0], feature.peaks[-1]
        return self._given.get(feature.name, (feature.low, feature.high))

    def _of_reading(self, place: int, reading: float, finer: bool) -> Iterator[Path]:
        feature = self.features[place]
        if not feature.is_continuous:
            if feature.n_focal_sets > 1:
                others = np.array([peak for peak in feature.peaks if peak != reading])
                sizes = self.sizes(place, reading, others)
                nearest = np.argsort(sizes, kind="stable")
                yield Path(place, reading, others[nearest], sizes[nearest], direction=0)
            return
        low, high = self.allowed(place, reading)
        start, is_whole = min(max(reading, low), high), self.is_whole(place, reading)
        down = self.between(place, low, start, finer=finer)[::-1]
        up = self.between(place, start, high, finer=finer)
        for direction, between in ((-1, down), (1, up)):
            knots = _around(between)[::direction] if is_whole else between
            ahead = knots[1:] if start == reading else knots
            if len(knots) > 1:
                sizes = self.sizes(place, reading, ahead)
                yield Path(place, start, ahead, sizes, direction, is_whole)


def _around(readings: Float) -> Float:
    """Return the whole numbers on both sides of readings, ascending."""
    return np.unique([np.floor(readings), np.ceil(readings)])


def _checked_ranges(
    known: Mapping[str, Feature | None], ranges: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    checked = {}
    for name, ends in ranges.items():
        try:
            low, high = map(float, ends)
        except (TypeError, ValueError):
            raise ParameterError(
                f"the range of {name!r} must be two numbers, from low to high. Got {ends!r}."
            ) from None
        _refuse_unknown(name, known)
        feature = known[name]
        if feature is not None and not feature.is_continuous:
            raise ParameterError(f"{name!r} is categorical, so it has no range; fix it or not")
        if not -MOST_NUMBER <= low <= high <= MOST_NUMBER:
            raise ParameterError(
                f"the range of {name!r} must go from a number to one not below it, within "
                f"{MOST_NUMBER:g} up and down. Got {low:g} to {high:g}."
            )
        checked[name] = (low, high)
    return checked


def _refuse_unknown(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ColumnError.unknown(name, known, "the model")
