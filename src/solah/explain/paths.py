"""Lists the paths that the values of a row may take, and rounds values to few digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ColumnError, ParameterError
from solah.model.limits import LEAST_GAP, MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature


N_ROUNDINGS = 13
_FEWEST_DIGITS = 2
# Beyond, powers of ten with the digits above them would not be floats.
_MOST_SCALE = 290
# If stages feed stages, scores bend between the words of a feature; pieces are cut finer by this.
_FINER = 16


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
    span : the range of such numbers, which sets the size of a coarse step
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


@dataclass(frozen=True, eq=False)
class Path:
    """Values that a feature may take instead of the one in a row.

    Attributes
    ----------
    place : the feature's index in the model
    stops : the nearest value first, which is that of the row if it is allowed
    direction : 1 up, -1 down; 0 if there are only the stops, and nothing between them
    is_whole : whether all values are whole numbers
    """

    place: int
    stops: Float
    direction: int
    is_whole: bool = False


class Paths:
    """The values that features may take.

    Parameters
    ----------
    model : Model
    ranges : mapping of feature name to (low, high), default=None
        Limits for the values of continuous features; by default those of the training rows.
    fixed : collection of str, default=()
        Features that cannot change.
    columns : collection of str, default=()
        Other columns of the rows, which ``ranges`` and ``fixed`` may name as well.

    Attributes
    ----------
    is_fine : whether pieces are cut finer, as stages feed stages
    meet : (n_features, n_features) which features are in a term together; all if ``is_fine``

    Raises
    ------
    ParameterError
        If a range is empty, or of a categorical feature.
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
        self.meet = np.full((len(program.features),) * 2, self.is_fine)
        for term in (term for stage in program.stages for term in stage.terms):
            read = [program.axes[a].source for a in term.axes if program.axes[a].is_read]
            self.meet[np.ix_(read, read)] = True

    def of_row(self, row: Float, *, finer: bool = True) -> list[Path]:
        """List the paths of the known values of a row.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
        finer : bool, default=True
            Whether to cut pieces finer if scores bend between words.
        """
        return [
            path
            for place, feature in enumerate(self.features)
            if feature.name not in self._fixed and np.isfinite(row[place])
            for path in self._of_value(place, float(row[place]), finer)
        ]

    def with_stops(self, path: Path, new: Float) -> Path:
        """Add values to a path with a direction."""
        new = _around(new) if path.is_whole else new
        stops = np.unique(np.concatenate([path.stops, new]))
        return replace(path, stops=stops[:: path.direction])

    def span(self, place: int) -> float:
        """Return the width of a feature's range."""
        low, high = self.range_of(place)
        return max(high - low, LEAST_GAP)

    def sizes(self, place: int, before: float, after: Float) -> Float:
        """Return distances of values as shares of the range; 1 for categories without an order."""
        if not self.features[place].is_ordered:
            return np.where(after == before, 0.0, 1.0)
        path = np.minimum(np.abs(after - before), MOST_NUMBER)  # of values beyond all others
        return np.asarray(path / self.span(place))

    def allowed(self, place: int, value: float) -> tuple[float, float]:
        """Return the range that a value may move in; one outside the training range may return."""
        low, high = self.range_of(place)
        if self.features[place].name not in self._given:
            return min(low, value), max(high, value)
        return (math.ceil(low), math.floor(high)) if self.is_whole(place, value) else (low, high)

    def is_whole(self, place: int, value: float) -> bool:
        """Return whether a value can only become another whole number."""
        return self._have_whole_numbers[place] and float(value).is_integer()

    def between(self, place: int, low: float, high: float, *, finer: bool = True) -> Float:
        """List values from low to high between which scores are straight, or nearly so."""
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

    def _of_value(self, place: int, value: float, finer: bool) -> Iterator[Path]:
        feature = self.features[place]
        if not feature.is_continuous:
            if feature.n_focal_sets > 1:
                others = np.array([peak for peak in feature.peaks if peak != value])
                nearest = np.argsort(self.sizes(place, value, others), kind="stable")
                yield Path(place, np.array([value, *others[nearest]]), direction=0)
            return
        low, high = self.allowed(place, value)
        start, is_whole = min(max(value, low), high), self.is_whole(place, value)
        down = self.between(place, low, start, finer=finer)[::-1]
        up = self.between(place, start, high, finer=finer)
        for direction, between in ((-1, down), (1, up)):
            stops = _around(between)[::direction] if is_whole else between
            if len(stops) > 1:
                yield Path(place, stops, direction, is_whole)


def _around(values: Float) -> Float:
    """Return the whole numbers on both sides of values, ascending."""
    return np.unique([np.floor(values), np.ceil(values)])


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
